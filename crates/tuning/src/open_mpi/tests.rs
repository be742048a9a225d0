//! Steps and laws against trees and exchanges as Open MPI's sources have them, walked rank by rank.

use super::*;
use tuwtree_model::Homogeneous;

/// The children of each rank, in the order in which it sends to them or waits for them, and the root.
type LibraryTree = (Vec<Vec<usize>>, usize);

fn binary_tree(p: usize) -> LibraryTree {
    let children = |rank: usize| {
        let ranks_of_level = 1 << (rank + 1).ilog2();
        [1, 2].map(|place| rank + place * ranks_of_level).into_iter().filter(|&one| one < p)
    };
    ((0..p).map(|rank| children(rank).collect()).collect(), 0)
}

fn knomial_tree(p: usize) -> LibraryTree {
    let mut children = vec![Vec::new(); p];
    for (rank, children) in children.iter_mut().enumerate() {
        let mut distance = 1;
        while distance < p && rank % (4 * distance) == 0 {
            distance *= 4;
        }
        distance /= 4;
        while distance > 0 {
            children.extend((1..4).map(|r| rank + r * distance).filter(|&child| child < p));
            distance /= 4;
        }
    }
    (children, 0)
}

fn in_order_tree(p: usize) -> LibraryTree {
    fn join(first: usize, ranks: usize, children: &mut [Vec<usize>]) {
        let parent = first + ranks - 1;
        let right = if ranks > 2 { ranks / 2 } else { 0 };
        if ranks > 1 {
            children[parent].push(parent - 1);
            join(first + right, ranks - right - 1, children);
        }
        if right > 0 {
            children[parent].push(first + right - 1);
            join(first, right, children);
        }
    }
    let mut children = vec![Vec::new(); p];
    join(0, p, &mut children);
    (children, p - 1)
}

/// The steps until the last rank below one has a message.
fn told(children: &[Vec<usize>], rank: usize) -> usize {
    let below = children[rank].iter().enumerate();
    below.map(|(index, &child)| index + 1 + told(children, child)).max().unwrap_or(0)
}

/// The steps until a rank has combined everything below it.
fn combined(children: &[Vec<usize>], rank: usize) -> usize {
    children[rank].iter().fold(0, |ready, &child| ready.max(combined(children, child)) + 1)
}

#[test]
fn trees_take_the_steps_of_a_walk_over_their_ranks() {
    for p in 2..=700 {
        let (children, root) = binary_tree(p);
        assert_eq!(broadcast_steps_of_binary_tree(p), told(&children, root) as f64, "{p}");
        assert_eq!(reduce_steps_of_binary_tree(p), combined(&children, root) as f64, "{p}");
        let (children, root) = knomial_tree(p);
        assert_eq!(broadcast_steps_of_knomial_tree(p), told(&children, root) as f64, "{p}");
        let (children, root) = in_order_tree(p);
        assert_eq!(children.iter().map(Vec::len).sum::<usize>(), p - 1);
        assert_eq!(reduce_steps_in_order(p), combined(&children, root) as f64, "{p}");
    }
}

/// When the last rank has its block on Open MPI's butterfly: alpha, beta and kappa, blocks of a byte.
fn butterfly(p: usize, [alpha, beta, kappa]: [f64; 3]) -> f64 {
    let active = 1_usize << p.ilog2();
    let (steps, rest) = (active.ilog2(), p - active);
    let blocks = |first: usize, count: usize| {
        (first..first + count).map(|one| if one < rest { 2 } else { 1 }).sum::<usize>() as f64
    };
    let mirror = |rank: usize| (0..steps).fold(0, |all, bit| all << 1 | (rank >> bit & 1));
    let folded = alpha + p as f64 * (beta + kappa);
    let mut clocks: Vec<f64> =
        (0..active).map(|rank| if rank < rest { folded } else { 0.0 }).collect();
    let mut windows = vec![(0, active); active];
    for step in 0..steps {
        let (before, start) = (windows.clone(), clocks.clone());
        for rank in 0..active {
            let keep = |one: usize| {
                let (first, count) = before[one];
                (first + (one >> step & 1) * count / 2, count / 2)
            };
            let other = rank ^ (1 << step);
            let [own, its] = [keep(rank), keep(other)].map(|(first, count)| blocks(first, count));
            let both = start[rank].max(start[other]) + alpha + beta * own.max(its);
            clocks[rank] = both + kappa * own;
            windows[rank] = keep(rank);
        }
    }
    for rank in 0..active {
        assert_eq!(windows[rank], (mirror(rank), 1));
        if mirror(rank) < rest {
            clocks[rank] += alpha + beta;
        }
    }
    let ends = (0..active).map(|rank| match mirror(rank) {
        other if other == rank => clocks[rank],
        other => clocks[rank].max(clocks[other]) + alpha + beta,
    });
    ends.fold(0.0, f64::max)
}

#[test]
fn the_butterfly_takes_the_time_of_a_walk_over_its_ranks() {
    for prices in [[1000.0, 1.0, 0.5], [1.0, 100.0, 3.0], [0.0, 0.0, 1.0]] {
        let [alpha, beta, combine] = prices;
        let costs = Homogeneous::new(alpha, beta, 0.0).unwrap();
        for p in 2..=130 {
            let own = numbered((Operation::ReduceScatter, Order::Any), 4, p, 4096).unwrap();
            let time = own.time(p as u64, &crate::Prices { costs, combine });
            let walked = butterfly(p, prices);
            assert!((time - walked).abs() < 1e-9 * walked, "{p}: {time}, {walked}");
        }
    }
}

#[test]
fn vectors_of_few_elements_take_other_ways_than_the_rules_name() {
    // 16 doubles among 32 processes: Rabenseifner's algorithm has none for half of them.
    let name = |bytes| choice(Operation::Allreduce, Order::Any, 32, bytes).unwrap().name;
    assert_eq!(
        [name(127), name(128), name(256)],
        ["recursive-doubling", "linear", "rabenseifner-half"]
    );
    // And the ring needs an element a process.
    let name = |p, bytes| choice(Operation::Allreduce, Order::Any, p, bytes).unwrap().name;
    assert_eq!([name(3, 7), name(3, 4096)], ["recursive-doubling", "ring"]);
}
