//! A timeline as a picture: a row for each rank, a bar for each thing that it does.

mod bars;
mod rows;
mod shared;

use crate::frame::{MARGIN, PictureStyle, TEXT, draw_title, open_picture, prefix, title_height};
use crate::labels;
use crate::messages::Performance;
use crate::palette::{
    BLUE, FAINT, GREEN, INK, LINE, NEUTRAL, ORANGE, PAPER, PURPLE, VERMILION, YELLOW,
};
use crate::scale::Scale;
use crate::svg::{Px, Xml};
pub(crate) use bars::{Bar, BarKind, bars, critical_actions, lane};
pub(crate) use rows::{TimelineRow, rows};
pub(crate) use shared::shared;
use std::fmt::Display;
use tuwtree_model::{ClosedSet, Rank, Time, quantity};
use tuwtree_schedule::{Held, Schedule};

/// A timeline of all ranks' actions.
#[derive(Clone, Copy, Debug)]
pub struct TimelinePicture<'a> {
    performance: Performance<'a>,
    heading: &'a str,
    rows: usize,
    bound: Option<Time>,
}

/// The width of the part where the bars are.
const PLOT: f64 = 900.0;
/// The space between the names of rows and the bars.
const GUTTER: f64 = 14.0;
/// The height of a row with one port.
const ROW: f64 = 20.0;
/// The height of a bar with one port.
const BAR: f64 = 14.0;
/// The height of a port's bars with their distance, where there are several: with few of them space for text, with many
/// only the rest of a row.
const LANES: [(u32, f64); 2] = [(4, BAR), (16, 9.0)];
/// The most that the bars of all ports of a row take.
const MOST_LANES: f64 = 144.0;
/// The font size of text in bars.
const SMALL: f64 = 9.5;
/// The least distance between two ticks of the axis.
const TICKS: f64 = 110.0;
/// The width of the pieces of rows that several processes share.
const CELL: f64 = 3.0;
/// Up to this many processes, lines connect the two ends of messages.
const MOST_CONNECTED: usize = 24;

impl<'a> TimelinePicture<'a> {
    /// The fewest rows that a picture may have.
    pub const LEAST_ROWS: usize = 8;

    /// A picture of this performance with at most 64 rows.
    pub fn new(performance: Performance<'a>) -> TimelinePicture<'a> {
        TimelinePicture { performance, heading: "", rows: 64, bound: None }
    }

    /// The picture with a name in front of its title.
    #[must_use]
    pub fn named(self, heading: &'a str) -> TimelinePicture<'a> {
        TimelinePicture { heading, ..self }
    }

    /// The picture with a dashed line where a lower bound on the completion time is.
    #[must_use]
    pub fn bounded(self, bound: Option<Time>) -> TimelinePicture<'a> {
        TimelinePicture { bound, ..self }
    }

    /// The picture with at most this many rows, at least [`LEAST_ROWS`](Self::LEAST_ROWS).
    #[must_use]
    pub fn within(self, rows: usize) -> TimelinePicture<'a> {
        TimelinePicture { rows: rows.max(Self::LEAST_ROWS), ..self }
    }

    /// The picture as SVG.
    ///
    /// # Complexity
    /// O(n + p log p) for n actions of p processes; bars narrower than a pixel are merged, so that
    /// the text's length is bounded by the rows.
    pub fn svg(&self) -> String {
        let rows = rows(self.performance, self.rows);
        let widest =
            rows.iter().map(|&row| labels::width(&row_name(row), TEXT)).fold(0.0, f64::max);
        let left = MARGIN + widest.max(labels::width("rank", TEXT)) + GUTTER;
        let end = self.performance.timeline.completion_time().units();
        let drawing = TimelineCanvas {
            picture: self,
            scale: Scale::new(end, left, PLOT),
            left,
            lanes: ports_in_use(self.performance.schedule),
            critical: critical_actions(self.performance),
        };
        drawing.draw(&rows)
    }

    fn title(&self) -> (String, [String; 2]) {
        let Performance { schedule, timeline, costs } = self.performance;
        let task = schedule.task();
        let title = format!(
            "{}{} over {}{}, order {}",
            prefix(self.heading),
            task.operation.name(),
            labels::ranks(task.ranks()),
            task.root_phrase(),
            task.order.name()
        );
        let end = timeline.completion_time().units();
        let busy: f64 = (0..task.ranks()).map(|rank| timeline.busy_units(rank)).sum();
        let what = format!(
            "{}; completion time {}; {} together are busy {} of the time",
            quantity::bytes(task.total()),
            costs.unit().time(timeline.completion_time()),
            match (task.ports, task.duplex) {
                (1, false) => "all processes".to_owned(),
                (1, true) => "both sides of the ports of all processes".to_owned(),
                (ports, false) => format!("all {ports} ports of all processes"),
                (ports, true) => format!("both sides of all {ports} ports of all processes"),
            },
            share(busy, end * task.ranks() as f64 * f64::from(task.lanes())),
        );
        let unit = costs.unit().name();
        let costs = format!("{costs}; time {unit}");
        (title, [what, costs])
    }
}

