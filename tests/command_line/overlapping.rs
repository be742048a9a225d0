//! Latency that overlaps with other work, on the command line: `--overhead` beside `--alpha`.

use crate::program::{Run, folder, tuwtree, tuwtree_with_input};
use serde_json::Value;
use std::fs;

/// A star of four ranks with 2 bytes each: `docs/overlapping-latency.md`.
const STAR: &str = r#"{"format":"tuwtree-tree","version":1,"processors":4,"root":0,"subtrees":[[0,1,2,3],[],[],[]],"problem":{"operation":"gather","alpha":10,"beta_per_byte":1,"gamma_per_byte":0,"block_sizes_bytes":[2,2,2,2]}}"#;

fn on_star(arguments: &str) -> Run {
    tuwtree_with_input(arguments, STAR)
}

fn json(run: Run) -> Value {
    serde_json::from_str(&run.success()).unwrap()
}

#[test]
fn an_overhead_below_alpha_has_the_judge_s_time_and_one_of_all_alpha_changes_nothing() {
    let text = on_star("evaluate - --overhead 2").success();
    assert!(text.starts_with("completion time  20\nlower bound      17.98"), "{text}");
    assert!(text.contains("alpha = 10, overhead = 2, beta = 1, gamma = 0"), "{text}");
    let evaluated = json(on_star("evaluate - --overhead 2 --json"));
    assert_eq!(
        (&evaluated["completion_time"], &evaluated["planned_completion_time"]),
        (&20.into(), &20.into())
    );
    for command in ["evaluate -", "evaluate - --json", "show -", "simulate - --json", "verify -"] {
        let plain = on_star(command).success();
        assert!(!plain.contains("overhead") && !plain.contains("planned"), "{plain}");
        if command != "verify -" {
            assert_eq!(on_star(&format!("{command} --overhead 10")).success(), plain);
        }
    }
    assert!(on_star("evaluate -").success().starts_with("completion time  36\nlower bound"));
    // Whoever states alpha anew states all of it.
    let newer = STAR
        .replace("\"version\":1", "\"version\":4")
        .replace("\"alpha\":10", "\"alpha\":10,\"overhead\":2");
    let evaluate = |arguments: &str| tuwtree_with_input(&format!("evaluate - {arguments}"), &newer);
    assert!(evaluate("").success().starts_with("completion time  20\n"));
    assert!(evaluate("--beta 2").success().contains("alpha = 10, overhead = 2, beta = 2"));
    assert!(evaluate("--alpha 10").success().starts_with("completion time  36\n"));
    evaluate("--alpha 1 --overhead 2").fails(2, &["--overhead", "0 to 1 is allowed"]);
}

#[test]
fn units_go_with_all_costs() {
    let costs = "--alpha 10us --overhead 2us --beta 1us --gamma 0";
    let text = on_star(&format!("evaluate - {costs}")).success();
    assert!(text.starts_with("completion time  20 µs\n"), "{text}");
    on_star("evaluate - --alpha 10us --overhead 2 --beta 1us --gamma 0")
        .fails(2, &["--alpha has a unit, and --overhead has none"]);
}

#[test]
fn strict_receives_pay_one_latency_after_the_other() {
    let simulate = |arguments: &str| json(on_star(&format!("simulate - --json {arguments}")));
    let pre_posted = simulate("--overhead 2");
    assert_eq!(
        (&pre_posted["completion_time"], &pre_posted["posts"]),
        (&20.into(), &"pre-posted".into())
    );
    assert_eq!((&pre_posted["alpha"], &pre_posted["overhead"]), (&10.into(), &2.into()));
    let strict = simulate("--overhead 2 --posts strict");
    assert_eq!((&strict["completion_time"], &strict["posts"]), (&36.into(), &"strict".into()));
    assert_eq!(simulate("--posts strict")["completion_time"], 36);
    assert!(simulate("")["posts"].is_null());
    let path = pre_posted["critical_path"].as_array().unwrap();
    assert_eq!((&path[0]["start"], &path[0]["end"]), (&0.into(), &12.into()));
    let text = on_star("simulate - --overhead 2 --posts strict").success();
    assert!(text.contains("gamma = 0; synchronous sends, strict receives"), "{text}");
    on_star("simulate - --posts late").fails(2, &["late", "pre-posted", "strict"]);
}

