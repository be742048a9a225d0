//! Costs of exchanges on the command line: they count, are written and read, and refused where there are none.

use crate::program::{folder, json, times, tuwtree};

const VECTOR: &str = "--op allreduce --vector 48 -p 6 --algorithm rabenseifner-half";

#[test]
fn exchanges_that_are_dearer_take_longer_and_are_written() {
    // l = 2, P = 4, f = 1/2 for both: 2 * 2 + 1 + 2 f alphas, 2 + (1 + 3 f) / 2 - 2 / P times n beta.
    let dearer = "--alpha 10 --beta 1 --gamma 0 --exchange-alpha 20 --exchange-beta 2";
    let found = json(&format!("optimize {VECTOR} {dearer} --json"));
    let expected = 6 * 20 + (3 * 48 * 2 + 48 * 2 / 4) - 48;
    assert_eq!(times(&found), [("rabenseifner-half", expected)]);
    assert_eq!(found["exchange_alpha"], 20);
    assert_eq!(found["exchange_beta_per_byte"], 2);
    let equal = json(&format!(
        "optimize {VECTOR} --alpha 10 --beta 1 --gamma 0 --exchange-alpha 10 --json"
    ));
    assert_eq!(equal.get("exchange_alpha"), None);

    let folder = folder("exchange-costs");
    let plan = folder.join("plan.json").to_str().unwrap().to_owned();
    tuwtree(&format!("optimize {VECTOR} {dearer} -o {plan}")).success();
    let text = std::fs::read_to_string(&plan).unwrap();
    assert!(text.contains("\"version\":6"), "{text}");
    assert!(text.contains("\"exchange_alpha\":20.0,\"exchange_beta_per_byte\":2.0"), "{text}");
    let time = |options: &str| json(&format!("{options} --json"))["completion_time"].clone();
    assert_eq!(time(&format!("simulate {plan}")), expected);
    assert_eq!(time(&format!("evaluate {plan}")), expected);
    // Of seven rounds, two have lone messages only.
    let alphas = 10 * (2 * 2 + 1);
    assert_eq!(time(&format!("simulate {plan} --exchange-alpha 30")), expected + alphas);
    assert_eq!(
        time(&format!("evaluate {plan} --exchange-alpha 10 --exchange-beta 1")),
        7 * 10 + 4 * 48 - 2 * 48 / 4
    );
}

#[test]
fn costs_of_exchanges_are_refused_where_there_are_none() {
    for (command, option) in [
        ("optimize --dist spikes -p 9", "--exchange-alpha 3"),
        ("compare --op reduce --vector 9 -p 9", "--exchange-beta 3"),
        ("sweep -p 9 --dist spikes", "--exchange-alpha 3"),
    ] {
        let name = option.split(' ').next().unwrap();
        let message = format!("{name}: along a tree no process");
        tuwtree(&format!("{command} {option}")).fails(2, &[&message]);
    }
    for (options, message) in [
        ("--exchange-alpha=-1", "--exchange-alpha: exchange alpha is -1"),
        ("--exchange-beta 1 --alpha 2us --beta 1ns --gamma 0", "--exchange-beta has none"),
        ("--exchange-alpha 150 --overhead 3", "--overhead: costs of exchanges go with"),
        ("--exchange-alpha 1 --machine vsc3", "cannot be used with"),
    ] {
        tuwtree(&format!("optimize {VECTOR} {options}")).fails(2, &[message]);
    }
    tuwtree("select --op allreduce -p 4..8 --exchange-alpha 150")
        .fails(2, &["--exchange-alpha, --exchange-beta: exchanges have costs of their own"]);
}

#[test]
fn sweeps_take_costs_of_exchanges_and_duplex_ports_as_optimize_does() {
    let problem = "--op allgather --dist spikes -p 9 -b 50 --algorithm ring,bruck";
    let folder = folder("exchange-sweep");
    let machine = folder.join("machine.json").to_str().unwrap().to_owned();
    std::fs::write(
        &machine,
        r#"{"format":"tuwtree-machine","version":4,"name":"one way at a time","date":"2026-01-01",
        "provenance":"made up","homogeneous":{"alpha_seconds":1e-6,"beta_seconds_per_byte":1e-9,
        "gamma_seconds_per_byte":0,"exchange_alpha_seconds":2e-6,"exchange_beta_seconds_per_byte":2e-9}}"#,
    )
    .unwrap();
    let numbers = "--alpha 10 --beta 1 --gamma 0 --exchange-alpha 20 --exchange-beta 2";
    for costs in [numbers.to_owned(), format!("--machine {machine}")] {
        for ports in ["", " --duplex"] {
            let options = format!("{problem} {costs}{ports}");
            let one = json(&format!("optimize {options} --json"));
            let swept = json(&format!("sweep {options} --format json"));
            let rows = swept["rows"].as_array().unwrap();
            assert_eq!(rows.len(), 2, "{swept}");
            for (row, listed) in rows.iter().zip(one["constructions"].as_array().unwrap()) {
                for field in ["construction", "completion_time"] {
                    assert_eq!(row[field], listed[field], "{options}");
                }
                let alpha = row["alpha"].as_f64().unwrap();
                assert_eq!(row["exchange_alpha"], 2.0 * alpha, "{options}");
            }
        }
    }
    // Without costs of their own, exchanges have no columns; --alphas is theirs, too.
    let usual = json(&format!("sweep {problem} --alphas 1,10 --beta 1 --gamma 0 --format json"));
    assert_eq!(usual["rows"][0].get("exchange_alpha"), None);
}

#[test]
fn exports_say_what_exchanges_cost_or_that_they_leave_it_out() {
    let folder = folder("exchange-exports");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (plan, dearer) = (path("plan.json"), "--alpha 10 --beta 1 --gamma 0 --exchange-alpha 20");
    let export = |algorithm: &str, format: &str| {
        let vector = "--op allreduce --vector 48 -p 6";
        tuwtree(&format!("optimize {vector} --algorithm {algorithm} {dearer} -o {plan}")).success();
        let run = tuwtree(&format!(
            "export {plan} --format {format} -o {}",
            path(&format!("exported.{format}"))
        ));
        assert_eq!(run.code, 0, "{}", run.stderr);
        run.stderr
    };
    let notes = export("rabenseifner-half", "goal");
    let (_, counts) = notes.split_once("--format goal does not say what messages cost").unwrap();
    assert!(
        counts.contains("20 of 24 messages are of exchanges and cost alpha 20 and beta 1"),
        "{notes}"
    );
    let goal = std::fs::read_to_string(path("exported.goal")).unwrap();
    assert!(goal.contains("// LogGOPSim: g and G are the same for all messages; "), "{goal}");
    let notes = export("ring", "chakra");
    assert!(
        notes.contains(
            "--format chakra does not say what messages cost: tell the simulator alpha 20"
        ),
        "{notes}"
    );
    // What SMPI has is exact, and nothing is to be said.
    assert_eq!(export("rabenseifner-half", "smpi"), "");
    assert_eq!(export("rabenseifner-half", "c"), "");
}
