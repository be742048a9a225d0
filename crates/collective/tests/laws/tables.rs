//! The tables of circulant broadcasts: as printed, and what they must fulfil so that broadcasts are right.

use tuwtree_collective::PieceTable;

#[test]
fn small_tables_are_the_known_ones() {
    for (p, skips, rows) in [
        (3, &[1, 2, 3][..], &[&[-1, -2][..], &[0, -1], &[-2, 1]][..]),
        (
            5,
            &[1, 2, 3, 5],
            &[&[-3, -1, -2], &[0, -1, -2], &[-3, 1, -1], &[-2, -3, 2], &[-1, -2, 0]],
        ),
        (
            6,
            &[1, 2, 3, 6],
            &[&[-2, -3, -1], &[0, -2, -1], &[-3, 1, -1], &[-2, -3, 2], &[-1, -2, 0], &[-3, -1, 1]],
        ),
        (
            8,
            &[1, 2, 4, 8],
            &[
                &[-3, -2, -1],
                &[0, -2, -1],
                &[-3, 1, -1],
                &[-2, 0, -1],
                &[-3, -2, 2],
                &[-1, -2, 0],
                &[-3, -1, 1],
                &[-2, -1, 0],
            ],
        ),
    ] {
        let table = PieceTable::new(p);
        assert_eq!(table.skips(), skips);
        for (rank, &row) in rows.iter().enumerate() {
            assert_eq!(table.received(rank), row, "{p} ranks, rank {rank}");
        }
    }
    assert_eq!(PieceTable::new(33).received(1), [0, -3, -4, -2, -5, -1]);
}

/// The last skip on the way from the root to a rank if always the longest is taken.
fn base(rank: usize, skips: &[usize]) -> i32 {
    let (mut rest, mut base) = (rank, skips.len() - 1);
    while rest > 0 {
        base = (0..skips.len()).rev().find(|&index| skips[index] <= rest).unwrap();
        rest -= skips[base];
    }
    base as i32
}

fn check(p: usize) {
    let table = PieceTable::new(p);
    let rounds = table.rounds();
    for rank in 0..p {
        let base = base(rank, table.skips());
        let received = table.received(rank);
        let phase = rounds as i32;
        if rank > 0 {
            // Each piece of the phase before but one, and one of this phase.
            let mut expected: Vec<i32> =
                (-phase..0).filter(|&piece| piece != base - phase).chain([base]).collect();
            let mut found = received.to_vec();
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{p} ranks, rank {rank}");
        }
        for round in 0..rounds {
            let piece = table.sent(rank, round);
            match rank {
                0 => assert_eq!(piece, round as i32, "{p} ranks"),
                _ if (rank + table.skips()[round]).is_multiple_of(p) => {}
                // It is there by then.
                _ => assert!(
                    piece == base - phase || received[..round].contains(&piece),
                    "{p} ranks, rank {rank}, round {round}"
                ),
            }
        }
    }
}

#[test]
fn ranks_send_only_what_they_have_whatever_their_number() {
    (2..=4100).for_each(check);
    [5000, 6001, 8191, 8193].into_iter().for_each(check);
}
