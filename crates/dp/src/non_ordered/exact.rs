//! The best of all trees, by dynamic programming over what a subtree holds.
//!
//! A subtree matters only for the blocks that it holds, and of these only for how many there are of
//! each size. So a state is a count for each distinct size: subsets, where all sizes differ, and
//! polynomially many states for a fixed number of sizes. Blocks of one size are told apart again when
//! the tree is built.

use super::NonOrderedError;
use super::arrangement::Receivers;
use super::{pairs, ports};
use crate::DpError;
use crate::blocks::{Blocks, shares_one_law};
use std::collections::BTreeMap;
use tuwtree_model::{
    BlockSizes, CostModel, Ports, Problem, Rank, Root, Scalar, ScaledSizes, Time, Tree,
};

/// Steps that [`exact`] takes within a moment: 3^16.
pub const WORK_AT_ONCE: u64 = 43_046_721;

/// The most steps that [`exact`] takes; some seconds.
pub const MOST_WORK: u64 = 1_000_000_000;

/// Number of steps of [`exact`] with one port, `u64::MAX` if there are more: the pairs of a state and a part of it. If
/// costs differ from pair to pair: triples of a receiver, its set, and a part of that.
///
/// For `n` blocks with distinct sizes, that do not count the root's, `3^n`; `p 3^(p-1)` where costs differ.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`].
///
/// # Example
/// ```
/// use tuwtree_dp::non_ordered::exact_work;
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let work = |sizes: &[u64]| {
///     let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
///     let problem = Problem::gather(&sizes, costs).unwrap();
///     exact_work(&problem.with_root(Root::Given(0)).unwrap()).unwrap()
/// };
/// assert_eq!(work(&[5, 1, 2, 3, 4]), 81);
/// assert_eq!(work(&[5, 1, 1, 1, 1]), 15);
/// ```
pub fn exact_work(problem: &Problem) -> Result<u64, DpError> {
    Ok(match CostForm::of(problem)? {
        CostForm::OnePort(blocks) => States::new(blocks).work(),
        CostForm::Shared(sizes) => States::of_all(sizes, problem.root()).work(),
        CostForm::Pairs => pairs::work(problem.ranks()),
    })
}

/// A best tree of all for gather or scatter, ordered or not, with a given root or the best one, for any
/// costs, through as many ports as the problem has.
///
/// For gamma > beta, and for costs that are not linear or overlap partly, empty blocks and all roots take part;
/// otherwise see the [module](super#what-makes-it-simpler-than-ordered-trees).
///
/// # Errors
/// [`NonOrderedError`]: more than [`MOST_WORK`] steps with one port, more than
/// [`MOST_ON_PORTS`](super::MOST_ON_PORTS) ranks with several; a problem of another kind, times
/// too large.
///
/// # Complexity
/// O([`exact_work`]) time; space for fewer than half a million states. With several ports O(p 3^p)
/// steps, each for all lists of times that are kept: a few with two ports, some dozens with more.
/// NP-hard for any number of ports (OPT Theorems 6 and 7).
///
/// # Source
/// OPT Proposition 2. For `X` without a root, `T[X]` is the least over nonempty proper parts `Y` of `max(K[X - Y],
/// T[Y] + lambda(Y)) + comm(Y)`, where `K = T` except for single blocks, which are copied as receivers and ready at 0 as
/// senders; likewise for the sets with a given root. It requires only that this rises with both times, so that any
/// lambda and comm will do. If costs differ from pair to pair, the root of `Y` is part of its state.
///
/// # Example
/// Root 3 is far from the large block 0. Direct it takes 1 + 9; then 1 and 2 together, 1 + 2.
/// ```
/// use tuwtree_dp::non_ordered::exact;
/// use tuwtree_model::{BlockSizes, Homogeneous, Ports, Problem, Root, completion_time};
/// let sizes = BlockSizes::new([9, 1, 1, 0]).unwrap();
/// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
/// let problem = problem.with_root(Root::Given(3)).unwrap();
/// let tree = exact(&problem).unwrap();
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 13.0);
/// // Two ports: meanwhile 1 and 2 come through the other.
/// let problem = problem.with_ports(Ports::new(2).unwrap());
/// let tree = exact(&problem).unwrap();
/// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 10.0);
/// ```
pub fn exact(problem: &Problem) -> Result<Tree, NonOrderedError> {
    if problem.ports() != Ports::ONE {
        return ports::exact(checked(problem)?);
    }
    let needed = exact_work(problem)?;
    if needed > MOST_WORK {
        return Err(NonOrderedError::TooMuchWork { needed, allowed: MOST_WORK });
    }
    match CostForm::of(problem)? {
        CostForm::OnePort(blocks) => one_ported(blocks),
        CostForm::Shared(sizes) => Ok(by_size(problem, sizes)?),
        CostForm::Pairs => pairs::exact(problem),
    }
}

