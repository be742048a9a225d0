//! Times by hand, of the papers, and of other programs.

use super::{Build, problem, time};
use tuwtree_collective::{bruck, circulant, circulant_in_pieces, recursive_doubling, ring};

#[test]
fn worked_examples_take_what_they_take_by_hand() {
    // Ring, recursive doubling, Bruck, circulant, and in 1, 2 and 3 pieces; alpha 10, beta 1.
    for (sizes, times) in [
        (&[4, 0, 2][..], [28, 40, 28, 28, 28, 37, 46]),
        (&[1, 5, 2, 7, 3], [68, 87, 54, 54, 53, 62, 69]),
        (&[5, 1, 7, 3, 2, 6], [85, 81, 58, 57, 57, 69, 77]),
        (&[3, 1, 4, 1, 5, 9, 2, 6], [133, 75, 75, 75, 75, 74, 84]),
    ] {
        let problem = problem(sizes, 10.0);
        let algorithms: [Build; 7] = [
            ring,
            recursive_doubling,
            bruck,
            circulant,
            |problem| circulant_in_pieces(problem, 1),
            |problem| circulant_in_pieces(problem, 2),
            |problem| circulant_in_pieces(problem, 3),
        ];
        let found = algorithms.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{sizes:?}");
    }
}

#[test]
fn equal_blocks_take_what_formulas_say() {
    const BYTES: u64 = 1000;
    for p in 2..=33_usize {
        let problem = problem(&vec![BYTES; p], 7.0);
        let rounds = p.next_power_of_two().ilog2() as f64;
        let volume = ((p - 1) as u64 * BYTES) as f64;
        let found = |build: Build| time(&build(&problem).unwrap(), &problem);
        assert_eq!(found(ring), 7.0 * (p - 1) as f64 + volume);
        assert_eq!(found(bruck), 7.0 * rounds + volume);
        assert_eq!(found(circulant), 7.0 * rounds + volume);
        if p.is_power_of_two() {
            assert_eq!(found(recursive_doubling), 7.0 * rounds + volume);
        }
    }
}

/// For `p`: rounds, and blocks one after the other, the same whether start-ups or volumes dominate.
#[test]
fn recursive_doubling_of_any_number_of_ranks_takes_so_many_rounds_and_blocks() {
    for (p, rounds, blocks) in [
        (3, 3, 4),
        (5, 5, 9),
        (6, 4, 9),
        (7, 5, 11),
        (9, 7, 18),
        (10, 6, 19),
        (11, 6, 21),
        (12, 5, 19),
        (13, 7, 22),
        (15, 7, 26),
        (17, 9, 35),
        (20, 7, 39),
        (24, 6, 39),
        (33, 11, 68),
    ] {
        for (alpha, bytes) in [(1_000_000, 1), (1, 1_000_000)] {
            let problem = problem(&vec![bytes; p], f64::from(alpha));
            let found = time(&recursive_doubling(&problem).unwrap(), &problem);
            assert_eq!(found, (u64::from(rounds * alpha as u32) + blocks * bytes) as f64, "{p}");
        }
    }
}

/// SimGrid's SMPI 3.32 with these algorithms forced; each message there is 16 bytes longer.
#[test]
fn times_are_those_of_smpi() {
    for (p, times) in [(5, [8064, 7048, 14080]), (8, [14112, 10048, 10048])] {
        let problem = problem(&vec![1000; p], 1016.0);
        let algorithms: [Build; 3] = [ring, bruck, recursive_doubling];
        let found = algorithms.map(|build| time(&build(&problem).unwrap(), &problem));
        assert_eq!(found, times.map(f64::from), "{p} ranks");
    }
}

/// Figure 2 of Thakur, Rabenseifner and Gropp: what rank 0 of 6 holds after each round of Bruck's algorithm.
#[test]
fn bruck_s_first_rank_receives_what_figure_2_shows() {
    let schedule = bruck(&problem(&[1; 6], 1.0)).unwrap();
    let received: Vec<Vec<u64>> = schedule
        .programs()
        .actions(0)
        .filter_map(|action| action.receive())
        .map(|receive| {
            let pieces = receive.into.pieces.iter();
            pieces.flat_map(|piece| piece.offset..piece.end()).collect()
        })
        .collect();
    assert_eq!(received, [vec![1], vec![2, 3], vec![4, 5]]);
}
