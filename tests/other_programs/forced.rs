//! SimGrid's SMPI with each of its algorithms forced: our schedules take the same times.
//!
//! Each message there is 16 bytes longer, and combining takes no time.

use super::c_files::succeed;
use crate::program::{folder, workspace_file};
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;
use tuwtree_collective::broadcast::{self, Gathering};
use tuwtree_collective::{
    CollectiveError, allreduce, alltoall, bruck, recursive_doubling, reduce_scatter, ring,
};
use tuwtree_model::{BlockSizes, Homogeneous, MessageSizes, Operation, Payload, Problem, Vector};
use tuwtree_schedule::{Schedule, Sends, simulate};

type ForcedBuild = fn(&Problem) -> Result<Schedule, CollectiveError>;

/// Operation and algorithm as SMPI names them, and ours.
const ALGORITHMS: [(&str, &str, Operation, ForcedBuild); 15] = [
    ("bcast", "binomial_tree", Operation::Broadcast, broadcast::binomial),
    ("bcast", "scatter_LR_allgather", Operation::Broadcast, |problem| {
        broadcast::scatter_allgather(problem, Gathering::Ring)
    }),
    ("bcast", "scatter_rdb_allgather", Operation::Broadcast, |problem| {
        broadcast::scatter_allgather(problem, Gathering::Doubling)
    }),
    ("allgather", "ring", Operation::Allgather, ring),
    ("allgather", "bruck", Operation::Allgather, bruck),
    ("allgather", "rdb", Operation::Allgather, recursive_doubling),
    ("alltoall", "ring", Operation::Alltoall, alltoall::linear),
    ("alltoall", "pair", Operation::Alltoall, alltoall::pairwise),
    ("alltoall", "bruck", Operation::Alltoall, |problem| alltoall::bruck(problem, 2)),
    ("reduce_scatter", "mpich_pair", Operation::ReduceScatter, reduce_scatter::pairwise),
    (
        "reduce_scatter",
        "ompi_basic_recursivehalving",
        Operation::ReduceScatter,
        reduce_scatter::halving,
    ),
    ("reduce_scatter", "mpich_rdb", Operation::ReduceScatter, reduce_scatter::recursive_doubling),
    ("reduce_scatter", "mpich_noncomm", Operation::ReduceScatter, reduce_scatter::butterfly),
    ("allreduce", "rdb", Operation::Allreduce, allreduce::recursive_doubling),
    ("allreduce", "lr", Operation::Allreduce, allreduce::ring),
];

const BLOCK: u64 = 1000;

/// Hosts with a link up and one down each, at a byte a microsecond, and a latency of a millisecond between them.
fn write_platform(folder: &Path, processes: usize) {
    let mut platform = String::from(
        "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
         <platform version=\"4.1\"><zone id=\"all\" routing=\"Full\">\n",
    );
    let mut hosts = String::new();
    for host in 0..processes {
        let _ = writeln!(hosts, "h{host}");
        let _ = writeln!(platform, "<host id=\"h{host}\" speed=\"1Gf\"/>");
        for link in ["up", "down"] {
            let _ = writeln!(
                platform,
                "<link id=\"{link}{host}\" bandwidth=\"1MBps\" latency=\"0us\"/>"
            );
        }
    }
    platform.push_str(
        "<link id=\"wire\" bandwidth=\"1000GBps\" latency=\"1000us\" sharing_policy=\"FATPIPE\"/>\n",
    );
    for from in 0..processes {
        for to in (0..processes).filter(|&to| to != from) {
            let _ = writeln!(
                platform,
                "<route src=\"h{from}\" dst=\"h{to}\" symmetrical=\"NO\"><link_ctn id=\"up{from}\"/>\
                 <link_ctn id=\"wire\"/><link_ctn id=\"down{to}\"/></route>"
            );
        }
    }
    platform.push_str("</zone></platform>\n");
    std::fs::write(folder.join(format!("platform{processes}.xml")), platform).unwrap();
    std::fs::write(folder.join(format!("hosts{processes}.txt")), hosts).unwrap();
}

const SETTINGS: [&str; 15] = [
    "network/model:CM02",
    "network/TCP-gamma:0",
    "network/crosstraffic:0",
    "network/latency-factor:1",
    "network/bandwidth-factor:1",
    "smpi/simulate-computation:no",
    "smpi/async-small-thresh:0",
    "smpi/send-is-detached-thresh:0",
    "smpi/os:0:0:0",
    "smpi/or:0:0:0",
    "smpi/ois:0:0:0",
    "smpi/wtime:0",
    "smpi/iprobe:0",
    "smpi/lat-factor:0:1",
    "smpi/bw-factor:0:1",
];

/// The microseconds that an algorithm takes.
fn forced(folder: &Path, processes: usize, operation: &str, algorithm: &str) -> f64 {
    let mut command = Command::new("timeout");
    command.args(["600", "smpirun", "-np", &processes.to_string()]);
    command.args(["-hostfile", &format!("hosts{processes}.txt")]);
    command.args(["-platform", &format!("platform{processes}.xml")]);
    command.arg(format!("--cfg=smpi/{operation}:{algorithm}"));
    command.args(SETTINGS.iter().map(|setting| format!("--cfg={setting}")));
    let said =
        succeed(command.args(["./program", operation, &BLOCK.to_string()]).current_dir(folder));
    said.lines().last().unwrap().parse().unwrap()
}

fn problem(operation: Operation, ranks: usize) -> Problem {
    let payload: Payload = match operation {
        Operation::Alltoall => MessageSizes::new(vec![BLOCK; ranks * ranks]).unwrap().into(),
        Operation::Broadcast | Operation::Allreduce => {
            Vector { ranks, bytes: BLOCK * ranks as u64 }.into()
        }
        _ => BlockSizes::new(vec![BLOCK; ranks]).unwrap().into(),
    };
    let costs = Homogeneous::new(1016.0, 1.0, 0.0).unwrap();
    Problem::new(operation, payload, costs).unwrap()
}

#[test]
#[ignore = "needs SimGrid; ./test --all runs it"]
fn smpi_s_algorithms_take_the_times_of_our_schedules() {
    let folder = folder("smpi-forced");
    let source = workspace_file("tests/other_programs/forced.c");
    succeed(Command::new("smpicc").args(["-O1", "-o"]).arg(folder.join("program")).arg(source));
    for processes in [3, 5, 6, 8, 13] {
        write_platform(&folder, processes);
        for (name, algorithm, operation, build) in ALGORITHMS {
            let problem = problem(operation, processes);
            // SMPI has these for powers of two only.
            let needs_power = ["pair", "mpich_noncomm"].contains(&algorithm);
            if needs_power && !processes.is_power_of_two() {
                continue;
            }
            let schedule = build(&problem).unwrap();
            let timeline = simulate(&schedule, problem.costs(), Sends::Synchronous).unwrap();
            let expected = timeline.completion_time().units();
            let found = forced(&folder, processes, name, algorithm);
            assert_eq!(found, expected, "{algorithm}, {processes} processes");
        }
    }
}