#[test]
fn a_schedule_keeps_the_overhead_of_its_tree() {
    let folder = folder("overlapping");
    let [tree, schedule] = ["tree.json", "schedule.json"].map(|name| folder.join(name));
    fs::write(
        &tree,
        STAR.replace("\"version\":1", "\"version\":4")
            .replace("\"alpha\":10", "\"alpha\":10,\"overhead\":2"),
    )
    .unwrap();
    let (tree, file) = (tree.display(), schedule.display());
    tuwtree(&format!("export {tree} --format json -o {file}")).success();
    let text = fs::read_to_string(&schedule).unwrap();
    assert!(text.contains("\"version\":6") && text.contains("\"overhead\":2.0"), "{text}");
    assert_eq!(json(tuwtree(&format!("simulate {file} --json")))["completion_time"], 20);
    let early = text.replace("\"version\":6", "\"version\":1");
    tuwtree_with_input("simulate -", &early)
        .fails(1, &["\"overhead\" in a document of version 1", "it needs version 2"]);
}

#[test]
fn exports_say_how_the_overhead_maps() {
    let folder = folder("overlapping_exports");
    let [goal, c, replay] = ["star.goal", "star.c", "replay"].map(|name| folder.join(name));
    let export = |arguments: &str| on_star(&format!("export - {arguments}"));
    export(&format!("--overhead 2 --format goal -o {}", goal.display())).success();
    let goal = fs::read_to_string(goal).unwrap();
    assert!(goal.contains("// LogGOPSim: -L 8 -o 0 -g 2 -G 1 -O 0 -S 1000000000"), "{goal}");
    export(&format!("--overhead 2 --format smpi -o {}", replay.display())).success();
    let read = |name: &str| fs::read_to_string(replay.join(name)).unwrap();
    // The first byte of each message is overhead; the other one is 2^20 bytes there, less the envelope.
    let trace = read("trace.txt");
    assert!(trace.contains("0 irecv 1 0 1048560 6\n") && trace.contains("0 waitall\n"), "{trace}");
    assert!(read("platform.xml").contains("lat=\"4e2s\""), "{}", read("platform.xml"));
    assert!(read("run.sh").contains("--cfg=smpi/or:0:3e2:0"), "{}", read("run.sh"));
    let newer = STAR
        .replace("\"version\":1", "\"version\":4")
        .replace("\"alpha\":10", "\"alpha\":10,\"overhead\":2");
    tuwtree_with_input(&format!("export - --format c -o {}", c.display()), &newer).success();
    let c = fs::read_to_string(c).unwrap();
    assert!(c.contains("Made for alpha 10 with overhead 2 and, per byte, beta 1"), "{c}");
    assert!(c.contains("in strict order: 36"), "{c}");
}

#[test]
fn replays_of_overlapping_latency_need_a_tree_and_one_law_for_all_pairs() {
    let folder = folder("overlapping_replays");
    let [ring, machine, replay] =
        ["ring.json", "pairs.json", "replay"].map(|name| folder.join(name).display().to_string());
    let costs = "--alpha 10 --beta 1 --gamma 0";
    let blocks = "--dist same -p 4 -b 8";
    tuwtree(&format!("optimize --op allgather {blocks} {costs} --algorithm ring -o {ring}"))
        .success();
    let export = |costs: &str| tuwtree(&format!("export {ring} --format smpi {costs} -o {replay}"));
    export(&format!("{costs} --overhead 2")).fails(1, &["rank 0 receives as it sends or after"]);
    export(costs).success();
    let entry = |apart: f64| move |one: usize, other: usize| if one == other { 0.0 } else { apart };
    let table = |entry: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        (0..4).map(|one| (0..4).map(|other| entry(one, other)).collect()).collect()
    };
    let pairs = serde_json::json!({
        "format": "tuwtree-machine", "version": 2, "name": "pairs", "date": "2026-11-22",
        "provenance": "made up",
        "matrix": {
            "alpha_seconds": table(&|one, other| 1e-5 * one.abs_diff(other) as f64),
            "overhead_seconds": table(&entry(1e-6)),
            "beta_seconds_per_byte": table(&entry(1e-9)),
            "gamma_seconds_per_byte": vec![0; 4],
        },
    });
    fs::write(&machine, pairs.to_string()).unwrap();
    let export = format!("export - --format smpi --machine {machine} -o {replay}");
    on_star(&export).fails(1, &["the latency from 1 to 0 overlaps", "hold for all pairs"]);
    let star = format!("{costs} --overhead 6 --format smpi -o {replay}");
    let scatter = STAR.replace("gather", "scatter");
    tuwtree_with_input(&format!("export - {star}"), &scatter)
        .fails(1, &["lambda = 4 is below o + beta = 7"]);
    on_star(&format!("export - {star}")).success();
}

