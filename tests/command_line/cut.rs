//! Broadcasts and reductions whose vector is cut, and intergroup allgathers, on the command line.

use crate::program::{folder, json, times, tuwtree};

#[test]
fn schedules_that_cut_the_vector_are_compared_if_that_is_asked_for() {
    let broadcast = "optimize --op broadcast --vector 24 -p 5 --alpha 10";
    let comparison = json(&format!("{broadcast} --cut --json"));
    let expected = [
        ("binomial", 102),
        ("scatter-ring", 109),
        ("scatter-doubling", 142),
        ("circulant-pieces", 88),
    ];
    assert_eq!(times(&comparison), expected);
    // Everybody receives 24 bytes in at least one message.
    assert_eq!(comparison["lower_bound"], 34);
    let trees = json(&format!("{broadcast} --json"));
    assert!(times(&trees).iter().all(|(name, _)| !name.contains("scatter")));
    let reduce = "optimize --op reduce --vector 24 -p 5 --alpha 10 --combine 1 --cut";
    let comparison = json(&format!("{reduce} --json"));
    let [binomial, .., last] = times(&comparison)[..] else { panic!("{comparison}") };
    assert_eq!((binomial, last), (("binomial", 174), ("circulant-pieces", 130)));
    let ordered: Vec<&str> =
        vec!["binomial", "rabenseifner-half", "rabenseifner-full", "binary-blocks"];
    let kept = json(&format!("{reduce} --order ordered --json"));
    assert_eq!(times(&kept).iter().map(|(name, _)| *name).collect::<Vec<_>>(), ordered);
    // To another root than 0, the result is passed on.
    let forwarded = json(&format!("{reduce} --order ordered --root 3 --json"));
    let [first, ..] = times(&forwarded)[..] else { panic!("{forwarded}") };
    assert_eq!(first, ("binomial-forwarded", 174 + 34));
    let text = tuwtree("compare --op broadcast --vector 1MiB -p 48 --cut").success();
    assert!(text.contains("lower bound on any schedule") && !text.contains("tree"), "{text}");
    tuwtree("optimize --op gather --dist spikes -p 9 --cut").fails(2, &["--cut is for broadcast"]);
    tuwtree("optimize --op reduce --vector 24 -p 5 --combine 1 --algorithm oblivious")
        .fails(1, &["--cut has schedules for others"]);
}

#[test]
fn reductions_in_rank_order_are_compared_with_those_that_keep_it_whatever_the_root() {
    let reduce = "--op reduce --vector 24 -p 6 --alpha 10 --combine 1 --cut";
    for root in 0..6 {
        let arguments = format!("optimize {reduce} --order ordered --root {root}");
        let kept = json(&format!("{arguments} --json"));
        let all = kept["constructions"].as_array().unwrap();
        assert!(all.iter().all(|one| one["order"] == "ordered"), "{kept}");
        let names: Vec<&str> = times(&kept).iter().map(|(name, _)| *name).collect();
        let uncut = if root == 0 { "binomial" } else { "binomial-forwarded" };
        assert_eq!(
            names,
            [uncut, "rabenseifner-half", "rabenseifner-full", "binary-blocks"],
            "{root}"
        );
        let best = kept["recommended"].as_str().unwrap();
        assert!(names.contains(&best), "{kept}");
        // Who names one that does not keep it gets it, with a mark.
        let text = tuwtree(&format!("{arguments} --algorithm binomial,binomial-forwarded"));
        let text = text.success();
        let mark = "binomial is for operators that commute";
        assert_eq!(text.contains(mark), root != 0, "{text}");
        assert_eq!(text.contains("Recommended: binomial-forwarded."), root != 0, "{text}");
    }
}

#[test]
fn a_bound_on_schedules_with_a_root_is_not_called_one_on_trees() {
    for (arguments, what) in [("--cut", "schedule"), ("", "tree")] {
        let reduce = format!("compare --op reduce --vector 100 -p 5 --root 3 {arguments}");
        let text = tuwtree(&reduce).success();
        assert!(text.contains(&format!("lower bound on any {what} with root 3: ")), "{text}");
    }
}

