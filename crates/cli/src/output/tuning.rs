//! Selections as MPI libraries read them.
//!
//! User-defined operators, and vectors of fewer elements than processes, keep MPICH's own choice; numbers of processes
//! beyond the requested ones keep that of MPICH and Open MPI. Rules of the others cannot ask for commuting operators:
//! if the fastest algorithm needs them, the library's own choice stands, unless the file is for commuting ones.

use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use tuwtree_model::{ClosedSet, Order};
use tuwtree_tuning::{Decision, Function, LibraryAlgorithm, Rules};

/// A library's rules with the best algorithms of each of their functions.
pub(crate) type Chosen = [(Rules, Vec<Decision>)];

/// Functions and algorithms of the fastest choices whose results are wrong, or not known to be right, with operators
/// that do not commute.
pub(crate) fn for_commuting(chosen: &Chosen) -> Vec<String> {
    let of_one = |(rules, found): &(Rules, Vec<Decision>)| {
        let mut names: Vec<&str> = Vec::new();
        for range in found.iter().flat_map(|one| one.ranges.iter()) {
            let algorithm = range.algorithm;
            let is_needed = rules.names(algorithm, Order::Any) && rules.needs_commuting(algorithm);
            if is_needed && !names.contains(&algorithm.name) {
                names.push(algorithm.name);
            }
        }
        let function = rules.function().name();
        (!names.is_empty()).then(|| format!("{function} by {}", names.join(" and ")))
    };
    chosen.iter().filter_map(of_one).collect()
}

/// An object of one entry.
fn entry(key: String, value: Value) -> Map<String, Value> {
    Map::from_iter([(key, value)])
}

/// MPICH's table with the selections in it.
///
/// # Errors
/// What the table lacks, or that it is another.
pub(crate) fn mpich(mut table: Value, chosen: &Chosen) -> Result<Value, String> {
    for (rules, found) in chosen {
        let function = rules.function();
        let key = format!("collective={}", function.name());
        let within = table.get_mut(&key).and_then(|of_one| of_one.get_mut("comm_type=intra"));
        let Some(own) = within else {
            return Err(format!("the table lacks \"{key}\" with \"comm_type=intra\""));
        };
        if own.to_string().contains("\"composition=") {
            return Err(
                "the table is that of MPICH's device; the one with \"algorithm=MPIR_\" is needed"
                    .into(),
            );
        }
        let ours = mpich_sizes(*rules, found, own);
        *own = mpich_guarded(function, ours, own);
    }
    Ok(table)
}

/// The selection where MPICH's algorithms apply, and its own choice elsewhere.
fn mpich_guarded(function: Function, ours: Value, own: &Value) -> Value {
    match function {
        Function::Allreduce | Function::Reduce => json!({
            "is_op_built_in=yes": { "count<pow2": own, "count=any": ours },
            "is_op_built_in=no": own,
        }),
        // Pairwise, in place, with blocks that differ: MPICH 4.0.2 copies the result onto itself, and aborts.
        Function::ReduceScatter => json!({
            "is_commutative=yes": { "is_block_regular=yes": ours, "is_block_regular=no": own },
            "is_commutative=no": own,
        }),
        Function::ReduceScatterBlock => {
            json!({ "is_commutative=yes": ours, "is_commutative=no": own })
        }
        Function::Alltoall => {
            json!({ "is_sendbuf_inplace=yes": own, "is_sendbuf_inplace=no": ours })
        }
        _ => ours,
    }
}

