//! Exported C, compiled by MPICH and Open MPI and run with real data: every byte is checked, in
//! strict order and eagerly, with gaps, chunks and several requests at once (`driver.c`).

use super::c_files::{Exported, Recipe, STRICT_FLAGS, build, succeed, write_all};
use crate::program::{folder, tuwtree};
use std::process::Command;
use tuwtree_collective::allreduce::Folds;
use tuwtree_collective::broadcast::{self, Gathering};
use tuwtree_collective::intergroup::{self, Inside};
use tuwtree_collective::{
    CollectiveError, allreduce, alltoall, binary_blocks, bruck, circulant, circulant_in_pieces,
    recursive_doubling, reduce, reduce_scatter, ring, straight,
};
use tuwtree_dp::composed::Composer;
use tuwtree_dp::non_ordered::{ORDER_CELLS, direct, exact};
use tuwtree_dp::rotated::{near_optimal_in, rotated_order};
use tuwtree_dp::{Method, optimal, optimal_adjacent};
use tuwtree_laws::problems::{gather, homogeneous};
use tuwtree_model::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, GroupSizes, Hierarchy, Level,
    MessageSizes, Operation, Operator, Order as TreeOrder, Payload, Piece, PiecewiseLinear,
    Placement, Problem, Randomness, Root, Step, Tree, Vector,
};
use tuwtree_schedule::{Order, Schedule, document};
use tuwtree_treegen::{AdaptiveRule, adaptive, greedy, linear, oblivious};

fn of_tree(name: String, tree: &Tree, operation: Operation, sizes: &BlockSizes) -> Exported {
    let payload = if operation.is_irregular() {
        Payload::Blocks(sizes.clone())
    } else {
        // A whole number of the driver's matrices.
        let bytes = sizes.total() / 4 * 4;
        Payload::Vector(Vector { ranks: sizes.ranks(), bytes })
    };
    let problem = Problem::new(operation, payload, homogeneous(20, 1, 1)).unwrap();
    Exported { name, schedule: Schedule::of_tree(tree, &problem).unwrap() }
}

/// Every distribution at 8 ranks, several at 13 and 16: more would be slow where processes that
/// wait do not leave the rank to others, as those of MPICH.
fn distributions() -> Vec<Exported> {
    let mut cases = Vec::new();
    for (index, distribution) in Distribution::published().enumerate() {
        for operation in Operation::irregular() {
            cases.push(distributed(distribution, operation, 8));
        }
        if index % 3 == 0 {
            let ranks = if index % 2 == 0 { 13 } else { 16 };
            let operation = if index < 6 { Operation::Gather } else { Operation::Scatter };
            cases.push(distributed(distribution, operation, ranks));
        }
    }
    cases
}

/// The adaptive tree with its own root, or the optimal one with a given root.
fn distributed(distribution: Distribution, operation: Operation, ranks: usize) -> Exported {
    let parameters = DistributionParameters::new(ranks, 30);
    let sizes = distribution.sizes(parameters, Randomness::default()).unwrap();
    let problem = |root| gather(&sizes, homogeneous(20, 1, 1), root);
    let tree = match operation {
        Operation::Gather => adaptive(&problem(Root::Best), AdaptiveRule::default()).unwrap(),
        _ => optimal_adjacent(&problem(Root::Given(5)), Method::Dense, &()).unwrap().tree,
    };
    let distribution = distribution.name().replace('-', "_");
    let name = format!("{}_{distribution}_{ranks}", operation.name());
    of_tree(name, &tree, operation, &sizes)
}

