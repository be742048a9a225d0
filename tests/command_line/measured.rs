//! Measured times on the command line: the sample, its schema, pictures and pages, and bad files.

use crate::documents::schema;
use crate::program::{folder, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::{Value, json};
use std::fs;
use tuwtree_model::{ClosedSet, Distribution};

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
    for (field, bad, said) in [
        ("processors", 0.into(), "ranks"),
        ("operation", "exscan".into(), "operation"),
        ("x", 1.into(), "x"),
    ] {
        let mut wrong = value.clone();
        wrong[field] = bad;
        assert!(!schema.is_valid(&wrong), "{field}");
        let run = tuwtree_with_input("report -", &wrong.to_string());
        run.fails(1, &[said]);
    }
    let said = tuwtree(&format!("report {}", sample())).success();
    for part in
        ["WARNING: more processes than cores", "GL1, MPI_Gather(m)", "GL2, ", "pays against"]
    {
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn the_schema_knows_every_distribution_and_listed_blocks() {
    let text = fs::read_to_string(sample()).unwrap();
    let schema = schema("docs/measurements.schema.json");
    let mut value: Value = serde_json::from_str(&text).unwrap();
    for distribution in Distribution::all() {
        value["series"][0]["distribution"] = distribution.name().into();
        assert!(schema.is_valid(&value), "{}", distribution.name());
    }
    let series = &mut value["series"];
    series.as_array_mut().unwrap().truncate(1);
    let one = series[0].as_object_mut().unwrap();
    one.remove("distribution");
    one.insert("listed".into(), "my counts".into());
    let ranks = value["processors"].as_u64().unwrap() as usize;
    let blocks: Vec<u64> = vec![12; ranks];
    value["version"] = 3.into();
    value["listed"] = json!([{ "name": "my counts", "block_sizes_bytes": blocks }]);
    assert!(schema.is_valid(&value));
    let folder = folder("measured-listed");
    for name in ["times.txt", "times.csv", "times.svg", "times.html"] {
        let path = folder.join(name);
        let arguments = format!("report - -o {}", path.display());
        tuwtree_with_input(&arguments, &value.to_string()).success();
        assert!(fs::read_to_string(path).unwrap().contains("my counts"), "{name}");
    }
    value["series"][0]["distribution"] = "same".into();
    assert!(!schema.is_valid(&value));
    let both = tuwtree_with_input("report -", &value.to_string());
    both.fails(1, &["series 0", "either \"distribution\" or \"listed\""]);
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
fn reports_of_recorded_calls_begin_with_the_advice() {
    let sample = workspace_file("data/measurements/recorded-calls.json");
    let folder = folder("measured_calls");
    let said = tuwtree(&format!("report {}", sample.display())).success();
    let advice = "All these calls, as often as recorded: native 20.77 s, auto 11.74 s.";
    assert!(said.contains("MPI_Gatherv, root 0, 1.02 kB (largest block 64 B), 16 ranks, recorded"));
    assert!(said.contains(advice) && said.contains("not measured: of an alltoall"), "{said}");
    let write = |name: &str| {
        let path = folder.join(name);
        tuwtree(&format!("report {} -o {}", sample.display(), path.display())).success();
        fs::read_to_string(path).unwrap()
    };
    let page = write("calls.html");
    let places = [advice, "<svg", "<details>"].map(|part| page.find(part).expect(part));
    assert!(places.is_sorted(), "{places:?}");
    assert_eq!(write("calls.svg").matches("class=\"row\"").count(), 7);
    assert_eq!(write("calls.csv").lines().count(), 1 + 2 * 7);
    let series: Value = serde_json::from_str(&write("calls.json")).unwrap();
    assert_eq!(series["series"][1]["algorithm"], "auto");
    // Blanks in front of the format, as an editor may leave them, and times that cannot be.
    let text = fs::read_to_string(&sample).unwrap();
    let spaced =
        tuwtree_with_input("report -", &text.replace("{\"format\"", "{ \n \"format\"")).success();
    assert!(spaced.contains(advice));
    let bad = text.replacen("\"recorded_calls\":500", "\"recorded_calls\":0", 1);
    tuwtree_with_input("report -", &bad).fails(1, &["call 0: 0 calls"]);
}

#[test]
fn what_holds_no_times_is_refused_by_name() {
    let machine = workspace_file("data/machines/ring.json");
    tuwtree(&format!("report {}", machine.display())).fails(1, &["ring.json", "tuwtree-machine"]);
    tuwtree("report no-such-file.json").fails(1, &["no-such-file.json"]);
    tuwtree(&format!("report {} -o times.jpeg", sample()))
        .fails(2, &["times.jpeg", ".svg, .png, .pdf or .html"]);
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

#[test]
fn planner_and_judge_stand_beside_measured_times_where_latency_overlaps() {
    let text = fs::read_to_string(sample()).unwrap();
    let mut value: Value = serde_json::from_str(&text).unwrap();
    // The same times, as if trees had been planned with costs whose latency overlaps.
    value["machine"] = serde_json::json!({
        "format": "tuwtree-machine", "version": 2, "name": "made up", "date": "2026-11-22",
        "provenance": "made up",
        "homogeneous": {
            "alpha_seconds": 5e-6, "overhead_seconds": 4e-7, "beta_seconds_per_byte": 1e-10,
            "gamma_seconds_per_byte": 0.0,
        },
    });
    let folder = folder("measured_beside_the_judge");
    let file = folder.join("measured.json");
    fs::write(&file, value.to_string()).unwrap();
    let report = |arguments: &str| tuwtree(&format!("report {} {arguments}", file.display()));
    let said = report("").success();
    assert!(said.contains("95 % interval    planned     judged  times judged"), "{said}");
    let page = folder.join("page.html");
    report(&format!("-o {}", page.display())).success();
    assert!(fs::read_to_string(&page).unwrap().contains("<th>median : judged</th>"));
    let series: Value = serde_json::from_str(&report("--json").success()).unwrap();
    let setting = |field: &str| value[field].as_u64().unwrap();
    let machine = folder.join("machine.json");
    fs::write(&machine, value["machine"].to_string()).unwrap();
    let mut trees = 0;
    for one in series["series"].as_array().unwrap() {
        let name = one["algorithm"].as_str().unwrap();
        let Some((construction, "eager" | "strict")) = name.rsplit_once('-') else {
            assert!(one["judged_seconds"].is_null(), "{one}");
            continue;
        };
        trees += 1;
        if one["mean_block"] != 100 {
            continue;
        }
        // What the optimizer says of the same problem.
        let bytes = setting("element_bytes");
        let sizes: Vec<String> = {
            let (p, rho, seed) = (setting("processors"), setting("rho"), setting("seed"));
            let dist = one["distribution"].as_str().unwrap();
            let sizes =
                tuwtree(&format!("generate --dist {dist} -p {p} -b 100 --rho {rho} --seed {seed}"));
            let sizes = sizes.success();
            sizes
                .split_whitespace()
                .map(|one| (one.parse::<u64>().unwrap() * bytes).to_string())
                .collect()
        };
        let compared = tuwtree_with_input(
            &format!(
                "optimize --sizes - --machine {} --root {} --algorithm {construction} \
                 --adaptive-rule gather-time --json",
                machine.display(),
                setting("root")
            ),
            &sizes.join(" "),
        );
        let compared: Value = serde_json::from_str(&compared.success()).unwrap();
        let built = &compared["constructions"][0];
        assert_eq!(built["completion_time"], one["judged_seconds"], "{one}");
        assert_eq!(built["planned_completion_time"], one["planned_seconds"], "{one}");
    }
    assert!(trees > 0);
    // Without overlap, all stays as it was.
    assert!(!tuwtree(&format!("report {}", sample())).success().contains("judged"));
}
