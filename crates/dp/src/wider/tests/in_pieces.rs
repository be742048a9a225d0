//! Laws in pieces: the dense engine against the plain one, and trees on links against the plain recurrence by the
//! links' own law.

use super::super::lanes::DenseLaw;
use super::super::pieces::{AffineTime, LawPiece, Pieced, StandIn, rising};
use super::*;
use crate::wider::{BoundedTree, LawBySize, optimal_by_size, optimal_on_links, outlay_on_links};
use tuwtree_model::completion_time;
use tuwtree_model::{
    ClosedSet, Hierarchy, Level, LinkLaw, MeasuredSize, MeasuredSizes, Piece, PiecewiseLinear,
    Placement,
};

impl Random {
    /// Up to five pieces of a law that rises with size, with jumps and without.
    pub(super) fn rising_pieces(&mut self) -> Vec<LawPiece> {
        let line = |fixed: u64, rate: u64| AffineTime { fixed: fixed as f64, rate: rate as f64 };
        let (mut from, mut reached) = (0, [self.one_of(&[0, 1, 50, 1000]), self.below(20)]);
        let mut pieces = Vec::new();
        for _ in 0..=self.below(5) {
            let next = from + self.one_of(&[1, 2, 10, 100, 1000]);
            let rates = [self.one_of(&[0, 0, 0, 1]), self.below(4)];
            // The least constants with which a line is not below what was reached.
            let lines = [0, 1].map(|one| {
                let fixed = reached[one] as f64 - (rates[one] * from) as f64;
                AffineTime { fixed, ..line(0, rates[one]) }
            });
            pieces.push(LawPiece { from, latency: lines[0], port: lines[1] });
            for one in 0..2 {
                let jump = self.one_of(&[0, 0, 5, 100, 2000]);
                reached[one] += rates[one] * (next - from - 1) + jump;
            }
            from = next;
        }
        pieces
    }

    /// Links of several pieces or measured sizes, whose costs may fall with size if they may.
    fn links(&mut self, may_fall: bool) -> LinkLaw {
        let (mut bytes, mut least) = (0, [0_u64; 2]);
        let mut sizes = Vec::new();
        for _ in 0..=self.below(5) {
            bytes += self.one_of(&[1, 2, 10, 100, 1000]);
            let costs = [self.below(100), self.below(300)];
            let [latency, occupancy] = [0, 1].map(|one| {
                let cost = if may_fall { costs[one] } else { least[one] + costs[one] / 4 };
                least[one] = cost;
                cost as f64
            });
            sizes.push(MeasuredSize { bytes, latency, occupancy });
        }
        if may_fall && self.below(2) == 0 {
            let pieces = sizes.iter().enumerate().map(|(at, size)| {
                let from_bytes = if at == 0 { 0 } else { size.bytes };
                let (overhead, beta) = (size.occupancy, self.below(3) as f64);
                Piece { from_bytes, alpha: overhead + size.latency, overhead, beta }
            });
            return PiecewiseLinear::new(pieces.collect()).unwrap().into();
        }
        LinkLaw::Measured(MeasuredSizes::new(sizes).unwrap())
    }
}

/// A problem in pieces with a given root or an open one, without empty blocks but the root's.
pub(super) fn in_pieces(random: &mut Random, ranks: usize) -> (Pieced<i64>, Root, String) {
    let root = match random.below(2) {
        0 => Root::Best,
        _ => Root::Given(random.below(ranks as u64) as usize),
    };
    let sizes = without_empty_blocks(&random.sizes_of(ranks), root);
    let (pieces, dearness) = (random.rising_pieces(), random.below(4));
    let told = format!("{root:?} {dearness} {sizes:?} {pieces:?}");
    let law = Pieced::new(&sizes, &pieces, root.given(), |bytes| (dearness * bytes) as f64);
    (law.unwrap(), root, told)
}

/// The same with blocks of one of the papers' distributions and no copies, so that there are few clocks.
pub(super) fn few_clocks(random: &mut Random, ranks: usize) -> (Pieced<i64>, Root, String) {
    let published: Vec<Distribution> = Distribution::published().collect();
    let distribution = published[random.below(published.len() as u64) as usize];
    let scale = DistributionParameters::new(ranks, random.one_of(&[2, 50]));
    let sizes = distribution.sizes(scale, Randomness::default()).unwrap();
    let root = Root::Given(random.below(ranks as u64) as usize);
    let (sizes, pieces) = (without_empty_blocks(&sizes, root), random.rising_pieces());
    let law = Pieced::new(&sizes, &pieces, root.given(), |_| 0.0).unwrap();
    (law, root, format!("{} {root:?} {pieces:?}", distribution.name()))
}

#[test]
fn dense_is_plain_in_every_cell_for_laws_in_pieces() {
    let mut random = Random(41);
    for (ranks, count) in
        problems(&[(3, 2000), (7, 20_000), (12, 20_000), (25, 1500), (60, 60), (120, 8)])
    {
        for _ in 0..count {
            let ranks = 1 + random.below(ranks as u64) as usize;
            let (law, root, told) = in_pieces(&mut random, ranks);
            for class in Class::ALL {
                let plain = plain::table(&law, class, root, &()).unwrap();
                let dense = dense::table(&law, class, root, &()).unwrap();
                assert_same(&dense, &plain, &told);
            }
        }
    }
}

