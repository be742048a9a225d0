//! Trees that processes build jointly, each knowing only its own block at first.
//!
//! Neighbouring processes, a *chunk*, exchange their sizes and times; each of them computes the best tree among them;
//! the root of the chunk goes on with other chunks' roots, until one is left:
//!
//! ```text
//! chunks of 3     0 1 2   3 4 5   6 7 8       one all-gather in each chunk: 2 rounds
//!                  1        5      7          the roots of the best trees: another
//!                           5
//! ```
//!
//! Chunks are as small as they can be without one more stage, so that the last is no smaller than the first.
//! With chunks of two this is the adaptive binomial tree by completion times. Where latency overlaps,
//! chunks of two are poor: by the time a message has come, its receiver could have received several. Larger
//! chunks let it.
//!
//! On a machine with levels the ranks of a node are one chunk, and joining goes on level by level.
//!
//! # Direct senders
//! A rank with a large part of all data, and a message dominated by its data rather than latency and overhead, sends
//! straight to a given root, which receives these blocks first. That takes an all-reduce of the sizes beforehand.
//!
//! # Rounds
//! An all-gather among `n` takes `ceil(log2 n)` rounds of messages. So chunks of `R` take about as many rounds
//! as chunks of two, `ceil(log2 p)`, with longer messages: `16 R` bytes at most.

use super::merge::{Party, merge};
use crate::DpError;
use crate::blocks::shares_one_law;
use crate::nest::Nest;
use tuwtree_model::{BlockSizes, LinkLaw, Piece, PiecewiseLinear, Problem, Rank, Step, Tree};

/// A tree that processes build together, and what that costs them.
#[derive(Clone, Debug, PartialEq)]
pub struct ChunkedTree {
    /// The tree.
    pub tree: Tree,
    /// Rounds of messages one after the other in which it is built, before any data is sent.
    pub rounds: usize,
}

/// A block with such a share of all data may be sent straight to the root.
const DIRECT_SHARE: u64 = 16;

/// The tree by chunks of at most `most`, for a gather or scatter at linear costs that all pairs share or on a machine
/// with levels.
///
/// # Errors
/// [`DpError::Rootless`], [`DpError::NeedsBlocks`]; [`DpError::NotHierarchical`] for other costs.
///
/// # Panics
/// If chunks have fewer than two members.
///
/// # Complexity
/// O(p R^2) time for chunks of `R`; each process by itself O(R^3) in each of its chunks.
///
/// # Example
/// Four processes whose messages travel for 9 and occupy a receiver for 1. Two by two they take 2 (9 + 1), a
/// chunk of four 9 + 3.
/// ```
/// use tuwtree_dp::composed::chunked_tree;
/// use tuwtree_model::{BlockSizes, Homogeneous, Problem, completion_time};
/// let sizes = BlockSizes::new([1; 4]).unwrap();
/// let costs = Homogeneous::new(10.0, 0.0, 0.0).unwrap().with_overhead(1.0).unwrap();
/// let problem = Problem::gather(&sizes, costs).unwrap();
/// for (most, time, rounds) in [(2, 20.0, 2), (4, 12.0, 2)] {
///     let found = chunked_tree(&problem, most).unwrap();
///     assert_eq!(completion_time(&found.tree, &problem).unwrap().units(), time);
///     assert_eq!(found.rounds, rounds);
/// }
/// ```
pub fn chunked_tree(problem: &Problem, most: usize) -> Result<ChunkedTree, DpError> {
    assert!(most >= 2, "chunks of one never become fewer");
    let operation = problem.operation();
    if !operation.is_rooted() {
        return Err(DpError::Rootless { operation });
    }
    let sizes = problem.blocks().ok_or(DpError::NeedsBlocks { operation })?;
    let mut chunks = Chunks {
        sizes,
        most,
        root: problem.root().given(),
        receives: vec![],
        direct: vec![false; problem.ranks()],
        rounds: 0,
    };
    let costs = problem.costs();
    match (costs.homogeneous(problem.ranks()), costs.hierarchy()) {
        (Some(costs), _) if shares_one_law(problem) => {
            let piece = Piece {
                from_bytes: 0,
                alpha: costs.alpha(),
                overhead: costs.overhead(),
                beta: costs.beta(),
            };
            let links = PiecewiseLinear::new(vec![piece]).expect("costs that were admitted").into();
            let started = chunks.send_direct(&links, costs.gamma());
            let parties = chunks.parties(0..problem.ranks(), costs.gamma(), started);
            chunks.join(&links, parties)?;
        }
        (_, Some(machine)) => {
            let nest = Nest::new(machine, problem.ranks());
            let links = |level: usize| &machine.levels()[level].links;
            let outermost = links(nest.levels() - 1);
            let started = chunks.send_direct(outermost, machine.gamma());
            let mut parties = vec![];
            let (mut rounds, mut begins) = (0, vec![]);
            for node in nest.groups(0, &nest.all()) {
                let ranks = nest.order[node.clone()].iter().copied();
                let node_parties = chunks.parties(ranks, machine.gamma(), started);
                if node_parties.is_empty() {
                    continue;
                }
                rounds = rounds.max(rounds_among(node_parties.len()));
                begins.push(node.start);
                parties.push(chunks.merged(links(0), &node_parties)?);
            }
            chunks.rounds += rounds;
            for level in 1..nest.levels() {
                let (before, mut most_rounds) = (chunks.rounds, 0);
                let mut outer = vec![];
                for group in nest.groups(level, &nest.all()) {
                    let inside = |begin: &usize| group.contains(begin);
                    let members: Vec<Party> = begins
                        .iter()
                        .zip(&parties)
                        .filter(|(begin, _)| inside(begin))
                        .map(|(_, party)| *party)
                        .collect();
                    if !members.is_empty() {
                        chunks.rounds = before;
                        outer.push((group.start, chunks.join(links(level), members)?));
                        most_rounds = most_rounds.max(chunks.rounds - before);
                    }
                }
                chunks.rounds = before + most_rounds;
                (begins, parties) = outer.into_iter().unzip();
            }
        }
        _ => return Err(DpError::NotHierarchical),
    }
    Ok(chunks.finished())
}