/// Every operation and root at few ranks; one block in three is empty.
fn roots() -> Vec<Exported> {
    let costs = homogeneous(3, 1, 0);
    let mut cases = Vec::new();
    for ranks in 1..=4 {
        let sizes: Vec<u64> = (0..ranks as u64).map(|rank| (rank + 1) % 3 * 7).collect();
        let sizes = BlockSizes::new(sizes).unwrap();
        for root in 0..ranks {
            let problem = gather(&sizes, costs, Root::Given(root));
            for operation in Operation::rooted() {
                let tree = match (operation, root % 2) {
                    (Operation::Gather, _) | (Operation::Reduce, 1) => {
                        optimal_adjacent(&problem, Method::Dense, &()).unwrap().tree
                    }
                    (Operation::Broadcast, _) => oblivious(&problem).unwrap(),
                    _ => linear(&problem).unwrap(),
                };
                let name = format!("{}_{ranks}_root_{root}", operation.name());
                cases.push(of_tree(name, &tree, operation, &sizes));
            }
        }
    }
    cases
}

/// Trees that are not ordered: messages to and from the root are made of several pieces.
fn unordered() -> Vec<Exported> {
    let steps = [
        (3, Step::Receive(5)),
        (3, Step::Copy),
        (3, Step::Receive(1)),
        (3, Step::Receive(7)),
        (5, Step::Copy),
        (5, Step::Receive(0)),
        (5, Step::Receive(4)),
        (1, Step::Receive(6)),
        (1, Step::Copy),
        (1, Step::Receive(2)),
    ];
    let tree = Tree::new(8, 3, &steps).unwrap();
    let sizes = BlockSizes::new([5, 1, 0, 9, 2, 8, 13, 4]).unwrap();
    Operation::rooted()
        .map(|operation| {
            of_tree(format!("{}_unordered", operation.name()), &tree, operation, &sizes)
        })
        .collect()
}

/// Trees that were searched for without regard to order, or with blocks sent straight to the root, in no
/// order: the root's messages are derived datatypes.
fn of_any_order() -> Vec<Exported> {
    let senders = [0, 11, 3, 5, 1, 2, 4, 6, 8, 9, 10].map(|sender| (7, Step::Receive(sender)));
    let star = Tree::new(12, 7, &[&[(7, Step::Copy)], senders.as_slice()].concat()).unwrap();
    let parameters = DistributionParameters { rho: 3, ..DistributionParameters::new(12, 30) };
    let mut cases = Vec::new();
    for distribution in [Distribution::Skewed, Distribution::Spikes, Distribution::Random] {
        let sizes = distribution.sizes(parameters, Randomness::default()).unwrap();
        let problem = gather(&sizes, homogeneous(60, 1, 1), Root::Given(7));
        let trees = [
            ("direct", direct(&problem, 8, &()).unwrap()),
            ("greedy", greedy(&problem).unwrap()),
            ("exact", exact(&problem).unwrap()),
            ("star", star.clone()),
        ];
        for (construction, tree) in trees {
            for operation in Operation::irregular() {
                let name = [operation.name(), distribution.name(), construction].join("_");
                cases.push(of_tree(name, &tree, operation, &sizes));
            }
        }
    }
    for order in [Order::Direct, Order::Any] {
        assert!(cases.iter().any(|case| case.schedule.task().order == order), "{order:?}");
    }
    cases
}

