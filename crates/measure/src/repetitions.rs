//! Times of an algorithm's repetitions, and late starts among them.

use crate::statistics::{Interval, median, median_interval};
use crate::text::CONFIDENCE;
use std::borrow::Cow;

/// Times of an algorithm's repetitions for one problem.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Repetitions {
    /// For each repetition, in order, the time until the last rank was done, in seconds; above 0, at least one.
    pub seconds: Vec<f64>,
    /// Late starts among the repetitions.
    pub late: LateStarts,
}

/// Repetitions that some rank began late: by more than a twentieth of their time.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum LateStarts {
    /// Starts were not synchronized.
    #[default]
    Unknown,
    /// Their number, in documents that do not tell which ones they are.
    Counted(usize),
    /// Their indices, ascending.
    Listed(Vec<usize>),
}

impl Repetitions {
    /// Number of late starts; `None` if starts were not synchronized.
    pub fn late_starts(&self) -> Option<usize> {
        match &self.late {
            LateStarts::Unknown => None,
            LateStarts::Counted(count) => Some(*count),
            LateStarts::Listed(late) => Some(late.len()),
        }
    }

    /// True if a repetition may enter verdicts. No late one may, and none at all if indices of late starts are unknown, or if
    /// more than half are late, since long calls are the last to count as late.
    pub fn is_punctual(&self, repetition: usize) -> bool {
        match &self.late {
            LateStarts::Unknown => true,
            LateStarts::Counted(count) => *count == 0,
            LateStarts::Listed(late) => {
                2 * late.len() <= self.seconds.len() && late.binary_search(&repetition).is_err()
            }
        }
    }

    /// The times that may enter verdicts, in seconds.
    pub fn punctual(&self) -> Cow<'_, [f64]> {
        if self.late_starts().is_none_or(|late| late == 0) {
            return Cow::Borrowed(&self.seconds);
        }
        let all = self.seconds.iter().enumerate();
        all.filter(|&(at, _)| self.is_punctual(at)).map(|(_, &seconds)| seconds).collect()
    }

    /// Basis of median and interval: the punctual times, or all without any.
    fn typical(&self) -> Cow<'_, [f64]> {
        match self.punctual() {
            none if none.is_empty() => Cow::Borrowed(&self.seconds),
            some => some,
        }
    }

    /// The median of the punctual repetitions, or of all if more than half are late, in seconds.
    pub fn median(&self) -> f64 {
        median(&self.typical()).expect("there are times")
    }

    /// The least time of the same repetitions, in seconds.
    pub fn minimum(&self) -> f64 {
        self.typical().iter().copied().fold(f64::INFINITY, f64::min)
    }

    /// The 95 % confidence interval of the median; `None` with fewer than six such repetitions.
    pub fn interval(&self) -> Option<Interval> {
        median_interval(&self.typical(), CONFIDENCE)
    }

    /// Checks times and late starts.
    ///
    /// # Errors
    /// The fault, in words.
    pub(crate) fn check(&self) -> Result<(), String> {
        let count = self.seconds.len();
        let is_time = |seconds: f64| seconds.is_finite() && seconds > 0.0;
        if let Some(at) = self.seconds.iter().position(|&seconds| !is_time(seconds)) {
            return Err(format!("repetition {at} took {} s; times are above 0", self.seconds[at]));
        }
        let is_listed = match &self.late {
            LateStarts::Listed(late) => {
                late.is_sorted_by(|one, next| one < next) && late.iter().all(|&at| at < count)
            }
            _ => true,
        };
        match (count, is_listed) {
            (0, _) => Err("there are no times".into()),
            (_, false) => Err(format!("late repetitions are not ascending numbers below {count}")),
            _ if self.late_starts() > Some(count) => {
                Err("more late starts than repetitions".into())
            }
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn late_starts_enter_no_median_unless_most_are_late() {
        let of = |late| Repetitions { seconds: vec![1.0, 9.0, 2.0], late };
        assert_eq!(of(LateStarts::Unknown).median(), 2.0);
        let one = of(LateStarts::Listed(vec![1]));
        assert_eq!((one.median(), one.minimum(), one.late_starts()), (1.5, 1.0, Some(1)));
        let all = of(LateStarts::Listed(vec![0, 1, 2]));
        assert_eq!((all.median(), all.punctual().len()), (2.0, 0));
        let most = of(LateStarts::Listed(vec![0, 2]));
        assert_eq!((most.median(), most.punctual().len()), (2.0, 0));
        let counted = of(LateStarts::Counted(1));
        assert_eq!((counted.median(), counted.punctual().len()), (2.0, 0));
        assert_eq!(of(LateStarts::Counted(0)).punctual().len(), 3);
    }

    #[test]
    fn late_starts_that_cannot_be_are_refused() {
        for late in [vec![3], vec![1, 1], vec![2, 0]] {
            let times = Repetitions { seconds: vec![1.0; 3], late: LateStarts::Listed(late) };
            assert!(times.check().unwrap_err().contains("ascending numbers below 3"));
        }
        let late = LateStarts::Counted(2);
        assert!(Repetitions { seconds: vec![1.0], late }.check().is_err());
        assert!(Repetitions::default().check().is_err());
    }
}
