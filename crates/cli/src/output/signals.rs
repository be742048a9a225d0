//! A clean end on Ctrl-C and the like.

use super::progress::{ends_at, exit_code};
use signal_hook::consts::{SIGABRT, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Makes Ctrl-C, and what batch systems and closed terminals send, end long work cleanly; without such
/// work, or the second time, they end the program at once. No file is left half written.
pub(crate) fn catch_signals() {
    // Without a handler signals end the program the ordinary way, which is no worse.
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    let Ok(mut signals) = Signals::new([SIGINT, SIGTERM].into_iter().chain(hang_up)) else {
        return;
    };
    std::thread::spawn(move || {
        for signal in &mut signals {
            if ends_at(signal) {
                tuwtree_io::abandon();
                std::process::exit(exit_code().into());
            }
        }
    });
}

/// Makes a refused allocation end the program with exit code 1: the runtime says how much was refused,
/// and aborts.
pub(crate) fn catch_refused_memory() {
    let always = Arc::new(AtomicBool::new(true));
    // Without this, the exit code is that of an abort.
    let _ = signal_hook::flag::register_conditional_shutdown(SIGABRT, 1, always);
}

/// True if the program was started with this signal ignored, as by `nohup`.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
