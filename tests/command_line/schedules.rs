//! Schedules on the command line: made from trees, simulated, exported.

use crate::program::{command, folder, tuwtree, tuwtree_with_input};
use serde_json::Value;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;

/// Rank 1 receives block 0 in 102, copies in 1, receives block 2 in 104.
const TREE: &str = r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":1,"subtrees":[[],[0,1,2],[]],"problem":{"operation":"gather","alpha":100,"beta_per_byte":1,"gamma_per_byte":1,"block_sizes_bytes":[2,1,4]}}"#;

fn schedule() -> String {
    tuwtree_with_input("export - --format json", TREE).success()
}

#[test]
fn a_tree_and_its_schedule_are_simulated_alike() {
    let of_tree = tuwtree_with_input("simulate -", TREE).success();
    assert!(of_tree.starts_with("completion time  207\n"), "{of_tree}");
    assert_eq!(tuwtree_with_input("simulate -", &schedule()).success(), of_tree);
}

#[test]
fn schedules_are_verified() {
    let verified = tuwtree_with_input("verify -", &schedule()).success();
    assert_eq!(
        verified,
        "correct    gather of 7 bytes over 3 processes, root 1\n\
         messages   2 with 6 bytes in all, at most 2 one after the other\n\
         copies     1 with 1 bytes in all\n\
         segments   none\n\
         order      ordered\n\
         ports      1\n"
    );
    for (from, to, messages) in [
        ("[\"output\",3,4]", "[\"output\",2,4]", &["standard input", "rank 1, action 2"][..]),
        ("\"send\":1", "\"send\":2", &["receives from 0"]),
        ("\"input\",0,2", "\"input\",0,1", &["rank 0, action 0"]),
    ] {
        let bad = schedule().replacen(from, to, 1);
        tuwtree_with_input("verify -", &bad).fails(1, messages);
    }
}

#[test]
fn costs_on_the_command_line_replace_those_in_the_file() {
    let json = |arguments: &str| -> Value {
        let text = tuwtree_with_input(&format!("simulate - --json {arguments}"), TREE).success();
        serde_json::from_str(&text).unwrap()
    };
    assert_eq!(json("")["completion_time"], 207);
    let cheap = json("--alpha 1 --gamma 0.5");
    assert_eq!(cheap["completion_time"], 8.5);
    assert_eq!(cheap["critical_path"].as_array().unwrap().len(), 3);
    assert_eq!(cheap["per_rank"][2]["waiting"], 3.5);
}

#[test]
fn the_timeline_is_a_table_with_a_row_for_each_action() {
    let file = folder("timeline").join("timeline.csv");
    let arguments = format!("simulate - --timeline {}", file.display());
    tuwtree_with_input(&arguments, TREE).success();
    assert_eq!(
        fs::read_to_string(file).unwrap(),
        "rank,action,kind,to,from,bytes,port,ready,start,end\n\
         0,0,send,1,,2,0,0,0,102\n\
         1,0,receive,,0,2,0,0,0,102\n\
         1,1,copy,,,1,0,102,102,103\n\
         1,2,receive,,2,4,0,103,103,207\n\
         2,0,send,1,,4,0,0,103,207\n"
    );
}

#[test]
fn a_timeline_on_standard_output_is_all_that_is_there_and_may_be_cut_short() {
    let timeline = tuwtree_with_input("simulate - --timeline -", TREE).success();
    assert_eq!(timeline.lines().count(), 6, "a head and five actions: {timeline}");
    tuwtree_with_input("simulate - --timeline - --json", TREE)
        .fails(2, &["--json and --timeline - both write to standard output"]);
    let tree = folder("timeline_cut").join("tree.json");
    let tree = tree.to_str().unwrap();
    tuwtree(&format!("optimize --dist same -p 20000 --algorithm linear -o {tree}")).success();
    let mut child = command(&["simulate", tree, "--timeline", "-"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
}

/// The events of a trace of one kind.
fn events<'a>(trace: &'a Value, kind: &str) -> Vec<&'a Value> {
    let all = trace["traceEvents"].as_array().unwrap();
    all.iter().filter(|event| event["ph"] == kind).collect()
}

#[test]
fn a_trace_has_a_track_for_each_rank_and_an_arrow_for_each_message() {
    let text = tuwtree_with_input("simulate - --trace -", TREE).success();
    let trace: Value = serde_json::from_str(&text).unwrap();
    let names: Vec<&Value> = events(&trace, "M")
        .into_iter()
        .filter(|event| event["name"] == "thread_name")
        .map(|event| &event["args"]["name"])
        .collect();
    assert_eq!(names, ["rank 0", "rank 1", "rank 2"]);
    let slices: Vec<(i64, &str, f64, f64)> = events(&trace, "X")
        .into_iter()
        .map(|one| {
            let (start, length) = (one["ts"].as_f64().unwrap(), one["dur"].as_f64().unwrap());
            (one["tid"].as_i64().unwrap(), one["name"].as_str().unwrap(), start, length)
        })
        .collect();
    assert_eq!(
        slices,
        [
            (0, "to 1", 0.0, 102.0),
            (1, "from 0", 0.0, 102.0),
            (1, "copy", 102.0, 1.0),
            (1, "from 2", 103.0, 104.0),
            (2, "wait", 0.0, 103.0),
            (2, "to 1", 103.0, 104.0),
        ]
    );
    let arrows = |kind| -> Vec<(i64, i64, f64)> {
        let number = |one: &Value, name: &str| one[name].as_i64().unwrap();
        events(&trace, kind)
            .into_iter()
            .map(|one| (number(one, "id"), number(one, "tid"), one["ts"].as_f64().unwrap()))
            .collect()
    };
    assert_eq!(arrows("s"), [(0, 0, 0.0), (4, 2, 103.0)]);
    assert_eq!(arrows("f"), [(0, 1, 0.0), (4, 1, 103.0)]);
}

