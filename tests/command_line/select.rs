//! `select` on the command line: algorithms of MPI libraries by size, and the files that these read.

use crate::program::{folder, json, tuwtree};
use serde_json::{Value, json};

/// A table with the conditions of MPICH 4.0 for two operations.
const TABLE: &str = r#"{
  "collective=bcast": {"comm_type=intra": {"comm_size=any": {"algorithm=MPIR_Bcast_intra_binomial": {}}},
    "comm_type=inter": {"algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {}}},
  "collective=allreduce": {"comm_type=intra": {"avg_msg_size=any": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}}},
  "collective=barrier": {"comm_type=intra": {"algorithm=MPIR_Barrier_intra_dissemination": {}}}
}"#;

#[test]
fn the_fastest_algorithms_are_listed_by_size() {
    let found = json("select --op broadcast -p 8 --bytes 1..1MiB --alpha 100 --json");
    let row = |from: u64, name: &str| {
        json!({ "operation": "broadcast", "first_ranks": 8, "last_ranks": 8,
                "from_bytes": from, "algorithm": name })
    };
    // 300 + 3 n > 600 + 1.75 n from n = 241 on.
    let expected = json!([row(1, "binomial"), row(241, "scatter-doubling")]);
    assert_eq!(found["ranges"], expected);
    let text = tuwtree("select --op bcast,allgather -p 8 --bytes 1..1MiB").success();
    assert!(text.contains("broadcast\n  8 "), "{text}");
    assert!(text.contains("scatter-doubling from 241"), "{text}");
    let csv = tuwtree("select --op alltoall -p 2..9 --format csv").success();
    assert!(csv.starts_with("operation,first_ranks,last_ranks,from_bytes,algorithm\n"));
    let regret = json("select --op allgather,alltoall -p 2..40 --regret --json");
    let found = regret["operations"].as_array().unwrap();
    assert!(found.iter().all(|one| one["worst"].as_f64().unwrap() >= 1.0), "{regret}");
    let libraries: Vec<&str> = found.iter().map(|one| one["library"].as_str().unwrap()).collect();
    assert_eq!(
        libraries,
        ["mpich-2005", "mpich", "open-mpi", "mpich-2005", "mpich", "open-mpi"],
        "{regret}"
    );
}

#[test]
fn mpich_s_table_is_kept_but_for_what_is_selected() {
    let folder = folder("select-mpich");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (base, output) = (path("base.json"), path("tuned.json"));
    std::fs::write(&base, TABLE).unwrap();
    let arguments = "select --op bcast,allreduce -p 8 --bytes 1..1MiB --for mpich";
    tuwtree(&format!("{arguments} --base {base} -o {output}")).success();
    let tuned: Value = serde_json::from_str(&std::fs::read_to_string(&output).unwrap()).unwrap();
    let own: Value = serde_json::from_str(TABLE).unwrap();
    assert_eq!(tuned["collective=barrier"], own["collective=barrier"]);
    let of = |table: &Value, name: &str| table[format!("collective={name}")].clone();
    assert_eq!(of(&tuned, "bcast")["comm_type=inter"], of(&own, "bcast")["comm_type=inter"]);
    let broadcast = json!({
        "comm_size<8": of(&own, "bcast")["comm_type=intra"],
        "comm_size<=8": {
            "avg_msg_size<241": { "algorithm=MPIR_Bcast_intra_binomial": {} },
            "avg_msg_size=any": { "algorithm=MPIR_Bcast_intra_scatter_recursive_doubling_allgather": {} },
        },
        "comm_size=any": of(&own, "bcast")["comm_type=intra"],
    });
    let found = of(&tuned, "bcast")["comm_type=intra"].clone();
    // Conditions are tried in their order.
    assert_eq!(found.to_string(), broadcast.to_string());
    let guarded = &of(&tuned, "allreduce")["comm_type=intra"];
    let own = &of(&own, "allreduce")["comm_type=intra"];
    assert_eq!(&guarded["is_op_built_in=no"], own);
    assert_eq!(&guarded["is_op_built_in=yes"]["count<pow2"], own);
    tuwtree(&format!("{arguments} -o {output}")).fails(2, &["--for mpich needs --base"]);
    let of_device = TABLE.replace("algorithm=MPIR_Bcast_intra_binomial", "composition=MPIDI_Bcast");
    std::fs::write(&base, of_device).unwrap();
    tuwtree(&format!("{arguments} --base {base} -o {output}"))
        .fails(1, &["base.json", "the table is that of MPICH's device"]);
    std::fs::write(&base, "{}").unwrap();
    tuwtree(&format!("{arguments} --base {base} -o {output}"))
        .fails(1, &["base.json", "the table lacks \"collective=bcast\""]);
}

