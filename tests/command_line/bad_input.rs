//! What a user gets who asks for nonsense: an error that names the place, the value and what is
//! allowed, and the right exit code.

use crate::program::{command, folder, tuwtree, tuwtree_with_input};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

#[test]
fn wrong_usage_is_exit_code_2() {
    for (arguments, messages) in [
        ("", &["Usage: tuwtree"][..]),
        ("sort", &["sort"]),
        ("optimize", &["--dist", "--sizes"]),
        ("optimize --dist peaks", &["peaks", "spikes"]),
        ("optimize --dist spikes --sizes x", &["cannot be used with"]),
        ("optimize --sizes x -p 10", &["--dist"]),
        ("optimize --dist spikes -p 0", &["0 processes", "1 to 100000000"]),
        ("optimize --dist spikes -p 100000001", &["100000001", "at most 100000000"]),
        ("optimize --dist spikes -p -1", &["-1"]),
        ("optimize --dist spikes -p 99999999999999999999", &["99999999999999999999"]),
        ("optimize --dist spikes -b 0", &["mean block size 0", "1 to 2^62"]),
        ("optimize --dist spikes --rho 0", &["rho is 0", "at least 1"]),
        ("optimize --dist skewed -b 4611686018427387904", &["2^64 - 1"]),
        ("optimize --dist spikes --alpha NaN", &["--alpha", "NaN", "finite"]),
        ("optimize --dist spikes --beta inf", &["--beta", "inf", "finite"]),
        ("optimize --dist spikes --gamma -1", &["--gamma", "-1", "at least 0"]),
        ("optimize --dist spikes --alpha one", &["one"]),
        ("optimize --dist spikes --overhead 101", &["--overhead", "101", "0 to 100 is allowed"]),
        ("optimize --dist spikes --overhead -1", &["--overhead", "-1", "0 to 100"]),
        ("optimize --dist spikes --overhead NaN", &["--overhead", "NaN", "0 to 100"]),
        ("optimize --dist spikes --alpha 1us --overhead 1", &["--overhead", "unit"]),
        ("optimize --dist spikes --machine x --overhead 1", &["cannot be used with"]),
        ("optimize --dist spikes --root 2000", &["root 2000", "0..2000 (2000 processes)"]),
        ("optimize --dist spikes --root -1", &["-1", "best"]),
        ("optimize --dist same -p 9 --json -o -", &["--json", "standard output"]),
        (
            "optimize --dist same -p 9 --gamma 2 --algorithm optimal-dense",
            &["optimal-dense", "gamma = 2"],
        ),
        ("optimize --dist spikes --root first", &["first", "best"]),
        ("optimize --dist spikes --op sort", &["sort", "gather"]),
        ("optimize --dist spikes --algorithm fast", &["fast", "optimal"]),
        ("optimize --dist spikes --algorithm linear --certify", &["--certify", "optimal"]),
        ("optimize --dist spikes --seed 4294967296", &["4294967296", "xoshiro"]),
        ("generate --dist same --format xml", &["xml", "csv"]),
        ("reproduce --table 4", &["4"]),
    ] {
        tuwtree(arguments).fails(2, messages);
    }
}

#[test]
fn bad_sizes_are_exit_code_1_with_place_and_value() {
    for (input, messages) in [
        ("", &["standard input", "no block sizes"][..]),
        ("1 2\n3 four\n", &["line 2", "\"four\"", "0 to 2^64 - 1"]),
        ("-1", &["line 1", "\"-1\""]),
        ("1e-3", &["\"1e-3\""]),
        ("inf", &["\"inf\""]),
        ("18446744073709551616", &["\"18446744073709551616\""]),
        ("18446744073709551615,1", &["more than 2^64 - 1 bytes (block 1 is 1)"]),
        ("rank,size_bytes\n0,1\n2,1\n", &["line 3", "no rank 1", "rank 2"]),
        ("rank,size_bytes\n0,x\n", &["line 2", "\"x\""]),
        ("{\"format\":\"tuwtree-sizes\",\"version\":9,\"block_sizes_bytes\":[1]}", &["version 9"]),
        ("{\"format\":\"tuwtree-tree\",\"version\":1}", &["\"tuwtree-tree\"", "tuwtree-sizes"]),
        ("[1, null]", &["null", "column"]),
        ("[1, 2", &["EOF"]),
    ] {
        tuwtree_with_input("optimize --sizes -", input).fails(1, messages);
    }
}

