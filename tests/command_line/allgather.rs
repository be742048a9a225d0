//! Allgather on the command line: schedules compared, written, judged and exported, without a root.

use crate::program::{folder, json, tuwtree};
use serde_json::Value;
use std::path::PathBuf;

/// A file of the worked example's blocks, in a folder of this name.
fn blocks(name: &str) -> (PathBuf, String) {
    let folder = folder(name);
    let file = folder.join("blocks.txt");
    std::fs::write(&file, "5\n1\n7\n3\n2\n6\n").unwrap();
    let file = file.to_str().unwrap().to_owned();
    (folder, file)
}

#[test]
fn constructions_are_listed_with_their_completion_times() {
    let (_, sizes) = blocks("allgather-listed");
    for operation in ["allgather", "allgatherv", "MPI_Allgather", "MPI_Allgatherv"] {
        let arguments = format!("optimize --op {operation} --sizes {sizes} --alpha 10 --json");
        let comparison = json(&arguments);
        assert_eq!(comparison["operation"], "allgather");
        assert_eq!(comparison["root"], Value::Null);
        // Rank 1 receives 23 bytes, in no fewer than three messages.
        assert_eq!(comparison["lower_bound"], 53);
        let found: Vec<(&str, u64)> = comparison["constructions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|one| {
                let name = one["construction"].as_str().unwrap();
                (name, one["completion_time"].as_u64().unwrap())
            })
            .collect();
        let expected = [
            ("ring", 85),
            ("recursive-doubling", 81),
            ("bruck", 58),
            ("circulant", 57),
            ("circulant-pieces", 57),
            ("circulant-balanced", 58),
        ];
        assert_eq!(found, expected);
        assert_eq!(comparison["recommended"], "circulant");
    }
}

/// A machine of 4 nodes of 4 ranks, whose network has this wire.
fn nodes(wire: &str) -> String {
    let level = |name: &str| {
        format!(
            "[[hierarchical.levels]]\nname = \"{name}\"\nmembers = 4\nalpha_seconds = 60\n\
             overhead_seconds = 20\nbeta_seconds_per_byte = 1\n"
        )
    };
    format!(
        "format = \"tuwtree-machine\"\nversion = 2\nname = \"n\"\ndate = \"2026-11-26\"\n\
         provenance = \"a test\"\n[network]\nwire = \"{wire}\"\n[hierarchical]\n\
         gamma_seconds_per_byte = 0\nplacement = \"block\"\n{}{}",
        level("node"),
        level("network")
    )
}

#[test]
fn a_wire_that_the_ranks_of_a_node_share_counts_in_times_and_bounds() {
    let folder = folder("allgather-wires");
    let of = |wire: &str, operation: &str| {
        let file = folder.join(format!("{wire}.toml"));
        std::fs::write(&file, nodes(wire)).unwrap();
        json(&format!("optimize --op {operation} -p 16 --machine {} --json", file.display()))
    };
    let time = |document: &Value, name: &str| {
        let all = document["constructions"].as_array().unwrap().clone();
        let found = all.into_iter().find(|one| one["construction"] == name).unwrap();
        found["completion_time"].as_f64().unwrap()
    };
    let [own, shared] = ["rank", "node"].map(|wire| of(wire, "allgather --dist same -b 100"));
    // 12 ranks' blocks of 100 bytes come in; the bound by the ports of ranks is no less.
    assert_eq!(shared["lower_bound"], own["lower_bound"]);
    assert!(time(&shared, "bruck") > 2.0 * time(&own, "bruck"));
    // One message at a time between neighbouring nodes.
    assert_eq!(time(&shared, "ring"), time(&own, "ring"));
    assert_eq!(
        (&own["recommended"], &shared["recommended"]),
        (&"bruck-postal".into(), &"lanes".into())
    );
    assert!(time(&shared, "lanes") < time(&shared, "ring"));
    // 48 messages of 100 bytes leave each node, and each rank sends 15.
    let [own, shared] = ["rank", "node"].map(|wire| of(wire, "alltoall --bytes 100"));
    assert!(time(&shared, "pairwise") > time(&own, "pairwise"));
    assert!(own["lower_bound"].as_f64().unwrap() < 1600.0, "{own}");
    assert!(shared["lower_bound"].as_f64().unwrap() > 4200.0, "{shared}");
    let [own, shared] = ["rank", "node"].map(|wire| of(wire, "allreduce --vector 1600"));
    assert!(time(&shared, "rabenseifner-half") > time(&own, "rabenseifner-half"));
}