#[test]
fn selections_are_written_as_other_libraries_read_them() {
    let folder = folder("select-others");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let written = |library: &str| {
        let file = path(library);
        let arguments = "select --op bcast -p 8 --bytes 1..1MiB";
        tuwtree(&format!("{arguments} --for {library} -o {file}")).success();
        std::fs::read_to_string(&file).unwrap()
    };
    assert_eq!(
        written("open-mpi"),
        "1 # operations\n7 # bcast\n3 # numbers of processes\n0\n1\n0 0 0 0\n8\n2 # sizes\n\
         0 6 0 0 # binomial\n241 8 0 0 # scatter_allgather\n9\n1\n0 0 0 0\n"
    );
    let rules: Value = serde_json::from_str(&written("open-mpi-json")).unwrap();
    assert_eq!(
        rules,
        json!({ "rule_file_version": 3, "module": "tuned", "collectives": { "bcast": [
            { "comm_size_min": 8, "comm_size_max": 8, "rules": [
                { "msg_size_min": 0, "msg_size_max": 240, "alg": "binomial" },
                { "msg_size_min": 241, "msg_size_max": "inf", "alg": "scatter_allgather" },
            ] },
        ] } })
    );
    assert_eq!(
        written("ucc"),
        "# Not loaded by any UCC in tuwtree's tests, only held against its grammar.\n\
         UCC_TL_UCP_TUNE=bcast:0-241:[8-8]:@0#bcast:241-inf:[8-8]:@1\n"
    );
    assert_eq!(
        written("intel"),
        "# Not loaded by any Intel MPI in tuwtree's tests.\n\
         export I_MPI_ADJUST_BCAST='1:0-240@8-8;2:241-2147483647@8-8'\n"
    );
}

/// What Open MPI's `tuned_dynamic_file_schema.json` asks for, in our words (open-mpi/ompi, docs/tuning-apps, as of 2026-11).
/// Differs: it has "reducescatter", and its own reader (`mca_coll_base_name_to_colltype`) takes "reduce_scatter" only.
fn open_mpi_schema() -> Value {
    let number = json!({ "anyOf": [{ "type": "integer" }, { "enum": ["inf", "INF", "Inf"] }] });
    let rule = json!({
        "type": "object",
        "required": ["alg"],
        "additionalProperties": false,
        "properties": {
            "msg_size_min": number, "msg_size_max": number, "alg": { "type": ["string", "integer"] },
            "reqs": { "type": "integer" }, "faninout": { "type": "integer" }, "seg_size": { "type": "integer" },
        },
    });
    let by_processes = json!({
        "type": "object",
        "required": ["rules"],
        "additionalProperties": false,
        "properties": {
            "comm_size_min": number, "comm_size_max": number,
            "comm_rank_distribution": { "enum": ["any", "one-per-node", "single-node"] },
            "rules": { "type": "array", "items": rule },
        },
    });
    let names =
        "^(allgatherv?|allreduce|alltoall|bcast|reduce|reduce_scatter|reduce_scatter_block)$";
    json!({
        "type": "object",
        "required": ["rule_file_version", "module", "collectives"],
        "additionalProperties": false,
        "properties": {
            "rule_file_version": { "type": "number" }, "module": { "type": "string" },
            "collectives": {
                "type": "object",
                "additionalProperties": false,
                "patternProperties": { names: { "type": "array", "items": by_processes } },
            },
        },
    })
}

