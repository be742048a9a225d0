//! What users met who tried the program in their roles, each by the behaviour that they were to meet.

use crate::program::{folder, json, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::Value;
use std::fs;

#[test]
fn with_order_ordered_and_by_default_only_trees_in_rank_order_are_listed() {
    let orders = |options: &str| {
        let all = json(&format!("optimize --dist spikes -p 20 --machine vsc3 --json {options}"));
        let rows = all["constructions"].as_array().unwrap().clone();
        let of = |row: &Value, name: &str| row[name].as_str().unwrap().to_owned();
        rows.iter().map(|row| (of(row, "construction"), of(row, "order"))).collect::<Vec<_>>()
    };
    for options in ["", "--order ordered"] {
        let listed = orders(options);
        assert!(listed.iter().all(|(_, order)| order == "ordered"), "{options}: {listed:?}");
    }
    assert!(orders("--order any").contains(&("graceful".into(), "any".into())));
    // What the best of the others would save is still said.
    let text = tuwtree("optimize --dist spikes -p 20 --machine vsc3").success();
    assert!(text.contains("In any order (--order any), relays would take "), "{text}");
}

#[test]
fn sweeps_leave_out_refused_constructions_and_write_tables_and_maps_at_once() {
    let folder = folder("sweeps");
    let [table, map] = ["sweep.csv", "sweep.svg"].map(|name| folder.join(name));
    let sweep = "sweep --dist same -p 16..32*2 --machine vsc3 --root 0 --algorithm linear optimal";
    let run = tuwtree(&format!("{sweep} -o {} -o {}", table.display(), map.display()));
    let said = "note: optimal is left out of 1 problem: ";
    assert!(run.stderr.contains(said), "{}", run.stderr);
    run.success();
    let rows = fs::read_to_string(table).unwrap();
    assert_eq!(rows.matches(",linear,").count(), 2, "{rows}");
    assert!(fs::read_to_string(map).unwrap().starts_with("<svg"));
    tuwtree("sweep --dist same -p 32 --machine vsc3 --algorithm optimal")
        .fails(1, &["no construction has a tree", "optimal: "]);
    tuwtree(&format!("{sweep} -o - -o -")).fails(2, &["--output"]);
}

#[test]
fn times_have_units_where_costs_have_them_and_trees_are_drawn_on_request() {
    let problem =
        "optimize --dist same -p 4 -b 1kB --root 0 --alpha 2us --beta 1GB/s --gamma 10GB/s";
    let text = tuwtree(problem).success();
    for part in ["alpha = 2 µs, beta = 1 GB/s", "lower bound on any tree with root 0: 7.1 µs\n"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(!text.contains("0 (root)"), "{text}");
    let drawn = tuwtree(&format!("{problem} --draw")).success();
    assert!(drawn.contains("0 (root)") && drawn.contains("done at 7.1 µs"), "{drawn}");
    tuwtree(&format!("{problem} --draw --json")).fails(2, &["--draw goes with --format text"]);
    let json = json(&format!("{problem} --json --algorithm linear"));
    assert_eq!((json["alpha"].as_f64(), &json["machine"]), (Some(2e-6), &Value::Null));
}

#[test]
fn ranges_count_by_one_in_all_commands_unless_they_say_their_step() {
    let processes = |range: &str| {
        let csv = tuwtree(&format!("sweep --dist same -p {range} --algorithm linear")).success();
        let cells = csv.lines().skip(1).map(|line| line.split(',').nth(1).unwrap().to_owned());
        cells.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(processes("2..5"), "2 3 4 5");
    assert_eq!(processes("2..9*2"), "2 4 8");
    assert_eq!(processes("2..9+3"), "2 5 8");
    let selected = json("select --op alltoall -p 2..5 --bytes 8..8 --json");
    let last = selected["ranges"].as_array().unwrap().last().unwrap();
    assert_eq!(last["last_ranks"], 5);
    tuwtree("select --op alltoall -p 2..8*2").fails(2, &["each from 2 to 64"]);
}

#[test]
fn select_says_why_a_machine_has_no_one_price_and_what_to_do() {
    let run = tuwtree("select --op allgather --machine vsc3");
    run.fails(
        2,
        &["vsc3", "more between some processes", "tuwtree optimize --op allgather --machine vsc3"],
    );
    // What it proposes instead is taken.
    let (_, costs) = run.stderr.split_once("alone: ").expect("costs of a level");
    tuwtree(&format!("select --op allgather -p 8 {}", costs.trim())).success();
    let run = tuwtree("select --op allgather --machine infiniband");
    run.fails(1, &["infiniband", "passes beside other work"]);
    let (_, costs) = run.stderr.split_once("all of it: ").expect("costs");
    tuwtree(&format!("select --op allgather -p 8 {}", costs.trim())).success();
    tuwtree("select --op allgather --machine trinity-testbed")
        .fails(2, &["not linear", "tuwtree machine trinity-testbed --linearise-at 64KiB"]);
    tuwtree("select --op allgather -p 2..64 --machine ring")
        .fails(2, &["ring", "8 processes", "64"]);
}

#[test]
fn operations_that_go_along_no_tree_lack_links_and_not_trees() {
    tuwtree("compare --op allreduce --vector 8 --machine ring").fails(
        1,
        &[
            "no construction has a schedule for the links that there are:\n",
            "recursive-doubling: there is no link from rank 3 to rank 1",
        ],
    );
}

#[test]
fn what_a_machine_s_provenance_warns_of_is_said_with_results() {
    let hosts = workspace_file("data/shapes/hostfile").display().to_string();
    for command in ["optimize", "advise"] {
        let run = tuwtree(&format!("{command} --dist spikes --machine {hosts}"));
        assert!(
            run.stderr.contains("note: machine Hostfile: Assumed: all costs"),
            "{}",
            run.stderr
        );
        run.success();
        let quiet = tuwtree(&format!("{command} --dist spikes --machine {hosts} --quiet"));
        assert_eq!(quiet.stderr, "");
    }
}

#[test]
fn of_equally_fast_trees_the_one_that_is_proven_best_is_recommended() {
    // Deadline trees happen to be optimal here.
    let all =
        json("optimize --dist random -p 40 --root 0 --gamma 0 --algorithm deadline,optimal --json");
    let rows = all["constructions"].as_array().unwrap();
    assert_eq!(rows[0]["completion_time"], rows[1]["completion_time"], "another example is needed");
    assert_eq!(all["recommended"], "optimal");
}

#[test]
fn gains_are_said_against_the_library_that_the_machine_was_measured_with() {
    let folder = folder("users-library");
    let machine = folder.join("machine.toml");
    let written = |library: &str| {
        let text = format!(
            "format = \"tuwtree-machine\"\nversion = 1\nname = \"m\"\ndate = \"2026-11-22\"\n\
             provenance = \"Measured by tuwtree-exec calibrate: 4 processes, {library}.\"\n[homogeneous]\n\
             alpha_seconds = 1e-5\nbeta_seconds_per_byte = 1e-9\ngamma_seconds_per_byte = 1e-10\n"
        );
        fs::write(&machine, text).unwrap();
        tuwtree(&format!("advise --dist spikes -p 40 --root 0 --machine {}", machine.display()))
            .success()
    };
    assert!(
        written("Open MPI v4.1.4, package: Debian").contains("The gather of Open MPI up to 5.0")
    );
    assert!(written("MPICH Version:      4.0.2").contains("The gather of MPICH 3.4 to 4.2"));
    for (name, title) in [
        ("open-mpi-4", "Open MPI up to 5.0"),
        ("openmpi", "Open MPI up to 5.0"),
        ("impi", "Intel MPI"),
    ] {
        let text =
            tuwtree(&format!("advise --dist spikes -p 40 --root 0 --library {name}")).success();
        assert!(text.contains(&format!("The gather of {title} ")), "{name}: {text}");
    }
}

#[test]
fn select_for_a_library_names_its_algorithms_in_json_and_csv() {
    let arguments = "select --op broadcast -p 8 --bytes 1..1MiB --for open-mpi";
    let found = json(&format!("{arguments} --json"));
    assert_eq!(found["library"], "open-mpi");
    assert_eq!(found["ranges"][0]["algorithm"], "binomial");
    assert_eq!(found["ranges"][0]["library_algorithm"], "6");
    let csv = tuwtree(&format!("{arguments} --format csv")).success();
    assert!(csv.lines().next().unwrap().ends_with(",algorithm,library_algorithm"), "{csv}");
}

#[test]
fn help_lists_the_formats_that_a_command_has() {
    for (command, has, lacks) in
        [("optimize", "csv", "toml"), ("machine", "toml", "csv"), ("sweep", "json", "text")]
    {
        let help = tuwtree(&format!("{command} --help")).success();
        let (_, option) = help.split_once("--format <NAME>").unwrap();
        let (option, _) = option.split_once("--json").unwrap();
        let lists = |name: &str| option.contains(&format!("- {name}:"));
        assert!(lists(has) && !lists(lacks), "{command}: {option}");
    }
}

#[test]
fn numbers_of_processes_have_exponents_and_limits_in_words() {
    assert_eq!(json("optimize --dist same -p 1e2 --algorithm linear --json")["ranks"], 100);
    tuwtree("optimize --dist same -p 1e9").fails(2, &["at most 100000000 is needed"]);
    tuwtree("optimize --dist same -p many").fails(2, &["a number of processes"]);
}

#[test]
fn misspelt_options_are_not_taken_for_names_of_files() {
    let run = tuwtree("evaluate tree.json --rot 3");
    run.fails(2, &["--rot"]);
    assert!(!run.stderr.contains("as a value"), "{}", run.stderr);
    tuwtree("map --tolerence 3").fails(2, &["'--tolerance'"]);
}

#[test]
fn one_process_and_one_byte_are_not_many() {
    let text = tuwtree("optimize --dist same -p 1 -b 1 --algorithm linear").success();
    assert!(text.starts_with("gather of 1 byte over 1 process, best root;"), "{text}");
}

#[test]
fn a_shape_takes_the_costs_of_its_levels_from_measurements() {
    let data = |name: &str| workspace_file("data").join(name).display().to_string();
    let (hosts, osu, imb) =
        (data("shapes/hostfile"), data("listings/osu.txt"), data("listings/imb.txt"));
    let both = format!("machine {hosts} --level network={osu} --level node={imb}");
    let machine = json(&format!("{both} --format json"));
    let levels = &machine["hierarchical"]["levels"];
    let (inside, between) = (
        json(&format!("machine {imb} --format json")),
        json(&format!("machine {osu} --format json")),
    );
    let law = |machine: &Value| {
        let level = machine["hierarchical"]["levels"][0].as_object().unwrap().clone();
        level
            .into_iter()
            .filter(|(name, _)| name != "name" && name != "members")
            .collect::<Vec<_>>()
    };
    let of = |level: &Value| law(&serde_json::json!({ "hierarchical": { "levels": [level] } }));
    assert_eq!((of(&levels[0]), of(&levels[1])), (law(&inside), law(&between)));
    assert_eq!((&levels[0]["members"], &levels[1]["members"]), (&16.into(), &5.into()));
    let provenance = machine["provenance"].as_str().unwrap();
    assert!(!provenance.contains("Assumed: all costs"), "{provenance}");
    // What is not replaced stays assumed, which is said.
    let one = json(&format!("machine {hosts} --level network=vsc3 --format json"));
    assert!(
        one["provenance"]
            .as_str()
            .unwrap()
            .contains("Level node: Only the shape is known. Assumed: all costs")
    );
    // What ranks do by themselves is of the innermost level.
    let adding = folder("levels-that-add").join("adding.toml").display().to_string();
    let text = fs::read_to_string(data("machines/opt-table-1.toml")).unwrap();
    let text = text.replace("version = 1", "version = 4\ncombine_seconds_per_byte = 3e-10");
    fs::write(&adding, text).unwrap();
    for (level, combine) in [("node", 3e-10.into()), ("network", Value::Null)] {
        let one = json(&format!("machine {hosts} --level {level}={adding} --format json"));
        assert_eq!(one["combine_seconds_per_byte"], combine, "{level}");
    }
    for (level, message) in [
        ("rack=vsc3", "no level rack; its levels are node, network"),
        ("network=asymmetric", "differ from pair to pair"),
        ("network", "NAME=MACHINE"),
    ] {
        let run = tuwtree(&format!("machine {hosts} --level {level}"));
        assert!(run.code != 0 && run.stderr.contains(message), "{level}: {}", run.stderr);
    }
    tuwtree(&format!("machine opt-table-1 --level network={osu}")).fails(1, &["no levels"]);
}

/// All commands but those for shells and pages, which have no options of problems.
const COMMANDS: [&str; 15] = [
    "optimize",
    "advise",
    "evaluate",
    "show",
    "verify",
    "simulate",
    "export",
    "draw",
    "generate",
    "map",
    "sweep",
    "machine",
    "report",
    "select",
    "reproduce",
];

#[test]
fn options_stand_below_the_heading_of_what_they_are_about() {
    let headings = |command: &str, wanted: &str| -> Vec<String> {
        let help = tuwtree(&format!("{command} --help")).success();
        let mut heading = String::new();
        let mut found = Vec::new();
        for line in help.lines() {
            if line.ends_with(':') && !line.starts_with(' ') {
                heading = line.trim_end_matches(':').to_owned();
            }
            let option = line.trim_start().trim_start_matches("-o, ");
            if line.starts_with(' ') && option.split([' ', '.']).next() == Some(wanted) {
                found.push(heading.clone());
            }
        }
        found
    };
    for command in ["optimize", "advise", "sweep"] {
        assert_eq!(headings(command, "--root"), ["Comparison"], "{command}");
        assert_eq!(headings(command, "--format"), ["Output"], "{command}");
    }
    for command in ["optimize", "generate", "draw", "export", "select", "sweep", "machine"] {
        assert_eq!(headings(command, "--output"), ["Output"], "{command}");
    }
    assert_eq!(headings("optimize", "--combine"), ["Operator (reductions)"]);
}

#[test]
fn short_help_is_shorter_and_every_command_has_an_example() {
    for command in COMMANDS {
        let lines = |option: &str| {
            let help = tuwtree(&format!("{command} {option}")).success();
            assert!(help.contains("\nExample"), "{command} {option}");
            help.lines().count()
        };
        let (short, long) = (lines("-h"), lines("--help"));
        assert!(short <= 60 && long <= 200 && short < long, "{command}: {short} of {long} lines");
    }
}

#[test]
fn an_option_of_one_name_means_the_same_in_all_commands() {
    for command in COMMANDS {
        let help = tuwtree(&format!("{command} -h")).success();
        let options = help.lines().map(str::trim_start);
        for line in options {
            let (option, means) = line.split_once("  ").unwrap_or((line, ""));
            match option.split([' ', ',']).next() {
                Some("-b") => {
                    assert!(means.contains("ean block size"), "{command}: {line}");
                }
                Some("--gamma") => {
                    assert!(means.contains("byte of a local copy"), "{command}: {line}");
                }
                Some("-p") if !means.is_empty() => {
                    assert!(means.to_lowercase().contains("number"), "{command}: {line}");
                }
                Some("-o") if !means.is_empty() => {
                    assert!(means.to_lowercase().contains("write"), "{command}: {line}");
                }
                _ => {}
            }
        }
    }
}

#[test]
fn sizes_have_units_and_exponents_in_files_too() {
    let sizes =
        tuwtree_with_input("optimize --sizes - --algorithm linear --json", "1KiB 1e3\n2kB 7");
    let document: Value = serde_json::from_str(&sizes.success()).unwrap();
    assert_eq!(document["total_bytes"], 1024 + 1000 + 2000 + 7);
    tuwtree_with_input("optimize --sizes -", "1_000").fails(1, &["line 1", "4KiB or 1e3"]);
}

#[test]
fn costs_with_units_need_no_gamma_and_rates_may_be_in_bits() {
    let run =
        tuwtree("optimize --dist spikes -p 8 --alpha 3us --beta 100Gbit/s --algorithm linear");
    assert!(run.stderr.contains("copies at 10 GB/s are assumed"), "{}", run.stderr);
    let stated = tuwtree(
        "optimize --dist spikes -p 8 --alpha 3us --beta 12.5GB/s --gamma 10GB/s --algorithm linear",
    );
    let time = |text: String| {
        text.split("linear").nth(1).unwrap().split_whitespace().next().unwrap().to_owned()
    };
    assert_eq!(time(run.success()), time(stated.success()));
    tuwtree("optimize --dist spikes -p 8 --alpha 3us --algorithm linear")
        .fails(2, &["--alpha has a unit, and --beta has none"]);
}

#[test]
fn a_range_with_a_hyphen_is_told_in_the_form_that_is_meant() {
    tuwtree("sweep --dist spikes -p 10-20").fails(2, &["'10-20'", "a range is 10..20"]);
}

#[test]
fn a_misspelt_construction_is_answered_by_its_name_and_not_by_all() {
    let run = tuwtree("optimize --dist spikes --algorithm optimial");
    assert!(!run.stderr.contains("knomial"), "{}", run.stderr);
    run.fails(2, &["'optimial'", "'optimal'"]);
    tuwtree("optimize --dist spikes --algorithm zzz").fails(2, &["'zzz'", "knomial"]);
}

#[test]
fn a_tree_of_ones_own_is_a_list_of_parents() {
    let evaluated = |tree: &str| {
        tuwtree_with_input("evaluate - --bytes 10 --alpha 100 --beta 1 --gamma 0 --json", tree)
    };
    let own = evaluated(r#"{"parents": [-1, 0, 0, 2]}"#).success();
    let document = r#"{"format": "tuwtree-tree", "version": 5, "ranks": 4, "root": 0,
        "subtrees": [[0, 1, 2], [], [2, 3], []]}"#;
    assert_eq!(own, evaluated(document).success());
    for (tree, fault) in [
        (r#"{"parents": [0, 0]}"#, "0 entries of -1"),
        (r#"{"parents": [-1, 7]}"#, "the parent of rank 1 is 7"),
        (r#"{"parents": [-1, 2, 1]}"#, "not a tree"),
        (r#"{"parents": [-1, "x"]}"#, "line 1 column 20"),
        (r#"{"parents": [-1, 0], "root": 0}"#, "unknown field `root`"),
    ] {
        evaluated(tree).fails(1, &[fault]);
    }
}

#[test]
fn a_tree_of_ones_own_is_a_row_of_the_comparison() {
    let file = folder("own-tree").join("mine.json");
    let compare = |tree: &str, options: &str| {
        std::fs::write(&file, tree).unwrap();
        let costs = "--alpha 100 --beta 1 --gamma 1 --sizes -";
        let arguments = format!("compare {costs} --tree {} {options}", file.display());
        tuwtree_with_input(&arguments, "3 4 5 6")
    };
    let star = compare(r#"{"parents": [null, 0, 0, 0]}"#, "--algorithm linear --json").success();
    let rows: Value = serde_json::from_str(&star).unwrap();
    let [linear, given] = &rows["constructions"].as_array().unwrap()[..] else { panic!("{star}") };
    assert_eq!(given["construction"], "given");
    assert_eq!(given["completion_time"], linear["completion_time"]);
    // Rank 1 receives 3, rank 0 receives 1 and 2: neither a range of ranks.
    let table = compare(r#"{"parents": [-1, 0, 0, 1]}"#, "").success();
    assert!(table.contains("\ngiven "), "{table}");
    compare(r#"{"parents": [-1, 0]}"#, "").fails(2, &["it has 2 ranks, and the problem has 4"]);
    compare(r#"{"parents": [-1, 0, 0, 0]}"#, "--root 2")
        .fails(2, &["its root is 0", "--root is 2"]);
    compare(r#"{"parents": [-1, 0, 0, 0]}"#, "--op allgather").fails(2, &["allgather has no root"]);
    tuwtree("compare --bytes 5 --algorithm given").fails(1, &["--tree"]);
}

#[test]
fn the_recommended_row_is_marked_and_coloured_on_a_terminal_only() {
    let command = "optimize --dist spikes -p 20 --root 0 --algorithm linear adaptive";
    let on_a_terminal = |options: &str| {
        let program = env!("CARGO_BIN_EXE_tuwtree");
        // `script`, of util-linux, gives it a terminal.
        let output = std::process::Command::new("script")
            .args(["-qec", &format!("{program} {command} {options}"), "/dev/null"])
            .env("TERM", "xterm-256color")
            .env_remove("NO_COLOR")
            .stdin(std::process::Stdio::null())
            .output()
            .expect("script");
        let said = String::from_utf8(output.stdout).unwrap();
        let row = said.lines().find(|line| line.contains('▸')).map(str::to_owned);
        row.unwrap_or_else(|| panic!("{said}"))
    };
    let coloured = on_a_terminal("");
    assert!(coloured.contains("\u{1b}[1m") && coloured.contains("▸ linear"), "{coloured:?}");
    assert!(!on_a_terminal("--color never").contains('\u{1b}'));
    assert!(!tuwtree(command).success().contains('▸'));
}
