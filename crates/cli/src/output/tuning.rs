//! Selections as MPI libraries read them.
//!
//! Operators that users define, and vectors of fewer elements than processes, keep MPICH's own choice; numbers of
//! processes beyond those that were asked for keep that of MPICH and Open MPI.

use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use tuwtree_model::{ClosedSet, Operation};
use tuwtree_plan::select::{Decision, SizeRange};

/// Operations with what is best for each.
type Chosen = [(Operation, Vec<Decision>)];

/// An object of one entry.
fn entry(key: String, value: Value) -> Map<String, Value> {
    Map::from_iter([(key, value)])
}

/// MPICH's table with the selections in it.
///
/// # Errors
/// What the table lacks, or that it is another.
pub(crate) fn mpich(mut table: Value, chosen: &Chosen) -> Result<Value, String> {
    for (operation, found) in chosen {
        for collective in mpich_collectives(*operation) {
            let key = format!("collective={}", collective.to_lowercase());
            let within = table.get_mut(&key).and_then(|of_one| of_one.get_mut("comm_type=intra"));
            let Some(own) = within else {
                return Err(format!("the table lacks \"{key}\" with \"comm_type=intra\""));
            };
            if own.to_string().contains("\"composition=") {
                return Err("the table is that of MPICH's device; the one with \"algorithm=MPIR_\" is needed".into());
            }
            let ours = mpich_sizes(*operation, collective, found, own);
            *own = mpich_guarded(*operation, ours, own);
        }
    }
    Ok(table)
}

/// MPICH's collectives that are chosen for an operation.
fn mpich_collectives(operation: Operation) -> &'static [&'static str] {
    match operation {
        Operation::Allgather => &["Allgather", "Allgatherv"],
        Operation::Broadcast => &["Bcast"],
        Operation::Allreduce => &["Allreduce"],
        Operation::Reduce => &["Reduce"],
        Operation::ReduceScatter => &["Reduce_scatter", "Reduce_scatter_block"],
        Operation::Alltoall => &["Alltoall"],
        Operation::Gather | Operation::Scatter | Operation::IntergroupAllgather => &[],
    }
}

/// The selection where MPICH's algorithms apply, and its own choice elsewhere.
fn mpich_guarded(operation: Operation, ours: Value, own: &Value) -> Value {
    match operation {
        Operation::Allreduce | Operation::Reduce => json!({
            "is_op_built_in=yes": { "count<pow2": own, "count=any": ours },
            "is_op_built_in=no": own,
        }),
        Operation::ReduceScatter => json!({ "is_commutative=yes": ours, "is_commutative=no": own }),
        Operation::Alltoall => {
            json!({ "is_sendbuf_inplace=yes": own, "is_sendbuf_inplace=no": ours })
        }
        _ => ours,
    }
}

/// By numbers of processes, then by sizes.
fn mpich_sizes(operation: Operation, collective: &str, found: &[Decision], own: &Value) -> Value {
    let size = match operation {
        Operation::Allgather | Operation::ReduceScatter => "total_msg_size",
        _ => "avg_msg_size",
    };
    let mut by_processes = Map::new();
    if let Some(first) = found.first().filter(|first| first.processors.0 > 1) {
        by_processes.extend(entry(format!("comm_size<{}", first.processors.0), own.clone()));
    }
    for Decision { processors: (_, last), ranges } in found {
        let mut by_size = Map::new();
        for (index, range) in ranges.iter().enumerate() {
            let name = range.algorithm.mpich.expect("an algorithm of MPICH");
            let name = format!("algorithm=MPIR_{collective}_intra_{name}");
            let condition = match ranges.get(index + 1) {
                Some(next) => format!("{size}<{}", next.from_bytes),
                None => format!("{size}=any"),
            };
            by_size.extend(entry(condition, entry(name, json!({})).into()));
        }
        by_processes.extend(entry(format!("comm_size<={last}"), by_size.into()));
    }
    by_processes.extend(entry("comm_size=any".to_owned(), own.clone()));
    by_processes.into()
}

/// Open MPI's numbers for operations, and the name in its JSON.
fn open_mpi_collectives(operation: Operation) -> &'static [(u8, &'static str)] {
    match operation {
        Operation::Allgather => &[(0, "allgather")],
        Operation::Allreduce => &[(2, "allreduce")],
        Operation::Alltoall => &[(3, "alltoall")],
        Operation::Broadcast => &[(7, "bcast")],
        Operation::Reduce => &[(11, "reduce")],
        Operation::ReduceScatter => &[(12, "reduce_scatter")],
        Operation::Gather | Operation::Scatter | Operation::IntergroupAllgather => &[],
    }
}

/// The size by which Open MPI chooses: in an alltoall, of all messages of a process.
fn open_mpi_bytes(operation: Operation, range: &SizeRange, processors: usize) -> u64 {
    match operation {
        Operation::Alltoall => range.from_bytes.saturating_mul(processors as u64),
        _ => range.from_bytes,
    }
}

/// Open MPI's file of numbers; decisions for several numbers of processes are for the least of them and more.
pub(crate) fn open_mpi(chosen: &Chosen) -> String {
    let all: Vec<(u8, &str, Operation, &[Decision])> = of_open_mpi(chosen).collect();
    let mut text = format!("{} # operations\n", all.len());
    for (id, name, operation, found) in all {
        let last = found.last().map_or(0, |decision| decision.processors.1);
        let _ = write!(text, "{id} # {name}\n{} # numbers of processes\n", found.len() + 2);
        // 0 is Open MPI's own choice.
        text.push_str("0\n1\n0 0 0 0\n");
        for Decision { processors: (first, _), ranges } in found {
            let _ = write!(text, "{first}\n{} # sizes\n", ranges.len());
            for (index, range) in ranges.iter().enumerate() {
                let (number, name) = range.algorithm.open_mpi.expect("an algorithm of Open MPI");
                let bytes = if index == 0 { 0 } else { open_mpi_bytes(operation, range, *first) };
                let _ = writeln!(text, "{bytes} {number} 0 0 # {name}");
            }
        }
        let _ = write!(text, "{}\n1\n0 0 0 0\n", last + 1);
    }
    text
}

