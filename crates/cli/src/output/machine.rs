//! Machines as people read them.

use super::text;
use std::fmt::Write as _;
use tuwtree_model::document::Machine;
use tuwtree_model::quantity::{per_byte, seconds};
use tuwtree_model::{CostMatrix, Costs, Hierarchy, Homogeneous, Piece, Placement, Rank};

/// A machine in words and tables.
pub(crate) fn describe(machine: &Machine) -> String {
    let Machine { name, date, provenance, costs } = machine;
    let mut text = format!(
        "name        {name}\ndate        {date}\nprovenance  {provenance}\nprocesses   {}\n",
        processors(costs)
    );
    match costs {
        Costs::Homogeneous(costs) => text.push_str(&homogeneous(costs)),
        Costs::Matrix(costs) => text.push_str(&matrix(costs)),
        Costs::Hierarchical(costs) => text.push_str(&hierarchical(costs)),
    }
    text
}

fn processors(costs: &Costs) -> String {
    match costs {
        Costs::Homogeneous(_) => "any number".to_owned(),
        Costs::Matrix(matrix) => matrix.size().to_string(),
        Costs::Hierarchical(hierarchy) => {
            let inner = &hierarchy.levels()[0];
            let count = match hierarchy.placement() {
                Placement::Listed(nodes) => nodes.len().to_string(),
                Placement::Block | Placement::RoundRobin => {
                    format!("up to {}", hierarchy.capacity())
                }
            };
            format!(
                "{count}; {} x {} with room for {} each, {} placement",
                hierarchy.nodes(),
                inner.name,
                inner.members,
                hierarchy.placement().name()
            )
        }
    }
}

/// The headings of a line of costs, and its cells.
const COSTS: [&str; 4] = ["alpha", "beta", "1 KiB", "1 MiB"];

/// The cells of a piece that holds for messages of less than `until` bytes.
fn costs(Piece { from_bytes, alpha, beta }: Piece, until: u64) -> [String; 4] {
    let message = |bytes: u32| match (from_bytes..until).contains(&u64::from(bytes)) {
        true => seconds(alpha + beta * f64::from(bytes)),
        false => "-".to_owned(),
    };
    [seconds(alpha), per_byte(beta), message(1 << 10), message(1 << 20)]
}

fn homogeneous(parameters: &Homogeneous) -> String {
    let mut table = text::table(&[&["links"], &COSTS[..]].concat());
    let link = Piece { from_bytes: 0, alpha: parameters.alpha(), beta: parameters.beta() };
    table.add_row([vec!["all pairs".to_owned()], costs(link, u64::MAX).into()].concat());
    format!("copies      {}\n\n{}\n", per_byte(parameters.gamma()), table.trim_fmt())
}

fn hierarchical(hierarchy: &Hierarchy) -> String {
    let mut table = text::table(&[&["level", "members", "from bytes"], &COSTS[..]].concat());
    for level in hierarchy.levels() {
        let pieces = level.links.pieces();
        for (index, &piece) in pieces.iter().enumerate() {
            let until = pieces.get(index + 1).map_or(u64::MAX, |next| next.from_bytes);
            let (name, members) = match index {
                0 => (level.name.clone(), level.members.to_string()),
                _ => Default::default(),
            };
            let first = vec![name, members, piece.from_bytes.to_string()];
            table.add_row([first, costs(piece, until).into()].concat());
        }
    }
    format!("copies      {}\n\n{}\n", per_byte(hierarchy.gamma()), table.trim_fmt())
}

/// The most processors whose latencies are printed one by one.
const MOST_PRINTED: usize = 12;

fn matrix(matrix: &CostMatrix) -> String {
    let ranks = || 0..matrix.size();
    let pairs = || ranks().flat_map(move |one| ranks().map(move |other| (one, other)));
    let linked = || pairs().filter(|&(one, other)| matrix.is_linked(one, other));
    let range = |values: &mut dyn Iterator<Item = f64>, unit: fn(f64) -> String| {
        let (least, most) = values.fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
        match least {
            _ if least > most => "none".to_owned(),
            _ if least == most => unit(least),
            _ => format!("{} to {}", unit(least), unit(most)),
        }
    };
    let missing = matrix.size() * (matrix.size() - 1) - linked().count();
    let symmetric = pairs().all(|(one, other)| {
        let link = |one: Rank, other: Rank| (matrix.alpha(one, other), matrix.beta(one, other));
        link(one, other) == link(other, one)
    });
    let mut text = String::new();
    let copies = range(&mut ranks().map(|rank| matrix.gamma(rank)), per_byte);
    let alphas = range(&mut linked().map(|(one, other)| matrix.alpha(one, other)), seconds);
    let betas = range(&mut linked().map(|(one, other)| matrix.beta(one, other)), per_byte);
    let way = if symmetric { "the same both ways" } else { "not the same both ways" };
    let _ = writeln!(text, "copies      {copies}");
    let _ =
        writeln!(text, "links       {} of {}, {way}", linked().count(), linked().count() + missing);
    let _ = writeln!(text, "alpha       {alphas}\nbeta        {betas}");
    if matrix.size() <= MOST_PRINTED {
        let _ = writeln!(text, "\n{}", latencies(matrix).trim_fmt());
    }
    text
}

/// The alphas of all pairs.
fn latencies(matrix: &CostMatrix) -> comfy_table::Table {
    let ranks = || 0..matrix.size();
    let to: Vec<String> = ranks().map(|rank| format!("to {rank}")).collect();
    let headings: Vec<&str> = ["alpha"].into_iter().chain(to.iter().map(String::as_str)).collect();
    let mut table = text::table(&headings);
    for sender in ranks() {
        let mut row = vec![format!("from {sender}")];
        row.extend(ranks().map(|receiver| {
            match (sender == receiver, matrix.is_linked(sender, receiver)) {
                (true, _) => "-".to_owned(),
                (false, true) => seconds(matrix.alpha(sender, receiver)),
                (false, false) => "no link".to_owned(),
            }
        }));
        table.add_row(row);
    }
    table
}