/// All operations of which something is selected.
const ALL: &str = "allgather,bcast,allreduce,reduce,reduce-scatter,alltoall";

/// What a selection of all operations is written as.
fn written_for(library: &str) -> String {
    let file = folder(&format!("select-all-{library}")).join("rules");
    let arguments = format!("select --op {ALL} -p 2..40 --for {library} -o {}", file.display());
    tuwtree(&arguments).success();
    std::fs::read_to_string(&file).unwrap()
}

#[test]
fn open_mpi_s_json_is_as_its_schema_asks() {
    let rules: Value = serde_json::from_str(&written_for("open-mpi-json")).unwrap();
    let schema = jsonschema::validator_for(&open_mpi_schema()).unwrap();
    let faults: Vec<String> = schema.iter_errors(&rules).map(|fault| fault.to_string()).collect();
    assert!(faults.is_empty(), "{faults:?}");
    assert_eq!(rules["collectives"].as_object().unwrap().len(), 8);
    for (_, by_processes) in rules["collectives"].as_object().unwrap() {
        let mut before = 1;
        for one in by_processes.as_array().unwrap() {
            let [least, most] =
                ["comm_size_min", "comm_size_max"].map(|name| one[name].as_u64().unwrap());
            assert!(before < least && least <= most, "{by_processes}");
            before = most;
            let sizes = one["rules"].as_array().unwrap();
            assert_eq!(
                (&sizes[0]["msg_size_min"], &sizes.last().unwrap()["msg_size_max"]),
                (&json!(0), &json!("inf"))
            );
            for pair in sizes.windows(2) {
                let next = pair[0]["msg_size_max"].as_u64().unwrap() + 1;
                assert_eq!(pair[1]["msg_size_min"], next, "{one}");
            }
        }
    }
    let mut wrong = rules;
    wrong["collectives"]["allgather"][0]["rules"][0]["algorithm"] = json!("ring");
    assert!(!schema.is_valid(&wrong));
}

/// `UCC_TL_UCP_TUNE=token#token...`, `token = coll:from-to:[from-to]:@algorithm`, with the algorithms that UCC has: its
/// `docs/user_guide.md`, `src/coll_score/ucc_coll_score.c` and the names in `src/components/tl/ucp` (openucx/ucc, as of 2026-08).
fn check_ucc(text: &str) -> Result<usize, String> {
    let line = text.lines().find(|line| !line.starts_with('#')).unwrap_or_default();
    let tokens = line.strip_prefix("UCC_TL_UCP_TUNE=");
    let tokens: Vec<&str> = tokens.ok_or("no UCC_TL_UCP_TUNE=")?.split('#').collect();
    for token in &tokens {
        let fault = || format!("{token:?}");
        let [collective, sizes, teams, algorithm] = token.split(':').collect::<Vec<_>>()[..] else {
            return Err(fault());
        };
        let known: &[&str] = match collective {
            "allgather" => &["0", "knomial", "ring", "neighbor", "bruck", "sparbit", "linear"],
            "allreduce" => &["0", "1", "knomial", "sra_knomial", "dbt", "sliding_window", "ring"],
            "alltoall" => &["pairwise", "bruck", "onesided"],
            "bcast" => &["0", "1", "2", "knomial", "sag_knomial", "dbt"],
            "reduce" => &["0", "1", "2", "knomial", "dbt", "srg"],
            "reduce_scatter" => &["ring", "knomial"],
            _ => return Err(fault()),
        };
        let range = |text: &str| {
            let (from, to) = text.split_once('-')?;
            let to = if to == "inf" { u64::MAX } else { to.parse().ok()? };
            Some((from.parse::<u64>().ok()?, to))
        };
        let teams = teams.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
        let (least, most) = teams.and_then(range).ok_or_else(fault)?;
        let (from, to) = range(sizes).ok_or_else(fault)?;
        let algorithm = algorithm.strip_prefix('@').ok_or_else(fault)?;
        if from >= to || least < 2 || least > most || !known.contains(&algorithm) {
            return Err(fault());
        }
    }
    Ok(tokens.len())
}

