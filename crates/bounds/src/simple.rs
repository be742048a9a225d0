//! The simple bound: what the root, or a vector's recipients, are busy with in any case.

use super::rootless;
use tuwtree_model::{
    BlockSizes, CostModel, Direction, Payload, Ports, Problem, Rank, Root, Time, TimeError, Vector,
};

/// The simple lower bound on the completion time of every tree with the problem's root, or with any
/// if it is open, ordered or not.
///
/// Gather and scatter: the root is busy with all data but its own block, over the link that is
/// fastest for that much, and with the copy of its own:
/// `min over i of (alpha_ir + beta_ir (m - m_r)) + gamma_r m_r` for a gather, with `ri` in place of
/// `ir` for a scatter. With `k` ports each does a `k`-th of that; and the largest block comes in one
/// message, over the link that is fastest for it. Broadcast and reduction: the vector goes to (comes
/// from) every rank but the root over its fastest link; and however much goes on at once, the
/// number of ranks that have the vector (that have sent theirs) is at most `k + 1` times as large
/// after the time of the fastest of all transmissions. Operations without a root, on every schedule:
/// allgather, the same of every block, and everybody receives all others' blocks; reduce-scatter, the same
/// with sends; allreduce, every byte is sent 2 (p - 1) times. 0 for a lone rank.
/// Where costs are not integers, less by the rounding that a tree's time may have.
///
/// # Errors
/// As [`completion`](tuwtree_model::completion); [`TimeError::Isolated`] if a rank that must send or
/// receive has no link to do so. For an open root, only if there is an error for each.
///
/// # Complexity
/// Given root: for homogeneous costs O(1) with one port (broadcast and reduction, or several ports:
/// O(p)), for a matrix O(p) (O(p^2)). Open root: `p` times that for gather and scatter, twice that for
/// broadcast and reduction.
///
/// # Source
/// OPT section 2.3 for gather and scatter, which states it for non-homogeneous costs as well. Differs
/// for several ports: the latency and the copy are divided by `k` as well, since one port may pay for
/// them while others receive.
pub fn lower_bound(problem: &Problem) -> Result<Time, TimeError> {
    let time = unrounded(problem)?;
    if problem.costs().kind().is_integral() {
        return Ok(time);
    }
    // A tree's time sums up two costs a message at most, each rounded.
    let kept = 1.0 - (2.0 * problem.ranks() as f64 + 16.0) * f64::EPSILON;
    Ok(Time::new(time.units() * kept).expect("a part of a time"))
}

