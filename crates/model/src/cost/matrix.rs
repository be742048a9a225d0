//! Non-homogeneous linear costs: an alpha and a beta for each ordered pair of ranks, a gamma
//! for each rank.

use super::{
    CostKind, CostModel, Costs, Cut, Description, Direction, Homogeneous, LeastCosts, Link,
    OverheadError, check_overhead, linear, plus,
};
use crate::quantity::{per_byte, seconds};
use crate::{MOST_RANKS, Problem, Rank, Time, TimeError};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Non-homogeneous, linear, one-ported costs: `comm_ij(s) = alpha_ij + beta_ij s` for `s > 0` bytes
/// from rank `i` to rank `j`, and 0 for none; a copy of `s` bytes at `i` takes `gamma_i s`.
///
/// An infinite `alpha_ij` means that there is no link from `i` to `j`. Nobody sends to itself: the
/// diagonals are 0.
///
/// # Units
/// alpha in time units, beta and gamma in time units per byte, the same unit everywhere.
///
/// # Source
/// OPT section 2.1. A matrix needs O(p^2) space; a copy of it is O(1).
#[derive(Clone, Debug, PartialEq)]
pub struct CostMatrix {
    /// `p * p` entries, row = sender. Shared by all copies, as are the others.
    alpha: Arc<[f64]>,
    /// `p * p` entries, row = sender.
    beta: Arc<[f64]>,
    /// `p * p` entries, row = sender: the parts of alpha that occupy ports. The same table as alpha where
    /// nothing overlaps.
    overhead: Arc<[f64]>,
    /// `p` entries: the copy cost of each rank.
    gamma: Arc<[f64]>,
    /// All entries but missing links are integers, so that every time is one.
    integral: bool,
}

/// One of the three tables of costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CostTable {
    /// `alpha_ij`, the start-up latencies.
    Alpha,
    /// `o_ij`, the parts of them that occupy ports.
    Overhead,
    /// `beta_ij`, the times per byte sent.
    Beta,
    /// `gamma_i`, the times per byte copied.
    Gamma,
}

impl CostTable {
    /// The table's name in documents and errors.
    pub fn name(self) -> &'static str {
        match self {
            CostTable::Alpha => "alpha",
            CostTable::Overhead => "overhead",
            CostTable::Beta => "beta",
            CostTable::Gamma => "gamma",
        }
    }
}

/// Tables of numbers that are not costs.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum CostMatrixError {
    /// No ranks, or more than ranks.
    #[error("costs for {ranks} processes; 1 to {MOST_RANKS} are allowed")]
    Ranks {
        /// 0, or more than ranks can be.
        ranks: usize,
    },
    /// A table without a row for each rank.
    #[error("{} has {rows} rows, but there are {ranks} processes", table.name())]
    Rows {
        /// The table with the wrong number of rows.
        table: CostTable,
        /// Number of its rows.
        rows: usize,
        /// The number of rows that are needed.
        ranks: usize,
    },
    /// A row without an entry for each rank.
    #[error(
        "row {sender} of {} has {entries} entries, but there are {ranks} processes",
        table.name()
    )]
    Row {
        /// The table that the row is in.
        table: CostTable,
        /// The row: the sender's rank.
        sender: Rank,
        /// Number of the row's entries.
        entries: usize,
        /// The number of entries that are needed.
        ranks: usize,
    },
    /// Not a cost.
    #[error(
        "{}[{sender}][{receiver}] is {value}; costs are finite numbers of at least 0{}", table.name(),
        if *table == CostTable::Alpha { ", or inf where there is no link" } else { "" }
    )]
    Entry {
        /// The table of alpha or beta.
        table: CostTable,
        /// The row of the table.
        sender: Rank,
        /// The column of the table.
        receiver: Rank,
        /// The entry that is refused.
        value: f64,
    },
    /// An overhead that is not part of alpha.
    #[error("overhead[{sender}][{receiver}]: {error}")]
    Overhead {
        /// The row of the table.
        sender: Rank,
        /// The column of the table.
        receiver: Rank,
        /// The allowed values.
        error: OverheadError,
    },
    /// A cost of sending to oneself.
    #[error(
        "{}[{rank}][{rank}] is {value}; nobody sends to itself, so that the diagonal must be 0",
        table.name()
    )]
    Diagonal {
        /// The table of alpha or beta.
        table: CostTable,
        /// The row and column.
        rank: Rank,
        /// The entry that is refused.
        value: f64,
    },
    /// Not a cost of copying.
    #[error("gamma[{rank}] is {value}; costs are finite numbers of at least 0")]
    Gamma {
        /// The rank whose copies have this cost.
        rank: Rank,
        /// The entry that is refused.
        value: f64,
    },
}

