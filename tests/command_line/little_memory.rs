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
