//! A page that shows constructions side by side: one file, no network, for a browser.
//!
//! Trees are SVG, three times each, with few, some and many rows; timelines are lists of bars that
//! the page's script draws. For many processes the lists are summed up as in [`TimelinePicture`],
//! so that the page stays small.
//!
//! [`TimelinePicture`]: crate::TimelinePicture

use crate::frame::{PictureStyle, style};
use crate::labels::{self, Unit};
use crate::messages::{Performance, direction};
use crate::palette::Colouring;
use crate::svg::Px;
use crate::timeline::{BarKind, TimelineRow, bars, critical_actions, rows, shared};
use crate::tree::{TreePicture, legend::key};
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment};
use serde::{Serialize, Serializer};
use tuwtree_model::{ClosedSet, LARGEST_EXACT, Operation, Rank, Time, Tree};
use tuwtree_schedule::Held;

/// A page about a problem and trees for it.
#[derive(Debug)]
pub struct Report<'a> {
    /// The problem, in a line.
    pub title: String,
    /// The given facts: names and values.
    pub facts: Vec<(String, String)>,
    /// Sentences that stand below the facts, a paragraph each.
    pub notes: Vec<String>,
    /// The headings of the table; the first one is that of the constructions' names.
    pub columns: Vec<String>,
    /// A lower bound on all completion times.
    pub bound: Time,
    /// At least one construction.
    pub candidates: Vec<Candidate<'a>>,
    /// The index of the recommended one.
    pub recommended: usize,
    /// The version of the program that asks.
    pub version: &'a str,
}

/// A construction's tree, and what there is to say about it.
#[derive(Debug)]
pub struct Candidate<'a> {
    /// The name of the construction.
    pub name: String,
    /// The construction in a line.
    pub summary: String,
    /// The tree that the construction built, if there is one.
    pub tree: Option<&'a Tree>,
    /// The schedule along the tree, and its times.
    pub performance: Performance<'a>,
    /// Completion time, by the judge where latency overlaps.
    pub time: Time,
    /// The cells of its row in the table, without its name.
    pub cells: Vec<String>,
}

/// A page that cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The template does not work; a fault of this program.
    #[error("the report cannot be made: {0}")]
    Template(#[from] minijinja::Error),
    /// The data cannot be written; a fault of this program.
    #[error("the report's data cannot be written: {0}")]
    Data(#[from] serde_json::Error),
}

const PAGE: &str = include_str!("page.html");
/// Style sheet of all pages, in both colour schemes.
pub(crate) const BASE: &str = include_str!("base.css");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");
const WATCH: &str = include_str!("watch.js");

/// The rows of the trees with few, some and many of them.
const DETAIL: [usize; 3] = [12, 40, 160];
/// The levels of trees on pages.
const DEPTH: usize = 12;
/// Up to this many processes, each has a row of its own in timelines: with more, bars would be hairlines.
const MOST_ROWS: usize = 100;
/// The rows of timelines of more processes.
const SUMMED_ROWS: usize = 64;
/// Steps in time of rows that several processes share.
const CELLS: usize = 300;
/// Constructions that take more than this many times as long as the recommended one have no pictures at first.
const MOST_TIMES: f64 = 2.0;

/// The page, as the template wants it.
#[derive(Serialize)]
struct PageView<'a> {
    title: &'a str,
    facts: &'a [(String, String)],
    notes: &'a [String],
    columns: &'a [String],
    candidates: Vec<CandidateView<'a>>,
    colourings: Vec<ColouringView>,
    has_trees: bool,
    /// Explanation of the trees.
    reading: String,
    has_exchanges: bool,
    combines_copies: bool,
    has_latency: bool,
    has_shared: bool,
    version: &'a str,
    unit: &'static str,
    style: String,
    watch: &'static str,
    script: &'static str,
    data: String,
}

/// A colouring of trees, as the template wants it.
#[derive(Serialize)]
struct ColouringView {
    name: &'static str,
    /// Colours and their meanings.
    key: Vec<(&'static str, String)>,
}

/// A row of the table with its pictures, as the template wants it.
#[derive(Serialize)]
struct CandidateView<'a> {
    name: &'a str,
    summary: &'a str,
    cells: &'a [String],
    time: String,
    recommended: bool,
    /// True if its pictures are shown at first.
    shown: bool,
    trees: Vec<String>,
    bound_percent: String,
    above_percent: String,
    bar_label: String,
    timeline_label: String,
}

