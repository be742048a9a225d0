//! The header for C, `c/tuwtree.h`: its plans are those of the Rust crates.

use crate::program::{folder, tuwtree, workspace_file};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use tuwtree_collective::{
    Circulation, Flow, MessagePrice, RankRounds, RoundMessages, overlapped_time,
};
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    BlockSizes, Collective, Costs, Hierarchy, Level, LinkLaw, Network, Piece, PiecewiseLinear,
    Placement, PortKind, Problem, Rank, Root,
};
use tuwtree_plan::catalogue::{OnlinePart, found_online};

/// Compiles a program of these tests against the header.
fn compiled(compiler: &str, name: &str, flags: &[&str]) -> PathBuf {
    let program = folder(&format!("c-header-{compiler}-{name}")).join(name);
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Wshadow", "-Werror"]);
    command.args(["-ffp-contract=off"]).args(flags).arg("-I").arg(workspace_file("c"));
    let source = workspace_file("tests/c_header").join("plans.c");
    let output = command.arg(source).arg("-o").arg(&program).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}

/// Lines that the program prints for these questions.
fn answers(program: &PathBuf, questions: String) -> Vec<String> {
    let mut child =
        Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || input.write_all(questions.as_bytes()).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Block sizes of many kinds, up to a number of ranks.
fn blocks(most: usize) -> impl Strategy<Value = Vec<u64>> {
    let ranks = prop_oneof![6 => 1..10_usize, 6 => 10..100_usize, 1 => 100..=most];
    let kind = (0..5_usize, 0..24_u32);
    (ranks, kind).prop_flat_map(|(ranks, (kind, bits))| {
        vec(any::<u64>(), ranks).prop_map(move |drawn| {
            let block = |&drawn: &u64| match kind {
                0 => 1 << bits,
                1 => drawn % (1 << bits),
                2 if drawn % 3 > 0 => 0,
                2 | 3 => 1 << (drawn % 40),
                _ => u64::from(drawn % 16 == 0) << bits,
            };
            drawn.iter().map(block).collect()
        })
    })
}

/// Pieces of a link's costs, and gamma.
fn pieces() -> impl Strategy<Value = (Vec<Piece>, f64)> {
    let cost = || prop_oneof![1 => Just(0.0), 4 => (-9.0..3.0_f64).prop_map(f64::exp)];
    let piece = (cost(), cost(), 0..3_u8, cost(), 1..30_u32);
    (vec(piece, 1..4), cost(), any::<bool>()).prop_map(|(drawn, gamma, overlaps)| {
        let mut from_bytes = 0;
        let piece = |(one, other, kind, beta, bits): (f64, f64, u8, f64, u32)| {
            let overhead = if overlaps && kind > 0 { other } else { one + other };
            let piece = Piece { from_bytes, alpha: one + other, overhead, beta: beta * 1e-3 };
            from_bytes += 1 << bits;
            piece
        };
        (drawn.into_iter().map(piece).collect(), gamma * 1e-3)
    })
}

/// Problem of a gather or scatter, with ranks that ask for their places.
#[derive(Clone, Debug)]
struct Asked {
    blocks: Vec<u64>,
    root: Rank,
    is_scatter: bool,
    pieces: Vec<Piece>,
    gamma: f64,
    network: Network,
}

fn asked() -> impl Strategy<Value = Asked> {
    let limit = || proptest::option::of((0..30_u32).prop_map(|bits| 1_u64 << bits));
    let network = (limit(), limit(), any::<bool>(), proptest::option::of(0.0..1.0_f64));
    let network = network.prop_map(|(eager_limit, fair_beyond, is_fair, send_overhead)| Network {
        port: if is_fair { PortKind::Fair } else { PortKind::FirstInFirstOut },
        eager_limit,
        fair_beyond: fair_beyond.filter(|_| is_fair),
        send_overhead,
        ..Network::default()
    });
    (blocks(6000), any::<usize>(), any::<bool>(), pieces(), network).prop_map(
        |(blocks, root, is_scatter, (pieces, gamma), network)| Asked {
            root: root % blocks.len(),
            blocks,
            is_scatter,
            pieces,
            gamma,
            network,
        },
    )
}

impl Asked {
    fn ranks(&self) -> Vec<Rank> {
        some_ranks(self.blocks.len(), self.root)
    }

    fn question(&self) -> String {
        let Asked { network, .. } = self;
        let turns = match network.port {
            PortKind::FirstInFirstOut => u64::MAX,
            PortKind::Fair => network.fair_beyond.unwrap_or(0),
        };
        format!(
            "place {} {} {} {} {} {} {turns} {} {} {}\n",
            self.blocks.len(),
            self.root,
            u8::from(self.is_scatter),
            self.gamma.to_bits(),
            network.send_overhead.unwrap_or(-1.0).to_bits(),
            network.eager_limit.unwrap_or(u64::MAX),
            stated(&self.pieces),
            counted(&self.ranks()),
            listed(&self.blocks),
        )
    }

    fn problem(&self) -> Problem {
        let links = LinkLaw::from(PiecewiseLinear::new(self.pieces.clone()).unwrap());
        let level = Level { name: "network".into(), members: self.blocks.len(), links };
        let costs = Hierarchy::new(vec![level], Placement::Block, self.gamma).unwrap();
        let machine = Machine {
            name: "drawn".into(),
            date: Date::parse("2026-11-27").unwrap(),
            provenance: "drawn".into(),
            costs: Costs::Hierarchical(costs),
            network: self.network.clone(),
            combine_per_byte: 0.0,
        };
        let sizes = BlockSizes::new(self.blocks.iter().copied()).unwrap();
        let collective = match self.is_scatter {
            true => Collective::scatter(&sizes),
            false => Collective::gather(&sizes),
        };
        Problem::of(collective, machine).unwrap().with_root(Root::Given(self.root)).unwrap()
    }

    /// The places of the ranks, by the Rust crates.
    fn expected(&self) -> Vec<String> {
        let problem = self.problem();
        let sizes = problem.blocks().unwrap();
        let of_rank = |rank: Rank| {
            let own = sizes.block(rank);
            if own == 0 && rank != self.root {
                return format!("-1 {0}+0 {0}+0", sizes.before(rank));
            }
            let OnlinePart::Place(place) = found_online(&problem, rank).unwrap() else {
                panic!("costs that all pairs share")
            };
            let range = |first: Rank, last: Rank| {
                format!("{}+{}", sizes.before(first), sizes.range(first, last))
            };
            let parent = place.parent.map_or("-1".to_owned(), |parent| parent.to_string());
            let mut text = format!("{parent} {}", range(rank, rank));
            write!(text, " {}", range(place.first, place.last)).unwrap();
            for child in place.children.iter().filter(|one| sizes.range(one.first, one.last) > 0) {
                write!(text, " {}:{}", child.rank, range(child.first, child.last)).unwrap();
            }
            text
        };
        self.ranks().into_iter().map(of_rank).collect()
    }
}

fn stated(pieces: &[Piece]) -> String {
    let mut text = pieces.len().to_string();
    for Piece { from_bytes, alpha, overhead, beta } in pieces {
        let [alpha, overhead, beta] = [alpha, overhead, beta].map(|cost| cost.to_bits());
        write!(text, " {from_bytes} {alpha} {overhead} {beta}").unwrap();
    }
    text
}

fn listed<T: ToString>(numbers: &[T]) -> String {
    numbers.iter().map(T::to_string).collect::<Vec<_>>().join(" ")
}

fn counted(ranks: &[Rank]) -> String {
    format!("{} {}", ranks.len(), listed(ranks))
}

/// All of few ranks, and some of many.
fn some_ranks(ranks: usize, root: Rank) -> Vec<Rank> {
    let step = ranks.div_ceil(if ranks > 100 { 6 } else { 24 });
    (0..ranks).step_by(step).chain([root]).collect()
}

/// Values drawn alike in every run.
fn drawn<S: Strategy>(strategy: &S, count: usize) -> Vec<S::Value> {
    let mut runner = TestRunner::deterministic();
    (0..count).map(|_| strategy.new_tree(&mut runner).unwrap().current()).collect()
}

const SANITIZED: [&str; 4] =
    ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn are_same(found: &[String], expected: &[(String, Vec<String>)]) {
    let mut found = found.iter();
    for (question, expected) in expected {
        for expected in expected {
            let found = found.next().expect("an answer for each rank");
            assert_eq!(found, expected, "{}", &question[..question.len().min(2000)]);
        }
    }
    assert!(found.next().is_none());
}

#[test]
fn places_are_those_of_the_rust_crates_in_four_thousand_problems() {
    let program = compiled("gcc", "plans", &[&["-std=c99"], &SANITIZED[..]].concat());
    let problems = drawn(&asked(), 4000);
    let all: Vec<(String, Vec<String>)> =
        problems.iter().map(|one| (one.question(), one.expected())).collect();
    let questions = all.iter().map(|(question, _)| question.as_str()).collect();
    are_same(&answers(&program, questions), &all);
}

/// A circulation with the header's number for its algorithm.
type Circulating = (u8, usize, fn(usize) -> Circulation);

const ALLGATHERS: [Circulating; 2] =
    [(0, 40, Circulation::BalancedPostal), (1, 24, Circulation::BalancedPieces)];

/// The rounds as the program prints them.
fn told(rounds: &RankRounds) -> String {
    let own = rounds.own_block();
    let mut text = format!("{} {}+{}", rounds.count(), own.offset, own.bytes);
    let mut messages = RoundMessages::default();
    for round in 0..rounds.count() {
        rounds.fill(round, &mut messages);
        let number = |one: Option<usize>| one.map_or("-1".to_owned(), |one| one.to_string());
        write!(text, " |{}", number(messages.needs)).unwrap();
        for (peer, pieces) in [(messages.to, &messages.sent), (messages.from, &messages.received)] {
            write!(text, " {}", number(peer)).unwrap();
            for piece in pieces {
                write!(text, ",{}+{}", piece.offset, piece.bytes).unwrap();
            }
        }
    }
    text
}

#[test]
fn rounds_are_those_of_the_rust_crates_in_four_thousand_problems() {
    let program = compiled("gcc", "rounds", &[&["-std=c99"], &SANITIZED[..]].concat());
    let problem = (blocks(700), 0..3_usize, any::<usize>(), prop_oneof![Just(1_u64), Just(8)]);
    let of = |(blocks, kind, number, element): &(Vec<u64>, usize, usize, u64)| {
        let is_reduce = *kind == 2;
        let (algorithm, most, circulation) = ALLGATHERS[(*kind).min(1)];
        let number = 1 + number % most;
        let element = if is_reduce { *element } else { 1 };
        let blocks: Vec<u64> = blocks.iter().map(|bytes| bytes / element * element).collect();
        let ranks = some_ranks(blocks.len(), 0);
        let question = format!(
            "rounds {} {} {element} {algorithm} {number} {} {}\n",
            blocks.len(),
            u8::from(is_reduce),
            counted(&ranks),
            listed(&blocks),
        );
        let sizes = BlockSizes::new(blocks).unwrap();
        let flow = if is_reduce { Flow::Combined } else { Flow::Spread };
        let of_rank = |rank: Rank| {
            let rounds = RankRounds::new(&sizes, element, rank, flow, circulation(number));
            told(&rounds)
        };
        (question, ranks.into_iter().map(of_rank).collect())
    };
    let all: Vec<(String, Vec<String>)> = drawn(&problem, 4000).iter().map(of).collect();
    let questions = all.iter().map(|(question, _)| question.as_str()).collect();
    are_same(&answers(&program, questions), &all);
}

/// Time of an allgather or a reduce-scatter by an algorithm of the header, every message performed in thought; a piece's
/// costs are whole numbers.
fn time_of(sizes: &BlockSizes, flow: Flow, link: Piece, (algorithm, number): (u8, usize)) -> f64 {
    let (_, _, circulation) = ALLGATHERS[usize::from(algorithm)];
    let price = |bytes: u64| MessagePrice {
        latency: (link.alpha - link.overhead) as u128,
        occupancy: (link.overhead + link.beta * bytes as f64) as u128,
    };
    overlapped_time(sizes, 1, circulation(number), flow, price) as f64
}

#[test]
fn the_choice_takes_little_longer_than_the_best_of_all_algorithms_and_numbers() {
    let program = compiled("gcc", "choices", &["-std=c99", "-O1"]);
    let link = (0..5000_u32, 1..500_u32, 0..100_u32).prop_map(|(latency, overhead, beta)| {
        let (latency, overhead, beta) = (f64::from(latency), f64::from(overhead), f64::from(beta));
        Piece { from_bytes: 0, alpha: latency + overhead, overhead, beta: beta / 100.0 }
    });
    let problems = drawn(&(blocks(100), link, any::<bool>()), 120);
    let question = |(blocks, link, is_reduce): &(Vec<u64>, Piece, bool)| {
        let (p, reduces) = (blocks.len(), u8::from(*is_reduce));
        format!("choose {p} {reduces} 1 {} {}\n", stated(&[*link]), listed(blocks))
    };
    let chosen = answers(&program, problems.iter().map(question).collect());
    let (mut ratios, mut most) = (0.0, 1.0_f64);
    for ((blocks, link, is_reduce), chosen) in problems.iter().zip(&chosen) {
        let (algorithm, number) = chosen.split_once(' ').unwrap();
        let chosen = (algorithm.parse().unwrap(), number.parse().unwrap());
        let sizes = BlockSizes::new(blocks.iter().copied()).unwrap();
        let flow = if *is_reduce { Flow::Combined } else { Flow::Spread };
        let delays = (1..=16).map(|delay| (0, delay)).filter(|_| !is_reduce);
        let pieces = std::iter::successors(Some(1), |&n| Some(n + (n / 4).max(1)));
        let pieces = pieces.take_while(|&n| n <= 60).map(|n| (1, n));
        let time = |one| time_of(&sizes, flow, *link, one).max(1.0);
        let best = delays.chain(pieces).map(time).fold(f64::INFINITY, f64::min);
        let ratio = time(chosen) / best;
        ratios += ratio;
        if ratio > most {
            println!("{ratio:.3} {chosen:?} {} ranks {link:?} {is_reduce}", sizes.ranks());
        }
        most = most.max(ratio);
    }
    let mean = ratios / problems.len() as f64;
    println!("{mean:.4} {most:.3}");
    assert!(mean < 1.03 && most < 1.7, "{mean:.3} on average, at most {most:.2}");
}

#[test]
fn a_machine_is_written_as_costs_in_c() {
    let written = tuwtree("machine infiniband --format h").success();
    let expected = "static const tuwtree_costs costs_of_infiniband = {
    links_of_infiniband, 1, 1e-10, -1e0, 8192, 0};";
    assert!(
        written.contains("{0, 3.5e-6, 1e-7, 4.4e-11},") && written.contains(expected),
        "{written}"
    );
    // Of levels, the outermost; they may have several pieces.
    let folder = folder("c-header-costs");
    for machine in ["infiniband", "vsc3", "marenostrum5 --linearise-at 8KiB"] {
        let file = folder.join(format!("{}.h", machine.replace(' ', "")));
        std::fs::write(&file, tuwtree(&format!("machine {machine} --format h")).success()).unwrap();
        let mut command = Command::new("gcc");
        command.args(["-std=c99", "-Wall", "-Wextra", "-Wno-unused-const-variable", "-Werror"]);
        command.args(["-fsyntax-only", "-x", "c", "-I"]).arg(workspace_file("c")).arg(&file);
        assert!(command.status().unwrap().success(), "{machine}");
    }
    tuwtree("machine ring --format h").fails(1, &["ring", "costs that all pairs of ranks share"]);
}

