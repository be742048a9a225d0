//! Hierarchical costs: a few laws, one for each level of a machine, and a map of ranks to nodes.

use super::description::{self, Description};
use super::{
    CostKind, CostModel, Costs, CostsError, Direction, Homogeneous, LeastCosts, Link, LinkLaw,
    Piece, PiecewiseLinear, linear, plus,
};
use crate::{Rank, Time, TimeError, quantity};
use std::ops::{Range, RangeInclusive};

/// The costs of a machine of nodes, switches and so on: what two ranks pay depends on the
/// innermost level that they share. Nothing of size p x p is kept.
///
/// # Units
/// As [`Homogeneous`](super::Homogeneous).
///
/// # Complexity
/// O(levels) for a transmission, whatever the number of ranks.
///
/// # Source
/// OPT section 2.1, discussion: clustered, hierarchical systems.
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    /// Innermost first, at least one.
    levels: Vec<Level>,
    /// One entry per level: the number of nodes in a group of each; 1 for the innermost.
    nodes_in_group: Vec<usize>,
    placement: Placement,
    /// For a listed placement its nodes in ascending order; else empty.
    sorted_nodes: Vec<usize>,
    gamma: f64,
    /// All costs are integers, so that every time is one.
    integral: bool,
}

/// One level of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Level {
    /// Name: "node", "switch", …
    pub name: String,
    /// Number of members of a group of this level: ranks on the innermost level (whose groups are
    /// the nodes), groups of the level below on the others. The outermost has one group.
    pub members: usize,
    /// The cost of a message between two ranks that share a group of this level, but none
    /// below.
    pub links: LinkLaw,
}

/// On which node each rank is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// Node after node is filled: rank `i` is on node `i / members`.
    Block,
    /// One rank on each node in turn: rank `i` is on node `i mod nodes`.
    RoundRobin,
    /// The node of each rank, as listed. The machine then has as many ranks as entries.
    Listed(Vec<usize>),
}

impl Placement {
    /// The placement's name in options and documents.
    pub fn name(&self) -> &'static str {
        match self {
            Placement::Block => "block",
            Placement::RoundRobin => "round-robin",
            Placement::Listed(_) => "listed",
        }
    }
}

/// Levels and a placement that are not a machine.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HierarchyError {
    /// There is no level, and so no cost of any message.
    #[error("there are no levels; at least one is needed")]
    NoLevels,
    /// A level without a name, or with that of another.
    #[error("level {level} is named {name:?}; each level needs a name of its own")]
    Name {
        /// The level, counted from 0 at the innermost.
        level: usize,
        /// The level's name in the machine file.
        name: String,
    },
    /// A level without members, or too many in all.
    #[error(
        "level {level} ({name:?}) has {members} members; at least 1, and at most 2^32 processes in \
         all, are allowed"
    )]
    Members {
        /// The level, counted from 0 at the innermost.
        level: usize,
        /// The level's name in the machine file.
        name: String,
        /// 0, or a number with which all levels together exceed 2^32 ranks.
        members: usize,
    },
    /// Not a cost.
    #[error("gamma is {value}; costs are finite numbers of at least 0")]
    Gamma {
        /// Negative, infinite or NaN.
        value: f64,
    },
    /// A rank map without ranks.
    #[error("the list of nodes is empty; it has an entry for each rank")]
    NoRanks,
    /// A rank on a node whose number is too large.
    #[error("rank {rank} is on node {node}, which is outside 0..{nodes} ({nodes} nodes)")]
    NodeOutOfRange {
        /// The rank that is placed on that node.
        rank: Rank,
        /// Not below `nodes`.
        node: usize,
        /// Number of nodes.
        nodes: usize,
    },
    /// More ranks on a node than it has ranks.
    #[error("node {node} has {ranks} processes, but only {members} fit")]
    NodeOverfull {
        /// The number of the node, from 0.
        node: usize,
        /// Number of ranks placed there.
        ranks: usize,
        /// Number of ranks that it has room for.
        members: usize,
    },
}