/// True if all pairs have equal costs, of any form.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`].
pub(super) fn shared_law(problem: &Problem) -> Result<bool, DpError> {
    Ok(!matches!(CostForm::of(problem)?, CostForm::Pairs))
}

/// Form of a problem's costs.
enum CostForm<'p> {
    /// The homogeneous ones of the one-port model.
    OnePort(Blocks<'p>),
    /// All pairs share them, whatever they are.
    Shared(&'p BlockSizes),
    /// Each pair has its own.
    Pairs,
}

impl<'p> CostForm<'p> {
    /// # Errors
    /// [`DpError::Rootless`], [`DpError::NeedsBlocks`].
    fn of(problem: &'p Problem) -> Result<CostForm<'p>, DpError> {
        let operation = problem.operation();
        let sizes = checked(problem)?.blocks().ok_or(DpError::NeedsBlocks { operation })?;
        Ok(match Blocks::of(problem) {
            Ok(blocks) => CostForm::OnePort(blocks),
            Err(_) if shares_one_law(problem) => CostForm::Shared(sizes),
            Err(_) => CostForm::Pairs,
        })
    }
}

/// The problem, if it has blocks that go to or from a root.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`].
fn checked(problem: &Problem) -> Result<&Problem, DpError> {
    let operation = problem.operation();
    match problem.blocks() {
        _ if !operation.is_rooted() => Err(DpError::Rootless { operation }),
        Some(_) => Ok(problem),
        None => Err(DpError::NeedsBlocks { operation }),
    }
}

/// A best tree of all at the costs of the one-port model.
fn one_ported(blocks: Blocks<'_>) -> Result<Tree, NonOrderedError> {
    let Blocks { sizes, costs, .. } = blocks;
    let states = States::new(blocks);
    let receivers = if costs.is_integral() {
        ScaledSizes::<i64>::new(&costs, sizes)
            .map(|scaled| StateTable::new(&states, &OnePort(&scaled)).receivers())
    } else {
        ScaledSizes::<f64>::new(&costs, sizes)
            .map(|scaled| StateTable::new(&states, &OnePort(&scaled)).receivers())
    };
    Ok(receivers.ok_or(DpError::TooLarge { total: sizes.total() })?.tree())
}

/// A best tree of all at any costs that all pairs share.
fn by_size(problem: &Problem, sizes: &BlockSizes) -> Result<Tree, DpError> {
    let states = States::of_all(sizes, problem.root());
    let table = StateTable::new(&states, &BySize { problem, sizes });
    match table.value() < f64::LIMIT {
        true => Ok(table.receivers().tree()),
        false => Err(DpError::TooLarge { total: sizes.total() }),
    }
}

/// Costs of messages and copies, by the state that they hold.
trait StateCosts<T> {
    /// The time of a rank's copy of its own block.
    fn copy(&self, rank: Rank) -> T;

    /// lambda and occupancy of a message with these counts of blocks of the classes; both 0 for no data.
    fn message(&self, states: &States, digits: &[usize]) -> (T, T);
}

/// Linear costs without latency that overlaps.
struct OnePort<'a, T>(&'a ScaledSizes<T>);

impl<T: Scalar> StateCosts<T> for OnePort<'_, T> {
    fn copy(&self, rank: Rank) -> T {
        self.0.copy(rank)
    }

    fn message(&self, states: &States, digits: &[usize]) -> (T, T) {
        let mut volume = T::ZERO;
        let mut data = false;
        for (class, &count) in digits.iter().enumerate() {
            let rank = states.classes[class][0];
            data |= count > 0 && states.empty != Some(class);
            for _ in 0..count {
                volume = volume + self.0.volume(rank, rank);
            }
        }
        (T::ZERO, if data { self.0.sent(volume) } else { T::ZERO })
    }
}

/// Any costs by size.
struct BySize<'a> {
    problem: &'a Problem,
    sizes: &'a BlockSizes,
}

