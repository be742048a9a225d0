//! Another laboratory: LogGOPSim performs exported GOAL in the planner's time.
//!
//! LogGOPSim (github.com/spcl/LogGOPSim) is in no distribution. It is built from its sources, with
//! re2c, gengetopt and libgraphviz-dev; these tests need `LogGOPSim` and `txt2bin` in the search path.
//! Its ports serve one message after the other, in the order in which they arrive, and a message's bytes
//! occupy the receiver's rank as its overhead does: just as the planner charges them, but for the
//! order. The sender's overhead is part of lambda.

use super::c_files::succeed;
use super::network::problems;
use crate::program::folder;
use std::fs;
use std::path::Path;
use std::process::Command;
use tuwtree_model::{
    ClosedSet, CostModel, Homogeneous, Operation, Order, Problem, StatedCosts, Tree, completion,
};
use tuwtree_plan::{Effort, Request, Settings, compare};
use tuwtree_schedule::Schedule;
use tuwtree_schedule::export::goal;

/// Nanoseconds: L and o of LogGP; its g is o.
const LATENCY: u32 = 2400;
const OVERHEAD: u32 = 400;
/// Nanoseconds per byte: G of LogGP. The first byte is free.
const PER_BYTE: u32 = 2;

/// A message of s bytes occupies a port for o + (s - 1) G, after o + L.
fn costs() -> StatedCosts {
    let overhead = f64::from(OVERHEAD - PER_BYTE);
    let alpha = f64::from(OVERHEAD + LATENCY) + overhead;
    let costs = Homogeneous::new(alpha, f64::from(PER_BYTE), 0.0).unwrap();
    costs.with_overhead(overhead).unwrap().into()
}

/// The nanoseconds that LogGOPSim needs for a tree.
fn nanoseconds(tree: &Tree, problem: &Problem, folder: &Path) -> f64 {
    let schedule = Schedule::without_costs(tree, problem.collective()).unwrap();
    let mut text = Vec::new();
    goal::write(&schedule, problem.costs(), 1.0, &mut text).unwrap();
    fs::write(folder.join("tree.goal"), text).unwrap();
    let command = |name: &str| {
        let mut command = Command::new(name);
        command.current_dir(folder);
        command
    };
    succeed(command("txt2bin").args(["-i", "tree.goal", "-o", "tree.bin"]));
    let [latency, overhead, per_byte] =
        [LATENCY, OVERHEAD, PER_BYTE].map(|number| number.to_string());
    let mut simulator = command("LogGOPSim");
    simulator.args(["-f", "tree.bin", "-b", "-L", &latency, "-o", &overhead, "-g", &overhead]);
    // No message waits for its receiver.
    let said = succeed(simulator.args(["-G", &per_byte, "-S", "2000000000"]));
    let (_, end) = said.split_once("Maximum finishing time at host ").expect("the end");
    end.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The completion time if each rank of a gather serves its children in the order in which they arrive.
fn served_by_arrival(tree: &Tree, problem: &Problem) -> f64 {
    let segment = completion(tree, problem).unwrap().segment;
    let mut ready = vec![0.0; tree.ranks()];
    for rank in tree.top_down().into_iter().rev() {
        let mut messages: Vec<(f64, f64)> = tree
            .children(rank)
            .map(|child| {
                let costs = problem.costs();
                let latency = costs.latency_between(child, rank, segment[child]).unwrap();
                let occupied = costs.transmission_between(child, rank, segment[child]).unwrap();
                (ready[child] + latency.units(), occupied.units())
            })
            .collect();
        messages.sort_by(|one, other| one.0.total_cmp(&other.0));
        ready[rank] = messages.iter().fold(0.0_f64, |end, &(at, occupied)| end.max(at) + occupied);
    }
    ready[tree.root()]
}

#[test]
#[ignore = "needs LogGOPSim; ./test --all runs it where it is installed"]
fn loggopsim_takes_the_time_of_the_planner() {
    let folder = folder("loggopsim");
    for sizes in problems::fifty(64) {
        for operation in [Operation::Gather, Operation::Scatter] {
            let problem = sizes.problem(operation, &costs());
            let request = Request::new(&problem, Settings::default(), &());
            let wanted = request.suitable(Order::Ordered, Effort::Moderate);
            for outcome in compare(&request, &wanted, false).unwrap().outcomes {
                let tree = outcome.tree().unwrap();
                let planned = outcome.time().units();
                let expected = match operation {
                    Operation::Gather => served_by_arrival(tree, &problem),
                    _ => planned,
                };
                let (what, which) = (operation.name(), outcome.construction.name());
                assert!(expected <= planned, "{what} of {}, {which}", sizes.name());
                let time = nanoseconds(tree, &problem, &folder);
                assert_eq!(time, expected, "{what} of {}, {which}", sizes.name());
            }
        }
    }
}
