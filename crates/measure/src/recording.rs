//! Recorded calls of a program: the document that a preloaded library writes, and `tuwtree advise --recording` reads.
//!
//! Only the root of a call knows all blocks, so each process records the calls of which it is the root. Rootless calls
//! in which all know all blocks are recorded by the communicator's first rank; alltoalls by each process, with its sent
//! messages. Calls with equal function, communicator size, root and blocks are one entry.

use serde::{Deserialize, Serialize};
use tuwtree_model::{BlockSizes, BlockSizesError, ClosedSet, Operation, PayloadKind, Rank};

/// Calls that one process of a program has recorded, as a root or for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// [`FORMAT`](Self::FORMAT).
    pub format: String,
    /// The oldest version that can hold the entries, up to [`VERSION`](Self::VERSION).
    pub version: u64,
    /// The MPI library, as it calls itself.
    pub mpi_library: String,
    /// Number of processes of the job.
    pub processes: usize,
    /// The rank in the job of the process that has recorded.
    pub rank: Rank,
    /// The calls, in the order of their first occurrence.
    pub entries: Vec<RecordedCall>,
    /// Number of further calls, for which there was no space.
    pub left_out_calls: u64,
    /// Their duration, in seconds.
    pub left_out_seconds: f64,
}

/// A call that was made so often.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedCall {
    /// The function that the program called, such as `MPI_Gatherv`.
    pub function: String,
    /// Operation of the call.
    pub operation: Operation,
    /// The root, below the number of blocks; of a rootless call, the recording rank.
    pub root: Rank,
    /// The size of each rank's block, as the root states it; of an alltoall, what the recording rank sends to each.
    pub block_sizes_bytes: Vec<u64>,
    /// Of an alltoall whose rows are [joined](Recording::join_alltoalls), the messages of all ranks, row after row; else empty.
    #[serde(skip)]
    pub matrix_bytes: Vec<u64>,
    /// Number of calls, at least one.
    pub calls: u64,
    /// Duration of all these calls at the root, in seconds.
    pub seconds: f64,
    /// Duration of the shortest.
    pub least_seconds: f64,
    /// Duration of the longest.
    pub greatest_seconds: f64,
}

/// A recording that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordingError {
    /// Blocks that cannot be.
    #[error("entry {entry}: {error}")]
    Blocks {
        /// The index of the entry.
        entry: usize,
        /// Fault of its blocks.
        error: BlockSizesError,
    },
    /// An operation that no function of the recording library performs.
    #[error("entry {entry}: {} is not recorded, operations on blocks are", .operation.name())]
    Operation {
        /// The index of the entry.
        entry: usize,
        /// The operation that it names.
        operation: Operation,
    },
    /// No process.
    #[error("entry {entry}: root {root} is outside 0..{processes}")]
    Root {
        /// The index of the entry.
        entry: usize,
        /// The root that it names.
        root: Rank,
        /// Number of its blocks.
        processes: usize,
    },
    /// No call, or times that are none.
    #[error("entry {entry}: {calls} calls in {seconds} seconds")]
    Calls {
        /// The index of the entry.
        entry: usize,
        /// Number of its calls.
        calls: u64,
        /// Their duration.
        seconds: String,
    },
}

impl Recording {
    /// The name of the format.
    pub const FORMAT: &'static str = "tuwtree-recording";
    /// The newest version: 1 has calls with a root only.
    pub const VERSION: u64 = 2;

    /// The oldest version that can hold these entries.
    pub fn version_for(entries: &[RecordedCall]) -> u64 {
        let is_rooted = |one: &RecordedCall| one.operation.is_rooted();
        if entries.iter().all(is_rooted) { 1 } else { Recording::VERSION }
    }

    /// Joins the rows of alltoalls on all processes of a job if its ranks' recordings are all there: calls of rank 0 get the
    /// messages of all ranks, calls of others are left out. Calls of ranks belong together by their order; where functions or
    /// numbers of calls differ, nothing is joined.
    ///
    /// # Complexity
    /// O(p^2) for each call.
    pub fn join_alltoalls(recordings: &mut [&mut Recording]) {
        let Some(processes) = recordings.first().map(|one| one.processes) else { return };
        recordings.sort_by_key(|one| one.rank);
        let is_of_all = recordings.iter().enumerate().all(|(rank, one)| one.rank == rank);
        if !is_of_all || recordings.len() != processes {
            return;
        }
        let rows = |recording: &Recording| -> Vec<RecordedCall> {
            let is_row = |call: &&RecordedCall| call.is_row(recording.processes, recording.rank);
            recording.entries.iter().filter(is_row).cloned().collect()
        };
        let all: Vec<Vec<RecordedCall>> = recordings.iter().map(|one| rows(one)).collect();
        let count = |call: &RecordedCall| (call.function.clone(), call.calls);
        if !all.iter().all(|rows| rows.iter().map(count).eq(all[0].iter().map(count))) {
            return;
        }
        for (rank, recording) in recordings.iter_mut().enumerate() {
            let (processes, own) = (recording.processes, recording.rank);
            let mut number = 0;
            recording.entries.retain_mut(|call| {
                if !call.is_row(processes, own) {
                    return true;
                }
                if rank == 0 {
                    let row = |rows: &Vec<RecordedCall>| rows[number].block_sizes_bytes.clone();
                    call.matrix_bytes = all.iter().flat_map(row).collect();
                }
                number += 1;
                rank == 0
            });
        }
    }

