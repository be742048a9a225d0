//! What files declare takes no memory.

use crate::program::folder;
use std::process::{Command, Stdio};

/// The most characters of a message.
const LONGEST: usize = 2000;

/// What the program says about a file if it has 64 MB of memory for all.
fn judge_in_little_memory(text: &str) -> String {
    let file = folder("little_memory").join("file.json");
    std::fs::write(&file, text).unwrap();
    let output = Command::new("sh")
        .args(["-c", "ulimit -v 65536; exec \"$0\" verify \"$1\"", env!("CARGO_BIN_EXE_tuwtree")])
        .arg(&file)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.chars().count() < LONGEST, "{message}");
    message
}

#[cfg(target_os = "linux")]
#[test]
fn sizes_that_are_only_declared_take_no_memory() {
    let header = |rest: &str| {
        format!("{{\"format\":\"tuwtree-schedule\",\"version\":1,\"processors\":100000000,{rest}}}")
    };
    for (rest, expected) in [
        (
            "\"operation\":\"broadcast\",\"root\":99999999,\"order\":\"any\",\"ports\":65535,\
             \"vector_bytes\":9223372036854775807,\"segment_bytes\":[],\"actions\":[]",
            "there are actions for 0 and segments for 0 of 100000000 processes",
        ),
        ("\"operation\":\"gather\"", "missing field `order`"),
        (
            "\"operation\":\"gather\",\"order\":\"any\",\"ports\":1,\"block_sizes_bytes\":[1],\
             \"segment_bytes\":[0],\"actions\":[[]]",
            "missing field `root`",
        ),
        (
            "\"operation\":\"gather\",\"root\":0,\"order\":\"any\",\"ports\":1,\
             \"block_sizes_bytes\":[1],\"segment_bytes\":[0],\"actions\":[[]]",
            "\"block_sizes_bytes\" has 1 entries",
        ),
    ] {
        let message = judge_in_little_memory(&header(rest));
        assert!(message.contains(expected), "{message}");
    }
    // Two ranks with the largest possible buffers and all ports.
    let huge = "{\"format\":\"tuwtree-schedule\",\"version\":1,\"processors\":2,\
                \"operation\":\"gather\",\"root\":0,\"order\":\"any\",\"ports\":65535,\
                \"block_sizes_bytes\":[9223372036854775807,9223372036854775807],\
                \"segment_bytes\":[9223372036854775807,9223372036854775807],\
                \"actions\":[[{\"receive\":1,\"into\":[\"segment\",0,9223372036854775807]}],\
                [{\"send\":0,\"from\":[\"input\",0,9223372036854775807],\"port\":65534}]]}";
    let message = judge_in_little_memory(huge);
    assert!(message.contains("byte 0 of block 0 never reaches"), "{message}");
    let tree = "{\"format\":\"tuwtree-tree\",\"version\":1,\"processors\":100000000,\"root\":0,\
                \"subtrees\":[[]]}";
    let message = judge_in_little_memory(tree);
    assert!(message.contains("\"subtrees\" has 1 entries"), "{message}");
    let message = judge_in_little_memory(&format!("{{\"{}\":1}}", "y".repeat(1_000_000)));
    assert!(message.contains("not a schedule document"), "{message}");
    let message = judge_in_little_memory(&"[".repeat(1_000_000));
    assert!(message.contains("file.json"), "{message}");
}

#[cfg(target_os = "linux")]
#[test]
fn machines_with_room_for_billions_take_memory_for_the_ranks_of_the_problem() {
    let level = |name: &str, members: u32| {
        format!(
            "[[hierarchical.levels]]\nname = \"{name}\"\nmembers = {members}\nalpha_seconds = 4e-6\n\
             overhead_seconds = 1e-7\nbeta_seconds_per_byte = 1e-10\n"
        )
    };
    let machine = format!(
        "format = \"tuwtree-machine\"\nversion = 2\nname = \"huge\"\ndate = \"2026-11-30\"\n\
         provenance = \"stated\"\n[hierarchical]\ngamma_seconds_per_byte = 0.0\nplacement = \"block\"\n\
         {}{}[network]\nwire = \"node\"\n",
        level("node", 16),
        level("network", 1 << 28)
    );
    let file = folder("little_memory_of_machine").join("machine.toml");
    std::fs::write(&file, machine).unwrap();
    for operation in ["gather", "scatter", "allgather", "alltoall"] {
        let command = "ulimit -v 1048576; exec \"$0\" optimize --op $1 --dist same -p 32 -b 8 --machine \"$2\"";
        let program = env!("CARGO_BIN_EXE_tuwtree");
        let mut shell = Command::new("sh");
        shell.args(["-c", command, program, operation]).arg(&file).stdin(Stdio::null());
        let output = shell.output().unwrap();
        assert!(output.status.success(), "{operation}: {output:?}");
    }
}