impl CostMatrix {
    /// The costs with these tables.
    ///
    /// # Shapes
    /// `gamma` has p entries, `alpha` and `beta` p rows of p entries, row = sender, with 0 on the
    /// diagonal.
    ///
    /// # Errors
    /// [`CostMatrixError`]: wrong shape, a diagonal other than 0, NaN, negative numbers, and
    /// infinities other than in `alpha`.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{CostMatrix, CostModel};
    /// let costs = CostMatrix::new(
    ///     &[vec![0.0, 10.0], vec![20.0, 0.0]],
    ///     &[vec![0.0, 1.0], vec![2.0, 0.0]],
    ///     &[1.0, 1.0],
    /// ).unwrap();
    /// assert_eq!(costs.transmission_between(1, 0, 3).unwrap().units(), 26.0);
    /// ```
    pub fn new(
        alpha: &[Vec<f64>],
        beta: &[Vec<f64>],
        gamma: &[f64],
    ) -> Result<CostMatrix, CostMatrixError> {
        check_shape(CostTable::Alpha, alpha, gamma.len())?;
        check_shape(CostTable::Beta, beta, gamma.len())?;
        Self::from_flat(alpha.concat(), beta.concat(), gamma.to_vec())
    }

    /// These costs with these parts of alpha as overheads: the rest overlaps with other work.
    ///
    /// # Shapes
    /// p rows of p entries, as alpha: 0 on the diagonal, infinite or any number where there is no link.
    ///
    /// # Errors
    /// [`CostMatrixError`]: wrong shape, entries that are not from 0 to alpha.
    pub fn with_overheads(self, overhead: &[Vec<f64>]) -> Result<CostMatrix, CostMatrixError> {
        check_shape(CostTable::Overhead, overhead, self.size())?;
        let mut flat = overhead.concat();
        for (index, (overhead, &alpha)) in flat.iter_mut().zip(self.alpha.iter()).enumerate() {
            if alpha == f64::INFINITY {
                *overhead = alpha;
            }
            check_overhead(*overhead, alpha).map_err(|error| CostMatrixError::Overhead {
                sender: index / self.size(),
                receiver: index % self.size(),
                error,
            })?;
        }
        let whole = |overhead: &f64| !overhead.is_finite() || overhead.fract() == 0.0;
        let integral = self.integral && flat.iter().all(whole);
        Ok(CostMatrix { overhead: flat.into(), integral, ..self })
    }

    /// The costs that these functions state; they are not asked for the diagonals.
    ///
    /// # Errors
    /// As [`new`](Self::new), except for shapes.
    pub fn from_fn(
        ranks: usize,
        alpha: impl Fn(Rank, Rank) -> f64,
        beta: impl Fn(Rank, Rank) -> f64,
        gamma: impl Fn(Rank) -> f64,
    ) -> Result<CostMatrix, CostMatrixError> {
        let flat = |cost: &dyn Fn(Rank, Rank) -> f64| {
            let pairs = (0..ranks).flat_map(|i| (0..ranks).map(move |j| (i, j)));
            pairs.map(|(i, j)| if i == j { 0.0 } else { cost(i, j) }).collect()
        };
        Self::from_flat(flat(&alpha), flat(&beta), (0..ranks).map(gamma).collect())
    }

