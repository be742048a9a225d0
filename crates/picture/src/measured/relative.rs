//! Measured times over the library's own call's: a row for each problem, faster on the left.

use crate::frame::{MARGIN, PictureStyle as Frame, TEXT, draw_title, open_picture, title_height};
use crate::labels;
use crate::palette::{BLUE, FAINT, LINE, ORANGE, VERMILION};
use crate::svg::{Px, Xml};
use std::fmt::Display;
use tuwtree_measure::{Algorithm, Contest, Relative};
use tuwtree_model::quantity::{seconds, tick};

/// A picture of relative times.
#[derive(Clone, Debug)]
pub struct RelativePicture<'a> {
    /// The title.
    pub title: String,
    /// Lines below the title.
    pub lines: Vec<String>,
    /// The problems, a row each.
    pub contests: Vec<Contest<'a>>,
}

/// The height of a row.
const ROW: f64 = 20.0;
/// The most rows of a picture.
const MOST_ROWS: usize = 120;
/// Left and right ends of the axis, between names and times.
const AXIS: (f64, f64) = (380.0, 800.0);
/// The width of the picture.
const WIDTH: f64 = 1100.0;
/// Ticks of the axis that are drawn if they lie on it.
const TICKS: [f64; 13] =
    [0.001, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0];

/// An axis of ratios.
struct Ratios {
    low: f64,
    high: f64,
}

impl Ratios {
    fn over(values: impl Iterator<Item = f64>) -> Ratios {
        let ends = values.fold((0.5_f64, 2.0_f64), |(low, high), value| {
            (low.min(value / 1.1), high.max(value * 1.1))
        });
        Ratios { low: ends.0, high: ends.1 }
    }

    fn at(&self, ratio: f64) -> f64 {
        AXIS.0 + (ratio / self.low).ln() / (self.high / self.low).ln() * (AXIS.1 - AXIS.0)
    }

    fn holds(&self, ratio: f64) -> bool {
        (self.low..=self.high).contains(&ratio)
    }
}

/// Marks of a row: `auto`, and the fastest other algorithm.
fn marks(contest: &Contest<'_>) -> Vec<(Algorithm, Relative)> {
    let auto = contest.relative(Algorithm::Auto).map(|one| (Algorithm::Auto, one));
    let fastest = contest.fastest().filter(|(one, _)| *one != Algorithm::Auto);
    fastest.into_iter().chain(auto).collect()
}

impl RelativePicture<'_> {
    /// The picture as SVG; of more than 120 problems, the first 120.
    pub fn svg(&self) -> String {
        self.drawn(Frame::Alone)
    }

    pub(super) fn drawn(&self, frame: Frame) -> String {
        let rows: Vec<(&Contest<'_>, Vec<(Algorithm, Relative)>)> =
            self.contests.iter().take(MOST_ROWS).map(|one| (one, marks(one))).collect();
        let mut lines = self.lines.clone();
        if rows.len() < self.contests.len() {
            lines.push(format!("the first {MOST_ROWS} of {} problems", self.contests.len()));
        }
        let all = rows.iter().flat_map(|(_, marks)| marks);
        let axis = Ratios::over(all.flat_map(|(_, one)| {
            let interval = one.interval.map(|ends| [ends.low, ends.high]);
            interval.into_iter().flatten().chain([one.ratio])
        }));
        let top = title_height(lines.len()) + 34.0;
        let bottom = top + ROW * rows.len() as f64;
        let height = bottom + MARGIN;
        let mut xml = Xml::default();
        open_picture(&mut xml, frame, &self.title, WIDTH, height, "picture relative");
        let room = WIDTH - 2.0 * MARGIN;
        let lines: Vec<String> =
            lines.iter().map(|line| labels::fitted(line, TEXT, room)).collect();
        draw_title(&mut xml, &self.title, &lines, WIDTH);
        draw_axis(&mut xml, &axis, (top, bottom));
        draw_legend(&mut xml, &rows, top - 26.0);
        for (index, (contest, marks)) in rows.iter().enumerate() {
            draw_row(&mut xml, contest, marks, &axis, top + ROW * (index as f64 + 0.5));
        }
        xml.close();
        xml.finish()
    }
}

fn draw_axis(xml: &mut Xml, axis: &Ratios, (top, bottom): (f64, f64)) {
    for ratio in TICKS.into_iter().filter(|&ratio| axis.holds(ratio)) {
        let is_one = ratio == 1.0;
        let colour = if is_one { VERMILION } else { LINE };
        line(xml, [axis.at(ratio), top, axis.at(ratio), bottom], colour, 1.0);
        let place: [(&str, &dyn Display); 3] =
            [("class", &"caption"), ("x", &Px(axis.at(ratio))), ("y", &Px(top - 6.0))];
        let text = if is_one { "1x (library)".to_owned() } else { format!("{}x", tick(ratio)) };
        xml.text("text", &place, text);
    }
}