/// Trees of a machine with levels, in an order around the root and with relays, and consecutive ones, whose
/// receivers start away from their own rank.
fn on_levels_and_consecutive() -> Vec<Exported> {
    let level = |(name, members, alpha): (&str, usize, f64)| {
        let piece = Piece { from_bytes: 0, alpha, overhead: 0.2 * alpha, beta: 1.0 };
        let links = PiecewiseLinear::new(vec![piece]).unwrap().into();
        Level { name: name.to_owned(), members, links }
    };
    let levels = [("node", 3, 2.0), ("island", 2, 20.0), ("network", 3, 60.0)].map(level);
    let machine = Hierarchy::new(levels.into(), Placement::Block, 0.0).unwrap();
    let mut cases = Vec::new();
    let mut add = |name: String, tree: &Tree, sizes: &BlockSizes| {
        for operation in Operation::irregular() {
            cases.push(of_tree(format!("{}_{name}", operation.name()), tree, operation, sizes));
        }
    };
    for (index, root) in [0, 4].into_iter().enumerate() {
        let parameters = DistributionParameters::new(14, 30);
        let sizes = Distribution::Random.sizes(parameters, Randomness::default()).unwrap();
        let problem = Problem::gather(&sizes, &machine).unwrap();
        let problem = problem.with_root(Root::Given(root)).unwrap();
        let order = rotated_order(&problem).unwrap();
        let rotated = near_optimal_in(&problem, &order, &()).unwrap();
        assert_ne!(TreeOrder::of(&rotated, Operation::Gather), TreeOrder::Ordered);
        add(format!("rotated_{root}"), &rotated, &sizes);
        let composer = Composer::new(&problem).unwrap();
        let plans = composer.relay_plans();
        // A few of all kinds.
        for (number, plan) in plans.iter().enumerate().skip(index).step_by(plans.len() / 4) {
            let tree = composer.relays(root, plan).unwrap();
            add(format!("relays_{root}_{number}"), &tree, &sizes);
        }
        let problem = gather(&sizes, homogeneous(60, 1, 1), Root::Given(13 * index));
        let consecutive = optimal(&problem, ORDER_CELLS, &()).unwrap().tree;
        assert_eq!(TreeOrder::of(&consecutive, Operation::Gather), TreeOrder::Ordered);
        add(format!("consecutive_{index}"), &consecutive, &sizes);
    }
    // One that starts away from its own rank for sure.
    let away =
        [(0, Step::Receive(3)), (0, Step::Copy), (0, Step::Receive(2)), (0, Step::Receive(1))];
    let away = Tree::new(4, 0, &away).unwrap();
    add("away".to_owned(), &away, &BlockSizes::new([3, 0, 6, 5]).unwrap());
    cases
}

/// Displacements that are part of the schedule, and empty messages.
fn displaced_and_empty() -> Vec<Exported> {
    let sizes = BlockSizes::new([3, 0, 6, 5]).unwrap();
    let tree = linear(&gather(&sizes, homogeneous(20, 1, 1), Root::Given(2))).unwrap();
    let nothing = BlockSizes::new([0; 4]).unwrap();
    let mut cases = Vec::new();
    for operation in Operation::irregular() {
        let mut case = of_tree(format!("{}_displaced", operation.name()), &tree, operation, &sizes);
        case.schedule = case.schedule.with_displacements(vec![20, 0, 9, 1]).unwrap();
        cases.push(case);
    }
    for operation in Operation::rooted() {
        let name = format!("{}_of_nothing", operation.name());
        cases.push(of_tree(name, &tree, operation, &nothing));
    }
    cases
}

/// Allgathers by all algorithms, with empty blocks and with displacements.
fn allgathers() -> Vec<Exported> {
    type Build = fn(&Problem) -> Result<Schedule, CollectiveError>;
    let algorithms: [(&str, Build); 5] = [
        ("ring", ring),
        ("doubling", recursive_doubling),
        ("bruck", bruck),
        ("circulant", circulant),
        ("pieces", |problem| circulant_in_pieces(problem, 3)),
    ];
    let mut cases = Vec::new();
    for ranks in [1, 2, 3, 5, 8, 13] {
        let sizes = (0..ranks as u64).map(|rank| (rank + 1) % 3 * (rank + 2));
        let sizes = BlockSizes::new(sizes).unwrap();
        let problem = Problem::allgather(&sizes, homogeneous(20, 1, 1)).unwrap();
        for (algorithm, build) in algorithms {
            let name = format!("allgather_{algorithm}_{ranks}");
            cases.push(Exported { name, schedule: build(&problem).unwrap() });
        }
    }
    let sizes = BlockSizes::new([3, 0, 6, 5]).unwrap();
    let problem = Problem::allgather(&sizes, homogeneous(20, 1, 1)).unwrap();
    let schedule = bruck(&problem).unwrap().with_displacements(vec![20, 0, 9, 1]).unwrap();
    cases.push(Exported { name: "allgather_displaced".to_owned(), schedule });
    cases
}