#[test]
fn ucc_s_settings_are_in_its_grammar() {
    let line = written_for("ucc");
    assert!(check_ucc(&line).unwrap() >= 6, "{line}");
    for wrong in [
        "",
        "UCC_TL_UCP_TUNE=bcast:0-inf:[2-9]:0\n",
        "UCC_TL_UCP_TUNE=bcast:9-2:[2-9]:@0\n",
        "UCC_TL_UCP_TUNE=scan:0-inf:[2-9]:@0\n",
    ] {
        assert!(check_ucc(wrong).is_err(), "{wrong}");
    }
    // Whoever chooses among these formats is told that no library of ours has read them, and whoever gets such a file.
    let help = tuwtree("select --help").success();
    assert_eq!(help.matches("not loaded in our tests").count(), 3, "{help}");
}

#[test]
fn files_that_no_library_has_loaded_say_so() {
    let folder = folder("select-not-loaded");
    let run = |library: &str| {
        let file = folder.join(library);
        let arguments = "select --op allgather -p 2..9";
        let run = tuwtree(&format!("{arguments} --for {library} -o {}", file.display()));
        assert_eq!(run.code, 0, "{}", run.stderr);
        (std::fs::read_to_string(file).unwrap(), run.stderr)
    };
    for library in ["ucc", "intel"] {
        let (text, notes) = run(library);
        assert!(text.starts_with("# Not loaded by any "), "{text}");
        assert_eq!(notes.matches("not loaded").count(), 0, "{notes}");
    }
    // A shell reads past the comment, and sets what follows.
    let sourced = std::process::Command::new("sh")
        .args(["-c", ". ./intel && echo \"$I_MPI_ADJUST_ALLGATHER\""])
        .current_dir(&folder)
        .output()
        .unwrap();
    let set = String::from_utf8(sourced.stdout).unwrap();
    assert!(sourced.status.success() && set.contains("@2-2"), "{set}");
    // The schema of Open MPI's JSON has no place for it.
    let (text, notes) = run("open-mpi-json");
    assert!(serde_json::from_str::<Value>(&text).is_ok() && !text.contains("loaded"), "{text}");
    assert!(notes.contains("note: the file was not loaded by any Open MPI"), "{notes}");
    // Open MPI 4.1 has loaded its file of numbers.
    let (text, notes) = run("open-mpi");
    assert!(!format!("{text}{notes}").contains("loaded"), "{text}{notes}");
}

