//! Whether the judge agrees with the simulator, and whether what is recommended is fast there.

use super::floods;
use super::platform::{Overheads, Platform};
use super::problems::Sizes;
use super::runs::{Bytes, Candidate, seconds};
use crate::program::folder;
use std::fmt;
use std::path::Path;
use tuwtree_model::document::Machine;
use tuwtree_model::{ClosedSet, Operation, Order, Problem, StatedCosts};
use tuwtree_plan::{Comparison, Effort, Library, Request, Settings, compare};

/// A tree or the library in one problem.
#[derive(Clone, Debug)]
struct TrialOutcome {
    name: String,
    /// Seconds: by the planner (NaN for the library), by the judge, in the simulator.
    planned: f64,
    judged: f64,
    simulated: f64,
}

/// A problem, and all that was compared.
#[derive(Clone, Debug)]
struct Case {
    name: String,
    library: TrialOutcome,
    /// In rank order.
    trees: Vec<TrialOutcome>,
    /// Which of the trees is recommended.
    recommended: usize,
    /// The factor by which a choice is faster than the library by the judge.
    enough: f64,
}

/// All problems of one kind on one platform.
#[derive(Clone, Debug)]
pub(super) struct Experiment {
    name: String,
    cases: Vec<Case>,
}

/// The machine as floods measure it, with its document in a folder.
fn measure(platform: &Platform, overheads: Overheads, folder: &Path) -> StatedCosts {
    let document = floods::machine(platform, overheads, folder);
    let text = serde_json::to_string_pretty(&document).unwrap();
    std::fs::write(folder.join("machine.json"), &text).unwrap();
    serde_json::from_str::<Machine>(&text).expect("a machine").into()
}

/// Gathers and scatters these problems, prints how judge and choices did, and fails unless the judge is
/// within 5 % from the 10 % to the 90 % quantile, and the choice is within 5 % of the fastest in 47 of 50
/// and never more than 3 % slower than the library. The choice is what is recommended.
pub(super) fn agree(platform: &Platform, overheads: Overheads, problems: &[Sizes]) {
    for one in is_never_slower(platform, overheads, problems) {
        for [low, _, high] in [one.library(), one.chosen(), one.trees()] {
            assert!(low >= 0.95 && high <= 1.05, "{one}");
        }
        assert!(50 * one.good_choices() >= 47 * one.len(), "{one}");
    }
}

/// Gathers and scatters these problems, prints how judge and choices did, and fails if a choice is more than 3 % slower than the
/// library.
pub(super) fn is_never_slower(
    platform: &Platform,
    overheads: Overheads,
    problems: &[Sizes],
) -> [Experiment; 2] {
    let ranks = problems[0].ranks;
    let folder = folder(&format!("network-{}-{ranks}-{overheads:?}", platform.name));
    let costs = measure(platform, overheads, &folder);
    let experiments = [Operation::Gather, Operation::Scatter]
        .map(|operation| run(platform, overheads, operation, problems, &costs, &folder));
    let [gather, scatter] = &experiments;
    println!("{}\n{gather}{scatter}", Experiment::HEAD);
    for one in &experiments {
        assert!(one.worst_against_library() <= 1.03, "{one}");
    }
    experiments
}