/// By numbers of processes, then by sizes.
fn mpich_sizes(rules: Rules, found: &[Decision], own: &Value) -> Value {
    let function = rules.function();
    let size = match function {
        Function::Allgather
        | Function::Allgatherv
        | Function::ReduceScatter
        | Function::ReduceScatterBlock => "total_msg_size",
        _ => "avg_msg_size",
    };
    let (first, rest) = function.name().split_at(1);
    let collective = format!("{}{rest}", first.to_uppercase());
    let mut by_processes = Map::new();
    if let Some(first) = found.first().filter(|first| first.ranks.0 > 1) {
        by_processes.extend(entry(format!("comm_size<{}", first.ranks.0), own.clone()));
    }
    for Decision { ranks: (_, last), ranges } in found {
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

/// Open MPI's number for a function.
fn open_mpi_number(function: Function) -> u8 {
    match function {
        Function::Allgather => 0,
        Function::Allgatherv => 1,
        Function::Allreduce => 2,
        Function::Alltoall => 3,
        Function::Alltoallv => 4,
        Function::Bcast => 7,
        Function::Reduce => 11,
        Function::ReduceScatter => 12,
        Function::ReduceScatterBlock => 13,
    }
}

/// Open MPI's file of numbers; decisions for several numbers of processes are for the least of them and more.
pub(crate) fn open_mpi(chosen: &Chosen, order: Order) -> String {
    let commuting = match order == Order::Any && !for_commuting(chosen).is_empty() {
        true => "; for programs whose operators commute",
        false => "",
    };
    let mut text = format!("{} # operations{commuting}\n", chosen.len());
    for (rules, found) in chosen {
        let (number, name) = (open_mpi_number(rules.function()), rules.function().name());
        let last = found.last().map_or(0, |decision| decision.ranks.1);
        let _ = write!(text, "{number} # {name}\n{} # numbers of processes\n", found.len() + 2);
        // 0 is Open MPI's own choice.
        text.push_str("0\n1\n0 0 0 0\n");
        for decision in found {
            let ranges = rules.ranges(decision, order);
            let _ = write!(text, "{}\n{} # sizes\n", decision.ranks.0, ranges.len());
            for (bytes, algorithm) in ranges {
                let named = algorithm.and_then(|algorithm| rules.open_mpi(algorithm));
                let (number, name) = named.unwrap_or((0, "own choice"));
                let _ = writeln!(text, "{bytes} {number} 0 0 # {name}");
            }
        }
        let _ = write!(text, "{}\n1\n0 0 0 0\n", last + 1);
    }
    text
}

/// A note beside Open MPI's JSON, whose schema has no place for it.
pub(crate) const OPEN_MPI_JSON_NOTE: &str =
    "the file was not loaded by any Open MPI in tuwtree's tests, only held against its schema";

/// Open MPI's rules as JSON.
pub(crate) fn open_mpi_json(chosen: &Chosen, order: Order) -> Value {
    let mut collectives = Map::new();
    for (rules, found) in chosen {
        let of_one = |decision: &Decision| {
            let (first, last) = decision.ranks;
            let ranges = rules.ranges(decision, order);
            let of_sizes = ranges.iter().enumerate().map(|(index, &(least, algorithm))| {
                let largest = match ranges.get(index + 1) {
                    Some((next, _)) => json!(next - 1),
                    None => json!("inf"),
                };
                // 0 is Open MPI's own choice.
                let named = algorithm.and_then(|algorithm| rules.open_mpi(algorithm));
                let algorithm = named.map_or(json!(0), |(_, name)| json!(name));
                json!({ "msg_size_min": least, "msg_size_max": largest, "alg": algorithm })
            });
            let of_sizes: Vec<Value> = of_sizes.collect();
            json!({ "comm_size_min": first, "comm_size_max": last, "rules": of_sizes })
        };
        let by_processes: Vec<Value> = found.iter().map(of_one).collect();
        collectives.extend(entry(rules.function().name().to_owned(), by_processes.into()));
    }
    json!({ "rule_file_version": 3, "module": "tuned", "collectives": collectives })
}

/// A rule that names an algorithm: sizes from the least up to before the next, if there is one, and numbers of processes.
struct Rule {
    sizes: (u64, Option<u64>),
    ranks: (usize, usize),
    algorithm: &'static LibraryAlgorithm,
}

/// The rules of a function, without those that leave the choice to the library.
fn naming(rules: Rules, found: &[Decision], order: Order) -> Vec<Rule> {
    let mut all = Vec::new();
    for decision in found {
        let ranges = rules.ranges(decision, order);
        for (index, &(least, algorithm)) in ranges.iter().enumerate() {
            let next = ranges.get(index + 1).map(|&(next, _)| next);
            all.extend(algorithm.map(|algorithm| Rule {
                sizes: (least, next),
                ranks: decision.ranks,
                algorithm,
            }));
        }
    }
    all
}

/// A line for UCC, and one that says how it was tested.
pub(crate) fn ucc(chosen: &Chosen, order: Order) -> String {
    let mut tokens = Vec::new();
    for (rules, found) in chosen {
        // UCC's reduce_scatter is of blocks of one size.
        let name = match rules.function() {
            Function::ReduceScatterBlock => "reduce_scatter",
            other => other.name(),
        };
        for Rule { sizes: (least, next), ranks: (first, last), algorithm } in
            naming(*rules, found, order)
        {
            let algorithm = rules.name(algorithm).expect("an algorithm of UCC");
            let largest = next.map_or("inf".to_owned(), |next| next.to_string());
            tokens.push(format!("{name}:{least}-{largest}:[{first}-{last}]:@{algorithm}"));
        }
    }
    format!(
        "# Not loaded by any UCC in tuwtree's tests, only held against its grammar.\nUCC_TL_UCP_TUNE={}\n",
        tokens.join("#")
    )
}

/// Lines that set environment variables for Intel MPI, and one that says that they were not tested.
pub(crate) fn intel(chosen: &Chosen, order: Order) -> String {
    let mut text = String::from("# Not loaded by any Intel MPI in tuwtree's tests.\n");
    if order == Order::Any && !for_commuting(chosen).is_empty() {
        text.push_str("# For programs whose operators commute.\n");
    }
    for (rules, found) in chosen {
        let of_one = naming(*rules, found, order).into_iter().map(|rule| {
            let Rule { sizes: (least, next), ranks: (first, last), algorithm } = rule;
            let number = rules.name(algorithm).expect("an algorithm of Intel MPI");
            let largest = next.map_or((1 << 31) - 1, |next| next - 1);
            format!("{number}:{least}-{largest}@{first}-{last}")
        });
        let of_one: Vec<String> = of_one.collect();
        let name = rules.function().name().to_uppercase();
        let _ = match of_one.is_empty() {
            true => writeln!(text, "# {name}: its own choice."),
            false => writeln!(text, "export I_MPI_ADJUST_{name}='{}'", of_one.join(";")),
        };
    }
    text
}