/// A picture being drawn.
struct TimelineCanvas<'a> {
    picture: &'a TimelinePicture<'a>,
    scale: Scale,
    /// Left end of the bars.
    left: f64,
    /// Number of ports in each rank's row: those in use, and both sides of duplex ones.
    lanes: Vec<u32>,
    /// For each rank, the indices of its critical actions, and their holds.
    critical: Vec<Vec<(usize, Held)>>,
}

/// Bars that follow each other so closely that they are drawn as one.
struct Merged {
    bar: Bar,
    /// Number of processes.
    count: usize,
}

impl TimelineCanvas<'_> {
    fn draw(&self, rows: &[TimelineRow]) -> String {
        let (title, lines) = self.picture.title();
        let top = title_height(lines.len()) + 24.0;
        let tops: Vec<f64> = rows
            .iter()
            .scan(top, |next, &row| {
                let here = *next;
                *next += self.row_height(row);
                Some(here)
            })
            .collect();
        let bottom = top + rows.iter().map(|&row| self.row_height(row)).sum::<f64>();
        let width = (self.left + PLOT + 60.0 + MARGIN).ceil();
        let height = (bottom + 14.0 + 22.0 + MARGIN).ceil();
        let mut xml = Xml::default();
        open_picture(&mut xml, PictureStyle::Alone, &title, width, height, "picture timeline");
        let mut style = timeline_style();
        if self.has_latency() {
            style += &latency_style();
        }
        if self.combines_copies() {
            style += &combine_style();
        }
        xml.text("style", &[], style);
        draw_title(&mut xml, &title, &lines, width);
        self.draw_axis(&mut xml, top, bottom);
        for (&row, &top) in rows.iter().zip(&tops) {
            self.draw_row(&mut xml, row, top);
        }
        let all_are_shown = rows.iter().all(|row| matches!(row, TimelineRow::One(_)));
        if all_are_shown && rows.len() <= MOST_CONNECTED {
            self.connect(&mut xml, &tops);
        }
        self.draw_bound(&mut xml, top, bottom);
        self.draw_legend(&mut xml, rows, bottom + 14.0);
        xml.close();
        xml.finish()
    }

    fn ports(&self) -> u32 {
        self.picture.performance.schedule.task().lanes()
    }

    /// The height of a port's bars and the distance to the next, with this many.
    fn lane_height(lanes: u32) -> f64 {
        let few = LANES.into_iter().find(|&(most, _)| lanes <= most);
        few.map_or(MOST_LANES / f64::from(lanes), |(_, height)| height)
    }

    fn row_height(&self, row: TimelineRow) -> f64 {
        match row {
            TimelineRow::One(rank) if self.lanes[rank] > 1 => {
                Self::lane_height(self.lanes[rank]) * f64::from(self.lanes[rank]) + 6.0
            }
            _ => ROW,
        }
    }

    /// The top and the height of the bars of a port in a rank's row.
    fn lane(&self, rank: Rank, row_top: f64, port: u32) -> (f64, f64) {
        let lane = Self::lane_height(self.lanes[rank]);
        match self.lanes[rank] {
            1 => (row_top + (ROW - BAR) / 2.0, BAR),
            _ => (row_top + 3.0 + lane * f64::from(port), lane - lane.min(10.0) / 10.0),
        }
    }

    fn draw_axis(&self, xml: &mut Xml, top: f64, bottom: f64) {
        let y = Px(top - 8.0);
        let unit = self.picture.performance.costs.unit();
        for time in self.scale.ticks(TICKS) {
            let x = Px(self.scale.x(time));
            let line: [(&str, &dyn Display); 5] = [
                ("class", &"grid"),
                ("x1", &x),
                ("x2", &x),
                ("y1", &Px(top - 4.0)),
                ("y2", &Px(bottom)),
            ];
            xml.empty("line", &line);
            // The last label would run into the heading of the shares.
            let is_last = self.scale.x(time) > self.left + PLOT - 36.0;
            let class = if is_last { "tick last" } else { "tick" };
            let at: [(&str, &dyn Display); 3] = [("class", &class), ("x", &x), ("y", &y)];
            xml.text("text", &at, unit.tick(time));
        }
        let end = self.left - GUTTER;
        xml.text("text", &[("class", &"row-name faint"), ("x", &Px(end)), ("y", &y)], "rank");
        let right = Px(self.left + PLOT + 6.0);
        xml.text("text", &[("class", &"faint"), ("x", &right), ("y", &y)], "busy");
    }

    fn draw_row(&self, xml: &mut Xml, row: TimelineRow, top: f64) {
        let height = self.row_height(row);
        let y = Px(top + height / 2.0 + 4.3);
        xml.open("g", &[("class", &"row")]);
        let name_end = Px(self.left - GUTTER);
        xml.text("text", &[("class", &"row-name"), ("x", &name_end), ("y", &y)], row_name(row));
        let busy: f64 =
            row.ranks().map(|rank| self.picture.performance.timeline.busy_units(rank)).sum();
        let end = self.picture.performance.timeline.completion_time().units();
        let all = end * row.ranks().count() as f64 * f64::from(self.ports());
        let right = Px(self.left + PLOT + 6.0);
        xml.text("text", &[("class", &"faint"), ("x", &right), ("y", &y)], share(busy, all));
        match row {
            TimelineRow::One(rank) => self.draw_bars(xml, rank, top),
            TimelineRow::Several(first, last) => self.draw_shared(xml, first, last, top),
        }
        xml.close();
    }

    fn draw_bars(&self, xml: &mut Xml, rank: Rank, row_top: f64) {
        let unit = self.picture.performance.costs.unit();
        let bars = bars(self.picture.performance, rank, &self.critical[rank]);
        for Merged { bar, count } in self.merged(&bars) {
            let (top, height) = self.lane(rank, row_top, bar.lane);
            let (x1, x2) = (self.scale.x(bar.start), self.scale.x(bar.end));
            let width = (x2 - x1).max(0.4);
            let (y, bar_height) = match bar.kind.height() {
                Some(thin) => (top + (height - thin) / 2.0, thin),
                None => (top, height),
            };
            let story = format!(
                "rank {rank}: {}, {} to {}",
                match count {
                    1 => format!("{}{}", bar.kind.name(), bars::story(&bar)),
                    _ => format!("{count} times {}, {} bytes", bar.kind.name(), bar.bytes),
                },
                unit.units(bar.start),
                unit.units(bar.end)
            );
            xml.titled(
                "rect",
                &[
                    ("class", &bar.kind.name()),
                    ("x", &Px(x1)),
                    ("y", &Px(y)),
                    ("width", &Px(width)),
                    ("height", &Px(bar_height)),
                ],
                story,
            );
            if bar.is_critical {
                let under: [(&str, &dyn Display); 5] = [
                    ("class", &"critical"),
                    ("x", &Px(x1)),
                    ("y", &Px(top + height)),
                    ("width", &Px(width)),
                    ("height", &2),
                ];
                xml.empty("rect", &under);
            }
            if count == 1 && self.lanes[rank] <= LANES[0].0 {
                self.draw_text_in(xml, &bar, (x1, x2), top + height / 2.0);
            }
        }
    }

    /// Text of a bar, if it is wide enough.
    fn draw_text_in(&self, xml: &mut Xml, bar: &Bar, (x1, x2): (f64, f64), y: f64) {
        let text = match (bar.kind, bar.to, bar.from) {
            (BarKind::Send, Some(to), _) => format!("to {to}"),
            (BarKind::Receive, _, Some(from)) => format!("from {from}"),
            (BarKind::Exchange, Some(to), Some(from)) if to == from => format!("with {to}"),
            (BarKind::Copy | BarKind::Combine, ..) => bar.kind.name().to_owned(),
            _ => return,
        };
        if labels::width(&text, SMALL) + 6.0 > x2 - x1 {
            return;
        }
        let class = format!("in in-{}", bar.kind.name());
        let at: [(&str, &dyn Display); 3] =
            [("class", &class), ("x", &Px((x1 + x2) / 2.0)), ("y", &Px(y + 3.4))];
        xml.text("text", &at, text);
    }

    /// The bars with those merged that are too narrow to be told from their neighbours.
    fn merged(&self, bars: &[Bar]) -> Vec<Merged> {
        let mut merged: Vec<Merged> = Vec::new();
        let pixels = |time: f64| self.scale.x(time);
        for bar in bars {
            if let Some(Merged { bar: last, count }) = merged.last_mut()
                && (last.lane, last.kind) == (bar.lane, bar.kind)
                && pixels(bar.start) - pixels(last.end) < 0.3
                && (pixels(bar.end) - pixels(bar.start) < 1.5
                    || pixels(last.end) - pixels(last.start) < 1.5)
            {
                last.end = bar.end;
                last.bytes += bar.bytes;
                last.is_critical |= bar.is_critical;
                *count += 1;
                continue;
            }
            merged.push(Merged { bar: *bar, count: 1 });
        }
        merged
    }

    /// The share of processes that are busy, as shades.
    fn draw_shared(&self, xml: &mut Xml, first: Rank, last: Rank, row_top: f64) {
        let top = row_top + (ROW - BAR) / 2.0;
        let count = last - first + 1;
        for stretch in shared(self.picture.performance, first, last, (PLOT / CELL) as usize) {
            let (x1, x2) = (self.scale.x(stretch.start), self.scale.x(stretch.end));
            let attributes: [(&str, &dyn Display); 6] = [
                ("class", &"shared"),
                ("x", &Px(x1)),
                ("y", &Px(top)),
                ("width", &Px(x2 - x1)),
                ("height", &Px(BAR)),
                ("fill-opacity", &Px(0.1 + 0.08 * f64::from(stretch.tenths))),
            ];
            let title = format!("up to {} % of {count} processes are busy", 10 * stretch.tenths);
            xml.titled("rect", &attributes, title);
        }
    }

    /// Lines from senders to receivers, where messages start: aslant where their latency passes.
    fn connect(&self, xml: &mut Xml, tops: &[f64]) {
        let Performance { schedule, timeline, .. } = self.picture.performance;
        let middle = |rank: Rank, port: u16, held: Held| {
            let lane = lane(schedule, port, held);
            let (top, height) = self.lane(rank, tops[rank], lane);
            top + height / 2.0
        };
        for rank in 0..schedule.ranks() {
            for (index, action) in schedule.programs().actions(rank).enumerate() {
                let Some((to, receipt)) = timeline.receipt(rank, index) else { continue };
                let sent = timeline.sending(rank, index);
                let received = timeline.receiving(to, receipt);
                let programs = schedule.programs();
                let port = programs.action(programs.range(to).start + receipt).port;
                let passes = |latency: &(Time, Time)| latency.0 < latency.1;
                let latency = [sent.latency, received.latency].into_iter().find(passes);
                let (left, arrived) = latency.unwrap_or((sent.start, sent.start));
                let attributes: [(&str, &dyn Display); 5] = [
                    ("class", &"message"),
                    ("x1", &Px(self.scale.x(left.units()))),
                    ("x2", &Px(self.scale.x(arrived.units()))),
                    ("y1", &Px(middle(rank, action.port, Held::SendSide))),
                    ("y2", &Px(middle(to, port, Held::ReceiveSide))),
                ];
                xml.empty("line", &attributes);
            }
        }
    }

    /// A line where the lower bound is: no schedule ends before it.
    fn draw_bound(&self, xml: &mut Xml, top: f64, bottom: f64) {
        let Some(bound) = self.bound() else { return };
        let x = Px(self.scale.x(bound.units()));
        let line: [(&str, &dyn Display); 5] = [
            ("class", &"bound"),
            ("x1", &x),
            ("x2", &x),
            ("y1", &Px(top - 4.0)),
            ("y2", &Px(bottom)),
        ];
        let unit = self.picture.performance.costs.unit();
        xml.titled("line", &line, format!("lower bound: {}", unit.time(bound)));
    }

    /// The lower bound, if it is on the axis.
    fn bound(&self) -> Option<Time> {
        let end = self.picture.performance.timeline.completion_time();
        self.picture.bound.filter(|&bound| Time::ZERO < bound && bound <= end)
    }

    /// True if any rank waits for a latency.
    fn has_latency(&self) -> bool {
        let Performance { schedule, timeline, .. } = self.picture.performance;
        (0..schedule.ranks()).any(|rank| {
            timeline.occupations(rank).any(|held| held.times.latency.0 < held.times.latency.1)
        })
    }

    /// True if any rank combines copied data.
    fn combines_copies(&self) -> bool {
        let schedule = self.picture.performance.schedule;
        (0..schedule.ranks()).any(|rank| {
            let mut actions = schedule.programs().actions(rank);
            actions.any(|action| action.receive().is_none() && action.combines().is_some())
        })
    }

    fn draw_legend(&self, xml: &mut Xml, rows: &[TimelineRow], top: f64) {
        let mut x = MARGIN;
        let y = top + 11.0;
        let duplex = self.picture.performance.schedule.task().duplex;
        let has_exchanges = !duplex
            && (0..self.picture.performance.schedule.ranks()).any(|rank| {
                let mut actions = self.picture.performance.schedule.programs().actions(rank);
                actions.any(|action| action.send().is_some() && action.receive().is_some())
            });
        let mut entries: Vec<(&str, &str, f64)> = BarKind::all()
            .filter(|&kind| match kind {
                BarKind::Exchange => has_exchanges,
                BarKind::Combine => self.combines_copies(),
                BarKind::Latency => self.has_latency(),
                BarKind::Send | BarKind::Receive | BarKind::Copy | BarKind::Wait => true,
            })
            .map(|kind| (kind.name(), kind.name(), kind.height().unwrap_or(BAR)))
            .collect();
        entries.push(("critical", "critical path", 2.0));
        if self.bound().is_some() {
            entries.push(("bound", "lower bound", 0.1));
        }
        if rows.iter().any(|row| matches!(row, TimelineRow::Several(..))) {
            entries.push(("shared", "several processes, the stronger the more are busy", BAR));
        }
        xml.open("g", &[("class", &"legend")]);
        for (class, text, height) in entries {
            let attributes: [(&str, &dyn Display); 5] = [
                ("class", &class),
                ("x", &Px(x)),
                ("y", &Px(y - height / 2.0)),
                ("width", &24),
                ("height", &Px(height)),
            ];
            xml.empty("rect", &attributes);
            xml.text("text", &[("x", &Px(x + 30.0)), ("y", &Px(y + 4.3))], text);
            x += 30.0 + labels::width(text, TEXT) + 18.0;
        }
        xml.close();
    }
}

