//! The bound for operations without a root: what every processor is busy with in any case.

use crate::{BlockSizes, CostModel, Direction, Problem, Rank, Time, TimeError};

/// The lower bound on all schedules of an allgather.
///
/// Whoever has the smallest block receives all others, in at least one message, through however many
/// ports. And a block that is not empty reaches everybody: with `k` ports the number of processors that
/// have something of it is at most `k + 1` times as large after the start-up of the fastest message.
/// Processors send and receive at the same time. 0 for a lone processor, and where there is no data.
///
/// # Errors
/// As [`lower_bound`].
///
/// # Complexity
/// O(p) for homogeneous costs, else O(p^2).
///
/// # Source
/// The number of processors that know a block doubles: Bruck et al. 1997, section 1.
pub(super) fn of_allgather(sizes: &BlockSizes, problem: &Problem) -> Result<Time, TimeError> {
    let (costs, processors) = (problem.costs(), sizes.processors());
    let ports = problem.ports().get();
    let receives =
        |rank: Rank, bytes| costs.least_busy(Direction::Receive, rank, processors, bytes);
    let mut most = Time::ZERO;
    for rank in 0..processors {
        let all = receives(rank, sizes.total() - sizes.block(rank))?;
        let shared = Time::new(all.units() / f64::from(ports)).expect("a share of a time");
        most = most.later(shared);
    }
    if sizes.total() == 0 {
        return Ok(most);
    }
    let start_up = match costs.homogeneous(processors) {
        Some(costs) => Time::new(costs.overhead()).expect("a start-up is a time"),
        None => (0..processors)
            .map(|rank| receives(rank, 1))
            .reduce(|least, next| Ok(least?.min(next?)))
            .expect("a problem has at least one processor")?,
    };
    let reach = super::simple::rounds(processors, ports);
    let reached = (0..reach).try_fold(Time::ZERO, |time, _| costs.sum(time, start_up))?;
    Ok(most.later(reached))
}

#[cfg(test)]
mod tests {
    use crate::{BlockSizes, Homogeneous, Ports, Problem, best_lower_bound, lower_bound};

    fn bound(sizes: &[u64], alpha: f64, ports: u16) -> f64 {
        let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
        let costs = Homogeneous::new(alpha, 1.0, 1.0).unwrap();
        let problem = Problem::allgather(&sizes, costs).unwrap();
        let problem = problem.with_ports(Ports::new(ports).unwrap());
        assert_eq!(lower_bound(&problem), best_lower_bound(&problem));
        best_lower_bound(&problem).unwrap().units()
    }

    #[test]
    fn everybody_receives_all_others_blocks() {
        // The owner of nothing receives 10 + 6.
        assert_eq!(bound(&[4, 0, 2], 10.0, 1), 20.0);
        assert_eq!(bound(&[5, 1, 7, 3, 2, 6], 2.0, 1), 25.0);
        assert_eq!(bound(&[8, 8, 8, 8], 0.0, 2), 12.0);
        assert_eq!(bound(&[8], 10.0, 1), 0.0);
    }

    #[test]
    fn a_block_reaches_twice_as_many_with_each_message() {
        assert_eq!(bound(&[0, 0, 1, 0, 0], 10.0, 1), 30.0);
        assert_eq!(bound(&[0, 0, 1, 0, 0], 10.0, 2), 20.0);
        assert_eq!(bound(&[0, 0, 0, 0, 0], 10.0, 1), 0.0);
    }
}