fn of_open_mpi(chosen: &Chosen) -> impl Iterator<Item = (u8, &str, Operation, &[Decision])> {
    chosen.iter().flat_map(|(operation, found)| {
        open_mpi_collectives(*operation)
            .iter()
            .map(move |&(id, name)| (id, name, *operation, &found[..]))
    })
}

/// What is said beside Open MPI's JSON, whose schema has no place for it.
pub(crate) const OPEN_MPI_JSON_NOTE: &str =
    "the file was not loaded by any Open MPI in tuwtree's tests, only held against its schema";

/// The operations of a selection whose results Open MPI gets wrong with operators that do not commute: by some chosen
/// algorithm, and it does not look whether they do. Rabenseifner's it leaves for another one then, and recursive doubling
/// keeps the order.
pub(crate) fn wrong_without_commuting(chosen: &Chosen) -> Vec<&'static str> {
    let is_right = |range: &SizeRange| {
        ["recursive-doubling", "rabenseifner-half"].contains(&range.algorithm.name)
    };
    let is_wrong = |(operation, found): &&(Operation, Vec<Decision>)| {
        operation.is_reduction() && !found.iter().flat_map(|one| one.ranges.iter()).all(is_right)
    };
    chosen.iter().filter(is_wrong).map(|(operation, _)| operation.name()).collect()
}

/// Open MPI's rules as JSON.
pub(crate) fn open_mpi_json(chosen: &Chosen) -> Value {
    let mut collectives = Map::new();
    for (_, name, operation, found) in of_open_mpi(chosen) {
        let by_processes: Vec<Value> = found
            .iter()
            .map(|Decision { processors: (first, last), ranges }| {
                let bytes = |range: &SizeRange| open_mpi_bytes(operation, range, *first);
                let rules = ranges.iter().enumerate().map(|(index, range)| {
                    let (_, name) = range.algorithm.open_mpi.expect("an algorithm of Open MPI");
                    let least = if index == 0 { 0 } else { bytes(range) };
                    let largest = match ranges.get(index + 1) {
                        Some(next) => json!(bytes(next) - 1),
                        None => json!("inf"),
                    };
                    json!({ "msg_size_min": least, "msg_size_max": largest, "alg": name })
                });
                let rules: Vec<Value> = rules.collect();
                json!({ "comm_size_min": first, "comm_size_max": last, "rules": rules })
            })
            .collect();
        collectives.extend(entry(name.to_owned(), by_processes.into()));
    }
    json!({ "rule_file_version": 3, "module": "tuned", "collectives": collectives })
}

/// A line for UCC, and one that says how it was tested.
pub(crate) fn ucc(chosen: &Chosen) -> String {
    let mut tokens = Vec::new();
    for (operation, found) in chosen {
        let name = match operation {
            Operation::Broadcast => "bcast",
            Operation::ReduceScatter => "reduce_scatter",
            Operation::Allgather => "allgather",
            Operation::Allreduce => "allreduce",
            Operation::Reduce => "reduce",
            Operation::Alltoall => "alltoall",
            Operation::Gather | Operation::Scatter | Operation::IntergroupAllgather => continue,
        };
        for Decision { processors: (first, last), ranges } in found {
            for (index, range) in ranges.iter().enumerate() {
                let algorithm = range.algorithm.ucc.expect("an algorithm of UCC");
                let bytes = |range: &SizeRange| match operation {
                    Operation::Alltoall => range.from_bytes.saturating_mul(*first as u64),
                    _ => range.from_bytes,
                };
                let least = if index == 0 { 0 } else { bytes(range) };
                let largest =
                    ranges.get(index + 1).map_or("inf".to_owned(), |next| bytes(next).to_string());
                tokens.push(format!("{name}:{least}-{largest}:[{first}-{last}]:@{algorithm}"));
            }
        }
    }
    format!(
        "# Not loaded by any UCC in tuwtree's tests, only held against its grammar.\nUCC_TL_UCP_TUNE={}\n",
        tokens.join("#")
    )
}

/// Lines that set environment variables for Intel MPI, and one that says that they were not tested.
pub(crate) fn intel(chosen: &Chosen) -> String {
    let mut text = String::from("# Not loaded by any Intel MPI in tuwtree's tests.\n");
    for (operation, found) in chosen {
        let name = match operation {
            Operation::Broadcast => "BCAST",
            Operation::ReduceScatter => "REDUCE_SCATTER",
            Operation::Allgather => "ALLGATHER",
            Operation::Allreduce => "ALLREDUCE",
            Operation::Reduce => "REDUCE",
            Operation::Alltoall => "ALLTOALL",
            Operation::Gather | Operation::Scatter | Operation::IntergroupAllgather => continue,
        };
        let mut rules = Vec::new();
        for Decision { processors: (first, last), ranges } in found {
            for (index, range) in ranges.iter().enumerate() {
                let number = range.algorithm.intel.expect("an algorithm of Intel MPI");
                let least = if index == 0 { 0 } else { range.from_bytes };
                let largest =
                    ranges.get(index + 1).map_or((1 << 31) - 1, |next| next.from_bytes - 1);
                rules.push(format!("{number}:{least}-{largest}@{first}-{last}"));
            }
        }
        let _ = writeln!(text, "export I_MPI_ADJUST_{name}='{}'", rules.join(";"));
    }
    text
}
