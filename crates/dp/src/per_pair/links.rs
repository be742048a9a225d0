//! A problem with costs of its own for each pair of ranks, laid out as the dynamic programs
//! read it.

use super::groups::Groups;
use crate::DpError;
use tuwtree_model::{Costs, CostsError, Hierarchy, LARGEST_EXACT, Link, Payload, Problem, Rank};

/// Costs of every message and every copy of a problem, as in a gather: for outward operations those
/// of the opposite direction.
///
/// # Units
/// Times in the costs' time units, as `f64`; infinite where there is no link.
#[derive(Clone, Debug)]
pub(crate) struct Links {
    ranks: usize,
    laws: Laws,
    /// `p` entries: the time of the copy of the own block.
    copy: Vec<f64>,
    messages: MessageContent,
    /// All costs are integers, so that every time below 2^53 is exact.
    integral: bool,
    /// Everybody copies before the first message, and not after a first one from the left: never later,
    /// and sooner where latency overlaps with the copy.
    copies_first: bool,
}

/// Costs of messages, by sender and receiver.
#[derive(Clone, Debug)]
enum Laws {
    /// Lines.
    Linear(Lines),
    /// A few laws of any shape, one for each level of a machine.
    Levels {
        /// `p * p` entries, row = receiver: which law.
        level: Vec<u16>,
        /// Number of laws.
        levels: usize,
        /// Ranks that share each level.
        groups: Groups,
        /// `p * p` times `levels` entries: lambda and occupancy of the message of each range by each law.
        times: Vec<(f64, f64)>,
    },
}

/// Costs that are linear in the size of a message: `p * p` entries in each table, row = receiver.
#[derive(Clone, Debug)]
struct Lines {
    /// Occupation of the port by an empty message: alpha, or o if latency overlaps.
    overhead: Vec<f64>,
    /// beta from each sender.
    rate: Vec<f64>,
    /// lambda from each sender; no entries where nothing overlaps.
    latency: Vec<f64>,
}

/// Content of a message out of a range.
#[derive(Clone, Debug)]
enum MessageContent {
    /// All blocks of the range. `p + 1` entries: the bytes of all blocks before a rank.
    Blocks(Vec<u64>),
    /// One vector of this many bytes, for every range.
    Vector(u64),
}

/// Costs of messages from all senders to one receiver.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LinksTo<'a> {
    /// `p` entries, by sender: what occupies the port whatever the size.
    pub(crate) overhead: &'a [f64],
    /// `p` entries, by sender.
    pub(crate) rate: &'a [f64],
    /// `p` entries, by sender: lambda; none where nothing overlaps.
    pub(crate) latency: Option<&'a [f64]>,
}

impl LinksTo<'_> {
    /// Time for which a message of this many bytes occupies the port; 0 for none.
    #[inline(always)]
    pub(crate) fn message(self, sender: Rank, bytes: f64) -> f64 {
        if bytes == 0.0 { 0.0 } else { self.overhead[sender] + self.rate[sender] * bytes }
    }

    /// lambda of a message of this many bytes; 0 for none.
    #[inline(always)]
    pub(crate) fn latency(self, sender: Rank, bytes: f64) -> f64 {
        match self.latency {
            Some(latency) if bytes > 0.0 => latency[sender],
            _ => 0.0,
        }
    }
}

impl Links {
    /// The links of a problem.
    ///
    /// # Errors
    /// [`DpError::Costs`] if the costs are neither a matrix nor those of levels; [`DpError::TooLarge`] if a time may
    /// leave the range of `f64`.
    ///
    /// # Complexity
    /// O(p^2) time and space.
    pub(crate) fn new(problem: &Problem) -> Result<Links, DpError> {
        let costs = problem.costs();
        match (costs.check_linear(), costs.hierarchy()) {
            (Err(_), Some(machine)) => Links::of_levels(problem, machine),
            (_, _) => {
                let (lines, slowest) = lines(problem)?;
                let slowest = slowest.0 + slowest.1 * problem.payload().total() as f64;
                Links::with(problem, MessageContent::of(problem)?, (Laws::Linear(lines), slowest))
            }
        }
    }

    /// The links of a problem at the costs of a machine's levels, linear or not.
    ///
    /// # Errors, complexity
    /// As [`new`](Self::new).
    pub(crate) fn of_levels(problem: &Problem, machine: &Hierarchy) -> Result<Links, DpError> {
        let ranks = problem.ranks();
        problem.costs().check_ranks(ranks)?;
        if ranks > Costs::MOST_EXPANDED {
            return Err(CostsError::TooLarge { ranks }.into());
        }
        let messages = MessageContent::of(problem)?;
        let laws = laws_of_levels(machine, &messages, ranks);
        Links::with(problem, messages, laws)
    }

