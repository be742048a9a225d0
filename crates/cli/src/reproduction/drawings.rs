//! Drawings of the papers' figures, from the trees and schedules that have their numbers.

use crate::error::CliError;
use std::path::Path;
use std::sync::Arc;
use tuwtree_io::Destination;
use tuwtree_model::{Homogeneous, Problem, StatedCosts, Tree};
use tuwtree_picture::{Performance, TimelinePicture, TreePicture};
use tuwtree_schedule::{Schedule, perform};

/// Content of a figure.
pub(crate) enum Drawn {
    Tree(Tree, Box<Problem>),
    /// Its timeline where each message and each byte takes 1.
    Schedule(Arc<Schedule>),
}

/// Most rows of a timeline; the figures have 13 at most.
const ROWS: usize = 64;

/// Writes an SVG for each numbered figure of a paper into a folder, which is made if it is not there.
///
/// # Errors
/// A folder or file that cannot be written.
pub(crate) fn write(paper: &str, figures: &[(u32, Drawn)], folder: &Path) -> Result<(), CliError> {
    std::fs::create_dir_all(folder)
        .map_err(|error| CliError::Failure(format!("{}: {error}", folder.display())))?;
    for (number, drawn) in figures {
        let file = folder.join(format!("{paper}-figure-{number}.svg"));
        let svg = svg(drawn, &format!("{paper}, figure {number}"));
        Destination::File(file).open()?.write(|file| file.write_all(svg.as_bytes()))?;
    }
    Ok(())
}

fn svg(drawn: &Drawn, heading: &str) -> String {
    let schedule = match drawn {
        Drawn::Tree(tree, problem) => {
            Arc::new(Schedule::of_tree(tree, problem).expect("a tree for its problem"))
        }
        Drawn::Schedule(schedule) => Arc::clone(schedule),
    };
    let costs = match drawn {
        Drawn::Tree(_, problem) => problem.stated_costs().clone(),
        Drawn::Schedule(_) => {
            StatedCosts::from(Homogeneous::new(1.0, 1.0, 0.0).expect("costs of 0 and 1"))
        }
    };
    let timeline = perform(&schedule, &costs).expect("the schedule ends");
    let performance = Performance { schedule: &schedule, timeline: &timeline, costs: &costs };
    match drawn {
        Drawn::Tree(tree, _) => TreePicture::new(tree, Some(performance)).named(heading).svg(),
        Drawn::Schedule(_) => TimelinePicture::new(performance).named(heading).within(ROWS).svg(),
    }
}
