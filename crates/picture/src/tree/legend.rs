//! Legend of the lines and boxes of a tree's picture.

use super::outline::{Item, OutlineNode};
use super::{TreeCanvas, WEDGE};
use crate::frame::{PictureStyle, TEXT};
use crate::labels;
use crate::palette::{CHILD_WAITS, Colouring, NEUTRAL, PARENT_WAITS, VERMILION, VOLUMES};
use crate::svg::{Px, Xml};
use tuwtree_model::quantity;

/// Waits up to this share of the completion time are not coloured.
const NO_WAIT: f64 = 0.001;
/// The shares of the completion time at which the shades of waits change.
const WAIT_STEPS: [f64; 2] = [0.02, 0.1];
/// The shares of the largest message at which the shades of volumes change.
const VOLUME_STEPS: [f64; 4] = [0.01, 0.05, 0.2, 0.5];

/// The height of a line of the legend.
const LINE: f64 = 22.0;
/// The width of a sample.
const SAMPLE: f64 = 28.0;

/// Shade of a wait; `None` if it is too short for one.
pub(super) fn wait_shade(wait: f64, end: f64) -> Option<usize> {
    let share = if end > 0.0 { wait / end } else { 0.0 };
    (share > NO_WAIT).then(|| WAIT_STEPS.iter().filter(|&&step| share > step).count())
}

/// Shade of a message of this size.
pub(super) fn volume_shade(bytes: u64, largest: u64) -> usize {
    let share = if largest > 0 { bytes as f64 / largest as f64 } else { 0.0 };
    VOLUME_STEPS.iter().filter(|&&step| share > step).count()
}

/// The colours of edges, each with its meaning.
pub(crate) fn key(colouring: Colouring) -> Vec<(&'static str, String)> {
    let shares = ["up to 2 %", "up to 10 %", "more of the completion time"];
    let waits = |who: &'static str, shades: [&'static str; 3]| {
        let text = move |(shade, share): (&'static str, &str)| match share == shares[0] {
            true => (shade, format!("the {who} waits {share}")),
            false => (shade, share.to_owned()),
        };
        shades.into_iter().zip(shares).map(text)
    };
    match colouring {
        Colouring::CriticalPath => {
            vec![(VERMILION, "on the critical path".to_owned()), (NEUTRAL, "not on it".to_owned())]
        }
        Colouring::Wait => std::iter::once((NEUTRAL, "no wait to speak of".to_owned()))
            .chain(waits("parent", PARENT_WAITS))
            .chain(waits("child", CHILD_WAITS))
            .collect(),
        Colouring::Volume => (0..VOLUMES.len())
            .rev()
            .map(|shade| match shade {
                0 => (VOLUMES[0], "less".to_owned()),
                _ => {
                    let percent = 100.0 * VOLUME_STEPS[shade - 1];
                    (VOLUMES[shade], format!("over {percent} % of the largest message"))
                }
            })
            .collect(),
    }
}

/// A sample and its meaning.
struct LegendEntry {
    sample: Sample,
    text: String,
}

enum Sample {
    /// A line of this width.
    Edge(f64),
    /// A line of this colour.
    Colour(&'static str),
    Wedge,
    Boxes,
}

/// The legend's parts: the shapes of lines and boxes, and the colours, unless the page tells these.
pub(super) struct Legend {
    shapes: Vec<LegendEntry>,
    colours: Vec<LegendEntry>,
}

impl Legend {
    pub(super) fn new(drawing: &TreeCanvas<'_>, items: &[Item]) -> Legend {
        let mut shapes = Vec::new();
        let mut sizes: Vec<u64> = [1, 4, 20].map(|part| drawing.largest / part).into();
        sizes.dedup();
        for bytes in sizes.into_iter().filter(|&bytes| bytes > 0) {
            let sample = Sample::Edge(drawing.edge_width(bytes));
            shapes.push(LegendEntry { sample, text: quantity::bytes(bytes) });
        }
        if items.iter().any(|item| matches!(item.node, OutlineNode::Subtree(_))) {
            let text = "a rank and all below it".to_owned();
            shapes.push(LegendEntry { sample: Sample::Wedge, text });
        }
        if items.iter().any(|item| matches!(item.node, OutlineNode::Run(_))) {
            let text = "several children, one after the other".to_owned();
            shapes.push(LegendEntry { sample: Sample::Boxes, text });
        }
        let colours = match (drawing.picture.performance, drawing.setting) {
            (Some(_), PictureStyle::Alone) => key(drawing.picture.colouring),
            _ => Vec::new(),
        };
        let entry = |(colour, text)| LegendEntry { sample: Sample::Colour(colour), text };
        Legend { shapes, colours: colours.into_iter().map(entry).collect() }
    }

