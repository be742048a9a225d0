//! Pages about measured times: verdict and relative times first, all figures folded below.

use super::{MeasuredPicture, RelativePicture};
use crate::frame::{PictureStyle as Frame, style};
use crate::page::BASE;
use crate::svg::Xml;
use tuwtree_measure::{
    CONFIDENCE, Guideline, LEVEL, MeasuredCalls, Measurements, Predictions, Repetitions,
    TriedGuideline, Verdict, verdict,
};
use tuwtree_model::ClosedSet;
use tuwtree_model::quantity::{self, bytes};

/// The page of an operation's times as HTML: one file that needs no network. `version` is the program's.
pub fn measured_page(
    measurements: &Measurements,
    predictions: &Predictions,
    version: &str,
) -> String {
    let picture = MeasuredPicture::new(measurements);
    let (title, _) = picture.title();
    let setting = measurements.setting();
    let facts = facts(&setting.program, &setting.library, Some(setting.nodes));
    let contests = measurements.contests();
    let mut page = Page::open(&title, &facts, measurements.warning());
    page.verdict(&verdict(&contests));
    page.picture(&RelativePicture { title: RELATIVE.into(), lines: Vec::new(), contests });
    page.folded("Times against mean blocks", |xml| xml.markup(&picture.drawn(Frame::InPage)));
    for guideline in Guideline::all() {
        let Some(formula) = guideline.formula(setting.operation) else { continue };
        let tried = guideline.tried(measurements, LEVEL);
        page.folded(&format!("{}: {formula}", guideline.name()), |xml| {
            write_verdicts(xml, &tried, setting.element_bytes);
        });
    }
    page.folded("All times, in microseconds", |xml| {
        write_figures(xml, measurements, predictions);
    });
    page.close(version)
}

/// The page of a program's recorded calls as HTML: one file that needs no network. `version` is the program's.
pub fn measured_calls_page(calls: &MeasuredCalls, version: &str) -> String {
    let facts = facts(&calls.program, &calls.library, calls.nodes);
    let picture = calls_picture(calls);
    let mut page = Page::open(&picture.title, &facts, calls.warning());
    page.verdict(&calls.verdict());
    page.picture(&RelativePicture { title: RELATIVE.into(), lines: Vec::new(), ..picture });
    page.folded("All times, in microseconds", |xml| {
        let headings = ["call", "recorded", "algorithm", "minimum", "median", "from", "to", "late"];
        open_table(xml, &headings);
        for call in &calls.calls {
            for one in call.times() {
                let calls = call.recorded_calls.to_string();
                let own = [call.name(), calls, one.algorithm.name().into_owned()];
                write_row(xml, own.into_iter().chain(times_cells(&one.times)));
            }
        }
        close_table(xml);
    });
    let left_out: Vec<String> = calls
        .calls
        .iter()
        .filter_map(|call| Some(format!("{}: {}", call.name(), call.measured.as_ref().err()?)))
        .collect();
    if !left_out.is_empty() {
        page.folded("Calls that were not measured", |xml| {
            for line in &left_out {
                xml.text("p", &[], line);
            }
        });
    }
    page.close(version)
}

/// The picture of a program's recorded calls.
pub fn calls_picture(calls: &MeasuredCalls) -> RelativePicture<'_> {
    RelativePicture {
        title: format!(
            "Recorded calls over {}: measured times",
            crate::labels::ranks(calls.ranks())
        ),
        lines: vec![format!("measured by {}; {}", calls.program, calls.library)],
        contests: calls.contests(),
    }
}

/// Title of the picture in a page.
const RELATIVE: &str = "Times over those of the library's own call";

fn facts(program: &str, library: &str, nodes: Option<usize>) -> Vec<(&'static str, String)> {
    let library = library.lines().next().unwrap_or_default().to_owned();
    let mut facts = vec![("MPI library", library), ("Measured by", program.to_owned())];
    facts.extend(nodes.map(|nodes| ("Nodes", nodes.to_string())));
    facts
}

/// A page that grows part by part.
struct Page {
    xml: Xml,
}

impl Page {
    fn open(title: &str, facts: &[(&str, String)], warning: Option<&str>) -> Page {
        let mut xml = Xml::default();
        xml.open("html", &[("lang", &"en")]);
        xml.open("head", &[]);
        xml.empty("meta", &[("charset", &"utf-8")]);
        xml.empty(
            "meta",
            &[("name", &"viewport"), ("content", &"width=device-width, initial-scale=1")],
        );
        xml.empty("meta", &[("name", &"color-scheme"), ("content", &"light dark")]);
        xml.text("title", &[], title);
        // A style sheet is no text of XML: nothing in it may be escaped.
        xml.markup(&format!("<style>{}{BASE}{STYLE}</style>\n", style()));
        xml.close();
        xml.open("body", &[]);
        xml.text("h1", &[], title);
        xml.open("dl", &[]);
        for (name, value) in facts {
            xml.open("div", &[]);
            xml.text("dt", &[], name);
            xml.text("dd", &[], value);
            xml.close();
        }
        xml.close();
        if let Some(warning) = warning {
            xml.text("p", &[("class", &"warning")], format!("Warning: {warning}."));
        }
        Page { xml }
    }

