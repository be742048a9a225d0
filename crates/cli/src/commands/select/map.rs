//! `select` as a picture: which algorithm where, over numbers of processes and sizes.

use super::SelectArgs;
use crate::error::CliError;
use tuwtree_model::{ClosedSet, Operation, Order, quantity};
use tuwtree_picture::{RegionCell, RegionMap, RegionPanel};
use tuwtree_tuning::{LibraryAlgorithm, OwnRules, Prices, Tuning, algorithms, own_rule};

/// The map: a panel for each operation, a row for each of some numbers of processes, a column for each power of two.
///
/// # Errors
/// More algorithms in all than there are colours.
pub(super) fn map(args: &SelectArgs, prices: &Prices) -> Result<RegionMap, CliError> {
    let own = match args.library {
        None | Some(Tuning::Mpich) => Some(OwnRules::Mpich),
        Some(Tuning::OpenMpi | Tuning::OpenMpiJson) => Some(OwnRules::OpenMpi),
        Some(Tuning::Ucc | Tuning::Intel) => None,
    };
    let operations = args.operations();
    let is_one = |one: &&LibraryAlgorithm| args.library.is_none_or(|library| one.is_in(library));
    let mut names: Vec<&str> = Vec::new();
    for known in operations.iter().flat_map(|&one| algorithms(one)).filter(is_one) {
        if !names.contains(&known.name) {
            names.push(known.name);
        }
    }
    if names.len() > RegionMap::MOST_CHOICES {
        return Err(CliError::Usage(format!(
            "--map: {} have {} algorithms, and a map has {} colours: name fewer operations",
            operations.iter().map(|one| one.name()).collect::<Vec<_>>().join(", "),
            names.len(),
            RegionMap::MOST_CHOICES
        )));
    }
    let (counts, sizes) = (counts(args.ranks), sizes(args.bytes));
    for &operation in &operations {
        let has_none =
            |p: &&usize| algorithms(operation).iter().all(|one| one.time(**p, 1, prices).is_none());
        if let Some(p) = counts.iter().find(has_none) {
            let name = operation.name();
            return Err(CliError::Usage(format!(
                "--map: no algorithm of {name} is known for {p} processes"
            )));
        }
    }
    let panel = |&operation: &Operation| {
        let cells = counts.iter().flat_map(|&p| sizes.iter().map(move |&bytes| (p, bytes)));
        let draw = |(p, bytes)| {
            let known = algorithms(operation).iter().filter(is_one);
            cell((operation, p, bytes), known, &names, (own, prices))
        };
        RegionPanel { title: operation.name().to_owned(), cells: cells.map(draw).collect() }
    };
    let unit = args.costs.costs_of_schedules(None)?.unit();
    let costs = quantity::parameters(&prices.costs, unit);
    let combine = unit.units(prices.combine);
    let factor = own.map(|own| {
        let title = own.title();
        format!("number: how many times as long as the fastest {title}'s own choice takes")
    });
    Ok(RegionMap {
        title: "Which algorithm of an MPI library is fastest where".to_owned(),
        lines: std::iter::once(format!("{costs}; combining takes {combine} a byte"))
            .chain(factor)
            .collect(),
        choices: names.iter().map(|&name| name.to_owned()).collect(),
        columns: (
            "bytes; K = 1024, M = 1024 K".to_owned(),
            sizes.iter().map(|&bytes| label(bytes)).collect(),
        ),
        rows: ("processes".to_owned(), counts.iter().map(usize::to_string).collect()),
        panels: operations.iter().map(panel).collect(),
    })
}

/// A size in few characters.
fn label(bytes: u64) -> String {
    match bytes {
        _ if bytes.is_multiple_of(1 << 20) => format!("{}M", bytes >> 20),
        _ if bytes.is_multiple_of(1 << 10) => format!("{}K", bytes >> 10),
        _ => bytes.to_string(),
    }
}

/// Up to 24 numbers of processes: all, or as many that grow by about the same factor.
fn counts((first, last): (usize, usize)) -> Vec<usize> {
    const MOST: usize = 24;
    if last - first < MOST {
        return (first..=last).collect();
    }
    let factor = last as f64 / first as f64;
    let step = |step: usize| first as f64 * factor.powf(step as f64 / (MOST - 1) as f64);
    let mut counts: Vec<usize> = (0..MOST).map(|at| step(at).round() as usize).collect();
    counts.dedup();
    counts
}

/// Powers of two from the least size to the largest.
fn sizes((least, largest): (u64, u64)) -> Vec<u64> {
    let powers = (0..u64::BITS).map(|power| 1_u64 << power);
    let within: Vec<u64> = powers.filter(|size| (least..=largest).contains(size)).collect();
    if within.is_empty() { vec![least] } else { within }
}

fn cell<'a>(
    (operation, p, bytes): (Operation, usize, u64),
    known: impl Iterator<Item = &'a LibraryAlgorithm>,
    names: &[&str],
    (rules, prices): (Option<OwnRules>, &Prices),
) -> RegionCell {
    let times = known.filter_map(|one| Some((one, one.time(p, bytes, prices)?)));
    let times: Vec<(&LibraryAlgorithm, f64)> = times.collect();
    let least = times.iter().min_by(|one, other| one.1.total_cmp(&other.1));
    let (best, time) = *least.expect("each operation has an algorithm for all");
    let own = rules.and_then(|rules| own_rule(rules, (operation, Order::Any), p, bytes));
    let own = own.map(|own| own.time(bytes, prices)).filter(|_| time > 0.0);
    let factor = own.map(|own| own / time).filter(|factor| *factor >= 1.005);
    let all: Vec<String> =
        times.iter().map(|(one, time)| format!("{} {time:.6}", one.name)).collect();
    RegionCell {
        choice: names.iter().position(|&name| name == best.name).expect("one of these"),
        text: factor.map_or_else(String::new, |factor| format!("{factor:.2}")),
        detail: format!("{p} processes, {}: {}", quantity::bytes(bytes), all.join(", ")),
    }
}
