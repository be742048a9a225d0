//! The tables against the recurrence rank by rank, every tree, and the other engines.

mod plain;

use super::row::Type;
use super::{Boundaries, Class, Law, Table, fill, memory_needed, optimal};
use crate::tests::random::{Random, problems};
use crate::wider::{self, BySize};
use crate::{DpError, Method, PairMethod, Progress, optimal_per_pair};
use plain::Times;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use tuwtree_laws::ordered_trees;
use tuwtree_model::{
    BlockSizes, CostModel, Hierarchy, Homogeneous, Level, LinkLaw, MeasuredSize, MeasuredSizes,
    Operation, Piece, PiecewiseLinear, Placement, Problem, Rank, Root, Scalar, Step, Tree, Vector,
    completion_time, joins_adjacent_ranges,
};

/// What the laws of levels look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Laws {
    /// One line each, and nothing overlaps.
    Linear,
    /// One line each.
    Overlapping,
    /// Up to three lines with jumps, with or without overlap.
    Pieces,
    /// Tables.
    Measured,
    /// Lines that are no integers.
    Fractional,
}

impl Laws {
    const ALL: [Laws; 5] =
        [Laws::Linear, Laws::Overlapping, Laws::Pieces, Laws::Measured, Laws::Fractional];
}

impl Random {
    fn law(&mut self, laws: Laws) -> LinkLaw {
        let unit = if laws == Laws::Fractional { 0.1 } else { 1.0 };
        let mut line = |from_bytes, overlaps: bool| {
            let alpha = self.one_of(&[0, 1, 3, 10, 30, 100, 1000]);
            let overhead = if overlaps { self.below(alpha + 1) } else { alpha };
            Piece {
                from_bytes,
                alpha: alpha as f64 * unit,
                overhead: overhead as f64 * unit,
                beta: self.one_of(&[0, 1, 1, 2, 5]) as f64 * unit,
            }
        };
        let pieces = match laws {
            Laws::Linear => vec![line(0, false)],
            Laws::Overlapping | Laws::Fractional => vec![line(0, true)],
            Laws::Pieces => {
                let overlaps = self.below(2) == 0;
                let mut from = 0;
                let count = 1 + self.below(3);
                let mut pieces = Vec::new();
                for _ in 0..count {
                    let alpha = self.one_of(&[0, 2, 20, 200]);
                    let overhead = if overlaps { self.below(alpha + 1) } else { alpha };
                    pieces.push(Piece {
                        from_bytes: from,
                        alpha: alpha as f64,
                        overhead: overhead as f64,
                        beta: self.below(4) as f64,
                    });
                    from += 1 + self.one_of(&[1, 10, 100]);
                }
                pieces
            }
            Laws::Measured => {
                let mut bytes = 0;
                let sizes = (0..1 + self.below(4)).map(|_| {
                    bytes += 1 + self.one_of(&[0, 3, 30, 300]);
                    let (latency, occupancy) = (self.below(100) as f64, self.below(60) as f64);
                    MeasuredSize { bytes, latency, occupancy }
                });
                return LinkLaw::Measured(MeasuredSizes::new(sizes.collect()).unwrap());
            }
        };
        PiecewiseLinear::new(pieces).unwrap().into()
    }

    /// A machine of so many levels whose groups are adjacent ranks, for so many of them.
    fn machine(&mut self, ranks: usize, levels: usize, laws: Laws) -> Hierarchy {
        let mut members: Vec<usize> = (0..levels).map(|_| 1 + self.below(4) as usize).collect();
        let inside: usize = members[..levels - 1].iter().product();
        members[levels - 1] = ranks.div_ceil(inside) + self.below(2) as usize;
        let levels = members.iter().enumerate().map(|(index, &members)| Level {
            name: format!("level {index}"),
            members,
            links: self.law(laws),
        });
        let levels: Vec<Level> = levels.collect();
        let gamma = self.below(4) as f64;
        let placement = match self.below(2) {
            0 => Placement::Block,
            _ => Placement::Listed(self.adjacent_groups(&members, ranks)),
        };
        Hierarchy::new(levels, placement, gamma).unwrap()
    }

