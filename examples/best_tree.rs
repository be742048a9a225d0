//! The best tree for these counts on this machine, and its schedule.
//!
//! `cargo run --release --example best_tree`

use tuwtree::{BlockSizes, ClosedSet, Homogeneous, Problem, Root, best};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let counts = BlockSizes::new([5, 1, 1, 5000, 1, 1, 1, 5])?;
    let machine = Homogeneous::new(2e-6, 1e-10, 1e-10)?; // 2 us, 10 GB/s, 10 GB/s
    let problem = Problem::gather(&counts, machine)?.with_root(Root::Given(3))?;
    let best = best(&problem)?;
    println!("{}: {} s", best.construction.name(), best.time());
    let schedule = best.plan().schedule(&problem)?;
    for rank in 0..problem.ranks() {
        println!("rank {rank}: {} actions", schedule.programs().actions(rank).len());
    }
    Ok(())
}
