//! A round-robin tournament: every pair of processes meets once, many pairs at a time.
//!
//! The circle method: with an even number `n` of players, player `n - 1` stays, the others sit on a
//! circle of `n - 1` places that turns by one from round to round. In round `r` those meet whose
//! ranks add up to `r` modulo `n - 1`; who would meet himself meets the one who stays. With an odd
//! number of players nobody stays, and that one rests.
//!
//! # Source
//! T. P. Kirkman, "On a problem in combinations", Cambridge and Dublin Mathematical Journal 2, 1847.

use tuwtree_model::Rank;

/// In how many rounds all pairs of these players meet: `p - 1` if `p` is even, else `p`.
///
/// # Example
/// ```
/// assert_eq!([1, 2, 3, 4, 5].map(tuwtree_measure::rounds), [0, 1, 3, 3, 5]);
/// ```
pub fn rounds(players: usize) -> usize {
    match players {
        0 | 1 => 0,
        _ => (players - 1) | 1,
    }
}

/// Whom a player meets in a round; `None` if he rests, which happens once to each if their number is
/// odd.
///
/// # Complexity
/// O(1).
///
/// # Example
/// ```
/// use tuwtree_measure::opponent;
/// // Round 0 of four players: 1 meets 2, and 0, whose double is 0 modulo 3, the one who stays.
/// assert_eq!([0, 1, 2, 3].map(|player| opponent(4, 0, player)), [Some(3), Some(2), Some(1), Some(0)]);
/// ```
pub fn opponent(players: usize, round: usize, player: Rank) -> Option<Rank> {
    let circle = rounds(players);
    if circle == 0 {
        return None;
    }
    let round = round % circle;
    // The circle has an odd number of places, so that every residue has a half.
    let half = if round.is_multiple_of(2) { round / 2 } else { (round + circle) / 2 };
    let opponent = match player {
        _ if player == circle => half,
        _ if player == half => circle,
        _ => (round + circle - player) % circle,
    };
    (opponent < players).then_some(opponent)
}

/// Pairs that are measured at the same time; nobody is in two of them. The lower rank comes first.
pub type Meetings = Vec<(Rank, Rank)>;

/// At most this many rounds of the tournament, cut into meetings of at most `at_once` pairs.
///
/// All rounds if they are few enough, else rounds evenly spread; and for each kind of pair that these
/// miss, a round that has one. `kind` tells kinds apart, such as pairs within a node and others.
///
/// # Complexity
/// O(p * rounds) as a rule; O(p^2) where a kind of pairs is looked for.
pub fn meetings<K: PartialEq>(
    players: usize,
    most_rounds: usize,
    at_once: usize,
    kinds: &[K],
    kind: impl Fn(Rank, Rank) -> K,
) -> Vec<Meetings> {
    let all = rounds(players);
    let count = all.min(most_rounds.max(1));
    let mut chosen: Vec<usize> = (0..count).map(|index| index * all / count).collect();
    for wanted in kinds {
        let has = |round: &usize| pairs(players, *round).any(|(i, j)| kind(i, j) == *wanted);
        if !chosen.iter().any(has) {
            chosen.extend((0..all).find(has));
        }
    }
    let cut = |round| {
        let pairs: Meetings = pairs(players, round).collect();
        pairs.chunks(at_once.max(1)).map(<[_]>::to_vec).collect::<Vec<_>>()
    };
    chosen.into_iter().flat_map(cut).collect()
}

/// The pairs that meet in a round, each once, the lower rank first.
fn pairs(players: usize, round: usize) -> impl Iterator<Item = (Rank, Rank)> {
    (0..players).filter_map(move |player| {
        opponent(players, round, player)
            .filter(|&other| player < other)
            .map(|other| (player, other))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_pair_meets_exactly_once_and_nobody_twice_in_a_round() {
        for players in 0..=65 {
            let mut met = BTreeSet::new();
            for round in 0..rounds(players) {
                for player in 0..players {
                    match opponent(players, round, player) {
                        Some(other) => {
                            assert_ne!(other, player);
                            assert_eq!(opponent(players, round, other), Some(player));
                            assert!(player > other || met.insert((player, other)), "{players}");
                        }
                        None => assert_eq!(players % 2, 1),
                    }
                }
            }
            assert_eq!(met.len(), players * players.saturating_sub(1) / 2, "{players}");
        }
    }

    #[test]
    fn few_rounds_are_spread_and_miss_no_kind_of_pair() {
        // Nodes of four; round 3 of 16 players, alone, has both kinds.
        let kind = |i: Rank, j: Rank| i / 4 == j / 4;
        for (most, at_once) in [(1, 100), (3, 100), (3, 2), (100, 3), (15, 1)] {
            let meetings = meetings(16, most, at_once, &[false, true], kind);
            let pairs: BTreeSet<_> = meetings.iter().flatten().copied().collect();
            assert_eq!(pairs.len(), meetings.iter().map(Vec::len).sum::<usize>());
            assert!(meetings.iter().all(|pairs| (1..=at_once).contains(&pairs.len())));
            for wanted in [false, true] {
                assert!(pairs.iter().any(|&(i, j)| kind(i, j) == wanted), "{most} {at_once}");
            }
            assert!(pairs.len() <= 8 * (most + 2));
        }
        assert_eq!(meetings(16, 15, 8, &[], kind).concat().len(), 120);
        // Only 0 and 1 share a node: the only round in which they meet is found.
        let lone = meetings(16, 2, 8, &[true], |i, j| (i, j) == (0, 1));
        assert!(lone.concat().contains(&(0, 1)) && lone.len() <= 3);
    }

    #[test]
    fn one_player_meets_nobody() {
        assert!(meetings(1, 9, 9, &[()], |_, _| ()).is_empty());
        assert_eq!(opponent(1, 0, 0), None);
    }
}
