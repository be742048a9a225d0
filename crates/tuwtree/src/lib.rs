//! Plans irregular MPI collectives, gather and scatter first: the best tree for your counts on your
//! machine, and its schedule.
//!
//! ```
//! use tuwtree::{BlockSizes, Homogeneous, Problem, Root, best};
//! let counts = BlockSizes::new([5, 1, 1, 5000, 1, 1, 1, 5])?;
//! let machine = Homogeneous::new(2e-6, 1e-10, 1e-10)?; // 2 us, 10 GB/s, 10 GB/s
//! let problem = Problem::gather(&counts, machine)?.with_root(Root::Given(3))?;
//! let best = best(&problem)?;
//! let schedule = best.plan().schedule(&problem)?;
//! assert_eq!(schedule.processors(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rooms
//! | module | what it holds |
//! |---|---|
//! | [`model`] | problems, costs, trees, completion times, bounds: words and laws |
//! | [`plan`] | the catalogue of constructions; `best`, `compare`, advice, maps |
//! | [`schedule`] | what each rank does; simulation, verification, export |
//!
//! What is used most is at the top. Trees that are built one by one are in `tuwtree-treegen` and
//! `tuwtree-dp`; running schedules on MPI is the business of `tuwtree-executor`.
//!
//! # Words
//! | word | meaning |
//! |---|---|
//! | rank, process | what MPI calls so; documents and formulas say rank |
//! | block | the data of one rank; its size may be 0 |
//! | segment | the data that a rank holds at some moment, or sends in one message |
//! | problem | operation, data, costs, root and ports: what a tree is for |
//! | tree | who sends to whom, and in which order each rank receives and copies |
//! | plan | what a construction yields: a tree, or each rank's program |
//! | construction | a way to make a plan, with a name |
//! | completion time | when the root of a gather has everything; by symmetry, when a scatter ends |
//! | transmission | one message, from the sender's start to the receiver's end |
//! | schedule | what each rank does, action by action, whether along a tree or not |
//! | port | how many transmissions and copies a rank does at once |
//! | order | whether what ranks hold is consecutive in rank order: `ordered`, `direct`, `any` |
//! | unpack step | the root's copy that puts blocks into rank order, where a tree does not keep it |
//!
//! # Symbols
//! | symbol | meaning |
//! |---|---|
//! | `p` | number of ranks |
//! | `m_i`, `m` | size of rank `i`'s block in bytes; the sum of all |
//! | `r` | the root |
//! | `alpha` | start-up time of a transmission |
//! | `beta` | time per byte transmitted |
//! | `gamma` | time per byte copied locally |
//! | `k` | ports of each rank |
//! | `b`, `rho` | mean block and skew of a generated problem |

pub use tuwtree_model as model;
pub use tuwtree_plan as plan;
pub use tuwtree_schedule as schedule;

pub use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, CostMatrix, Costs, Distribution, DistributionParameters,
    Hierarchy, Homogeneous, Operation, Order, Ports, Problem, Randomness, Rank, Root, Time, Tree,
    best_lower_bound, completion, completion_time,
};
pub use tuwtree_plan::{Advice, Comparison, Outcome, Plan, Request, Settings, best, compare};
pub use tuwtree_schedule::{Schedule, simulate, verify};