/// Reduce-scatters and allreduces by all algorithms, of the driver's matrices, some blocks being empty.
fn reductions() -> Vec<Exported> {
    type Build = fn(&Problem) -> Result<Schedule, CollectiveError>;
    let scatters: [(&str, Build); 7] = [
        ("straight", straight::reduce_scatter),
        ("pairwise", reduce_scatter::pairwise),
        ("halving", reduce_scatter::halving),
        ("butterfly", reduce_scatter::butterfly),
        ("doubling", reduce_scatter::recursive_doubling),
        ("circulant", reduce_scatter::circulant),
        ("pieces", |problem| reduce_scatter::circulant_in_pieces(problem, 3)),
    ];
    let allreduces: [(&str, Build); 7] = [
        ("doubling", allreduce::recursive_doubling),
        ("half", |problem| allreduce::rabenseifner(problem, Folds::Half)),
        ("full", |problem| allreduce::rabenseifner(problem, Folds::Full)),
        ("blocks", binary_blocks::allreduce),
        ("ring", allreduce::ring),
        ("circulant", allreduce::circulant),
        ("binomial", allreduce::binomial),
    ];
    let mut cases = Vec::new();
    let mut push = |name: String, problem: &Problem, build: Build| {
        cases.push(Exported { name, schedule: build(problem).unwrap() });
    };
    let operator = Operator::new(4, 1.0).unwrap();
    for ranks in [1, 2, 3, 5, 8, 13] {
        let sizes = (0..ranks as u64).map(|rank| 4 * ((rank + 1) % 3 * (rank + 2)));
        let sizes = BlockSizes::new(sizes).unwrap();
        let vector = Vector { ranks, bytes: sizes.total() };
        let costs = homogeneous(20, 1, 1);
        let problem = Problem::new(Operation::ReduceScatter, sizes, costs).unwrap();
        let problem = problem.with_operator(operator).unwrap();
        for (algorithm, build) in scatters {
            push(format!("scattered_{algorithm}_{ranks}"), &problem, build);
        }
        let problem = Problem::new(Operation::Allreduce, vector, costs).unwrap();
        let problem = problem.with_operator(operator).unwrap();
        for (algorithm, build) in allreduces {
            push(format!("allreduce_{algorithm}_{ranks}"), &problem, build);
        }
    }
    cases
}

/// Broadcasts and reductions that cut the vector, from and to the first and another rank.
fn cut() -> Vec<Exported> {
    type Build = fn(&Problem) -> Result<Schedule, CollectiveError>;
    let broadcasts: [(&str, Build); 4] = [
        ("binomial", broadcast::binomial),
        ("ring", |problem| broadcast::scatter_allgather(problem, Gathering::Ring)),
        ("doubling", |problem| broadcast::scatter_allgather(problem, Gathering::Doubling)),
        ("pieces", |problem| broadcast::circulant_in_pieces(problem, 3)),
    ];
    let reductions: [(&str, Build); 7] = [
        ("binomial", reduce::binomial),
        ("forwarded", reduce::binomial_forwarded),
        ("half", |problem| reduce::rabenseifner(problem, Folds::Half)),
        ("full", |problem| reduce::rabenseifner(problem, Folds::Full)),
        ("blocks", binary_blocks::reduce),
        ("ring", reduce::ring),
        ("pieces", |problem| reduce::circulant_in_pieces(problem, 3)),
    ];
    let mut cases = Vec::new();
    for (ranks, root) in [(1, 0), (2, 1), (5, 0), (5, 3), (8, 0), (13, 6), (13, 12)] {
        for (operation, algorithms) in
            [(Operation::Broadcast, &broadcasts[..]), (Operation::Reduce, &reductions)]
        {
            // Matrices of four bytes, fewer than there are ranks or more.
            let vector = Vector { ranks, bytes: 4 * (3 + 2 * (ranks as u64 % 5)) };
            let problem = Problem::new(operation, vector, homogeneous(20, 1, 1)).unwrap();
            let mut problem = problem.with_root(Root::Given(root)).unwrap();
            if operation == Operation::Reduce {
                problem = problem.with_operator(Operator::new(4, 1.0).unwrap()).unwrap();
            }
            for (algorithm, build) in algorithms {
                let name = format!("cut_{}_{algorithm}_{ranks}_{root}", operation.name());
                cases.push(Exported { name, schedule: build(&problem).unwrap() });
            }
        }
    }
    cases
}

