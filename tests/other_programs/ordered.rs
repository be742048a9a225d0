//! Reductions by an operator that does not commute: MPICH and Open MPI combine operands in rank order, and send the
//! messages of the algorithms that `select --regret --order ordered` takes for their own.

use super::settings::{
    Installed, SentMessages, SettingTask, counted_by_ucx, messages_of, sent_by_mpich,
    sent_by_open_mpi, sums, unnamed,
};
use tuwtree_collective::{CollectiveError, allreduce, reduce, reduce_scatter};
use tuwtree_model::{
    BlockSizes, Homogeneous, Operation, Order, Payload, Problem, Rank, Root, Vector,
};
use tuwtree_schedule::Schedule;
use tuwtree_tuning::{OwnRules, own_rule};

/// Equal blocks of five processes, and of eight.
const EQUAL: [&[u64]; 2] = [&[40; 5], &[40; 8]];

/// Blocks that differ, of eight.
const DIFFERENT: &[u64] = &[100, 1, 7, 13, 30, 50, 17, 9];

const REDUCTIONS: [Operation; 3] =
    [Operation::Reduce, Operation::Allreduce, Operation::ReduceScatter];

/// What a library chooses by itself for equal blocks, of so many bytes in all.
fn own_name(rules: OwnRules, operation: Operation, blocks: &[u64]) -> &'static str {
    let bytes = blocks.iter().sum();
    own_rule(rules, (operation, Order::Ordered), blocks.len(), bytes).unwrap().name
}

/// What is sent by an algorithm.
fn expected(name: &str, operation: Operation, blocks: &[u64]) -> SentMessages {
    let total = blocks.iter().sum();
    let to = |pairs: &[(Rank, Rank)]| pairs.iter().map(|&pair| (pair, vec![total])).collect();
    let schedule = |build: fn(&Problem) -> Result<Schedule, CollectiveError>| {
        let payload: Payload = match operation {
            Operation::ReduceScatter => BlockSizes::new(blocks.iter().copied()).unwrap().into(),
            _ => Vector { ranks: blocks.len(), bytes: total }.into(),
        };
        let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
        let problem = Problem::new(operation, payload, costs).unwrap();
        let problem = match operation.is_rooted() {
            true => problem.with_root(Root::Given(0)).unwrap(),
            false => problem,
        };
        let schedule = build(&problem).unwrap();
        assert_eq!(schedule.task().order, Order::Ordered);
        messages_of(&schedule)
    };
    match (operation, name) {
        (Operation::Reduce, "binomial") => schedule(reduce::binomial),
        (Operation::Reduce, "linear") => to(&[(1, 0), (2, 0), (3, 0), (4, 0)]),
        (Operation::Reduce, "in-order-binary-tree") => {
            // To the last rank, and from there to the root.
            to(&[(0, 1), (1, 3), (2, 3), (3, 7), (4, 6), (5, 6), (6, 7), (7, 0)])
        }
        (Operation::Allreduce, "recursive-doubling") => schedule(allreduce::recursive_doubling),
        (Operation::ReduceScatter, "recursive-doubling") => {
            schedule(reduce_scatter::recursive_doubling)
        }
        (Operation::ReduceScatter, "butterfly") => schedule(reduce_scatter::butterfly),
        (Operation::ReduceScatter, "reduce-and-scatter") => {
            let reduce = own_name(OwnRules::OpenMpi, Operation::Reduce, blocks);
            let mut all = expected(reduce, Operation::Reduce, blocks);
            for (rank, &bytes) in blocks.iter().enumerate().skip(1) {
                all.entry((0, rank)).or_default().push(bytes);
            }
            all
        }
        _ => panic!("{operation:?} by {name}"),
    }
}

#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_keeps_the_order_by_the_algorithms_of_its_own_rule() {
    let open_mpi = Installed::of_debian("openmpi", "ordered");
    open_mpi.compile("mpicc", "ordered.c", &open_mpi.folder.join("ordered"), &[]);
    for operation in REDUCTIONS {
        for blocks in EQUAL.into_iter().chain([DIFFERENT]) {
            let name = own_name(OwnRules::OpenMpi, operation, blocks);
            let task = SettingTask { program: "ordered", operation, blocks };
            let sent = sent_by_open_mpi(&open_mpi, &[], &task);
            assert_eq!(sent, sums(&expected(name, operation, blocks)), "{name}, {blocks:?}");
        }
    }
}

