//! Reduce-scatter and allreduce on the command line: compared, written, judged and exported.

use crate::program::{folder, json, times, tuwtree};
use serde_json::Value;
use std::path::PathBuf;

/// A file of the worked example's blocks, in a folder of this name.
fn blocks(name: &str) -> (PathBuf, String) {
    let folder = folder(name);
    let file = folder.join("blocks.txt");
    std::fs::write(&file, "3\n1\n4\n1\n5\n9\n2\n6\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

#[test]
fn reduce_scatters_are_listed_with_their_completion_times() {
    let (_, sizes) = blocks("reduce-scatter-listed");
    for operation in ["reduce-scatter", "reduce_scatter"] {
        let comparison = json(&format!(
            "optimize --op {operation} --sizes {sizes} --alpha 10 --combine 1 --json"
        ));
        assert_eq!(comparison["operation"], "reduce-scatter");
        assert_eq!(comparison["lower_bound"], 65);
        let expected = [
            ("pairwise", 196),
            ("recursive-doubling", 188),
            ("halving", 120),
            ("butterfly", 102),
            ("circulant", 120),
            ("circulant-pieces", 108),
            ("circulant-balanced", 108),
        ];
        assert_eq!(times(&comparison), expected);
        assert_eq!(comparison["recommended"], "butterfly");
    }
    let ordered = json(&format!(
        "optimize --op reduce-scatter --sizes {sizes} --alpha 10 --combine 1 --order ordered --json"
    ));
    assert_eq!(times(&ordered), [("recursive-doubling", 188), ("butterfly", 102)]);
    // No power of two.
    let five =
        "optimize --op reduce-scatter --dist same -p 5 -b 1 --alpha 10 --combine 1 --order ordered";
    assert_eq!(
        times(&json(&format!("{five} --json"))),
        [("recursive-doubling", 5 * 10 + 19 + 11), ("butterfly", 4 * 10 + 11 + 10)]
    );
}

#[test]
fn allreduces_are_listed_with_their_completion_times() {
    let (_, sizes) = blocks("allreduce-listed");
    // 24 bytes at 5 ranks, and 31 of all blocks at 8.
    let comparison = json("optimize --op allreduce --vector 24 -p 5 --alpha 10 --combine 1 --json");
    let expected = [
        ("binomial", 276),
        ("ring", 140),
        ("recursive-doubling", 208),
        ("rabenseifner-half", 184),
        ("rabenseifner-full", 186),
        ("binary-blocks", 222),
        ("circulant", 120),
    ];
    assert_eq!(times(&comparison), expected);
    let comparison = json(&format!("optimize --op allreduce --sizes {sizes} --json"));
    assert_eq!((&comparison["ranks"], &comparison["vector_bytes"]), (&8.into(), &31.into()));
}

#[test]
fn reductions_are_written_and_judged_and_exported() {
    let (folder, sizes) = blocks("reductions-written");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let plan = path("plan.json");
    for (operation, data, time) in [
        ("reduce-scatter", format!("--sizes {sizes}"), 120),
        ("allreduce", "--vector 24 -p 5".to_owned(), 120),
    ] {
        let arguments = format!("--op {operation} {data} --alpha 10 --combine 1");
        tuwtree(&format!("optimize {arguments} --algorithm circulant -o {plan}")).success();
        let verified = json(&format!("verify {plan} --json"));
        assert_eq!((&verified["root"], &verified["order"]), (&Value::Null, &"any".into()));
        let is_allreduce = operation == "allreduce";
        let found = if is_allreduce { true.into() } else { Value::Null };
        assert_eq!(verified["same_bracketing"], found);
        let text = tuwtree(&format!("verify {plan}")).success();
        assert_eq!(text.contains("\nsame bracketing: yes\n"), is_allreduce, "{text}");
        assert_eq!(json(&format!("simulate {plan} --json"))["completion_time"], time);
        let again = tuwtree(&format!("export {plan} --format json")).success();
        assert_eq!(again, std::fs::read_to_string(&plan).unwrap());
        let goal = tuwtree(&format!("export {plan} --format goal")).success();
        // Combining takes 1 ms a byte.
        assert!(goal.contains(": calc "), "{goal}");
        for output in ["all.c", "all.svg", "all.dot"] {
            tuwtree(&format!("export {plan} -o {}", path(output))).success();
        }
        tuwtree(&format!("draw {plan} --picture timeline -o {}", path("timeline.svg"))).success();
        tuwtree(&format!("compare {arguments} --report {}", path("page.html"))).success();
        let text = tuwtree(&format!("advise {arguments}")).success();
        assert!(!text.contains("tree") && !text.contains("root"), "{text}");
    }
}

#[test]
fn what_does_not_fit_a_reduction_is_refused_by_name() {
    let (_, sizes) = blocks("reductions-refused");
    for (arguments, message) in [
        ("--op allreduce --vector 24 -p 3 --element 5", "--element: 24 bytes are no whole number"),
        ("--op allreduce --vector 24 -p 3 --combine 1ns", "--combine has a unit where"),
        ("--op allreduce --vector 24 -p 3 --combine=-1", "--combine"),
        ("--op broadcast --vector 24 -p 3 --combine 1", "broadcast has no operator"),
        ("--op reduce-scatter --vector 24 -p 3", "reduce-scatter needs block sizes"),
        ("--op allreduce --vector 24 -p 3 --root 1", "--root: allreduce has no root"),
    ] {
        tuwtree(&format!("optimize {arguments}")).fails(2, &[message]);
    }
    let arguments = format!("optimize --op reduce-scatter --sizes {sizes} --algorithm bruck");
    tuwtree(&arguments).fails(1, &["bruck is for allgather, alltoall, and not for reduce-scatter"]);
}