#[test]
fn files_that_cannot_be_read_are_named() {
    let folder = folder("unreadable");
    tuwtree("optimize --sizes no/such/file").fails(1, &["no/such/file", "No such file"]);
    tuwtree(&format!("show {}", folder.display())).fails(1, &["directory"]);
    let binary = folder.join("binary");
    fs::write(&binary, b"1 2\n3 \xff\xfe").unwrap();
    tuwtree(&format!("optimize --sizes {}", binary.display())).fails(1, &["line 2", "UTF-8"]);
}

#[test]
fn what_goes_on_forever_and_says_nothing_is_refused_at_once() {
    for arguments in ["optimize --sizes", "show", "verify", "machine"] {
        tuwtree(&format!("{arguments} /dev/zero")).fails(1, &["/dev/zero", "bytes that are 0"]);
    }
    let blanks = " ".repeat((1 << 24) + (1 << 16));
    tuwtree_with_input("show -", &blanks).fails(1, &["16777216 blanks in a row"]);
}

#[test]
fn what_a_number_may_be_is_said_in_words() {
    let schedule = r#"{"format":"tuwtree-schedule","version":1,"operation":"gather","ports":70000"#;
    tuwtree_with_input("verify -", schedule).fails(1, &["70000", "an integer from 0 to 65535"]);
}

#[test]
fn what_is_no_tree_is_refused() {
    let good = r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":1,"subtrees":[[],[0,1,2],[]]}"#;
    let evaluate = |text: &str| tuwtree_with_input("evaluate - --dist same", text);
    assert_eq!(evaluate(good).code, 0);
    for (from, to, messages) in [
        ("\"version\":1", "\"version\":6", &["version 6", "versions up to 5"][..]),
        ("\"tuwtree-tree\"", "\"other\"", &["\"other\"", "\"tuwtree-tree\""]),
        ("\"root\":1", "\"root\":1,\"ports\":2", &["unknown field `ports`", "line 1"]),
        ("\"root\":1", "\"root\":1,\"root\":2", &["duplicate field `root`"]),
        ("\"root\":1", "\"root\":3", &["root 3 is outside 0..3"]),
        ("\"processors\":3", "\"processors\":0", &["\"ranks\" is 0"]),
        ("\"processors\":3", "\"processors\":99999999999", &["\"subtrees\" has 3 entries"]),
        ("[0,1,2]", "[0,1,3]", &["receives from 3", "outside 0..3"]),
        ("[0,1,2]", "[0,1]", &["rank 2 sends to nobody"]),
        ("[0,1,2]", "[0,2]", &["copies its own block 0 times"]),
        ("[0,1,2]", "[0,0,1,2]", &["rank 0 sends to both 1 and 1"]),
        ("[[],[0,1,2],[]]", "[[0,2],[1],[2,0]]", &["not a tree"]),
        ("[[],[0,1,2],[]]", "[[0,2],[],[2,0]]", &["never reaches root 1"]),
        ("[[],[0,1,2],[]]", "[[],[0,1,2],[1,2]]", &["receives from 1, which is the root"]),
        ("[[],[0,1,2],[]]", "[[]", &["expected `,` or `]` at line 1"]),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        evaluate(&bad).fails(1, messages);
        tuwtree_with_input("show -", &bad).fails(1, messages);
    }
    evaluate("").fails(1, &["EOF"]);
    tuwtree_with_input("evaluate - --sizes no-file", good).fails(1, &["no-file"]);
    tuwtree_with_input("evaluate - --dist same -p 4", good).fails(2, &["-p", "4 block sizes"]);
    tuwtree_with_input("evaluate - --sizes -", good).fails(2, &["both", "standard input"]);
    evaluate("[\"tuwtree-tree\",1,1,0,[[]]]").fails(1, &["not a tree document", "named fields"]);
    tuwtree_with_input("evaluate -", good).fails(2, &["--sizes", "--dist"]);
    tuwtree_with_input("show - --rank 3", good).fails(2, &["--rank: 3 is outside 0..3"]);
}

#[test]
fn times_that_cannot_be_exact_are_refused() {
    for arguments in [
        "optimize --dist same -p 4 -b 4000000000000000 --algorithm linear",
        "optimize --dist same -p 4 --alpha 9007199254740992 --algorithm adaptive",
        "optimize --dist same -p 4 -b 4000000000000000 --algorithm optimal",
    ] {
        tuwtree(arguments).fails(1, &["exact", "2^53"]);
    }
    let large = "optimize --dist same -p 4 -b 2000000000000000 --json --algorithm optimal";
    assert!(tuwtree(large).success().contains("8000000000000200"));
}