/// Data for the page's script.
#[derive(Serialize)]
struct Data {
    detail: [usize; 3],
    /// True if times are seconds.
    in_seconds: bool,
    bound: Number,
    timelines: Vec<TimelineData>,
}

/// A timeline: bars in columns, row by row.
#[derive(Serialize)]
struct TimelineData {
    ranks: usize,
    /// Number of lanes of a row: ports, or sides of them.
    ports: u32,
    end: Number,
    /// The first rank of each row, unless each rank has a row.
    #[serde(skip_serializing_if = "Option::is_none")]
    starts: Option<Vec<Rank>>,
    /// Number of bars in each row.
    counts: Vec<usize>,
    /// A letter for each bar.
    kinds: String,
    from: Vec<Number>,
    to: Vec<Number>,
    /// The other rank; -1 if there is none.
    peers: Vec<i64>,
    /// Bytes; in rows of several processes, the share of busy ones in tenths.
    bytes: Vec<u64>,
    /// The port, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<Vec<u32>>,
}

/// A number that is written without a fraction where it has none.
struct Number(f64);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.fract() == 0.0 && (0.0..=LARGEST_EXACT as f64).contains(&self.0) {
            true => serializer.serialize_u64(self.0 as u64),
            false => serializer.serialize_f64(self.0),
        }
    }
}

impl Report<'_> {
    /// The page as HTML.
    ///
    /// # Errors
    /// None but faults of this crate.
    ///
    /// # Complexity
    /// O(n + p log p) for n actions of p processes; at most a few hundred kB for each candidate.
    pub fn html(&self) -> Result<String, ReportError> {
        let order = self.order();
        let timelines: Vec<TimelineData> = order
            .iter()
            .map(|&index| TimelineData::new(self.candidates[index].performance))
            .collect();
        let all_kinds = |letter: char| {
            timelines.iter().any(|one| one.kinds.to_ascii_lowercase().contains(letter))
        };
        let [has_exchanges, combines_copies, has_latency, has_shared] =
            ['x', 'm', 'l', 'g'].map(all_kinds);
        let in_seconds =
            self.candidates.iter().any(|one| one.performance.costs.unit() == Unit::Seconds);
        let data = serde_json::to_string(&Data {
            detail: DETAIL,
            in_seconds,
            bound: Number(self.bound.units()),
            timelines,
        })?;
        let view = PageView {
            title: &self.title,
            facts: &self.facts,
            notes: &self.notes,
            columns: &self.columns,
            candidates: order.iter().map(|&index| self.view(index)).collect(),
            colourings: Colouring::all()
                .map(|one| ColouringView { name: one.name(), key: key(one) })
                .collect(),
            has_trees: self.candidates.iter().any(|one| one.tree.is_some()),
            reading: self.reading(),
            has_exchanges,
            combines_copies,
            has_latency,
            has_shared,
            version: self.version,
            unit: self.candidates.first().map_or("", |one| one.performance.costs.unit().name()),
            style: format!("{}{BASE}{STYLE}", style()),
            watch: WATCH,
            script: SCRIPT,
            // The only character with which a script element could end before its time.
            data: data.replace('<', "\\u003c"),
        };
        let mut templates = Environment::empty();
        templates.set_auto_escape_callback(|_| AutoEscape::Html);
        templates.add_filter("safe", |text: String| minijinja::Value::from_safe_string(text));
        Ok(templates.template_from_named_str("page.html", PAGE)?.render(Serde(&view))?)
    }

    /// The indices of the candidates as the page has them: the recommended one, then the others by their
    /// completion times.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.candidates.len()).collect();
        order.sort_by(|&one, &other| {
            let is_other = |index: usize| index != self.recommended;
            is_other(one).cmp(&is_other(other)).then(self.end(one).total_cmp(&self.end(other)))
        });
        order
    }

    /// Completion time of a candidate, in the units of its costs.
    fn end(&self, index: usize) -> f64 {
        self.candidates[index].time.units()
    }

    fn reading(&self) -> String {
        let operation =
            self.candidates.first().map(|one| one.performance.schedule.task().operation);
        format!(
            "In trees, messages go from {}; lines are as wide as messages are large, and children \
             are listed in the order of their messages.",
            direction(operation.unwrap_or(Operation::Gather))
        )
    }

    fn view(&self, index: usize) -> CandidateView<'_> {
        let one = &self.candidates[index];
        let unit = one.performance.costs.unit();
        let timeline = one.performance.timeline;
        let time = one.time;
        let longest = (0..self.candidates.len()).map(|one| self.end(one)).fold(0.0, f64::max);
        let percent = |time: f64| if longest > 0.0 { 100.0 * time / longest } else { 0.0 };
        let bound = self.bound.units().min(time.units());
        let drawn = |tree, rows| {
            TreePicture::new(tree, Some(one.performance))
                .named(&one.name)
                .within(rows, DEPTH)
                .drawn(PictureStyle::InPage)
        };
        CandidateView {
            name: &one.name,
            summary: &one.summary,
            cells: &one.cells,
            time: unit.time(time),
            recommended: index == self.recommended,
            shown: self.end(index) <= MOST_TIMES * self.end(self.recommended),
            trees: one
                .tree
                .into_iter()
                .flat_map(|tree| DETAIL.map(|rows| drawn(tree, rows)))
                .collect(),
            bound_percent: Px(percent(bound)).to_string(),
            above_percent: Px(percent(time.units() - bound)).to_string(),
            bar_label: format!(
                "{}: completion time {}, lower bound {}",
                one.name,
                unit.time(time),
                unit.time(self.bound)
            ),
            timeline_label: format!(
                "Timeline of {}: {} until {}; {} actions on the critical path",
                one.name,
                labels::ranks(one.performance.schedule.ranks()),
                unit.time(time),
                timeline.critical_path().len()
            ),
        }
    }
}

