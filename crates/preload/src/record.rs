//! What a program calls, for `tuwtree advise --recording`: with `TUWTREE_RECORD=FILE`, each process that is the root
//! of calls writes them when it calls `MPI_Finalize`, rank 0 of the job to FILE and others to FILE.RANK. Calls without a
//! root are written by the communicator's first rank, which knows all blocks as all do; alltoalls by each.
//!
//! Processes do not talk with each other for this, so that it makes no difference to the program whether all of
//! them record. A call costs two looks at the clock, a look at each count, and a look into a table; what is
//! kept is bounded ([`MOST_ENTRIES`], [`MOST_BLOCKS`]), and calls beyond are counted only.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Instant;
use tuwtree_executor::Operation;
use tuwtree_executor::sys::raw::{self, MPI_Comm};
use tuwtree_executor::sys::{Arguments, RootCounts, is_inter, library_version, rank_in, size_of};
use tuwtree_io::Destination;
use tuwtree_measure::{RecordedCall, RecordedOperation, Recording};

/// No more entries are kept.
const MOST_ENTRIES: usize = 4096;

/// No more blocks are kept, of all entries together.
const MOST_BLOCKS: usize = 1 << 22;

static FILE: LazyLock<Option<PathBuf>> = LazyLock::new(|| {
    std::env::var_os("TUWTREE_RECORD").filter(|name| !name.is_empty()).map(PathBuf::from)
});

static RECORDED: Mutex<Option<Recorded>> = Mutex::new(None);

/// What has been recorded.
#[derive(Debug, Default)]
struct Recorded {
    /// The place of each entry among all.
    places: HashMap<Key, usize>,
    entries: Vec<RecordedCall>,
    blocks: usize,
    left_out_calls: u64,
    left_out_seconds: f64,
}

/// What makes calls the same: counts by a hash of 64 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    function: &'static str,
    root: usize,
    processes: usize,
    element_bytes: u64,
    counts: u64,
}

/// Where calls are recorded to, if they are.
pub(crate) fn file() -> Option<&'static Path> {
    FILE.as_deref()
}

/// When a call began, if calls are recorded.
pub(crate) fn began() -> Option<Instant> {
    FILE.as_ref().map(|_| Instant::now())
}

/// Records a call that has ended, if this process was its root.
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
    // SAFETY: a communicator by the caller's promise, or null, which is not asked.
    let place = unsafe {
        match comm == raw::RSMPI_COMM_NULL {
            true => None,
            false => size_of(comm).ok().zip(rank_in(comm).ok()),
        }
    };
    let Some((processes, rank)) = place else { return };
    let root = match arguments.operation().is_rooted() {
        true => arguments.root(processes),
        false => Some(0),
    };
    let root = root.filter(|&root| root == rank);
    let Some((root, (counts, element_bytes))) = root.zip(arguments.root_counts(processes)) else {
        return;
    };
    let hash = match counts {
        RootCounts::Int(counts) => hash_of(counts, |count| count as u64),
        RootCounts::Large(counts) => hash_of(counts, |count| count as u64),
    };
    let key = Key { function, root, processes, element_bytes, counts: hash };
    let block = |count: i64| u64::try_from(count).unwrap_or(0).saturating_mul(element_bytes);
    let blocks = || match counts {
        RootCounts::Int(counts) => counts.iter().map(|&count| block(count.into())).collect(),
        RootCounts::Large(counts) => counts.iter().map(|&count| block(count)).collect(),
    };
    let operation = match arguments.operation() {
        Operation::Allgather => RecordedOperation::Allgather,
        Operation::Scatter => RecordedOperation::Scatter,
        _ => RecordedOperation::Gather,
    };
    let mut recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    recorded.get_or_insert_default().add(key, seconds, operation, blocks);
}

/// Records a call without a root that has ended: what each block has in bytes is asked of whoever records it, the first
/// rank of the communicator, or of an alltoall each.
///
/// # Safety
/// `comm` is a handle that MPI has given out, or `MPI_COMM_NULL`; what `blocks` needs.
pub(crate) unsafe fn ended_everywhere(
    began: Option<Instant>,
    (function, operation): (&'static str, RecordedOperation),
    comm: MPI_Comm,
    blocks: impl FnOnce(usize) -> Option<Vec<u64>>,
) {
    let Some(began) = began else { return };
    let seconds = began.elapsed().as_secs_f64();
    // SAFETY: a communicator by the caller's promise, or null, which is not asked.
    let place = unsafe {
        match comm == raw::RSMPI_COMM_NULL || is_inter(comm).unwrap_or(true) {
            true => None,
            false => size_of(comm).ok().zip(rank_in(comm).ok()),
        }
    };
    let is_recorded = |rank| rank == 0 || operation == RecordedOperation::Alltoall;
    let Some((processes, root)) = place.filter(|&(_, rank)| is_recorded(rank)) else { return };
    let Some(blocks) = blocks(processes) else { return };
    let counts = hash_of(&blocks, |bytes| bytes);
    let key = Key { function, root, processes, element_bytes: 1, counts };
    let mut recorded = RECORDED.lock().unwrap_or_else(PoisonError::into_inner);
    recorded.get_or_insert_default().add(key, seconds, operation, || blocks);
}

impl Recorded {
    fn add(
        &mut self,
        key: Key,
        seconds: f64,
        operation: RecordedOperation,
        blocks: impl FnOnce() -> Vec<u64>,
    ) {
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
            block_sizes_bytes: blocks(),
            calls: 1,
            seconds,
            least_seconds: seconds,
            greatest_seconds: seconds,
        });
    }
}

/// A number that stands for counts. (Four at a time, so that none waits for the one before.)
fn hash_of<T: Copy>(counts: &[T], word: impl Fn(T) -> u64) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut lanes = [1_u64, 2, 3, 4];
    let mut fours = counts.chunks_exact(4);
    for four in &mut fours {
        for (lane, &count) in lanes.iter_mut().zip(four) {
            *lane = (lane.rotate_left(23) ^ word(count)).wrapping_mul(FACTOR);
        }
    }
    let rest = fours.remainder().iter().map(|&count| word(count));
    rest.chain(lanes).fold(counts.len() as u64, |hash, word| {
        (hash.rotate_left(23) ^ word ^ (word >> 29)).wrapping_mul(FACTOR)
    })
}

/// Writes what has been recorded, if anything is to be, and removes what an earlier job has left in the same files, so
/// that all of them are of one job: each process its own, the first also those of ranks beyond the last.
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
