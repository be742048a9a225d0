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
//! assert_eq!(schedule.ranks(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Rooms
//! | module | what it holds |
//! |---|---|
//! | [`model`] | problems, costs, networks, trees, completion times, the judge, bounds: words and laws |
//! | [`plan`] | the catalogue of constructions; `best`, `compare`, advice, what MPI libraries take, maps |
//! | [`schedule`] | what each rank does; simulation, verification, export |
//!
//! Names of frequent use are at the top. `tuwtree-treegen` and `tuwtree-dp` build single trees, `tuwtree-collective`
//! builds schedules of allgathers; `tuwtree-executor` performs schedules on MPI.
//!
//! # Words
//! Words in `code` are names that the program, documents and functions take.
//!
//! | word | meaning |
//! |---|---|
//! | rank | a process of the communicator, by its number from 0 |
//! | process | what MPI calls so, where it is counted; fields and functions say `ranks` |
//! | operation | [`gather`](Operation::Gather), [`scatter`](Operation::Scatter) move blocks; [`broadcast`](Operation::Broadcast), [`reduce`](Operation::Reduce) a vector; [`allgather`](Operation::Allgather) brings all blocks to all ranks, without a root |
//! | irregular | said of an operation whose blocks may differ in size: gather, scatter and allgather |
//! | block | the data of one rank in a gather, scatter or allgather; its size may be 0 |
//! | vector | the data of a broadcast or reduction, of one size at all ranks |
//! | segment | the data that a rank holds at some moment, or sends in one message; in a [`Schedule`], the buffer in which it collects that data |
//! | root | the rank that has all data in the end (gather, reduction) or at first; given, or open: `best`; an allgather has none |
//! | transmission | one message, from the sender's start to the receiver's end |
//! | overhead | the part of alpha that keeps a port busy; all of it unless stated |
//! | latency | the rest of alpha, which overlaps with other work |
//! | occupancy | how long a message keeps a port busy: overhead and data |
//! | port | what a rank needs for a transmission or a copy; with `k` of them it does `k` at once |
//! | wire | what messages to one rank (of a scatter: from one), or to one node, share by the judge |
//! | network | what a machine document says of wires, eager messages and sends, for the judge: [`model::Network`] |
//! | link | the way from one rank to another; where it is missing, alpha is infinite |
//! | costs, machine | alpha, beta and gamma, for all pairs of ranks or for each; a machine is costs with a name and their source |
//! | problem | operation, data, costs, root and ports: what a tree is for |
//! | tree | who sends to whom, and in which order each rank receives and copies |
//! | plan | what a construction yields: a tree, or each rank's program: [`Plan`] |
//! | construction | a way to make a plan, with a name such as `adaptive`: [`Construction`] |
//! | online, offline | a construction that ranks can perform together in each call, or one that needs all sizes beforehand |
//! | completion time | when the root of a gather has everything; by symmetry, when a scatter ends; of an allgather, when the last rank has everything |
//! | planner | adds up occupancies, one message after the other, to completion times, by which trees are searched for and bounded: [`completion_time`] |
//! | judge | times trees on shared wires where latency overlaps, to compare and recommend them; else it agrees with the planner: [`judged_time`](model::judged_time) |
//! | library, baseline | an MPI library as of a version, and what its own gather or scatter takes by the judge: [`plan::Library`], [`plan::Baseline`] |
//! | order | of a tree: what ranks hold is consecutive in rank order at all ranks (`ordered`), at all but the root (`direct`), or need not be (`any`) |
//! | class | trees of a kind, of which the fastest is compared: [`plan::TreeClass`], `linear`, `adaptive`, and the orders for those planned offline; of ordered trees `adjacent`, `copy-first` and *consecutive* ones, each part of the next: the best of the last is called `optimal` |
//! | bound | a completion time that no tree, of whatever order, is faster than; for an allgather, no schedule |
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
//! | `alpha` | start-up time of a transmission: `lambda + o` |
//! | `o`, `lambda` | overhead and latency: the parts of alpha that do and do not occupy ports; `o = alpha` in the papers |
//! | `beta` | time per byte transmitted |
//! | `gamma` | time per byte copied locally |
//! | `comm(s)`, `f(s)` | how long a transmission of `s` bytes occupies ports: `o + beta s`, and 0 for `s = 0` |
//! | `k` | ports of each rank |
//! | `b`, `rho` | mean block and skew of a generated problem |
//! | OPT, TUW | the papers that sources name; docs/papers.md lists them |

pub use tuwtree_model as model;
pub use tuwtree_plan as plan;
pub use tuwtree_schedule as schedule;

pub use tuwtree_bounds::best_lower_bound;
pub use tuwtree_model::{
    BlockSizes, ClosedSet, Construction, CostMatrix, Costs, Distribution, DistributionParameters,
    Hierarchy, Homogeneous, Operation, Order, Ports, Problem, Randomness, Rank, Root, Time, Tree,
    completion, completion_time,
};
pub use tuwtree_plan::{Advice, Comparison, Outcome, Plan, Request, Settings, best, compare};
pub use tuwtree_schedule::{Schedule, simulate, verify};
