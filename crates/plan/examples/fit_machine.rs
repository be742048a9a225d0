//! Costs of a supercomputer, fitted to times of its collectives (`data/real`).
//!
//! ```text
//! cargo run --release -p tuwtree-plan --example fit_machine -- fugaku
//! ```
//!
//! Eight parameters: latency, overhead, time per byte up to 64 KiB, up to 16 MiB and beyond, added latency beyond the eager limit
//! of 8 KiB, overhead of a send, and time per byte of a copy; and how ports serve. Least is the sum of the mean error of times, as
//! a factor's logarithm, and the mean of what the choice between algorithms loses. Random changes of single parameters are
//! kept if they gain.

#[path = "../tests/real/rows.rs"]
mod rows;

use rows::{Plans, Row, losses, rows};
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    Costs, Hierarchy, Level, LinkLaw, MeasuredSize, MeasuredSizes, Network, Placement, PortKind,
    Randomness,
};

const EAGER: u64 = 8192;
const LARGE: u64 = 65_536;
const HUGE: u64 = 1 << 24;
const STEPS: usize = 500;

/// In seconds and bytes: latency, overhead, per byte, more latency, per byte beyond, of a send, per byte of a copy, per byte of a
/// huge message.
type Parameters = [f64; 8];

fn main() {
    let name = std::env::args().nth(1).expect("fugaku, mare_nostrum or leonardo");
    let rows = rows(&name);
    let mut plans = Plans::default();
    let mut best: Option<(f64, Parameters, PortKind)> = None;
    for port in [PortKind::FirstInFirstOut, PortKind::Fair] {
        for seed in 0..3 {
            let mut random = Randomness::Xoshiro { seed }.uniform(2 * STEPS).into_iter();
            let mut random = || random.next().expect("two for each step");
            let mut now = [1e-6, 5e-7, 1e-10, 1e-6, 1e-10, 3e-7, 1e-10, 2e-10];
            let mut value = cost(&rows, &mut plans, &machine(&now, port));
            for step in 0..STEPS {
                let width = if step < 150 { 1.0 } else { 0.2 };
                let at = ((random() * 8.0) as usize).min(7);
                let mut next = now;
                next[at] *= ((random() * 2.0 - 1.0) * width).exp();
                let found = cost(&rows, &mut plans, &machine(&next, port));
                if found < value {
                    (now, value) = (next, found);
                }
            }
            eprintln!("{port:?} seed {seed}: {value:.4}");
            if best.as_ref().is_none_or(|(least, ..)| value < *least) {
                best = Some((value, now, port));
            }
        }
    }
    let (value, parameters, port) = best.expect("tried");
    let machine = machine(&parameters, port);
    let mut errors: Vec<f64> =
        rows.iter().map(|row| plans.predicted(row, &machine) / row.median_us).collect();
    errors.sort_by(f64::total_cmp);
    let losses = losses(&rows, &mut plans, &machine);
    let near = losses.iter().filter(|&&loss| loss <= 1.1).count();
    println!("{value:.4} {port:?} {parameters:?}");
    println!(
        "predicted / measured: {:.2} {:.2} {:.2}",
        errors[errors.len() / 10],
        errors[errors.len() / 2],
        errors[errors.len() * 9 / 10]
    );
    println!(
        "choices within 10 %: {near} of {}, worst {:.2}",
        losses.len(),
        losses.last().copied().unwrap_or(1.0)
    );
}

fn cost(rows: &[Row], plans: &mut Plans, machine: &Machine) -> f64 {
    let errors = rows.iter().map(|row| (plans.predicted(row, machine) / row.median_us).ln().abs());
    let mean = errors.sum::<f64>() / rows.len() as f64;
    let losses = losses(rows, plans, machine);
    mean + 2.0 * losses.iter().map(|loss| loss.ln()).sum::<f64>() / losses.len().max(1) as f64
}

fn machine(
    &[latency, overhead, per_byte, more, beyond, send, copy, huge]: &Parameters,
    port: PortKind,
) -> Machine {
    let size = |bytes: u64, latency: f64| {
        let (large, largest) = (bytes.min(HUGE).saturating_sub(LARGE), bytes.saturating_sub(HUGE));
        let on_wire = per_byte * bytes.min(LARGE) as f64 + beyond * large as f64;
        MeasuredSize { bytes, latency, occupancy: overhead + on_wire + huge * largest as f64 }
    };
    let sizes = vec![
        size(1, latency),
        size(EAGER, latency),
        size(EAGER + 1, latency + more),
        size(LARGE, latency + more),
        size(HUGE, latency + more),
        size(2 * HUGE, latency + more),
    ];
    let links = LinkLaw::Measured(MeasuredSizes::new(sizes).expect("sizes"));
    let levels = vec![Level { name: "network".into(), members: 1 << 20, links }];
    Machine {
        name: "fitted".into(),
        date: Date::parse("2026-11-26").expect("a date"),
        provenance: "fitted".into(),
        costs: Costs::Hierarchical(Hierarchy::new(levels, Placement::Block, copy).expect("levels")),
        network: Network {
            port,
            eager_limit: Some(EAGER),
            send_overhead: Some(send),
            ..Network::default()
        },
        combine_per_byte: 0.0,
    }
}
