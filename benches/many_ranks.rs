//! Time and memory of `tuwtree optimize` for allgathers and alltoalls of 4,096 ranks, on 256 nodes with a wire each and on a flat
//! machine, with InfiniBand-like costs.
//!
//! `cargo bench --bench many_ranks` takes some minutes; `-- alltoall spikes` keeps the lines that have these words. Exit code 1 if
//! a comparison takes over 10 seconds or 2 GB.

use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

const MOST_SECONDS: f64 = 10.0;
const MOST_BYTES: u64 = 2_000_000_000;

/// Nodes of 16 ranks that share a wire.
const MACHINE: &str = r#"
format = "tuwtree-machine"
version = 2
name = "256 nodes"
date = "2026-11-30"
provenance = "stated: latencies and rates as of InfiniBand"
[hierarchical]
gamma_seconds_per_byte = 1e-10
placement = "block"
[[hierarchical.levels]]
name = "node"
members = 16
alpha_seconds = 6e-7
overhead_seconds = 3e-7
beta_seconds_per_byte = 2e-10
[[hierarchical.levels]]
name = "network"
members = 256
alpha_seconds = 3.5e-6
overhead_seconds = 1e-7
beta_seconds_per_byte = 4.3e-11
[network]
wire = "node"
"#;

/// The bytes that a process holds at most until it ends, and whether it succeeds.
fn peak(command: &mut Command) -> std::io::Result<(u64, bool)> {
    let mut child = command.stdout(Stdio::null()).spawn()?;
    let mut most = 0;
    loop {
        let status = std::fs::read_to_string(format!("/proc/{}/status", child.id()))?;
        let held = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let held = held.and_then(|held| held.trim().trim_end_matches(" kB").parse().ok());
        most = most.max(held.unwrap_or(0) * 1024);
        if let Some(ended) = child.try_wait()? {
            return Ok((most, ended.success()));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn main() -> std::io::Result<ExitCode> {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let file = std::env::temp_dir().join(format!("tuwtree-nodes-{}.toml", std::process::id()));
    std::fs::write(&file, MACHINE)?;
    let on_nodes = format!("--machine {}", file.display());
    let flat = "--alpha 3.5us --overhead 0.1us --beta 23GB/s --gamma 10GB/s".to_owned();
    let mut code = ExitCode::SUCCESS;
    println!("machine  operation      sizes         bytes  seconds      MB");
    for (machine, costs) in [("nodes", &on_nodes), ("flat", &flat)] {
        for operation in ["allgather", "reduce-scatter", "alltoall"] {
            for sizes in ["same", "spikes", "log-normal"] {
                for bytes in ["8", "64", "256", "4096", "65536"] {
                    let line = format!("{machine:<8} {operation:<14} {sizes:<11} {bytes:>7}");
                    let has = |word: &String| line.split_whitespace().any(|part| part == word);
                    if !words.iter().all(has) {
                        continue;
                    }
                    let problem =
                        format!("optimize --op {operation} --dist {sizes} -b {bytes} -p 4096 -q");
                    let begin = Instant::now();
                    let mut command = Command::new(env!("CARGO_BIN_EXE_tuwtree"));
                    let (most, succeeds) =
                        peak(command.args(problem.split(' ')).args(costs.split(' ')))?;
                    let seconds = begin.elapsed().as_secs_f64();
                    let megabytes = most as f64 / 1e6;
                    let is_within = succeeds && seconds <= MOST_SECONDS && most <= MOST_BYTES;
                    let mark = if is_within { "" } else { "  over the limit" };
                    println!("{line} {seconds:>8.1} {megabytes:>7.0}{mark}");
                    if !is_within {
                        code = ExitCode::FAILURE;
                    }
                }
            }
        }
    }
    std::fs::remove_file(&file)?;
    Ok(code)
}
