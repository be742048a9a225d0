//! Time and memory of optimal trees against the number of ranks, for every method.
//!
//! `cargo bench --bench scaling` doubles p until a computation would take longer than a limit, and
//! prints what each took. Every computation is a process of its own, which computes one tree and
//! reports its time, the peak of its memory and the tree's value; methods have to agree on the
//! latter. Blocks are those of the papers' experiments with b = 1000 and rho = 5; alpha = 100 and
//! beta = 1.
//!
//! Arguments follow `--`: `--max-seconds 40`, `--max-ranks 100000`, `--quick` (a smoke run),
//! and `--plot docs/figures/scaling.svg` for a drawing and, beside it, a file of the figures as
//! comma-separated values.

use clap::Parser;
use plotters::coord::Shift;
use plotters::prelude::*;
use std::error::Error;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;
use tuwtree_dp::{Method, optimal_adjacent};
use tuwtree_model::{
    ClosedSet, Distribution, DistributionParameters, Homogeneous, Problem, Randomness, Root,
};

/// The first number of ranks.
const LEAST: usize = 250;

/// What is measured: a distribution and its gamma, and the colour it has in the drawing. The
/// colours differ in brightness too, for those who do not see all hues (Okabe and Ito).
const CASES: [(Distribution, f64, RGBColor); 5] = [
    (Distribution::Same, 1.0, RGBColor(204, 121, 167)),
    (Distribution::Random, 1.0, RGBColor(230, 159, 0)),
    (Distribution::Spikes, 1.0, RGBColor(0, 114, 178)),
    (Distribution::Skewed, 1.0, RGBColor(0, 158, 115)),
    (Distribution::Increasing, 0.0, RGBColor(30, 30, 30)),
];

/// Time and memory of optimal trees against the number of ranks.
#[derive(Parser)]
struct Options {
    /// Stop doubling p before a computation would take longer.
    #[arg(long, default_value_t = 10.0)]
    max_seconds: f64,
    /// Stop at this p, whatever the method.
    #[arg(long, default_value_t = 1_024_000)]
    max_ranks: usize,
    /// A smoke run: p up to 500.
    #[arg(long)]
    quick: bool,
    /// Draw time and memory into this SVG file, and write a CSV file beside it; seen from the
    /// workspace's directory.
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Measure one computation and report it: what the child processes do.
    #[arg(long, hide = true, num_args = 4, value_names = ["METHOD", "CASE", "ROOT", "P"])]
    measure: Option<Vec<String>>,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

/// One computation.
#[derive(Clone, Copy, PartialEq)]
struct Task {
    method: Method,
    /// Which of [`CASES`].
    case: usize,
    /// True if the root is given (the middle rank); else it is chosen.
    given_root: bool,
    ranks: usize,
}

/// What a computation took.
#[derive(Clone, Copy)]
struct Measurement {
    task: Task,
    seconds: f64,
    /// The peak of the process's memory, where the system tells.
    mebibytes: Option<f64>,
    /// The tree's completion time.
    value: f64,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse();
    if let Some(words) = &options.measure {
        let (seconds, peak, value) = Task::from_words(words)?.perform()?;
        println!("{seconds} {} {value}", peak.map_or("-".to_owned(), |peak| peak.to_string()));
        return Ok(());
    }
    // Cargo runs benchmarks in the directory of their crate.
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let plot = options.plot.as_ref().map(|path| workspace.join(path));
    if let Some(directory) = plot.as_deref().and_then(Path::parent) {
        std::fs::create_dir_all(directory)?;
    }
    let mut measurements = Vec::new();
    for given_root in [false, true] {
        for case in 0..CASES.len() {
            let first = measurements.len();
            for method in Method::all() {
                series(Task { method, case, given_root, ranks: LEAST }, &options, |found| {
                    measurements.push(found);
                })?;
            }
            print_table(&measurements[first..])?;
        }
    }
    if let Some(path) = &plot {
        write_csv(&path.with_extension("csv"), &measurements)?;
        draw(path, &measurements)?;
    }
    Ok(())
}

/// Beyond which p a method is not worth waiting for, or has no room.
fn most_ranks(method: Method) -> usize {
    match method.name() {
        "plain" => 2000,
        "dense" => 16_000,
        _ => 1_024_000,
    }
}

/// Measures a task with p doubled again and again.
fn series(
    first: Task,
    options: &Options,
    mut report: impl FnMut(Measurement),
) -> Result<(), Box<dyn Error>> {
    let mut most = most_ranks(first.method).min(options.max_ranks);
    if options.quick {
        most = most.min(2 * LEAST);
    }
    let mut task = first;
    let mut before: Option<f64> = None;
    while task.ranks <= most {
        let found = task.measure()?;
        report(found);
        // The next one takes as much longer as this one did, but not less than twice as long.
        let growth = before.map_or(8.0, |before| (found.seconds / before).clamp(2.0, 8.0));
        if found.seconds * growth > options.max_seconds {
            break;
        }
        before = Some(found.seconds);
        task.ranks *= 2;
    }
    Ok(())
}

impl Task {
    /// The words by which a child process is told its task.
    fn words(self) -> [String; 4] {
        let root = if self.given_root { "given" } else { "best" };
        [
            self.method.name().to_owned(),
            self.case.to_string(),
            root.to_owned(),
            self.ranks.to_string(),
        ]
    }

