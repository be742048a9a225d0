//! Trees and the library's own operations, performed in the simulator (`trees.c`).

use super::platform::{Overheads, Platform};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use tuwtree_model::{ClosedSet, Problem, Root, Tree};

/// What gathers or scatters.
#[derive(Clone, Copy, Debug)]
pub(super) enum Candidate<'a> {
    /// `MPI_Gatherv` or `MPI_Scatterv`.
    Library,
    /// A tree whose subtrees are consecutive ranks, with all receives posted at first.
    Along(&'a Tree),
}

/// Whether every byte is looked at after each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bytes {
    Checked,
    NotChecked,
}

/// The seconds of all candidates of each problem; all problems have equally many ranks.
pub(super) fn seconds(
    platform: &Platform,
    overheads: Overheads,
    folder: &Path,
    cases: &[(&Problem, Vec<Candidate<'_>>)],
    bytes: Bytes,
) -> Vec<Vec<f64>> {
    let ranks = cases[0].0.ranks();
    let mut text = format!("{}\n", cases.len());
    for (problem, candidates) in cases {
        assert_eq!(problem.ranks(), ranks);
        write_problem(problem, candidates, &mut text);
    }
    fs::write(folder.join("problems.txt"), text).unwrap();
    let mut arguments = vec!["problems.txt".to_owned()];
    if bytes == Bytes::Checked {
        arguments.push("check".to_owned());
    }
    let lines = platform.run(folder, overheads, ranks, "trees", &arguments);
    let times: Vec<Vec<f64>> = lines
        .iter()
        .map(|line| line.split(' ').map(|time| time.parse().expect("seconds")).collect())
        .collect();
    let counts = |of: &[Vec<f64>]| of.iter().map(Vec::len).collect::<Vec<_>>();
    let expected: Vec<usize> = cases.iter().map(|(_, candidates)| candidates.len()).collect();
    assert_eq!(counts(&times), expected);
    times
}

fn write_problem(problem: &Problem, candidates: &[Candidate<'_>], text: &mut String) {
    let Root::Given(root) = problem.root() else { panic!("the root is given") };
    let blocks = problem.blocks().expect("blocks of different sizes");
    let _ = writeln!(text, "{} {root}", problem.operation().name());
    write_numbers(blocks.iter(), text);
    let _ = writeln!(text, "{}", candidates.len());
    for candidate in candidates {
        let Candidate::Along(tree) = candidate else {
            text.push_str("library\n");
            continue;
        };
        let mut parents = vec![root as u64; tree.ranks()];
        let mut places = vec![0; tree.ranks()];
        for rank in tree.top_down() {
            for (place, child) in tree.children(rank).enumerate() {
                (parents[child], places[child]) = (rank as u64, place as u64);
            }
        }
        text.push_str("tree\n");
        write_numbers(parents, text);
        write_numbers(places, text);
    }
}

fn write_numbers(numbers: impl IntoIterator<Item = u64>, text: &mut String) {
    let numbers: Vec<String> = numbers.into_iter().map(|number| number.to_string()).collect();
    let _ = writeln!(text, "{}", numbers.join(" "));
}