/// Further styles for overlapping latency.
fn latency_style() -> String {
    format!(".timeline .latency{{fill:{INK}}}\n")
}

/// Further styles for combined copies.
fn combine_style() -> String {
    format!(
        ".timeline .combine{{fill:{YELLOW};stroke:{PAPER};stroke-width:0.3}}\n.timeline .in-combine{{fill:{INK}}}\n"
    )
}

/// Number of ports that each rank uses, up to the last; at least one.
fn ports_in_use(schedule: &Schedule) -> Vec<u32> {
    let sides = if schedule.task().duplex { 2 } else { 1 };
    let in_use = |rank: Rank| {
        let ports = schedule.programs().actions(rank).map(|action| u32::from(action.port));
        sides * ports.max().map_or(1, |port| port + 1)
    };
    (0..schedule.ranks()).map(in_use).collect()
}

/// The name of a row: a rank or a range of them.
pub(crate) fn row_name(row: TimelineRow) -> String {
    match row {
        TimelineRow::One(rank) => rank.to_string(),
        TimelineRow::Several(first, last) => format!("{first} to {last}"),
    }
}

/// A part of a whole in percent.
fn share(part: f64, whole: f64) -> String {
    let percent = if whole > 0.0 { 100.0 * part / whole } else { 0.0 };
    match percent {
        _ if percent >= 9.95 || percent == 0.0 => format!("{percent:.0} %"),
        _ if percent >= 0.1 => format!("{percent:.1} %"),
        _ => "< 0.1 %".to_owned(),
    }
}

