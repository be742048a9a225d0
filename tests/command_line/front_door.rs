//! What newcomers try first: machines by name, sizes as they have them, quiet and colour, completions and
//! manual pages, errors for programs.

use crate::program::{command, folder, json, tuwtree, tuwtree_with_input};
use serde_json::Value;
use std::fs;

#[test]
fn a_machine_that_is_built_in_is_its_file() {
    let of = |machine: &str| {
        tuwtree(&format!("optimize --machine {machine} --dist skewed -p 39 --root 3 --json"))
            .success()
    };
    let without_times = |text: String| -> Value {
        let mut comparison: Value = serde_json::from_str(&text).unwrap();
        for one in comparison["constructions"].as_array_mut().unwrap() {
            one.as_object_mut().unwrap().retain(|name, _| !name.contains("seconds"));
        }
        comparison
    };
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../data/machines/two-sites.toml");
    assert_eq!(without_times(of("two-sites")), without_times(of(file)));
}

#[test]
fn machines_that_are_built_in_are_listed_and_named_in_errors() {
    let list = tuwtree("machine").success();
    for name in ["griffon", "two-sites", "vsc3"] {
        assert!(list.contains(name), "{list}");
    }
    tuwtree("optimize --dist same -p 4 --machine vsc4").fails(1, &["vsc4: no such file", "vsc3"]);
    tuwtree("machine --matrix").fails(2, &["name a machine"]);
}

#[test]
fn sizes_come_in_any_order_of_ranks_and_as_numbers_of_elements() {
    let of = |arguments: &str, input: &str| {
        let arguments = format!("optimize --sizes - {arguments} --root 0 --json");
        let text = tuwtree_with_input(&arguments, input).success();
        let comparison: Value = serde_json::from_str(&text).unwrap();
        (comparison["total_bytes"].as_u64().unwrap(), comparison["lower_bound"].as_u64().unwrap())
    };
    let expected = of("", "80 7200 24");
    assert_eq!(of("", "rank,size_bytes\n2,24\n0,80\n1,7200\n"), expected);
    assert_eq!(of("--element-size 8", "rank;count\n2;3\n0;10\n1;900\n"), expected);
    assert_eq!(of("--element-size 8", "10\n900\n3\n"), expected);
    assert_eq!(of("--element-size 8", "0,10\n1,900\n2,3\n"), expected);
    tuwtree_with_input("optimize --sizes -", "rank,count\n0,1\n").fails(1, &["--element-size"]);
    tuwtree("optimize --dist same --element-size 8").fails(2, &["--element-size"]);
}

