//! From ping-pong times to the costs of a machine.
//!
//! Half a round trip is one message's time: what the model calls `comm(s)`, with `alpha` and `beta`
//! fitted to it ([`Line`]). Which pairs share a line is the [`Model`]: all of them, those within a
//! node and those between nodes, or none. `gamma` is the slope of the times of local copies, the time per
//! byte of combining that of sums of doubles; the model has no start-up of either.

use crate::line::{Line, NoLine, Sample};
use crate::statistics::median;
use tuwtree_model::{
    CostMatrix, Costs, Hierarchy, Homogeneous, Level, Piece, PiecewiseLinear, Placement, Rank,
};

/// Measured times of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The sizes of messages, ascending, at least two.
    pub sizes: Vec<u64>,
    /// `p` entries: the node of each rank, counted from 0 in the order of their first ranks.
    pub nodes: Vec<usize>,
    /// Pairs that were measured.
    pub pairs: Vec<PairTimes>,
    /// Local times of each rank.
    pub local: LocalTimes,
}

/// The times of what ranks do by themselves, without messages.
#[derive(Clone, Debug, PartialEq)]
pub struct LocalTimes {
    /// `p` entries: the times of local copies of each rank.
    pub copies: Vec<Line>,
    /// `p` entries: the times in which each rank combines vectors by the usual operator, a sum of doubles.
    pub sums: Vec<Line>,
}

/// The one-way times between two processes.
#[derive(Clone, Debug, PartialEq)]
pub struct PairTimes {
    /// The pair, the lower rank first.
    pub pair: (Rank, Rank),
    /// For each size the median time of a message.
    pub seconds: Vec<f64>,
}

/// Kinds of pairs with common costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Model {
    /// All pairs.
    Homogeneous,
    /// All pairs within nodes; all pairs between nodes.
    Hierarchical,
    /// None.
    PerPair,
}

/// A line that was fitted.
#[derive(Clone, Debug, PartialEq)]
pub struct Fit {
    /// Its scope, in words.
    pub of: &'static str,
    /// Number of pairs, or of processes that copy, in the fit.
    pub count: usize,
    /// The line. Of several lines (per pair, or copies of several processes), the median of each
    /// parameter.
    pub line: Line,
}

/// Costs of a machine fitted to times.
#[derive(Clone, Debug, PartialEq)]
pub struct Fitted {
    /// Costs of messages and copies.
    pub costs: Costs,
    /// The time per byte of combining, by a sum of doubles.
    pub combine_per_byte: f64,
    /// The lines that both are made of, with their errors.
    pub fits: Vec<Fit>,
}

/// Times that are no costs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CalibrationError {
    /// Times without a line.
    #[error("{of}: {error}")]
    NoLine {
        /// Scope of the times: a pair, a kind of pairs, or copies.
        of: String,
        /// Reason for having no line.
        error: NoLine,
    },
    /// A pair, or a kind of pairs, that was not measured.
    #[error("there are no times {of}")]
    NoPairs {
        /// The pair, or the kind of pairs, as a phrase that follows "no times".
        of: String,
    },
}

const WITHIN: &str = "within a node";
const BETWEEN: &str = "between nodes";

impl Model {
    /// Its summary, in a line.
    pub fn summary(self) -> &'static str {
        match self {
            Model::Homogeneous => "the same costs for all pairs",
            Model::Hierarchical => "costs within a node, and others between nodes",
            Model::PerPair => "costs for each pair of processes",
        }
    }

    /// The model that suits ranks on these nodes: hierarchical if there are pairs of both kinds, else
    /// homogeneous.
    pub fn of_nodes(nodes: &[usize]) -> Model {
        let kinds = kinds_of_pairs(nodes);
        if kinds.len() == 2 { Model::Hierarchical } else { Model::Homogeneous }
    }
}

/// Kinds of pairs among ranks on these nodes: `true` within a node, `false` between nodes.
pub fn kinds_of_pairs(nodes: &[usize]) -> Vec<bool> {
    let mut sorted = nodes.to_vec();
    sorted.sort_unstable();
    let within = sorted.windows(2).any(|pair| pair[0] == pair[1]);
    let between = sorted.first() != sorted.last();
    [(true, within), (false, between)]
        .into_iter()
        .filter(|(_, is_there)| *is_there)
        .map(|(kind, _)| kind)
        .collect()
}