    /// Checks the entries of tables of the right shape.
    fn from_flat(
        alpha: Vec<f64>,
        beta: Vec<f64>,
        gamma: Vec<f64>,
    ) -> Result<CostMatrix, CostMatrixError> {
        let ranks = gamma.len();
        if !(1..=MOST_RANKS).contains(&ranks) {
            return Err(CostMatrixError::Ranks { ranks });
        }
        for (table, entries) in [(CostTable::Alpha, &alpha), (CostTable::Beta, &beta)] {
            for (index, &value) in entries.iter().enumerate() {
                let (sender, receiver) = (index / ranks, index % ranks);
                if sender == receiver && value != 0.0 {
                    return Err(CostMatrixError::Diagonal { table, rank: sender, value });
                }
                let missing_link = table == CostTable::Alpha && value == f64::INFINITY;
                if Time::new(value).is_none() && !missing_link {
                    return Err(CostMatrixError::Entry { table, sender, receiver, value });
                }
            }
        }
        if let Some(rank) = gamma.iter().position(|&value| Time::new(value).is_none()) {
            return Err(CostMatrixError::Gamma { rank, value: gamma[rank] });
        }
        let finite = alpha.iter().filter(|value| value.is_finite());
        let integral = finite.chain(&beta).chain(&gamma).all(|value| value.fract() == 0.0);
        let [alpha, beta, gamma] = [alpha, beta, gamma].map(Arc::from);
        Ok(CostMatrix { overhead: Arc::clone(&alpha), alpha, beta, gamma, integral })
    }

    /// The number of ranks, `p >= 1`.
    pub fn size(&self) -> usize {
        self.gamma.len()
    }

    /// `alpha_ij`: the start-up latency from `sender` to `receiver`; infinite if there is no link.
    #[inline]
    pub fn alpha(&self, sender: Rank, receiver: Rank) -> f64 {
        self.alpha[sender * self.size() + receiver]
    }

    /// `o_ij`: the part of `alpha_ij` that occupies ports.
    #[inline]
    pub fn overhead(&self, sender: Rank, receiver: Rank) -> f64 {
        self.overhead[sender * self.size() + receiver]
    }

    /// `beta_ij`: the time per byte from `sender` to `receiver`.
    #[inline]
    pub fn beta(&self, sender: Rank, receiver: Rank) -> f64 {
        self.beta[sender * self.size() + receiver]
    }

    /// `gamma_i`: the time per byte copied at `rank`.
    #[inline]
    pub fn gamma(&self, rank: Rank) -> f64 {
        self.gamma[rank]
    }

    /// True if `sender` can send to `receiver`.
    pub fn is_linked(&self, sender: Rank, receiver: Rank) -> bool {
        sender != receiver && self.alpha(sender, receiver).is_finite()
    }

    /// True if all costs are integers, and hence all times exact integers.
    pub fn is_integral(&self) -> bool {
        self.integral
    }
}

/// Fails unless a table has a row for each rank, and each row an entry.
fn check_shape(table: CostTable, rows: &[Vec<f64>], ranks: usize) -> Result<(), CostMatrixError> {
    if rows.len() != ranks {
        return Err(CostMatrixError::Rows { table, rows: rows.len(), ranks });
    }
    match rows.iter().position(|row| row.len() != ranks) {
        Some(sender) => {
            let entries = rows[sender].len();
            Err(CostMatrixError::Row { table, sender, entries, ranks })
        }
        None => Ok(()),
    }
}

impl CostModel for CostMatrix {
    fn ranks(&self) -> Option<usize> {
        Some(self.size())
    }

    fn transmission_between(
        &self,
        sender: Rank,
        receiver: Rank,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        if bytes == 0 {
            return Ok(Time::ZERO);
        }
        let overhead = self.overhead(sender, receiver);
        if overhead == f64::INFINITY {
            return Err(TimeError::NoLink { sender, receiver });
        }
        linear(self.integral, overhead, self.beta(sender, receiver), bytes)
    }

    fn latency_between(&self, sender: Rank, receiver: Rank, bytes: u64) -> Result<Time, TimeError> {
        let overhead = self.overhead(sender, receiver);
        match bytes {
            0 => Ok(Time::ZERO),
            _ if overhead == f64::INFINITY => Err(TimeError::NoLink { sender, receiver }),
            _ => Time::new(self.alpha(sender, receiver) - overhead).ok_or(TimeError::NotFinite),
        }
    }

