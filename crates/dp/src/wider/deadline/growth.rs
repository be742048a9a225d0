//! Time to hear of many ranks without data.

use super::clock::Clock;

/// `h(n)` for `n` up to `most`: the least time after which one rank can have heard of `n`,
/// itself included, if a message takes lambda and then `o` of its receiver; entry 0 is 0.
///
/// Backwards in time this is a broadcast: each informed rank sends a message every `o`, and a
/// receiver begins lambda after its sender goes on. Each message that starts at `t` is therefore
/// followed by one at `t + o` and one at `t + o + lambda`. Starts in rising order are a merge of
/// both kinds, and the `n`-th start ends with `n + 1` informed ranks.
///
/// # Complexity
/// O(most).
///
/// # Source
/// For `o = 1` these are the postal model's generalised Fibonacci numbers: A. Bar-Noy, S. Kipnis,
/// "Designing broadcasting algorithms in the postal model for message-passing systems", SPAA 1992.
pub(super) fn growth<T: Clock>(most: usize, latency: T, overhead: T) -> Vec<T> {
    let mut starts = vec![T::ZERO];
    let (mut same, mut other) = (0, 0);
    while starts.len() + 1 < most {
        let next = (starts[same].plus(overhead), starts[other].plus(overhead).plus(latency));
        if next.0 <= next.1 {
            starts.push(next.0);
            same += 1;
        } else {
            starts.push(next.1);
            other += 1;
        }
    }
    let known = starts.into_iter().map(|start| start.plus(overhead).plus(latency));
    [T::ZERO, T::ZERO].into_iter().chain(known).take(most + 1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_latency_they_double_and_without_overhead_one_message_does() {
        assert_eq!(growth(9, 0.0, 3.0), [0.0, 0.0, 3.0, 6.0, 6.0, 9.0, 9.0, 9.0, 9.0, 12.0]);
        assert_eq!(growth(4, 7.0, 0.0), [0.0, 0.0, 7.0, 7.0, 7.0]);
        assert_eq!(growth(1, 7.0, 1.0), [0.0, 0.0]);
    }

    #[test]
    fn numbers_grow_by_those_of_two_earlier_times() {
        let (latency, overhead) = (5, 2);
        let mut counts = vec![1_usize; latency + overhead];
        while counts[counts.len() - 1] < 500 {
            let t = counts.len();
            counts.push(counts[t - overhead] + counts[t - overhead - latency]);
        }
        let times = growth(500, latency as f64, overhead as f64);
        for (n, &time) in times.iter().enumerate().skip(1) {
            let reached = counts.iter().position(|&count| count >= n).unwrap();
            assert_eq!(time, reached as f64, "{n}");
        }
    }
}
