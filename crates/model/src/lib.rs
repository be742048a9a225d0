//! The words and the laws of irregular gather and scatter.
mod block_sizes;
mod completion;
mod cost;
mod problem;
mod time;
mod tree;

pub use block_sizes::{BlockSizes, BlockSizesError, MOST_PROCESSORS, Rank};
pub use completion::{Completion, completion, completion_time, lower_bound, lower_bound_any_root};
pub use cost::{CostError, Homogeneous, Scalar, ScaledSizes};
pub use problem::{Operation, Root};
pub use time::{LARGEST_EXACT, Time, TimeError};
pub use tree::{Step, Tree, TreeError};