/// Problems that never change: places in trees, and rounds.
fn pinned_problems() -> Vec<Asked> {
    let piece = |from_bytes, alpha, overhead, beta| Piece { from_bytes, alpha, overhead, beta };
    let costs = [
        (vec![piece(0, 3.5e-6, 1e-7, 4.4e-11)], Some(8192)),
        (vec![piece(0, 100.0, 100.0, 1.0)], None),
        (vec![piece(0, 9e-6, 2e-6, 1e-9), piece(65_536, 4e-5, 3e-6, 8e-10)], Some(65_535)),
    ];
    let mut state = 1_u64;
    let mut block = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        if state >> 62 == 0 { 0 } else { (state >> 33) % 5000 }
    };
    let of = |(ranks, is_scatter): (usize, bool)| {
        let blocks: Vec<u64> = (0..ranks).map(|_| block()).collect();
        costs.clone().map(|(pieces, eager_limit)| Asked {
            root: ranks / 3,
            blocks: blocks.clone(),
            is_scatter,
            pieces,
            gamma: 0.0,
            network: Network { eager_limit, ..Network::default() },
        })
    };
    [(8, false), (64, true), (500, false)].map(of).into_iter().flatten().collect()
}

#[test]
fn the_version_of_plans_changes_whenever_a_plan_does() {
    let header = std::fs::read_to_string(workspace_file("c/tuwtree.h")).unwrap();
    let version = header.split("#define TUWTREE_PLAN_VERSION ").nth(1).unwrap();
    let version = version.lines().next().unwrap();
    let mut sum = flate2::Crc::new();
    for problem in pinned_problems() {
        problem.expected().iter().for_each(|line| sum.update(line.as_bytes()));
        let sizes = BlockSizes::new(problem.blocks.iter().copied()).unwrap();
        for (_, _, circulation) in ALLGATHERS {
            let rounds = RankRounds::new(&sizes, 1, problem.root, Flow::Spread, circulation(3));
            sum.update(told(&rounds).as_bytes());
        }
    }
    // Plans that differ take a new version in the header, and both are stated here.
    assert_eq!((version, sum.sum()), ("1", 934425340));
}
