//! The best of all trees, by dynamic programming over what a subtree holds.
//!
//! A subtree matters only for the blocks that it holds, and of these only for how many there are of
//! each size. So a state is a count for each distinct size: subsets, where all sizes differ, and
//! polynomially many states for a fixed number of sizes. Blocks of one size are told apart again when
//! the tree is built.

use super::NonOrderedError;
use super::arrangement::Receivers;
use super::ports;
use crate::DpError;
use crate::blocks::Blocks;
use std::collections::BTreeMap;
use tuwtree_model::{Ports, Problem, Rank, Root, Scalar, ScaledSizes, Tree};

/// What [`exact`] does in a moment: 3^16 steps.
pub const WORK_AT_ONCE: u64 = 43_046_721;

/// The most steps that [`exact`] takes; some seconds.
pub const MOST_WORK: u64 = 1_000_000_000;

/// How many steps [`exact`] would take with one port: the pairs of a state and a part of it, `u64::MAX`
/// if there are more.
///
/// For `n` blocks with distinct sizes, that do not count the root's, `3^n`.
///
/// # Errors
/// [`DpError::NeedsBlocks`], [`DpError::NotHomogeneous`], [`DpError::Costs`].
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
    Ok(States::new(Blocks::of(problem)?).work())
}

/// A best tree of all for gather or scatter at homogeneous costs, ordered or not, with a given root or
/// the best one, and as many ports as the problem has.
///
/// For gamma > beta, empty blocks and all roots take part; otherwise see the
/// [module](super#what-makes-it-simpler-than-ordered-trees).
///
/// # Errors
/// [`NonOrderedError`]: more than [`MOST_WORK`] steps with one port, more than
/// [`MOST_ON_PORTS`](super::MOST_ON_PORTS) processors with several; a problem of another kind, times
/// too large.
///
/// # Complexity
/// O([`exact_work`]) time; space for fewer than half a million states. With several ports O(p 3^p)
/// steps, each for all lists of times that are kept: a few with two ports, some dozens with more.
/// NP-hard for any number of ports (OPT Theorems 6 and 7).
///
/// # Source
/// OPT Proposition 2. For `X` without a root, `T[X]` is the least over nonempty proper parts `Y` of
/// `max(K[X - Y], T[Y]) + comm(Y)`, where `K = T` but for single blocks, which are copied as receivers
/// and ready at 0 as senders; the same for the sets with a given root.
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
    let blocks = Blocks::of(problem)?;
    match problem.ports() {
        Ports::ONE => on_one_port(blocks),
        several => ports::exact(blocks, several),
    }
}

/// A best tree of all where processors have one port.
fn on_one_port(blocks: Blocks<'_>) -> Result<Tree, NonOrderedError> {
    let Blocks { sizes, costs, .. } = blocks;
    let states = States::new(blocks);
    let needed = states.work();
    if needed > MOST_WORK {
        return Err(NonOrderedError::TooMuchWork { needed, allowed: MOST_WORK });
    }
    let receivers = if costs.is_integral() {
        ScaledSizes::<i64>::new(&costs, sizes)
            .map(|scaled| StateTable::new(&states, &scaled).receivers())
    } else {
        ScaledSizes::<f64>::new(&costs, sizes)
            .map(|scaled| StateTable::new(&states, &scaled).receivers())
    };
    Ok(receivers.ok_or(DpError::TooLarge { total: sizes.total() })?.tree())
}

