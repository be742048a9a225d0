//! The classes of ordered trees in the catalogue: each is part of the next, and all that judges trees agrees.

use tuwtree_model::{
    BlockSizes, Construction, Homogeneous, Operation, Order, Problem, Randomness, Root,
    check_ordered, completion_time,
};
use tuwtree_plan::{Request, Settings, Wanted};
use tuwtree_schedule::{Schedule, Sends, simulate, verify};

/// Numbers below bounds, from a seed.
struct Draws(std::vec::IntoIter<u64>);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        (self.0.next().expect("numbers are left") >> 8) % bound
    }

    fn one_of(&mut self, values: &[u64]) -> u64 {
        values[self.below(values.len() as u64) as usize]
    }

    /// Blocks that are often empty, tied or far apart, and costs, those of the one-port model every other
    /// time; copies that outlast their messages among them.
    fn problem(&mut self, one_port: bool) -> (BlockSizes, Homogeneous) {
        let p = 1 + self.below(14);
        let largest = self.one_of(&[1, 3, 100, 10_000]);
        let blocks: Vec<u64> = (0..p)
            .map(|_| match self.below(4) {
                0 => 0,
                1 => 1,
                2 => largest,
                _ => self.below(largest + 1),
            })
            .collect();
        let alpha = self.one_of(&[0, 1, 10, 100, 10_000]);
        let [beta, gamma] = [self.below(3), self.below(4)];
        let [alpha, beta, gamma] = [alpha, beta, gamma].map(|cost| cost as f64);
        let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
        let overhead = if one_port { alpha } else { self.below(alpha as u64 + 1) as f64 };
        (BlockSizes::new(blocks).unwrap(), costs.with_overhead(overhead).unwrap())
    }
}

/// The completion time of a construction's tree, which everybody agrees about.
fn time(construction: Construction, problem: &Problem) -> f64 {
    let request = Request::new(problem, Settings::default(), &());
    let built = request.build(Wanted::named(construction)).unwrap();
    let tree = built.plan.tree().unwrap();
    assert_eq!(check_ordered(tree), Ok(()), "{construction:?} {problem:?}");
    let time = completion_time(tree, problem).unwrap();
    let schedule = Schedule::of_tree(tree, problem).unwrap();
    let simulated = simulate(&schedule, problem.costs(), Sends::Synchronous).unwrap();
    assert_eq!(simulated.completion_time(), time, "{construction:?} {problem:?}");
    assert_eq!(verify(&schedule).unwrap().order, Order::Ordered, "{construction:?} {problem:?}");
    time.units()
}

#[test]
fn each_class_is_part_of_the_next_and_recursion_simulation_and_verifier_agree() {
    let mut draws = Draws(Randomness::Xoshiro { seed: 16 }.numbers(200_000).into_iter());
    for number in 0..1500 {
        let one_port = number % 2 == 0;
        let (sizes, costs) = draws.problem(one_port);
        let root = match draws.below(3) {
            0 => Root::Best,
            _ => Root::Given(draws.below(sizes.ranks() as u64) as usize),
        };
        let problem = |operation| {
            let problem = Problem::new(operation, sizes.clone(), costs).unwrap();
            problem.with_root(root).unwrap()
        };
        let (gather, scatter) = (problem(Operation::Gather), problem(Operation::Scatter));
        let [optimal, copy_first] =
            [Construction::Optimal, Construction::CopyFirst].map(|one| time(one, &gather));
        let [deadline, scattered] =
            [time(Construction::Deadline, &gather), time(Construction::Optimal, &scatter)];
        // Where latency overlaps, the best for the judge are chosen.
        if one_port {
            assert!(optimal <= copy_first, "{gather:?}");
            assert!(optimal <= deadline, "{gather:?}");
            assert_eq!(optimal, scattered, "{gather:?}");
            assert!(copy_first <= time(Construction::Adjacent, &gather), "{gather:?}");
            assert!(optimal <= time(Construction::Binary, &gather), "{gather:?}");
        }
    }
}