impl TimelineData {
    fn new(performance: Performance<'_>) -> TimelineData {
        let Performance { schedule, timeline, .. } = performance;
        let ranks = schedule.ranks();
        let is_summed = ranks > MOST_ROWS;
        let rows = rows(performance, if is_summed { SUMMED_ROWS } else { MOST_ROWS });
        let ports = schedule.task().lanes();
        let mut data = TimelineData {
            ranks,
            ports,
            end: Number(timeline.completion_time().units()),
            starts: is_summed.then(|| rows.iter().map(|row| *row.ranks().start()).collect()),
            counts: Vec::with_capacity(rows.len()),
            kinds: String::new(),
            from: Vec::new(),
            to: Vec::new(),
            peers: Vec::new(),
            bytes: Vec::new(),
            port: (ports > 1).then(Vec::new),
        };
        let critical = critical_actions(performance);
        for row in rows {
            let before = data.from.len();
            match row {
                TimelineRow::One(rank) => data.push_bars(performance, rank, &critical[rank]),
                TimelineRow::Several(first, last) => data.push_shared(performance, first, last),
            }
            data.counts.push(data.from.len() - before);
        }
        data
    }

    fn push_bars(&mut self, performance: Performance<'_>, rank: Rank, critical: &[(usize, Held)]) {
        for bar in bars(performance, rank, critical) {
            let letter = match bar.kind {
                BarKind::Send => 's',
                BarKind::Receive => 'r',
                BarKind::Exchange => 'x',
                BarKind::Copy => 'c',
                BarKind::Combine => 'm',
                BarKind::Wait => 'w',
                BarKind::Latency => 'l',
            };
            let letter = if bar.is_critical { letter.to_ascii_uppercase() } else { letter };
            let peer = bar.to.or(bar.from).map_or(-1, |peer| peer as i64);
            self.push(letter, bar.start, bar.end, peer, bar.bytes, bar.lane);
        }
    }

    fn push_shared(&mut self, performance: Performance<'_>, first: Rank, last: Rank) {
        for stretch in shared(performance, first, last, CELLS) {
            self.push('g', stretch.start, stretch.end, -1, stretch.tenths.into(), 0);
        }
    }

    fn push(&mut self, letter: char, from: f64, to: f64, peer: i64, bytes: u64, port: u32) {
        self.kinds.push(letter);
        self.from.push(Number(from));
        self.to.push(Number(to));
        self.peers.push(peer);
        self.bytes.push(bytes);
        if let Some(ports) = &mut self.port {
            ports.push(port);
        }
    }
}