#[test]
fn laws_in_pieces_are_what_their_lines_say() {
    let mut random = Random(42);
    for _ in 0..2000 {
        let ranks = 1 + random.below(10) as usize;
        let (sizes, pieces) = (random.sizes_of(ranks), random.rising_pieces());
        let law = Pieced::<i64>::new(&sizes, &pieces, None, |bytes| bytes as f64).unwrap();
        let at = |line: AffineTime, bytes: u64| (line.fixed + line.rate * bytes as f64) as i64;
        let mut earliest = i64::MAX;
        for i in 0..ranks {
            for j in i..ranks {
                let bytes = sizes.range(i, j);
                let piece = pieces.iter().rev().find(|piece| piece.from <= bytes).unwrap();
                let (lambda, port) = (at(piece.latency, bytes), at(piece.port, bytes));
                let (clock, ready) = (random.below(500) as i64, random.below(500) as i64);
                let after =
                    if bytes == 0 { clock.max(ready) } else { clock.max(ready + lambda) + port };
                assert_eq!(law.received(clock, ready, i, j), after, "{sizes:?} {pieces:?}");
                if i == j {
                    let message = if bytes == 0 { 0 } else { lambda + port };
                    assert_eq!(law.copy(i), message.min(bytes as i64), "{sizes:?} {pieces:?}");
                    earliest = earliest.min(if bytes == 0 { earliest } else { lambda });
                }
            }
        }
        let expected = if earliest == i64::MAX { 0 } else { earliest };
        assert_eq!(law.earliest(), expected, "{sizes:?} {pieces:?}");
    }
}

#[test]
fn rising_laws_are_nearest_to_a_law_from_either_side() {
    let mut random = Random(43);
    for problem in 0..2000 {
        let links = random.links(problem % 2 == 0);
        let [below, above] = [StandIn::Below, StandIn::Above].map(|side| rising(&links, side));
        let at = |pieces: &[LawPiece], bytes: u64| {
            let piece = pieces.iter().rev().find(|piece| piece.from <= bytes).unwrap();
            [piece.latency, piece.port].map(|line| line.fixed + line.rate * bytes as f64)
        };
        // Beyond the last piece nothing falls.
        let sizes = || 1..=5200_u64;
        let exact: Vec<[f64; 2]> = sizes()
            .map(|bytes| links.times(bytes))
            .map(|(latency, port)| [latency, port])
            .collect();
        for one in [0, 1] {
            let mut most = f64::NEG_INFINITY;
            let mut least = f64::INFINITY;
            for bytes in sizes() {
                most = most.max(exact[bytes as usize - 1][one]);
                let (found, near) = (at(&above, bytes)[one], 1e-9 * (1.0 + most));
                assert!((found - most).abs() <= near, "{bytes} {links:?} {above:?}");
            }
            for bytes in sizes().rev() {
                least = least.min(exact[bytes as usize - 1][one]);
                let (found, near) = (at(&below, bytes)[one], 1e-9 * (1.0 + least));
                assert!((found - least).abs() <= near, "{bytes} {links:?} {below:?}");
            }
        }
    }
}

/// A gather on links that all pairs share.
fn on_links(sizes: &BlockSizes, links: LinkLaw, gamma: f64, root: Root) -> Problem {
    let level = Level { name: "network".to_owned(), members: sizes.ranks().max(2), links };
    let machine = Hierarchy::new(vec![level], Placement::Block, gamma).unwrap();
    Problem::gather(sizes, &machine).unwrap().with_root(root).unwrap()
}

#[test]
fn trees_on_links_are_the_best_where_costs_rise_and_bracketed_where_they_do_not() {
    let mut random = Random(44);
    let (mut closed, mut falling) = (0, 0);
    for problem in 0..4000 {
        let (may_fall, ranks) = (problem % 2 == 0, 1 + random.below(16) as usize);
        let (sizes, links) = (random.sizes_of(ranks), random.links(may_fall));
        let root = match random.below(2) {
            0 => Root::Best,
            _ => Root::Given(random.below(ranks as u64) as usize),
        };
        let gamma = random.one_of(&[0, 0, 1]) as f64 * if may_fall { 1.0 } else { 0.1 };
        let problem = on_links(&sizes, links, gamma, root);
        let law = LawBySize::shared(&problem, &sizes);
        for class in Class::ALL {
            let best = optimal_by_size(&law, class, root, &()).unwrap().time;
            let found = optimal_on_links(&problem, class, 1_000_000, &()).unwrap();
            let BoundedTree { tree, time, at_least } = found;
            let told = format!("{class:?} {problem:?}");
            assert_eq!(class.check(&tree), Ok(()), "{told}");
            assert!(root == Root::Best || root == Root::Given(tree.root()), "{told}");
            assert!(at_least <= best * (1.0 + 1e-9) && best <= time * (1.0 + 1e-9), "{told}");
            let taken = completion_time(&tree, &problem).unwrap().units();
            assert!((taken - time).abs() <= 1e-9 * time, "{taken} {time} {told}");
            assert!(may_fall || gamma > 0.0 || time == at_least, "{time} {at_least} {told}");
            if may_fall {
                (closed, falling) =
                    (closed + usize::from(time <= best * (1.0 + 1e-9)), falling + 1);
            }
            let outlay = outlay_on_links(&problem, class, 1_000_000).unwrap();
            assert!(outlay.cells > 0 || ranks == 1, "{told}");
        }
    }
    println!("{closed} of {falling} trees under laws that may fall are best ones");
    assert!(2 * closed > falling, "{closed} of {falling}");
}
