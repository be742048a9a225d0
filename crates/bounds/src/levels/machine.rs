//! A machine with levels and its blocks, as the bounds read them.

use std::collections::{HashMap, HashSet};
use tuwtree_model::LineBelow;
use tuwtree_model::{BlockSizes, Hierarchy, LeastCosts, Rank};

/// A machine and blocks, reduced to largest groups and cheapest messages.
pub(super) struct BlocksOnLevels {
    /// Each level of the machine, innermost first.
    pub(super) levels: Vec<GroupsOfLevel>,
    /// All blocks that are not empty, the largest first; and the sums of the first ones.
    pub(super) largest: Vec<f64>,
    /// The smallest block that is not empty, in bytes.
    pub(super) smallest: u64,
    /// All bytes.
    pub(super) total: f64,
    /// Reduction of every block's size, except for `smallest`.
    less: f64,
}

/// Upper bounds on the content of any group of a level, and lower bounds on messages between its parts.
pub(super) struct GroupsOfLevel {
    /// The largest of each: bytes, blocks that are not empty, ranks, nodes.
    pub(super) most: Share,
    /// Least latency and occupancies; `None` if no two ranks pay for this level.
    pub(super) law: Option<LeastCosts>,
    /// For each rank, what its group has.
    shares: Vec<Share>,
    group_of: Vec<usize>,
}

/// Content of a group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Share {
    pub(super) bytes: f64,
    pub(super) blocks: f64,
    pub(super) ranks: f64,
    pub(super) nodes: f64,
}

/// A line below all occupancies of a level, and its least latency, in time units.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheapestMessage {
    pub(super) latency: f64,
    pub(super) overhead: f64,
    pub(super) per_byte: f64,
}

impl BlocksOnLevels {
    /// The machine with every block reduced by this many bytes; a block of zero bytes still counts. `None` if no rank
    /// has data.
    ///
    /// # Complexity
    /// O(p h) time and space, and O(p log p) time.
    pub(super) fn new(
        machine: &Hierarchy,
        sizes: &BlockSizes,
        less: f64,
    ) -> Option<BlocksOnLevels> {
        let mut largest: Vec<u64> = sizes.iter().filter(|&bytes| bytes > 0).collect();
        largest.sort_unstable_by(|a, b| b.cmp(a));
        let smallest = *largest.last()?;
        let ranks = sizes.ranks();
        let mut levels: Vec<GroupsOfLevel> =
            (0..machine.levels().len()).map(|level| groups(machine, level, sizes, less)).collect();
        for level in 0..levels.len() {
            let inside = |rank: Rank| match level {
                0 => 1.0,
                _ => levels[level - 1].share(rank).ranks,
            };
            let is_used = (0..ranks).any(|rank| levels[level].share(rank).ranks > inside(rank));
            let links = &machine.levels()[level].links;
            levels[level].law =
                is_used.then(|| links.least_costs(smallest..=sizes.total().max(smallest)));
        }
        let mut total = 0.0;
        let sums = largest.iter().map(|&bytes| {
            total += Share::of(bytes, less).bytes;
            total
        });
        let largest = std::iter::once(0.0).chain(sums).collect();
        Some(BlocksOnLevels { levels, largest, smallest, total, less })
    }

    /// Total of the largest blocks, by their number.
    pub(super) fn bytes_of_largest(&self, blocks: f64) -> f64 {
        self.largest[(blocks as usize).min(self.largest.len() - 1)]
    }

    /// Number of nonempty blocks.
    pub(super) fn blocks(&self) -> f64 {
        (self.largest.len() - 1) as f64
    }

    /// Content of this rank's group of the level inside `level`; at level 0, of the rank alone.
    pub(super) fn inside(&self, level: usize, rank: Rank, sizes: &BlockSizes) -> Share {
        match level.checked_sub(1) {
            Some(level) => self.levels[level].share(rank),
            None => Share::of(sizes.block(rank), self.less),
        }
    }

    /// The least latency of all levels in use.
    pub(super) fn least_latency(&self) -> f64 {
        let latencies = self.levels.iter().filter_map(|level| level.law.as_ref());
        latencies.map(LeastCosts::latency).fold(f64::INFINITY, f64::min)
    }

    /// Lines below the occupancies of each level in use, `None` for the others: the first set is highest for
    /// small messages, the last for large ones. Empty if some occupancy cannot be stated.
    pub(super) fn laws(&self) -> Vec<Vec<Option<CheapestMessage>>> {
        let lines: Vec<Option<(f64, Vec<LineBelow>)>> = self
            .levels
            .iter()
            .map(|groups| groups.law.as_ref().map(|law| (law.latency(), law.lines_below())))
            .collect();
        let counts = lines.iter().flatten().map(|(_, lines)| lines.len());
        if counts.clone().any(|count| count == 0) {
            return vec![];
        }
        let sets = counts.max().unwrap_or(0);
        let set = |index: usize| {
            let of_level = |level: &Option<(f64, Vec<LineBelow>)>| {
                let (latency, lines) = level.as_ref()?;
                let LineBelow { overhead, beta } =
                    lines[index * (lines.len() - 1) / (sets - 1).max(1)];
                Some(CheapestMessage { latency: *latency, overhead, per_byte: beta })
            };
            lines.iter().map(of_level).collect()
        };
        (0..sets).map(set).collect()
    }
}

impl GroupsOfLevel {
    pub(super) fn share(&self, rank: Rank) -> Share {
        self.shares[self.group_of[rank]]
    }
}

impl Share {
    fn of(bytes: u64, less: f64) -> Share {
        let blocks = if bytes > 0 { 1.0 } else { 0.0 };
        Share { bytes: (bytes as f64 - less).max(0.0), blocks, ranks: 1.0, nodes: 0.0 }
    }

    /// The larger of each.
    pub(super) fn max(self, other: Share) -> Share {
        Share {
            bytes: self.bytes.max(other.bytes),
            blocks: self.blocks.max(other.blocks),
            ranks: self.ranks.max(other.ranks),
            nodes: self.nodes.max(other.nodes),
        }
    }
}

/// The groups of a level, without its law.
fn groups(machine: &Hierarchy, level: usize, sizes: &BlockSizes, less: f64) -> GroupsOfLevel {
    let mut numbers: HashMap<usize, usize> = HashMap::new();
    let mut shares: Vec<Share> = vec![];
    let mut nodes: Vec<HashSet<usize>> = vec![];
    let group_of: Vec<usize> = (0..sizes.ranks())
        .map(|rank| {
            let next = numbers.len();
            let number = *numbers.entry(machine.group(rank, level)).or_insert(next);
            if number == shares.len() {
                shares.push(Share::default());
                nodes.push(HashSet::new());
            }
            let (share, own) = (&mut shares[number], Share::of(sizes.block(rank), less));
            share.bytes += own.bytes;
            share.blocks += own.blocks;
            share.ranks += own.ranks;
            nodes[number].insert(machine.node(rank));
            share.nodes = nodes[number].len() as f64;
            number
        })
        .collect();
    let most = shares.iter().copied().reduce(Share::max).unwrap_or_default();
    GroupsOfLevel { most, law: None, shares, group_of }
}