impl LocalTimes {
    /// The medians of the lines of copies, and of sums.
    ///
    /// # Errors
    /// [`CalibrationError::NoPairs`], where no rank was measured.
    pub fn fits(&self) -> Result<[Fit; 2], CalibrationError> {
        let fit = |of: &'static str, lines: &[Line]| {
            let line = middle(lines).ok_or_else(|| no_pairs(&format!("of {of}")))?;
            Ok(Fit { of, count: lines.len(), line })
        };
        Ok([fit("local copies", &self.copies)?, fit("sums of doubles", &self.sums)?])
    }
}

/// The costs that describe the observations, and their lines with errors.
///
/// # Units
/// Seconds and bytes.
///
/// # Errors
/// [`CalibrationError`]: no line, or pairs missing; hierarchical costs need pairs of both kinds.
///
/// # Complexity
/// O(p^2) for each pair its own costs, times the cube of the number of sizes.
pub fn fitted(observed: &Observed, model: Model) -> Result<Fitted, CalibrationError> {
    let [copies, sums] = observed.local.fits()?;
    let gamma = copies.line.beta_seconds_per_byte;
    let (costs, mut fits) = match model {
        Model::Homogeneous => {
            let fit = observed.fit("all pairs", |_, _| true)?;
            let Line { alpha_seconds, beta_seconds_per_byte, .. } = fit.line;
            let costs = Homogeneous::new(alpha_seconds, beta_seconds_per_byte, gamma);
            (Costs::Homogeneous(costs.expect("fits are costs")), vec![fit])
        }
        Model::Hierarchical => {
            let nodes = &observed.nodes;
            let within = observed.fit(WITHIN, |i, j| nodes[i] == nodes[j])?;
            let between = observed.fit(BETWEEN, |i, j| nodes[i] != nodes[j])?;
            let costs = hierarchy(nodes, within.line, between.line, gamma);
            (Costs::Hierarchical(costs), vec![within, between])
        }
        Model::PerPair => {
            let (costs, fit) = observed.matrix()?;
            (Costs::Matrix(costs), vec![fit])
        }
    };
    let combine_per_byte = sums.line.beta_seconds_per_byte;
    fits.extend([copies, sums]);
    Ok(Fitted { costs, combine_per_byte, fits })
}

impl Observed {
    /// One line for all pairs of a kind: fitted to the median of each size over all pairs, its error
    /// taken over the times of all pairs.
    fn fit(
        &self,
        of: &'static str,
        kind: impl Fn(Rank, Rank) -> bool,
    ) -> Result<Fit, CalibrationError> {
        let of_kind: Vec<&PairTimes> =
            self.pairs.iter().filter(|one| kind(one.pair.0, one.pair.1)).collect();
        if of_kind.is_empty() {
            return Err(no_pairs(of));
        }
        let typical: Vec<f64> = (0..self.sizes.len())
            .filter_map(|size| {
                median(&of_kind.iter().map(|one| one.seconds[size]).collect::<Vec<_>>())
            })
            .collect();
        let mut line = self.line(of, &typical)?;
        let deviations: Vec<f64> = of_kind
            .iter()
            .flat_map(|one| self.sizes.iter().zip(&one.seconds))
            .map(|(&bytes, seconds)| (line.seconds(bytes) - seconds).abs() / seconds)
            .collect();
        line.median_relative_deviation = median(&deviations).expect("there are pairs");
        Ok(Fit { of, count: of_kind.len(), line })
    }

    fn line(&self, of: &str, seconds: &[f64]) -> Result<Line, CalibrationError> {
        let samples: Vec<Sample> = self
            .sizes
            .iter()
            .zip(seconds)
            .map(|(&bytes, &seconds)| Sample { bytes, seconds })
            .collect();
        Line::fit(&samples).map_err(|error| CalibrationError::NoLine { of: of.to_owned(), error })
    }

