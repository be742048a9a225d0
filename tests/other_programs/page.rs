//! The page with the program as WebAssembly, in Chromium: its plans are those of the program.

use crate::program::{folder, tuwtree, workspace_file};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// A page that takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(300);

/// Sends the state, the command line and the plan back once they are there.
const REPORTING: &str = r#"<script>
const told = (id) => document.getElementById(id).textContent;
new MutationObserver(() => {
  const state = document.getElementById("state");
  if (!document.body.dataset.planned && state.className !== "error") return;
  fetch("/told", { method: "POST", body: [told("state"), told("command"), told("plan")].join("\u0000") });
}).observe(document.body, { attributes: true, subtree: true });
</script></body>"#;

/// A browser that ends with the test.
struct Browser(Child);

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A request's first line, and its body. Browsers open connections that they do not use.
fn request(stream: &TcpStream) -> std::io::Result<(String, String)> {
    let mut reader = BufReader::new(stream);
    let (mut first, mut length) = (String::new(), 0);
    reader.read_line(&mut first)?;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        match line.trim().split_once(": ") {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.parse().unwrap();
            }
            Some(_) => {}
            None => break,
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    Ok((first, String::from_utf8(body).unwrap()))
}

/// State, command line and plan of the page with these fields.
fn planned(fields: &str) -> [String; 3] {
    let page = workspace_file("target/page/tuwtree.html");
    let page = std::fs::read_to_string(page).expect("the page, which page/build makes");
    let page = page.replace("</body>", REPORTING);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}/#{fields}", listener.local_addr().unwrap());
    let mut command = Command::new("chromium");
    command.args(["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]);
    command.arg(format!("--user-data-dir={}", folder("page-in-chromium").display())).arg(address);
    let mut browser = Browser(command.spawn().expect("chromium"));
    let started = Instant::now();
    listener.set_nonblocking(true).unwrap();
    while started.elapsed() < PATIENCE {
        let Ok((mut stream, _)) = listener.accept() else {
            assert_eq!(browser.0.try_wait().unwrap(), None, "chromium ends");
            std::thread::sleep(Duration::from_millis(20));
            continue;
        };
        stream.set_nonblocking(false).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let Ok((first, body)) = request(&stream) else { continue };
        let is_told = first.starts_with("POST /told ");
        let answer = if first.starts_with("GET / ") { page.as_str() } else { "" };
        let answered = write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n\
             Connection: close\r\n\r\n{answer}",
            answer.len()
        );
        if is_told && answered.is_ok() {
            let told: Vec<String> = body.split('\0').map(str::to_owned).collect();
            return told.try_into().unwrap();
        }
    }
    panic!("no plan for {fields}");
}

#[test]
#[ignore = "needs Chromium, and the page that page/build makes: ./test --all runs it"]
fn the_page_plans_the_trees_of_the_program() {
    for fields in [
        "op=gather&blocks=dist&dist=spikes&p=64&root=0&machine=infiniband",
        "op=scatter&blocks=dist&dist=random&p=40&root=7&machine=ethernet&algorithm=optimal,deadline",
        "op=gather&blocks=dist&dist=spikes&p=256&root=0&machine=typed below",
        "op=gather&blocks=dist&dist=skewed&p=100000&root=0&machine=infiniband&algorithm=deadline",
    ] {
        let [state, command, plan] = planned(&fields.replace(' ', "+"));
        assert!(state.starts_with("Planned in "), "{fields}: {state}");
        let arguments = command.strip_prefix("tuwtree ").unwrap();
        let document = tuwtree(&format!("{arguments} -o -")).success();
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        let children = document["subtrees"].as_array().unwrap();
        let mut parents = vec![-1; children.len()];
        for (rank, own) in children.iter().enumerate() {
            for child in own.as_array().unwrap().iter().filter_map(|child| child.as_u64()) {
                if child != rank as u64 {
                    parents[child as usize] = rank as i64;
                }
            }
        }
        let parents: Vec<String> = parents.iter().map(i64::to_string).collect();
        let expected = format!("static const int parent[] = {{{}}};", parents.join(", "));
        assert!(plan.contains(&expected), "{fields}: {}", &plan[..plan.len().min(500)]);
    }
    let [state, ..] = planned("op=gather&blocks=sizes&sizes=1+x+3");
    assert!(state.contains("error") && state.contains('x'), "{state}");
}