impl Hierarchy {
    /// The costs of these levels, innermost first, with this placement and copies at `gamma`.
    ///
    /// # Errors
    /// [`HierarchyError`].
    pub fn new(
        levels: Vec<Level>,
        placement: Placement,
        gamma: f64,
    ) -> Result<Hierarchy, HierarchyError> {
        let nodes_in_group = check_levels(&levels)?;
        if Time::new(gamma).is_none() {
            return Err(HierarchyError::Gamma { value: gamma });
        }
        let integral = gamma.fract() == 0.0 && levels.iter().all(|level| level.links.is_integral());
        let mut hierarchy = Hierarchy {
            levels,
            nodes_in_group,
            placement,
            sorted_nodes: Vec::new(),
            gamma,
            integral,
        };
        if let Placement::Listed(listed) = &hierarchy.placement {
            hierarchy.sorted_nodes = hierarchy.check_listed(listed)?;
        }
        Ok(hierarchy)
    }

    /// The nodes of a rank map in ascending order.
    fn check_listed(&self, listed: &[usize]) -> Result<Vec<usize>, HierarchyError> {
        let nodes = self.nodes();
        if listed.is_empty() {
            return Err(HierarchyError::NoRanks);
        }
        if let Some(rank) = listed.iter().position(|&node| node >= nodes) {
            return Err(HierarchyError::NodeOutOfRange { rank, node: listed[rank], nodes });
        }
        let mut sorted = listed.to_vec();
        sorted.sort_unstable();
        let members = self.levels[0].members;
        match sorted.chunk_by(|one, next| one == next).find(|ranks| ranks.len() > members) {
            Some(ranks) => {
                Err(HierarchyError::NodeOverfull { node: ranks[0], ranks: ranks.len(), members })
            }
            None => Ok(sorted),
        }
    }

    /// The machine of one level for this many ranks, at least 1, with these costs of messages and copies.
    ///
    /// # Panics
    /// For 0 ranks, or more than 2^32.
    pub fn flat(ranks: usize, costs: &Homogeneous) -> Hierarchy {
        let (alpha, overhead, beta) = (costs.alpha(), costs.overhead(), costs.beta());
        let piece = Piece { from_bytes: 0, alpha, overhead, beta };
        let links = PiecewiseLinear::new(vec![piece]).expect("costs were checked before").into();
        let level = Level { name: "network".to_owned(), members: ranks, links };
        Hierarchy::new(vec![level], Placement::Block, costs.gamma()).expect("one level of ranks")
    }

    /// The levels that some pair of this many ranks uses, innermost first.
    ///
    /// # Complexity
    /// O(p h), for a listed placement O(p h log p).
    pub fn levels_of(&self, ranks: usize) -> Vec<&Level> {
        let in_use = |level: &&Level| {
            (0..ranks)
                .any(|rank| self.levels_in_use(rank, ranks).any(|one| std::ptr::eq(one, *level)))
        };
        self.levels.iter().filter(in_use).collect()
    }

    /// The levels, innermost first.
    pub fn levels(&self) -> &[Level] {
        &self.levels
    }

    /// On which node each rank is.
    pub fn placement(&self) -> &Placement {
        &self.placement
    }

    /// The time per byte copied locally.
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// True if all costs are integers, and hence all times exact integers.
    pub fn is_integral(&self) -> bool {
        self.integral
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.nodes_in_group[self.levels.len() - 1]
    }

    /// One more than the last node that some rank below `ranks` is on.
    ///
    /// # Panics
    /// For more ranks than a listed placement has.
    ///
    /// # Complexity
    /// O(1), O(ranks) for a listed placement.
    pub fn nodes_of(&self, ranks: usize) -> usize {
        match &self.placement {
            Placement::Block => ranks.div_ceil(self.levels[0].members),
            Placement::RoundRobin => ranks.min(self.nodes()),
            Placement::Listed(nodes) => nodes[..ranks].iter().max().map_or(0, |&last| last + 1),
        }
    }

    /// The most ranks that it has room for.
    pub fn capacity(&self) -> usize {
        self.nodes() * self.levels[0].members
    }

    /// The node that `rank` is on.
    ///
    /// # Panics
    /// For a rank beyond a listed placement.
    #[inline]
    pub fn node(&self, rank: Rank) -> usize {
        match &self.placement {
            Placement::Block => rank / self.levels[0].members,
            Placement::RoundRobin => rank % self.nodes(),
            Placement::Listed(nodes) => nodes[rank],
        }
    }

    /// The group of a level, counted from 0, that `rank` is in: a number that all its ranks have, and nobody
    /// else of that level.
    ///
    /// # Panics
    /// For a level out of range, or a rank beyond a listed placement.
    #[inline]
    pub fn group(&self, rank: Rank, level: usize) -> usize {
        self.node(rank) / self.nodes_in_group[level]
    }

