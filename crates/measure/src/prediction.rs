//! Predictions of measured times with overlapping latency: the planner's time and the judge's.

use crate::document::{Measurements, Series};

/// The times that a model has for the algorithm of a series, in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// By the planner: `completion_time`; none for a library's own call.
    pub planned_seconds: Option<f64>,
    /// By the judge: `judged_time`.
    pub judged_seconds: f64,
}

/// Predictions for the series of a document, in their order; nothing is said of some of them, or of all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Predictions(Vec<Option<Prediction>>);

impl Prediction {
    /// The median measured, in judged times; `None` if that is 0.
    pub fn measured_over_judged(&self, series: &Series) -> Option<f64> {
        (self.judged_seconds > 0.0).then(|| series.times.median() / self.judged_seconds)
    }
}

impl Predictions {
    /// These, one for each series.
    pub fn new(of_each: Vec<Option<Prediction>>) -> Predictions {
        Predictions(of_each)
    }

    /// Prediction for the series with this index.
    pub fn of(&self, index: usize) -> Option<Prediction> {
        self.0.get(index).copied().flatten()
    }

    /// True if there are any predictions.
    pub fn are_any(&self) -> bool {
        self.0.iter().any(Option::is_some)
    }
}

impl Measurements {
    /// Predictions made when the times were measured.
    pub fn predictions(&self) -> Predictions {
        Predictions(self.series().iter().map(|one| one.predicted).collect())
    }
}