#[test]
fn a_trace_counts_seconds_of_a_machine_in_microseconds() {
    let tree = folder("trace_of_machine").join("tree.json");
    let tree = tree.to_str().unwrap();
    let machine = "--machine vsc3 --dist spikes -p 40";
    tuwtree(&format!("optimize {machine} --algorithm adaptive -o {tree}")).success();
    let end = tuwtree(&format!("simulate {tree} --json")).success();
    let end: Value = serde_json::from_str(&end).unwrap();
    let trace = tuwtree(&format!("simulate {tree} --trace -")).success();
    let trace: Value = serde_json::from_str(&trace).unwrap();
    let last = events(&trace, "X")
        .into_iter()
        .map(|one| one["ts"].as_f64().unwrap() + one["dur"].as_f64().unwrap())
        .fold(0.0, f64::max);
    let expected = 1e6 * end["completion_time"].as_f64().unwrap();
    assert!((last - expected).abs() < 1e-6 * expected, "{last} {expected}");
    tuwtree(&format!("simulate {tree} --trace trace.csv")).fails(2, &["--trace trace.csv"]);
}

#[test]
fn packed_files_are_read_as_plain_ones() {
    let folder = folder("packed");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (tree, plain, packed) = (path("tree.json.gz"), path("plain.json"), path("packed.json.gz"));
    tuwtree(&format!("optimize --dist spikes -p 50 -o {tree}")).success();
    tuwtree(&format!("export {tree} -f json -o {plain}")).success();
    tuwtree(&format!("export {tree} -f json -o {packed}")).success();
    assert!(fs::read(&packed).unwrap().len() * 3 < fs::read(&plain).unwrap().len());
    let again = tuwtree(&format!("export {packed} -f json")).success();
    assert_eq!(again, fs::read_to_string(&plain).unwrap());
    let mut bytes = fs::read(&packed).unwrap();
    bytes.truncate(bytes.len() / 2);
    fs::write(&packed, bytes).unwrap();
    tuwtree(&format!("simulate {packed}")).fails(1, &["packed.json.gz", "deflate stream"]);
}

#[test]
fn displacements_are_part_of_the_schedule() {
    let folder = folder("displacements");
    let file = folder.join("displacements.txt");
    let tree = folder.join("tree.json");
    fs::write(&tree, TREE).unwrap();
    let export = format!("export {} -f json --displacements {}", tree.display(), file.display());
    fs::write(&file, "10 0 20\n").unwrap();
    let text = tuwtree(&export).success();
    assert!(text.contains("\"displacements_bytes\":[10,0,20]"), "{text}");
    for (displacements, message) in [
        ("0 1 2", "blocks 0 and 1 overlap"),
        ("0 2", "2 displacements for 3 processes"),
        ("0 2 9223372036854775807", "ends beyond 2^63 - 1"),
        ("0 2 x", "line 1: \"x\""),
    ] {
        fs::write(&file, displacements).unwrap();
        tuwtree(&export).fails(1, &["displacements.txt", message]);
    }
}

#[test]
fn goal_has_an_operation_for_each_action_and_requires_the_one_before() {
    let goal = tuwtree_with_input("export - -f goal", TREE).success();
    let root = "rank 1 {\nr0: recv 2b from 0 tag 0\nc1: calc 1\nc1 requires r0\n\
                r2: recv 4b from 2 tag 0\nr2 requires c1\n}\n";
    assert!(goal.contains("num_ranks 3\n") && goal.contains(root), "{goal}");
}

#[test]
fn graphviz_gets_a_node_for_each_rank_and_an_edge_for_each_message() {
    let dot = tuwtree_with_input("export - -f dot", TREE).success();
    assert!(dot.starts_with("digraph \"gather\" {") && dot.ends_with("}\n"), "{dot}");
    assert_eq!(dot.matches("\\n").count(), 3);
    assert!(dot.contains("2 -> 1 [label=\"4\""), "{dot}");
}

#[test]
fn a_picture_is_what_draw_draws() {
    let exported = tuwtree_with_input("export - -f svg", TREE).success();
    assert_eq!(exported, tuwtree_with_input("draw -", TREE).success());
}