#[test]
fn schedules_of_millions_of_messages_that_are_slower_for_sure_are_not_built() {
    let costs = "--alpha 3.5us --overhead 0.1us --beta 23GB/s --gamma 10GB/s --duplex";
    let said =
        tuwtree(&format!("optimize --op allgather --dist log-normal -p 1100 -b 100 {costs}"));
    let said = said.success();
    let left_out = "linear, ring are left out: not faster than bruck-";
    assert!(said.contains(left_out) && said.contains("name it to build it"), "{said}");
    let named = tuwtree(&format!(
        "optimize --op allgather --dist log-normal -p 1100 -b 100 {costs} --algorithm bruck,ring"
    ));
    let named = named.success();
    assert!(named.contains("\nring "), "{named}");
    let said = tuwtree(&format!("optimize --op alltoall --bytes 8 -p 1100 {costs}")).success();
    let left_out = "linear, pairwise, open-shop are left out: not faster than bruck";
    assert!(said.contains(left_out), "{said}");
}

#[test]
fn schedules_on_nodes_are_planned_and_verified_and_elsewhere_refused() {
    let folder = folder("allgather-lanes");
    let machine = folder.join("nodes.toml").display().to_string();
    let plan = folder.join("plan.json").display().to_string();
    let inside =
        nodes("node").replacen("alpha_seconds = 60\noverhead_seconds = 20", "alpha_seconds = 2", 1);
    std::fs::write(&machine, inside).unwrap();
    for (operation, names) in [
        ("allgather --dist spikes -b 10", &["lanes", "node-all"][..]),
        ("reduce-scatter --dist spikes -b 10", &["lanes", "node-all"]),
        ("alltoall --bytes 1", &["node-pairs"]),
    ] {
        // The last node has two ranks.
        let problem = format!("optimize --op {operation} -p 14");
        let found = json(&format!("{problem} --machine {machine} --json"));
        let recommended = found["recommended"].as_str().unwrap();
        assert!(names.contains(&recommended), "{recommended}");
        for name in names {
            let write = format!("{problem} --machine {machine} --algorithm {name} -o {plan}");
            tuwtree(&write).success();
            let verified = tuwtree(&format!("verify {plan}")).success();
            assert!(verified.starts_with("correct    "), "{verified}");
            let refused = format!("{name} needs a machine of several levels (hierarchical)");
            tuwtree(&format!("{problem} --algorithm {name}")).fails(1, &[&refused]);
        }
    }
}

#[test]
fn one_rank_needs_no_link_for_a_vector_in_pieces() {
    for operation in ["broadcast", "reduce"] {
        let one = format!("optimize --op {operation} --cut --vector 10 -p 1 --machine vsc3 --json");
        assert_eq!(json(&one)["lower_bound"], 0);
    }
}

#[test]
fn where_latency_overlaps_windows_of_the_postal_model_are_listed_with_their_delay() {
    let comparison = |overhead: &str| {
        json(&format!("optimize --op allgather -p 32 --bytes 1 --alpha 100 {overhead} --json"))
    };
    let of = |comparison: &Value, name: &str| {
        let all = comparison["constructions"].as_array().unwrap().clone();
        all.into_iter().find(|one| one["construction"] == name)
    };
    let overlapping = comparison("--overhead 20");
    let found = of(&overlapping, "bruck-postal").unwrap();
    // 11 steps of 20, 31 bytes, and 80 once; 5 rounds of 100, and 31 bytes.
    assert_eq!((&found["delay"], &found["completion_time"]), (&5.into(), &331.into()));
    assert_eq!(of(&overlapping, "bruck").unwrap()["completion_time"], 531);
    assert_eq!(overlapping["recommended"], "bruck-postal");
    assert_eq!(of(&comparison(""), "bruck-postal"), None);
}

#[test]
fn equal_blocks_are_given_by_their_size() {
    let by_size = json("optimize --op allgather -p 12 --bytes 1KiB --json");
    assert_eq!(by_size, json("optimize --op allgather -p 12 --dist same -b 1024 --json"));
    assert_eq!(by_size["total_bytes"], 12 * 1024);
    assert_eq!(json("optimize --op alltoall -p 3 --bytes 0 --json")["total_bytes"], 0);
    let refused = [
        ("--bytes 10 --rho 3", "--rho, --exponent, --sigma, --seed and --rng describe block sizes"),
        ("-p 0 --bytes 10", "-p: 0 processes are outside 1..="),
        ("-p 4 --bytes 9223372036854775807", "--bytes 9223372036854775807: "),
        ("--bytes 10 --dist same", "cannot be used with"),
    ];
    for (arguments, message) in refused {
        tuwtree(&format!("optimize --op allgather {arguments}")).fails(2, &[message]);
    }
}

