//! Performance guidelines: what an irregular collective may cost beside the regular one, and whether
//! measured times refute it.
//!
//! - GL1, `MPI_Gather(m) <= MPI_Gatherv(m)`: where all blocks have the same size, the regular
//!   operation is no slower than the irregular one.
//! - GL2, `MPI_Gatherv(m) <= MPI_Allreduce(1) + MPI_Gather(m')`, `m' = p max m_i`: the irregular
//!   operation is no slower than agreeing on the largest block, and padding.
//!
//! The same with our trees in place of `MPI_Gatherv`, and for scatter. A guideline is *violated* if
//! the rank-sum test says that the left side is slower, *kept* if it says that the left side is
//! faster; else no difference is shown. With many comparisons some p-values are small by chance:
//! the level is divided by their number (Bonferroni), for each guideline by itself.
//!
//! # Source
//! TUW section 4, guidelines GL1 and GL2. Testing guidelines by the rank-sum test: S. Hunold,
//! A. Carpen-Amarie, F. D. Lübke and J. L. Träff, "Automatic verification of self-consistent MPI
//! performance guidelines", Euro-Par 2016. Differs: TUW compares minima by eye.

use crate::blocks::Blocks;
use crate::document::{Algorithm, Measurements, Series};
use crate::statistics::greater_probability;
use tuwtree_model::Operation;

/// A guideline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "UPPERCASE")]
pub enum Guideline {
    /// The regular operation is no slower than the irregular one.
    Gl1,
    /// The irregular operation is no slower than padding.
    Gl2,
}

/// Verdict of times on a guideline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The left side is slower.
    Violated,
    /// The left side is faster.
    Kept,
    /// Neither is shown.
    NoDifference,
}

/// A guideline, tried on one problem with one irregular algorithm.
#[derive(Clone, Debug, PartialEq)]
pub struct TriedGuideline {
    /// The guideline that was checked.
    pub guideline: Guideline,
    /// Source of the timed block sizes.
    pub blocks: Blocks,
    /// The problem's mean block, in elements.
    pub mean_block: u64,
    /// The irregular algorithm: on the right of GL1, on the left of GL2.
    pub algorithm: Algorithm,
    /// The median time of the left side over that of the right side; above 1 speaks against the
    /// guideline.
    pub ratio: f64,
    /// Probability of times that speak so strongly against the guideline if both sides are equal.
    pub probability_against: f64,
    /// Probability of times that speak so strongly for the guideline if both sides are equal.
    pub probability_for: f64,
    /// Verdict at the requested level.
    pub verdict: Verdict,
}

impl Guideline {
    /// The guideline as a formula; `None` of operations that have no regular counterpart.
    pub fn formula(self, operation: Operation) -> Option<String> {
        let (regular, irregular) = (operation.regular_function()?, operation.function());
        Some(match self {
            Guideline::Gl1 => format!("{regular}(m) <= {irregular}(m)"),
            Guideline::Gl2 => {
                format!("{irregular}(m) <= MPI_Allreduce(1) + {regular}(p max m_i)")
            }
        })
    }

    /// The guideline tried on all problems of a document to which it applies, with all irregular
    /// algorithms, at this level of significance (0.05 is usual) for all together.
    ///
    /// # Complexity
    /// O(n log n) for n times, and O(s^2) for s series.
    pub fn tried(self, measurements: &Measurements, level: f64) -> Vec<TriedGuideline> {
        let sides = self.sides(measurements);
        let level = level / sides.len().max(1) as f64;
        sides
            .into_iter()
            .map(|(left, right, irregular)| {
                let (one, other) = (left.times.punctual(), right.times.punctual());
                let against = greater_probability(&one, &other);
                let for_it = greater_probability(&other, &one);
                TriedGuideline {
                    guideline: self,
                    blocks: irregular.blocks.clone(),
                    mean_block: irregular.mean_block,
                    algorithm: irregular.algorithm,
                    ratio: left.times.median() / right.times.median(),
                    probability_against: against,
                    probability_for: for_it,
                    verdict: match () {
                        () if against < level => Verdict::Violated,
                        () if for_it < level => Verdict::Kept,
                        () => Verdict::NoDifference,
                    },
                }
            })
            .collect()
    }