/// Alltoalls and intergroup allgathers by all algorithms, with empty messages and blocks.
fn without_a_root() -> Vec<Exported> {
    type Build = fn(&Problem) -> Result<Schedule, CollectiveError>;
    let alltoalls: [(&str, Build); 5] = [
        ("linear", alltoall::linear),
        ("pairwise", alltoall::pairwise),
        ("bruck", |problem| alltoall::bruck(problem, 2)),
        ("radix", |problem| alltoall::bruck(problem, 3)),
        ("shop", alltoall::open_shop),
    ];
    let intergroups: [(&str, Build); 5] = [
        ("paired", |problem| intergroup::paired(problem, Inside::Circulant)),
        ("shares", |problem| intergroup::shares(problem, Inside::Pieces(2))),
        ("best", |problem| intergroup::root_best(problem, 2)),
        ("mpich", intergroup::root_mpich),
        ("mpich_v", intergroup::root_mpich_v),
    ];
    let costs = homogeneous(20, 1, 1);
    let mut cases = Vec::new();
    for p in [1, 2, 3, 5, 8, 9] {
        let sizes = (0..p * p).map(|pair| (pair / p + 2 * (pair % p)) % 4 * (1 + pair % 3));
        let sizes = MessageSizes::new(sizes).unwrap();
        let problem = Problem::new(Operation::Alltoall, sizes, costs).unwrap();
        for (algorithm, build) in alltoalls {
            let name = format!("alltoall_{algorithm}_{p}");
            cases.push(Exported { name, schedule: build(&problem).unwrap() });
        }
    }
    for (first, second) in [(1, 1), (3, 2), (6, 2), (2, 5), (8, 5)] {
        let sizes = (0..first + second).map(|rank| (rank + 1) % 3 * (rank + 2));
        let sizes = GroupSizes::new(BlockSizes::new(sizes).unwrap(), first as usize).unwrap();
        let problem = Problem::new(Operation::IntergroupAllgather, sizes, costs).unwrap();
        for (algorithm, build) in intergroups {
            let name = format!("groups_{algorithm}_{first}_{second}");
            cases.push(Exported { name, schedule: build(&problem).unwrap() });
        }
    }
    cases
}

/// A schedule that is no tree's, from the lines of its actions.
fn by_hand(name: &str, operation: &str, ports: u16, data: &str, programs: &[&str]) -> Exported {
    let ranks = programs.len();
    let text = format!(
        r#"{{"format":"tuwtree-schedule","version":5,"operation":"{operation}","order":"ordered",
        "processors":{ranks},"root":0,"ports":{ports},{data},"actions":[{}]}}"#,
        programs.join(",\n")
    );
    Exported { name: name.to_owned(), schedule: document::read(text.as_bytes()).unwrap() }
}