#[test]
fn ordered_is_short_for_order_ordered() {
    for operation in ["reduce --cut", "allreduce"] {
        let compare = format!("compare --op {operation} --vector 96 -p 6 --json");
        assert_ne!(json(&format!("{compare} --ordered")), json(&compare));
        let long = json(&format!("{compare} --order ordered"));
        assert_eq!(json(&format!("{compare} --ordered")), long);
    }
    tuwtree("advise --op allreduce --vector 96 -p 6 --ordered --order any")
        .fails(2, &["--ordered", "cannot be used with"]);
    let advice = json("advise --op allreduce --vector 96 -p 6 --ordered --json");
    assert_eq!(advice["order"], "ordered");
}

#[test]
fn vectors_that_must_not_be_cut_go_whole() {
    let names = |arguments: &str| -> Vec<String> {
        let comparison = json(&format!("optimize {arguments} --whole-vector --json"));
        times(&comparison).iter().map(|(name, _)| (*name).to_owned()).collect()
    };
    assert_eq!(names("--op allreduce --vector 1MiB -p 5"), ["binomial", "recursive-doubling"]);
    assert_eq!(names("--op reduce --vector 1MiB -p 5 --cut --combine 1"), ["binomial"]);
    assert_eq!(names("--op broadcast --vector 1MiB -p 5 --cut"), ["binomial"]);
    let trees = names("--op broadcast --vector 1MiB -p 5");
    assert!(trees.iter().any(|name| name == "optimal"), "{trees:?}");
    tuwtree("optimize --op allgather --dist same -p 5 --whole-vector")
        .fails(2, &["--whole-vector is for broadcast, reduce and allreduce"]);
    tuwtree("optimize --op allreduce --vector 9 -p 5 --whole-vector --algorithm ring")
        .fails(2, &["ring cuts the vector"]);
}

#[test]
fn redundant_data_is_counted_and_may_be_refused() {
    let plan = folder("redundant-data").join("plan.json").to_str().unwrap().to_owned();
    let arguments = "--op broadcast --vector 24 -p 6 --alpha 10 --cut --algorithm";
    tuwtree(&format!("optimize {arguments} scatter-ring -o {plan}")).success();
    // Rank 2 gets 4 bytes again that it passed on, and rank 4 too.
    assert_eq!(json(&format!("verify {plan} --json"))["redundant_bytes"], 20 + 4 + 4);
    let text = tuwtree(&format!("verify {plan}")).success();
    assert!(text.contains("redundant  28 bytes"), "{text}");
    tuwtree(&format!("verify {plan} --no-redundant")).fails(1, &["28 bytes come to places"]);
    tuwtree(&format!("optimize {arguments} circulant-pieces -o {plan}")).success();
    tuwtree(&format!("verify {plan} --no-redundant")).success();
}

#[test]
fn intergroup_allgathers_are_compared_and_written_and_judged() {
    let folder = folder("intergroup");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (first, second, plan) = (path("a.txt"), path("b.txt"), path("plan.json"));
    std::fs::write(&first, "6\n".repeat(6)).unwrap();
    std::fs::write(&second, "6\n6\n").unwrap();
    for operation in ["intergroup-allgather", "intergroup_allgatherv"] {
        let arguments =
            format!("--op {operation} --sizes {first} --sizes-remote {second} --alpha 10");
        let comparison = json(&format!("optimize {arguments} --json -o {plan}"));
        // Each of the second group receives 36 bytes in at least one message.
        assert_eq!((&comparison["lower_bound"], &comparison["ranks"]), (&46.into(), &8.into()));
        let found = times(&comparison);
        assert!(found.contains(&("root-mpich", 284)), "{found:?}");
        // With the better of ring and Bruck.
        let (_, paired) = found[0];
        assert!(paired <= 88, "{found:?}");
        let least = found.iter().map(|(_, time)| *time).min().unwrap();
        assert_eq!(json(&format!("simulate {plan} --json"))["completion_time"], least);
        assert_eq!(json(&format!("verify {plan} --json"))["operation"], "intergroup-allgather");
    }
    for output in ["plan.c", "plan.svg", "plan.dot", "plan.goal"] {
        tuwtree(&format!("export {plan} -o {}", path(output))).success();
    }
    tuwtree(&format!("optimize --op intergroup-allgather --sizes {first}"))
        .fails(2, &["needs the block sizes of two groups"]);
}