    fn copy_at(&self, rank: Rank, bytes: u64) -> Result<Time, TimeError> {
        linear(self.integral, 0.0, self.gamma[rank], bytes)
    }

    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        plus(self.integral, start, cost)
    }

    /// O(p).
    fn least_busy(
        &self,
        direction: Direction,
        rank: Rank,
        ranks: usize,
        bytes: u64,
    ) -> Result<Time, TimeError> {
        if bytes == 0 {
            return Ok(Time::ZERO);
        }
        let mut least: Option<Result<Time, TimeError>> = None;
        for other in (0..ranks).filter(|&other| other != rank) {
            let (sender, receiver) = match direction {
                Direction::Send => (rank, other),
                Direction::Receive => (other, rank),
            };
            match (self.transmission_between(sender, receiver, bytes), least) {
                (Err(TimeError::NoLink { .. }), _) => {}
                (Ok(time), Some(Ok(known))) => least = Some(Ok(time.min(known))),
                (Err(_), Some(_)) => {}
                (time, _) => least = Some(time),
            }
        }
        least.unwrap_or(Err(TimeError::Isolated { rank, direction }))
    }
}

impl CostKind for CostMatrix {
    fn name(&self) -> &'static str {
        "matrix"
    }

    fn is_integral(&self) -> bool {
        self.integral
    }

    fn homogeneous(&self, _: usize) -> Option<Homogeneous> {
        homogeneous_matrix(self)
    }

    fn overlaps(&self) -> bool {
        self.overhead.iter().zip(self.alpha.iter()).any(|(overhead, alpha)| overhead < alpha)
    }

    /// O(p^2). The least of straight lines is nowhere below one between two of its points.
    fn least_costs(&self, _: usize, bytes: RangeInclusive<u64>) -> LeastCosts {
        let ranks = 0..self.size();
        let pairs = ranks.clone().flat_map(|one| ranks.clone().map(move |other| (one, other)));
        let links = pairs
            .filter(|&(one, other)| one != other && self.is_linked(one, other))
            .filter_map(|(one, other)| self.link(one, other));
        let mut latency = f64::INFINITY;
        let mut ends = [*bytes.start(), *bytes.end()].map(|bytes| (bytes, f64::INFINITY));
        for link in links {
            latency = latency.min(link.latency());
            for (bytes, least) in &mut ends {
                *least = least.min(link.overhead + link.beta * *bytes as f64);
            }
        }
        LeastCosts::new(latency, ends.to_vec())
    }

    fn among(&self, ranks: &[Rank]) -> Costs {
        let pairs = ranks.iter().flat_map(|&one| ranks.iter().map(move |&other| (one, other)));
        let table = |entry: fn(&CostMatrix, Rank, Rank) -> f64| {
            pairs.clone().map(|(sender, receiver)| entry(self, sender, receiver)).collect()
        };
        Costs::Matrix(CostMatrix {
            alpha: table(CostMatrix::alpha),
            overhead: table(CostMatrix::overhead),
            beta: table(CostMatrix::beta),
            gamma: ranks.iter().map(|&rank| self.gamma(rank)).collect(),
            integral: self.integral,
        })
    }

    fn link(&self, sender: Rank, receiver: Rank) -> Option<Link> {
        Some(Link {
            alpha: self.alpha(sender, receiver),
            overhead: self.overhead(sender, receiver),
            beta: self.beta(sender, receiver),
        })
    }

    fn gamma_at(&self, rank: Rank) -> f64 {
        self.gamma(rank)
    }

    fn lacks_links(&self) -> bool {
        let ranks = 0..self.size();
        let others = |one: Rank| ranks.clone().filter(move |&other| other != one);
        ranks.clone().any(|one| others(one).any(|other| !self.is_linked(one, other)))
    }

    fn check_links(&self, problem: &Problem) -> Result<(), Cut> {
        self.check_paths(problem)
    }

    fn description(&self) -> Description {
        let ranks = || 0..self.size();
        let pairs = || ranks().flat_map(move |one| ranks().map(move |other| (one, other)));
        let linked = || pairs().filter(|&(one, other)| self.is_linked(one, other));
        let range = |values: &mut dyn Iterator<Item = f64>, unit: fn(f64) -> String| {
            let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
                (least.min(value), most.max(value))
            });
            match least {
                _ if least > most => "none".to_owned(),
                _ if least == most => unit(least),
                _ => format!("{} to {}", unit(least), unit(most)),
            }
        };
        let symmetric = pairs().all(|(one, other)| self.link(one, other) == self.link(other, one));
        let way = if symmetric { "the same both ways" } else { "not the same both ways" };
        let all = self.size() * (self.size() - 1);
        let alphas = &mut linked().map(|(one, other)| self.alpha(one, other));
        let overheads = &mut linked().map(|(one, other)| self.overhead(one, other));
        let betas = &mut linked().map(|(one, other)| self.beta(one, other));
        let latency = |sender: Rank, receiver: Rank| match self.is_linked(sender, receiver) {
            _ if sender == receiver => "-".to_owned(),
            true => seconds(self.alpha(sender, receiver)),
            false => "no link".to_owned(),
        };
        let row = |sender: Rank| {
            let cells = ranks().map(|receiver| latency(sender, receiver));
            std::iter::once(format!("from {sender}")).chain(cells).collect()
        };
        let shown = if self.size() <= MOST_DESCRIBED { self.size() } else { 0 };
        let to = ranks().take(shown).map(|receiver| format!("to {receiver}"));
        let mut facts = vec![
            ("copies", range(&mut ranks().map(|rank| self.gamma(rank)), per_byte)),
            ("links", format!("{} of {all}, {way}", linked().count())),
            ("alpha", range(alphas, seconds)),
        ];
        if CostKind::overlaps(self) {
            facts.push(("overhead", range(overheads, seconds)));
        }
        facts.push(("beta", range(betas, per_byte)));
        Description {
            processes: self.size().to_string(),
            facts,
            headings: std::iter::once("alpha".to_owned()).chain(to).collect(),
            rows: ranks().take(shown).map(row).collect(),
        }
    }
}

