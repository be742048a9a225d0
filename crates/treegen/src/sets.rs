//! Sets of growing weight: the partition that trees with graceful degradation are made of.

/// Splits weights, in descending order, into consecutive sets: a new one is opened whenever the
/// weight of the running set reaches that of all before it, `sum` included.
///
/// With the first of each set as a child, each child's subtree is complete at about the time when the
/// parent has received all before it. Equal weights, with one of them as `sum`, give the sets 1, 2, 4, …
/// of a binomial tree; a weight above the sum of all others gives a set of its own.
///
/// # Shapes
/// The returned numbers are the sets' sizes; they add up to the number of weights.
///
/// # Source
/// J. L. Träff, "Hierarchical gather/scatter algorithms with graceful degradation", IPDPS 2004.
pub(crate) fn set_sizes(weights: impl IntoIterator<Item = f64>, mut sum: f64) -> Vec<usize> {
    let mut sets = Vec::new();
    let (mut size, mut running) = (0, 0.0);
    for weight in weights {
        size += 1;
        running += weight;
        if running >= sum {
            sets.push(size);
            sum += running;
            (size, running) = (0, 0.0);
        }
    }
    if size > 0 {
        sets.push(size);
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_grow_with_all_before_them() {
        assert_eq!(set_sizes([5.0; 7], 5.0), [1, 2, 4]);
        assert_eq!(set_sizes([5.0; 7], 0.0), [1, 1, 2, 3]);
        assert_eq!(set_sizes([100.0, 1.0, 1.0, 1.0], 1.0), [1, 3]);
        assert_eq!(set_sizes([0.0; 3], 0.0), [1, 1, 1]);
        assert_eq!(set_sizes([], 1.0), []);
    }
}