    /// The nodes of so many ranks: groups in any order, not all of them full.
    fn adjacent_groups(&mut self, members: &[usize], ranks: usize) -> Vec<usize> {
        let mut nodes = vec![0];
        for &members in members[1..].iter().rev() {
            nodes = nodes
                .into_iter()
                .flat_map(|group| {
                    let mut inner: Vec<usize> = (group * members..(group + 1) * members).collect();
                    for last in (1..members).rev() {
                        inner.swap(last, self.below(last as u64 + 1) as usize);
                    }
                    inner
                })
                .collect();
        }
        let mut places: Vec<usize> =
            nodes.into_iter().flat_map(|node| vec![node; members[0]]).collect();
        while places.len() > ranks {
            places.remove(self.below(places.len() as u64) as usize);
        }
        places
    }

    /// A gather or scatter of blocks that are often empty, tiny or tied.
    pub(super) fn problem(&mut self, ranks: usize, levels: usize, laws: Laws) -> Problem {
        let machine = self.machine(ranks, levels, laws);
        let sizes = self.blocks(ranks);
        match self.below(2) {
            0 => Problem::gather(&sizes, &machine).unwrap(),
            _ => Problem::scatter(&sizes, &machine).unwrap(),
        }
    }

    fn blocks(&mut self, ranks: usize) -> BlockSizes {
        let largest = self.one_of(&[1, 3, 10, 100, 1000]);
        let empty = self.one_of(&[0, 0, 1, 4]);
        BlockSizes::new((0..ranks).map(|_| match self.below(8) < empty {
            true => 0,
            false => self.one_of(&[1, largest, largest / 2]) + self.below(largest),
        }))
        .unwrap()
    }

    pub(super) fn laws(&mut self) -> Laws {
        Laws::ALL[self.below(Laws::ALL.len() as u64) as usize]
    }

    pub(super) fn levels(&mut self) -> usize {
        self.one_of(&[1, 2, 2, 3, 3, 3, 4]) as usize
    }
}

pub(super) fn rooted(problem: &Problem, root: Root) -> Problem {
    problem.with_root(root).unwrap()
}

fn value(problem: &Problem, class: Class, root: Root) -> f64 {
    optimal(&rooted(problem, root), class, &()).unwrap().value
}

/// The values of each root and of the best one.
fn values(problem: &Problem, class: Class) -> Vec<f64> {
    let given = (0..problem.ranks()).map(Root::Given);
    given.chain([Root::Best]).map(|root| value(problem, class, root)).collect()
}

/// The least for each root, and the least of all.
fn with_best(mut least: Vec<f64>) -> Vec<f64> {
    least.push(least.iter().copied().fold(f64::INFINITY, f64::min));
    least
}

#[test]
fn tables_are_the_recurrence_rank_by_rank_in_every_cell() {
    let mut random = Random(1);
    for (most, count) in problems(&[(6, 1000), (14, 1000), (30, 20)]) {
        for _ in 0..count {
            let ranks = 2 + random.below(most as u64 - 1) as usize;
            let (levels, laws) = (random.levels(), random.laws());
            let problem = random.problem(ranks, levels, laws);
            let root = random.below(ranks as u64) as usize;
            for class in Class::ALL {
                let (sizes, machine) = super::parts(&problem).unwrap();
                let boundaries = Boundaries::new(machine, ranks).unwrap();
                let times = Times::new(&problem, class);
                match machine.is_integral() {
                    true => {
                        let law = Law::<i64>::new(machine, sizes, boundaries);
                        check_free(&law, class, &times);
                        check_rooted(&law, class, root, &times);
                    }
                    false => {
                        let law = Law::<f64>::new(machine, sizes, boundaries);
                        check_free(&law, class, &times);
                        check_rooted(&law, class, root, &times);
                    }
                }
            }
        }
    }
}

