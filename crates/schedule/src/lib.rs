//! Schedules: the actions of each rank in a collective operation, step by step.
//!
//! A tree is a plan; a [`Schedule`] is each rank's list of actions: copy, send, receive, in order,
//! from and to regions of its buffers. Actions are general enough for collectives without a tree: a
//! rank may send and receive many times, in both directions at once, forward parts of its data, and
//! combine received data.
//!
//! - [`Schedule::of_tree`]: gather, scatter, broadcast and reduction along a tree. Those of allgathers are made
//!   in `tuwtree-collective`.
//! - [`document`]: schedules as JSON.
//! - [`export`]: schedules in the formats of other programs.
//! - [`part`]: what one rank does, by itself, as it is sent to it or as it finds out.
//! - [`simulate()`]: start and end of every action by the planner's costs, also where latency overlaps. Messages wait
//!   for ports, and between nodes that share wires for these; they do not share a wire at one time, as the judge's do.
//! - [`verify()`]: whether a schedule, whoever made it, does what it is for.
//!
//! This crate builds no trees and knows no files, options or terminals.

mod action;
pub mod document;
pub mod export;
mod hold;
mod of_tree;
pub mod part;
mod program;
mod reverse;
mod role;
mod schedule;
mod simulate;
pub mod verify;

pub use action::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
pub use hold::Held;
pub use of_tree::{OfTreeError, tree_of};
pub use program::{Programs, TooManyActions};
pub use reverse::ReverseError;
pub use role::Role;
pub use schedule::{ActionFault, BothSides, Schedule, ScheduleError, Task};
pub use simulate::{
    ActionTimes, Critical, Handover, Occupation, Posts, Sends, SimulationError, Timeline,
    Unmatched, perform, simulate, simulate_on,
};
pub use tuwtree_model::{Order, Payload};
pub use verify::{Fault, Verified, verify};

/// The examples of README.md, tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