#[test]
fn tables_and_advice_speak_of_schedules() {
    let text = tuwtree("compare --op allgather --dist spikes -p 48 -b 1000").success();
    assert!(text.starts_with("allgather of 30042 bytes over 48 processes; alpha = 100,"), "{text}");
    assert!(text.contains("\nlower bound on any schedule: 30340\n"), "{text}");
    assert!(text.contains("Recommended: circulant-balanced."), "{text}");
    assert!(text.contains("above the best of all schedules"), "{text}");
    assert!(!text.contains("tree") && !text.contains("root"), "{text}");
    let text = tuwtree("advise --op allgather --dist spikes -p 48 -b 1000").success();
    assert!(text.contains("Use circulant-balanced (every rank works it out for itself)"), "{text}");
    assert!(!text.contains("tree") && !text.contains("root"), "{text}");
}

#[test]
fn a_schedule_is_written_and_judged_and_exported() {
    let (folder, sizes) = blocks("allgather-written");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let plan = path("plan.json");
    let arguments = format!("--op allgather --sizes {sizes} --alpha 10");
    tuwtree(&format!("optimize {arguments} -o {plan}")).success();
    let verified = json(&format!("verify {plan} --json"));
    assert_eq!(verified["root"], Value::Null);
    assert_eq!((&verified["messages"], &verified["rounds"]), (&18.into(), &3.into()));
    let simulated = json(&format!("simulate {plan} --json"));
    assert_eq!(simulated["completion_time"], 57);
    let text = tuwtree(&format!("verify {plan}")).success();
    assert!(text.starts_with("correct    allgather of 24 bytes over 6 processes\n"), "{text}");
    let again = tuwtree(&format!("export {plan} --format json")).success();
    assert_eq!(again, std::fs::read_to_string(&plan).unwrap());
    let goal = tuwtree(&format!("export {plan} --format goal")).success();
    assert!(goal.starts_with("// allgather of 24 bytes over 6 processes\n"), "{goal}");
    for output in ["replay", "all.c", "all.svg", "all.dot"] {
        let format = if output == "replay" { "--format smpi" } else { "" };
        tuwtree(&format!("export {plan} {format} -o {}", path(output))).success();
    }
    tuwtree(&format!("draw {plan} --picture timeline -o {}", path("timeline.svg"))).success();
    tuwtree(&format!("compare {arguments} --report {}", path("page.html"))).success();
    let page = std::fs::read_to_string(path("page.html")).unwrap();
    assert!(page.contains("<h2 id=\"pictures\">Timelines</h2>"), "{page}");
}

#[test]
fn what_takes_a_tree_or_a_root_refuses_an_allgather() {
    let (folder, sizes) = blocks("allgather-refused");
    let plan = folder.join("plan.json").to_str().unwrap().to_owned();
    let optimize = format!("optimize --op allgather --sizes {sizes}");
    tuwtree(&format!("{optimize} -o {plan}")).success();
    for (arguments, code, message) in [
        (format!("{optimize} --root 2"), 2, "--root: allgather has no root"),
        (format!("{optimize} --root best"), 2, "--root: allgather has no root"),
        (format!("{optimize} --ports 2"), 2, "allgather has one port"),
        (format!("{optimize} --certify"), 2, "--certify proves optimal trees"),
        (
            format!("{optimize} --algorithm oblivious"),
            1,
            "oblivious builds trees, and allgather goes along none",
        ),
        (
            format!("optimize --sizes {sizes} --algorithm ring"),
            1,
            "ring is for reduce, allgather, allreduce, and not for gather",
        ),
        ("optimize --op allgather --vector 8 -p 4".to_owned(), 2, "allgather needs block sizes"),
        (
            format!("draw {plan} --picture tree -o {plan}.svg"),
            1,
            "the schedule is not along a tree",
        ),
        (format!("draw {plan} --depth 3 -o {plan}.svg"), 1, "the schedule is not along a tree"),
        (format!("show {plan}"), 1, "\"tuwtree-tree\" is expected"),
        (format!("evaluate {plan} --sizes {sizes}"), 2, "a schedule has its data"),
    ] {
        tuwtree(&arguments).fails(code, &[message]);
    }
    let tree = folder.join("tree.json").to_str().unwrap().to_owned();
    tuwtree(&format!("optimize --sizes {sizes} -o {tree}")).success();
    let text = std::fs::read_to_string(&tree).unwrap().replace("\"gather\"", "\"allgather\"");
    std::fs::write(&tree, text).unwrap();
    tuwtree(&format!("evaluate {tree}")).fails(1, &["allgather has no root"]);
}