/// So that `select` warns of its files for Open MPI: algorithms that do not keep the order are used all the same.
#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_does_not_look_whether_operators_commute_where_an_algorithm_is_set() {
    let open_mpi = Installed::of_debian("openmpi", "set-ordered");
    open_mpi.compile("mpicc", "ordered.c", &open_mpi.folder.join("ordered"), &[]);
    let code = |operation, set: &str, number: &str| {
        let parameter = format!("coll_tuned_{set}_algorithm");
        let mut job = open_mpi.job(8);
        job.args(["--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", &parameter, number]);
        let task = SettingTask { program: "ordered", operation, blocks: EQUAL[1] };
        task.added_to(&mut job).output().unwrap().status.code()
    };
    // Ring, binomial, and halving; 3 says that results are wrong.
    assert_eq!(code(Operation::Allreduce, "allreduce", "4"), Some(3));
    assert_eq!(code(Operation::Reduce, "reduce", "5"), Some(3));
    assert_eq!(code(Operation::ReduceScatter, "reduce_scatter", "2"), Some(3));
    // Rabenseifner's, and the butterfly.
    assert_eq!(code(Operation::Allreduce, "allreduce", "6"), Some(0));
    assert_eq!(code(Operation::Reduce, "reduce", "7"), Some(0));
    assert_eq!(code(Operation::ReduceScatter, "reduce_scatter", "4"), Some(0));
}

#[test]
#[ignore = "needs MPICH; ./test --all runs it"]
fn mpich_keeps_the_order_by_the_algorithms_of_its_own_rule_and_has_no_others() {
    let mpich = Installed::of_debian("mpich", "ordered");
    mpich.compile("mpicc", "ordered.c", &mpich.folder.join("ordered"), &[]);
    let run = |settings: &[(&str, &str)], operation, blocks| {
        counted_by_ucx(&mpich, settings, &SettingTask { program: "ordered", operation, blocks })
    };
    // SentMessages of several pieces are not counted by bytes.
    let only_counted = |messages: super::settings::ByReceivers| {
        let count = |all: Vec<Vec<u64>>| {
            let mut counts: Vec<usize> = all.iter().map(Vec::len).collect();
            counts.sort_unstable();
            counts
        };
        messages.into_iter().map(|(rank, all)| (rank, count(all))).collect::<Vec<_>>()
    };
    for operation in REDUCTIONS {
        for blocks in EQUAL.into_iter().chain([DIFFERENT]) {
            let name = match (operation, blocks == DIFFERENT) {
                // Its butterfly is for equal blocks.
                (Operation::ReduceScatter, true) => "recursive-doubling",
                _ => own_name(OwnRules::Mpich, operation, blocks),
            };
            let output = run(&[], operation, blocks);
            assert!(output.status.success(), "{name}, {blocks:?}: {output:?}");
            let (sent, planned) =
                (sent_by_mpich(output), unnamed(expected(name, operation, blocks)));
            if operation == Operation::ReduceScatter && name == "recursive-doubling" {
                assert_eq!(only_counted(sent), only_counted(planned), "{name}, {blocks:?}");
            } else {
                assert_eq!(sent, planned, "{name}, {blocks:?}");
            }
        }
    }
    for (operation, variable, value) in [
        (Operation::Reduce, "MPIR_CVAR_REDUCE_INTRA_ALGORITHM", "reduce_scatter_gather"),
        (Operation::Allreduce, "MPIR_CVAR_ALLREDUCE_INTRA_ALGORITHM", "reduce_scatter_allgather"),
        (Operation::ReduceScatter, "MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM", "recursive_halving"),
        (Operation::ReduceScatter, "MPIR_CVAR_REDUCE_SCATTER_INTRA_ALGORITHM", "pairwise"),
    ] {
        let output = run(&[(variable, value)], operation, EQUAL[1]);
        assert!(!output.status.success(), "{variable}={value}: {output:?}");
    }
}
