//! What a model says of measured times, where latency overlaps: the planner's time and the judge's.

use crate::document::Series;

/// The times that a model has for the algorithm of a series, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// By the planner: `completion_time`.
    pub planned_seconds: f64,
    /// By the judge: `judged_time`.
    pub judged_seconds: f64,
}

/// Predictions for the series of a document, in their order; nothing is said of some of them, or of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions(Vec<Option<Prediction>>);

impl Prediction {
    /// The median measured, in judged times; `None` if that is 0.
    pub fn measured_over_judged(&self, series: &Series) -> Option<f64> {
        (self.judged_seconds > 0.0).then(|| series.median() / self.judged_seconds)
    }
}

impl Predictions {
    /// These, one for each series.
    pub fn new(of_each: Vec<Option<Prediction>>) -> Predictions {
        Predictions(of_each)
    }

    /// What is said of the series with this index.
    pub fn of(&self, index: usize) -> Option<Prediction> {
        self.0.get(index).copied().flatten()
    }

    /// Whether anything is said.
    pub fn are_any(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }
}