    /// The height that it takes if it is this wide.
    pub(super) fn height(&self, width: f64) -> f64 {
        (lines(&self.shapes, width) + lines(&self.colours, width)) as f64 * LINE
    }

    pub(super) fn draw(&self, xml: &mut Xml, left: f64, top: f64, width: f64) {
        draw_entries(xml, &self.shapes, left, top, width);
        let below = top + lines(&self.shapes, width) as f64 * LINE;
        draw_entries(xml, &self.colours, left, below, width);
    }
}

/// Number of lines that the entries take.
fn lines(entries: &[LegendEntry], width: f64) -> usize {
    places(entries, width).last().map_or(0, |last| last.1 + 1)
}

/// Position of each entry: its left end and its line.
fn places(entries: &[LegendEntry], width: f64) -> Vec<(f64, usize)> {
    let (mut left, mut line) = (0.0, 0);
    let mut places = Vec::with_capacity(entries.len());
    for entry in entries {
        let needed = SAMPLE + 6.0 + labels::width(&entry.text, TEXT);
        if left > 0.0 && left + needed > width {
            (left, line) = (0.0, line + 1);
        }
        places.push((left, line));
        left += needed + 18.0;
    }
    places
}

fn draw_entries(xml: &mut Xml, entries: &[LegendEntry], left: f64, top: f64, width: f64) {
    xml.open("g", &[("class", &"legend")]);
    for (entry, (shift, line)) in entries.iter().zip(places(entries, width)) {
        let (x, y) = (left + shift, top + LINE * (line as f64 + 0.5));
        draw_sample(xml, &entry.sample, x, y);
        let text_left = Px(x + SAMPLE + 6.0);
        xml.text("text", &[("x", &text_left), ("y", &Px(y + 4.3))], &entry.text);
    }
    xml.close();
}

fn draw_sample(xml: &mut Xml, sample: &Sample, x: f64, y: f64) {
    match sample {
        Sample::Edge(width) => {
            let path = format!("M{} {}h{}", Px(x), Px(y), Px(SAMPLE));
            xml.empty("path", &[("class", &"edge"), ("d", &path), ("stroke-width", &Px(*width))]);
        }
        Sample::Colour(colour) => {
            let place: [(&str, &dyn std::fmt::Display); 5] = [
                ("x", &Px(x)),
                ("y", &Px(y - 2.5)),
                ("width", &Px(SAMPLE)),
                ("height", &5),
                ("fill", colour),
            ];
            xml.empty("rect", &place);
        }
        Sample::Wedge => {
            let base = Px(x + WEDGE);
            let points =
                format!("{},{} {base},{} {base},{}", Px(x), Px(y), Px(y - 7.0), Px(y + 7.0));
            xml.empty("polygon", &[("class", &"wedge"), ("points", &points)]);
        }
        Sample::Boxes => {
            for shift in [4.0, 2.0, 0.0] {
                xml.empty(
                    "rect",
                    &[
                        ("class", &"box"),
                        ("x", &Px(x + shift)),
                        ("y", &Px(y - 8.0 + shift)),
                        ("width", &22),
                        ("height", &14),
                        ("rx", &4),
                    ],
                );
            }
        }
    }
}