/// What subtrees may hold: counts of each distinct size, numbered in mixed radix.
struct States {
    processors: usize,
    /// The given root, which no state counts; none if it is to be found.
    root: Option<Rank>,
    /// The processors with each size, the most frequent size first.
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
        let mut by_size: BTreeMap<u64, Vec<Rank>> = BTreeMap::new();
        for (rank, bytes) in sizes.iter().enumerate() {
            if Some(rank) != root && (bytes > 0 || !monotone) {
                by_size.entry(bytes).or_default().push(rank);
            }
        }
        let mut classes: Vec<Vec<Rank>> = by_size.into_values().collect();
        classes.sort_by_key(|ranks| std::cmp::Reverse(ranks.len()));
        let empty = classes.iter().position(|ranks| sizes.block(ranks[0]) == 0);
        States { processors: sizes.processors(), root, classes, empty }
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
    /// When a subtree with these blocks can be ready to send.
    time: Vec<T>,
    /// When a receiver that is one of them can have collected these blocks.
    kept: Vec<T>,
    /// When the given root can have received these blocks.
    rooted: Vec<T>,
}

impl<'s, T: Scalar> StateTable<'s, T> {
    /// The table, states in ascending order: parts have smaller numbers.
    fn new(states: &'s States, sizes: &ScaledSizes<T>) -> StateTable<'s, T> {
        let count = states.count();
        let never = T::from_units(T::LIMIT);
        let mut table = StateTable {
            states,
            sent: vec![T::ZERO; count],
            time: vec![never; count],
            kept: vec![never; count],
            rooted: vec![never; count],
        };
        table.rooted[0] = states.root.map_or(never, |root| sizes.copy(root));
        for state in 1..count {
            let digits = states.digits(state);
            table.sent[state] = message(states, sizes, &digits);
            let (time, rooted) = table.least(state, &digits);
            table.rooted[state] = rooted;
            (table.time[state], table.kept[state]) = match lone(&digits) {
                Some(class) => (T::ZERO, sizes.copy(states.classes[class][0])),
                None => (time, time),
            };
            // The part that is the whole state was not there yet.
            let at_once = table.rooted[0].most(table.time[state]) + table.sent[state];
            table.rooted[state] = rooted.least(at_once);
        }
        table
    }

    /// The least times over all last messages but that of the whole state.
    fn least(&self, state: usize, digits: &[usize]) -> (T, T) {
        let never = T::from_units(T::LIMIT);
        let (mut time, mut rooted) = (never, never);
        self.states.for_parts(digits, |from, to| {
            for part in from..=to {
                let (ready, sent) = (self.time[part], self.sent[part]);
                time = time.least(self.kept[state - part].most(ready) + sent);
                rooted = rooted.least(self.rooted[state - part].most(ready) + sent);
            }
        });
        (time, rooted)
    }

    /// The last message by which `kept` collects a state, of several the first.
    fn last_part(&self, state: usize, kept: &[T]) -> usize {
        let target = kept[state];
        let mut found = None;
        self.states.for_parts(&self.states.digits(state), |from, to| {
            for part in from.max(1)..=to {
                let time = kept[state - part].most(self.time[part]) + self.sent[part];
                if time == target && found.is_none() {
                    found = Some(part);
                }
            }
        });
        found.expect("a state's time is that of its last message")
    }

    /// Who receives from whom in a best tree.
    fn receivers(&self) -> Receivers {
        let whole = self.states.count() - 1;
        let mut unused: Vec<_> =
            self.states.classes.iter().map(|ranks| ranks.iter().copied()).collect();
        let mut take = |class: usize| unused[class].next().expect("states count unused blocks");
        let mut receivers = Receivers::new(self.states.processors);
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

    /// The class of the block of the processor that collects a state, and the messages that it
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

/// `comm` of a state.
fn message<T: Scalar>(states: &States, sizes: &ScaledSizes<T>, digits: &[usize]) -> T {
    let mut volume = T::ZERO;
    let mut data = false;
    for (class, &count) in digits.iter().enumerate() {
        let rank = states.classes[class][0];
        data |= count > 0 && states.empty != Some(class);
        for _ in 0..count {
            volume = volume + sizes.volume(rank, rank);
        }
    }
    if data { sizes.sent(volume) } else { T::ZERO }
}

/// The class of a state's only block.
fn lone(digits: &[usize]) -> Option<usize> {
    let class = digits.iter().position(|&count| count > 0)?;
    (digits.iter().sum::<usize>() == 1).then_some(class)
}
