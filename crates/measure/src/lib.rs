//! Statistics of measured times of collectives.
//!
//! - [`opponent`], [`meetings`]: who plays ping-pong with whom, in which round.
//! - [`Line`]: start-up latency and time per byte, fitted to times of messages of several sizes.
//! - [`fitted`]: the costs of a machine, from such lines.
//! - [`floods()`]: latency and occupancy of messages by their size.
//! - [`Found`]: the machine that these make.
//! - [`median`], [`median_interval`], [`greater_probability`]: what is certain of repeated
//!   measurements.
//! - [`Measurements`]: the document that holds the times of collectives.
//! - [`Recording`]: the document that holds what a program has called.
//! - [`Blocks`]: where the block sizes of a problem come from.
//! - [`Guideline`]: what is expected of a library, and whether the times refute it.
//! - [`Contest`]: the algorithms measured for a problem, and their times relative to the library's own call.
//! - [`MeasuredCalls`]: the document that holds the times of a program's recorded calls.
//! - [`Predictions`]: what planner and judge say, beside the times.
//! - [`break_even`]: after how many repetitions planning pays.
//!
//! Pure functions: nothing here measures, knows MPI, or files.

mod blocks;
mod break_even;
mod calibration;
mod calls;
mod contest;
mod document;
mod floods;
mod guideline;
mod line;
mod prediction;
mod recording;
mod repetitions;
mod statistics;
mod text;
mod tournament;
mod windows;
mod wires;

pub use blocks::{Blocks, ListedBlocks, mean_in_elements};
pub use break_even::{BreakEven, Repeated, break_even};
pub use calibration::{
    CalibrationError, Fit, Fitted, LocalTimes, Model, Observed, PairTimes, fitted, kinds_of_pairs,
};
pub use calls::{CallTimes, MeasuredCall, MeasuredCalls};
pub use contest::{Certainty, Contest, Relative, Summary, verdict};
pub use document::{Algorithm, Delayed, Measurements, MeasurementsError, Pace, Series, Setting};
pub use floods::{FloodRequest, Laboratory, LevelCosts, SizeCosts, floods, largest_size};
pub use guideline::{Guideline, TriedGuideline, Verdict};
pub use line::{Line, NoLine, Sample};
pub use prediction::{Prediction, Predictions};
pub use recording::{RecordedCall, Recording, RecordingError};
pub use repetitions::{LateStarts, Repetitions};
pub use statistics::{Interval, greater_probability, median, median_interval};
pub use text::{CONFIDENCE, LEVEL};
pub use tournament::{Meetings, meetings, opponent, rounds};
pub use windows::{FoundWindow, find_window};
pub use wires::{Doubt, Found, levels_of_members, levels_of_nodes, levels_that_meet};