    /// The innermost level that two ranks share, counted from 0.
    #[inline]
    pub fn shared_level(&self, one: Rank, other: Rank) -> usize {
        let (one, other) = (self.node(one), self.node(other));
        if one == other {
            return 0;
        }
        // All nodes are in one group of the outermost level.
        let outermost = self.levels.len() - 1;
        let shares = |&level: &usize| {
            let group = self.nodes_in_group[level];
            one / group == other / group
        };
        (1..outermost).find(shares).unwrap_or(outermost)
    }

    /// The machine of one rank on each of these nodes, which copies nothing; `None` if nodes are
    /// all that the machine has.
    ///
    /// # Panics
    /// For a list without nodes, with one twice, or with a number that is too large.
    pub fn of_nodes(&self, nodes: &[usize]) -> Option<Hierarchy> {
        let levels = self.levels.get(1..).filter(|levels| !levels.is_empty())?.to_vec();
        let groups = nodes.iter().map(|node| node / levels[0].members).collect();
        let machine = Hierarchy::new(levels, Placement::Listed(groups), 0.0);
        Some(machine.expect("nodes of this machine, each once"))
    }

    /// The machine with the laws of all levels linearised at one size; see
    /// [`LinkLaw::linearised_at`].
    #[must_use]
    pub fn linearised_at(&self, bytes: u64) -> Hierarchy {
        let mut linear = self.clone();
        for level in &mut linear.levels {
            level.links = level.links.linearised_at(bytes);
        }
        linear
    }

    /// The law that all pairs of this many ranks share, if there is only one such.
    ///
    /// # Complexity
    /// O(p) for a few levels, for a listed placement O(p log p); less where there are several laws.
    pub fn only_law(&self, ranks: usize) -> Option<&LinkLaw> {
        let mut levels = (0..ranks).flat_map(|rank| self.levels_in_use(rank, ranks));
        let first = &levels.next()?.links;
        levels.all(|level| level.links == *first).then_some(first)
    }

    /// The levels on which `rank` has somebody to talk to, among `ranks`.
    fn levels_in_use(&self, rank: Rank, ranks: usize) -> impl Iterator<Item = &Level> {
        let node = self.node(rank);
        let mut inside = 1;
        self.levels.iter().zip(&self.nodes_in_group).filter_map(move |(level, &group)| {
            let first = node / group * group;
            let sharing = self.ranks_on(first..first + group, ranks);
            let more = sharing > inside;
            inside = sharing;
            more.then_some(level)
        })
    }

    /// Number of ranks among the first `ranks` on these nodes.
    fn ranks_on(&self, nodes: Range<usize>, ranks: usize) -> usize {
        match &self.placement {
            Placement::Block => {
                let members = self.levels[0].members;
                let [start, end] = [nodes.start, nodes.end].map(|node| (node * members).min(ranks));
                end - start
            }
            Placement::RoundRobin => {
                let (rounds, rest) = (ranks / self.nodes(), ranks % self.nodes());
                rounds * nodes.len() + nodes.end.min(rest).saturating_sub(nodes.start)
            }
            Placement::Listed(_) => {
                let before = |node| self.sorted_nodes.partition_point(|&other| other < node);
                before(nodes.end) - before(nodes.start)
            }
        }
    }
}

/// Number of nodes in a group of each level.
fn check_levels(levels: &[Level]) -> Result<Vec<usize>, HierarchyError> {
    let mut nodes_in_group = Vec::with_capacity(levels.len());
    let (mut ranks, mut nodes) = (1_u64, 1);
    for (index, Level { name, members, .. }) in levels.iter().enumerate() {
        if name.is_empty() || levels[..index].iter().any(|other| other.name == *name) {
            return Err(HierarchyError::Name { level: index, name: name.clone() });
        }
        let all = ranks.checked_mul(*members as u64).filter(|all| (1..=1 << 32).contains(all));
        let Some(all) = all else {
            let name = name.clone();
            return Err(HierarchyError::Members { level: index, name, members: *members });
        };
        ranks = all;
        nodes *= if index == 0 { 1 } else { *members };
        nodes_in_group.push(nodes);
    }
    match levels.is_empty() {
        true => Err(HierarchyError::NoLevels),
        false => Ok(nodes_in_group),
    }
}