#[test]
fn what_open_mpi_gets_wrong_where_operators_do_not_commute_is_written_only_if_asked_for() {
    let file = folder("select-unordered").join("rules").display().to_string();
    let write = |operations: &str, options: &str| {
        let costs = "--alpha 1 --beta 1 --gamma 1";
        let run = tuwtree(&format!("select --op {operations} -p 8 {costs} {options} -o {file}"));
        assert_eq!(run.code, 0, "{}", run.stderr);
        (std::fs::read_to_string(&file).unwrap(), run.stderr)
    };
    let (rules, notes) = write("reduce_scatter,reduce", "--for open-mpi");
    assert!(!rules.contains("halving") && !rules.contains("binomial"), "{rules}");
    assert!(rules.contains("8\n1 # sizes\n0 0 0 0 # own choice\n"), "{rules}");
    assert!(rules.contains(" 7 0 0 # rabenseifner\n"), "{rules}");
    assert!(
        notes.contains("where reduce_scatter by halving, reduce by binomial would be the fastest")
    );
    let (rules, notes) = write("reduce_scatter", "--for open-mpi --order any");
    assert!(rules.starts_with("1 # operations; for programs whose operators commute\n"), "{rules}");
    assert!(rules.contains("8\n1 # sizes\n0 2 0 0 # recursive_halving\n"), "{rules}");
    assert!(notes.contains("results by operators that do not commute may be wrong"), "{notes}");
    let (rules, notes) = write("reduce-scatter", "--for open-mpi-json");
    let rules: Value = serde_json::from_str(&rules).unwrap();
    assert_eq!(rules["collectives"]["reduce_scatter"][0]["rules"][0]["alg"], 0);
    let block = &rules["collectives"]["reduce_scatter_block"][0]["rules"][0]["alg"];
    assert_eq!(block, "recursive_halving");
    assert!(notes.contains("where reduce_scatter by halving would be"), "{notes}");
    let (lines, _) = write("reduce_scatter,reduce", "--for intel");
    assert!(lines.contains("\n# REDUCE_SCATTER: its own choice.\nexport I_MPI_ADJUST_REDUCE="));
    for (operations, options) in [("allgather", "--for open-mpi"), ("reduce-scatter", "--for ucc")]
    {
        let (_, notes) = write(operations, options);
        assert!(!notes.contains("commute"), "{notes}");
    }
    let row = |order: &str| {
        let arguments = "select --op reduce-scatter -p 8 --for open-mpi";
        json(&format!("{arguments} {order} --json"))["ranges"][0]["library_algorithm"].clone()
    };
    assert_eq!([row(""), row("--order any")], [Value::Null, json!("2")]);
    tuwtree("select --op reduce --order ordered").fails(2, &["--order: it is for --for"]);
}

#[test]
fn mpich_keeps_its_own_reduce_scatter_where_blocks_differ() {
    let folder = folder("select-mpich-regular");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let own = json!({ "algorithm=own": {} });
    let table = json!({
        "collective=reduce_scatter": { "comm_type=intra": own },
        "collective=reduce_scatter_block": { "comm_type=intra": own },
    });
    std::fs::write(path("base.json"), table.to_string()).unwrap();
    let (base, output) = (path("base.json"), path("tuned.json"));
    let arguments = "select --op reduce-scatter -p 3 --for mpich";
    tuwtree(&format!("{arguments} --base {base} -o {output}")).success();
    let tuned: Value = serde_json::from_str(&std::fs::read_to_string(&output).unwrap()).unwrap();
    let of = |name: &str| tuned[format!("collective={name}")]["comm_type=intra"].clone();
    let regular = &of("reduce_scatter")["is_commutative=yes"];
    assert_eq!(regular["is_block_regular=no"], own);
    let ours = |name: &str| json!({ format!("algorithm=MPIR_{name}_intra_pairwise"): {} });
    let sized = |name: &str| json!({ "total_msg_size=any": ours(name) });
    assert_eq!(regular["is_block_regular=yes"]["comm_size<=3"], sized("Reduce_scatter"));
    // MPICH knows the condition for no other function.
    let block = &of("reduce_scatter_block")["is_commutative=yes"];
    assert_eq!(block["comm_size<=3"], sized("Reduce_scatter_block"));
}