#[test]
fn timelines_show_latencies_where_there_are_any() {
    let folder = folder("overlapping_timeline");
    let file = folder.join("timeline.svg");
    let draw = |costs: &str| {
        let file = file.display();
        on_star(&format!("draw - --picture timeline {costs} -o {file}")).success();
        fs::read_to_string(folder.join("timeline.svg")).unwrap()
    };
    let overlapping = draw("--overhead 2");
    assert!(overlapping.contains("class=\"latency\"") && overlapping.contains(">latency<"));
    assert!(overlapping.contains("overhead = 2"));
    let one_port = draw("");
    assert!(!one_port.contains("class=\"latency\"") && !one_port.contains(">latency<"));
}

#[test]
fn optimize_plans_judges_and_recommends_where_latency_overlaps() {
    let problem =
        "--dist same -p 256 -b 8 --root 128 --alpha 4.913us --overhead 0.413us --beta 0.1052ns";
    let compared = json(tuwtree(&format!("optimize {problem} --gamma 0 --json")));
    let built = compared["constructions"].as_array().unwrap();
    let time = |name: &str, field: &str| {
        let one = built.iter().find(|one| one["construction"] == name).unwrap();
        one[field].as_f64().unwrap()
    };
    // In a simulator of a cluster that measures so, the library takes 106 us, and good trees 17.
    assert!((1.6e-5..1.8e-5).contains(&time("optimal", "completion_time")));
    assert!(time("polished", "completion_time") <= time("deadline", "completion_time"));
    assert!((1.0e-4..1.2e-4).contains(&time("linear", "completion_time")));
    for one in built {
        let [judged, planned] =
            ["completion_time", "planned_completion_time"].map(|field| one[field].as_f64());
        assert!(judged.unwrap() <= planned.unwrap() * (1.0 + 1e-12), "{one}");
    }
    assert_eq!(compared["baseline"], "mpich");
    assert_eq!(compared["baselines"].as_array().unwrap().len(), 6);
    let bound = compared["lower_bound"].as_f64().unwrap();
    let recommended = compared["recommended"].as_str().unwrap();
    assert!(time(recommended, "completion_time") <= 1.05 * bound, "{compared}");
}

#[test]
fn gains_are_said_against_the_library_that_is_named_or_the_fastest() {
    let problem =
        "--dist random -p 50 -b 1000 --root 3 --alpha 10 --overhead 1 --beta 0.001 --gamma 0";
    for (library, words) in [
        ("", "The gather of MPICH from 4.3 (all receives posted; read, not run here)"),
        ("--library mpich-4.2", "of MPICH 3.4 to 4.2"),
        ("--library open-mpi-5", "of Open MPI up to 5.0 (one receive after the other)"),
        ("--library open-mpi-6", "of Open MPI from 6"),
        ("--library intel", "of Intel MPI (all receives posted; neither run nor read here)"),
    ] {
        for command in ["optimize", "advise"] {
            let text = tuwtree(&format!("{command} {problem} {library}")).success();
            assert!(text.contains(words), "{command} {library}: {text}");
        }
    }
    tuwtree(&format!("optimize {problem} --library mvapich"))
        .fails(2, &["--library", "open-mpi-5"]);
}

#[test]
fn a_star_that_scatters_is_what_libraries_do() {
    let problem =
        "--dist skewed -p 60 -b 1000 --op scatter --root 0 --alpha 10 --overhead 1 --beta 0.01";
    let compared = json(tuwtree(&format!("optimize {problem} --gamma 0 --json")));
    let built = compared["constructions"].as_array().unwrap();
    let linear = built.iter().find(|one| one["construction"] == "linear").unwrap();
    let mpich = &compared["baselines"].as_array().unwrap()[0];
    assert_eq!(
        (&mpich["library"], &mpich["completion_time"]),
        (&"mpich".into(), &linear["completion_time"])
    );
}

#[test]
fn maps_of_latency_that_overlaps_have_the_judge_s_times() {
    let map = "map -p 12 --columns 1 --rows 1 --overhead-over-alpha 0.1 --json";
    let cells = json(tuwtree(map));
    for cell in cells["cells"].as_array().unwrap() {
        assert!(cell["lower_bound"].as_f64() <= cell["linear"].as_f64(), "{cell}");
        assert!(cell["linear_planned"].is_null(), "{cell}");
    }
    let plain = tuwtree("map -p 12 --columns 1 --rows 1 --format csv").success();
    assert_eq!(
        plain,
        tuwtree("map -p 12 --columns 1 --rows 1 --format csv --overhead-over-alpha 1").success()
    );
    tuwtree("map --overhead-over-alpha 1.5").fails(2, &["--overhead-over-alpha", "0 to 1"]);
}

#[test]
fn advice_for_trees_of_any_order_leaves_out_those_of_the_one_port_model() {
    let text =
        tuwtree("advise --dist same -p 40 -b 8 --alpha 10 --overhead 1 --beta 0.01 --gamma 0");
    assert!(text.success().starts_with("gather of 320 bytes"));
}
