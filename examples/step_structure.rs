//! Draws why run lengths pay: the excess `E(i,j) = C(i,j) - beta S(i,j)` of optimal trees along
//! rows of the table, and how many constant runs a row has.
//!
//! `cargo run --release --example step_structure` writes `step_structure.svg` and
//! `runs_per_row.svg` into `docs/figures`, or into the directory given as argument. The drawings
//! depend on nothing but the published random numbers: the same bytes on every machine.

use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::path::PathBuf;
use tuwtree_dp::{Triangle, dense};
use tuwtree_model::{
    ClosedSet, Distribution, DistributionParameters, Homogeneous, Randomness, ScaledSizes,
};

/// The latency, by far smaller than the mean block.
const ALPHA: i32 = 100;

/// Processes of the tables whose rows are drawn one by one.
const FEW: usize = 200;

/// Colours that differ in brightness too, for those who do not see all hues (Okabe and Ito).
const BLUE: RGBColor = RGBColor(0, 114, 178);
const ORANGE: RGBColor = RGBColor(230, 159, 0);
const GREEN: RGBColor = RGBColor(0, 158, 115);
const PURPLE: RGBColor = RGBColor(204, 121, 167);
const BLACK: RGBColor = RGBColor(30, 30, 30);

const CAPTION: (&str, u32) = ("sans-serif", 21);
const TEXT: (&str, u32) = ("sans-serif", 17);

type Drawing<'a> = DrawingArea<SVGBackend<'a>, Shift>;

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args_os().nth(1).map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/figures")),
        PathBuf::from,
    );
    std::fs::create_dir_all(&directory)?;
    for (name, size, draw) in [
        ("step_structure.svg", (1000, 820), rows as fn(&Drawing<'_>) -> Result<(), Box<dyn Error>>),
        ("runs_per_row.svg", (1000, 430), counts),
    ] {
        let path = directory.join(name);
        let drawing = SVGBackend::new(&path, size).into_drawing_area();
        drawing.fill(&WHITE)?;
        draw(&drawing)?;
        drawing.present()?;
        println!("{}", path.display());
    }
    Ok(())
}

/// The excesses of optimal trees on all ranges: alpha = 100, beta = gamma = 1, mean block 1000.
struct Excesses {
    sizes: ScaledSizes<i32>,
    times: Triangle<i32>,
}

impl Excesses {
    fn new(distribution: Distribution, ranks: usize) -> Result<Excesses, Box<dyn Error>> {
        let parameters = DistributionParameters::new(ranks, 1000);
        let blocks = distribution.sizes(parameters, Randomness::default())?;
        let costs = Homogeneous::new(f64::from(ALPHA), 1.0, 1.0)?;
        let sizes = ScaledSizes::new(&costs, &blocks).ok_or("the times do not fit")?;
        let times = dense::free_root(&sizes, &())?;
        Ok(Excesses { sizes, times })
    }

    /// `E(i,i+1), …, E(i,p-1)`.
    fn row(&self, i: usize) -> impl Iterator<Item = i32> + '_ {
        (i + 1..self.sizes.ranks()).map(move |j| self.times.get(i, j) - self.sizes.volume(i, j))
    }

    /// How many stretches of equal excess row `i` has.
    fn runs(&self, i: usize) -> usize {
        let (mut runs, mut last) = (0, None);
        for excess in self.row(i) {
            runs += usize::from(last != Some(excess));
            last = Some(excess);
        }
        runs
    }

    fn mean_runs(&self) -> f64 {
        let rows = self.sizes.ranks() - 1;
        (0..rows).map(|i| self.runs(i)).sum::<usize>() as f64 / rows as f64
    }
}