    /// A line for each pair, in both directions the same.
    fn matrix(&self) -> Result<(CostMatrix, Fit), CalibrationError> {
        let ranks = self.nodes.len();
        let mut lines = vec![None; ranks * ranks];
        for PairTimes { pair: (i, j), seconds } in &self.pairs {
            let line = self.line(&format!("ranks {i} and {j}"), seconds)?;
            lines[i * ranks + j] = Some(line);
            lines[j * ranks + i] = Some(line);
        }
        let missing = |&(i, j): &(Rank, Rank)| i != j && lines[i * ranks + j].is_none();
        let all = || (0..ranks).flat_map(|i| (0..ranks).map(move |j| (i, j)));
        if let Some((i, j)) = all().find(missing) {
            return Err(no_pairs(&format!("between ranks {i} and {j}")));
        }
        let parameter =
            |i: Rank, j: Rank, of: fn(&Line) -> f64| lines[i * ranks + j].as_ref().map_or(0.0, of);
        let costs = CostMatrix::from_fn(
            ranks,
            |i, j| parameter(i, j, |line| line.alpha_seconds),
            |i, j| parameter(i, j, |line| line.beta_seconds_per_byte),
            |rank| self.local.copies[rank].beta_seconds_per_byte,
        );
        let fitted: Vec<Line> = lines.iter().flatten().copied().collect();
        let line = middle(&fitted).ok_or_else(|| no_pairs("of pairs"))?;
        let fit = Fit { of: "each pair (medians)", count: self.pairs.len(), line };
        Ok((costs.expect("fits are costs"), fit))
    }
}

fn no_pairs(of: &str) -> CalibrationError {
    CalibrationError::NoPairs { of: of.to_owned() }
}

/// The median of each parameter.
fn middle(lines: &[Line]) -> Option<Line> {
    let middle = |of: fn(&Line) -> f64| median(&lines.iter().map(of).collect::<Vec<_>>());
    Some(Line {
        alpha_seconds: middle(|line| line.alpha_seconds)?,
        beta_seconds_per_byte: middle(|line| line.beta_seconds_per_byte)?,
        median_relative_deviation: middle(|line| line.median_relative_deviation)?,
    })
}

