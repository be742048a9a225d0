//! The page of `tuwtree optimize --report` in a browser: Chromium runs it without a screen, and tells
//! what has become of it.

use crate::program::{folder, tuwtree, workspace_file};
use std::fs;
use std::path::Path;
use std::process::Command;

/// What the page looks like to programs after its scripts have run.
fn dumped(page: &Path) -> String {
    dumped_with(page, &[])
}

/// As [`dumped`], with further options of Chromium.
fn dumped_with(page: &Path, options: &[&str]) -> String {
    let profile = page.with_extension("profile");
    let output = Command::new("timeout")
        .args(["600", "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--dump-dom"])
        .args(["--disable-dev-shm-usage", "--window-size=1400,1000", "--virtual-time-budget=5000"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("timeout, of coreutils");
    let log = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{log}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The value of an attribute of the page's first element.
fn attribute<'a>(page: &'a str, name: &str) -> Option<&'a str> {
    let start = page.find("<html")?;
    let (element, _) = page[start..].split_once('>')?;
    let (_, value) = element.split_once(&format!("{name}=\""))?;
    value.split_once('"').map(|(value, _)| value)
}

/// Whether the page's scripts have run to their end, without an error.
fn is_well(page: &str) -> bool {
    attribute(page, "data-errors") == Some("0") && attribute(page, "data-ready").is_some()
}

fn report(name: &str, arguments: &str) -> (std::path::PathBuf, String) {
    let page = folder(name).canonicalize().unwrap().join("report.html");
    tuwtree(&format!("compare {arguments} --report {}", page.display())).success();
    let text = fs::read_to_string(&page).unwrap();
    (page, text)
}

#[test]
#[ignore = "needs Chromium: ./test --all runs it"]
fn pages_of_all_sizes_run_without_errors_and_draw_their_bars() {
    for (name, arguments, bars) in [
        ("chromium_1", "--dist same -p 1", 0),
        ("chromium_8", "--dist skewed -p 8 --op scatter", 60),
        ("chromium_500", "--dist two-blocks -p 500 --root 7", 10),
        ("chromium_2000", "--dist spikes", 5000),
        ("chromium_3000", "--dist random -p 3000 --algorithm linear,adaptive", 1000),
    ] {
        let (page, _) = report(name, arguments);
        let seen = dumped(&page);
        assert!(is_well(&seen), "{arguments}: {:?}", attribute(&seen, "data-last-error"));
        let drawn: usize = attribute(&seen, "data-ready").unwrap().parse().unwrap();
        assert!(drawn >= bars, "{arguments}: {drawn} bars");
        assert!(!seen.contains("NaN"), "{arguments}");
    }
}

#[test]
#[ignore = "needs Chromium: ./test --all runs it"]
fn a_broken_page_is_found_out() {
    let (page, text) = report("chromium_broken", "--dist random -p 20");
    let breaks: [(&str, &str); 5] = [
        // An error in the midst, a syntax error, data that is none, a promise that nobody keeps,
        // something from the network.
        (
            "\"use strict\";\n(() => {\n  const AXIS",
            "throw new Error(\"deliberate\");\n(() => {\n  const AXIS",
        ),
        ("function draw(timeline) {", "function draw(timeline {"),
        ("id=\"data\">{", "id=\"data\">{,"),
        ("const AXIS = 22;", "const AXIS = 22; Promise.reject(\"deliberate\");"),
        ("<footer>", "<img src=\"https://example.org/x.png\" alt=\"\"><footer>"),
    ];
    for (from, to) in breaks {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from:?} is not on the page");
        fs::write(&page, broken).unwrap();
        assert!(!is_well(&dumped(&page)), "{to:?} went unnoticed");
    }
}

/// Colours of paper, words and panels, and whether all figures are folded, as attributes of the page's first element.
const COLOURS: &str = r##"<script>
  const page = document.documentElement.dataset;
  page.paper = getComputedStyle(document.body).backgroundColor;
  page.ink = getComputedStyle(document.querySelector("svg text")).fill;
  page.folded = [...document.querySelectorAll("details")].every((part) => !part.open);
  page.width = document.documentElement.scrollWidth <= innerWidth;
</script></body>"##;

