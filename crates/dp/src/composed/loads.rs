//! Distribution of outside data over relays.
//!
//! A rank that collects for the root has until its own message must start. Backwards from the end: the relay
//! that is received last has almost all the time, and collects as much as can come to it and go on to the root
//! until then; the one before has less by the time of that message, and so on.
//!
//! ```text
//! root      |= 1 =|=== 2 ===|======== 3 ========|    beta_in a byte
//! relay 3   |=== collects ==|                        beta_out a byte, until its message starts
//! relay 2   |=====|
//! ```
//!
//! With `k` relays and clock `t`, `V_k = (t - lead) / (beta_in + beta_out)`, and `t` goes back by `o_in +
//! beta_in V_k`. A bisection finds the `t` at which all is collected.

use tuwtree_model::LinkLaw;

/// Rule by which relays share the outside data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loads {
    /// All the same.
    Equal,
    /// The later a relay is received, the more.
    Staggered,
}

/// Halvings after which a bisection ends.
const HALVINGS: usize = 60;

/// Bytes collected by each relay, in the root's order of receiving; the sum is `total`, up to rounding. `ready` is the
/// time at which the outside data can be sent.
///
/// # Complexity
/// O(k).
pub(super) fn loads(
    loads: Loads,
    total: u64,
    relays: usize,
    (inner, outer): (&LinkLaw, &LinkLaw),
    ready: f64,
) -> Vec<f64> {
    let all = total as f64;
    let equal = || vec![all / relays as f64; relays];
    if loads == Loads::Equal || total == 0 {
        return equal();
    }
    let share = (total / relays as u64).max(1);
    let line = |links: &LinkLaw| {
        let [(latency, less), (_, more)] = [share, 2 * share].map(|bytes| links.times(bytes));
        let per_byte = ((more - less) / share as f64).max(0.0);
        (latency + (less - per_byte * share as f64).max(0.0), per_byte)
    };
    let ((before_in, per_byte_in), (before_out, per_byte_out)) = (line(inner), line(outer));
    let per_byte = per_byte_in + per_byte_out;
    let lead = ready + before_in + before_out;
    if per_byte <= 0.0 || !lead.is_finite() {
        return equal();
    }
    let until = |time: f64| {
        let mut clock = time;
        let mut collected: Vec<f64> = (0..relays)
            .map(|_| {
                let bytes = ((clock - lead) / per_byte).max(0.0);
                clock -= per_byte_in * bytes;
                bytes
            })
            .collect();
        collected.reverse();
        collected
    };
    // By then the last alone has all.
    let (mut little, mut enough) = (lead, lead + per_byte * all);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (little + enough);
        match until(middle).iter().sum::<f64>() >= all {
            true => enough = middle,
            false => little = middle,
        }
    }
    let collected = until(enough);
    let sum: f64 = collected.iter().sum();
    collected.into_iter().map(|bytes| bytes * all / sum).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::{Piece, PiecewiseLinear};

    fn links(beta: f64) -> LinkLaw {
        PiecewiseLinear::new(vec![Piece::one_port(0, 0.0, beta)]).unwrap().into()
    }

    #[test]
    fn the_last_collects_as_long_as_the_others_are_received() {
        // With equal rates each has half of what time is left: 1, 2 and 4 of seven.
        let found = loads(Loads::Staggered, 700, 3, (&links(1.0), &links(1.0)), 0.0);
        for (found, expected) in found.iter().zip([100.0, 200.0, 400.0]) {
            assert!((found - expected).abs() < 1e-6, "{found} {expected}");
        }
        let equal = loads(Loads::Equal, 700, 2, (&links(1.0), &links(1.0)), 0.0);
        assert_eq!(equal, [350.0, 350.0]);
    }

    #[test]
    fn whatever_the_laws_all_is_collected() {
        for (inner, outer) in [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1e-9, 1e9)] {
            for total in [0, 1, 1 << 40] {
                let found = loads(Loads::Staggered, total, 5, (&links(inner), &links(outer)), 3.0);
                let sum: f64 = found.iter().sum();
                assert!((sum - total as f64).abs() <= 1e-6 * total as f64, "{inner} {outer}");
            }
        }
    }
}
