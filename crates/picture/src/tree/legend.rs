//! What the lines and boxes of a tree's picture mean.

use super::outline::{Item, Node};
use super::{Drawing, Setting, TEXT, WEDGE};
use crate::labels;
use crate::palette::Colouring;
use crate::svg::{Px, Xml};

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

/// Which shade a wait has; `None` if it is too short for one.
pub(super) fn wait_shade(wait: f64, end: f64) -> Option<usize> {
    let share = if end > 0.0 { wait / end } else { 0.0 };
    (share > NO_WAIT).then(|| WAIT_STEPS.iter().filter(|&&step| share > step).count())
}

/// Which shade a message of this size has.
pub(super) fn volume_shade(bytes: u64, largest: u64) -> usize {
    let share = if largest > 0 { bytes as f64 / largest as f64 } else { 0.0 };
    VOLUME_STEPS.iter().filter(|&&step| share > step).count()
}

/// A sample and what it means.
struct Entry {
    sample: Sample,
    text: String,
}

enum Sample {
    /// A line of this class and width.
    Edge(String, f64),
    Wedge,
    Boxes,
}

/// The legend's parts: what holds whatever the colouring, and what each colouring means.
pub(super) struct Legend {
    shapes: Vec<Entry>,
    colours: Vec<(Colouring, Vec<Entry>)>,
}

impl Legend {
    pub(super) fn new(drawing: &Drawing<'_>, items: &[Item]) -> Legend {
        let mut shapes = Vec::new();
        let mut sizes: Vec<u64> = [1, 4, 20].map(|part| drawing.largest / part).into();
        sizes.dedup();
        for bytes in sizes.into_iter().filter(|&bytes| bytes > 0) {
            let sample = Sample::Edge("edge".to_owned(), drawing.edge_width(bytes));
            shapes.push(Entry { sample, text: labels::bytes(bytes) });
        }
        if items.iter().any(|item| matches!(item.node, Node::Subtree(_))) {
            let text = "a processor and all below it".to_owned();
            shapes.push(Entry { sample: Sample::Wedge, text });
        }
        if items.iter().any(|item| matches!(item.node, Node::Run(_))) {
            let text = "several children, one after the other".to_owned();
            shapes.push(Entry { sample: Sample::Boxes, text });
        }
        let shown: &[Colouring] = match (drawing.picture.performance, drawing.setting) {
            (None, _) => &[],
            (Some(_), Setting::Alone) => &[drawing.picture.colouring],
            (Some(_), Setting::InPage) => &Colouring::ALL,
        };
        let colours = shown.iter().map(|&one| (one, colours(one, drawing.largest))).collect();
        Legend { shapes, colours }
    }

    /// The height that it takes if it is this wide.
    pub(super) fn height(&self, width: f64) -> f64 {
        let lines = |entries: &[Entry]| places(entries, width).last().map_or(0, |last| last.1 + 1);
        let colours = self.colours.iter().map(|(_, entries)| lines(entries)).max().unwrap_or(0);
        (lines(&self.shapes) + colours) as f64 * LINE
    }

    pub(super) fn draw(&self, xml: &mut Xml, left: f64, top: f64, width: f64) {
        draw_entries(xml, &self.shapes, "legend", left, top, width);
        let lines = places(&self.shapes, width).last().map_or(0, |last| last.1 + 1);
        for (colouring, entries) in &self.colours {
            let class = format!("legend for-{}", colouring.name());
            draw_entries(xml, entries, &class, left, top + lines as f64 * LINE, width);
        }
    }
}

/// The meaning of the colours.
fn colours(colouring: Colouring, largest: u64) -> Vec<Entry> {
    let edge = |class: String, text: String| Entry {
        sample: Sample::Edge(format!("edge {class}"), 5.0),
        text,
    };
    match colouring {
        Colouring::CriticalPath => vec![
            edge("critical".into(), "on the critical path".into()),
            edge(String::new(), "not on it".into()),
        ],
        Colouring::Wait => {
            let shares = ["up to 2 %", "up to 10 %", "more of the completion time"];
            let mut entries = vec![edge(String::new(), "no wait to speak of".into())];
            for who in ["parent", "child"] {
                for (index, share) in shares.iter().enumerate() {
                    let text = match index {
                        0 => format!("the {who} waits {share}"),
                        _ => (*share).to_owned(),
                    };
                    entries.push(edge(format!("{who}-waits-{index}"), text));
                }
            }
            entries
        }
        Colouring::Volume => (0..=VOLUME_STEPS.len())
            .rev()
            .map(|shade| {
                let text = match shade {
                    0 => "less".to_owned(),
                    _ => {
                        let bytes = (VOLUME_STEPS[shade - 1] * largest as f64) as u64;
                        format!("over {}", labels::bytes(bytes))
                    }
                };
                edge(format!("volume-{shade}"), text)
            })
            .collect(),
    }
}

/// Where each entry is: its left end and its line.
fn places(entries: &[Entry], width: f64) -> Vec<(f64, usize)> {
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

fn draw_entries(xml: &mut Xml, entries: &[Entry], class: &str, left: f64, top: f64, width: f64) {
    xml.open("g", &[("class", &class)]);
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
        Sample::Edge(class, width) => {
            let path = format!("M{} {}h{}", Px(x), Px(y), Px(SAMPLE));
            xml.empty("path", &[("class", class), ("d", &path), ("stroke-width", &Px(*width))]);
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
