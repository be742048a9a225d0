//! A problem with costs of its own for each pair of processors, laid out as the dynamic programs
//! read it.

use crate::DpError;
use tuwtree_model::{LARGEST_EXACT, Payload, Problem, Rank};

/// What every message and every copy of a problem takes, as in a gather: for outward operations the
/// costs of the opposite direction stand here.
///
/// # Units
/// Times in the costs' time units, as `f64`; infinite where there is no link.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    processors: usize,
    /// `p * p` entries, row = receiver: alpha from each sender.
    latency: Vec<f64>,
    /// `p * p` entries, row = receiver: beta from each sender.
    rate: Vec<f64>,
    /// `p` entries: the time of the copy of the own block.
    copy: Vec<f64>,
    messages: MessageContent,
    /// All costs are integers, so that every time below 2^53 is exact.
    integral: bool,
}

/// What a message out of a range holds.
#[derive(Clone, Debug)]
enum MessageContent {
    /// All blocks of the range. `p + 1` entries: the bytes of all blocks before a rank.
    Blocks(Vec<u64>),
    /// The same vector of so many bytes, whatever the range.
    Vector(u64),
}

/// Costs of messages from all senders to one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinksTo<'a> {
    /// `p` entries, by sender.
    pub(crate) latency: &'a [f64],
    /// `p` entries, by sender.
    pub(crate) rate: &'a [f64],
}

impl LinksTo<'_> {
    /// The time of a message of so many bytes; 0 for none.
    #[inline(always)]
    pub(crate) fn message(self, sender: Rank, bytes: f64) -> f64 {
        if bytes == 0.0 { 0.0 } else { self.latency[sender] + self.rate[sender] * bytes }
    }
}

impl Links {
    /// The links of a problem.
    ///
    /// # Errors
    /// [`DpError::Costs`] if the costs are no matrix; [`DpError::TooLarge`] if a time may leave the
    /// range of `f64`.
    ///
    /// # Complexity
    /// O(p^2) time and space.
    pub(crate) fn new(problem: &Problem) -> Result<Links, DpError> {
        let processors = problem.processors();
        let costs = problem.costs().matrix(processors)?;
        let collective = problem.collective();
        let mut latency = vec![0.0; processors * processors];
        let mut rate = vec![0.0; processors * processors];
        let mut slowest = (0.0_f64, 0.0_f64);
        for parent in 0..processors {
            for child in (0..processors).filter(|&child| child != parent) {
                let (sender, receiver) = collective.ends(child, parent);
                let (alpha, beta) = (costs.alpha(sender, receiver), costs.beta(sender, receiver));
                latency[parent * processors + child] = alpha;
                rate[parent * processors + child] = beta;
                if alpha.is_finite() {
                    slowest = (slowest.0.max(alpha), slowest.1.max(beta));
                }
            }
        }
        let copied = |rank| costs.gamma(rank) * collective.copied(rank) as f64;
        let copy: Vec<f64> = (0..processors).map(copied).collect();
        let messages = match problem.payload() {
            Payload::Blocks(sizes) => {
                MessageContent::Blocks((0..=processors).map(|rank| sizes.before(rank)).collect())
            }
            Payload::Vector(vector) => MessageContent::Vector(vector.bytes),
            Payload::Messages(_) => {
                return Err(DpError::Rootless { operation: problem.operation() });
            }
        };
        let total = problem.payload().total();
        // No tree takes longer than all its messages and copies one after the other.
        let horizon =
            processors as f64 * (slowest.0 + slowest.1 * total as f64) + copy.iter().sum::<f64>();
        match horizon < f64::MAX / 4.0 {
            true => Ok(Links {
                processors,
                latency,
                rate,
                copy,
                messages,
                integral: costs.is_integral(),
            }),
            false => Err(DpError::TooLarge { total }),
        }
    }

    /// The number of processors, `p >= 1`.
    pub(crate) fn processors(&self) -> usize {
        self.processors
    }

    /// The costs of messages to a receiver.
    #[inline]
    pub(crate) fn to(&self, receiver: Rank) -> LinksTo<'_> {
        let row = receiver * self.processors..(receiver + 1) * self.processors;
        LinksTo { latency: &self.latency[row.clone()], rate: &self.rate[row] }
    }

    /// The bytes of a message that holds what `first..=last` have.
    #[inline(always)]
    pub(crate) fn bytes(&self, first: Rank, last: Rank) -> f64 {
        match &self.messages {
            MessageContent::Blocks(before) => (before[last + 1] - before[first]) as f64,
            MessageContent::Vector(bytes) => *bytes as f64,
        }
    }

    /// The time of the copy of a processor's own block; 0 where vectors are combined.
    #[inline(always)]
    pub(crate) fn copy(&self, rank: Rank) -> f64 {
        self.copy[rank]
    }

    /// A finished value, or why it cannot be stated.
    ///
    /// Times of a table are sums of non-negative numbers. While they stay below 2^53 they are exact
    /// if the costs are integers; once they reach it, they and all sums over them stay at or above it.
    ///
    /// # Errors
    /// [`DpError::TooLarge`].
    pub(crate) fn stated(&self, value: f64) -> Result<f64, DpError> {
        let last = self.processors - 1;
        match self.integral && value >= LARGEST_EXACT as f64 {
            true => Err(DpError::TooLarge { total: self.bytes(0, last) as u64 }),
            false => Ok(value),
        }
    }
}
