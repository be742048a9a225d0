//! Completion time of a tree, straight from its definition and independent of every construction.

use crate::ports::Deal;
use crate::{
    BlockSizes, Collective, CostModel, Direction, Ports, Rank, Step, Time, TimeError, Tree, Vector,
};

/// When each processor of an inward operation (gather, reduction) holds its whole segment, when it
/// sends it, and its size.
///
/// An outward operation (scatter, broadcast) runs the same steps backwards in time, so that its
/// times are these, counted back from the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// `p` entries: when each processor's subtree is complete; 0 for a leaf.
    pub ready: Vec<Time>,
    /// `p` entries: start and end of the transmission to the parent; for the root, twice its clock.
    pub sent: Vec<(Time, Time)>,
    /// `p` entries: the size in bytes of what goes along the edge to each processor's parent: the
    /// blocks of its subtree, or the whole vector.
    pub segment: Vec<u64>,
    /// `p` entries: the port of its parent through which each processor's segment comes; 0 for the
    /// root.
    pub port: Vec<u16>,
    /// `p` entries: the port that each processor's copy of its own block holds; 0 for a leaf.
    pub copy_port: Vec<u16>,
}

/// When every subtree of a tree completes, and its size.
///
/// # Shapes
/// `tree`, `problem` and `costs` have the same number of processors. The problem is a
/// [`Collective`], or block sizes, which stand for a gather of them.
///
/// # Errors
/// [`TimeError`] where there is no link for an edge of the tree that data goes along, and where
/// integer times would have to be rounded, or are not finite.
///
/// # Panics
/// If the numbers of processors differ.
///
/// # Complexity
/// O(p) time and space; no recursion, so that chains of any length do.
///
/// # Source
/// OPT Definition 2, eqs. 1 and 2: a child's segment goes to its parent at the costs of that pair,
/// in a scatter at those of the opposite direction (section 2.5). Broadcast and reduction: Theorem 4.
///
/// # Example
/// Sizes 2, 1, 4 and costs 1, 1, 1: processor 1 receives from 0, copies, receives from 2:
/// (1 + 2) + 1 + (1 + 4) = 9.
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Step, Tree, completion};
/// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
/// let tree = Tree::new(3, 1, &steps).unwrap();
/// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// assert_eq!(completion(&tree, &sizes, &costs).unwrap().ready[1].units(), 9.0);
/// ```
pub fn completion<'a>(
    tree: &Tree,
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
) -> Result<Completion, TimeError> {
    completion_on_ports(tree, problem, costs, Ports::ONE)
}

/// When every subtree of a tree completes, its size, and which port does what, where every processor
/// has so many ports.
///
/// Each step, in the order of the tree, goes to the port that is free first, of several to the one of
/// lowest number. The port then waits for the child if need be. A processor sends when all its ports
/// are done. An outward operation mirrors this in time, port by port.
///
/// # Shapes, errors, panics
/// As [`completion`].
///
/// # Complexity
/// O(p log k) time for k ports, O(p) space.
///
/// # Source
/// OPT section 2.6, "greedily", after Definition 3; `docs/ports.md`.
///
/// # Example
/// Processor 0 copies (1) and receives from 1 (until 3) at once, then from 2 through the port that
/// copied (1 + 5).
/// ```
/// use tuwtree_model::{BlockSizes, Homogeneous, Ports, Step, Tree, completion_on_ports};
/// let steps = [(0, Step::Copy), (0, Step::Receive(1)), (0, Step::Receive(2))];
/// let tree = Tree::new(3, 0, &steps).unwrap();
/// let sizes = BlockSizes::new([1, 2, 4]).unwrap();
/// let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
/// let done = completion_on_ports(&tree, &sizes, &costs, Ports::new(2).unwrap()).unwrap();
/// assert_eq!((done.ready[0].units(), done.port), (6.0, vec![0, 1, 0]));
/// ```
pub fn completion_on_ports<'a>(
    tree: &Tree,
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
    ports: Ports,
) -> Result<Completion, TimeError> {
    let problem = problem.into();
    let processors = tree.processors();
    assert_eq!(processors, problem.processors(), "tree and data of one problem");
    assert_eq!(
        costs.processors().unwrap_or(processors),
        processors,
        "tree and costs of one problem"
    );
    let mut done = Completion {
        ready: vec![Time::ZERO; processors],
        sent: vec![(Time::ZERO, Time::ZERO); processors],
        segment: own_segments(problem),
        port: vec![0; processors],
        copy_port: vec![0; processors],
    };
    let mut deal = Deal::new(ports);
    let grows = matches!(problem, Collective::Gather(_) | Collective::Scatter(_));
    for rank in tree.top_down().into_iter().rev() {
        deal.restart();
        for step in tree.steps(rank) {
            let (free, port) = deal.take();
            let end = match step {
                Step::Copy => {
                    done.copy_port[rank] = port;
                    costs.sum(free, costs.copy_at(rank, problem.copied(rank))?)?
                }
                Step::Receive(child) => {
                    if grows {
                        done.segment[rank] += done.segment[child];
                    }
                    let (from, to) = problem.ends(child, rank);
                    let start = free.later(done.ready[child]);
                    let time = costs.transmission_between(from, to, done.segment[child])?;
                    let end = costs.sum(start, time)?;
                    done.port[child] = port;
                    done.sent[child] = (start, end);
                    end
                }
            };
            deal.give(port, end);
        }
        done.ready[rank] = deal.end();
    }
    done.sent[tree.root()] = (done.ready[tree.root()], done.ready[tree.root()]);
    Ok(done)
}