    fn verdict(&mut self, lines: &[String]) {
        self.xml.text("h2", &[], "Verdict");
        for line in lines {
            self.xml.text("p", &[], line);
        }
        if lines.is_empty() {
            self.xml.text("p", &[], "Nothing was measured beside the library's own call.");
        }
    }

    fn picture(&mut self, picture: &RelativePicture<'_>) {
        self.xml.open("div", &[("class", &"wide")]);
        self.xml.markup(&picture.drawn(Frame::InPage));
        self.xml.close();
    }

    /// A part that opens at a click.
    fn folded(&mut self, summary: &str, write: impl FnOnce(&mut Xml)) {
        self.xml.open("details", &[]);
        self.xml.text("summary", &[], summary);
        write(&mut self.xml);
        self.xml.close();
    }

    fn close(mut self, version: &str) -> String {
        self.xml.text("footer", &[], format!("tuwtree {version}"));
        self.xml.close();
        self.xml.close();
        format!("<!DOCTYPE html>\n{}", self.xml.finish())
    }
}

/// Styles of these pages alone.
const STYLE: &str = "\
body { max-width: 1100px; }
svg { max-width: 100%; height: auto; }
summary { cursor: pointer; font-weight: bold; padding: .5rem 0; }
details { border-top: 1px solid var(--line); }
.warning, .violated { color: var(--critical); font-weight: bold; }
";

fn write_verdicts(xml: &mut Xml, tried: &[TriedGuideline], element_bytes: u64) {
    let count = |verdict| tried.iter().filter(|one| one.verdict == verdict).count();
    let summary = format!(
        "{} comparisons: violated {}, kept {}, no difference {}. One-sided rank-sum tests at {LEVEL} \
         for all together (Bonferroni).",
        tried.len(),
        count(Verdict::Violated),
        count(Verdict::Kept),
        count(Verdict::NoDifference)
    );
    xml.text("p", &[], summary);
    if tried.is_empty() {
        return;
    }
    open_table(xml, &["blocks", "mean block", "algorithm", "left : right", "p", "verdict"]);
    for one in tried {
        let p = match one.verdict {
            Verdict::Kept => one.probability_for,
            Verdict::Violated | Verdict::NoDifference => one.probability_against,
        };
        let class = if one.verdict == Verdict::Violated { "violated" } else { "" };
        xml.open("tr", &[]);
        for text in [
            one.blocks.name().to_owned(),
            bytes(one.mean_block.saturating_mul(element_bytes)),
            one.algorithm.name().into_owned(),
            format!("{:.3}", one.ratio),
            format!("{p:.1e}"),
        ] {
            xml.text("td", &[], text);
        }
        xml.text("td", &[("class", &class)], one.verdict.name());
        xml.close();
    }
    close_table(xml);
}

fn microseconds(seconds: f64) -> String {
    quantity::number((seconds * 1e8).round() / 100.0)
}

/// Minimum, median, both ends of its interval, late starts.
fn times_cells(times: &Repetitions) -> [String; 5] {
    let [low, high] = match times.interval() {
        Some(ends) => [microseconds(ends.low), microseconds(ends.high)],
        None => ["-", "-"].map(str::to_owned),
    };
    let late = times.late_starts().map_or_else(|| "-".to_owned(), |late| late.to_string());
    [microseconds(times.minimum()), microseconds(times.median()), low, high, late]
}

fn write_figures(xml: &mut Xml, measurements: &Measurements, predictions: &Predictions) {
    let mut headings = vec!["blocks", "mean block", "algorithm", "minimum", "median", "from", "to"];
    headings.extend(["late", "planning"]);
    if predictions.are_any() {
        headings.extend(["planned", "judged", "median : judged"]);
        xml.text("p", &[], PREDICTED);
    }
    let confidence = 100.0 * CONFIDENCE;
    xml.text("p", &[], format!("from, to: the {confidence} % interval of the median"));
    open_table(xml, &headings);
    let element_bytes = measurements.setting().element_bytes;
    for (index, one) in measurements.series().iter().enumerate() {
        let problem = [
            one.blocks.name().to_owned(),
            bytes(one.mean_block.saturating_mul(element_bytes)),
            one.algorithm.name().into_owned(),
        ];
        let planning = microseconds(one.planning_seconds);
        let mut cells: Vec<String> =
            problem.into_iter().chain(times_cells(&one.times)).chain([planning]).collect();
        if predictions.are_any() {
            let prediction = predictions.of(index);
            let ratio = prediction.and_then(|said| said.measured_over_judged(one));
            let said = [
                prediction.and_then(|said| said.planned_seconds).map(microseconds),
                prediction.map(|said| microseconds(said.judged_seconds)),
                ratio.map(|ratio| format!("{ratio:.3}")),
            ];
            cells.extend(said.map(|text| text.unwrap_or_else(|| "-".to_owned())));
        }
        write_row(xml, cells.into_iter());
    }
    close_table(xml);
}

