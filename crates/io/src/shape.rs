//! Machines known by shape only: hostfiles, and hwloc's XML of one node.
//!
//! A hostfile gives the number of processes of each node: `node1 slots=16` (Open MPI), `node1:16` (MPICH), or a line
//! for each process (PBS). A topology of hwloc (`lstopo --of xml`) gives the number of cores of each package of a node.
//! Neither has costs of messages: the costs are those of common machines, and the provenance says so.
//!
//! # Source
//! Open MPI's manual page mpirun(1), "Hostfile"; the Hydra process manager's `-f`; hwloc 2's `hwloc2.dtd`.

use crate::assumed;
use roxmltree::Node;
use std::collections::HashMap;
use std::iter;
use tuwtree_model::document::Machine;
use tuwtree_model::{
    Costs, Hierarchy, Level, LinkLaw, MOST_RANKS, Network, Piece, PiecewiseLinear, Placement,
};

/// The most processes in groups of several sizes, each of which is listed.
const MOST_LISTED: usize = 1 << 20;

/// Alpha in seconds and beta in seconds per byte of messages on one package, on one node, and between nodes.
const PACKAGE: (f64, f64) = (3e-7, 1e-10);
const NODE: (f64, f64) = (6e-7, 2e-10);
const BETWEEN_NODES: (f64, f64) = (1.5e-6, 2.5e-10);

/// A level: its name, and the alpha and beta of its messages.
type Named = (&'static str, (f64, f64));

/// True if a text is a hostfile: its first line has slots, or all of several lines are only names.
pub(crate) fn is_hostfile(text: &str) -> bool {
    let mut lines = lines(text).map(|(_, line)| line).peekable();
    let Some(first) = lines.peek() else { return false };
    let is_name = |word: &str| {
        word.starts_with(|first: char| first.is_ascii_alphanumeric())
            && word.chars().all(|one| one.is_ascii_alphanumeric() || "-_.".contains(one))
    };
    let (name, rest) = first.split_once([' ', '\t', ':']).unwrap_or((first, ""));
    match rest.trim_start() {
        "" => is_name(first) && lines.clone().count() > 1 && lines.all(is_name),
        rest => {
            let has_slots =
                rest.starts_with("slots") || first.contains(':') && !rest.contains(['=', '"']);
            is_name(name) && has_slots
        }
    }
}

/// The machine whose nodes a hostfile lists.
///
/// # Errors
/// A line that is none of a hostfile, too many processes.
pub(crate) fn of_hostfile(text: &str) -> Result<Machine, String> {
    let mut nodes: Vec<usize> = Vec::new();
    let mut known: HashMap<&str, usize> = HashMap::new();
    for (line, content) in lines(text) {
        let (name, rest) = content.split_once([' ', '\t', ':']).unwrap_or((content, ""));
        let slots = slots(rest.trim(), content.contains(':')).ok_or_else(|| {
            format!("line {line}: {content:?}; NAME, NAME slots=16 or NAME:16 is needed, of at least 1 slot")
        })?;
        let node = *known.entry(name).or_insert(nodes.len());
        match nodes.get_mut(node) {
            Some(all) => *all = all.saturating_add(slots),
            None => nodes.push(slots),
        }
    }
    machine("Hostfile", &nodes, [("node", NODE), ("network", BETWEEN_NODES)])
}

/// The machine of a process on each core of the node that hwloc describes.
///
/// # Errors
/// No cores.
pub(crate) fn of_topology(root: Node<'_, '_>) -> Result<Machine, String> {
    /// End of its text, and numbers of its cores and processing units.
    type Package = (usize, usize, usize);
    // What is in no package comes first.
    let mut packages: Vec<Package> = vec![(usize::MAX, 0, 0)];
    for object in root.descendants() {
        let end = object.range().end;
        let kind = object.attribute("type").unwrap_or("");
        // Before version 2, packages were called sockets.
        if ["Package", "Socket"].contains(&kind) {
            packages.push((end, 0, 0));
        }
        let at = packages.len() - 1;
        let inside = if end <= packages[at].0 { at } else { 0 };
        packages[inside].1 += usize::from(kind == "Core");
        packages[inside].2 += usize::from(kind == "PU");
    }
    let processes = |&(_, cores, units): &Package| if cores > 0 { cores } else { units };
    let packages: Vec<usize> = packages.iter().map(processes).filter(|&count| count > 0).collect();
    if packages.is_empty() {
        return Err(
            "the <topology> has no object of type Core or PU; one at least is needed".into()
        );
    }
    machine("Node", &packages, [("package", PACKAGE), ("node", NODE)])
}

/// A machine of groups of these numbers of processes.
fn machine(name: &str, groups: &[usize], [inner, outer]: [Named; 2]) -> Result<Machine, String> {
    let largest = groups.iter().copied().max().unwrap_or(0);
    let is_even = groups.iter().all(|&group| group == largest);
    let most = if is_even { MOST_RANKS } else { MOST_LISTED };
    let processes = groups.iter().fold(0, |sum: usize, &group| sum.saturating_add(group));
    if processes > most {
        return Err(format!(
            "{processes} processes; at most {most} are allowed, on groups of one size {MOST_RANKS}"
        ));
    }
    let placement = match is_even {
        true => Placement::Block,
        false => Placement::Listed(
            groups.iter().enumerate().flat_map(|(at, &group)| iter::repeat_n(at, group)).collect(),
        ),
    };
    let mut levels = vec![level(inner, largest)?];
    if groups.len() > 1 {
        levels.push(level(outer, groups.len())?);
    }
    let costs =
        Hierarchy::new(levels, placement, assumed::COPY).map_err(|error| error.to_string())?;
    Ok(Machine {
        name: name.into(),
        date: assumed::day(),
        provenance: format!(
            "Only the shape is known. Assumed: all costs, as of common machines, and copies at 10 GB/s; measure \
             them, or put those of benchmarks in their place. There is no date; {} stands for it",
            assumed::UNDATED
        ),
        costs: Costs::Hierarchical(costs),
        network: Network::default(),
        combine_per_byte: 0.0,
    })
}

fn level((name, (alpha, beta)): Named, members: usize) -> Result<Level, String> {
    let law = PiecewiseLinear::new(vec![Piece::one_port(0, alpha, beta)]);
    let links = LinkLaw::Pieces(law.map_err(|error| error.to_string())?);
    Ok(Level { name: name.to_owned(), members, links })
}

/// Content of lines, without comments and empty ones.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> + Clone {
    let lines = (1..).zip(text.lines());
    let lines = lines.map(|(line, text)| (line, text.split('#').next().unwrap_or("").trim()));
    lines.filter(|(_, text)| !text.is_empty())
}

