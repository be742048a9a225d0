//! Measured times as the papers plot them: time against mean block size, both logarithmic, a panel for
//! each distribution, a line for each algorithm.
//!
//! Lines join medians; the bands around them are confidence intervals of the medians, missing where
//! repetitions are too few for one. Lines of trees that send eagerly are dashed.
//!
//! # Source
//! TUW Figures 3 to 10, which plot minima.

mod axis;
mod page;
mod relative;

pub use page::{calls_picture, measured_calls_page, measured_page};
pub use relative::RelativePicture;

use crate::frame::{
    MARGIN, PictureStyle as Frame, SMALL, TEXT, draw_title, open_picture, title_height,
};
use crate::labels;
use crate::palette::{BLUE, FAINT, GREEN, INK, LINE, NEUTRAL, ORANGE, PURPLE, SKY, VERMILION};
use crate::svg::{Px, Xml};
use axis::LogAxis;
use tuwtree_measure::{Algorithm, Blocks, CONFIDENCE, Measurements, Pace, Series};
use tuwtree_model::quantity;
use tuwtree_model::{ClosedSet, Construction};

/// A picture of measured times.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredPicture<'a> {
    measurements: &'a Measurements,
}

/// The size of a panel's plot.
const PLOT: (f64, f64) = (300.0, 210.0);
/// The space left of, above, right of and below a plot.
const AROUND: [f64; 4] = [58.0, 26.0, 14.0, 44.0];
/// The length of a legend's lines.
const SWATCH: f64 = 26.0;
/// The height of a legend's row.
const ROW: f64 = 18.0;

/// Style of an algorithm's line.
struct Look {
    colour: &'static str,
    dashes: &'static str,
}