/// The most ranks whose latencies are described one by one.
const MOST_DESCRIBED: usize = 12;

/// The costs that all pairs of ranks share, if they do.
fn homogeneous_matrix(matrix: &CostMatrix) -> Option<Homogeneous> {
    let ranks = matrix.size();
    let gamma = matrix.gamma(0);
    if ranks == 1 {
        return Homogeneous::new(0.0, 0.0, gamma).ok();
    }
    let first = matrix.link(0, 1);
    let same = (0..ranks).all(|sender| {
        let pair = |receiver| sender == receiver || matrix.link(sender, receiver) == first;
        matrix.gamma(sender) == gamma && (0..ranks).all(pair)
    });
    let Link { alpha, overhead, beta } = first.filter(|_| same)?;
    Homogeneous::new(alpha, beta, gamma).ok()?.with_overhead(overhead).ok()
}

#[cfg(test)]
impl CostMatrix {
    /// 0 <-> 1 costs 1 + s one way and 10 + 2 s the other; everything with 2 costs 100.
    pub(crate) fn lopsided() -> CostMatrix {
        let alpha = |sender, receiver| match (sender, receiver) {
            (0, 1) => 1.0,
            (1, 0) => 10.0,
            _ => 100.0,
        };
        let beta = |sender, receiver| match (sender, receiver) {
            (0, 1) => 1.0,
            (1, 0) => 2.0,
            _ => 0.0,
        };
        CostMatrix::from_fn(3, alpha, beta, |rank| rank as f64).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const INF: f64 = f64::INFINITY;

    fn matrix(rows: [[f64; 3]; 3]) -> Vec<Vec<f64>> {
        rows.map(Vec::from).into()
    }

    fn zeros() -> Vec<Vec<f64>> {
        matrix([[0.0; 3]; 3])
    }

    #[test]
    fn rows_are_senders_and_missing_links_are_named() {
        let alpha = matrix([[0.0, 1.0, INF], [2.0, 0.0, 3.0], [4.0, 5.0, 0.0]]);
        let costs = CostMatrix::new(&alpha, &zeros(), &[1.0, 2.0, 3.0]).unwrap();
        assert_eq!(costs.transmission_between(0, 1, 9).unwrap().units(), 1.0);
        assert_eq!(costs.transmission_between(1, 0, 9).unwrap().units(), 2.0);
        let missing = TimeError::NoLink { sender: 0, receiver: 2 };
        assert_eq!(costs.transmission_between(0, 2, 9), Err(missing));
        assert_eq!(costs.transmission_between(0, 2, 0), Ok(Time::ZERO));
        assert_eq!(costs.copy_at(2, 9).unwrap().units(), 27.0);
        assert_eq!(costs.least_busy(Direction::Receive, 0, 3, 9).unwrap().units(), 2.0);
        assert_eq!(costs.least_busy(Direction::Send, 0, 3, 9).unwrap().units(), 1.0);
    }

    #[test]
    fn a_rank_without_links_is_isolated() {
        let alpha = matrix([[0.0, INF, INF], [2.0, 0.0, 3.0], [4.0, 5.0, 0.0]]);
        let costs = CostMatrix::new(&alpha, &zeros(), &[0.0; 3]).unwrap();
        let isolated = TimeError::Isolated { rank: 0, direction: Direction::Send };
        assert_eq!(costs.least_busy(Direction::Send, 0, 3, 1), Err(isolated));
        assert_eq!(isolated.to_string(), "no link leads from rank 0 to any other");
        assert_eq!(costs.least_busy(Direction::Send, 0, 3, 0), Ok(Time::ZERO));
    }

    #[test]
    fn integer_costs_are_exact_and_others_are_not_refused() {
        let huge = matrix([[0.0, 1.0, INF], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0]]);
        let costs = CostMatrix::new(&huge, &huge_beta(1.0), &[0.0; 3]).unwrap();
        assert!(costs.is_integral());
        assert_eq!(costs.transmission_between(0, 1, 1 << 53), Err(TimeError::NotExact));
        let costs = CostMatrix::new(&huge, &huge_beta(0.5), &[0.0; 3]).unwrap();
        assert!(!costs.is_integral());
        assert_eq!(
            costs.transmission_between(0, 1, 1 << 53).unwrap().units(),
            (1_u64 << 52) as f64 + 1.0
        );
    }