#[test]
fn c_goes_to_standard_output_or_into_two_files_named_alike() {
    let text = tuwtree_with_input("export - -f c --name my_gather", TREE).success();
    assert!(text.contains("#include \"my_gather.h\""), "{text}");
    tuwtree_with_input("export - -f c --name 3d", TREE).fails(2, &["--name", "\"3d\"", "letter"]);
    let folder = folder("exported-c");
    let source = folder.join("block-gather.c");
    tuwtree_with_input(&format!("export - -f c -o {}", source.display()), TREE).success();
    let header = fs::read_to_string(folder.join("block_gather.h")).unwrap();
    assert!(header.contains("block_gather_init("), "{header}");
    assert!(fs::read_to_string(source).unwrap().contains("#include \"block_gather.h\""));
}

#[test]
fn sums_of_bytes_in_json_are_exact() {
    // One more than a multiple of what 64-bit floating point numbers can tell apart there.
    let large = "9007199254740993";
    let schedule = schedule().replace("[2,1,4]", &format!("[{large},1,4]"));
    let schedule = schedule.replace("[\"input\",0,2]", &format!("[\"input\",0,{large}]"));
    let schedule = schedule
        .replace("[\"output\",0,2]", &format!("[\"output\",0,{large}]"))
        .replace("[\"output\",2,1]", &format!("[\"output\",{large},1]"))
        .replace("[\"output\",3,4]", "[\"output\",9007199254740994,4]");
    let text = tuwtree_with_input("verify - --json", &schedule).success();
    assert!(text.contains("\"message_bytes\": 9007199254740997,"), "{text}");
}

#[test]
fn the_script_of_a_replay_can_be_run() {
    let folder = folder("executable_replay");
    let arguments = format!("export - -f smpi -o {}", folder.display());
    tuwtree_with_input(&arguments, TREE).success();
    let mode = fs::metadata(folder.join("run.sh")).unwrap().permissions().mode();
    assert_eq!(mode & 0o500, 0o500, "{mode:o}");
}

#[test]
fn only_one_thing_comes_from_standard_input() {
    let message = "are both to come from standard input";
    for arguments in ["export - -f json --displacements -", "draw - --sizes -"] {
        tuwtree_with_input(arguments, TREE).fails(2, &[message]);
    }
}

#[test]
fn names_that_c_files_cannot_have_are_refused() {
    let folder = folder("c_names");
    let output = |name: &str| format!("export - -f c -o {}", folder.join(name).display());
    tuwtree_with_input(&output("gather.h"), TREE).fails(2, &["gather.h: the header has this name"]);
    tuwtree_with_input(&output("7.c"), TREE).fails(2, &["--output: \"7\"", "--name"]);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    tuwtree_with_input("export - -f dot --name x", TREE).fails(2, &["--name is for --format c"]);
}

#[test]
fn what_cannot_be_exported_or_simulated_is_refused() {
    let schedule = schedule();
    for (arguments, from, to, messages) in [
        ("simulate -", "\"send\":1,", "\"send\":2,", &["standard input", "rank 1 receives"][..]),
        (
            "simulate -",
            "\"input\",0,2",
            "\"input\",0,1",
            &["sends 1 bytes", "2 bytes are received"],
        ),
        ("simulate -", "\"version\":6", "\"version\":7", &["version 7"]),
        ("simulate -", "]}\n", "", &["EOF"]),
        ("simulate -", "\"root\":1", "\"root\":-1", &["-1"]),
        ("simulate -", "[2,1,4]", "[18446744073709551615,1,4]", &["2^64 - 1"]),
        ("export - -f smpi -o x --alpha 0", "", "", &["alpha from 0 to 1 is 0"]),
        ("export - -f smpi -o x --beta 0", "", "", &["beta from 0 to 1 is 0"]),
    ] {
        let bad = schedule.replacen(from, to, 1);
        tuwtree_with_input(arguments, &bad).fails(1, messages);
    }
    tuwtree_with_input("export - -f smpi", &schedule).fails(2, &["folder"]);
    tuwtree_with_input("export - -f xml", &schedule).fails(2, &["xml", "goal", "smpi"]);
    let no_sizes = TREE.split(",\"problem\"").next().unwrap().to_owned() + "}";
    tuwtree_with_input("simulate -", &no_sizes).fails(1, &["no block sizes"]);
    tuwtree_with_input("simulate -", "").fails(1, &["EOF"]);
    tuwtree_with_input("simulate -", "{}").fails(1, &["\"format\" and \"version\""]);
}

#[test]
fn ranks_that_wait_for_each_other_are_a_deadlock() {
    let schedule = r#"{"format":"tuwtree-schedule","version":1,"operation":"broadcast","processors":2,"root":0,"order":"any","ports":1,"vector_bytes":2,"segment_bytes":[2,2],"actions":[
[{"send":1,"from":["output",0,2]},{"receive":1,"into":["segment",0,2]}],
[{"send":0,"from":["output",0,2]},{"receive":0,"into":["output",0,2]}]]}"#;
    tuwtree_with_input("simulate -", schedule).fails(1, &["deadlock", "rank 0", "action 0"]);
    tuwtree_with_input("simulate - --sends eager", schedule).success();
}