impl<'a> MeasuredPicture<'a> {
    /// A picture of these times.
    pub fn new(measurements: &'a Measurements) -> MeasuredPicture<'a> {
        MeasuredPicture { measurements }
    }

    /// The picture as SVG.
    ///
    /// # Complexity
    /// O(s^2) for s series.
    pub fn svg(&self) -> String {
        self.drawn(Frame::Alone)
    }

    fn drawn(&self, frame: Frame) -> String {
        let blocks = self.measurements.blocks();
        let columns = match blocks.len() {
            0..=1 => 1,
            2..=4 => 2,
            5..=9 => 3,
            _ => 4,
        };
        let panel = (AROUND[0] + PLOT.0 + AROUND[2], AROUND[1] + PLOT.1 + AROUND[3]);
        let width = (2.0 * MARGIN + columns as f64 * panel.0).max(760.0);
        let (title, lines) = self.title();
        let legend_top = title_height(lines.len());
        let legend = self.legend(width);
        let rows = legend.last().map_or(0.0, |(_, _, row)| row + ROW);
        let top = legend_top + rows + 6.0;
        let height = top + blocks.len().div_ceil(columns) as f64 * panel.1 + MARGIN / 2.0;
        let mut xml = Xml::default();
        open_picture(&mut xml, frame, &title, width, height, "picture measured");
        let lines: Vec<String> =
            lines.iter().map(|line| labels::fitted(line, TEXT, width - 2.0 * MARGIN)).collect();
        draw_title(&mut xml, &title, &lines, width);
        for (algorithm, x, y) in legend {
            draw_entry(&mut xml, algorithm, x, legend_top + y);
        }
        for (index, &blocks) in blocks.iter().enumerate() {
            let x = MARGIN + (index % columns) as f64 * panel.0;
            let y = top + (index / columns) as f64 * panel.1;
            self.draw_panel(&mut xml, blocks, (x + AROUND[0], y + AROUND[1]));
        }
        xml.close();
        xml.finish()
    }

    fn title(&self) -> (String, Vec<String>) {
        let setting = self.measurements.setting();
        let title = format!(
            "{} over {}{}: measured times",
            setting.operation.name(),
            labels::ranks(setting.ranks),
            setting.root_phrase()
        );
        let nodes =
            if setting.nodes == 1 { "1 node".into() } else { format!("{} nodes", setting.nodes) };
        let mut lines = vec![
            format!("{nodes}, measured by {}; {}", setting.program, setting.library),
            format!(
                "medians of the slowest rank's times, with {} % confidence bands; blocks of {}-byte elements",
                CONFIDENCE * 100.0,
                setting.element_bytes
            ),
        ];
        if let Some(warning) = self.measurements.warning() {
            // One line is too narrow for it.
            let (what, why) = warning.split_once(": ").unwrap_or((warning, ""));
            lines.extend([format!("Warning: {what}:"), why.to_owned()]);
        }
        (title, lines)
    }

    /// The algorithms with their places, in rows as wide as the picture.
    fn legend(&self, width: f64) -> Vec<(Algorithm, f64, f64)> {
        let (mut x, mut y) = (MARGIN, 0.0);
        let mut placed = Vec::new();
        for algorithm in Algorithm::all() {
            if !self.measurements.algorithms().contains(&algorithm) {
                continue;
            }
            let room = SWATCH + 6.0 + labels::width(&algorithm.name(), TEXT) + 18.0;
            if x + room > width - MARGIN && x > MARGIN {
                (x, y) = (MARGIN, y + ROW);
            }
            placed.push((algorithm, x, y));
            x += room;
        }
        placed
    }

    fn draw_panel(&self, xml: &mut Xml, blocks: &Blocks, (left, top): (f64, f64)) {
        let (right, bottom) = (left + PLOT.0, top + PLOT.1);
        let all = || self.measurements.series().iter();
        // All panels have the same axes, so that they can be compared.
        let x = LogAxis::over(all().map(|one| one.mean_block as f64), (left, right));
        let ends = |one: &Series| {
            let interval = one.times.interval();
            interval.map_or([one.times.median(); 2], |ends| [ends.low, ends.high])
        };
        let y = LogAxis::over(all().flat_map(ends).map(microseconds), (bottom, top));
        draw_axes(xml, &x, &y, (left, top));
        let middle = Px(f64::midpoint(left, right));
        let caption = |xml: &mut Xml, y: f64, text: &str| {
            xml.text("text", &[("class", &"caption"), ("x", &middle), ("y", &Px(y))], text);
        };
        xml.text(
            "text",
            &[("class", &"name"), ("x", &middle), ("y", &Px(top - 8.0))],
            labels::fitted(blocks.name(), TEXT, PLOT.0),
        );
        caption(xml, bottom + 30.0, "mean block, in elements");
        for algorithm in Algorithm::all() {
            let mut line: Vec<&Series> =
                all().filter(|one| (&one.blocks, one.algorithm) == (blocks, algorithm)).collect();
            line.sort_by_key(|one| one.mean_block);
            if !line.is_empty() {
                draw_line(xml, algorithm, &line, &x, &y);
            }
        }
    }
}

fn microseconds(seconds: f64) -> f64 {
    seconds * 1e6
}

fn draw_axes(xml: &mut Xml, x: &LogAxis, y: &LogAxis, (left, top): (f64, f64)) {
    let (right, bottom) = (left + PLOT.0, top + PLOT.1);
    let line = |xml: &mut Xml, [x1, y1, x2, y2]: [f64; 4]| {
        let [x1, y1, x2, y2] = [x1, y1, x2, y2].map(Px);
        xml.empty("line", &[("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2), ("stroke", &LINE)]);
    };
    for exponent in x.exponents() {
        let at = x.at(10_f64.powi(exponent));
        line(xml, [at, top, at, bottom]);
        let place = [("x", &Px(at) as &dyn std::fmt::Display), ("y", &Px(bottom + 14.0))];
        xml.text("text", &[("class", &"caption"), place[0], place[1]], power(exponent));
    }
    for exponent in y.exponents() {
        let at = y.at(10_f64.powi(exponent));
        line(xml, [left, at, right, at]);
        let text = power(exponent);
        // Captions are centred; this one ends at the axis.
        let centre = Px(left - 5.0 - labels::width(&text, SMALL) / 2.0);
        xml.text("text", &[("class", &"caption"), ("x", &centre), ("y", &Px(at + 3.5))], text);
    }
    let (centre, middle) = (left - 46.0, f64::midpoint(top, bottom));
    let turned = format!("rotate(-90 {} {})", Px(centre), Px(middle));
    xml.text(
        "text",
        &[("class", &"caption"), ("x", &Px(centre)), ("y", &Px(middle)), ("transform", &turned)],
        "microseconds",
    );
    let whole = [Px(left), Px(top), Px(PLOT.0), Px(PLOT.1)];
    xml.empty(
        "rect",
        &[
            ("x", &whole[0]),
            ("y", &whole[1]),
            ("width", &whole[2]),
            ("height", &whole[3]),
            ("fill", &"none"),
            ("stroke", &FAINT),
        ],
    );
}

/// A power of ten, written out where it is short.
fn power(exponent: i32) -> String {
    match exponent {
        0..=5 => format!("{}", 10_u64.pow(exponent as u32)),
        -3..=-1 => format!("{}", 10_f64.powi(exponent)),
        _ => format!("1e{exponent}"),
    }
}

fn draw_line(xml: &mut Xml, algorithm: Algorithm, line: &[&Series], x: &LogAxis, y: &LogAxis) {
    let Look { colour, dashes } = look(algorithm);
    let point =
        |one: &Series, seconds: f64| (x.at(one.mean_block as f64), y.at(microseconds(seconds)));
    let text = |points: &[(f64, f64)]| {
        let words = points.iter().map(|&(x, y)| format!("{},{}", Px(x), Px(y)));
        words.collect::<Vec<_>>().join(" ")
    };
    let medians: Vec<_> = line.iter().map(|one| point(one, one.times.median())).collect();
    let bands: Option<Vec<_>> = line.iter().map(|one| one.times.interval()).collect();
    if let Some(bands) = bands {
        let low = line.iter().zip(&bands).map(|(one, ends)| point(one, ends.low));
        let high = line.iter().zip(&bands).map(|(one, ends)| point(one, ends.high));
        let around: Vec<_> = low.chain(high.rev()).collect();
        xml.empty(
            "polygon",
            &[("points", &text(&around)), ("fill", &colour), ("fill-opacity", &"0.15")],
        );
    }
    xml.empty(
        "polyline",
        &[
            ("points", &text(&medians)),
            ("fill", &"none"),
            ("stroke", &colour),
            ("stroke-width", &"1.6"),
            ("stroke-dasharray", &dashes),
        ],
    );
    for (one, (x, y)) in line.iter().zip(medians) {
        let dot = [("cx", &Px(x) as &dyn std::fmt::Display), ("cy", &Px(y)), ("r", &"2.2")];
        xml.titled(
            "circle",
            &[dot[0], dot[1], dot[2], ("fill", &colour)],
            format!(
                "{}, b = {}: median {} us, minimum {} us",
                algorithm.name(),
                one.mean_block,
                quantity::number(microseconds(one.times.median())),
                quantity::number(microseconds(one.times.minimum()))
            ),
        );
    }
}

fn draw_entry(xml: &mut Xml, algorithm: Algorithm, x: f64, y: f64) {
    let Look { colour, dashes } = look(algorithm);
    let middle = Px(y + ROW / 2.0);
    xml.empty(
        "line",
        &[
            ("x1", &Px(x)),
            ("y1", &middle),
            ("x2", &Px(x + SWATCH)),
            ("y2", &middle),
            ("stroke", &colour),
            ("stroke-width", &"2"),
            ("stroke-dasharray", &dashes),
        ],
    );
    let place = Px(x + SWATCH + 6.0);
    xml.text("text", &[("x", &place), ("y", &Px(y + ROW / 2.0 + 4.0))], algorithm.name());
}

/// The colours of the constructions in their order, strict and eager; used again beyond the last.
const TREES: [[&str; 2]; 11] = [
    [ORANGE; 2],
    [PURPLE; 2],
    [BLUE, SKY],
    [FAINT; 2],
    [INK; 2],
    [VERMILION; 2],
    [NEUTRAL; 2],
    [PURPLE; 2],
    [SKY; 2],
    [LINE; 2],
    [GREEN; 2],
];

/// The library's operations in warm colours and greys, plans in a colour for each construction.
fn look(algorithm: Algorithm) -> Look {
    let (colour, dashes) = match algorithm {
        Algorithm::Regular => (NEUTRAL, "none"),
        Algorithm::Padded => (INK, "7 3"),
        Algorithm::Native => (VERMILION, "none"),
        Algorithm::NativePersistent => (VERMILION, "7 3"),
        Algorithm::Distributed => (BLUE, "2 2"),
        Algorithm::DistributedPersistent => (BLUE, "6 2"),
        Algorithm::Auto => (BLUE, "none"),
        Algorithm::Online => (PURPLE, "2 2"),
        Algorithm::OnlinePersistent => (PURPLE, "6 2"),
        Algorithm::Planned(construction, pace) => {
            let place = Construction::all().position(|one| one == construction);
            let [strict, eager] = TREES[place.expect("ALL has all") % TREES.len()];
            let colour = if pace == Pace::Strict { strict } else { eager };
            (colour, if pace == Pace::Strict { "none" } else { "5 3" })
        }
    };
    Look { colour, dashes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_measure::{LateStarts, Repetitions, Setting};
    use tuwtree_model::{Distribution, Operation};

    pub(super) fn measured(algorithms: &[Algorithm], blocks: &[u64]) -> Measurements {
        let setting = Setting {
            operation: Operation::Gather,
            program: "a program 1.0".into(),
            library: "a <library>".into(),
            ranks: 4,
            root: 2,
            remote_ranks: 0,
            nodes: 1,
            oversubscribed: true,
            element_bytes: 4,
            rho: 5,
            seed: 1,
            warm_up: 1,
            machine: None,
            listed: Vec::new(),
        };
        let series = |algorithm: Algorithm, b: u64, distribution: Distribution| Series {
            blocks: distribution.into(),
            mean_block: b,
            total_bytes: 16 * b,
            largest_block_bytes: 4 * b,
            algorithm,
            planning_seconds: 0.0,
            predicted: None,
            times: Repetitions {
                seconds: (1..=20).map(|at| b as f64 * 1e-6 * f64::from(at + 20)).collect(),
                late: LateStarts::Unknown,
            },
            delayed: Vec::new(),
        };
        let all = algorithms.iter().flat_map(|&algorithm| {
            blocks.iter().flat_map(move |&b| {
                [Distribution::Same, Distribution::Spikes].map(|one| series(algorithm, b, one))
            })
        });
        Measurements::new(setting, all.collect()).unwrap()
    }

    #[test]
    fn every_series_has_a_dot_and_every_line_a_name() {
        let algorithms = || Algorithm::all().filter(|one| one.is_for(Operation::Gather));
        let measured = measured(&algorithms().collect::<Vec<_>>(), &[1, 10, 1000]);
        let svg = MeasuredPicture::new(&measured).svg();
        let picture = roxmltree::Document::parse(&svg).unwrap();
        let count =
            |name: &str| picture.descendants().filter(|node| node.has_tag_name(name)).count();
        assert_eq!(count("circle"), measured.series().len());
        assert_eq!(count("polyline"), 2 * algorithms().count());
        for algorithm in algorithms() {
            let is_name = |node: roxmltree::Node<'_, '_>| node.text() == Some(&algorithm.name());
            assert_eq!(
                picture.descendants().filter(|&node| node.is_text() && is_name(node)).count(),
                1
            );
        }
        assert!(svg.contains("Warning: more processes than cores"));
    }

    #[test]
    fn all_dots_are_inside_their_panels() {
        let measured = measured(&[Algorithm::Native], &[3, 7000]);
        let svg = MeasuredPicture::new(&measured).svg();
        let picture = roxmltree::Document::parse(&svg).unwrap();
        let number = |node: roxmltree::Node<'_, '_>, name: &str| -> f64 {
            node.attribute(name).unwrap().parse().unwrap()
        };
        let panels: Vec<[f64; 4]> = picture
            .descendants()
            .filter(|node| node.has_tag_name("rect") && node.attribute("fill") == Some("none"))
            .map(|node| ["x", "y", "width", "height"].map(|name| number(node, name)))
            .collect();
        assert_eq!(panels.len(), 2);
        for dot in picture.descendants().filter(|node| node.has_tag_name("circle")) {
            let (x, y) = (number(dot, "cx"), number(dot, "cy"));
            let inside = panels.iter().any(|[left, top, width, height]| {
                (*left..=left + width).contains(&x) && (*top..=top + height).contains(&y)
            });
            assert!(inside, "{x} {y}");
        }
    }

    #[test]
    fn powers_of_ten_are_short() {
        assert_eq!([-4, -2, 0, 3, 6].map(power), ["1e-4", "0.01", "1", "1000", "1e6"]);
    }
}