/// Some rows of two tables.
fn rows(drawing: &Drawing<'_>) -> Result<(), Box<dyn Error>> {
    let panels = drawing.split_evenly((2, 1));
    for (panel, distribution) in panels.iter().zip([Distribution::Spikes, Distribution::Random]) {
        let excesses = Excesses::new(distribution, FEW)?;
        let name = distribution.name();
        let mut chart = ChartBuilder::on(panel)
            .caption(format!("{name}, p = {FEW}, alpha = {ALPHA}, beta = gamma = 1"), CAPTION)
            .margin(14)
            .x_label_area_size(44)
            .y_label_area_size(62)
            .build_cartesian_2d(0..FEW as i32, 0..980)?;
        chart
            .configure_mesh()
            .x_desc("last rank j")
            .y_desc("excess E(i,j)")
            .x_labels(11)
            .y_labels(10)
            .light_line_style(WHITE)
            .bold_line_style(BLACK.mix(0.12))
            .axis_desc_style(TEXT)
            .label_style(TEXT)
            .draw()?;
        for (i, colour, width) in [(0, BLUE, 4), (50, ORANGE, 3), (100, GREEN, 3), (150, PURPLE, 3)]
        {
            let style = colour.stroke_width(width);
            let label = format!("i = {i}: {} runs in {} cells", excesses.runs(i), FEW - 1 - i);
            chart
                .draw_series(LineSeries::new(staircase(i, excesses.row(i)), style))?
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 26, y)], style));
        }
        chart
            .configure_series_labels()
            .position(SeriesLabelPosition::UpperLeft)
            .margin(12)
            .legend_area_size(34)
            .background_style(WHITE.mix(0.9))
            .border_style(BLACK.mix(0.4))
            .label_font(TEXT)
            .draw()?;
    }
    Ok(())
}

/// The corners of a step function whose values belong to the columns after `i`.
fn staircase(i: usize, row: impl Iterator<Item = i32>) -> impl Iterator<Item = (i32, i32)> {
    row.enumerate().flat_map(move |(at, excess)| {
        let j = (i + 1 + at) as i32;
        [(j, excess), (j + 1, excess)]
    })
}

/// The number of runs row by row, and its mean against p.
fn counts(drawing: &Drawing<'_>) -> Result<(), Box<dyn Error>> {
    let series = [
        (Distribution::Random, ORANGE),
        (Distribution::Bucket, GREEN),
        (Distribution::Spikes, BLUE),
        (Distribution::Same, PURPLE),
    ];
    let (left, right) = drawing.split_horizontally(500);
    let mut chart = ChartBuilder::on(&left)
        .caption(format!("runs of row i, p = {FEW}"), CAPTION)
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(54)
        .build_cartesian_2d(0..FEW as i32, 0..60)?;
    chart
        .configure_mesh()
        .x_desc("first rank i")
        .y_desc("runs in row i")
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.12))
        .x_labels(6)
        .y_labels(7)
        .axis_desc_style(TEXT)
        .label_style(TEXT)
        .draw()?;
    let cells =
        (0..FEW).map(|i| (i as i32, (FEW - 1 - i) as i32)).filter(|&(_, cells)| cells <= 60);
    chart
        .draw_series(LineSeries::new(cells, BLACK.stroke_width(2)))?
        .label("cells")
        .legend(|(x, y)| PathElement::new([(x, y), (x + 26, y)], BLACK.stroke_width(2)));
    for (distribution, colour) in series {
        let excesses = Excesses::new(distribution, FEW)?;
        let style = colour.stroke_width(3);
        let points = (0..FEW - 1).map(|i| (i as i32, excesses.runs(i) as i32));
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(distribution.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 26, y)], style));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .margin(10)
        .legend_area_size(34)
        .background_style(WHITE.mix(0.9))
        .border_style(BLACK.mix(0.4))
        .label_font(TEXT)
        .draw()?;

    let mut chart = ChartBuilder::on(&right)
        .caption("mean runs of a row against p", CAPTION)
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(70)
        .build_cartesian_2d((50.0..5000.0).log_scale(), (2.0..3000.0).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("processes p")
        .y_desc("mean runs of a row")
        .x_labels(4)
        .y_labels(4)
        .x_label_formatter(&|p| format!("{p:.0}"))
        .y_label_formatter(&|runs| format!("{runs:.0}"))
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.12))
        .axis_desc_style(TEXT)
        .label_style(TEXT)
        .draw()?;
    let sizes = [62, 125, 250, 500, 1000, 2000, 4000];
    let cells = sizes.map(|p| (p as f64, p as f64 / 2.0));
    chart.draw_series(LineSeries::new(cells, BLACK.stroke_width(2)))?;
    for (distribution, colour) in series {
        let mut points = Vec::with_capacity(sizes.len());
        for p in sizes {
            points.push((p as f64, Excesses::new(distribution, p)?.mean_runs()));
        }
        println!("{}: {points:.1?}", distribution.name());
        chart.draw_series(LineSeries::new(points.iter().copied(), colour.stroke_width(3)))?;
        chart.draw_series(points.iter().map(|&point| Circle::new(point, 4, colour.filled())))?;
    }
    Ok(())
}