fn check_free<T: Scalar>(law: &Law<'_, T>, class: Class, times: &Times) {
    let Table::Free(side) = fill(law, None, class, &()).unwrap() else { panic!() };
    let (ranks, boundaries) = (law.ranks(), &law.boundaries);
    for i in 0..ranks {
        for j in i..ranks {
            let mut least: HashMap<(usize, usize), f64> = HashMap::new();
            for root in i..=j {
                let of = (boundaries.greatest(i, root), boundaries.greatest(root + 1, j + 1));
                let known = least.entry(of).or_insert(f64::INFINITY);
                *known = known.min(times.get(i, j, root));
            }
            let found = side.row(i).types(j);
            let found: HashMap<(usize, usize), f64> =
                found.map(|(Type { left, right }, time)| ((left, right), time.units())).collect();
            assert_eq!(found, least, "[{i}..{j}] {law:?}");
            assert!(found.len() < 2 * boundaries.used());
        }
    }
}

fn check_rooted<T: Scalar>(law: &Law<'_, T>, class: Class, root: Rank, times: &Times) {
    let Table::Rooted(table) = fill(law, Some(root), class, &()).unwrap() else { panic!() };
    for i in 0..=root {
        for j in root..law.ranks() {
            assert_eq!(table.row(i).at(j).units(), times.get(i, j, root), "[{i}..{j}] {law:?}");
        }
    }
}

#[test]
fn without_overlap_adjacent_trees_are_those_of_the_programs_for_pairs() {
    let mut random = Random(2);
    for (levels, count) in problems(&[(1, 300), (2, 600), (3, 1000), (4, 300)]) {
        for _ in 0..count {
            let ranks = 1 + random.below(14) as usize;
            let problem = random.problem(ranks, levels, Laws::Linear);
            let given = (0..ranks).map(Root::Given);
            for root in given.chain([Root::Best]) {
                let problem = rooted(&problem, root);
                let known = optimal_per_pair(&problem, PairMethod::Hinges, &()).unwrap().value;
                assert_eq!(value(&problem, Class::Adjacent, root), known, "{problem:?}");
            }
        }
    }
}

#[test]
fn without_overlap_adjacent_trees_of_many_ranks_are_those_of_the_programs_for_pairs() {
    let mut random = Random(9);
    for (most, count) in problems(&[(100, 30)]) {
        for _ in 0..count {
            let ranks = 30 + random.below(most as u64 - 30) as usize;
            let levels = random.levels();
            let problem = random.problem(ranks, levels, Laws::Linear);
            let given = Root::Given(random.below(ranks as u64) as usize);
            for root in [given, Root::Best] {
                let problem = rooted(&problem, root);
                let known = optimal_per_pair(&problem, PairMethod::Hinges, &()).unwrap().value;
                assert_eq!(value(&problem, Class::Adjacent, root), known, "{problem:?}");
            }
        }
    }
}

#[test]
fn one_level_gives_what_one_law_for_all_gives() {
    let mut random = Random(3);
    for (most, count) in problems(&[(14, 2500)]) {
        for _ in 0..count {
            let ranks = 2 + random.below(most as u64 - 1) as usize;
            let laws = random.laws();
            let problem = random.problem(ranks, 1, laws);
            let (sizes, machine) = super::parts(&problem).unwrap();
            let law = BySize {
                sizes,
                port: |bytes| machine.transmission_between(0, 1, bytes).unwrap().units(),
                latency: |bytes| machine.latency_between(0, 1, bytes).unwrap().units(),
                copy: |bytes| machine.copy_at(0, bytes).unwrap().units(),
            };
            let known = |root| {
                wider::plain::table(&law, wider::Class::CopyFirst, root, &()).unwrap().value()
            };
            let given = (0..ranks).map(Root::Given);
            let known: Vec<f64> = given.chain([Root::Best]).map(known).collect();
            assert_eq!(values(&problem, Class::CopyFirst), known, "{problem:?}");
        }
    }
}

#[test]
fn one_linear_level_gives_what_homogeneous_costs_give() {
    let mut random = Random(4);
    for (most, count) in problems(&[(30, 1000)]) {
        for _ in 0..count {
            let ranks = 2 + random.below(most as u64 - 1) as usize;
            let problem = random.problem(ranks, 1, Laws::Linear);
            let costs = problem.costs().homogeneous(ranks).unwrap();
            let homogeneous = problem.with_costs(costs).unwrap();
            let given = Root::Given(random.below(ranks as u64) as usize);
            for root in [given, Root::Best] {
                let plain =
                    crate::optimal_adjacent(&rooted(&homogeneous, root), Method::Plain, &());
                let known = plain.unwrap().value;
                assert_eq!(value(&problem, Class::Adjacent, root), known, "{problem:?}");
            }
        }
    }
}