    fn from_words(words: &[String]) -> Result<Task, Box<dyn Error>> {
        let [method, case, root, ranks] = words else { return Err("four words".into()) };
        Ok(Task {
            method: method.parse()?,
            case: case.parse()?,
            given_root: root == "given",
            ranks: ranks.parse()?,
        })
    }

    /// Has a child process perform the task.
    fn measure(self) -> Result<Measurement, Box<dyn Error>> {
        let output = Command::new(std::env::current_exe()?)
            .arg("--measure")
            .args(self.words())
            .stderr(Stdio::inherit())
            .output()?;
        let text = String::from_utf8(output.stdout)?;
        let words: Vec<&str> = text.split_whitespace().collect();
        let (true, [seconds, peak, value]) = (output.status.success(), words.as_slice()) else {
            return Err(format!("{}: {}", self.words().join(" "), output.status).into());
        };
        Ok(Measurement {
            task: self,
            seconds: seconds.parse()?,
            mebibytes: peak.parse().ok(),
            value: value.parse()?,
        })
    }

    /// Performs the task: seconds, mebibytes, the tree's completion time.
    fn perform(self) -> Result<(f64, Option<f64>, f64), Box<dyn Error>> {
        let (distribution, gamma, _) = CASES[self.case];
        let parameters = DistributionParameters::new(self.ranks, 1000);
        let sizes = distribution.sizes(parameters, Randomness::default())?;
        let costs = Homogeneous::new(100.0, 1.0, gamma)?;
        let root = if self.given_root { Root::Given(self.ranks / 2) } else { Root::Best };
        let problem = Problem::gather(&sizes, costs)?.with_root(root)?;
        let start = Instant::now();
        let optimum = optimal_adjacent(&problem, self.method, &())?;
        Ok((start.elapsed().as_secs_f64(), peak_mebibytes(), optimum.value))
    }
}

/// The most memory that this process has had at any time, where the system tells.
fn peak_mebibytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes / 1024.0)
}

/// How a case is called in tables and in the drawing.
fn case_name(case: usize) -> String {
    let (distribution, gamma, _) = CASES[case];
    format!("{}, gamma = {gamma}", distribution.name())
}

/// What all methods took for one case and kind of root, and how many times faster each is than the
/// one before it.
fn print_table(measurements: &[Measurement]) -> Result<(), Box<dyn Error>> {
    let Some(Task { case, given_root, .. }) = measurements.first().map(|first| first.task) else {
        return Ok(());
    };
    let root = if given_root { "given" } else { "best" };
    println!("\n{}, {root} root", case_name(case));
    print!("{:>9}", "p");
    for (at, method) in Method::all().enumerate() {
        print!("{:>12}{:>11}", format!("{} s", method.name()), "MiB");
        if at > 0 {
            print!("{:>14}", format!("{}/{}", Method::ALL[at - 1].name(), method.name()));
        }
    }
    println!();
    let mut sizes: Vec<usize> = measurements.iter().map(|found| found.task.ranks).collect();
    sizes.sort_unstable();
    sizes.dedup();
    for ranks in sizes {
        print!("{ranks:>9}");
        let row: Vec<Option<&Measurement>> = Method::all()
            .map(|method| {
                let task = Task { method, case, given_root, ranks };
                measurements.iter().find(|found| found.task == task)
            })
            .collect();
        for (at, found) in row.iter().enumerate() {
            let seconds = found.map_or("-".to_owned(), |found| format!("{:.4}", found.seconds));
            let memory = found.and_then(|found| found.mebibytes);
            let memory = memory.map_or("-".to_owned(), |memory| format!("{memory:.1}"));
            print!("{seconds:>12}{memory:>11}");
            if at > 0 {
                let ratio = row[at - 1].zip(*found).map(|(one, other)| one.seconds / other.seconds);
                let ratio = ratio.map_or("-".to_owned(), |ratio| format!("{ratio:.1}"));
                print!("{ratio:>14}");
            }
        }
        println!();
        let mut values = row.iter().flatten().map(|found| found.value);
        let first = values.next();
        if values.any(|value| Some(value) != first) {
            return Err(format!("the methods disagree at p = {ranks}").into());
        }
    }
    Ok(())
}

fn write_csv(path: &Path, measurements: &[Measurement]) -> Result<(), Box<dyn Error>> {
    let mut file = csv::Writer::from_path(path)?;
    file.write_record([
        "method",
        "distribution",
        "gamma",
        "root",
        "ranks",
        "seconds",
        "peak_mebibytes",
        "completion_time",
    ])?;
    for found in measurements {
        let [method, _, root, ranks] = found.task.words();
        let (distribution, gamma, _) = CASES[found.task.case];
        file.write_record([
            method,
            distribution.name().to_owned(),
            gamma.to_string(),
            root,
            ranks,
            format!("{:.6}", found.seconds),
            found.mebibytes.map_or(String::new(), |memory| format!("{memory:.1}")),
            found.value.to_string(),
        ])?;
    }
    file.flush()?;
    Ok(())
}