/// Explanation of the times of planner and judge.
const PREDICTED: &str = "Planned and judged: what planner and judge say of the tree, planned anew with the \
    costs that stand in the document. Both take receives to be posted in advance, as trees do that \
    send messages at once (eager).";

fn write_row(xml: &mut Xml, cells: impl Iterator<Item = String>) {
    xml.open("tr", &[]);
    for cell in cells {
        xml.text("td", &[], cell);
    }
    xml.close();
}

fn open_table(xml: &mut Xml, headings: &[&str]) {
    xml.open("div", &[]);
    xml.open("table", &[]);
    xml.open("tr", &[]);
    for heading in headings {
        xml.text("th", &[], heading);
    }
    xml.close();
}

fn close_table(xml: &mut Xml) {
    xml.close();
    xml.close();
}

#[cfg(test)]
mod tests {
    use super::super::tests::measured;
    use super::*;
    use tuwtree_measure::{Algorithm, CallTimes, LateStarts, MeasuredCall, Prediction};
    use tuwtree_model::{BlockSizes, Operation};

    /// The page as XML, without the style sheet, in which `>` is not escaped.
    fn parsed(page: &str) -> String {
        let (head, rest) = page.split_once("<style>").unwrap();
        let (_, body) = rest.split_once("</style>").unwrap();
        format!("{}{body}", head.strip_prefix("<!DOCTYPE html>\n").unwrap())
    }

    #[test]
    fn the_page_has_a_row_for_each_series_and_each_verdict() {
        let measured = measured(&[Algorithm::Padded, Algorithm::Native], &[1, 10]);
        let page = parsed(&measured_page(&measured, &Predictions::default(), "1.2.3"));
        let parsed = roxmltree::Document::parse(&page).unwrap();
        let rows = parsed.descendants().filter(|node| node.has_tag_name("tr")).count();
        // GL2 has a heading and 4 comparisons, the figures a heading and 8 series.
        assert_eq!(rows, 5 + 9);
        assert!(page.contains("a &lt;library&gt;") && page.contains("tuwtree 1.2.3"));
        assert!(page.contains("GL1: MPI_Gather(m) &lt;= MPI_Gatherv(m)"));
        assert!(!page.contains("judged"));
        let verdict = page.find("<h2>Verdict").unwrap();
        let folded = page.find("<details>").unwrap();
        assert!(verdict < page.find("<svg").unwrap() && page.find("<svg").unwrap() < folded);
    }

    #[test]
    fn the_page_has_planner_and_judge_beside_the_measured_times() {
        let measured = measured(&[Algorithm::Padded, Algorithm::Native], &[1]);
        let said = Prediction { planned_seconds: Some(3e-5), judged_seconds: 2e-5 };
        let predictions = Predictions::new(vec![None, Some(said)]);
        let page = measured_page(&measured, &predictions, "1.2.3");
        assert!(page.contains("<th>median : judged</th>"));
        // The median is 30.5 us.
        assert!(page.contains("<td>30</td>\n<td>20</td>\n<td>1.525</td>"), "{page}");
        assert!(page.contains("<td>-</td>\n<td>-</td>\n<td>-</td>"));
    }

    #[test]
    fn the_page_of_recorded_calls_begins_with_the_verdict_and_counts_late_starts() {
        let times = |algorithm, seconds: f64, late: &[usize]| CallTimes {
            algorithm,
            planning_seconds: 0.0,
            times: Repetitions { seconds: vec![seconds; 9], late: LateStarts::Listed(late.into()) },
        };
        let call = |measured| MeasuredCall {
            functions: vec!["MPI_Gatherv".into()],
            operation: Operation::Gather,
            root: 1,
            sizes: BlockSizes::new([100, 0, 7]).unwrap(),
            recorded_calls: 5,
            recorded_seconds: 0.5,
            measured,
        };
        let both = vec![times(Algorithm::Native, 2e-3, &[]), times(Algorithm::Auto, 1e-3, &[0, 4])];
        let calls = MeasuredCalls {
            program: "a program 1.0".into(),
            library: "a library".into(),
            nodes: Some(3),
            oversubscribed: true,
            machine_file: Some("here.json".into()),
            calls: vec![call(Ok(both)), call(Err("a <reason>".into()))],
        };
        let page = parsed(&measured_calls_page(&calls, "1.2.3"));
        roxmltree::Document::parse(&page).unwrap();
        for part in [
            "All these calls, as often as recorded: native 10 ms, auto 5 ms.",
            "auto: 0.50x the time of the library's own call",
            "2 of 18 starts were late",
            "tuwtree-exec run --machine here.json",
            "a &lt;reason&gt;",
            "Warning: more processes than cores",
            "MPI_Gatherv, root 1, 107 B (largest block 100 B): native 2 ms, auto 1 ms (2 of 9 starts late)",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert_eq!(calls_picture(&calls).svg().matches("class=\"row\"").count(), 1);
    }
}