#[test]
fn rules_are_of_the_function_that_is_named_and_of_all_of_an_operation() {
    let file = folder("select-functions").join("rules").display().to_string();
    let costs = "--alpha 3000 --beta 1 --gamma 1";
    let write = |operations: &str, library: &str| {
        let arguments = format!("select --op {operations} {costs} --order any");
        tuwtree(&format!("{arguments} --for {library} -o {file}")).success();
        std::fs::read_to_string(&file).unwrap()
    };
    // Bruck's up to 3000 bytes in all; Open MPI's allgatherv goes by the mean block.
    let allgatherv = "1 # allgatherv\n3 # numbers of processes\n0\n1\n0 0 0 0\n5\n2 # sizes\n0 2 0 0 # bruck\n\
                      601 3 0 0 # ring\n6\n1\n0 0 0 0\n";
    for name in ["allgatherv", "MPI_Allgatherv"] {
        assert_eq!(
            write(&format!("{name} -p 5"), "open-mpi"),
            format!("1 # operations\n{allgatherv}")
        );
    }
    let both = write("allgather,allgather,allgatherv -p 5", "open-mpi");
    assert!(both.starts_with("2 # operations\n0 # allgather\n"), "{both}");
    assert!(both.contains("\n3001 4 0 0 # ring\n") && both.ends_with(allgatherv), "{both}");
    let alone = write("MPI_Allgather -p 5", "open-mpi");
    assert!(alone.starts_with("1 # operations\n0 # allgather\n"), "{alone}");
    let block = write("MPI_Reduce_scatter_block -p 8", "open-mpi");
    assert!(block.starts_with("1 # operations\n13 # reduce_scatter_block\n"), "{block}");
    assert!(block.contains("\n0 3 0 0 # recursive_halving\n"), "{block}");
    let block = write("reduce_scatter_block -p 8", "ucc");
    assert!(block.contains("UCC_TL_UCP_TUNE=reduce_scatter:0-"), "{block}");
    let all = write("allgather,reduce-scatter -p 8", "intel");
    assert_eq!(all.matches("export").count(), 2, "{all}");
    for (name, library) in [
        ("alltoallv", "open-mpi"),
        ("MPI_Alltoallv", "ucc"),
        ("allgatherv", "ucc"),
        ("reduce_scatter", "ucc"),
        ("allgatherv", "intel"),
    ] {
        let function = name.trim_start_matches("MPI_").to_lowercase();
        let message = format!("has no rules by size for {function}");
        tuwtree(&format!("select --op {name} --for {library} -o {file}")).fails(2, &[&message]);
    }
    let listed = tuwtree("select --op allgather,allgatherv,allgather -p 2").success();
    assert_eq!(listed.matches("allgather\n").count(), 1, "{listed}");
}

#[test]
fn numbers_of_processes_share_the_sizes_of_the_library() {
    let file = folder("select-shared").join("rules").display().to_string();
    let costs = "--alpha 2us --beta 12.5GB/s --gamma 10GB/s";
    let arguments = format!("select --op alltoall -p 16..20 {costs}");
    tuwtree(&format!("{arguments} --for open-mpi -o {file}")).success();
    let rules = std::fs::read_to_string(&file).unwrap();
    let found = json(&format!("{arguments} --json"));
    // The size from which on the last algorithm is used, of all messages of a process.
    for processes in 16..=20_u64 {
        let row = found["ranges"].as_array().unwrap().iter().rfind(|row| {
            row["first_ranks"].as_u64().unwrap() <= processes
                && processes <= row["last_ranks"].as_u64().unwrap()
        });
        let all = row.unwrap()["from_bytes"].as_u64().unwrap() * processes;
        let after = rules.split(&format!("\n{processes}\n")).nth(1).unwrap();
        assert!(after.lines().take(4).any(|line| line.starts_with(&format!("{all} "))), "{rules}");
    }
}

#[test]
fn a_selection_is_drawn_and_own_rules_are_judged() {
    let svg = folder("select-map").join("map.svg").display().to_string();
    let arguments = "select --op allgather,broadcast -p 2..9 --bytes 1..1MiB --alpha 100";
    tuwtree(&format!("{arguments} --map {svg}")).success();
    let picture = std::fs::read_to_string(&svg).unwrap();
    let document = roxmltree::Document::parse(&picture).unwrap();
    let titles: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("title"))
        .filter_map(|node| node.text())
        .collect();
    // Two operations, eight numbers of processes, 21 powers of two.
    assert_eq!(titles.len(), 2 * 8 * 21);
    // 3 (100 + n) against 600 + 1.75 n: 300 + 384 and 600 + 224.
    let cell = "8 processes, 128 B: binomial 684.000000, scatter-doubling 824.000000, scatter-ring 1224.000000";
    assert!(titles.contains(&cell), "{titles:?}");
    tuwtree(&format!("select --op {ALL} --map {svg}"))
        .fails(2, &["a map has 10 colours: name fewer operations"]);
    let text = tuwtree("select --op allgather -p 2..40 --regret").success();
    assert!(text.starts_with("allgather: MPICH 2005's own rule takes "), "{text}");
    assert!(text.contains("\nallgather: MPICH's own rule takes "), "{text}");
    assert!(text.contains("\nallgather: Open MPI's own rule takes "), "{text}");
}

