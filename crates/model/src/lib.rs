//! The words and the laws of irregular gather and scatter.
//!
//! In a **gather**, every rank has a block of data, and the root collects all blocks in rank order; a
//! **scatter** is its dual. In an **allgather** every rank collects all blocks: it has no root
//! ([`Root::None`]) and goes along no tree. This crate says what a problem is ([`Problem`]: a
//! [`Collective`] with its [`BlockSizes`], [`Costs`], [`Root`], [`Ports`]), what sending and copying cost
//! ([`CostModel`]), what a tree is ([`Tree`]), and when it completes: by the planner
//! ([`completion_time`]) and, where part of the latency overlaps with other work, by the judge
//! ([`judged_time`]), who knows how a [`Network`] serves several messages at once. It builds no trees and
//! knows neither files nor options.
//!
//! # Symbols
//! | symbol | here | meaning |
//! |---|---|---|
//! | `p` | `ranks` | number of processes, ranks `0..p` |
//! | `m_i` | `block(i)` | size of rank `i`'s block, in bytes; may be 0 |
//! | `m` | `total()` | the problem's size, the sum of all blocks |
//! | `S(i,j)` | `range(i, j)` | `m_i + … + m_j` |
//! | `r` | `root` | the root |
//! | `alpha` | `alpha()`, `latency()` | start-up latency of a transmission, in time units |
//! | `beta` | `beta()` | time per byte transmitted |
//! | `gamma` | `gamma()` | time per byte copied locally |
//! | `alpha_ij`, `beta_ij`, `gamma_i` | `alpha(i, j)`, … | the same for a pair, sender `i`, or a rank |
//! | `o`, `lambda` | `overhead`, `latency` | the parts of `alpha` that do and do not occupy ports; `o = alpha` in the papers |
//! | `comm(s)`, `f(s)` | `transmission(s)` | `o + beta s`, and 0 for `s = 0`: how long a port is occupied |
//! | `b`, `rho` | `mean_block`, `rho` | parameters of the [`Distribution`]s |
//!
//! # Sources
//! - OPT: J. L. Träff, "On Optimal Trees for Irregular Gather and Scatter Collectives", 2018
//!   (arXiv 1711.08731).
//! - TUW: J. L. Träff, "Practical, distributed, low overhead algorithms for irregular gather and
//!   scatter collectives", Parallel Computing 75, 2018.
//!
//! # Example
//! ```
//! use tuwtree_model::{BlockSizes, Homogeneous, Problem, Step, Tree, completion_time};
//! let sizes = BlockSizes::new([2, 1, 4]).unwrap();
//! let problem = Problem::gather(&sizes, Homogeneous::new(100.0, 1.0, 1.0).unwrap()).unwrap();
//! let star = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
//! let tree = Tree::new(3, 1, &star).unwrap();
//! // (100 + 2) + 1 + (100 + 4)
//! assert_eq!(completion_time(&tree, &problem).unwrap().units(), 207.0);
//! ```

mod block_sizes;
mod closed_set;
mod completion;
mod construction;
mod cost;
mod distribution;
pub mod document;
mod group_sizes;
mod judge;
mod message_sizes;
mod network;
mod ordered;
mod ports;
mod problem;
pub mod quantity;
mod random;
mod time;
mod tree;
mod unpacking;

pub use block_sizes::{BlockSizes, BlockSizesError, MOST_RANKS, Rank, largest_block};
pub use closed_set::ClosedSet;
pub use completion::{Completion, completion, completion_time};
pub use construction::Construction;
pub use cost::{
    CostError, CostKind, CostMatrix, CostMatrixError, CostModel, CostTable, Costs, CostsError, Cut,
    Description, Direction, ExchangeError, Hierarchy, HierarchyError, Homogeneous, LeastCosts,
    Level, LineBelow, Link, LinkLaw, MeasuredSize, MeasuredSizes, MeasuredSizesError,
    OverheadError, Piece, PieceError, PiecewiseLinear, Placement, Scalar, ScaledSizes, SharedWires,
    StatedCosts,
};
pub use distribution::{Distribution, DistributionError, DistributionParameters};
pub use group_sizes::{Group, GroupSizes, GroupSizesError};
pub use judge::{
    ChildMessage, Handling, JudgedMessage, JudgedTimes, LeastJudged, MessageTimes, NodeWires,
    Service, judged_completion, judged_time, judged_time_as, judged_times, online_problem,
    planned_problems, rank_time,
};
pub use message_sizes::{MessageSizes, MessageSizesError};
pub use network::{Network, PortKind, WireOwner, window_waits};
pub use ordered::{
    NotOrdered, Order, check_combines_neighbours, check_ordered, joins_adjacent_ranges, most_ranges,
};
pub use ports::Ports;
pub use problem::{
    Collective, Extent, Operation, Operator, OperatorError, Payload, PayloadKind, Problem,
    ProblemError, Root, Vector, WrongPayload,
};
pub use random::Randomness;
pub use time::{LARGEST_EXACT, Time, TimeError};
pub use tree::{Step, Tree, TreeError};
pub use unpacking::{unpack_time, unpacked_bytes};

/// The example of docs/overlapping-latency.md, tested.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/overlapping-latency.md")]
struct OverlappingLatency;
