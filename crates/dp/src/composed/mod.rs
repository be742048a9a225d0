//! Trees for machines with levels, composed of trees of their groups: near-optimal, for any number of ranks,
//! wherever ranks are.
//!
//! # Leaders
//! Each node is gathered along its best tree, to whichever of its ranks is best; then these leaders are
//! gathered, island by island and the islands' leaders, or all at once. A root that is given is the leader of
//! its groups. Nobody but leaders uses the network, so that a wire that ranks of a node share serves one of
//! them. Where groups consist of adjacent ranks, the tree is ordered.
//!
//! # Relays
//! Where each rank has a port of its own, a root that receives all by itself leaves its mates' ports idle:
//!
//! ```text
//!               leaders                        relays
//!  network      a b c d e f g                  a   b c   d e f g
//!               | | | | | | |                  |   | |   | | | |
//!  root's node  root . . . . .                 root  x     y   .     x and y collect at the same time,
//!                                              |<----|     |         and the root receives from them within
//!                                              |<----------|         the node, where it is fast
//! ```
//!
//! At each level, from the outermost in, the data outside the root's group may first go to some ranks inside, the
//! relays, a run of nodes to each, which then pass it on with their own block. [`Loads`] says how much each collects.
//! The order of ranks is not kept.
//!
//! # Chunks
//! Processes that know no more than their own block build a tree together: some neighbours at a time
//! ([`chunked_tree`]).
//!
//! # Large blocks
//! Large blocks go straight to the root, or to its mates ([`straight`]).
//!
//! # How a tree is found among some parties
//! By the law of one level, given when each party has its own data and how much: the best copy-first tree up to
//! some hundred parties, beyond that split from the top down
//! ([`deadline_tree_by_size`](crate::wider::deadline_tree_by_size)). Times that guide this are estimates, since
//! two parties may be nearer to each other; what a tree takes, only [`completion_time`] and the judge say.
//!
//! # What this module does not do
//! The module lists plans ([`Composer::leader_plans`], [`Composer::relay_plans`]) and leaves the choice to its caller.
//! The quality of its trees is unproven; compare them with bounds (`docs/levels.md`).
//!
//! [`completion_time`]: tuwtree_model::completion_time

mod chunks;
mod loads;
mod merge;
mod straight;

use crate::DpError;
use crate::nest::Nest;
pub use chunks::{ChunkedTree, chunked_tree};
pub use loads::Loads;
use loads::loads;
use merge::{Party, merge};
use std::ops::Range;
pub use straight::{Straight, straight};
use tuwtree_model::{BlockSizes, Hierarchy, LinkLaw, Problem, Rank, Step, Tree};

/// Gathering of a machine's groups by their leaders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nesting {
    /// Level by level.
    Nested,
    /// Nodes, and then all of their leaders, at the costs of the outermost level.
    Flat,
}

/// Collectors of the data outside a group of the root's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Nobody but the root.
    None,
    /// A rank of each other node of the group.
    Nodes(Loads),
    /// Every other rank of the group.
    Ranks(Loads),
}

/// Unit of collection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grain {
    /// A node's data.
    Node,
    /// Each rank's data, from the other nodes of the innermost group with several nodes: more messages, but relays
    /// begin sooner.
    Rank,
}

/// Composition of a tree with relays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RelayPlan {
    /// Collectors inside the root's group for each level from the second on, innermost first.
    pub spreads: Vec<Spread>,
    /// Unit of collection.
    pub grain: Grain,
    /// Gathering of each relay's part.
    pub nesting: Nesting,
}

/// Composes trees for one problem.
pub struct Composer<'a> {
    sizes: &'a BlockSizes,
    machine: &'a Hierarchy,
    root: Option<Rank>,
    nest: Nest,
    /// For each node by its first place, what gathers it if nothing has come from outside.
    nodes: Vec<Option<GatheredNode>>,
}

/// Gathering of a node, and the resulting party.
#[derive(Clone)]
struct GatheredNode {
    receives: Vec<(Rank, Rank)>,
    party: Party,
}

