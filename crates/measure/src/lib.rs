//! What measured times of gather and scatter say.
//!
//! - [`opponent`], [`meetings`]: who plays ping-pong with whom, in which round.
//! - [`Line`]: start-up latency and time per byte, fitted to times of messages of several sizes.
//! - [`fitted`]: the costs of a machine, from such lines.
//! - [`median`], [`median_interval`], [`greater_probability`]: what is certain of repeated
//!   measurements.
//! - [`Measurements`]: the document that holds the times of collectives.
//! - [`Guideline`]: what is expected of a library, and whether the times refute it.
//! - [`Predictions`]: what planner and judge say, beside the times.
//! - [`break_even`]: after how many repetitions planning pays.
//!
//! Pure functions: nothing here measures, knows MPI, or files.

mod break_even;
mod calibration;
mod document;
mod guideline;
mod line;
mod prediction;
mod statistics;
mod text;
mod tournament;

pub use break_even::{BreakEven, Repeated, break_even};
pub use calibration::{CalibrationError, Fit, Model, Observed, PairTimes, fitted, kinds_of_pairs};
pub use document::{Algorithm, Measurements, MeasurementsError, Pace, Series, Setting};
pub use guideline::{Comparison, Guideline, Verdict};
pub use line::{Line, NoLine, Sample};
pub use prediction::{Prediction, Predictions};
pub use statistics::{Interval, greater_probability, median, median_interval};
pub use text::{CONFIDENCE, LEVEL};
pub use tournament::{Meetings, meetings, opponent, rounds};
