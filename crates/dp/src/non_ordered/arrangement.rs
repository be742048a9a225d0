//! Ranks in another order, with fillers between them, and trees translated back.

use crate::DpError;
use crate::blocks::Blocks;
use std::cmp::Reverse;
use tuwtree_model::{BlockSizes, Payload, Problem, Rank, Root, Step, Tree};

/// A problem on places instead of ranks: ranks in any order, and *fillers*, which are ranks
/// with empty blocks that do not exist.
pub(super) struct Arrangement {
    /// The rank at each place, none for a filler.
    places: Vec<Option<Rank>>,
    /// The gather of the blocks by place, with the place of the root.
    pub(super) problem: Problem,
}

impl Arrangement {
    /// The arrangement of some of a problem's ranks, at least one, a given root among them.
    ///
    /// # Errors
    /// [`DpError::TooLarge`] if there are too many places.
    pub(super) fn new(
        places: Vec<Option<Rank>>,
        blocks: Blocks<'_>,
    ) -> Result<Arrangement, DpError> {
        let Blocks { sizes, costs, root } = blocks;
        let place_of = |rank| {
            let place = places.iter().position(|&place| place == Some(rank));
            place.expect("the root has a place")
        };
        let root = root.given().map_or(Root::Best, |rank| Root::Given(place_of(rank)));
        let by_place = places.iter().map(|place| place.map_or(0, |rank| sizes.block(rank)));
        let sizes =
            &BlockSizes::new(by_place).map_err(|_| DpError::TooLarge { total: sizes.total() })?;
        Ok(Arrangement { problem: Blocks { sizes, costs, root }.gathered(), places })
    }

    /// The arrangement of some of a problem's ranks, in this order, at the costs that they have for each
    /// other, with this root, which is among them if it is given.
    pub(super) fn of_ranks(ranks: &[Rank], problem: &Problem, root: Root) -> Arrangement {
        let sizes = problem.blocks().expect("arrangements are for blocks");
        let place_of = |rank| {
            let place = ranks.iter().position(|&other| other == rank);
            place.expect("the root has a place")
        };
        let root = root.given().map_or(Root::Best, |rank| Root::Given(place_of(rank)));
        let by_place = BlockSizes::new(ranks.iter().map(|&rank| sizes.block(rank)));
        let payload = Payload::Blocks(by_place.expect("blocks of a problem fit"));
        let costs = problem.costs().among(ranks);
        let problem = Problem::new(problem.operation(), payload, costs)
            .and_then(|problem| problem.with_root(root))
            .expect("costs for as many ranks, and the root is one of them");
        Arrangement { places: ranks.iter().copied().map(Some).collect(), problem }
    }

    /// Receivers and senders in a tree over the places, without the fillers.
    ///
    /// A filler with children is replaced by the first of them, which receives the others after its
    /// own. With gamma <= beta that takes no longer: a block is copied in no more time than it takes to
    /// send it.
    pub(super) fn receivers(&self, tree: &Tree, ranks: usize) -> Receivers {
        let mut receivers = Receivers::new(ranks);
        // By place: the rank that sends what the place's subtree holds.
        let mut heads: Vec<Option<Rank>> = self.places.clone();
        for place in tree.top_down().into_iter().rev() {
            for child in tree.children(place) {
                match (heads[place], heads[child]) {
                    (Some(head), Some(sender)) => receivers.children[head].push(sender),
                    (None, sender) => heads[place] = sender,
                    (_, None) => {}
                }
            }
        }
        receivers.root = heads[tree.root()].expect("a rank has a place");
        receivers
    }
}

/// Each rank's senders, in order; all ranks copy before the first message.
pub(super) struct Receivers {
    pub(super) root: Rank,
    pub(super) children: Vec<Vec<Rank>>,
}

impl Receivers {
    /// Nobody receives anything.
    pub(super) fn new(ranks: usize) -> Receivers {
        Receivers { root: 0, children: vec![Vec::new(); ranks] }
    }

    /// The tree in which the root also receives from all that nobody receives from.
    pub(super) fn tree(mut self) -> Tree {
        let ranks = self.children.len();
        let mut sends = vec![false; ranks];
        sends[self.root] = true;
        self.children.iter().flatten().for_each(|&child| sends[child] = true);
        let left_out = (0..ranks).filter(|&rank| !sends[rank]);
        self.children[self.root].extend(left_out);
        let mut steps = Vec::with_capacity(2 * ranks);
        for (rank, children) in self.children.iter().enumerate() {
            if !children.is_empty() {
                steps.push((rank, Step::Copy));
                steps.extend(children.iter().map(|&child| (rank, Step::Receive(child))));
            }
        }
        Tree::new(ranks, self.root, &steps).expect("every other rank sends once")
    }
}

/// All ranks but the root whose blocks are not empty, largest first, of equal ones the least
/// rank.
pub(super) fn descending(sizes: &BlockSizes, root: Rank) -> Vec<Rank> {
    by_falling_blocks(sizes, |rank| rank != root && sizes.block(rank) > 0)
}

/// Some ranks, the one with the largest block first, of equal ones the least rank.
pub(super) fn by_falling_blocks(sizes: &BlockSizes, admits: impl Fn(Rank) -> bool) -> Vec<Rank> {
    let mut ranks: Vec<Rank> = (0..sizes.ranks()).filter(|&rank| admits(rank)).collect();
    ranks.sort_by_key(|&rank| Reverse(sizes.block(rank)));
    ranks
}
