//! Machines from platforms of the simulator SimGrid.

use crate::documents::schema;
use crate::program::{json, tuwtree, tuwtree_with_input, workspace_file};
use std::fs;

fn platform(name: &str) -> String {
    workspace_file("data/platforms").join(name).display().to_string()
}

#[test]
fn a_platform_is_a_machine_shown_converted_and_used() {
    let schema = schema("docs/machine.schema.json");
    for (name, processes) in [("cabinets.xml", 92), ("hosts.xml", 3)] {
        let file = platform(name);
        let shown = tuwtree(&format!("machine {file}")).success();
        assert!(shown.contains("A platform of SimGrid"), "{shown}");
        let converted = json(&format!("machine {file} --format json"));
        assert!(schema.is_valid(&converted), "{name}");
        let again = tuwtree_with_input("machine -", &converted.to_string()).success();
        assert_eq!(again, shown);
        let optimized = json(&format!("optimize --dist random --machine {file} --json"));
        assert_eq!(optimized["ranks"], processes, "{name}");
        assert_eq!(optimized["machine"], converted["name"]);
    }
}

#[test]
fn clusters_of_one_kind_are_levels() {
    let machine = json(&format!("machine {} --format json", platform("cabinets.xml")));
    let levels = machine["hierarchical"]["levels"].as_array().unwrap();
    let costs: Vec<(u64, f64, f64)> = levels
        .iter()
        .map(|level| {
            let number = |field: &str| level[field].as_f64().unwrap();
            let microseconds = (number("alpha_seconds") * 1e9).round() / 1e3;
            let nanoseconds = (number("beta_seconds_per_byte") * 1e12).round() / 1e3;
            (level["members"].as_u64().unwrap(), microseconds, nanoseconds)
        })
        .collect();
    assert_eq!(costs, [(32, 48.0, 8.0), (3, 72.0, 8.0)]);
    let nodes = machine["hierarchical"]["node_of_rank"].as_array().unwrap();
    assert_eq!(
        (nodes.len(), &nodes[31], &nodes[32], &nodes[60]),
        (92, &0.into(), &1.into(), &2.into())
    );
}

#[test]
fn bad_platforms_are_refused_with_line_and_value() {
    let good = fs::read_to_string(platform("cabinets.xml")).unwrap();
    for (from, to, messages) in [
        ("lat=\"24us\"", "lat=\"24 flies\"", ["line 6: lat is \"24 flies\"", "such as 50us"]),
        ("radical=\"61-92\"", "radical=\"many\"", ["line 10: radical is \"many\"", "such as 0-99"]),
        ("link_ctn id=\"switch\"", "link_ctn id=\"hub\"", ["line 14", "there is no link \"hub\""]),
        ("</zone>", "", ["platform", "zone"]),
        ("platform", "deployment", ["line 4: the document is a <deployment>", "<platform>"]),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        tuwtree_with_input("machine -", &bad).fails(1, &messages);
    }
    let entities = good.replace(".dtd\">", ".dtd\" [<!ENTITY a \"b\">]>");
    tuwtree_with_input("machine -", &entities).fails(1, &["entities"]);
}