impl<'a> Composer<'a> {
    /// Composes trees for a gather or scatter on a machine with levels.
    ///
    /// # Errors
    /// [`DpError::Rootless`], [`DpError::NeedsBlocks`], [`DpError::NotHierarchical`].
    ///
    /// # Complexity
    /// O(p log p), and a small dynamic program for each node.
    ///
    /// # Example
    /// Two nodes of two ranks; the root's mate may collect the other node while the root copies.
    /// ```
    /// use tuwtree_dp::composed::{Composer, Nesting};
    /// use tuwtree_model::{
    ///     BlockSizes, Hierarchy, Level, Piece, PiecewiseLinear, Placement, Problem, Root, completion_time,
    /// };
    /// let level = |name: &str, alpha| Level {
    ///     name: name.to_owned(),
    ///     members: 2,
    ///     links: PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap().into(),
    /// };
    /// let levels = vec![level("node", 1.0), level("machine", 10.0)];
    /// let machine = Hierarchy::new(levels, Placement::RoundRobin, 0.0).unwrap();
    /// let sizes = BlockSizes::new([5, 5, 5, 5]).unwrap();
    /// let problem = Problem::gather(&sizes, &machine).unwrap().with_root(Root::Given(1)).unwrap();
    /// let composer = Composer::new(&problem).unwrap();
    /// // Ranks 0 and 2 share a node, and 1 and 3: 1 + 5, then 10 + 10.
    /// let tree = composer.leaders(Nesting::Nested).unwrap();
    /// assert_eq!(completion_time(&tree, &problem).unwrap().units(), 26.0);
    /// ```
    pub fn new(problem: &'a Problem) -> Result<Composer<'a>, DpError> {
        let operation = problem.operation();
        if !operation.is_rooted() {
            return Err(DpError::Rootless { operation });
        }
        let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
        let machine = problem.costs().hierarchy().ok_or(DpError::NotHierarchical)?;
        let nest = Nest::new(machine, problem.ranks());
        let nodes = vec![None; problem.ranks()];
        let root = problem.root().given();
        let mut composer = Composer { sizes, machine, root, nest, nodes };
        for node in composer.nest.groups(0, &composer.nest.all()) {
            let mut tree = Growing::new(problem.ranks());
            let party = composer.grouped(&mut tree, 0, &node)?;
            composer.nodes[node.start] = Some(GatheredNode { receives: tree.receives, party });
        }
        Ok(composer)
    }

    /// All ways to compose a tree of leaders: one, if there are no more than two levels.
    pub fn leader_plans(&self) -> Vec<Nesting> {
        match self.nest.levels() {
            0..=2 => vec![Nesting::Nested],
            _ => vec![Nesting::Nested, Nesting::Flat],
        }
    }

    /// The tree of leaders.
    ///
    /// # Errors
    /// [`DpError::OutOfMemory`], [`DpError::TooLarge`].
    ///
    /// # Complexity
    /// Nearly O(p).
    pub fn leaders(&self, nesting: Nesting) -> Result<Tree, DpError> {
        let mut tree = Growing::new(self.sizes.ranks());
        let (all, outermost) = (self.nest.all(), self.nest.levels() - 1);
        let party = match nesting {
            Nesting::Nested => self.grouped(&mut tree, outermost, &all)?,
            Nesting::Flat => {
                let nodes = self.each(&mut tree, 0, &self.nest.groups(0, &all))?;
                self.merged(&mut tree, outermost, &nodes)?
            }
        };
        Ok(tree.finished(party.root))
    }

    /// All ways to compose a tree with relays that are worth trying: none, if all ranks are on one node.
    pub fn relay_plans(&self) -> Vec<RelayPlan> {
        let mut spreads: Vec<Vec<Spread>> = vec![vec![]];
        for level in 1..self.nest.levels() {
            let both = [Loads::Staggered, Loads::Equal];
            let mut all = vec![Spread::None];
            all.extend(both.map(Spread::Ranks));
            if level > 1 {
                all.extend(both.map(Spread::Nodes));
            }
            let longer = |inner: &Vec<Spread>| {
                all.iter().map(|&spread| [&inner[..], &[spread]].concat()).collect::<Vec<_>>()
            };
            spreads = spreads.iter().flat_map(longer).collect();
        }
        spreads.retain(|spreads| spreads.iter().any(|&spread| spread != Spread::None));
        let mut plans = vec![];
        for spreads in spreads {
            for grain in [Grain::Node, Grain::Rank] {
                // With no relays within the node, nobody collects grains.
                if grain == Grain::Rank && spreads[0] == Spread::None {
                    continue;
                }
                for nesting in self.leader_plans() {
                    plans.push(RelayPlan { spreads: spreads.clone(), grain, nesting });
                }
            }
        }
        plans
    }

    /// The tree with relays for this root.
    ///
    /// # Errors
    /// As [`leaders`](Self::leaders).
    ///
    /// # Panics
    /// If there is no such rank, or the plan is for another number of levels.
    ///
    /// # Complexity
    /// Nearly O(p).
    pub fn relays(&self, root: Rank, plan: &RelayPlan) -> Result<Tree, DpError> {
        assert_eq!(plan.spreads.len() + 1, self.nest.levels(), "a plan for this machine");
        let mut tree = Growing::new(self.sizes.ranks());
        tree.root = Some(root);
        let at = self.nest.place(root);
        let mut by_root = vec![];
        for (level, &spread) in (1..self.nest.levels()).zip(&plan.spreads).rev() {
            let (own, all) = (self.nest.group(level - 1, at), self.nest.group(level, at));
            let (relays, loads) = self.relays_in(&own, root, spread);
            if all.len() == own.len() {
                continue;
            }
            if relays.is_empty() {
                by_root.push(level);
                continue;
            }
            let mut outside = vec![];
            for side in [all.start..own.start, own.end..all.end] {
                match plan.grain {
                    Grain::Rank if level == 1 => {
                        outside.extend(side.map(|at| self.alone(&tree, self.nest.order[at])));
                    }
                    _ => outside.extend(self.each(&mut tree, 0, &self.nest.groups(0, &side))?),
                }
            }
            self.collect(&mut tree, (level, plan.nesting), (&relays, loads), &outside)?;
        }
        let mut party = self.grouped(&mut tree, 0, &self.nest.group(0, at))?;
        for level in by_root.into_iter().rev() {
            let (own, all) = (self.nest.group(level - 1, at), self.nest.group(level, at));
            let siblings = |within: Range<usize>| self.nest.groups(level - 1, &within);
            let mut parties = self.each(&mut tree, level - 1, &siblings(all.start..own.start))?;
            parties.push(party);
            parties.extend(self.each(&mut tree, level - 1, &siblings(own.end..all.end))?);
            party = self.merged(&mut tree, level, &parties)?;
        }
        Ok(tree.finished(root))
    }

    /// The relays among the places of a group, in their order, and how they share.
    fn relays_in(&self, group: &Range<usize>, root: Rank, spread: Spread) -> (Vec<Rank>, Loads) {
        let at = self.nest.place(root);
        match spread {
            Spread::None => (vec![], Loads::Equal),
            Spread::Ranks(loads) => {
                let others = group.clone().filter(|&place| place != at);
                (others.map(|at| self.nest.order[at]).collect(), loads)
            }
            Spread::Nodes(loads) => {
                let nodes = self.nest.groups(0, group).into_iter();
                let others = nodes.filter(|node| !node.contains(&at));
                (others.map(|node| self.nest.order[node.start]).collect(), loads)
            }
        }
    }

    /// Lets relays collect the data outside the root's group inside a level, a run of it each.
    fn collect(
        &self,
        tree: &mut Growing,
        (level, nesting): (usize, Nesting),
        (relays, sharing): (&[Rank], Loads),
        outside: &[Party],
    ) -> Result<(), DpError> {
        let root = self.nest.place(tree.root.expect("relays are for a root"));
        let total: u64 = outside.iter().map(|party| party.bytes).sum();
        let ready = outside.iter().map(|party| party.ready).fold(0.0, f64::max);
        let laws = (self.links(level - 1), self.links(level));
        let shares = loads(sharing, total, relays.len(), laws, ready);
        // The nearest to the root are received first.
        let mut nearest: Vec<usize> = (0..relays.len()).collect();
        nearest.sort_by_key(|&relay| self.nest.place(relays[relay]).abs_diff(root));
        let mut load = vec![0.0; relays.len()];
        for (&relay, share) in nearest.iter().zip(shares) {
            load[relay] = share;
        }
        let (mut first, mut sent, mut until) = (0, 0.0, 0.0);
        for (index, (&relay, load)) in relays.iter().zip(load).enumerate() {
            until += load;
            let mut end = first;
            // As many as are nearer to the share with than without.
            while end < outside.len()
                && (index + 1 == relays.len() || sent + 0.5 * outside[end].bytes as f64 <= until)
            {
                sent += outside[end].bytes as f64;
                end += 1;
            }
            if end > first {
                self.collect_at(tree, (level, nesting), relay, &outside[first..end])?;
            }
            first = end;
        }
        Ok(())
    }

    /// Lets one relay collect some nodes, or ranks.
    fn collect_at(
        &self,
        tree: &mut Growing,
        (level, nesting): (usize, Nesting),
        relay: Rank,
        outside: &[Party],
    ) -> Result<(), DpError> {
        let mut parties = outside.to_vec();
        if nesting == Nesting::Nested {
            for inner in 1..level {
                let group = |party: &Party| self.machine.group(party.root, inner);
                let together = parties.chunk_by(|one, other| group(one) == group(other));
                let merged = together.map(|some| self.merged(tree, inner, some));
                parties = merged.collect::<Result<_, _>>()?;
            }
        }
        // Amid the others, it may receive from either side.
        let amid = parties.len() / 2;
        parties.insert(amid, self.alone(tree, relay));
        let merged = merge(self.links(level), &parties, Some(amid))?;
        tree.receive(&parties, merged.receives);
        tree.relayed[relay] = Some(merged.party);
        Ok(())
    }

    /// A rank before its node is gathered: alone, or with its collected data.
    fn alone(&self, tree: &Growing, rank: Rank) -> Party {
        tree.relayed[rank].unwrap_or_else(|| {
            let bytes = self.sizes.block(rank);
            Party { root: rank, bytes, ready: 0.0, free: self.machine.gamma() * bytes as f64 }
        })
    }

    /// Each of these groups, gathered.
    fn each(
        &self,
        tree: &mut Growing,
        level: usize,
        groups: &[Range<usize>],
    ) -> Result<Vec<Party>, DpError> {
        groups.iter().map(|group| self.grouped(tree, level, group)).collect()
    }

    /// A group of a level, gathered level by level.
    fn grouped(
        &self,
        tree: &mut Growing,
        level: usize,
        group: &Range<usize>,
    ) -> Result<Party, DpError> {
        if level > 0 {
            let parties = self.each(tree, level - 1, &self.nest.groups(level - 1, group))?;
            return self.merged(tree, level, &parties);
        }
        let ranks = &self.nest.order[group.clone()];
        let is_changed =
            ranks.iter().any(|&rank| tree.relayed[rank].is_some() || tree.root == Some(rank));
        match &self.nodes[group.start] {
            Some(GatheredNode { receives, party }) if !is_changed => {
                tree.receives.extend(receives);
                Ok(*party)
            }
            _ => {
                let parties: Vec<Party> =
                    ranks.iter().map(|&rank| self.alone(tree, rank)).collect();
                self.merged(tree, 0, &parties)
            }
        }
    }

    /// Some parties that share a group of a level, gathered at one of them; at the root, if it is there.
    fn merged(
        &self,
        tree: &mut Growing,
        level: usize,
        parties: &[Party],
    ) -> Result<Party, DpError> {
        if let [party] = parties {
            return Ok(*party);
        }
        let root = tree.root.or(self.root);
        let root = root.and_then(|root| parties.iter().position(|party| party.root == root));
        let merged = merge(self.links(level), parties, root)?;
        tree.receive(parties, merged.receives);
        Ok(merged.party)
    }

    fn links(&self, level: usize) -> &LinkLaw {
        &self.machine.levels()[level].links
    }
}

/// A tree that is being composed.
struct Growing {
    /// Receiver and sender of each message, each receiver's in order.
    receives: Vec<(Rank, Rank)>,
    /// `p` entries: what a rank has become that has collected from outside its node.
    relayed: Vec<Option<Party>>,
    /// The root, if it differs from the problem's.
    root: Option<Rank>,
}

impl Growing {
    fn new(ranks: usize) -> Growing {
        Growing { receives: vec![], relayed: vec![None; ranks], root: None }
    }

    /// Parties receive from each other, by position.
    fn receive(&mut self, parties: &[Party], receives: Vec<(usize, usize)>) {
        let ranks = receives.into_iter().map(|(to, from)| (parties[to].root, parties[from].root));
        self.receives.extend(ranks);
    }

    /// The tree with this root; receivers copy first.
    fn finished(self, root: Rank) -> Tree {
        let ranks = self.relayed.len();
        let mut steps = Vec::with_capacity(2 * ranks);
        let mut has_copied = vec![false; ranks];
        for (to, from) in self.receives {
            if !has_copied[to] {
                steps.push((to, Step::Copy));
                has_copied[to] = true;
            }
            steps.push((to, Step::Receive(from)));
        }
        Tree::new(ranks, root, &steps).expect("groups within groups are a tree")
    }
}