    /// Left side, right side, and which of them is the irregular one.
    fn sides(self, measurements: &Measurements) -> Vec<(&Series, &Series, &Series)> {
        let regular = match self {
            Guideline::Gl1 => Algorithm::Regular,
            Guideline::Gl2 => Algorithm::Padded,
        };
        let ranks = measurements.setting().ranks as u64;
        let applies = |one: &&Series| {
            let is_regular = one.largest_block_bytes.checked_mul(ranks) == Some(one.total_bytes);
            one.algorithm.is_irregular() && (self == Guideline::Gl2 || is_regular)
        };
        let has_punctual = |one: &Series| !one.times.punctual().is_empty();
        measurements
            .series()
            .iter()
            .filter(applies)
            .filter(|one| has_punctual(one))
            .filter_map(|one| {
                let other = measurements.of(one.problem(), regular)?;
                let other = has_punctual(other).then_some(other)?;
                Some(match self {
                    Guideline::Gl1 => (other, one, one),
                    Guideline::Gl2 => (one, other, one),
                })
            })
            .collect()
    }
}

impl Verdict {
    /// The verdict in words.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Violated => "violated",
            Verdict::Kept => "kept",
            Verdict::NoDifference => "no difference",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::Pace;
    use crate::document::tests::{series, setting};
    use tuwtree_model::Construction;

    fn times(from: f64) -> Vec<f64> {
        (0..20).map(|index| from + f64::from(index) / 100.0).collect()
    }

    fn measured(all: &[(Algorithm, f64)]) -> Measurements {
        let series = all.iter().map(|&(algorithm, from)| series(algorithm, &times(from)));
        Measurements::new(setting(), series.collect()).unwrap()
    }

    #[test]
    fn slower_is_violated_faster_is_kept_and_the_same_shows_nothing() {
        let tree = Algorithm::Planned(Construction::Optimal, Pace::Strict);
        let measured = measured(&[
            (Algorithm::Regular, 2.0),
            (Algorithm::Padded, 3.0),
            (Algorithm::Native, 5.0),
            (Algorithm::Distributed, 3.0),
            (tree, 1.0),
        ]);
        let verdicts = |guideline: Guideline| -> Vec<_> {
            let tried = guideline.tried(&measured, 0.05);
            tried.iter().map(|one| (one.algorithm, one.verdict)).collect()
        };
        // Padding takes 3: native is slower, the distributed tree as fast, the planned one faster.
        assert_eq!(
            verdicts(Guideline::Gl2),
            [
                (Algorithm::Native, Verdict::Violated),
                (Algorithm::Distributed, Verdict::NoDifference),
                (tree, Verdict::Kept)
            ]
        );
        // The regular operation takes 2: only the planned tree beats it.
        assert_eq!(
            verdicts(Guideline::Gl1),
            [
                (Algorithm::Native, Verdict::Kept),
                (Algorithm::Distributed, Verdict::Kept),
                (tree, Verdict::Violated)
            ]
        );
        let violated = &Guideline::Gl2.tried(&measured, 0.05)[0];
        assert!((violated.ratio - 5.095 / 3.095).abs() < 1e-12);
        assert!(violated.probability_against < 1e-6 && violated.probability_for > 0.999);
    }

    #[test]
    fn the_first_guideline_is_for_equal_blocks_only() {
        let mut irregular = series(Algorithm::Native, &times(1.0));
        let mut regular = series(Algorithm::Regular, &times(2.0));
        irregular.total_bytes = 159;
        regular.total_bytes = 159;
        let measured = Measurements::new(setting(), vec![irregular, regular]).unwrap();
        assert!(Guideline::Gl1.tried(&measured, 0.05).is_empty());
        assert!(Guideline::Gl2.tried(&measured, 0.05).is_empty(), "nothing was padded");
    }

    #[test]
    fn many_comparisons_need_stronger_evidence() {
        // One-sided p = 0.03 or so: enough for one comparison, not for two.
        let slower: Vec<f64> = times(1.0).iter().map(|time| time + 0.036).collect();
        let padded = series(Algorithm::Padded, &times(1.0));
        let native = series(Algorithm::Native, &slower);
        let one = Measurements::new(setting(), vec![padded.clone(), native.clone()]).unwrap();
        let alone = Guideline::Gl2.tried(&one, 0.05);
        assert!((0.025..0.05).contains(&alone[0].probability_against), "{alone:?}");
        assert_eq!(alone[0].verdict, Verdict::Violated);
        let other = series(Algorithm::Distributed, &times(1.0));
        let two = Measurements::new(setting(), vec![padded, native, other]).unwrap();
        assert_eq!(Guideline::Gl2.tried(&two, 0.05)[0].verdict, Verdict::NoDifference);
    }
}