#[test]
fn an_existing_file_is_kept_when_a_command_fails() {
    let folder = folder("kept");
    let file = folder.join("tree.json");
    fs::write(&file, "precious").unwrap();
    let failing = format!("optimize --dist same -p 4 --alpha 1e300 -o {}", file.display());
    assert_eq!(tuwtree(&failing).code, 1);
    assert_eq!(fs::read_to_string(&file).unwrap(), "precious");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "no temporary file is left");
}

#[test]
fn a_link_stays_a_link() {
    let folder = folder("links");
    let (link, file) = (folder.join("link"), folder.join("file"));
    std::os::unix::fs::symlink("file", &link).unwrap();
    let generate = format!("generate --dist same -p 2 -b 7 -o {}", link.display());
    for _ in 0..2 {
        tuwtree(&generate).success();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "7\n7\n");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
}

/// Waits until a process catches interrupts: signal 2, the second bit of the mask in `/proc`.
fn wait_for_signal_handler(process: u32) {
    let catches = || {
        let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap().trim();
        u64::from_str_radix(mask, 16).unwrap() & 2 != 0
    };
    while !catches() {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

/// Waits until a process has used half a second of CPU time: 50 ticks, the twelfth number after its name in `/proc`.
fn wait_for_work(process: u32) {
    let ticks = || -> u64 {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap();
        let (_, numbers) = stat.rsplit_once(')').unwrap();
        numbers.split_whitespace().nth(11).unwrap().parse().unwrap()
    };
    while ticks() < 50 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
}

#[test]
fn an_interrupt_ends_a_command_that_waits_for_input() {
    let mut child = command(&["optimize", "--sizes", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Waiting for a child closes its input: keep it, lest the program reads an empty one.
    let input = child.stdin.take();
    wait_for_signal_handler(child.id());
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    drop(input);
}

#[test]
fn an_interrupt_ends_long_work_cleanly() {
    let folder = folder("interrupted");
    let file = folder.join("tree.json");
    let file = file.to_str().unwrap();
    let arguments = "optimize --dist random -p 20000 --algorithm adjacent-plain -o";
    let mut arguments: Vec<&str> = arguments.split(' ').collect();
    arguments.push(file);
    let child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_work(child.id());
    let interrupt = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(interrupt.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "error: interrupted\n");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "no file is left");
}

/// Runs the program until it writes a file in this folder, then sends it this signal; returns its exit
/// code.
fn end_while_it_writes(folder: &Path, file: &Path, signal: &str) -> Option<i32> {
    let program = env!("CARGO_BIN_EXE_tuwtree");
    // A test under nohup hands on that hanging up is to be ignored.
    let mut child = Command::new("env")
        .args(["--default-signal=HUP", program, "generate", "--dist", "random"])
        .args(["-p", "30000000", "-o", file.to_str().unwrap()])
        .spawn()
        .unwrap();
    // The first file, empty, only tries whether there can be one; the second one is written.
    let is_written = |path: PathBuf| path != file && path.metadata().is_ok_and(|it| it.len() > 0);
    while !fs::read_dir(folder).unwrap().any(|entry| is_written(entry.unwrap().path())) {
        assert!(child.try_wait().unwrap().is_none(), "it is done before it is stopped");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    let killed = Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    child.wait().unwrap().code()
}

#[test]
fn signals_that_end_the_program_leave_outputs_whole() {
    for (signal, code) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let folder = folder(&format!("signal{signal}"));
        let file = folder.join("sizes");
        fs::write(&file, "precious").unwrap();
        assert_eq!(end_while_it_writes(&folder, &file, signal), Some(code), "{signal}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "precious", "{signal}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "{signal} leaves no hidden file");
    }
}

#[test]
fn a_full_disk_is_told_with_the_name_of_the_output() {
    // A file of more than 100 blocks of 512 bytes is refused.
    let folder = folder("full_disk");
    let file = folder.join("sizes.txt");
    let output = Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 100; exec \"$0\" generate --dist random -o \"$1\" -p 1000000",
        ])
        .args([env!("CARGO_BIN_EXE_tuwtree"), file.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("sizes.txt: File too large"), "{message}");
    assert!(!message.contains(".tuwtree-"), "{message}");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
}

#[test]
fn outputs_that_cannot_be_written_are_named() {
    let run = tuwtree("generate --dist same -o no/such/folder/file");
    run.fails(1, &["no/such/folder/file: No such file"]);
    if Path::new("/dev/full").exists() {
        tuwtree("generate --dist same -o /dev/full").fails(1, &["/dev/full", "No space"]);
    }
}