    /// Checks a document that has been read.
    ///
    /// # Errors
    /// [`RecordingError`].
    pub fn check(&self) -> Result<(), RecordingError> {
        for (entry, call) in self.entries.iter().enumerate() {
            let processes = call.block_sizes_bytes.len();
            call.sizes().map_err(|error| RecordingError::Blocks { entry, error })?;
            if !call.operation.takes_blocks() {
                return Err(RecordingError::Operation { entry, operation: call.operation });
            }
            if call.root >= processes {
                return Err(RecordingError::Root { entry, root: call.root, processes });
            }
            if call.calls == 0 || !(call.seconds.is_finite() && call.seconds >= 0.0) {
                let (calls, seconds) = (call.calls, call.seconds.to_string());
                return Err(RecordingError::Calls { entry, calls, seconds });
            }
        }
        Ok(())
    }
}

impl RecordedCall {
    /// True for what a rank sends in an alltoall of all processes.
    fn is_row(&self, processes: usize, rank: Rank) -> bool {
        let is_of_all = self.block_sizes_bytes.len() == processes && self.root == rank;
        self.operation.payload_kind() == PayloadKind::Messages && is_of_all
    }

    /// The blocks.
    ///
    /// # Errors
    /// None, or more bytes than there can be.
    pub fn sizes(&self) -> Result<BlockSizes, BlockSizesError> {
        BlockSizes::new(self.block_sizes_bytes.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording(root: Rank, calls: u64) -> Recording {
        Recording {
            format: Recording::FORMAT.to_owned(),
            version: Recording::VERSION,
            mpi_library: "a library".to_owned(),
            processes: 4,
            rank: 0,
            entries: vec![RecordedCall {
                function: "MPI_Gatherv".to_owned(),
                operation: Operation::Gather,
                root,
                block_sizes_bytes: vec![4, 0, 8],
                matrix_bytes: Vec::new(),
                calls,
                seconds: 0.5,
                least_seconds: 0.1,
                greatest_seconds: 0.4,
            }],
            left_out_calls: 0,
            left_out_seconds: 0.0,
        }
    }

    #[test]
    fn calls_with_a_root_only_are_of_the_first_version() {
        let mut entries = recording(2, 1).entries;
        assert_eq!(Recording::version_for(&entries), 1);
        entries[0].operation = Operation::ReduceScatter;
        assert_eq!(Recording::version_for(&entries), 2);
        let text = serde_json::to_string(&entries[0]).unwrap();
        assert!(text.contains("\"operation\":\"reduce-scatter\""), "{text}");
    }

    #[test]
    fn rows_of_alltoalls_are_joined_if_all_ranks_have_made_equal_calls() {
        let of_rank = |rank: Rank, calls: u64| {
            let mut one = recording(rank, calls);
            (one.processes, one.rank) = (3, rank);
            let alltoall = RecordedCall {
                operation: Operation::Alltoall,
                block_sizes_bytes: vec![rank as u64, 7, 8],
                ..one.entries[0].clone()
            };
            one.entries.insert(0, alltoall);
            one
        };
        let joined = |mut all: Vec<Recording>| {
            Recording::join_alltoalls(&mut all.iter_mut().collect::<Vec<_>>());
            all
        };
        // In any order of files.
        let all = joined(vec![of_rank(0, 2), of_rank(2, 2), of_rank(1, 2)]);
        assert_eq!(all[0].entries[0].matrix_bytes, [0, 7, 8, 1, 7, 8, 2, 7, 8]);
        assert_eq!(all[0].entries[1], of_rank(0, 2).entries[1]);
        assert_eq!(all[1].entries, of_rank(2, 2).entries[1..]);
        for others in [vec![of_rank(1, 2), of_rank(2, 1)], vec![of_rank(1, 2)]] {
            let all: Vec<Recording> = [of_rank(0, 2)].into_iter().chain(others).collect();
            assert_eq!(joined(all.clone()), all);
        }
    }

    #[test]
    fn a_recording_names_processes_that_there_are_and_calls_that_were_made() {
        assert_eq!(recording(2, 1).check(), Ok(()));
        assert_eq!(
            recording(3, 1).check().unwrap_err().to_string(),
            "entry 0: root 3 is outside 0..3"
        );
        assert!(recording(0, 0).check().is_err());
        let mut huge = recording(0, 1);
        huge.entries[0].block_sizes_bytes = vec![u64::MAX, 1];
        assert!(huge.check().is_err());
    }
}