#[test]
fn arrays_of_numpy_are_sizes_and_matrices() {
    let folder = folder("numpy");
    let save = |name: &str, shape: &str, numbers: &[i64]| {
        let header = format!("{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        let data: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
        let file = folder.join(name);
        fs::write(
            &file,
            [b"\x93NUMPY\x01\0", length.as_slice(), header.as_bytes(), &data].concat(),
        )
        .unwrap();
        file.display().to_string()
    };
    let sizes = save("sizes.npy", "(3,)", &[80, 7200, 24]);
    assert_eq!(json(&format!("optimize --sizes {sizes} --json"))["total_bytes"], 7304);
    let matrix = save("matrix.npy", "(2, 2)", &[0, 5, 7, 0]);
    let comparison =
        json(&format!("optimize --op alltoall --matrix {matrix} --element-size 4 --json"));
    assert_eq!(comparison["total_bytes"], 48);
    tuwtree(&format!("optimize --sizes {matrix}"))
        .fails(1, &["matrix.npy: an array of 2 dimensions"]);
}

#[test]
fn patterns_of_ucc_are_matrices() {
    let file = folder("pattern").join("alltoallv.ptini");
    let text = "[collective]\ntype = ALLTOALLV\nteam_size = 2\ndatatype = INT32\ncounts = {\n 0,5\n 7,0\n}\n";
    fs::write(&file, text).unwrap();
    let arguments = format!("optimize --op alltoall --matrix {} --json", file.display());
    assert_eq!(json(&arguments)["total_bytes"], 48);
}

#[test]
fn costs_that_are_assumed_for_a_users_own_sizes_are_said() {
    let assumed = tuwtree_with_input("optimize --sizes -", "5\n900\n3\n");
    assert!(assumed.stderr.starts_with("note: no costs are given"), "{}", assumed.stderr);
    for arguments in
        ["--quiet --sizes -", "--sizes - --machine trinity-testbed", "--sizes - --alpha 5"]
    {
        let run = tuwtree_with_input(&format!("optimize {arguments}"), "5\n900\n3\n");
        assert_eq!((run.code, run.stderr.as_str()), (0, ""), "{arguments}");
    }
    assert_eq!(tuwtree("optimize --dist same -p 3").stderr, "");
}

#[test]
fn errors_are_documents_where_results_are_json() {
    for (arguments, code, is_usage) in [
        ("optimize --json --dist nosuch", 2, true),
        ("optimize --format json --dist same --root 7000", 2, true),
        ("show nosuch.json --format=json", 1, false),
    ] {
        let run = tuwtree(arguments);
        assert_eq!((run.code, run.stdout.as_str()), (code, ""), "{arguments}");
        let error: Value = serde_json::from_str(&run.stderr).expect(arguments);
        assert_eq!(error["format"], "tuwtree-error");
        assert_eq!(error["is_usage"], is_usage, "{arguments}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
}

#[test]
fn a_verdict_on_a_faulty_schedule_is_json_on_standard_output() {
    let run = tuwtree(concat!(
        "verify --json ",
        env!("CARGO_MANIFEST_DIR"),
        "/../../data/schedules/deadlock.json"
    ));
    assert_eq!((run.code, run.stderr.as_str()), (1, ""));
    let verdict: Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(verdict["is_correct"], false);
    assert!(verdict["fault"].as_str().unwrap().starts_with("deadlock: rank 1"));
}

#[test]
fn colours_come_only_where_they_are_wanted() {
    let red = |arguments: &[&str], variables: &[(&str, &str)]| {
        let output = command(arguments).envs(variables.iter().copied()).output().unwrap();
        String::from_utf8(output.stderr).unwrap().contains('\u{1b}')
    };
    assert!(!red(&["show", "nosuch.json"], &[]));
    assert!(red(&["show", "nosuch.json", "--color", "always"], &[]));
    assert!(!red(&["show", "nosuch.json", "--color", "never"], &[("CLICOLOR_FORCE", "1")]));
    assert!(red(&["show", "nosuch.json"], &[("CLICOLOR_FORCE", "1")]));
    assert!(!red(&["show", "nosuch.json"], &[("NO_COLOR", "1")]));
}

#[test]
fn shells_and_manuals_learn_every_command() {
    let all = ["optimize", "verify", "reproduce"];
    for shell in ["bash", "zsh", "fish"] {
        let script = tuwtree(&format!("completions {shell}")).success();
        assert!(all.iter().all(|name| script.contains(name)), "{shell}");
    }
    let folder = folder("man");
    tuwtree(&format!("man -o {}", folder.display())).success();
    for name in all {
        let page = fs::read_to_string(folder.join(format!("tuwtree-{name}.1"))).unwrap();
        assert!(page.contains(".SH SYNOPSIS"), "{name}");
    }
    assert!(tuwtree("man").success().contains(".TH tuwtree 1"));
    tuwtree("man -o nosuch").fails(1, &["nosuch"]);
}

#[test]
fn a_sweep_has_a_row_for_each_construction_of_each_problem() {
    let table = tuwtree(
        "sweep --dist spikes,skewed -p 8..32*2 -b 8,1KiB --root 0 --algorithm linear,adaptive --alphas 10,100",
    )
    .success();
    let mut lines = table.lines();
    let heading: Vec<&str> = lines.next().unwrap().split(',').collect();
    let of = |name: &str| heading.iter().position(|one| *one == name).expect(name);
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    // Two distributions, three numbers of processes, two blocks, two latencies, two trees.
    assert_eq!(rows.len(), 2 * 3 * 2 * 2 * 2);
    let last = rows.last().unwrap();
    let shown = |name: &str| last[of(name)];
    assert_eq!((shown("distribution"), shown("processes")), ("skewed", "32"));
    assert_eq!((shown("mean_block_bytes"), shown("alpha")), ("1024", "100"));
    // Each row is what optimize says of its problem.
    let alone = json("optimize --dist skewed -p 32 -b 1024 --root 0 --algorithm adaptive --json");
    let time = &alone["constructions"][0]["completion_time"];
    assert_eq!(
        (shown("construction"), shown("completion_time")),
        ("adaptive", time.to_string().as_str())
    );
    tuwtree(
        "sweep --dist same -p 1..100000000*2 -b 1..1GiB*2 --rho 1..1000000*2 --seed 1,2,3,4,5,6,7,8,9",
    )
    .fails(2, &["problems"]);
    tuwtree("sweep --dist same -p 9..3").fails(2, &["does not fall"]);
}