/// All trees of a class.
fn every_tree(class: Class, ranks: usize) -> Vec<Tree> {
    let trees = ordered_trees::ordered_trees(ordered_trees::OrderedClass::Ordered, ranks);
    match class {
        Class::Adjacent => trees.to_vec(),
        Class::CopyFirst => trees.iter().map(with_copies_first).collect(),
    }
}

fn with_copies_first(tree: &Tree) -> Tree {
    let mut steps = Vec::new();
    for rank in 0..tree.ranks() {
        if tree.degree(rank) > 0 {
            steps.push((rank, Step::Copy));
            steps.extend(tree.children(rank).map(|child| (rank, Step::Receive(child))));
        }
    }
    Tree::new(tree.ranks(), tree.root(), &steps).unwrap()
}

#[test]
fn values_are_the_least_over_every_tree() {
    let mut random = Random(5);
    for (ranks, count) in problems(&[(2, 300), (3, 600), (4, 800), (5, 600), (6, 200), (7, 10)]) {
        for class in Class::ALL {
            let trees = every_tree(class, ranks);
            for _ in 0..count {
                let (levels, laws) = (random.levels(), random.laws());
                let problem = random.problem(ranks, levels, laws);
                let mut least = vec![f64::INFINITY; ranks];
                for tree in &trees {
                    let time = completion_time(tree, &problem).unwrap().units();
                    least[tree.root()] = least[tree.root()].min(time);
                }
                assert_eq!(values(&problem, class), with_best(least), "{problem:?}");
            }
        }
    }
}

#[test]
fn copy_first_trees_are_those_of_the_wider_class_of_that_name() {
    for (ranks, count) in [(2, 2), (3, 8), (4, 40), (5, 224), (6, 1344)] {
        let trees = every_tree(Class::CopyFirst, ranks);
        assert_eq!(trees.len(), count);
        assert!(trees.iter().all(|tree| wider::Class::CopyFirst.check(tree).is_ok()));
    }
}

#[test]
fn trees_are_of_their_class_and_attain_the_value_to_the_last_bit() {
    let mut random = Random(6);
    for (most, count) in problems(&[(14, 3000), (60, 200)]) {
        for _ in 0..count {
            let ranks = 1 + random.below(most as u64) as usize;
            let (levels, laws) = (random.levels(), random.laws());
            let problem = random.problem(ranks, levels, laws);
            let given = Root::Given(random.below(ranks as u64) as usize);
            let mut copy_first = f64::INFINITY;
            for (class, root) in [
                (Class::CopyFirst, given),
                (Class::Adjacent, given),
                (Class::CopyFirst, Root::Best),
                (Class::Adjacent, Root::Best),
            ] {
                let best = optimal(&rooted(&problem, root), class, &()).unwrap();
                let time = completion_time(&best.tree, &problem).unwrap().units();
                assert_eq!(best.value, time, "{class:?} {root:?} {problem:?}");
                assert!(root == Root::Best || root == Root::Given(best.tree.root()));
                match class {
                    Class::Adjacent => {
                        assert!(joins_adjacent_ranges(&best.tree), "{:?}", best.tree);
                        assert!(copy_first <= time, "copying first harms nobody: {problem:?}");
                    }
                    Class::CopyFirst => {
                        assert_eq!(wider::Class::CopyFirst.check(&best.tree), Ok(()));
                        assert_eq!(with_copies_first(&best.tree), best.tree);
                        copy_first = time;
                    }
                }
            }
        }
    }
}

/// Nodes of two, two in a machine, on one port.
fn nodes_of_two(alpha: f64, placement: Placement) -> Hierarchy {
    let level = |name: &str, alpha| Level {
        name: name.to_owned(),
        members: 2,
        links: PiecewiseLinear::new(vec![Piece::one_port(0, alpha, 1.0)]).unwrap().into(),
    };
    let levels = vec![level("node", alpha), level("machine", 10.0 * alpha)];
    Hierarchy::new(levels, placement, 1.0).unwrap()
}

