//! Random problems: an operation, its data, a tree, and how it is performed.

use super::dice::Dice;
use super::shatter::shattered;
use std::fmt;
use tuwtree_binding::Element;
use tuwtree_executor::play::Mode;
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, Distribution, DistributionParameters, Homogeneous,
    Operation, Payload, Problem, Randomness, Rank, Root, Step, Tree, Vector,
    check_combines_neighbours,
};
use tuwtree_schedule::Schedule;
use tuwtree_treegen::{
    AdaptiveRule, adaptive, doubling, greedy, linear, model_graceful, oblivious,
};

/// Construction of a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub(super) enum Shape {
    Linear,
    Oblivious,
    Adaptive,
    ModelGraceful,
    Doubling,
    Greedy,
    Random,
}

/// Layout of elements in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ElementLayout {
    /// One after the other.
    Packed,
    /// Elements of a group, with gaps of their own size between them.
    Strided,
}

/// Place of the root's own data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RootData {
    Apart,
    InPlace,
}

/// Combination of elements in a reduction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Combination {
    Sum,
    /// Of bytes; it tells left from right.
    Composition,
}

/// Way of waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WaitPattern {
    Wait,
    Test,
}

/// A random problem.
#[derive(Clone, Debug)]
pub(super) struct TestProblem {
    pub(super) index: u64,
    pub(super) shape: Shape,
    pub(super) distribution: Distribution,
    pub(super) schedule: Schedule,
    pub(super) mode: Mode,
    pub(super) element: Element,
    /// Elements in a group, which a strided layout takes apart.
    pub(super) group: u64,
    /// The layout of all blocks at the root of a gather or scatter.
    pub(super) blocks: ElementLayout,
    /// The layout of a rank's own data, by whether its rank is even.
    pub(super) own: [ElementLayout; 2],
    pub(super) root_data: RootData,
    pub(super) combination: Combination,
    /// The order in which the root's blocks lie, with the gap behind each, in extents.
    pub(super) order: Vec<(Rank, u64)>,
    pub(super) iterations: u64,
    pub(super) waiting: WaitPattern,
}

impl TestProblem {
    /// The random problem number `index` for this many processes.
    pub(super) fn random(seed: u64, index: u64, ranks: usize) -> TestProblem {
        let mut dice = Dice::new(seed, &[index, ranks as u64]);
        // In turn, so that none is left to chance where there are few problems.
        let operations: Vec<Operation> = Operation::rooted().collect();
        let operation = operations[index as usize % operations.len()];
        let root = index as usize / operations.len() % ranks;
        let distribution = Distribution::ALL[(index / 3) as usize % Distribution::ALL.len()];
        let mode = dice.one_of(Mode::ALL);
        let shape = dice.one_of(Shape::ALL);
        let element = match operation {
            // Sums of floating-point numbers depend on the order.
            Operation::Reduce => dice.one_of(&[Element::Byte, Element::Int, Element::Long]),
            _ => dice.one_of(Element::ALL),
        };
        let group = 1 + dice.below(3);
        let unit = group * element.bytes();
        let payload = payload(operation, distribution, ranks, unit, &mut dice);
        let collective = Collective::new(operation, payload).expect("made for the operation");
        let tree = tree(shape, &collective, root, &mut dice);
        let combination = match check_combines_neighbours(&tree) {
            Ok(()) if element == Element::Byte => Combination::Composition,
            _ => Combination::Sum,
        };
        let schedule = Schedule::without_costs(&tree, &collective)
            .expect("the tree is one of the problem's ranks");
        let schedule = match operation {
            // What is combined must not be cut where it is combined with something else.
            Operation::Reduce => schedule,
            _ if dice.once_in(2) => shattered(&schedule, unit, dice.number()),
            _ => schedule,
        };
        let layout = |dice: &mut Dice| match operation {
            Operation::Reduce => ElementLayout::Packed,
            _ => dice.one_of(&[ElementLayout::Packed, ElementLayout::Strided]),
        };
        let mut order: Vec<Rank> = (0..ranks).collect();
        if dice.once_in(3) {
            dice.shuffle(&mut order);
        }
        let most = dice.one_of(&[1, 1, 3]);
        TestProblem {
            index,
            shape,
            distribution,
            schedule,
            mode,
            element,
            group,
            blocks: layout(&mut dice),
            own: [layout(&mut dice), layout(&mut dice)],
            root_data: match operation {
                Operation::Broadcast => RootData::Apart,
                _ => dice.one_of(&[RootData::Apart, RootData::Apart, RootData::InPlace]),
            },
            combination,
            order: order.into_iter().map(|rank| (rank, dice.below(most))).collect(),
            iterations: dice.one_of(&[1, 3]),
            waiting: dice.one_of(&[WaitPattern::Wait, WaitPattern::Test]),
        }
    }
}