/// Exchanges, several ports, memory that is used again, messages in many pieces.
fn beyond_trees() -> Vec<Exported> {
    vec![
        // The halves of the vector go different ways and are exchanged.
        by_hand(
            "broadcast_exchange",
            "broadcast",
            1,
            r#""vector_bytes":10,"segment_bytes":[0,0,0]"#,
            &[
                r#"[{"send":1,"from":["output",0,5]},{"send":2,"from":["output",5,5]}]"#,
                r#"[{"receive":0,"into":["output",0,5]},
                    {"send":2,"from":["output",0,5],"receive":2,"into":["output",5,5]}]"#,
                r#"[{"receive":0,"into":["output",5,5]},
                    {"send":1,"from":["output",5,5],"receive":1,"into":["output",0,5]}]"#,
            ],
        ),
        // Recursive doubling: what is sent is combined with what arrives at the same time.
        by_hand(
            "reduce_doubling",
            "reduce",
            1,
            r#""vector_bytes":8,"segment_bytes":[0,8,8,8]"#,
            &[
                r#"[{"send":1,"from":["output",0,8],"receive":1,"into":["output",0,8],"combine":"right"},
                    {"send":2,"from":["output",0,8],"receive":2,"into":["output",0,8],"combine":"right"}]"#,
                r#"[{"send":0,"from":["segment",0,8],"receive":0,"into":["segment",0,8],"combine":"left"},
                    {"send":3,"from":["segment",0,8],"receive":3,"into":["segment",0,8],"combine":"right"}]"#,
                r#"[{"send":3,"from":["segment",0,8],"receive":3,"into":["segment",0,8],"combine":"right"},
                    {"send":0,"from":["segment",0,8],"receive":0,"into":["segment",0,8],"combine":"left"}]"#,
                r#"[{"send":2,"from":["segment",0,8],"receive":2,"into":["segment",0,8],"combine":"left"},
                    {"send":1,"from":["segment",0,8],"receive":1,"into":["segment",0,8],"combine":"left"}]"#,
            ],
        ),
        // Neighbours swap their data in place, twice, and 0 keeps what it had.
        by_hand(
            "broadcast_swap",
            "broadcast",
            1,
            r#""vector_bytes":6,"segment_bytes":[6,6]"#,
            &[
                r#"[{"from":["output",0,6],"into":["segment",0,6]},
                    {"send":1,"from":["segment",0,6],"receive":1,"into":["segment",0,6]},
                    {"send":1,"from":["segment",0,6],"receive":1,"into":["segment",0,6]}]"#,
                r#"[{"send":0,"from":["segment",0,6],"receive":0,"into":["segment",0,6]},
                    {"from":["segment",0,6],"into":["output",0,6]},
                    {"send":0,"from":["segment",0,6],"receive":0,"into":["segment",0,6]}]"#,
            ],
        ),
        // Two messages through the same memory, with one tag; the second must not overtake.
        by_hand(
            "gather_reused_segment",
            "gather",
            1,
            r#""block_sizes_bytes":[2,3,8],"segment_bytes":[0,4,0]"#,
            &[
                r#"[{"receive":1,"into":["output",2,3]},{"receive":1,"into":["output",5,2,11,2]},
                    {"from":["input",0,2],"into":["output",0,2]},{"receive":1,"into":["output",7,4]}]"#,
                r#"[{"send":0,"from":["input",0,3]},
                    {"receive":2,"into":["segment",0,1,2,1,1,1,3,1]},
                    {"send":0,"from":["segment",0,1,2,1,1,1,3,1]},
                    {"receive":2,"into":["segment",0,4]},{"send":0,"from":["segment",0,4]}]"#,
                r#"[{"send":1,"from":["input",0,2,6,2]},{"send":1,"from":["input",2,4]}]"#,
            ],
        ),
        // The root has two ports; one message is behind a longer way.
        by_hand(
            "gather_two_ports",
            "gather",
            2,
            r#""block_sizes_bytes":[2,3,4,5],"segment_bytes":[0,0,9,0]"#,
            &[
                r#"[{"receive":2,"into":["output",5,9]},
                    {"port":1,"from":["input",0,2],"into":["output",0,2]},
                    {"port":1,"receive":1,"into":["output",2,3]}]"#,
                r#"[{"port":1,"send":0,"from":["input",0,3]}]"#,
                r#"[{"from":["input",0,4],"into":["segment",0,4]},
                    {"port":1,"receive":3,"into":["segment",4,5]},
                    {"send":0,"from":["segment",0,9]}]"#,
                r#"[{"send":2,"from":["input",0,5]}]"#,
            ],
        ),
        // Combined in the order of the list, whichever arrives first.
        by_hand(
            "reduce_two_ports",
            "reduce",
            2,
            r#""vector_bytes":12,"segment_bytes":[0,12,0,0]"#,
            &[
                r#"[{"receive":1,"into":["output",0,12],"combine":"right"},
                    {"port":1,"receive":3,"into":["output",0,12],"combine":"right"}]"#,
                r#"[{"receive":2,"into":["segment",0,12],"combine":"right"},
                    {"send":0,"from":["segment",0,12]}]"#,
                r#"[{"send":1,"from":["input",0,12]}]"#,
                r#"[{"send":0,"from":["input",0,12]}]"#,
            ],
        ),
        // What is combined by copies waits beside its place, and comes from memory that is used again.
        by_hand(
            "reduce_copied",
            "reduce",
            2,
            r#""vector_bytes":8,"segment_bytes":[8,16,0]"#,
            &[
                r#"[{"receive":1,"into":["segment",0,8]},
                    {"port":1,"from":["segment",0,4,4,4],"into":["output",0,8],"combine":"right"}]"#,
                r#"[{"receive":2,"into":["segment",8,8]},
                    {"from":["segment",8,8],"into":["segment",0,8],"combine":"right"},
                    {"receive":2,"into":["segment",8,8]},{"send":0,"from":["segment",0,8]}]"#,
                r#"[{"send":1,"from":["input",0,8]},{"send":1,"from":["input",0,8]}]"#,
            ],
        ),
        by_hand(
            "reduce_copied_left",
            "reduce",
            1,
            r#""vector_bytes":8,"segment_bytes":[0,8,0]"#,
            &[
                r#"[{"receive":1,"into":["output",0,8],"combine":"right"}]"#,
                r#"[{"receive":2,"into":["segment",0,8]},
                    {"from":["input",0,8],"into":["segment",0,8],"combine":"left"},
                    {"send":0,"from":["segment",0,8]}]"#,
                r#"[{"send":1,"from":["input",0,8]}]"#,
            ],
        ),
        // A chain that forwards one part while the next one comes.
        by_hand(
            "broadcast_pipeline",
            "broadcast",
            2,
            r#""vector_bytes":10,"segment_bytes":[0,0,0]"#,
            &[
                r#"[{"send":1,"from":["output",0,5]},{"send":1,"from":["output",5,5]}]"#,
                r#"[{"receive":0,"into":["output",0,5]},{"port":1,"send":2,"from":["output",0,5]},
                    {"receive":0,"into":["output",5,5]},{"port":1,"send":2,"from":["output",5,5]}]"#,
                r#"[{"receive":1,"into":["output",0,5]},{"receive":1,"into":["output",5,5]}]"#,
            ],
        ),
        // Two messages between the same ranks on two ports at once, with different tags.
        by_hand(
            "scatter_two_tags",
            "scatter",
            2,
            r#""block_sizes_bytes":[1,9],"segment_bytes":[0,0]"#,
            &[
                r#"[{"send":1,"send_tag":7,"from":["input",6,4]},
                    {"port":1,"send":1,"from":["input",1,5]},
                    {"from":["input",0,1],"into":["output",0,1]}]"#,
                r#"[{"receive":0,"into":["output",0,5]},
                    {"port":1,"receive":0,"receive_tag":7,"into":["output",5,4]}]"#,
            ],
        ),
    ]
}

