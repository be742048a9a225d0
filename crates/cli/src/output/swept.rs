//! A sweep as a map: block sizes against numbers of processes.

use tuwtree_model::{ClosedSet, Construction, Order, quantity};
use tuwtree_picture::{RegionCell, RegionMap, RegionPanel};
use tuwtree_plan::{Advice, Comparison, Library, Outcome, catalogue};

/// Planning needed by a tree: the colours of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
enum Planning {
    Star,
    Online,
    Ordered,
    Direct,
    Any,
}

impl Planning {
    fn of(outcome: &Outcome) -> Planning {
        match outcome.order {
            _ if outcome.construction == Construction::Linear => Planning::Star,
            _ if catalogue::row(outcome.construction).is_online => Planning::Online,
            Order::Ordered => Planning::Ordered,
            Order::Direct => Planning::Direct,
            _ => Planning::Any,
        }
    }

    fn summary(self) -> &'static str {
        match self {
            Planning::Star => "linear: the star, as most libraries have it",
            Planning::Online => {
                "trees that ranks build online: oblivious, adaptive, deadline-online"
            }
            Planning::Ordered => "trees planned offline, in rank order",
            Planning::Direct => {
                "trees planned offline, in rank order but for what the root receives"
            }
            Planning::Any => "trees planned offline, no order kept",
        }
    }
}

/// A map's cell for one problem.
pub(crate) struct SweptCell {
    choice: usize,
    text: String,
    detail: String,
}

impl SweptCell {
    /// The simplest tree that is nearly as fast as the fastest, and how many times as long the library's own call takes;
    /// `None` if no library's time is known.
    pub(crate) fn of(comparison: &Comparison) -> Option<SweptCell> {
        let chosen = comparison.simplest();
        let library = comparison.baseline()?;
        let (of_library, of_tree) = (library.time.units(), chosen.unpacked.units());
        let gain = if of_tree > 0.0 { of_library / of_tree } else { 1.0 };
        let planning = Planning::of(chosen);
        let unit = comparison.problem.stated_costs().unit();
        Some(SweptCell {
            choice: Planning::all().position(|one| one == planning)?,
            text: short(gain),
            detail: format!(
                "{}: {}; {}: {}; lower bound {}",
                chosen.construction.name(),
                unit.time(chosen.unpacked),
                library.library.title(),
                unit.time(library.time),
                unit.time(comparison.bound)
            ),
        })
    }
}

/// A map of these columns, rows and panels; cells panel by panel, in each row by row.
pub(crate) struct SweptMap {
    /// Description of the map.
    pub(crate) lines: Vec<String>,
    /// The numbers of processes.
    pub(crate) ranks: Vec<u64>,
    /// The mean blocks.
    pub(crate) blocks: Vec<u64>,
    /// Labels of the panels.
    pub(crate) panels: Vec<String>,
    pub(crate) cells: Vec<SweptCell>,
}

impl SweptMap {
    pub(crate) fn drawn(self, library: Option<Library>) -> RegionMap {
        let count = self.ranks.len() * self.blocks.len();
        let mut cells = self.cells.into_iter().map(|one| {
            let SweptCell { choice, text, detail } = one;
            RegionCell { choice, text, detail }
        });
        let panels = self.panels.into_iter();
        let panels = panels
            .map(|title| RegionPanel { title, cells: cells.by_ref().take(count).collect() })
            .collect();
        let library = library.map_or("the fastest library's own call".to_owned(), |library| {
            format!("the own call of {}", library.title())
        });
        let mut lines = self.lines;
        lines.push(format!(
            "colour: the simplest kind of tree within {} % of the fastest",
            Advice::SIMPLER_PERCENT
        ));
        lines.push(format!("number: how many times as long as that {library} takes"));
        RegionMap {
            title: "Which tree pays where".to_owned(),
            lines,
            choices: Planning::all().map(|one| one.summary().to_owned()).collect(),
            columns: ("processes".into(), self.ranks.iter().map(u64::to_string).collect()),
            rows: (
                "mean block".into(),
                self.blocks.iter().map(|&one| quantity::bytes(one)).collect(),
            ),
            panels,
        }
    }
}

/// A ratio in a cell's width.
fn short(ratio: f64) -> String {
    if ratio < 9.95 { format!("{ratio:.2}") } else { format!("{ratio:.0}") }
}