impl CostModel for Hierarchy {
    fn ranks(&self) -> Option<usize> {
        match &self.placement {
            Placement::Block | Placement::RoundRobin => None,
            Placement::Listed(nodes) => Some(nodes.len()),
        }
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
        let level = &self.levels[self.shared_level(sender, receiver)];
        level.links.occupancy(self.integral, bytes)
    }

    fn latency_between(&self, sender: Rank, receiver: Rank, bytes: u64) -> Result<Time, TimeError> {
        match bytes {
            0 => Ok(Time::ZERO),
            _ => self.levels[self.shared_level(sender, receiver)].links.latency(bytes),
        }
    }

    fn copy_at(&self, _: Rank, bytes: u64) -> Result<Time, TimeError> {
        linear(self.integral, 0.0, self.gamma, bytes)
    }

    fn sum(&self, start: Time, cost: Time) -> Result<Time, TimeError> {
        plus(self.integral, start, cost)
    }

    /// O(levels). For pieces, a line below them stands for the law.
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
        self.levels_in_use(rank, ranks)
            .map(|level| level.links.least_in_all(self.integral, bytes))
            .reduce(|one, other| match (one, other) {
                (Ok(one), Ok(other)) => Ok(one.min(other)),
                (Err(_), fine) | (fine, Err(_)) => fine,
            })
            .unwrap_or(Err(TimeError::Isolated { rank, direction }))
    }
}

