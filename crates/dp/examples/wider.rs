//! Times of the engines for copy-first and consecutive trees, and of deadline splitting.
//!
//! ```text
//! cargo run --release -p tuwtree-dp --example wider -- 500 2000 8000
//! ```
//!
//! For each number of processors, over the papers' eleven distributions (b = 1000, rho = 5, root 0),
//! gamma = 0 and beta, lambda/alpha = 0, 0.5 and 0.9, alpha = 5200 and beta = 1: the least, mean and
//! greatest time on the processor, and how wide the bracket is where clocks are rounded to 8 of them.

use std::error::Error;
use std::time::Instant;
use tuwtree_dp::wider::{Class, Engine, Overlapping, optimal};
use tuwtree_model::{BlockSizes, Distribution, Randomness, Root, Scale};

fn main() -> Result<(), Box<dyn Error>> {
    let counts: Vec<usize> =
        std::env::args().skip(1).map(|p| p.parse()).collect::<Result<_, _>>()?;
    println!(
        "    p  class         clocks  lambda/alpha  gamma/beta  seconds: least   mean   most  bracket %: mean    most"
    );
    for p in if counts.is_empty() { vec![500, 2000] } else { counts } {
        for class in Class::ALL {
            for share in [0.0, 0.5, 0.9] {
                for gamma in [0.0, 1.0] {
                    row(p, class, share, gamma)?;
                }
            }
        }
    }
    Ok(())
}

fn row(p: usize, class: Class, share: f64, gamma: f64) -> Result<(), Box<dyn Error>> {
    let alpha = 5200.0;
    let costs = Overlapping::new(alpha * share, alpha - alpha * share, 1.0, gamma)?;
    let (mut seconds, mut widths) = (Vec::new(), Vec::new());
    for distribution in Distribution::ALL {
        let sizes = sizes(distribution, p)?;
        let started = Clock::now();
        let engine = Engine::Dense { most_clocks: MOST_CLOCKS };
        let solution = optimal(&sizes, &costs, Root::Given(0), class, engine, &())?;
        seconds.push(started.seconds());
        widths.push(100.0 * (solution.time / solution.at_least - 1.0));
    }
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let most = |values: &[f64]| values.iter().copied().fold(0.0, f64::max);
    let least = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    println!(
        "{p:5}  {:12}  {:6}  {share:12}  {gamma:10}  {least:14.3} {:6.3} {:6.3}  {:15.4} {:7.4}",
        class.name(),
        if class == Class::CopyFirst { 0 } else { MOST_CLOCKS },
        mean(&seconds),
        most(&seconds),
        mean(&widths),
        most(&widths),
    );
    Ok(())
}

/// The clocks to which copies are rounded.
const MOST_CLOCKS: usize = 8;

fn sizes(distribution: Distribution, p: usize) -> Result<BlockSizes, Box<dyn Error>> {
    let scale = Scale { processors: p, mean_block: 1000, rho: 5 };
    Ok(distribution.sizes(scale, Randomness::default())?)
}

/// Time on the processor where the system tells it (Linux), else time that passed.
struct Clock {
    started: Instant,
    on_processor: Option<f64>,
}

impl Clock {
    fn now() -> Clock {
        Clock { started: Instant::now(), on_processor: on_processor() }
    }

    fn seconds(&self) -> f64 {
        match (self.on_processor, on_processor()) {
            (Some(before), Some(now)) => now - before,
            _ => self.started.elapsed().as_secs_f64(),
        }
    }
}

fn on_processor() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}