/// Number of slots behind a name: one if nothing is there.
fn slots(text: &str, is_colon: bool) -> Option<usize> {
    let digits = match text {
        "" if !is_colon => return Some(1),
        text if is_colon => text.split_whitespace().next()?,
        text => {
            let value = text.strip_prefix("slots")?.trim_start().strip_prefix('=')?;
            value.split_whitespace().next()?
        }
    };
    digits.parse().ok().filter(|&slots| slots > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostfiles_of_all_kinds_say_how_many_processes_nodes_have() {
        for (text, nodes, room) in [
            ("a slots=4\nb slots=4 max_slots=8 # two\n", 2, 8),
            ("# all\na.local:2\nb.local:3\n", 2, 5),
            ("a\nb\na\n", 2, 3),
            ("a slots = 7\n", 1, 7),
        ] {
            assert!(is_hostfile(text), "{text}");
            let machine = of_hostfile(text).unwrap();
            assert_eq!(machine.costs.room(), Some(room), "{text}");
            assert_eq!(machine.costs.hierarchy().unwrap().nodes(), nodes, "{text}");
        }
        for text in
            ["", "word", "a = 1\n", "name: \"x\"", "[a]\nb\n", "a b\n", "two words\nand more\n"]
        {
            assert!(!is_hostfile(text), "{text}");
        }
    }

    #[test]
    fn lines_that_are_none_of_a_hostfile_are_refused() {
        for (text, message) in [
            ("a slots=4\nb slots=0\n", "line 2: \"b slots=0\""),
            ("a slots=4\nb cores=4\n", "line 2: \"b cores=4\"; NAME"),
            ("a:4\nb:x\n", "line 2: \"b:x\""),
            ("a:99999999\nb:3", "100000002 processes; at most 1048576"),
        ] {
            assert!(is_hostfile(text), "{text}");
            let error = of_hostfile(text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }

    #[test]
    fn a_process_is_on_each_core_of_each_package() {
        let object =
            |name: &str, inside: &str| format!("<object type=\"{name}\">{inside}</object>");
        let core = object("Core", &object("PU", "").repeat(2));
        let room = |text: &str| {
            let text = format!("<topology>{}</topology>", object("Machine", text));
            let document = roxmltree::Document::parse(&text).unwrap();
            let machine = of_topology(document.root_element());
            machine
                .map(|machine| (machine.costs.room(), machine.costs.hierarchy().unwrap().nodes()))
        };
        let package = object("Package", &core.repeat(3));
        assert_eq!(room(&package.repeat(2)), Ok((Some(6), 2)));
        assert_eq!(room(&(package + &object("Package", &core))), Ok((Some(4), 2)));
        assert_eq!(room(&core), Ok((Some(1), 1)));
        assert!(room("").unwrap_err().contains("no object of type Core"));
    }
}
