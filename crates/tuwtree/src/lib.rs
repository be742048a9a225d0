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
//! Words in `code` are names that the program, documents and functions take.
//!
//! | word | meaning |
//! |---|---|
//! | rank | a process of the communicator, by its number from 0 |
//! | process | what MPI calls so, where it is counted; fields and functions say `processors` |
//! | operation | [`gather`](Operation::Gather), [`scatter`](Operation::Scatter) move blocks; [`broadcast`](Operation::Broadcast), [`reduce`](Operation::Reduce) a vector |
//! | irregular | said of an operation whose blocks may differ in size: gather and scatter |
//! | block | the data of one rank in a gather or scatter; its size may be 0 |
//! | vector | the data of a broadcast or reduction, of one size at all ranks |
//! | segment | the data that a rank holds at some moment, or sends in one message; in a [`Schedule`], the buffer in which it collects that data |
//! | root | the rank that has all data in the end (gather, reduction) or at first; given, or open: `best` |
//! | transmission | one message, from the sender's start to the receiver's end |
//! | port | what a rank needs for a transmission or a copy; with `k` of them it does `k` at once |
//! | link | the way from one rank to another; where it is missing, alpha is infinite |
//! | costs, machine | alpha, beta and gamma, for all pairs of ranks or for each; a machine is costs with a name and their source |
//! | problem | operation, data, costs, root and ports: what a tree is for |
//! | tree | who sends to whom, and in which order each rank receives and copies |
//! | plan | what a construction yields: a tree, or each rank's program |
//! | construction | a way to make a plan, with a name such as `adaptive`: [`Construction`] |
//! | online, offline | a construction that ranks can perform together in each call, or one that needs all sizes beforehand |
//! | completion time | when the root of a gather has everything; by symmetry, when a scatter ends |
//! | order | of a tree: what ranks hold is consecutive in rank order at all ranks (`ordered`), at all but the root (`direct`), or need not be (`any`) |
//! | class | trees of a kind, of which the fastest is compared: [`plan::TreeClass`], `linear`, `adaptive`, and the orders for those planned offline; in `tuwtree-dp`, `copy-first` and `consecutive` trees, whose subtrees span consecutive ranks |
//! | bound | a time that no tree is faster than, of whatever order |
//! | gap | how far a completion time is above the bound, in percent or in alphas; in memory, bytes between blocks |
//! | unpack step | the root's copy that puts blocks into rank order, where a tree does not keep it |
//! | schedule | what each rank does, action by action, whether along a tree or not |
//! | action | a copy, a send, a receive, or both at once (an exchange), on one port |
//! | part | what one rank does of a schedule |
//! | deadlock | ranks that wait for each other and never complete |
//! | distribution | a rule that spreads block sizes over the ranks, with a name such as `spikes`: [`Distribution`] |
//!
//! # Symbols
//! | symbol | meaning |
//! |---|---|
//! | `p` | number of ranks |
//! | `i`, `j`, `r` | ranks; `[i..j]` is all from `i` to `j`; `r` is the root |
//! | `m_i`, `m` | size of rank `i`'s block in bytes; the sum of all |
//! | `alpha` | start-up time of a transmission |
//! | `beta` | time per byte transmitted |
//! | `gamma` | time per byte copied locally |
//! | `comm(s)` | time of a transmission of `s` bytes: `alpha + beta s`, and 0 for `s = 0` |
//! | `k` | ports of each rank |
//! | `b`, `rho` | mean block and skew of a generated problem |
//! | OPT, TUW | the papers that sources name; the README lists them |

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