/// Two levels: nodes, and the network between them.
fn hierarchy(nodes: &[usize], within: Line, between: Line, gamma: f64) -> Hierarchy {
    let count = nodes.iter().max().map_or(1, |last| last + 1);
    let on = |node| nodes.iter().filter(|&&other| other == node).count();
    let members = (0..count).map(on).max().unwrap_or(1);
    let level = |name: &str, members, line: Line| {
        let piece = Piece::one_port(0, line.alpha_seconds, line.beta_seconds_per_byte);
        let links = PiecewiseLinear::new(vec![piece]).expect("fits are costs");
        Level { name: name.to_owned(), members, links: links.into() }
    };
    let is = |place: &dyn Fn(Rank) -> usize| nodes.iter().enumerate().all(|(i, &n)| n == place(i));
    let placement = match () {
        () if is(&|rank| rank / members) => Placement::Block,
        () if is(&|rank| rank % count) => Placement::RoundRobin,
        () => Placement::Listed(nodes.to_vec()),
    };
    let levels = vec![level("node", members, within), level("network", count, between)];
    Hierarchy::new(levels, placement, gamma).expect("each rank has room on its node")
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::CostModel;

    const SIZES: [u64; 6] = [1, 16, 256, 4096, 65536, 1_048_576];

    /// All pairs of ranks on these nodes, with these costs exactly, in binary fractions.
    fn observed(nodes: &[usize], costs: impl Fn(Rank, Rank) -> (f64, f64)) -> Observed {
        let p = nodes.len();
        let pairs = (0..p).flat_map(|i| (i + 1..p).map(move |j| (i, j)));
        let times = |(i, j)| {
            let (alpha, beta) = costs(i, j);
            SIZES.map(|bytes| alpha + beta * bytes as f64).to_vec()
        };
        let copy = Line {
            alpha_seconds: 0.5,
            beta_seconds_per_byte: 0.25,
            median_relative_deviation: 0.0,
        };
        Observed {
            sizes: SIZES.into(),
            nodes: nodes.into(),
            pairs: pairs.map(|pair| PairTimes { pair, seconds: times(pair) }).collect(),
            local: LocalTimes {
                copies: vec![copy; p],
                sums: vec![Line { beta_seconds_per_byte: 0.125, ..copy }; p],
            },
        }
    }

    #[test]
    fn equal_pairs_are_a_homogeneous_machine() {
        let mut observed = observed(&[0; 4], |_, _| (8.0, 0.5));
        // One pair in six, ten times as slow, changes nothing but its own deviations.
        observed.pairs[3].seconds.iter_mut().for_each(|seconds| *seconds *= 10.0);
        let Fitted { costs, combine_per_byte, fits } =
            fitted(&observed, Model::of_nodes(&observed.nodes)).unwrap();
        assert_eq!(costs, Costs::Homogeneous(Homogeneous::new(8.0, 0.5, 0.25).unwrap()));
        assert_eq!(combine_per_byte, 0.125);
        assert_eq!((fits[0].count, fits[0].line.median_relative_deviation), (6, 0.0));
        assert_eq!(fits.iter().map(|fit| fit.count).collect::<Vec<_>>(), [6, 4, 4]);
    }

    #[test]
    fn two_kinds_of_pairs_are_a_hierarchy_with_the_ranks_placed_as_found() {
        for (nodes, placement) in [
            (vec![0, 0, 1, 1, 2], Placement::Block),
            (vec![0, 1, 0, 1], Placement::RoundRobin),
            (vec![0, 1, 1, 0], Placement::Listed(vec![0, 1, 1, 0])),
        ] {
            let cost =
                |i: Rank, j: Rank| if nodes[i] == nodes[j] { (1.0, 0.5) } else { (8.0, 2.0) };
            let observed = observed(&nodes, cost);
            assert_eq!(Model::of_nodes(&nodes), Model::Hierarchical);
            let Fitted { costs, fits, .. } = fitted(&observed, Model::Hierarchical).unwrap();
            let Costs::Hierarchical(hierarchy) = &costs else { panic!("{costs:?}") };
            assert_eq!(*hierarchy.placement(), placement);
            assert_eq!(fits.iter().map(|fit| fit.of).collect::<Vec<_>>()[..2], [WITHIN, BETWEEN]);
            for PairTimes { pair: (i, j), .. } in observed.pairs {
                let (alpha, beta) = cost(i, j);
                let time = costs.transmission_between(i, j, 4).unwrap();
                assert_eq!(time.units(), alpha + 4.0 * beta);
            }
        }
    }

    #[test]
    fn each_pair_has_its_own_costs_in_a_matrix() {
        let cost = |i: Rank, j: Rank| ((i + j) as f64, (i * j + 1) as f64);
        let observed = observed(&[0; 5], cost);
        let Fitted { costs, fits, .. } = fitted(&observed, Model::PerPair).unwrap();
        let Costs::Matrix(matrix) = costs else { panic!("a matrix") };
        for i in 0..5 {
            for j in 0..5 {
                let expected = if i == j { (0.0, 0.0) } else { cost(i.min(j), i.max(j)) };
                assert_eq!((matrix.alpha(i, j), matrix.beta(i, j)), expected);
            }
            assert_eq!(matrix.gamma(i), 0.25);
        }
        assert_eq!(fits[0].count, 10);
    }

    #[test]
    fn pairs_that_are_missing_are_named() {
        let mut one = observed(&[0; 3], |_, _| (1.0, 1.0));
        let error = fitted(&one, Model::Hierarchical).unwrap_err().to_string();
        assert_eq!(error, "there are no times between nodes");
        one.pairs.remove(1);
        let error = fitted(&one, Model::PerPair).unwrap_err().to_string();
        assert_eq!(error, "there are no times between ranks 0 and 2");
        one.pairs[0].seconds[1] = 0.0;
        let error = fitted(&one, Model::PerPair).unwrap_err().to_string();
        assert!(error.starts_with("ranks 0 and 1: 16 bytes took 0 s"), "{error}");
        one.local.sums.clear();
        let error = fitted(&one, Model::Homogeneous).unwrap_err().to_string();
        assert_eq!(error, "there are no times of sums of doubles");
    }

    #[test]
    fn kinds_of_pairs_depend_on_nodes() {
        for (nodes, kinds) in [
            (vec![0], vec![]),
            (vec![0, 0], vec![true]),
            (vec![0, 1], vec![false]),
            (vec![0, 1, 0], vec![true, false]),
        ] {
            assert_eq!(kinds_of_pairs(&nodes), kinds);
        }
    }
}
