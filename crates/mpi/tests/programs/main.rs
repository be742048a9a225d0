//! Programs in C on the library, run by the `mpirun` of the MPI library that it is built with.

mod header;
mod launch;

use launch::{Linkage, compile, library_directory, machine, run, text};
use std::fs;

/// The numbers of ranks: MPICH waits busily, so that many ranks on few cores take long.
fn ranks() -> &'static [usize] {
    match launch::is_open_mpi() {
        true => &[1, 2, 3, 5, 8, 13, 16, 32],
        false => &[1, 2, 3, 5],
    }
}

#[test]
fn a_c_program_uses_all_of_the_interface() {
    let program = compile("collectives.c", Linkage::Shared);
    for &count in ranks() {
        // Thousands of random problems in all, fewer where many ranks share few cores.
        let problems = match (launch::is_open_mpi(), count) {
            (true, 1..=5) => "1000",
            (true, _) => "100",
            (false, 1..=2) => "300",
            (false, _) => "10",
        };
        // One node, and several; little that is passed on, or under way at once.
        let directory = tempfile::tempdir().unwrap();
        let (machine, limit, window) = match count % 2 {
            0 => (machine("vsc3.toml"), "2KiB", "1GiB"),
            _ => (machine_of_pairs(&directory), "64MiB", "100"),
        };
        let settings = [("TUWTREE_MOST_PASSED", limit), ("TUWTREE_WINDOW", window)];
        let environment = settings.map(|(name, value)| (name, value.to_owned()));
        let output = run(count, &program, &[problems, &machine], &environment);
        let expected = format!("all right: {count} processes, {problems} random problems");
        assert!(text(&output.stdout).contains(&expected), "{count}: {output:?}");
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn operations_without_a_root_are_the_librarys_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    let program = compile("rootless.c", Linkage::Shared);
    let most: Option<u32> =
        std::env::var("TUWTREE_TEST_ROOTLESS").ok().and_then(|text| text.parse().ok());
    for &count in ranks() {
        let problems = match (launch::is_open_mpi(), count) {
            (true, 1..=8) => 300,
            (true, _) => 50,
            (false, 1..=3) => 100,
            (false, _) => 10,
        };
        let problems = most.unwrap_or(problems).to_string();
        let output = run(count, &program, &[&problems, &machine], &[]);
        let expected = format!("all right: {count} processes, {problems} problems");
        assert!(text(&output.stdout).contains(&expected), "{count}: {output:?}");
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn plans_of_the_header_are_performed_byte_for_byte() {
    let program = compile("planned.c", Linkage::Shared);
    for &count in ranks() {
        let problems = if launch::is_open_mpi() && count <= 16 { "100" } else { "10" };
        let output = run(count, &program, &[problems], &[]);
        let expected = format!("all right: {count} ranks, {problems} problems");
        assert!(text(&output.stdout).contains(&expected), "{count}: {output:?}");
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn setting_up_leaves_attributes_messages_and_handlers_of_the_program_alone() {
    let program = compile("setups.c", Linkage::Shared);
    for algorithm in ["adaptive", "linear", "native"] {
        for count in [1, 2, 5] {
            let environment = [("TUWTREE_ALGORITHM", algorithm.to_owned())];
            let output = run(count, &program, &["untouched"], &environment);
            assert!(output.status.success(), "{algorithm}: {output:?}");
        }
    }
}

#[test]
fn more_operations_than_communicators_are_under_way_at_once() {
    // MPICH has 2048 communicators.
    let program = compile("setups.c", Linkage::Shared);
    for count in [1, if launch::is_open_mpi() { 3 } else { 2 }] {
        for algorithm in ["adaptive", "native"] {
            let environment = [("TUWTREE_ALGORITHM", algorithm.to_owned())];
            let output = run(count, &program, &["many", "2200"], &environment);
            assert!(output.status.success(), "{algorithm}: {output:?}");
        }
    }
}

/// How many messages each process sends to each other, its own and those that the MPI library sends by
/// itself.
fn sent_messages(
    ranks: usize,
    program: &str,
    arguments: &[&str],
    environment: &[(&str, String)],
) -> Vec<Vec<u64>> {
    let directory = tempfile::tempdir().unwrap();
    let prefix = directory.path().join("sent");
    let mut environment = environment.to_vec();
    environment.push(("OMPI_MCA_pml_monitoring_enable", "1".to_owned()));
    environment.push(("OMPI_MCA_pml_monitoring_enable_output", "3".to_owned()));
    environment.push(("OMPI_MCA_pml_monitoring_filename", prefix.to_str().unwrap().to_owned()));
    let output = run(ranks, &compile(program, Linkage::Shared), arguments, &environment);
    assert!(output.status.success(), "{output:?}");
    // For each receiver a line with tabs: E, from, to, bytes, "3 msgs sent".
    let count = |line: &str| -> Option<(usize, u64)> {
        let columns: Vec<&str> = line.strip_prefix("E\t")?.split('\t').collect();
        Some((columns[1].parse().ok()?, columns[3].split(' ').next()?.parse().ok()?))
    };
    let of_rank = |rank| {
        let text = fs::read_to_string(format!("{}.{rank}.prof", prefix.display())).unwrap();
        let mut sent = vec![0; ranks];
        text.lines().filter_map(count).for_each(|(to, messages)| sent[to] = messages);
        sent
    };
    (0..ranks).map(of_rank).collect()
}

/// A machine whose messages take so long that trees pay.
fn slow_machine(directory: &tempfile::TempDir) -> String {
    let path = directory.path().join("slow.toml");
    let text = "format = \"tuwtree-machine\"\nversion = 1\nname = \"slow\"\n\
                date = \"2026-11-22\"\nprovenance = \"stated\"\n[homogeneous]\n\
                alpha_seconds = 1e-3\nbeta_seconds_per_byte = 1e-10\n\
                gamma_seconds_per_byte = 1e-11\n";
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

/// One with two levels: two ranks a node.
fn machine_of_pairs(directory: &tempfile::TempDir) -> String {
    let path = directory.path().join("pairs.toml");
    let text = "format = \"tuwtree-machine\"\nversion = 1\nname = \"pairs\"\n\
                date = \"2026-11-22\"\nprovenance = \"stated\"\n[hierarchical]\n\
                gamma_seconds_per_byte = 1e-11\nplacement = \"block\"\n\
                [[hierarchical.levels]]\nname = \"node\"\nmembers = 2\n\
                alpha_seconds = 1e-5\nbeta_seconds_per_byte = 1e-10\n\
                [[hierarchical.levels]]\nname = \"network\"\nmembers = 50\n\
                alpha_seconds = 1e-3\nbeta_seconds_per_byte = 1e-10\n";
    fs::write(&path, text).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn an_allgather_takes_the_messages_of_its_rounds_and_none_to_plan() {
    if !launch::is_open_mpi() {
        return;
    }
    let sent = |calls: &str| sent_messages(5, "rootless.c", &["messages", calls], &[]);
    let (few, many) = (sent("1"), sent("11"));
    for (few, many) in few.iter().zip(&many) {
        let [few, many]: [u64; 2] = [few, many].map(|sent| sent.iter().sum());
        // 4 pieces, and 3 = ceil(log2 5) rounds of a phase: 4 - 1 + 3 messages a call.
        assert_eq!(many - few, 10 * 6);
    }
}

#[test]
fn an_alltoall_of_small_messages_takes_a_message_for_each_bit_and_none_to_plan() {
    if !launch::is_open_mpi() {
        return;
    }
    let sent = |calls: &str| sent_messages(13, "rootless.c", &["bundles", calls], &[]);
    let (few, many) = (sent("1"), sent("11"));
    for (few, many) in few.iter().zip(&many) {
        let [few, many]: [u64; 2] = [few, many].map(|sent| sent.iter().sum());
        // ceil(log2 13), in place of 12.
        assert_eq!(many - few, 10 * 4);
    }
}

#[test]
fn calls_along_kept_trees_are_right_whatever_changes() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    for &count in ranks() {
        let calls = match (launch::is_open_mpi(), count) {
            (true, 1..=8) => "3000",
            (true, _) => "1000",
            (false, 1..=3) => "2000",
            (false, _) => "300",
        };
        let output = run(count, &compile("once.c", Linkage::Shared), &["", calls, &machine], &[]);
        assert!(output.status.success(), "{count}: {output:?}");
    }
}

#[test]
fn calls_with_all_counts_at_all_ranks_are_right_whatever_changes() {
    let directory = tempfile::tempdir().unwrap();
    let program = compile("once.c", Linkage::Shared);
    // Costs that all pairs share, and levels.
    for machine in [slow_machine(&directory), machine_of_pairs(&directory)] {
        for (limit, window) in [("64MiB", None), ("4KiB", Some("100"))] {
            for &count in ranks().iter().filter(|&&count| count <= 13) {
                let calls = match (launch::is_open_mpi(), count) {
                    (true, 1..=5) => "200",
                    (true, _) => "60",
                    (false, 1..=3) => "100",
                    (false, _) => "30",
                };
                let mut environment = vec![("TUWTREE_MOST_PASSED", limit.to_owned())];
                environment.extend(window.map(|window| ("TUWTREE_WINDOW", window.to_owned())));
                let arguments = ["known", calls, &machine];
                let output = run(count, &program, &arguments, &environment);
                assert!(output.status.success(), "{limit}, {count}: {output:?}");
            }
        }
    }
}

#[test]
fn blocks_too_large_to_pass_on_go_straight_whatever_changes() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    let program = compile("once.c", Linkage::Shared);
    for limit in ["0", "100", "4KiB", "256KiB"] {
        for &count in ranks().iter().filter(|&&count| (3..=16).contains(&count)) {
            let calls = match (launch::is_open_mpi(), count) {
                (true, 1..=8) => "600",
                (true, _) => "200",
                (false, 1..=3) => "300",
                (false, _) => "60",
            };
            let environment = [("TUWTREE_MOST_PASSED", limit.to_owned())];
            let output = run(count, &program, &["", calls, &machine], &environment);
            assert!(output.status.success(), "{limit}, {count}: {output:?}");
        }
    }
}

#[test]
fn gathers_with_a_window_are_right_whatever_changes_and_nobody_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    let program = compile("once.c", Linkage::Shared);
    for window in ["0", "100", "64KiB"] {
        for &count in ranks().iter().filter(|&&count| (3..=16).contains(&count)) {
            let calls = match (launch::is_open_mpi(), count) {
                (true, 1..=8) => "600",
                (true, _) => "200",
                (false, 1..=3) => "300",
                (false, _) => "60",
            };
            let limit = ("TUWTREE_MOST_PASSED", "1MiB".to_owned());
            let environment = [("TUWTREE_WINDOW", window.to_owned()), limit];
            let output = run(count, &program, &["", calls, &machine], &environment);
            assert!(output.status.success(), "{window}, {count}: {output:?}");
        }
        let environment = [("TUWTREE_WINDOW", window.to_owned()), untried()];
        let output = run(4, &program, &["faults", "0", &machine], &environment);
        assert!(output.status.success(), "{window}: {output:?}");
    }
}

/// All calls along trees: the library's own call tells other faults, and holds other memory.
fn untried() -> (&'static str, String) {
    ("TUWTREE_TRIAL", "no".to_owned())
}

/// How much memory, in KiB, the processes take for blocks that are large all of a sudden, but for the root: by calls
/// (`memory`) or operations that are set up (`set-up`).
fn memory_for((ranks, bytes): (usize, u64), what: &str, algorithm: &str, limit: &str) -> u64 {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    let program = compile("held.c", Linkage::Shared);
    let settings = [
        ("TUWTREE_MOST_PASSED", limit),
        ("TUWTREE_ALGORITHM", algorithm),
        ("TUWTREE_MACHINE", &machine),
    ];
    let mut environment: Vec<(&str, String)> =
        settings.map(|(name, value)| (name, value.to_owned())).into();
    environment.push(untried());
    let output = run(ranks, &program, &[what, &bytes.to_string(), &machine], &environment);
    assert!(output.status.success(), "{output:?}");
    let text = text(&output.stdout);
    let grown = text.lines().find_map(|line| line.strip_suffix(" KiB more"));
    grown.and_then(|grown| grown.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn who_passes_data_on_takes_no_more_memory_than_the_limit_for_blocks_that_have_grown() {
    let ranks = if launch::is_open_mpi() { 8 } else { 4 };
    let bytes = 8_000_000;
    let [unlimited, limited] =
        ["1TB", "1MiB"].map(|limit| memory_for((ranks, bytes), "memory", "auto", limit));
    println!(
        "{ranks} processes, {bytes} bytes each: {unlimited} KiB without a limit, {limited} with 1 MiB"
    );
    assert!(1024 * unlimited > 2 * bytes, "{unlimited}");
    assert!(1024 * limited < bytes, "{limited}");
}

#[test]
fn who_passes_data_on_along_a_named_tree_takes_no_more_memory_than_the_limit() {
    let ranks = if launch::is_open_mpi() { 8 } else { 4 };
    let bytes = 8_000_000;
    for algorithm in
        ["adaptive", "adaptive-data-size", "adaptive-completion-time", "deadline-online"]
    {
        for what in ["memory", "set-up"] {
            if algorithm != "adaptive" && (what == "memory" || !launch::is_open_mpi()) {
                continue;
            }
            let [unlimited, limited] =
                ["1TB", "20MB"].map(|limit| memory_for((ranks, bytes), what, algorithm, limit));
            println!("{algorithm}, {what}: {unlimited} KiB without a limit, {limited} with 20 MB");
            // Below the limit and a block of its own, and some pages of the library's.
            assert!(1024 * limited < 20_000_000 + bytes + (2 << 20), "{limited}");
            assert!(ranks < 8 || 1024 * unlimited > 20_000_000 + bytes, "{unlimited}");
        }
    }
}

#[test]
fn memory_that_the_system_refuses_for_a_named_tree_is_an_error_and_nobody_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    let program = compile("held.c", Linkage::Shared);
    let settings = [("TUWTREE_MOST_PASSED", "1TB"), ("TUWTREE_ALGORITHM", "adaptive")];
    let environment = settings.map(|(name, value)| (name, value.to_owned()));
    let ranks = if launch::is_open_mpi() { 8 } else { 4 };
    let output = run(ranks, &program, &["refused", "40000000", &machine], &environment);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("refused and right again"), "{output:?}");
}

#[test]
fn faults_in_calls_beyond_the_limit_are_told_and_nobody_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    let program = compile("once.c", Linkage::Shared);
    for (count, limit) in [(4, "0"), (5, "4"), (9, "0"), (9, "8")] {
        if count > 5 && !launch::is_open_mpi() {
            continue;
        }
        let settings = [("TUWTREE_MOST_PASSED", limit), ("TUWTREE_ALGORITHM", "adaptive")];
        let environment = settings.map(|(name, value)| (name, value.to_owned()));
        let output = run(count, &program, &["faults", "0", &machine], &environment);
        assert!(output.status.success(), "{count}, {limit}: {output:?}");
    }
}

#[test]
fn memory_that_the_system_refuses_is_an_error_and_nobody_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    let program = compile("held.c", Linkage::Shared);
    let environment = [("TUWTREE_MOST_PASSED", "1TB".to_owned()), untried()];
    for ranks in [4, 8] {
        if ranks > 4 && !launch::is_open_mpi() {
            continue;
        }
        let output = run(ranks, &program, &["refused", "40000000", &machine], &environment);
        assert!(output.status.success(), "{output:?}");
        assert!(text(&output.stdout).contains("refused and right again"), "{output:?}");
    }
}

#[test]
fn faults_in_calls_along_kept_trees_are_told_and_nobody_hangs() {
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    for count in [4, 5, 9] {
        if count > 5 && !launch::is_open_mpi() {
            continue;
        }
        let program = compile("once.c", Linkage::Shared);
        let output = run(count, &program, &["faults", "0", &machine], &[untried()]);
        assert!(output.status.success(), "{count}: {output:?}");
    }
}

#[test]
fn calls_along_kept_trees_send_nothing_but_data() {
    if !launch::is_open_mpi() {
        eprintln!("skipped: only Open MPI counts the messages of a process");
        return;
    }
    let directory = tempfile::tempdir().unwrap();
    let machine = slow_machine(&directory);
    for ranks in [4_usize, 8, 13] {
        // The plans were renewed in call 32, and are in 64.
        let [few, more] = ["40", "60"]
            .map(|calls| sent_messages(ranks, "once.c", &["count", calls, &machine], &[untried()]));
        let root = ranks / 2;
        let (mut all, mut of_root) = (0, 0);
        for (from, (few, more)) in few.iter().zip(&more).enumerate() {
            for (to, (few, more)) in few.iter().zip(more).enumerate() {
                all += more - few;
                of_root += if from == root || to == root { more - few } else { 0 };
            }
        }
        // 20 gathers and 20 scatters, most of whose messages do not meet the root.
        assert_eq!(all, 2 * 20 * (ranks as u64 - 1), "{ranks}");
        assert!(of_root < all, "{ranks}: {of_root} of {all}");
    }
}

#[test]
fn setting_up_an_operation_after_the_first_takes_at_most_three_log_p_messages_of_each_process() {
    if !launch::is_open_mpi() {
        eprintln!("skipped: only Open MPI counts the messages of a process");
        return;
    }
    for ranks in [2_usize, 5, 8, 13] {
        let rounds = u64::from(ranks.next_power_of_two().ilog2());
        let directory = tempfile::tempdir().unwrap();
        let (levels, alike) = (machine_of_pairs(&directory), slow_machine(&directory));
        for (algorithm, machine, most) in [
            ("adaptive", &levels, 3),
            ("adaptive-data-size", &levels, 3),
            ("deadline-online", &levels, 2),
            ("deadline-online", &alike, 2),
            ("linear", &levels, 2),
            ("auto", &levels, 3),
            ("native", &levels, 3),
        ] {
            let environment =
                [("TUWTREE_ALGORITHM", algorithm.to_owned()), ("TUWTREE_MACHINE", machine.clone())];
            let [few, more] = ["2", "12"]
                .map(|count| sent_messages(ranks, "setups.c", &["count", count], &environment));
            for (rank, (few, more)) in few.iter().zip(&more).enumerate() {
                let each = (more.iter().sum::<u64>() - few.iter().sum::<u64>()) / 10;
                let context = format!("{algorithm}, rank {rank} of {ranks}: {each}");
                assert!(each <= most * rounds && each > 0, "{context}");
            }
        }
    }
}

#[test]
fn the_static_library_and_the_header_in_cpp_do_as_well() {
    for program in [compile("header.cpp", Linkage::Shared), compile("header.cpp", Linkage::Static)]
    {
        let output = run(3, &program, &[], &[]);
        assert!(output.status.success(), "{output:?}");
    }
}

#[test]
fn the_example_of_the_guide_runs() {
    let guide = include_str!("../../../../docs/executor-c.md");
    let code = guide.split("```c\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let source = directory.path().join("example.c");
    fs::write(&source, code).unwrap();
    let program = compile(source.to_str().unwrap(), Linkage::Shared);
    let output = run(4, &program, &[], &[]);
    assert!(output.status.success(), "{output:?}");
    assert!(text(&output.stdout).contains("10 blocks' worth of 0 1 1 2 2 2 3 3 3 3"), "{output:?}");
}

#[test]
fn the_header_declares_what_the_library_exports() {
    let header = include_str!("../../include/tuwtree_mpi.h");
    let names = |text: &str, before: &str| {
        let mut names: Vec<String> = text
            .split(before)
            .skip(1)
            .map(|rest| rest.split(['(', '\n']).next().unwrap().trim().to_owned())
            .collect();
        names.sort();
        names
    };
    let library = library_directory().join("libtuwtree_mpi.so");
    let nm = std::process::Command::new("nm").args(["-D", "--defined-only"]).arg(library).output();
    let exported = names(&text(&nm.unwrap().stdout), " T ");
    let declared = header.replace("\nconst char *", "\nint ");
    assert_eq!(names(&declared, "\nint "), exported);
    assert!(exported.len() == 38, "{exported:?}");
}

#[test]
fn faults_end_the_job_with_one_message_that_says_what_is_wrong() {
    let program = compile("fault.c", Linkage::Shared);
    let directory = tempfile::tempdir().unwrap();
    let corrupt = directory.path().join("corrupt.json");
    fs::write(&corrupt, "{\"format\": \"tuwtree-schedule\", \"version\": 1, \"root\": 0").unwrap();
    let corrupt = corrupt.to_str().unwrap().to_owned();
    let other = launch::root().join("data/schedules/gather.json").to_str().unwrap().to_owned();
    let schedule = |path: &str| {
        vec![("TUWTREE_ALGORITHM", "schedule".to_owned()), ("TUWTREE_SCHEDULE", path.to_owned())]
    };
    let cases = [
        (
            "counts",
            vec![("TUWTREE_ALGORITHM", "adaptive".to_owned())],
            "tuwtree: rank 2 states 8 bytes; the root expects 4 from it",
        ),
        (
            "persistent-counts",
            vec![("TUWTREE_ALGORITHM", "linear".to_owned())],
            "tuwtree: rank 2 states 0 bytes; the root expects 4 from it",
        ),
        ("communicator", vec![], "tuwtree: MPI_COMM_NULL"),
        ("schedule", schedule(&corrupt), "corrupt.json: EOF while parsing"),
        ("schedule", schedule(&other), "a schedule for 4 processes; there are 3"),
        ("schedule", schedule("/nowhere"), "tuwtree: /nowhere: No such file"),
        (
            "algorithm",
            vec![("TUWTREE_ALGORITHM", "fast".to_owned())],
            "tuwtree: TUWTREE_ALGORITHM \"fast\": one of adaptive, ",
        ),
        (
            "algorithm",
            vec![("TUWTREE_ALGORITHM", "auto".to_owned())],
            "tuwtree: the algorithm auto needs a machine: set TUWTREE_MACHINE",
        ),
    ];
    for (what, environment, message) in cases {
        let output = run(3, &program, &[what], &environment);
        assert!(!output.status.success(), "{what}: {output:?}");
        let errors = text(&output.stderr) + &text(&output.stdout);
        assert!(errors.contains(message), "{what}: {errors}");
        let said = errors.matches("tuwtree: ").count();
        assert!(said == if what == "communicator" { said } else { 1 }, "{what}: {errors}");
    }
}

#[test]
fn whoever_has_invalid_arguments_takes_large_messages_and_forgets_them() {
    let output = run(3, &compile("refused.c", Linkage::Shared), &[], &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout).matches("as expected").count(), 3, "{output:?}");
    assert_eq!(text(&output.stderr), "", "the MPI library complains");
}

#[test]
fn a_given_schedule_is_read_by_the_root_and_followed_by_all() {
    let program = compile("fault.c", Linkage::Shared);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("star.json");
    // Block 1 goes by way of 2.
    let schedule = r#"{"format": "tuwtree-schedule", "version": 1, "operation": "gather",
        "processors": 3, "root": 0, "order": "ordered", "ports": 1,
        "block_sizes_bytes": [4, 4, 4], "segment_bytes": [0, 0, 8], "actions": [
        [{"from": ["input", 0, 4], "into": ["output", 0, 4]},
         {"receive": 2, "into": ["output", 4, 8]}],
        [{"send": 2, "from": ["input", 0, 4]}],
        [{"receive": 1, "into": ["segment", 0, 4]},
         {"from": ["input", 0, 4], "into": ["segment", 4, 4]},
         {"send": 0, "from": ["segment", 0, 8]}]]}"#;
    fs::write(&path, schedule).unwrap();
    let environment = [
        ("TUWTREE_ALGORITHM", "schedule".to_owned()),
        ("TUWTREE_SCHEDULE", path.to_str().unwrap().to_owned()),
    ];
    let output = run(3, &program, &["nothing"], &environment);
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn the_library_installs_with_a_pkg_config_file() {
    let prefix = tempfile::tempdir().unwrap();
    let script = launch::root().join("crates/mpi/install");
    let output = std::process::Command::new(script)
        .env("PREFIX", prefix.path())
        .env("LIBRARIES", library_directory())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    for name in ["include/tuwtree_mpi.h", "lib/libtuwtree_mpi.so.0", "lib/libtuwtree_mpi.a"] {
        assert!(prefix.path().join(name).is_file(), "{name}");
    }
    let flags = launch::pkg_config(prefix.path());
    assert!(flags.contains("-ltuwtree_mpi"), "{flags}");
}

#[test]
fn the_shared_library_has_its_own_name() {
    let library = library_directory().join("libtuwtree_mpi.so");
    assert_eq!(launch::soname(&library), "libtuwtree_mpi.so.0");
}

#[test]
#[ignore = "takes 5 GB of memory; run by name"]
fn blocks_of_more_than_2_gib_are_gathered_and_scattered_by_one_call() {
    let output = run(2, &compile("large.c", Linkage::Shared), &[], &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout).matches("nothing wrong").count(), 2, "{output:?}");
}

#[test]
fn counts_and_displacements_beyond_an_int_are_taken_with_every_library() {
    let program = compile("large_counts.c", Linkage::Shared);
    for count in [1, 2, 4] {
        let output = run(count, &program, &[], &[]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stdout).matches("nothing wrong").count(), count, "{output:?}");
    }
}

#[test]
#[ignore = "takes 6 GB of memory; ./test --all runs it where there is as much"]
fn a_block_of_2_915_147_392_bytes_is_gathered_and_scattered() {
    let output = run(2, &compile("large_counts.c", Linkage::Shared), &["bytes"], &[]);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(text(&output.stdout).matches("nothing wrong").count(), 2, "{output:?}");
}

#[test]
fn calls_with_derived_datatypes_leave_no_memory_behind() {
    let program = compile("growth.c", Linkage::Shared);
    for algorithm in ["adaptive", "linear"] {
        let output = run(3, &program, &[], &[("TUWTREE_ALGORITHM", algorithm.to_owned())]);
        assert!(output.status.success(), "{output:?}");
        let said = text(&output.stdout);
        let bytes = said.lines().find_map(|line| line.strip_suffix(" bytes a call"));
        let bytes: f64 = bytes.expect("what has grown").parse().unwrap();
        assert!(bytes < 64.0, "{algorithm}: {bytes} bytes a call");
    }
}