/// What each processor contributes to its own segment: its block, or the vector.
fn own_segments(problem: Collective<'_>) -> Vec<u64> {
    match problem {
        Collective::Gather(sizes) | Collective::Scatter(sizes) => sizes.iter().collect(),
        Collective::Broadcast(Vector { processors, bytes })
        | Collective::Reduce(Vector { processors, bytes }) => vec![bytes; processors],
    }
}

/// The completion time of a tree.
///
/// # Errors, panics, complexity, source
/// As [`completion`].
pub fn completion_time<'a>(
    tree: &Tree,
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
) -> Result<Time, TimeError> {
    completion_time_on_ports(tree, problem, costs, Ports::ONE)
}

/// The completion time of a tree, where every processor has so many ports.
///
/// # Errors, panics, complexity, source
/// As [`completion_on_ports`].
pub fn completion_time_on_ports<'a>(
    tree: &Tree,
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
    ports: Ports,
) -> Result<Time, TimeError> {
    Ok(completion_on_ports(tree, problem, costs, ports)?.ready[tree.root()])
}

/// A lower bound on the completion time of every tree with this root, ordered or not.
///
/// Gather and scatter: the root is busy with all data but its own block, over the link that is
/// fastest for that much, and with the copy of its own:
/// `min over i of (alpha_ir + beta_ir (m - m_r)) + gamma_r m_r` for a gather, with `ri` in place of
/// `ir` for a scatter. Broadcast and reduction: the vector goes to (comes from) every processor but
/// the root over its fastest link; and however much goes on at once, the number of processors that
/// have the vector (that have sent theirs) at most doubles in the time of the fastest of all
/// transmissions, which makes `ceil(log2 p)` of them. 0 for a lone processor.
///
/// # Errors
/// As [`completion`]; [`TimeError::Isolated`] if a processor that must send or receive has no link
/// to do so.
///
/// # Complexity
/// For homogeneous costs O(1) (broadcast and reduction O(p)), for a matrix O(p) (O(p^2)).
///
/// # Source
/// OPT section 2.3 for gather and scatter, which states it for non-homogeneous costs as well.
pub fn lower_bound<'a>(
    root: Rank,
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
) -> Result<Time, TimeError> {
    lower_bound_on_ports(root, problem, costs, Ports::ONE)
}

/// A lower bound on the completion time of every tree with this root, ordered or not, where every
/// processor has `k` ports.
///
/// Gather and scatter: the root's ports share what is to be received and copied, a `k`-th each; and the
/// largest block comes in one message, over the link that is fastest for it. Broadcast and reduction:
/// as with one port, but `k + 1` times as many processors have the vector each time.
///
/// # Errors
/// As [`lower_bound`].
///
/// # Complexity
/// As [`lower_bound`], and O(p) for the largest block.
///
/// # Source
/// OPT section 2.3. Differs: the latency and the copy are divided by `k` as well, since one port may
/// pay for them while others receive.
pub fn lower_bound_on_ports<'a>(
    root: Rank,
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
    ports: Ports,
) -> Result<Time, TimeError> {
    let problem = problem.into();
    if problem.processors() == 1 {
        return Ok(Time::ZERO);
    }
    match problem {
        Collective::Gather(sizes) => {
            of_blocks(sizes, TwoLargest::of(sizes), root, Direction::Receive, costs, ports)
        }
        Collective::Scatter(sizes) => {
            of_blocks(sizes, TwoLargest::of(sizes), root, Direction::Send, costs, ports)
        }
        Collective::Broadcast(vector) => of_vector(vector, root, Direction::Receive, costs, ports),
        Collective::Reduce(vector) => of_vector(vector, root, Direction::Send, costs, ports),
    }
}