const CAPTION: (&str, u32) = ("sans-serif", 20);
const TEXT: (&str, u32) = ("sans-serif", 16);

/// Time and memory against p, for a chosen and a given root.
fn draw(path: &Path, measurements: &[Measurement]) -> Result<(), Box<dyn Error>> {
    let drawing = SVGBackend::new(path, (1200, 900)).into_drawing_area();
    drawing.fill(&WHITE)?;
    let (charts, key) = drawing.split_horizontally(980);
    let panels = charts.split_evenly((2, 2));
    for (column, given_root) in [false, true].into_iter().enumerate() {
        let root = if given_root { "given root" } else { "best root" };
        let of_root: Vec<&Measurement> =
            measurements.iter().filter(|found| found.task.given_root == given_root).collect();
        panel(&panels[column], &format!("seconds, {root}"), &of_root, |found| Some(found.seconds))?;
        let caption = format!("peak memory in MiB, {root}");
        panel(&panels[2 + column], &caption, &of_root, |found| found.mebibytes)?;
    }
    draw_key(&key)?;
    drawing.present()?;
    println!("{}", path.display());
    Ok(())
}

/// One chart: a line for each case and method.
fn panel(
    area: &DrawingArea<SVGBackend<'_>, Shift>,
    caption: &str,
    measurements: &[&Measurement],
    quantity: impl Fn(&Measurement) -> Option<f64>,
) -> Result<(), Box<dyn Error>> {
    let ranks = measurements.iter().map(|found| found.task.ranks as f64);
    let quantities = measurements.iter().filter_map(|found| quantity(found));
    let mut chart = ChartBuilder::on(area)
        .caption(caption, CAPTION)
        .margin(14)
        .x_label_area_size(42)
        .y_label_area_size(72)
        .build_cartesian_2d(span(ranks).log_scale(), span(quantities).log_scale())?;
    chart
        .configure_mesh()
        .x_desc("processes p")
        .x_labels(5)
        .y_labels(8)
        .x_label_formatter(&|p| format!("{p}"))
        .y_label_formatter(&|value| format!("{value}"))
        .light_line_style(WHITE)
        .bold_line_style(BLACK.mix(0.12))
        .axis_desc_style(TEXT)
        .label_style(TEXT)
        .draw()?;
    for (case, &(_, _, colour)) in CASES.iter().enumerate() {
        for (at, method) in Method::all().enumerate() {
            let points: Vec<(f64, f64)> = measurements
                .iter()
                .filter(|found| found.task.case == case && found.task.method == method)
                .filter_map(|found| Some((found.task.ranks as f64, quantity(found)?)))
                .collect();
            let style = colour.stroke_width(2);
            chart.draw_series(LineSeries::new(points.iter().copied(), style))?;
            chart.draw_series(
                points.iter().map(|&point| {
                    EmptyElement::at(point) + Polygon::new(mark(at), colour.filled())
                }),
            )?;
        }
    }
    Ok(())
}

/// The powers of ten around some numbers.
fn span(numbers: impl Iterator<Item = f64>) -> Range<f64> {
    let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
    for number in numbers.filter(|&number| number > 0.0) {
        least = least.min(number);
        most = most.max(number);
    }
    if least > most {
        return 1.0..10.0;
    }
    let floor = 10_f64.powi(least.log10().floor() as i32);
    floor..(10_f64.powi(most.log10().ceil() as i32)).max(10.0 * floor)
}

/// The corners of the mark of the method at this place of [`Method::ALL`].
fn mark(method: usize) -> Vec<(i32, i32)> {
    match method {
        0 => vec![(-4, -4), (4, -4), (4, 4), (-4, 4)],
        1 => vec![(-5, 4), (5, 4), (0, -5)],
        2 => vec![(-5, 0), (0, -5), (5, 0), (0, 5)],
        _ => vec![(-6, -2), (6, -2), (6, 2), (-6, 2)],
    }
}

/// Which colour and which mark stand for what.
fn draw_key(area: &DrawingArea<SVGBackend<'_>, Shift>) -> Result<(), Box<dyn Error>> {
    let style = TextStyle::from(TEXT.into_font());
    let mut y = 70;
    for (case, &(_, _, colour)) in CASES.iter().enumerate() {
        area.draw(&PathElement::new([(4, y + 8), (34, y + 8)], colour.stroke_width(4)))?;
        area.draw_text(&case_name(case), &style, (42, y))?;
        y += 28;
    }
    y += 20;
    for (at, method) in Method::all().enumerate() {
        area.draw(&(EmptyElement::at((19, y + 8)) + Polygon::new(mark(at), BLACK.filled())))?;
        area.draw_text(method.name(), &style, (42, y))?;
        y += 28;
    }
    Ok(())
}