impl CostKind for Hierarchy {
    fn name(&self) -> &'static str {
        "hierarchical"
    }

    fn room(&self) -> Option<usize> {
        Some(self.capacity())
    }

    fn is_integral(&self) -> bool {
        self.integral
    }

    fn check_linear(&self) -> Result<(), CostsError> {
        match self.levels.iter().find(|level| level.links.linear().is_none()) {
            Some(level) => Err(CostsError::NotLinear { level: level.name.clone() }),
            None => Ok(()),
        }
    }

    fn linearised_at(&self, bytes: u64) -> Option<Costs> {
        Some(Costs::Hierarchical(Hierarchy::linearised_at(self, bytes)))
    }

    fn homogeneous(&self, ranks: usize) -> Option<Homogeneous> {
        let link = self.only_law(ranks)?.linear()?;
        Homogeneous::new(link.alpha, link.beta, self.gamma).ok()?.with_overhead(link.overhead).ok()
    }

    fn overlaps(&self) -> bool {
        self.levels.iter().any(|level| level.links.overlaps())
    }

    /// O(p).
    fn least_costs(&self, ranks: usize, bytes: RangeInclusive<u64>) -> LeastCosts {
        let mut used: Vec<&Level> = vec![];
        for level in (0..ranks).flat_map(|rank| self.levels_in_use(rank, ranks)) {
            if !used.iter().any(|&other| std::ptr::eq(other, level)) {
                used.push(level);
            }
        }
        used.iter()
            .map(|level| level.links.least_costs(bytes.clone()))
            .reduce(LeastCosts::or)
            .unwrap_or(LeastCosts::new(0.0, vec![]))
    }

    fn among(&self, ranks: &[Rank]) -> Costs {
        let nodes = ranks.iter().map(|&rank| self.node(rank)).collect();
        let machine = Hierarchy::new(self.levels.clone(), Placement::Listed(nodes), self.gamma);
        Costs::Hierarchical(machine.expect("some ranks of this machine, each once"))
    }

    fn link(&self, sender: Rank, receiver: Rank) -> Option<Link> {
        self.levels[self.shared_level(sender, receiver)].links.linear()
    }

    fn gamma_at(&self, _: Rank) -> f64 {
        self.gamma
    }

    fn hierarchy(&self) -> Option<&Hierarchy> {
        Some(self)
    }

    fn description(&self) -> Description {
        let inner = &self.levels[0];
        let count = match &self.placement {
            Placement::Listed(nodes) => nodes.len().to_string(),
            Placement::Block | Placement::RoundRobin => format!("up to {}", self.capacity()),
        };
        let mut rows = Vec::new();
        let overlaps = CostKind::overlaps(self);
        for level in &self.levels {
            let lines: Vec<(u64, Link)> = match &level.links {
                LinkLaw::Pieces(law) => {
                    law.pieces().iter().map(|piece| (piece.from_bytes, piece.link())).collect()
                }
                LinkLaw::Measured(law) => {
                    law.sizes().iter().map(|size| (size.bytes, law.link_at(size.bytes))).collect()
                }
            };
            for (index, &(from, link)) in lines.iter().enumerate() {
                let until = lines.get(index + 1).map_or(u64::MAX, |&(next, _)| next);
                let (name, members) = match index {
                    0 => (level.name.clone(), level.members.to_string()),
                    _ => Default::default(),
                };
                let mut row = vec![name, members, from.to_string()];
                row.extend(description::cells(link, from..until, overlaps));
                rows.push(row);
            }
        }
        let first = ["level", "members", "from bytes"];
        Description {
            processes: format!(
                "{count}; {} x {} with room for {} each, {} placement",
                self.nodes(),
                inner.name,
                inner.members,
                self.placement.name()
            ),
            facts: vec![("copies", quantity::per_byte(self.gamma))],
            headings: description::words(&[&first, description::costs(overlaps)].concat()),
            rows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Piece, PiecewiseLinear};

    fn level(name: &str, members: usize, alpha: f64) -> Level {
        let links = PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap();
        Level { name: name.into(), members, links: links.into() }
    }

    /// Two switches of three nodes of four ranks.
    fn machine(placement: Placement) -> Result<Hierarchy, HierarchyError> {
        let levels = vec![level("node", 4, 1.0), level("switch", 3, 10.0), level("all", 2, 100.0)];
        Hierarchy::new(levels, placement, 0.5)
    }

    #[test]
    fn ranks_pay_for_the_innermost_level_they_share() {
        let block = machine(Placement::Block).unwrap();
        assert_eq!((block.nodes(), block.capacity(), block.ranks()), (6, 24, None));
        let level = |other| block.shared_level(1, other);
        assert_eq!([0, 3, 4, 11, 12, 23].map(level), [0, 0, 1, 1, 2, 2]);
        assert_eq!(block.transmission_between(1, 4, 7).unwrap().units(), 17.0);
        let round = machine(Placement::RoundRobin).unwrap();
        assert_eq!([6, 1, 2, 3, 18].map(|other| round.shared_level(0, other)), [0, 1, 1, 2, 0]);
        let listed = machine(Placement::Listed(vec![5, 0, 5, 1])).unwrap();
        assert_eq!(listed.ranks(), Some(4));
        assert_eq!([1, 2, 3].map(|other| listed.shared_level(0, other)), [2, 0, 2]);
    }

    #[test]
    fn levels_without_a_partner_do_not_lower_the_bound() {
        let lists = [vec![5, 0, 5, 1], vec![0, 1, 2, 3], vec![0, 0, 4]];
        let listed = lists.map(Placement::Listed);
        for placement in [Placement::Block, Placement::RoundRobin].into_iter().chain(listed) {
            let machine = machine(placement).unwrap();
            let counts = machine.ranks().map_or(2..=24, |ranks| ranks..=ranks);
            for ranks in counts {
                for rank in 0..ranks {
                    let others = (0..ranks).filter(|&other| other != rank);
                    let times =
                        others.map(|other| machine.transmission_between(rank, other, 9).unwrap());
                    let least = machine.least_busy(Direction::Send, rank, ranks, 9);
                    assert_eq!(least.ok(), times.min(), "{:?} {rank}", machine.placement);
                }
            }
        }
    }

    #[test]
    fn what_is_no_machine_is_refused_with_place_and_value() {
        let listed = |nodes: &[usize]| machine(Placement::Listed(nodes.into())).unwrap_err();
        let built = |levels| Hierarchy::new(levels, Placement::Block, 0.0).unwrap_err();
        for (error, message) in [
            (listed(&[]), "list of nodes is empty"),
            (listed(&[0, 6]), "rank 1 is on node 6, which is outside 0..6"),
            (listed(&[2, 2, 2, 1, 2, 2]), "node 2 has 5 processes, but only 4 fit"),
            (built(vec![]), "no levels"),
            (built(vec![level("node", 0, 1.0)]), "level 0 (\"node\") has 0 members"),
            (built(vec![level("a", 1 << 20, 1.0), level("b", 1 << 20, 1.0)]), "level 1 (\"b\")"),
            (built(vec![level("a", 2, 1.0), level("a", 2, 1.0)]), "level 1 is named \"a\""),
            (
                Hierarchy::new(vec![level("a", 2, 1.0)], Placement::Block, -1.0).unwrap_err(),
                "gamma is -1",
            ),
        ] {
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