/// Compares all ordered trees and the library in these problems; the costs are those measured.
fn run(
    platform: &Platform,
    overheads: Overheads,
    operation: Operation,
    problems: &[Sizes],
    costs: &StatedCosts,
    folder: &Path,
) -> Experiment {
    let problems: Vec<(String, Problem)> =
        problems.iter().map(|sizes| (sizes.name(), sizes.problem(operation, costs))).collect();
    let comparisons: Vec<Comparison> =
        problems.iter().map(|(_, problem)| comparison(problem)).collect();
    let cases: Vec<(&Problem, Vec<Candidate<'_>>)> = problems
        .iter()
        .zip(&comparisons)
        .map(|((_, problem), comparison)| {
            let trees =
                comparison.outcomes.iter().map(|outcome| Candidate::Along(outcome.tree().unwrap()));
            (problem, std::iter::once(Candidate::Library).chain(trees).collect())
        })
        .collect();
    let times = seconds(platform, overheads, folder, &cases, Bytes::NotChecked);
    let ranks = problems[0].1.ranks();
    let cases = problems
        .iter()
        .zip(&comparisons)
        .zip(&times)
        .map(|(((name, _), comparison), times)| case(name, comparison, times))
        .collect();
    let name =
        format!("{} {ranks} {}, overheads {}", platform.name, operation.name(), overheads.name());
    Experiment { name, cases }
}

/// All trees in rank order that `tuwtree optimize` would build.
fn comparison(problem: &Problem) -> Comparison {
    let settings = Settings { library: Some(Library::Smpi), ..Settings::default() };
    let request = Request::new(problem, settings, &());
    let wanted = request.suitable(Order::Ordered, Effort::Moderate);
    let mut comparison = compare(&request, &wanted, false).unwrap();
    comparison.outcomes.retain(|outcome| outcome.order == Order::Ordered);
    comparison
}

fn case(name: &str, comparison: &Comparison, times: &[f64]) -> Case {
    let tree = |(one, &simulated): (&tuwtree_plan::Outcome, &f64)| TrialOutcome {
        name: one.construction.name().to_owned(),
        planned: one.planned.units(),
        judged: one.time().units(),
        simulated,
    };
    let trees = comparison.outcomes.iter().zip(&times[1..]).map(tree).collect();
    let recommended = comparison.recommended();
    let judged = comparison.baseline().expect("SMPI's own call").time;
    let is_recommended = |one: &tuwtree_plan::Outcome| std::ptr::eq(one, recommended);
    let recommended = comparison.outcomes.iter().position(is_recommended);
    let library = TrialOutcome {
        name: "library".to_owned(),
        planned: f64::NAN,
        judged: judged.units(),
        simulated: times[0],
    };
    let recommended = recommended.expect("it is one of the outcomes");
    let enough = comparison.problem.stated_costs().network().uncertainty.unwrap_or(0.0);
    Case { name: name.to_owned(), library, trees, recommended, enough }
}

/// The 10 %, 50 % and 90 % quantiles of some ratios.
fn quantiles(ratios: impl Iterator<Item = f64>) -> [f64; 3] {
    let mut ratios: Vec<f64> = ratios.collect();
    ratios.sort_by(f64::total_cmp);
    [0.1, 0.5, 0.9].map(|share| ratios[((ratios.len() - 1) as f64 * share).round() as usize])
}

impl Case {
    /// What is recommended, or the library where the gain may be none.
    fn chosen(&self) -> &TrialOutcome {
        let best = &self.trees[self.recommended];
        if self.library.judged < self.enough * best.judged { &self.library } else { best }
    }

    /// The fastest in the simulator.
    fn fastest(&self) -> &TrialOutcome {
        let all = self.trees.iter().chain([&self.library]);
        all.min_by(|one, other| one.simulated.total_cmp(&other.simulated)).unwrap()
    }
}

impl Experiment {
    /// Judged over simulated times of the library: quantiles.
    fn library(&self) -> [f64; 3] {
        quantiles(self.cases.iter().map(|case| case.library.judged / case.library.simulated))
    }

    /// Judged over simulated times of what is recommended: quantiles.
    fn chosen(&self) -> [f64; 3] {
        quantiles(self.cases.iter().map(|case| case.chosen().judged / case.chosen().simulated))
    }

    /// Judged over simulated times of all trees: quantiles.
    fn trees(&self) -> [f64; 3] {
        let trees = self.cases.iter().flat_map(|case| &case.trees);
        quantiles(trees.map(|tree| tree.judged / tree.simulated))
    }

    /// Planned over simulated times of what is recommended: quantiles.
    fn planned(&self) -> [f64; 3] {
        let planned = self.cases.iter().map(Case::chosen).filter(|one| !one.planned.is_nan());
        quantiles(planned.map(|one| one.planned / one.simulated))
    }

    /// In how many problems what is recommended is within 5 % of the fastest simulated.
    fn good_choices(&self) -> usize {
        let is_good = |case: &&Case| case.chosen().simulated <= 1.05 * case.fastest().simulated;
        self.cases.iter().filter(is_good).count()
    }

    /// The problems.
    fn len(&self) -> usize {
        self.cases.len()
    }

    /// The most that what is recommended takes, as a multiple of the library's time.
    fn worst_against_library(&self) -> f64 {
        let ratios = self.cases.iter().map(|case| case.chosen().simulated / case.library.simulated);
        ratios.fold(0.0, f64::max)
    }

    /// Time over the library's: the geometric mean.
    fn gain(&self) -> f64 {
        let logarithms =
            self.cases.iter().map(|case| (case.chosen().simulated / case.library.simulated).ln());
        (logarithms.sum::<f64>() / self.len() as f64).exp()
    }

    /// The head of a table of experiments.
    const HEAD: &str = "\
| | judge: library | judge: chosen | judge: all trees | planner: chosen | within 5 % | time / library | at most |
|---|---|---|---|---|---|---|---|";
}

/// A row of the table, then a line for each problem in which the choice is not good, or the judge
/// more than 5 % off.
impl fmt::Display for Experiment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let three = |[low, middle, high]: [f64; 3]| format!("{low:.3} {middle:.3} {high:.3}");
        writeln!(
            formatter,
            "| {} | {} | {} | {} | {} | {} of {} | {:.3} | {:.3} |",
            self.name,
            three(self.library()),
            three(self.chosen()),
            three(self.trees()),
            three(self.planned()),
            self.good_choices(),
            self.len(),
            self.gain(),
            self.worst_against_library()
        )?;
        for case in &self.cases {
            let (chosen, fastest) = (case.chosen(), case.fastest());
            if chosen.simulated > 1.05 * fastest.simulated {
                writeln!(
                    formatter,
                    "{}: {} takes {:.3e} s (judged {:.3e}), {} {:.3e} (judged {:.3e})",
                    case.name,
                    chosen.name,
                    chosen.simulated,
                    chosen.judged,
                    fastest.name,
                    fastest.simulated,
                    fastest.judged
                )?;
            }
            let library = &case.library;
            if chosen.simulated > 1.03 * library.simulated {
                writeln!(
                    formatter,
                    "{}: {} takes {:.2} of the library's time, judged {:.2}",
                    case.name,
                    chosen.name,
                    chosen.simulated / library.simulated,
                    chosen.judged / library.judged
                )?;
            }
            for one in case.trees.iter().chain([library]) {
                if (one.judged / one.simulated - 1.0).abs() > 0.05 {
                    writeln!(
                        formatter,
                        "{}: {} is judged {:.3} of the simulated time, planned {:.3}",
                        case.name,
                        one.name,
                        one.judged / one.simulated,
                        one.planned / one.simulated
                    )?;
                }
            }
        }
        Ok(())
    }
}