impl StateCosts<f64> for BySize<'_> {
    fn copy(&self, rank: Rank) -> f64 {
        self.problem.copy(rank).map_or(f64::INFINITY, Time::units)
    }

    fn message(&self, states: &States, digits: &[usize]) -> (f64, f64) {
        let block = |class: usize| self.sizes.block(states.classes[class][0]);
        let bytes = digits.iter().enumerate().map(|(class, &count)| count as u64 * block(class));
        let (bytes, costs) = (bytes.sum(), self.problem.costs());
        // Of a lone rank, nothing is asked.
        let other = usize::from(states.ranks > 1);
        let units = |time: Result<Time, _>| time.map_or(f64::INFINITY, Time::units);
        (
            units(costs.latency_between(0, other, bytes)),
            units(costs.transmission_between(0, other, bytes)),
        )
    }
}

/// Possible contents of subtrees: counts of each distinct size, numbered in mixed radix.
struct States {
    ranks: usize,
    /// The given root, which no state counts; none if it is to be found.
    root: Option<Rank>,
    /// The ranks with each size, the most frequent size first.
    classes: Vec<Vec<Rank>>,
    /// The class of empty blocks, if they take part.
    empty: Option<usize>,
}

impl States {
    /// The states of a problem: with gamma <= beta, without empty blocks and with a known root.
    fn new(blocks: Blocks<'_>) -> States {
        let Blocks { sizes, costs, root } = blocks;
        let monotone = costs.gamma() <= costs.beta();
        let root = (monotone || root != Root::Best).then(|| blocks.likely_root());
        States::with(sizes, root, monotone)
    }

    /// The states in which all blocks take part but a given root's, whatever the costs.
    fn of_all(sizes: &BlockSizes, root: Root) -> States {
        States::with(sizes, root.given(), false)
    }

    /// The states with this root, or any; with empty blocks or without.
    fn with(sizes: &BlockSizes, root: Option<Rank>, without_empty: bool) -> States {
        let mut by_size: BTreeMap<u64, Vec<Rank>> = BTreeMap::new();
        for (rank, bytes) in sizes.iter().enumerate() {
            if Some(rank) != root && (bytes > 0 || !without_empty) {
                by_size.entry(bytes).or_default().push(rank);
            }
        }
        let mut classes: Vec<Vec<Rank>> = by_size.into_values().collect();
        classes.sort_by_key(|ranks| std::cmp::Reverse(ranks.len()));
        let empty = classes.iter().position(|ranks| sizes.block(ranks[0]) == 0);
        States { ranks: sizes.ranks(), root, classes, empty }
    }

    /// The pairs of a state and a part of it.
    fn work(&self) -> u64 {
        self.classes
            .iter()
            .map(|ranks| ranks.len() as u64)
            .try_fold(1_u64, |work, n| work.checked_mul((n + 1).checked_mul(n + 2)? / 2))
            .unwrap_or(u64::MAX)
    }

    /// The number of states, the empty one included.
    fn count(&self) -> usize {
        self.classes.iter().map(|ranks| ranks.len() + 1).product()
    }

    /// The counts of a state, one for each class.
    fn digits(&self, mut state: usize) -> Vec<usize> {
        let digit = |ranks: &Vec<Rank>| {
            let radix = ranks.len() + 1;
            let digit = state % radix;
            state /= radix;
            digit
        };
        self.classes.iter().map(digit).collect()
    }

    /// Calls `visit` with all parts of a state: `from..=to` in one go, which differ in the first
    /// count only.
    fn for_parts(&self, digits: &[usize], mut visit: impl FnMut(usize, usize)) {
        let Some((&first, rest)) = digits.split_first() else { return };
        let mut part = vec![0; rest.len()];
        let mut from = 0;
        loop {
            visit(from, from + first);
            let mut weight = self.classes[0].len() + 1;
            let mut class = 0;
            loop {
                if class == rest.len() {
                    return;
                }
                if part[class] < rest[class] {
                    part[class] += 1;
                    from += weight;
                    break;
                }
                from -= part[class] * weight;
                part[class] = 0;
                weight *= self.classes[class + 1].len() + 1;
                class += 1;
            }
        }
    }
}

/// The least times of all states.
struct StateTable<'s, T> {
    states: &'s States,
    /// `comm` of the state in one message.
    sent: Vec<T>,
    /// Earliest arrival of the message of a subtree with these blocks: lambda after it is ready to send.
    arrived: Vec<T>,
    /// Earliest time at which a receiver among these blocks has collected them.
    kept: Vec<T>,
    /// Earliest time at which the given root has received these blocks.
    rooted: Vec<T>,
}