/// The sizes of the two largest blocks.
#[derive(Clone, Copy)]
struct TwoLargest(u64, u64);

impl TwoLargest {
    fn of(sizes: &BlockSizes) -> TwoLargest {
        sizes.iter().fold(TwoLargest(0, 0), |TwoLargest(first, second), bytes| {
            TwoLargest(first.max(bytes), second.max(first.min(bytes)))
        })
    }

    /// The size of the largest block beside one of this size.
    fn beside(self, bytes: u64) -> u64 {
        if bytes == self.0 { self.1 } else { self.0 }
    }
}

/// The bound for a gather, whose root receives, or a scatter, whose root sends.
fn of_blocks(
    sizes: &BlockSizes,
    largest: TwoLargest,
    root: Rank,
    direction: Direction,
    costs: &impl CostModel,
    ports: Ports,
) -> Result<Time, TimeError> {
    let (processors, own) = (sizes.processors(), sizes.block(root));
    let busy = costs.least_busy(direction, root, processors, sizes.total() - own)?;
    let copy = costs.copy_at(root, own)?;
    let all = costs.sum(busy, copy)?;
    if ports == Ports::ONE {
        return Ok(all);
    }
    let shared = Time::new(all.units() / f64::from(ports.get())).expect("a share of a time");
    let one = costs.least_busy(direction, root, processors, largest.beside(own))?;
    Ok(shared.later(one).later(copy))
}

/// The bound for a broadcast, in which all but the root receive, or a reduction, in which they send.
fn of_vector(
    vector: Vector,
    root: Rank,
    direction: Direction,
    costs: &impl CostModel,
    ports: Ports,
) -> Result<Time, TimeError> {
    let (mut least, mut most) = (None, Time::ZERO);
    for rank in (0..vector.processors).filter(|&rank| rank != root) {
        let own = costs.least_busy(direction, rank, vector.processors, vector.bytes)?;
        least = Some(least.map_or(own, |known: Time| known.min(own)));
        most = most.later(own);
    }
    let least = least.expect("there is another processor than the root");
    let growth = usize::from(ports.get()) + 1;
    let reached = std::iter::successors(Some(1_usize), |reached| reached.checked_mul(growth));
    let rounds = reached.take_while(|&reached| reached < vector.processors).count();
    let all = (0..rounds).try_fold(Time::ZERO, |time, _| costs.sum(time, least))?;
    Ok(most.later(all))
}

/// A lower bound on the completion time of every tree with any root.
///
/// # Errors
/// As [`lower_bound`], if there is one for every root.
///
/// # Complexity
/// `p` times that of [`lower_bound`] for gather and scatter, twice that for broadcast and reduction.
pub fn lower_bound_any_root<'a>(
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
) -> Result<Time, TimeError> {
    lower_bound_any_root_on_ports(problem, costs, Ports::ONE)
}