#[test]
fn own_rules_for_operators_that_do_not_commute_are_judged_beside_what_keeps_order() {
    let arguments = "select --op reduce,reduce-scatter -p 2..40 --regret --order ordered";
    let text = tuwtree(arguments).success();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 12, "{text}");
    let only = "reduce-scatter: MPICH's own rule takes 1.000 times the best of its algorithms in the mean, at most 1.000";
    assert!(lines[8].starts_with(only), "{text}");
    assert!(lines[9].contains("times the best of all libraries' that keep rank order"), "{text}");
    assert!(lines[10].starts_with("reduce-scatter: Open MPI's own rule takes "), "{text}");
    let found = json(&format!("{arguments} --json"));
    for row in found["operations"].as_array().unwrap() {
        assert_eq!(row["order"], "ordered", "{row}");
        assert!(row["any_library_worst"].as_f64() >= row["worst"].as_f64(), "{row}");
    }
    let csv = tuwtree(&format!("{arguments} --format csv")).success();
    assert!(csv.lines().next().unwrap().contains(",any_library_mean"), "{csv}");
    // Operators that commute are meant where nothing is said.
    let plain = json("select --op reduce -p 2..40 --regret --json");
    assert_eq!(plain, json("select --op reduce -p 2..40 --regret --order any --json"));
    assert!(plain["operations"][0]["order"].is_null(), "{plain}");
    tuwtree("select --op allgather --regret --order ordered")
        .fails(2, &["--order ordered: allgather combines nothing"]);
    tuwtree("select --op reduce --order ordered").fails(2, &["--regret"]);
}

#[test]
fn what_cannot_be_selected_is_refused() {
    tuwtree("select --op gather").fails(2, &["nothing is chosen by size for gather"]);
    tuwtree("select --op intergroup-allgather --for mpich --base -")
        .fails(2, &["MPICH has no rules by size for intergroup-allgather"]);
    tuwtree("select --op intergroup-allgather -p 2..5 --map m.svg")
        .fails(2, &["no algorithm of intergroup-allgather is known for 3 processes"]);
    tuwtree("select --op bcast -p 9..2").fails(2, &["numbers of processes from 2 to"]);
    tuwtree("select --op bcast --bytes 9").fails(2, &["two sizes"]);
    tuwtree("select --op bcast --bytes 1..8GiB").fails(2, &["sizes up to 2147483647"]);
    tuwtree("select --op bcast -o rules.conf").fails(2, &["--for"]);
    for (option, message) in [
        ("--op alltoall --alpha 2 --overhead 0.2", "--overhead: part of the latency"),
        ("--op bcast --map m.xyz", "--map m.xyz: the name ends neither with .svg"),
    ] {
        tuwtree(&format!("select {option}")).fails(2, &[message]);
    }
    tuwtree("select --op alltoall --alpha 2 --overhead 2").success();
    let machine = folder("select-overlapping").join("machine.json").display().to_string();
    let document = json!({ "format": "tuwtree-machine", "version": 2, "name": "one", "date": "2026-11-23",
                           "provenance": "made up",
                           "homogeneous": { "alpha_seconds": 2e-6, "overhead_seconds": 2e-7,
                                            "beta_seconds_per_byte": 1e-9, "gamma_seconds_per_byte": 1e-10 } });
    std::fs::write(&machine, document.to_string()).unwrap();
    for options in ["", "--regret", "--map m.svg"] {
        tuwtree(&format!("select --op alltoall -p 32 --machine {machine} {options}"))
            .fails(1, &["machine.json: part of the latency"]);
    }
    let assumed = |costs: &str| tuwtree(&format!("select --op bcast -p 8 {costs}")).stderr;
    assert!(assumed("").contains("note: no costs are given"));
    assert_eq!(assumed("--alpha 3"), "");
}
