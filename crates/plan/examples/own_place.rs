//! Time in which a rank finds its place in the tree `deadline-online`, at InfiniBand's costs, the shortest of 30: the
//! problems of `tests/c_header/time.c`, which plans by the header for C.
//!
//! ```text
//! cargo run --release -p tuwtree-plan --example own_place
//! ```

use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};
use tuwtree_model::{BlockSizes, Homogeneous, Problem, Root};
use tuwtree_plan::catalogue::found_online;

fn main() -> Result<(), Box<dyn Error>> {
    let costs = Homogeneous::new(3.5e-6, 4.3e-11, 0.0)?.with_overhead(1e-7)?;
    for ranks in [64, 1024, 16_384, 65_536] {
        let mut state = 1_u64;
        let mut block = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) % 4000
        };
        let sizes = BlockSizes::new((0..ranks).map(|_| block()))?;
        let problem = Problem::gather(&sizes, costs)?.with_root(Root::Given(ranks / 3))?;
        let mut shortest = Duration::MAX;
        for turn in 0..30 {
            let start = Instant::now();
            black_box(found_online(&problem, turn * 7919 % ranks)?);
            shortest = shortest.min(start.elapsed());
        }
        println!("{ranks:>8} ranks {:>8.0} us", 1e6 * shortest.as_secs_f64());
    }
    Ok(())
}