fn cases() -> Vec<Exported> {
    let along_trees =
        [distributions(), roots(), unordered(), of_any_order(), on_levels_and_consecutive()];
    let others = [
        displaced_and_empty(),
        beyond_trees(),
        allgathers(),
        reductions(),
        cut(),
        without_a_root(),
    ];
    along_trees.into_iter().chain(others).flatten().collect()
}

/// Compiles all cases with this MPI's compilers and runs them with real data.
fn performs_all_schedules(mpi: &str) {
    let cases = cases();
    let folder = write_all(&cases, &format!("exported-c-{mpi}"));
    let compiler = format!("mpicc.{mpi}");
    let program =
        build(&Recipe { compiler: &compiler, driver: "driver.c", flags: &flags }, &cases, &folder);
    let said = run(mpi, 16, &program);
    let expected = format!("{} schedules, ", cases.len());
    assert!(said.starts_with(&expected) && said.ends_with(" 0 failures\n"), "{said}");
    let checks: usize = said.split(' ').nth(2).unwrap().parse().unwrap();
    assert!(checks > 20 * cases.len(), "{said}");
}

/// Some schedules are optimised, and every other one sends in chunks of three bytes.
fn flags(index: usize) -> Vec<String> {
    let mut flags = vec![if index % 16 < 2 { "-O2" } else { "-O0" }.to_owned()];
    if index % 2 == 1 {
        flags.push("-DTUWTREE_CHUNK=3".to_owned());
    }
    flags
}