/// The style sheet of timelines. It uses nothing that needs escaping.
fn timeline_style() -> String {
    format!(
        "\
.timeline .grid{{stroke:{LINE}}}
.timeline .tick{{text-anchor:middle;fill:{FAINT}}}
.timeline .tick.last{{text-anchor:end}}
.timeline .row-name{{text-anchor:end}}
.timeline .send{{fill:{ORANGE};stroke:{PAPER};stroke-width:0.3}}
.timeline .receive{{fill:{BLUE};stroke:{PAPER};stroke-width:0.3}}
.timeline .exchange{{fill:{PURPLE};stroke:{PAPER};stroke-width:0.3}}
.timeline .copy{{fill:{GREEN};stroke:{PAPER};stroke-width:0.3}}
.timeline .wait{{fill:{NEUTRAL}}}
.timeline .critical{{fill:{VERMILION}}}
.timeline .shared{{fill:{INK}}}
.timeline .bound{{fill:none;stroke:{INK};stroke-width:1.2;stroke-dasharray:5 4}}
.timeline .message{{stroke:{INK};stroke-width:0.7;stroke-opacity:0.5}}
.timeline .in{{text-anchor:middle;font-size:{SMALL}px;fill:{PAPER}}}
.timeline .in-send,.timeline .in-exchange{{fill:{INK}}}
"
    )
}