    fn huge_beta(beta: f64) -> Vec<Vec<f64>> {
        matrix([[0.0, beta, beta], [beta, 0.0, beta], [beta, beta, 0.0]])
    }

    #[test]
    fn what_is_no_cost_is_refused_with_place_and_value() {
        let fine = huge_beta(1.0);
        let error = |alpha: &[Vec<f64>], beta: &[Vec<f64>], gamma: &[f64]| {
            CostMatrix::new(alpha, beta, gamma).unwrap_err().to_string()
        };
        let with = |sender: usize, receiver: usize, value| {
            let mut rows = fine.clone();
            rows[sender][receiver] = value;
            rows
        };
        let gamma = [0.0; 3];
        for (found, expected) in [
            (error(&with(1, 2, f64::NAN), &fine, &gamma), "alpha[1][2] is NaN; costs are finite"),
            (error(&with(1, 2, -1.0), &fine, &gamma), "alpha[1][2] is -1; costs"),
            (error(&fine, &with(2, 0, INF), &gamma), "beta[2][0] is inf; costs are finite"),
            (error(&with(1, 1, 4.0), &fine, &gamma), "alpha[1][1] is 4; nobody sends to itself"),
            (error(&fine, &with(2, 2, f64::NAN), &gamma), "beta[2][2] is NaN; nobody"),
            (error(&fine, &fine, &[0.0, -2.0, 0.0]), "gamma[1] is -2; costs"),
            (error(&fine[..2], &fine, &gamma), "alpha has 2 rows, but there are 3 processes"),
            (
                error(&fine, &[vec![0.0; 3], vec![0.0; 4], vec![0.0; 3]], &gamma),
                "row 1 of beta has 4 entries, but there are 3 processes",
            ),
            (error(&[], &[], &[]), "costs for 0 processes; 1 to 100000000"),
        ] {
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