#[test]
#[ignore = "needs Chromium: ./test --all runs it"]
fn pages_of_measured_times_suit_both_colour_schemes() {
    for sample in ["two-cores", "recorded-calls"] {
        let page = folder(&format!("chromium_{sample}")).canonicalize().unwrap().join("page.html");
        let data = workspace_file(&format!("data/measurements/{sample}.json"));
        tuwtree(&format!("report {} -o {}", data.display(), page.display())).success();
        let text = fs::read_to_string(&page).unwrap();
        fs::write(&page, text.replacen("</body>", COLOURS, 1)).unwrap();
        // Chromium's numbers for both schemes.
        for (scheme, paper, ink) in [
            (0, "rgb(22, 24, 27)", "rgb(232, 234, 237)"),
            (1, "rgb(255, 255, 255)", "rgb(34, 34, 34)"),
        ] {
            let scheme = format!("--blink-settings=preferredColorScheme={scheme}");
            let seen = dumped_with(&page, &[&scheme]);
            assert_eq!(attribute(&seen, "data-paper"), Some(paper), "{sample} {scheme}");
            assert_eq!(attribute(&seen, "data-ink"), Some(ink), "{sample} {scheme}");
            assert_eq!(attribute(&seen, "data-folded"), Some("true"), "{sample}");
            assert_eq!(attribute(&seen, "data-width"), Some("true"), "{sample}");
        }
    }
}

/// What a user might do, and what is to be seen then, as attributes of the page's first element.
const VISIT: &str = r##"<script>
(() => {
  const page = document.documentElement.dataset;
  const element = (id) => document.getElementById(id);
  const set = (id, value) => {
    element(id).value = value;
    element(id).dispatchEvent(new Event("input", { bubbles: true }));
  };
  const shown = () => [...document.querySelectorAll("#candidate-0 .level")]
    .findIndex((level) => level.getBoundingClientRect().height > 0);
  const colour = () => getComputedStyle(document.querySelector("#candidate-0 .level .edge")).stroke;
  const picture = () => document.querySelector("#candidate-0 canvas").toDataURL();
  page.levels = [0, 1, 2].map((level) => { set("detail", level); return shown(); }).join();
  page.colours = new Set(["critical-path", "wait", "volume"]
    .map((name) => { set("colours", name); return colour(); })).size;
  const before = picture();
  set("zoom", 20);
  const zoomed = picture();
  page.zooms = before !== zoomed;
  page.zoomText = element("zoom-text").textContent;
  const timeline = document.querySelector("#candidate-0 .timeline");
  timeline.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
  page.position = element("position").value;
  page.moves = zoomed !== picture();
  set("zoom", 0);
  timeline.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true, cancelable: true }));
  page.zoom = element("zoom").value;
  set("zoom", 0);
  const canvas = document.querySelector("#candidate-0 canvas");
  timeline.scrollIntoView();
  const area = canvas.getBoundingClientRect();
  canvas.dispatchEvent(new PointerEvent("pointermove", { clientX: area.left + 70, clientY: area.top + 23 }));
  page.tip = element("tip").hidden ? "" : element("tip").textContent;
  canvas.dispatchEvent(new PointerEvent("pointerleave"));
  page.tipLeaves = element("tip").hidden;
  const box = document.querySelector("input[name=shown]");
  box.checked = false;
  box.dispatchEvent(new Event("input", { bubbles: true }));
  page.hides = element("candidate-0").getBoundingClientRect().height === 0;
})();
</script></body>"##;

#[test]
#[ignore = "needs Chromium: ./test --all runs it"]
fn controls_keys_and_pointer_do_what_they_say() {
    let (page, text) = report("chromium_visit", "--dist random -p 200 --root 0");
    fs::write(&page, text.replacen("</body>", VISIT, 1)).unwrap();
    let seen = dumped(&page);
    assert!(is_well(&seen), "{:?}", attribute(&seen, "data-last-error"));
    for (name, expected) in [
        ("data-levels", "0,1,2"),
        ("data-colours", "3"),
        ("data-zooms", "true"),
        ("data-zoom-text", "6.31 ×"),
        ("data-position", "32"),
        ("data-moves", "true"),
        ("data-zoom", "5"),
        ("data-tip-leaves", "true"),
        ("data-hides", "true"),
    ] {
        assert_eq!(attribute(&seen, name), Some(expected), "{name}");
    }
    // The first row of the star, its root, at the beginning.
    let tip = attribute(&seen, "data-tip").unwrap_or_default();
    assert!(tip.starts_with("rank 0: ") && tip.contains(" bytes, "), "{tip}");
}