fn run(mpi: &str, processes: usize, program: &std::path::Path) -> String {
    succeed(
        Command::new("timeout")
            .args(["600", &format!("mpirun.{mpi}"), "-n", &processes.to_string()])
            .arg(program)
            .envs([
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ]),
    )
}

/// The headers, from C++.
fn headers_are_cpp(mpi: &str) {
    let cases = roots();
    let folder = write_all(&cases, &format!("exported-cpp-{mpi}"));
    let includes: String =
        cases.iter().map(|case| format!("#include \"{}.h\"\n", case.name)).collect();
    let calls: String = cases
        .iter()
        .map(|Exported { name, .. }| {
            format!("int call_{name}({name}_request *request) {{ return {name}_wait(request); }}\n")
        })
        .collect();
    std::fs::write(folder.join("calls.cpp"), includes + &calls).unwrap();
    succeed(
        Command::new(format!("mpicxx.{mpi}"))
            // Open MPI's own C++ interface, long removed from MPI, has warnings.
            .args(["-std=c++11", "-fsyntax-only", "-DOMPI_SKIP_MPICXX"])
            .args(&STRICT_FLAGS[1..])
            .arg(folder.join("calls.cpp")),
    );
}

#[test]
#[ignore = "needs MPICH; ./test --all runs it"]
fn mpich_performs_exported_schedules() {
    performs_all_schedules("mpich");
}

#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_performs_exported_schedules() {
    performs_all_schedules("openmpi");
}

/// What users get: the two files that `tuwtree export` writes, compiled as they are.
fn exported_files_compile(mpi: &str) {
    let folder = folder(&format!("exported-{mpi}"));
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (tree, source) = (path("tree.json"), path("my-gather.c"));
    tuwtree(&format!("optimize --dist spikes -p 100 -o {tree}")).success();
    tuwtree(&format!("export {tree} --format c -o {source}")).success();
    let header = std::fs::read_to_string(path("my_gather.h")).unwrap();
    assert!(header.contains("my_gather_init_eager("), "{header}");
    let mut compiler = Command::new(format!("mpicc.{mpi}"));
    compiler.args(STRICT_FLAGS).args(["-c", &source, "-o", &path("my_gather.o")]);
    succeed(&mut compiler);
}

#[test]
#[ignore = "needs MPICH; ./test --all runs it"]
fn mpich_compiles_what_export_writes() {
    exported_files_compile("mpich");
}

#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_compiles_what_export_writes() {
    exported_files_compile("openmpi");
}

#[test]
#[ignore = "needs MPICH; ./test --all runs it"]
fn mpich_and_cpp_take_exported_headers() {
    headers_are_cpp("mpich");
}

#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_and_cpp_take_exported_headers() {
    headers_are_cpp("openmpi");
}