/// A lower bound on the completion time of every tree with any root, where every processor has so many
/// ports.
///
/// # Errors
/// As [`lower_bound`], if there is one for every root.
///
/// # Complexity
/// As [`lower_bound_any_root`].
pub fn lower_bound_any_root_on_ports<'a>(
    problem: impl Into<Collective<'a>>,
    costs: &impl CostModel,
    ports: Ports,
) -> Result<Time, TimeError> {
    let problem = problem.into();
    if problem.processors() == 1 {
        return Ok(Time::ZERO);
    }
    let of_blocks = |sizes: &BlockSizes, direction| {
        let largest = TwoLargest::of(sizes);
        (0..sizes.processors())
            .map(|root| of_blocks(sizes, largest, root, direction, costs, ports))
            .reduce(|least, next| match (least, next) {
                (Ok(least), Ok(next)) => Ok(least.min(next)),
                (Err(_), other) | (other, Err(_)) => other,
            })
            .expect("a problem has at least one processor")
    };
    let (vector, direction) = match problem {
        Collective::Gather(sizes) => return of_blocks(sizes, Direction::Receive),
        Collective::Scatter(sizes) => return of_blocks(sizes, Direction::Send),
        Collective::Broadcast(vector) => (vector, Direction::Receive),
        Collective::Reduce(vector) => (vector, Direction::Send),
    };
    // Only the root need not receive (send): the bound is least without the slowest, or without
    // the one that cannot.
    let Vector { processors, bytes } = vector;
    let slowest = (0..processors).max_by_key(|&rank| {
        match costs.least_busy(direction, rank, processors, bytes) {
            Ok(time) => (false, time),
            Err(_) => (true, Time::ZERO),
        }
    });
    of_vector(vector, slowest.expect("there are processors"), direction, costs, ports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{CostMatrix, Homogeneous};

    /// 0 <-> 1 costs 1 + s one way and 10 + 2 s the other; everything with 2 costs 100.
    fn lopsided() -> CostMatrix {
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

    fn chain() -> Tree {
        let steps =
            [(1, Step::Receive(2)), (1, Step::Copy), (0, Step::Receive(1)), (0, Step::Copy)];
        Tree::new(3, 0, &steps).unwrap()
    }

    #[test]
    fn a_scatter_pays_the_opposite_direction_of_a_gather() {
        let sizes = BlockSizes::new([5, 3, 4]).unwrap();
        let time = |problem: Collective<'_>| {
            completion_time(&chain(), problem, &lopsided()).unwrap().units()
        };
        // 2 -> 1: 100, copy of 3 bytes at gamma 1, 1 -> 0: 10 + 2 * 7, copy at gamma 0.
        assert_eq!(time(Collective::Gather(&sizes)), 127.0);
        assert_eq!(time(Collective::Scatter(&sizes)), 111.0);
    }

    #[test]
    fn a_whole_vector_goes_along_each_edge_and_is_not_copied() {
        let vector = Vector { processors: 3, bytes: 6 };
        let done = completion(&chain(), Collective::Reduce(vector), &lopsided()).unwrap();
        assert_eq!(done.ready[0].units(), 122.0);
        assert_eq!(done.segment, [6, 6, 6]);
        let time = completion_time(&chain(), Collective::Broadcast(vector), &lopsided());
        assert_eq!(time.unwrap().units(), 107.0);
    }

    #[test]
    fn bounds_know_directions_and_the_fastest_link() {
        let sizes = BlockSizes::new([5, 3, 4]).unwrap();
        let costs = lopsided();
        let bound = |problem: Collective<'_>| lower_bound(0, problem, &costs).unwrap().units();
        assert_eq!(bound(Collective::Gather(&sizes)), 24.0);
        assert_eq!(bound(Collective::Scatter(&sizes)), 8.0);
        let vector = Vector { processors: 3, bytes: 6 };
        assert_eq!(bound(Collective::Broadcast(vector)), 100.0);
        let any = |problem: Collective<'_>| lower_bound_any_root(problem, &costs).unwrap().units();
        // Root 1 receives 9 bytes for 10 and copies 3 for 3.
        assert_eq!(any(Collective::Gather(&sizes)), 13.0);
        // Root 2: processor 0 receives for at least 10 + 2 * 6.
        assert_eq!(any(Collective::Broadcast(vector)), 22.0);
    }

    #[test]
    fn ports_share_the_volume_but_not_the_largest_block() {
        let costs = Homogeneous::new(3.0, 1.0, 1.0).unwrap();
        let bound = |sizes: [u64; 4]| {
            let sizes = BlockSizes::new(sizes).unwrap();
            let two = Ports::new(2).unwrap();
            lower_bound_on_ports(0, &sizes, &costs, two).unwrap().units()
        };
        assert_eq!(bound([1, 4, 4, 4]), 8.0);
        assert_eq!(bound([1, 4, 9, 4]), 12.0);
        assert_eq!(bound([50, 4, 9, 4]), 50.0);
        let any = |sizes: [u64; 4]| {
            let sizes = BlockSizes::new(sizes).unwrap();
            let two = Ports::new(2).unwrap();
            lower_bound_any_root_on_ports(&sizes, &costs, two).unwrap().units()
        };
        assert_eq!(any([1, 4, 9, 4]), 10.5);
    }

    #[test]
    fn a_broadcast_doubles_at_best() {
        let costs = Homogeneous::new(3.0, 1.0, 1.0).unwrap();
        let problem = Collective::Broadcast(Vector { processors: 9, bytes: 2 });
        assert_eq!(lower_bound(4, problem, &costs).unwrap().units(), 20.0);
        assert_eq!(lower_bound_any_root(problem, &costs).unwrap().units(), 20.0);
        // 1, 4, 16.
        let three = Ports::new(3).unwrap();
        assert_eq!(lower_bound_on_ports(4, problem, &costs, three).unwrap().units(), 10.0);
        let lone = Collective::Reduce(Vector { processors: 1, bytes: 2 });
        assert_eq!(lower_bound_any_root(lone, &costs).unwrap(), Time::ZERO);
    }
}
