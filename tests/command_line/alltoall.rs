//! Alltoall on the command line: compared, written, judged and exported.

use crate::program::{folder, json, times, tuwtree};
use serde_json::Value;
use std::path::PathBuf;

/// A file of the worked example's messages between 5 ranks, in a folder of this name.
fn messages(name: &str) -> (PathBuf, String) {
    let folder = folder(name);
    let file = folder.join("matrix.csv");
    let row = |from: usize| {
        let size = |to: usize| if from == to { 0 } else { (from + 2 * to) % 4 };
        (0..5).map(|to| size(to).to_string()).collect::<Vec<_>>().join(",")
    };
    std::fs::write(&file, (0..5).map(row).collect::<Vec<_>>().join("\n")).unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

#[test]
fn alltoalls_are_listed_with_their_completion_times() {
    let (_, matrix) = messages("alltoall-listed");
    for operation in ["alltoall", "alltoallv"] {
        let arguments = format!("optimize --op {operation} --matrix {matrix} --alpha 10 --json");
        let comparison = json(&arguments);
        assert_eq!(
            (&comparison["operation"], &comparison["root"]),
            (&"alltoall".into(), &Value::Null)
        );
        let times = times(&comparison);
        assert_eq!(
            times[..4],
            [("linear", 51), ("pairwise", 51), ("bruck", 42), ("bruck-radix", 42)]
        );
        assert_eq!(times[4].0, "open-shop");
        assert!(times[4].1 <= 51, "{times:?}");
        let found = &comparison["constructions"][3];
        assert_eq!((&found["radix"], &found["threshold_bytes"]), (&2.into(), &Value::Null));
        assert_eq!(comparison["recommended"], "bruck");
    }
    let (folder, _) = messages("alltoall-blocks");
    let blocks = folder.join("blocks.txt");
    std::fs::write(&blocks, "4\n4\n4\n4\n4\n").unwrap();
    let arguments =
        format!("optimize --op alltoall --sizes {} --alpha 10 --json", blocks.display());
    let comparison = json(&arguments);
    assert_eq!(times(&comparison)[..3], [("linear", 56), ("pairwise", 56), ("bruck", 50)]);
}

#[test]
fn alltoalls_are_written_and_judged_and_exported() {
    let (folder, matrix) = messages("alltoall-written");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let plan = path("plan.json");
    for (algorithm, ports) in
        [("linear", "1,"), ("bruck", "1,"), ("open-shop", "1,\"duplex\":true,")]
    {
        let arguments = format!("--op alltoall --matrix {matrix} --alpha 10");
        let optimize = format!("optimize {arguments} --algorithm {algorithm} --json");
        let time = times(&json(&optimize))[0].1;
        tuwtree(&format!("optimize {arguments} --algorithm {algorithm} -o {plan}")).success();
        assert_eq!(json(&format!("verify {plan} --json"))["root"], Value::Null);
        assert_eq!(json(&format!("simulate {plan} --json"))["completion_time"], time);
        let again = tuwtree(&format!("export {plan} --format json")).success();
        assert_eq!(again, std::fs::read_to_string(&plan).unwrap());
        assert!(again.contains(&format!("\"ports\":{ports}")), "{again}");
        assert_eq!(again.contains("duplex"), algorithm == "open-shop");
        let goal = tuwtree(&format!("export {plan} --format goal")).success();
        assert!(goal.starts_with("// alltoall of "), "{goal}");
        for output in ["all.c", "all.svg", "all.dot"] {
            tuwtree(&format!("export {plan} -o {}", path(output))).success();
        }
        tuwtree(&format!("draw {plan} --picture timeline -o {}", path("timeline.svg"))).success();
        tuwtree(&format!("compare {arguments} --report {}", path("page.html"))).success();
        let text = tuwtree(&format!("advise {arguments}")).success();
        assert!(text.contains("planned by whoever knows all messages"), "{text}");
        assert!(!text.contains("tree") && !text.contains("root"), "{text}");
    }
}

#[test]
fn what_does_not_fit_an_alltoall_is_refused_by_name() {
    let (folder, matrix) = messages("alltoall-refused");
    let odd = folder.join("odd.txt");
    std::fs::write(&odd, "1 2 3").unwrap();
    let odd = odd.to_str().unwrap();
    for (arguments, code, message) in [
        (format!("--op alltoall --matrix {odd}"), 1, "3 message sizes; p rows of p are needed"),
        (format!("--op gather --matrix {matrix}"), 2, "gather needs block sizes"),
        ("--op alltoall --vector 8 -p 4".to_owned(), 2, "alltoall needs the size of each message"),
        (
            format!("--op allgather --matrix {matrix}"),
            2,
            "--matrix: allgather needs block sizes; messages of all pairs are for alltoall",
        ),
        (
            format!("--op allreduce --matrix {matrix}"),
            2,
            "--matrix: allreduce needs one vector size (--vector); messages",
        ),
        (format!("--op alltoall --matrix {matrix} -p 3"), 2, "-p, -b, --rho,"),
        (format!("--op alltoall --matrix {matrix} --combine 1"), 2, "alltoall has no operator"),
        (format!("--op alltoall --matrix {matrix} --algorithm ring"), 1, "and not for alltoall"),
    ] {
        tuwtree(&format!("optimize {arguments}")).fails(code, &[message]);
    }
}

#[test]
fn large_messages_of_an_alltoall_go_straight_where_that_takes_less() {
    const P: usize = 16;
    let (folder, _) = messages("alltoall-threshold");
    let (matrix, plan) = (folder.join("large.csv"), folder.join("plan.json"));
    // A byte for each, and 1000 for the rank 7 further on, which would take three hops.
    let size = |at: usize| if (at % P + P - at / P) % P == 7 { "1000" } else { "1" };
    let rows = (0..P).map(|row| (row * P..row * P + P).map(size).collect::<Vec<_>>().join(","));
    std::fs::write(&matrix, rows.collect::<Vec<_>>().join("\n")).unwrap();
    let arguments = format!("--op alltoall --matrix {} --alpha 10", matrix.display());
    let comparison = json(&format!("compare {arguments} --json"));
    let times = times(&comparison);
    let [bruck, found] = ["bruck", "bruck-radix"].map(|name| {
        let (_, time) = times.iter().find(|(one, _)| *one == name).unwrap();
        *time
    });
    // Four rounds of 8 messages, one fewer in those that the large one took, and a round of that.
    assert!(bruck >= 3 * 1000 && found <= 4 * 10 + 4 * 8 + 1010, "{times:?}");
    let constructions = comparison["constructions"].as_array().unwrap();
    let of = constructions.iter().find(|one| one["construction"] == "bruck-radix").unwrap();
    assert_eq!(of["threshold_bytes"], 512);
    let text = tuwtree(&format!("compare {arguments}")).success();
    assert!(text.contains(", with messages of more than 512 bytes straight"), "{text}");
    let optimize = format!("optimize {arguments} --algorithm bruck-radix -o {}", plan.display());
    tuwtree(&optimize).success();
    let simulated = json(&format!("simulate {} --json", plan.display()));
    assert_eq!(simulated["completion_time"], found);
    tuwtree(&format!("verify {}", plan.display())).success();
}

#[test]
fn direct_schedules_have_a_bound_of_their_own() {
    let (_, matrix) = messages("alltoall-direct");
    let comparison = json(&format!("optimize --op alltoall --matrix {matrix} --alpha 10 --json"));
    let bound = comparison["direct_lower_bound"].as_u64().unwrap();
    let direct = ["linear", "pairwise", "open-shop"];
    let times = times(&comparison);
    let least = times.iter().filter(|(name, _)| direct.contains(name)).map(|(_, time)| *time).min();
    assert!(bound <= least.unwrap(), "{comparison}");
    let text = tuwtree(&format!("compare --op alltoall --matrix {matrix} --alpha 10")).success();
    let line = format!("no schedule whose messages go straight takes less than {bound}: ");
    assert!(text.contains(&line) && text.contains(" % above the best of these"), "{text}");
    let gather = json("optimize --dist spikes -p 9 --json");
    assert_eq!(gather.get("direct_lower_bound"), None);
}

#[test]
fn few_receivers_and_senders_are_operations_with_roots() {
    let (folder, matrix) = messages("alltoall-few");
    let plan = folder.join("plan.json").display().to_string();
    let costs = "--alpha 35000 --overhead 1000";
    for operation in ["all-to-few", "few-to-all"] {
        let problem = format!("--op {operation} --roots 0,40,41 --dist log-normal -b 100 -p 128");
        let found = json(&format!("optimize {problem} {costs} --json"));
        assert_eq!(found["recommended"], "column-trees");
        let least = times(&found).into_iter().map(|(_, time)| time).min().unwrap();
        assert_eq!(found["operation"], "alltoall");
        let write = format!("optimize {problem} {costs} --algorithm column-trees -o {plan}");
        tuwtree(&write).success();
        tuwtree(&format!("verify {plan}")).success();
        assert_eq!(json(&format!("simulate {plan} --json"))["completion_time"], least);
        for (roots, message) in [
            ("", "needs --roots, such as --roots 0,1"),
            ("--roots 5", "--roots: 5; 0 to 4 is allowed"),
            ("--roots 1,1", "--roots: 1 is named twice"),
        ] {
            let wrong = format!("optimize --op {operation} {roots} --matrix {matrix}");
            tuwtree(&wrong).fails(2, &[message]);
        }
        // Of the matrix only what goes to rank 1 is left, or comes from it.
        let given = format!("optimize --op {operation} --roots 1 --matrix {matrix} --json");
        let bytes = if operation == "all-to-few" { 2 + 1 + 2 } else { 1 + 1 + 3 + 1 };
        assert_eq!(json(&given)["total_bytes"], bytes);
    }
    tuwtree(&format!("optimize --op alltoall --roots 1 --matrix {matrix}"))
        .fails(2, &["--roots is for --op all-to-few and few-to-all"]);
    let refused = "column-trees needs few receivers or senders, at most half of the ranks";
    tuwtree(&format!("optimize --op alltoall --matrix {matrix} --algorithm column-trees"))
        .fails(1, &[refused]);
}