/// A tree that is built by chunks.
struct Chunks<'a> {
    sizes: &'a BlockSizes,
    most: usize,
    root: Option<Rank>,
    /// Receiver and sender of each message, each receiver's in order.
    receives: Vec<(Rank, Rank)>,
    /// `p` entries: whether a rank sends straight to the root.
    direct: Vec<bool>,
    rounds: usize,
}

impl Chunks<'_> {
    /// Lets those send straight to a given root that had better do so; when the root has them all, if any.
    fn send_direct(&mut self, links: &LinkLaw, gamma: f64) -> Option<(u64, f64)> {
        let root = self.root?;
        self.rounds += rounds_among(self.sizes.ranks());
        let (latency, overhead) = links.times(1);
        let total = self.sizes.total();
        let mut bytes = self.sizes.block(root);
        let mut clock = gamma * bytes as f64;
        for (rank, block) in self.sizes.iter().enumerate() {
            let (_, occupancy) = links.times(block);
            let is_large = block > 0
                && block >= total / DIRECT_SHARE
                && occupancy - overhead >= latency + overhead;
            if rank != root && is_large {
                self.direct[rank] = true;
                self.receives.push((root, rank));
                clock = clock.max(links.times(block).0) + occupancy;
                bytes += block;
            }
        }
        Some((bytes, clock))
    }

    /// Ranks that do not send straight to the root, and the root with the data of the others.
    fn parties(
        &self,
        ranks: impl IntoIterator<Item = Rank>,
        gamma: f64,
        at_root: Option<(u64, f64)>,
    ) -> Vec<Party> {
        let party = |rank: Rank| match at_root.filter(|_| self.root == Some(rank)) {
            Some((bytes, clock)) => Party { root: rank, bytes, ready: clock, free: clock },
            None => {
                let bytes = self.sizes.block(rank);
                Party { root: rank, bytes, ready: 0.0, free: gamma * bytes as f64 }
            }
        };
        ranks.into_iter().filter(|&rank| !self.direct[rank]).map(party).collect()
    }

    /// Joins parties, chunk by chunk.
    fn join(&mut self, links: &LinkLaw, mut parties: Vec<Party>) -> Result<Party, DpError> {
        while parties.len() > 1 {
            let chunks = parties.len().div_ceil(self.members(parties.len()));
            let begin = |chunk: usize| chunk * parties.len() / chunks;
            let largest = parties.len().div_ceil(chunks);
            let merged = (0..chunks)
                .map(|chunk| self.merged(links, &parties[begin(chunk)..begin(chunk + 1)]));
            parties = merged.collect::<Result<_, _>>()?;
            self.rounds += rounds_among(largest);
        }
        Ok(parties[0])
    }

    /// Size of chunks among this many parties: the least for which as many stages suffice as for the largest chunks. A
    /// root whose last chunk is a pair would wait for half of all.
    fn members(&self, parties: usize) -> usize {
        let reach = |members: usize, stages: u32| {
            members.checked_pow(stages).is_none_or(|reached| reached >= parties)
        };
        let stages = (1..).find(|&stages| reach(self.most, stages)).expect("chunks of two or more");
        (2..self.most).find(|&members| reach(members, stages)).unwrap_or(self.most)
    }

    /// Joins the members of a chunk; a given root among them receives.
    fn merged(&mut self, links: &LinkLaw, parties: &[Party]) -> Result<Party, DpError> {
        if let [party] = parties {
            return Ok(*party);
        }
        let root = self.root.and_then(|root| parties.iter().position(|party| party.root == root));
        let merged = merge(links, parties, root)?;
        let ranks =
            merged.receives.into_iter().map(|(to, from)| (parties[to].root, parties[from].root));
        self.receives.extend(ranks);
        Ok(merged.party)
    }

    /// The tree; receivers copy first.
    fn finished(self) -> ChunkedTree {
        let ranks = self.sizes.ranks();
        let mut steps = Vec::with_capacity(2 * ranks);
        let (mut has_copied, mut has_sent) = (vec![false; ranks], vec![false; ranks]);
        for (to, from) in self.receives {
            if !has_copied[to] {
                steps.push((to, Step::Copy));
                has_copied[to] = true;
            }
            has_sent[from] = true;
            steps.push((to, Step::Receive(from)));
        }
        let root = has_sent.iter().position(|&sent| !sent).expect("one is left");
        let tree = Tree::new(ranks, root, &steps).expect("chunks of chunks are a tree");
        ChunkedTree { tree, rounds: self.rounds }
    }
}

/// Number of rounds of an exchange among this many.
fn rounds_among(count: usize) -> usize {
    count.next_power_of_two().ilog2() as usize
}