    /// Links with these laws, none of whose messages takes longer than `longest`.
    fn with(
        problem: &Problem,
        messages: MessageContent,
        (laws, slowest): (Laws, f64),
    ) -> Result<Links, DpError> {
        let ranks = problem.ranks();
        let costs = problem.costs();
        let copied = |rank| costs.kind().gamma_at(rank) * problem.collective().copied(rank) as f64;
        let copy: Vec<f64> = (0..ranks).map(copied).collect();
        // No tree takes longer than all its messages and copies one after the other.
        let horizon = ranks as f64 * slowest + copy.iter().sum::<f64>();
        match horizon < f64::MAX / 4.0 {
            true => Ok(Links {
                ranks,
                laws,
                copy,
                messages,
                integral: costs.is_integral(),
                copies_first: costs.overlaps(),
            }),
            false => Err(DpError::TooLarge { total: problem.payload().total() }),
        }
    }

    /// All ranks copy first, and one rank, if any, is busy until a later time instead.
    pub(crate) fn copying_first(mut self, busy: Option<(Rank, f64)>) -> Links {
        self.copies_first = true;
        if let Some((rank, until)) = busy {
            self.copy[rank] = until;
        }
        self
    }

    /// The number of ranks, `p >= 1`.
    pub(crate) fn ranks(&self) -> usize {
        self.ranks
    }

    /// The linear costs of messages to a receiver; `None` if costs are by level.
    #[inline]
    pub(crate) fn to(&self, receiver: Rank) -> Option<LinksTo<'_>> {
        let Laws::Linear(Lines { overhead, rate, latency }) = &self.laws else { return None };
        let row = receiver * self.ranks..(receiver + 1) * self.ranks;
        Some(LinksTo {
            overhead: &overhead[row.clone()],
            rate: &rate[row.clone()],
            latency: (!latency.is_empty()).then(|| &latency[row]),
        })
    }

    /// lambda and occupancy of the message with which each sender sends the blocks of `[a..b]`.
    #[inline]
    pub(crate) fn of_level(
        &self,
        (a, b, receiver): (Rank, Rank, Rank),
    ) -> impl Fn(Rank) -> (f64, f64) {
        let Laws::Levels { level, levels, times, .. } = &self.laws else {
            unreachable!("asked where costs are by level")
        };
        let (p, levels) = (self.ranks, *levels);
        let times = &times[(a * p + b) * levels..][..levels];
        let row = &level[receiver * p..][..p];
        move |sender| times[usize::from(row[sender])]
    }

    /// The groups of a machine if costs are by level; `None` if each pair has lines of its own.
    pub(super) fn groups(&self) -> Option<&Groups> {
        match &self.laws {
            Laws::Linear(_) => None,
            Laws::Levels { groups, .. } => Some(groups),
        }
    }

    /// lambda and occupancy of the message of the blocks of `[a..b]`, by level; none where each pair has its own.
    #[inline]
    pub(super) fn times_of_levels(&self, a: Rank, b: Rank) -> &[(f64, f64)] {
        match &self.laws {
            Laws::Linear(_) => &[],
            Laws::Levels { levels, times, .. } => {
                &times[(a * self.ranks + b) * levels..][..*levels]
            }
        }
    }

    /// Time at which a receiver that is free from `clock` on has the blocks of `[a..b]`, which the sender has at
    /// `ready`.
    #[inline]
    pub(crate) fn arrival(
        &self,
        clock: f64,
        (sender, ready): (Rank, f64),
        (a, b, receiver): (Rank, Rank, Rank),
    ) -> f64 {
        let (latency, occupancy) = match self.to(receiver) {
            Some(links) => {
                let bytes = self.bytes(a, b);
                (links.latency(sender, bytes), links.message(sender, bytes))
            }
            None => self.of_level((a, b, receiver))(sender),
        };
        clock.max(ready + latency) + occupancy
    }

    /// True if all ranks copy before the first message.
    pub(crate) fn copies_first(&self) -> bool {
        self.copies_first
    }

    /// The bytes of a message that holds what `first..=last` have.
    #[inline(always)]
    pub(crate) fn bytes(&self, first: Rank, last: Rank) -> f64 {
        self.messages.bytes(first, last) as f64
    }

    /// The time of the copy of a rank's own block; 0 where vectors are combined.
    #[inline(always)]
    pub(crate) fn copy(&self, rank: Rank) -> f64 {
        self.copy[rank]
    }

    /// True if messages hold blocks, which are copied, and not a vector.
    pub(crate) fn moves_blocks(&self) -> bool {
        matches!(self.messages, MessageContent::Blocks(_))
    }

    /// A finished value, or why it cannot be stated.
    ///
    /// Times of a table are sums of non-negative numbers. While they stay below 2^53 they are exact
    /// if the costs are integers; once they reach it, they and all sums over them stay at or above it.
    ///
    /// # Errors
    /// [`DpError::TooLarge`].
    pub(crate) fn stated(&self, value: f64) -> Result<f64, DpError> {
        let last = self.ranks - 1;
        match self.integral && value >= LARGEST_EXACT as f64 {
            true => Err(DpError::TooLarge { total: self.bytes(0, last) as u64 }),
            false => Ok(value),
        }
    }
}

