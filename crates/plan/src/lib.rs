//! Choice of a tree or schedule: a catalogue of constructions, compared and recommended.
//!
//! The [`catalogue`] has a row for each [`Construction`](tuwtree_model::Construction): its summary, its purpose, its
//! online form, its expense, and its code. It yields a [`Plan`]: a tree, or for a rootless operation each rank's
//! program. All callers ask here, and so agree on the available and affordable constructions:
//!
//! - [`best`]: the fastest plan for a problem that keeps rank order.
//! - [`compare`]: several constructions side by side, with the bound on all trees.
//! - [`Advice`]: the simplest construction that is nearly as fast as the fastest.
//! - [`baselines`]: what MPI libraries take by themselves, by name and version ([`Library`]).
//! - [`Grid`]: the same over a grid of problems, as a map.
//!
//! # Example
//! The best tree for these counts on this machine, and its schedule:
//! ```
//! use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
//! let counts = BlockSizes::new([5, 1, 1, 5000, 1, 1, 1, 5]).unwrap();
//! let costs = Homogeneous::new(100.0, 1.0, 1.0).unwrap();
//! let problem = Problem::gather(&counts, costs)?.with_root(Root::Given(3))?;
//! let best = tuwtree_plan::best(&problem)?;
//! assert_eq!(best.time().units(), 5215.0);
//! let schedule = best.plan().schedule(&problem)?;
//! assert_eq!(schedule.ranks(), 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Plans are compared by the judge's time ([`tuwtree_model::judged_time`]); bounds, gaps and certificates
//! are about the planner's ([`tuwtree_model::completion_time`]). They differ only where latency overlaps.
//!
//! # What this crate does not do
//! It reads no files and prints nothing. It asks the system how much memory there is, and reads the
//! clock where a local search has a limit and for how long building takes.

mod advice;
mod algorithms;
pub mod catalogue;
mod certificate;
mod comparison;
mod error;
mod expense;
mod library;
pub mod local_choice;
mod plan;
mod regions;
mod request;

pub use advice::{Advice, Price, Rival, Trouble, recommended};
pub use algorithms::{AlgorithmCell, AlgorithmGrid};
pub use catalogue::LocalSearch;
pub use certificate::Certificate;
pub use comparison::{Comparison, Optimality, Outcome, Skipped, best, beyond_order, compare};
pub use error::{NoTree, PlanError};
pub use expense::Effort;
pub use library::{Baseline, Knowledge, Library, LibrarySetting, baselines, judged_library};
pub use plan::{Plan, RankPrograms, Treeless};
pub use regions::{Cell, Grid, GridRow, RootPlace, TreeClass, TreeClasses};
pub use request::{Built, Request, Search, Settings, VectorUse, Wanted, Watch, WiderMethod};