/// The bound before the rounding of trees' times is allowed for.
fn unrounded(problem: &Problem) -> Result<Time, TimeError> {
    if problem.ranks() == 1 {
        return Ok(Time::ZERO);
    }
    let busy = problem.collective().root_direction();
    if problem.root() == Root::None {
        return rootless::bound(problem);
    }
    match (problem.payload(), problem.root()) {
        // Without a root, as above.
        (Payload::Messages(_) | Payload::Groups(_), _) => Ok(Time::ZERO),
        (Payload::Blocks(sizes), Root::Given(root)) => {
            of_blocks(sizes, TwoLargest::of(sizes), root, busy, problem)
        }
        (Payload::Blocks(sizes), Root::Best | Root::None) => {
            let largest = TwoLargest::of(sizes);
            (0..sizes.ranks())
                .map(|root| of_blocks(sizes, largest, root, busy, problem))
                .reduce(|least, next| match (least, next) {
                    (Ok(least), Ok(next)) => Ok(least.min(next)),
                    (Err(_), other) | (other, Err(_)) => other,
                })
                .expect("a problem has at least one rank")
        }
        (Payload::Vector(vector), Root::Given(root)) => {
            of_vector(*vector, root, busy.opposite(), problem)
        }
        (Payload::Vector(vector), Root::Best | Root::None) => {
            // Only the root need not receive (send): the bound is least without the slowest, or
            // without the one that cannot.
            let Vector { ranks, bytes } = *vector;
            let busy_for = |&rank: &Rank| match problem.costs().least_busy(
                busy.opposite(),
                rank,
                ranks,
                bytes,
            ) {
                Ok(time) => (false, time),
                Err(_) => (true, Time::ZERO),
            };
            let slowest = (0..ranks).max_by_key(busy_for).expect("there are ranks");
            of_vector(*vector, slowest, busy.opposite(), problem)
        }
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
    problem: &Problem,
) -> Result<Time, TimeError> {
    let (costs, ports) = (problem.costs(), problem.ports());
    let (ranks, own) = (sizes.ranks(), sizes.block(root));
    let busy = costs.least_busy(direction, root, ranks, sizes.total() - own)?;
    let copy = costs.copy_at(root, own)?;
    let all = costs.sum(busy, copy)?;
    if ports == Ports::ONE {
        return Ok(all);
    }
    let shared = Time::new(all.units() / f64::from(ports.get())).expect("a share of a time");
    let one = costs.least_busy(direction, root, ranks, largest.beside(own))?;
    Ok(shared.later(one).later(copy))
}

/// The bound for a broadcast, in which all but the root receive, or a reduction, in which they send.
fn of_vector(
    vector: Vector,
    root: Rank,
    direction: Direction,
    problem: &Problem,
) -> Result<Time, TimeError> {
    let (costs, ports) = (problem.costs(), problem.ports());
    let (mut least, mut most) = (None, Time::ZERO);
    for rank in (0..vector.ranks).filter(|&rank| rank != root) {
        let own = costs.least_busy(direction, rank, vector.ranks, vector.bytes)?;
        least = Some(least.map_or(own, |known: Time| known.min(own)));
        most = most.later(own);
    }
    let least = least.expect("there is another rank than the root");
    let rounds = rounds(vector.ranks, ports.get());
    let all = (0..rounds).try_fold(Time::ZERO, |time, _| costs.sum(time, least))?;
    Ok(most.later(all))
}

/// After how many messages one after the other something that one rank has can be at all, if
/// each tells as many others at once as it has ports.
pub(super) fn rounds(ranks: usize, ports: u16) -> usize {
    let growth = usize::from(ports) + 1;
    let reached = std::iter::successors(Some(1_usize), |reached| reached.checked_mul(growth));
    reached.take_while(|&reached| reached < ranks).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Collective, CostMatrix, Homogeneous};

    #[test]
    fn bounds_know_directions_and_the_fastest_link() {
        let sizes = BlockSizes::new([5, 3, 4]).unwrap();
        // 0 <-> 1 costs 1 + s one way and 10 + 2 s the other; everything with 2 costs 100.
        let of = |one: [f64; 2], rest: f64| {
            move |sender, receiver| match (sender, receiver) {
                (0, 1) => one[0],
                (1, 0) => one[1],
                _ => rest,
            }
        };
        let (alpha, beta) = (of([1.0, 10.0], 100.0), of([1.0, 2.0], 0.0));
        let costs = CostMatrix::from_fn(3, alpha, beta, |rank| rank as f64).unwrap();
        let at = |collective, root| {
            let problem = Problem::of(collective, &costs).unwrap().with_root(root).unwrap();
            lower_bound(&problem).unwrap().units()
        };
        let bound = |collective| at(collective, Root::Given(0));
        assert_eq!(bound(Collective::gather(&sizes)), 24.0);
        assert_eq!(bound(Collective::scatter(&sizes)), 8.0);
        let vector = Vector { ranks: 3, bytes: 6 };
        assert_eq!(bound(Collective::broadcast(vector)), 100.0);
        let any = |collective| at(collective, Root::Best);
        // Root 1 receives 9 bytes for 10 and copies 3 for 3.
        assert_eq!(any(Collective::gather(&sizes)), 13.0);
        // Root 2: rank 0 receives for at least 10 + 2 * 6.
        assert_eq!(any(Collective::broadcast(vector)), 22.0);
    }

    #[test]
    fn ports_share_the_volume_but_not_the_largest_block() {
        let costs = Homogeneous::new(3.0, 1.0, 1.0).unwrap();
        let bound = |sizes: [u64; 4], root| {
            let problem = Problem::gather(&BlockSizes::new(sizes).unwrap(), costs).unwrap();
            let problem = problem.with_root(root).unwrap().with_ports(Ports::new(2).unwrap());
            lower_bound(&problem).unwrap().units()
        };
        let root = Root::Given(0);
        assert_eq!(bound([1, 4, 4, 4], root), 8.0);
        assert_eq!(bound([1, 4, 9, 4], root), 12.0);
        assert_eq!(bound([50, 4, 9, 4], root), 50.0);
        assert_eq!(bound([1, 4, 9, 4], Root::Best), 10.5);
    }

    #[test]
    fn a_broadcast_doubles_at_best() {
        let costs = Homogeneous::new(3.0, 1.0, 1.0).unwrap();
        let nine = Collective::broadcast(Vector { ranks: 9, bytes: 2 });
        let open = Problem::of(nine, costs).unwrap();
        let given = open.with_root(Root::Given(4)).unwrap();
        assert_eq!(lower_bound(&given).unwrap().units(), 20.0);
        assert_eq!(lower_bound(&open).unwrap().units(), 20.0);
        // 1, 4, 16.
        let three = given.with_ports(Ports::new(3).unwrap());
        assert_eq!(lower_bound(&three).unwrap().units(), 10.0);
        let lone = Collective::reduce(Vector { ranks: 1, bytes: 2 });
        assert_eq!(lower_bound(&Problem::of(lone, costs).unwrap()).unwrap(), Time::ZERO);
    }
}