#[test]
fn integer_times_are_exact_up_to_2_to_the_53_and_refused_beyond() {
    let sizes = BlockSizes::new([1, 1]).unwrap();
    let found = |alpha: f64| {
        let machine = nodes_of_two(alpha, Placement::Block);
        let problem = rooted(&Problem::gather(&sizes, &machine).unwrap(), Root::Given(0));
        optimal(&problem, Class::Adjacent, &()).map(|best| best.value)
    };
    let limit = 2_f64.powi(53);
    // A copy, and a message of a byte.
    assert_eq!(found(limit - 2.0), Ok(limit));
    for alpha in [limit - 1.0, limit, 1e300] {
        assert_eq!(found(alpha), Err(DpError::TooLarge { total: 2 }));
    }
}

#[test]
fn only_blocks_and_machines_with_groups_of_adjacent_ranks_will_do() {
    let sizes = BlockSizes::new([1, 1, 1]).unwrap();
    let block = nodes_of_two(1.0, Placement::Block);
    let broadcast =
        Problem::new(Operation::Broadcast, Vector { ranks: 3, bytes: 2 }, &block).unwrap();
    let equal = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
    let round = nodes_of_two(1.0, Placement::RoundRobin);
    let apart = DpError::NotContiguous { level: "node".to_owned(), one: 0, other: 2 };
    let allgather = Problem::new(Operation::Allgather, sizes.clone(), &block).unwrap();
    for (problem, error) in [
        (broadcast, DpError::NeedsBlocks { operation: Operation::Broadcast }),
        (allgather, DpError::Rootless { operation: Operation::Allgather }),
        (Problem::gather(&sizes, equal).unwrap(), DpError::NotHierarchical),
        (Problem::gather(&sizes, &round).unwrap(), apart),
    ] {
        assert_eq!(memory_needed(&problem), Err(error.clone()));
        assert_eq!(optimal(&problem, Class::Adjacent, &()), Err(error));
    }
    let two = BlockSizes::new([1, 1]).unwrap();
    assert!(optimal(&Problem::gather(&two, &round).unwrap(), Class::Adjacent, &()).is_ok());
}

/// Allows so many bytes and so much work, and remembers what was done of how much.
struct Bounded {
    memory: u64,
    work: u64,
    seen: Mutex<(u64, u64)>,
}

impl Bounded {
    fn new(memory: u64, work: u64) -> Bounded {
        Bounded { memory, work, seen: Mutex::default() }
    }
}

impl Progress for Bounded {
    fn advance(&self, done: u64, total: u64) -> ControlFlow<()> {
        *self.seen.lock().unwrap() = (done, total);
        if done < self.work { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    }

    fn memory_allowed(&self) -> u64 {
        self.memory
    }
}

#[test]
fn what_does_not_fit_is_refused_beforehand_and_what_would_fit_is_named() {
    let mut random = Random(7);
    let problem = random.problem(40, 3, Laws::Pieces);
    for root in [Root::Best, Root::Given(11)] {
        let problem = rooted(&problem, root);
        let needed = memory_needed(&problem).unwrap();
        let with = |memory| optimal(&problem, Class::CopyFirst, &Bounded::new(memory, u64::MAX));
        assert!(with(needed).is_ok());
        let allowed = needed - 1;
        let error = DpError::DoesNotFit { ranks: 40, needed, allowed, most: 39 };
        assert_eq!(with(allowed), Err(error));
        let error = DpError::DoesNotFit { ranks: 40, needed, allowed: 0, most: 0 };
        assert_eq!(with(0), Err(error));
    }
}

#[test]
fn whoever_watches_sees_all_work_done_and_may_break_off() {
    let mut random = Random(8);
    let problem = random.problem(20, 2, Laws::Overlapping);
    for root in [Root::Best, Root::Given(0), Root::Given(11)] {
        let problem = rooted(&problem, root);
        let watch = Bounded::new(u64::MAX, u64::MAX);
        optimal(&problem, Class::CopyFirst, &watch).unwrap();
        let (done, total) = *watch.seen.lock().unwrap();
        assert_eq!(done, total);
        let cancelled = optimal(&problem, Class::CopyFirst, &Bounded::new(u64::MAX, 5));
        assert_eq!(cancelled, Err(DpError::Cancelled));
    }
}
