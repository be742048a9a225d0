//! Recording of a program's calls for `tuwtree advise --recording`: with `TUWTREE_RECORD=FILE`, each process that was a
//! root writes its calls in `MPI_Finalize`, rank 0 of the job to FILE and others to FILE.RANK. The communicator's first
//! rank writes calls without a root, as all ranks know all blocks; each rank writes its alltoalls.
//!
//! Processes do not communicate for this, so that recording some of them changes nothing in the program. A call costs
//! two readings of the clock, one pass over the counts and one look-up in a table; memory is bounded ([`MOST_ENTRIES`],
//! [`MOST_BLOCKS`]), and further calls are only counted.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;
use tuwtree_binding::raw::{self, MPI_Comm};
use tuwtree_binding::{Arguments, is_inter, library_version, rank_in, size_of};
use tuwtree_executor::Operation;
use tuwtree_io::Destination;
use tuwtree_measure::{RecordedCall, Recording};

/// No more entries are kept.
const MOST_ENTRIES: usize = 4096;

/// No more blocks are kept, of all entries together.
const MOST_BLOCKS: usize = 1 << 22;

static FILE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    std::env::var_os("TUWTREE_RECORD").filter(|name| !name.is_empty()).map(PathBuf::from)
});

static RECORDED: Mutex<Option<Recorded>> = Mutex::new(None);

/// All recorded calls.
#[derive(Debug, Default)]
struct Recorded {
    /// The place of each entry among all.
    places: HashMap<Key, usize>,
    entries: Vec<RecordedCall>,
    blocks: usize,
    left_out_calls: u64,
    left_out_seconds: f64,
}

/// Identity of a call; counts by a 64-bit hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    function: &'static str,
    root: usize,
    processes: usize,
    counts: u64,
}

/// File of the recording, if enabled.
pub(crate) fn file() -> Option<&'static Path> {
    FILE.as_deref()
}

/// Start of a call, if recorded.
pub(crate) fn began() -> Option<Instant> {
    FILE.as_ref().map(|_| Instant::now())
}

/// Records a call that has ended, if this rank is the one that does: the root, without a root the first rank, in an
/// alltoall each.
///
/// # Safety
/// `comm` is a handle that MPI has given out, or `MPI_COMM_NULL`; the arguments' promise.
pub(crate) unsafe fn ended(
    began: Option<Instant>,
    function: &'static str,
    arguments: &Arguments<'_>,
    comm: MPI_Comm,
) {
    let Some(began) = began else { return };
    let seconds = began.elapsed().as_secs_f64();
    let operation = arguments.operation();
    let is_rooted = operation.is_rooted();
    // SAFETY: a communicator by the caller's promise, or null, which is not asked.
    let place = unsafe {
        match comm == raw::RSMPI_COMM_NULL || (!is_rooted && is_inter(comm).unwrap_or(true)) {
            true => None,
            false => size_of(comm).ok().zip(rank_in(comm).ok()),
        }
    };
    let Some((processes, rank)) = place else { return };
    let Some(blocks) = arguments.recorded_blocks(rank, processes) else { return };
    let key = Key { function, root: rank, processes, counts: hash_of(&blocks) };
    let mut recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    recorded.get_or_insert_default().add(key, seconds, operation, blocks);
}

impl Recorded {
    fn add(&mut self, key: Key, seconds: f64, operation: Operation, blocks: Vec<u64>) {
        if let Some(&place) = self.places.get(&key) {
            let entry = &mut self.entries[place];
            entry.calls += 1;
            entry.seconds += seconds;
            entry.least_seconds = entry.least_seconds.min(seconds);
            entry.greatest_seconds = entry.greatest_seconds.max(seconds);
            return;
        }
        if self.entries.len() >= MOST_ENTRIES || self.blocks + key.processes > MOST_BLOCKS {
            self.left_out_calls += 1;
            self.left_out_seconds += seconds;
            return;
        }
        self.blocks += key.processes;
        self.places.insert(key, self.entries.len());
        self.entries.push(RecordedCall {
            function: key.function.to_owned(),
            operation,
            root: key.root,
            block_sizes_bytes: blocks,
            matrix_bytes: Vec::new(),
            calls: 1,
            seconds,
            least_seconds: seconds,
            greatest_seconds: seconds,
        });
    }
}

/// A number that stands for counts. (Four at a time, so that none waits for the one before.)
fn hash_of(blocks: &[u64]) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [1_u64, 2, 3, 4];
    let mut fours = blocks.chunks_exact(4);
    for four in &mut fours {
        for (lane, &bytes) in lanes.iter_mut().zip(four) {
            *lane = (lane.rotate_left(23) ^ bytes).wrapping_mul(FACTOR);
        }
    }
    let rest = fours.remainder().iter().copied();
    rest.chain(lanes).fold(blocks.len() as u64, |hash, word| {
        (hash.rotate_left(23) ^ word ^ (word >> 29)).wrapping_mul(FACTOR)
    })
}

/// Writes the recording, if enabled, and removes files of an earlier job, so that all files are of one job: each
/// process its own, the first also those of ranks beyond the last.
pub(crate) fn write() {
    let Some(file) = FILE.as_ref() else { return };
    // SAFETY: MPI is initialized, or the calls fail; the world's handle is MPI's own.
    let place = unsafe {
        let world = raw::RSMPI_COMM_WORLD;
        rank_in(world).ok().zip(size_of(world).ok())
    };
    let recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner).take();
    let Some((rank, processes)) = place else { return };
    let of_rank = |rank: usize| {
        let mut name = OsString::from(file);
        if rank > 0 {
            name.push(format!(".{rank}"));
        }
        PathBuf::from(name)
    };
    if rank == 0 {
        ranks_with_files(file)
            .filter(|&other| other >= processes)
            .for_each(|other| remove_recording(&of_rank(other)));
    } else if recorded.is_none() {
        return remove_recording(&of_rank(rank));
    }
    let Recorded { entries, left_out_calls, left_out_seconds, .. } = recorded.unwrap_or_default();
    let document = Recording {
        format: Recording::FORMAT.to_owned(),
        version: Recording::version_for(&entries),
        mpi_library: library_version().unwrap_or_default(),
        processes,
        rank,
        entries,
        left_out_calls,
        left_out_seconds,
    };
    let written = Destination::File(of_rank(rank)).open().and_then(|opened| {
        opened.write(|output| {
            serde_json::to_writer(&mut *output, &document)?;
            writeln!(output)
        })
    });
    if let Err(error) = written {
        // In one piece, since others write there, too; whoever does not listen is not told.
        let text = format!("tuwtree: error: TUWTREE_RECORD: {error}\n");
        let _ = std::io::stderr().write_all(text.as_bytes());
    }
}

/// The ranks for which there are files FILE.RANK, of whatever content.
fn ranks_with_files(file: &Path) -> impl Iterator<Item = usize> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let start = file.file_name().map_or(String::new(), |name| format!("{}.", name.display()));
    let entries = std::fs::read_dir(folder.unwrap_or(Path::new("."))).into_iter().flatten();
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.filter_map(move |name| name.strip_prefix(&start)?.parse().ok())
}

/// Removes a file, if it is a recording.
fn remove_recording(path: &Path) {
    let mut start = [0; 64];
    let read = File::open(path).and_then(|mut file| file.read(&mut start)).unwrap_or(0);
    let format = format!("{{\"format\":\"{}\"", Recording::FORMAT);
    if start[..read].starts_with(format.as_bytes()) {
        // What is left is told apart by how many processes its job had.
        let _ = std::fs::remove_file(path);
    }
}
