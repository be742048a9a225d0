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
    assert!(text.contains("\"version\":5"), "{text}");
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
        ("sweep -p 9 --dist spikes --op allgather", "--exchange-alpha 3"),
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
