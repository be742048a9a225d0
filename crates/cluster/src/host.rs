//! Nodes and cores below the ranks.

use std::thread::available_parallelism;
use tuwtree_binding::{Communicator, MpiError};

/// Library, nodes and cores of a run. The same at all ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// The MPI library's name for itself.
    pub library: String,
    /// The name of rank 0's computer.
    pub name: String,
    /// `p` entries: the node of each rank, counted from 0 in the order of their first ranks.
    pub nodes: Vec<usize>,
    /// The most ranks that a core has to run, rounded up: above 1, times say nothing about the
    /// machine.
    pub ranks_per_core: usize,
}

impl Host {
    /// Describes the nodes and cores below the ranks of a communicator. Collective.
    ///
    /// The cores of a node are those that one of its ranks may use, or fewer where the operating
    /// system grants less time. Several ranks pinned to one core while others idle go unnoticed.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn of(communicator: &Communicator) -> Result<Host, MpiError> {
        let node = communicator.of_node()?;
        let first = node.all_numbers(communicator.rank() as u64)?.into_iter().min();
        let firsts = communicator.all_numbers(first.expect("I am on my node"))?;
        let mut found = firsts.clone();
        found.sort_unstable();
        found.dedup();
        let number = |first: u64| found.binary_search(&first).expect("it was put there");
        let most = node.size().div_ceil(cores(&node)?);
        Ok(Host {
            library: communicator.told(&tuwtree_binding::library_version()?, 0)?,
            name: communicator.told(&tuwtree_binding::processor_name()?, 0)?,
            nodes: firsts.into_iter().map(number).collect(),
            ranks_per_core: communicator.greatest(&[most as u64])?[0] as usize,
        })
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.nodes.iter().max().map_or(0, |last| last + 1)
    }

    /// True if a node has more ranks than cores.
    pub fn is_oversubscribed(&self) -> bool {
        self.ranks_per_core > 1
    }
}

/// Number of cores that the ranks of a node may use together. Collective on the node.
fn cores(node: &Communicator) -> Result<usize, MpiError> {
    let granted = available_parallelism().map_or(1, usize::from);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut usable = vec![0.0; MOST_CORES];
    let mine = allowed_cores(&status);
    for &core in mine.iter().filter(|&&core| core < MOST_CORES) {
        usable[core] = 1.0;
    }
    let all = node.greatest(&usable)?.into_iter().filter(|&core| core > 0.0).count();
    // A quota of time is the same for all of the node; a list of cores is each process's own.
    let quota = if granted < mine.len() { granted } else { usize::MAX };
    Ok(all.max(granted).min(quota))
}

/// Cores with higher numbers are not counted.
const MOST_CORES: usize = 4096;

/// The cores that a process may use, as Linux lists them in its status: `0-3,8`. Empty if it does not.
fn allowed_cores(status: &str) -> Vec<usize> {
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    let range = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.parse().ok()?, last.parse().ok()?);
        Some(first..=last)
    };
    list.unwrap_or_default().trim().split(',').filter_map(range).flatten().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cores_that_linux_allows_are_listed() {
        let status = "Cpus_allowed:\tf1\nCpus_allowed_list:\t0-2,8\nMems_allowed:\t1\n";
        assert_eq!(allowed_cores(status), [0, 1, 2, 8]);
        assert!(allowed_cores("Name: x").is_empty());
    }
}