impl<'s, T: Scalar> StateTable<'s, T> {
    /// The table, states in ascending order: parts have smaller numbers.
    fn new(states: &'s States, costs: &impl StateCosts<T>) -> StateTable<'s, T> {
        let count = states.count();
        let never = T::from_units(T::LIMIT);
        let mut table = StateTable {
            states,
            sent: vec![T::ZERO; count],
            arrived: vec![never; count],
            kept: vec![never; count],
            rooted: vec![never; count],
        };
        table.rooted[0] = states.root.map_or(never, |root| costs.copy(root));
        for state in 1..count {
            let digits = states.digits(state);
            let (latency, sent) = costs.message(states, &digits);
            table.sent[state] = sent;
            let (time, rooted) = table.least(state, &digits);
            let (ready, kept) = match lone(&digits) {
                Some(class) => (T::ZERO, costs.copy(states.classes[class][0])),
                None => (time, time),
            };
            (table.arrived[state], table.kept[state]) = (ready + latency, kept);
            // The part that is the whole state was not there yet.
            let at_once = table.rooted[0].most(table.arrived[state]) + sent;
            table.rooted[state] = rooted.least(at_once);
        }
        table
    }

    /// Earliest time at which a root has everything.
    fn value(&self) -> T {
        let whole = self.states.count() - 1;
        match self.states.root {
            Some(_) => self.rooted[whole],
            None if self.states.ranks == 1 => T::ZERO,
            None => self.kept[whole],
        }
    }

    /// The least times over all last messages but that of the whole state.
    fn least(&self, state: usize, digits: &[usize]) -> (T, T) {
        let never = T::from_units(T::LIMIT);
        let (mut time, mut rooted) = (never, never);
        self.states.for_parts(digits, |from, to| {
            for part in from..=to {
                let (arrived, sent) = (self.arrived[part], self.sent[part]);
                time = time.least(self.kept[state - part].most(arrived) + sent);
                rooted = rooted.least(self.rooted[state - part].most(arrived) + sent);
            }
        });
        (time, rooted)
    }

    /// Last message by which `kept` collects a state, the first of equals.
    fn last_part(&self, state: usize, kept: &[T]) -> usize {
        let target = kept[state];
        let mut found = None;
        self.states.for_parts(&self.states.digits(state), |from, to| {
            for part in from.max(1)..=to {
                let time = kept[state - part].most(self.arrived[part]) + self.sent[part];
                if time == target && found.is_none() {
                    found = Some(part);
                }
            }
        });
        found.expect("a state's time is that of its last message")
    }

    /// Receivers and senders of an optimal tree.
    fn receivers(&self) -> Receivers {
        let whole = self.states.count() - 1;
        let mut unused: Vec<_> =
            self.states.classes.iter().map(|ranks| ranks.iter().copied()).collect();
        let mut take = |class: usize| unused[class].next().expect("states count unused blocks");
        let mut receivers = Receivers::new(self.states.ranks);
        // Receivers, and the states of the messages that they receive.
        let mut pending = Vec::new();
        match self.states.root {
            Some(root) => {
                receivers.root = root;
                pending.push((root, self.messages_to_root(whole)));
            }
            None => {
                let (own, messages) = self.messages(whole);
                receivers.root = take(own);
                pending.push((receivers.root, messages));
            }
        }
        while let Some((receiver, messages)) = pending.pop() {
            for message in messages {
                let (own, messages) = self.messages(message);
                let sender = take(own);
                receivers.children[receiver].push(sender);
                pending.push((sender, messages));
            }
        }
        receivers
    }

    /// The class of the block of the rank that collects a state, and the messages that it
    /// receives, first to last.
    fn messages(&self, mut state: usize) -> (usize, Vec<usize>) {
        let mut messages = Vec::new();
        loop {
            if let Some(own) = lone(&self.states.digits(state)) {
                messages.reverse();
                return (own, messages);
            }
            let part = self.last_part(state, &self.kept);
            messages.push(part);
            state -= part;
        }
    }

    /// The messages that the given root receives, first to last.
    fn messages_to_root(&self, mut state: usize) -> Vec<usize> {
        let mut messages = Vec::new();
        while state > 0 {
            let part = self.last_part(state, &self.rooted);
            messages.push(part);
            state -= part;
        }
        messages.reverse();
        messages
    }
}

/// The class of a state's only block.
fn lone(digits: &[usize]) -> Option<usize> {
    let class = digits.iter().position(|&count| count > 0)?;
    (digits.iter().sum::<usize>() == 1).then_some(class)
}
