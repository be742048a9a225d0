//! Measured times on the command line: the sample, its schema, pictures and pages, and bad files.

use crate::documents::schema;
use crate::program::{folder, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::Value;
use std::fs;

fn sample() -> String {
    workspace_file("data/measurements/two-cores.json").display().to_string()
}

#[test]
fn the_sample_fits_the_schema_and_says_that_it_says_nothing() {
    let text = fs::read_to_string(sample()).unwrap();
    let value: Value = serde_json::from_str(&text).unwrap();
    assert!(schema("docs/machine.schema.json").is_valid(&value["machine"]));
    let schema = schema("docs/measurements.schema.json");
    assert!(schema.is_valid(&value));
    for (field, bad) in [("processors", 0.into()), ("operation", "reduce".into()), ("x", 1.into())]
    {
        let mut wrong = value.clone();
        wrong[field] = bad;
        assert!(!schema.is_valid(&wrong), "{field}");
        let run = tuwtree_with_input("report -", &wrong.to_string());
        run.fails(1, &[field]);
    }
    let said = tuwtree(&format!("report {}", sample())).success();
    for part in
        ["WARNING: more processes than cores", "GL1, MPI_Gather(m)", "GL2, ", "pays against"]
    {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn reports_are_pictures_pages_and_tables() {
    let folder = folder("measured");
    let series = fs::read_to_string(sample()).unwrap().matches("\"algorithm\"").count();
    let write = |name: &str| {
        let path = folder.join(name);
        assert_eq!(tuwtree(&format!("report {} -o {}", sample(), path.display())).success(), "");
        fs::read(path).unwrap()
    };
    let svg = String::from_utf8(write("times.svg")).unwrap();
    let picture = roxmltree::Document::parse(&svg).unwrap();
    let dots = picture.descendants().filter(|node| node.has_tag_name("circle")).count();
    assert_eq!(dots, series);
    assert!(String::from_utf8(write("times.html")).unwrap().contains(">GL2: MPI_Gatherv(m)"));
    assert_eq!(String::from_utf8(write("times.csv")).unwrap().lines().count(), 1 + series);
    // Same input, same bytes.
    assert_eq!(svg.into_bytes(), write("again.svg"));
}

#[test]
fn what_holds_no_times_is_refused_by_name() {
    let machine = workspace_file("data/machines/ring.json");
    tuwtree(&format!("report {}", machine.display())).fails(1, &["ring.json", "tuwtree-machine"]);
    tuwtree("report no-such-file.json").fails(1, &["no-such-file.json"]);
    tuwtree(&format!("report {} -o times.pdf", sample()))
        .fails(2, &["times.pdf", ".svg, .png or .html"]);
    tuwtree_with_input("report -", "1,2").fails(1, &["standard input"]);
}

#[test]
fn break_even_points_need_seconds() {
    let machine = workspace_file("data/machines/vsc3.toml");
    let arguments = format!("optimize --machine {} --dist skewed -p 64", machine.display());
    let said = tuwtree(&format!("{arguments} --break-even")).success();
    for other in ["adaptive", "linear"] {
        assert!(said.contains(&format!("pays against {other}: ")), "{said}");
    }
    assert!(!tuwtree(&arguments).success().contains("break-even"));
    tuwtree("optimize -p 8 --dist same --break-even").fails(2, &["--machine"]);
    tuwtree(&format!("{arguments} --break-even --json")).fails(2, &["--json"]);
}