fn payload(
    operation: Operation,
    distribution: Distribution,
    ranks: usize,
    unit: u64,
    dice: &mut Dice,
) -> Payload {
    let mean_block = dice.one_of(&[1, 1, 5, 20, 100, 3000]);
    if !operation.is_irregular() {
        let bytes = if dice.once_in(10) { 0 } else { dice.below(2 * mean_block) * unit };
        return Payload::Vector(Vector { ranks, bytes });
    }
    let default = DistributionParameters::new(ranks, mean_block);
    let parameters = DistributionParameters { rho: 1 + dice.below(5), ..default };
    let randomness = Randomness::Xoshiro { seed: dice.number() };
    let sizes = distribution.sizes(parameters, randomness).expect("small sizes");
    let empty = dice.one_of(&[u64::MAX, u64::MAX, 3, 1]);
    let sizes: Vec<u64> =
        sizes.iter().map(|size| if dice.once_in(empty) { 0 } else { size * unit }).collect();
    Payload::Blocks(BlockSizes::new(sizes).expect("small sizes"))
}

fn tree(shape: Shape, collective: &Collective, root: Rank, dice: &mut Dice) -> Tree {
    let costs = Homogeneous::new(dice.below(200) as f64, 1.0, dice.below(2) as f64)
        .expect("costs that are not negative");
    let problem = Problem::of(collective.clone(), costs)
        .and_then(|problem| problem.with_root(Root::Given(root)))
        .expect("the root is a rank");
    let made = match shape {
        Shape::Linear => linear(&problem).ok(),
        Shape::Oblivious => oblivious(&problem).ok(),
        Shape::Adaptive => adaptive(&problem, dice.one_of(AdaptiveRule::ALL)).ok(),
        Shape::ModelGraceful => model_graceful(&problem).ok(),
        // Those for blocks have no tree for vectors.
        Shape::Doubling => doubling(&problem).ok(),
        Shape::Greedy => greedy(&problem).ok(),
        Shape::Random => None,
    };
    made.unwrap_or_else(|| random_tree(collective.ranks(), root, dice))
}

/// A tree of random shape, whose processes take their children and their own block in random order.
fn random_tree(ranks: usize, root: Rank, dice: &mut Dice) -> Tree {
    let mut others: Vec<Rank> = (0..ranks).filter(|&rank| rank != root).collect();
    dice.shuffle(&mut others);
    let mut children = vec![Vec::new(); ranks];
    // Of those that are in the tree already, any, or one of the last few: bushes and chains.
    let reach = dice.one_of(&[1, 2, u64::MAX]);
    let mut inside = vec![root];
    for rank in others {
        let last = inside.len() - 1;
        let parent = inside[last - dice.below(reach.min(last as u64 + 1)) as usize];
        children[parent].push(rank);
        inside.push(rank);
    }
    let mut steps = Vec::new();
    for (rank, children) in children.into_iter().enumerate().filter(|(_, list)| !list.is_empty()) {
        let received = children.into_iter().map(Step::Receive);
        let mut own: Vec<Step> = received.chain([Step::Copy]).collect();
        dice.shuffle(&mut own);
        steps.extend(own.into_iter().map(|step| (rank, step)));
    }
    Tree::new(ranks, root, &steps).expect("every rank is in the tree once")
}

impl fmt::Display for TestProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let task = self.schedule.task();
        write!(
            formatter,
            "problem {} ({} of {} bytes over {} processes{}, {} blocks, {:?} tree, {} ports, {} mode, {} x {}, {:?} at the root, {:?} elsewhere, {:?}, {:?}, {:?})",
            self.index,
            task.operation.name(),
            task.total(),
            task.ranks(),
            task.root_phrase(),
            self.distribution.name(),
            self.shape,
            task.ports,
            self.mode.name(),
            self.group,
            self.element.name(),
            self.blocks,
            self.own,
            self.root_data,
            self.combination,
            self.waiting,
        )
    }
}