impl MessageContent {
    /// # Errors
    /// [`DpError::Rootless`] for messages of an alltoall.
    fn of(problem: &Problem) -> Result<MessageContent, DpError> {
        Ok(match problem.payload() {
            Payload::Blocks(sizes) => {
                let before = (0..=problem.ranks()).map(|rank| sizes.before(rank));
                MessageContent::Blocks(before.collect())
            }
            Payload::Vector(vector) => MessageContent::Vector(vector.bytes),
            Payload::Messages(_) | Payload::Groups(_) => {
                return Err(DpError::Rootless { operation: problem.operation() });
            }
        })
    }

    #[inline(always)]
    fn bytes(&self, first: Rank, last: Rank) -> u64 {
        match self {
            MessageContent::Blocks(before) => before[last + 1] - before[first],
            MessageContent::Vector(bytes) => *bytes,
        }
    }
}

/// The lines of a problem, and the greatest alpha and beta of any link.
fn lines(problem: &Problem) -> Result<(Lines, (f64, f64)), DpError> {
    let ranks = problem.ranks();
    let costs = problem.costs().matrix(ranks)?;
    let collective = problem.collective();
    let table = || vec![0.0; ranks * ranks];
    let latency = if problem.costs().overlaps() { table() } else { Vec::new() };
    let mut lines = Lines { overhead: table(), rate: table(), latency };
    let mut slowest = (0.0_f64, 0.0_f64);
    for parent in 0..ranks {
        for child in (0..ranks).filter(|&child| child != parent) {
            let (sender, receiver) = collective.ends(child, parent);
            let link = Link {
                alpha: costs.alpha(sender, receiver),
                overhead: costs.overhead(sender, receiver),
                beta: costs.beta(sender, receiver),
            };
            let at = parent * ranks + child;
            lines.overhead[at] = link.overhead;
            lines.rate[at] = link.beta;
            if let Some(latency) = lines.latency.get_mut(at) {
                *latency = link.latency();
            }
            if link.alpha.is_finite() {
                slowest = (slowest.0.max(link.alpha), slowest.1.max(link.beta));
            }
        }
    }
    Ok((lines, slowest))
}

/// The laws of a machine's levels, which are the same both ways, and the longest that any message takes.
fn laws_of_levels(machine: &Hierarchy, messages: &MessageContent, ranks: usize) -> (Laws, f64) {
    let levels = machine.levels().len();
    let mut level = vec![0; ranks * ranks];
    for (receiver, row) in level.chunks_exact_mut(ranks).enumerate() {
        for (sender, level) in row.iter_mut().enumerate().filter(|(sender, _)| *sender != receiver)
        {
            *level = machine.shared_level(sender, receiver) as u16;
        }
    }
    let mut times = vec![(0.0, 0.0); ranks * ranks * levels];
    let mut slowest = 0.0_f64;
    for first in 0..ranks {
        for last in first..ranks {
            let bytes = messages.bytes(first, last);
            let range = &mut times[(first * ranks + last) * levels..][..levels];
            for (times, level) in range.iter_mut().zip(machine.levels()) {
                *times = level.links.times(bytes);
                slowest = slowest.max(times.0 + times.1);
            }
        }
    }
    let groups = Groups::new(ranks, levels, |rank, other| machine.shared_level(rank, other));
    (Laws::Levels { level, levels, groups, times }, slowest)
}