/// The colours that occur, and their meanings.
fn draw_legend(xml: &mut Xml, rows: &[(&Contest<'_>, Vec<(Algorithm, Relative)>)], y: f64) {
    let mut x = AXIS.0;
    for (is_auto, colour, text) in
        [(true, BLUE, "auto"), (false, ORANGE, "fastest other algorithm")]
    {
        let mut marks = rows.iter().flat_map(|(_, marks)| marks);
        if marks.any(|(one, _)| (*one == Algorithm::Auto) == is_auto) {
            dot(xml, (x, y), colour);
            xml.text("text", &[("x", &Px(x + 10.0)), ("y", &Px(y + 4.0))], text);
            x += 90.0;
        }
    }
}

fn draw_row(
    xml: &mut Xml,
    contest: &Contest<'_>,
    marks: &[(Algorithm, Relative)],
    axis: &Ratios,
    y: f64,
) {
    let name = labels::fitted(&contest.name, TEXT, AXIS.0 - MARGIN - 14.0);
    xml.open("g", &[("class", &"row")]);
    xml.text("title", &[], said(contest));
    xml.text("text", &[("x", &Px(MARGIN)), ("y", &Px(y + 4.0))], name);
    for (algorithm, one) in marks {
        let colour = if *algorithm == Algorithm::Auto { BLUE } else { ORANGE };
        if let Some(ends) = one.interval {
            line(xml, [axis.at(ends.low), y, axis.at(ends.high), y], colour, 2.0);
        }
        dot(xml, (axis.at(one.ratio), y), colour);
    }
    let native = contest.of(Algorithm::Native);
    let mut words: Vec<String> = native.iter().map(|one| seconds(one.median())).collect();
    match marks {
        [] => words.push("no verdict".to_owned()),
        _ => words.extend(
            marks.iter().map(|(one, relative)| format!("{} {:.2}x", one.name(), relative.ratio)),
        ),
    }
    let text = labels::fitted(&words.join(", "), TEXT, WIDTH - MARGIN - AXIS.1 - 14.0);
    let place: [(&str, &dyn Display); 3] =
        [("class", &"faint"), ("x", &Px(AXIS.1 + 14.0)), ("y", &Px(y + 4.0))];
    xml.text("text", &place, text);
    xml.close();
}

/// All figures of a row in words.
fn said(contest: &Contest<'_>) -> String {
    let words = contest.entries.iter().map(|(algorithm, times)| {
        let late = match times.late_starts() {
            None | Some(0) => String::new(),
            Some(late) => format!(" ({late} of {} starts late)", times.seconds.len()),
        };
        format!("{} {}{late}", algorithm.name(), seconds(times.median()))
    });
    format!("{}: {}", contest.name, words.collect::<Vec<_>>().join(", "))
}

fn line(xml: &mut Xml, ends: [f64; 4], colour: &str, width: f64) {
    let [x1, y1, x2, y2] = ends.map(Px);
    let ends: [(&str, &dyn Display); 4] = [("x1", &x1), ("y1", &y1), ("x2", &x2), ("y2", &y2)];
    let style: [(&str, &dyn Display); 2] = [("stroke", &colour), ("stroke-width", &Px(width))];
    xml.empty("line", &[&ends[..], &style].concat());
}

fn dot(xml: &mut Xml, (x, y): (f64, f64), colour: &str) {
    let place: [(&str, &dyn Display); 3] = [("cx", &Px(x)), ("cy", &Px(y)), ("r", &Px(4.0))];
    xml.empty("circle", &[&place[..], &[("fill", &colour), ("stroke", &FAINT)]].concat());
}

#[cfg(test)]
mod tests {
    use super::super::tests::measured;
    use super::*;

    #[test]
    fn each_problem_has_a_row_with_auto_and_the_fastest_other_algorithm() {
        let all = [Algorithm::Native, Algorithm::Padded, Algorithm::Auto];
        let measured = measured(&all, &[1, 10]);
        let contests = measured.contests();
        let picture = RelativePicture { title: "a <title>".into(), lines: Vec::new(), contests };
        let svg = picture.svg();
        let parsed = roxmltree::Document::parse(&svg).unwrap();
        let of_class = |class: &str| {
            parsed.descendants().filter(|node| node.attribute("class") == Some(class)).count()
        };
        assert_eq!(of_class("row"), 4);
        // Two for each row, and two of the legend.
        let dots = parsed.descendants().filter(|node| node.has_tag_name("circle"));
        let places: Vec<f64> =
            dots.map(|node| node.attribute("cx").unwrap().parse().unwrap()).collect();
        assert_eq!(places.len(), 10);
        // Equal times: the middle of the axis.
        let middle = f64::midpoint(AXIS.0, AXIS.1);
        assert!(places[2..].iter().all(|x| (x - middle).abs() < 0.01), "{places:?}");
        assert!(svg.contains("spikes, mean block 40 B"), "{svg}");
    }

    #[test]
    fn the_library_alone_has_no_verdict() {
        let measured = measured(&[Algorithm::Native], &[1]);
        let contests = measured.contests();
        let svg = RelativePicture { title: "one".into(), lines: Vec::new(), contests }.svg();
        assert_eq!(svg.matches(", no verdict").count(), 2);
    }
}
