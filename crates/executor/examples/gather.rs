//! Rank i contributes i + 1 numbers: gathered once, then scattered back three times by an
//! operation that is set up once. Run by the `mpirun` of the MPI library it is built with.

use std::error::Error;
use tuwtree_binding::{Arguments, Communicator, Partition, PartitionMut};
use tuwtree_executor::collective::Collectives;
use tuwtree_executor::settings::Setting;

fn main() -> Result<(), Box<dyn Error>> {
    let universe = mpi::initialize().ok_or("MPI is initialized already")?;
    let collectives = Collectives::new(Communicator::world(&universe)?)?;
    collectives.set(Setting::Algorithm, "adaptive")?;
    let (rank, size) = (collectives.communicator().rank(), collectives.communicator().size());
    let root = size - 1;

    let counts: Vec<i32> = (1..=size as i32).collect();
    let displacements: Vec<i32> = (0..size as i32).map(|rank| rank * (rank + 1) / 2).collect();
    let own = vec![rank as u64; rank + 1];
    let mut items = vec![0_u64; size * (size + 1) / 2];
    let all = PartitionMut { items: &mut items, counts: &counts, displacements: &displacements };
    let all = Some(all).filter(|_| rank == root);
    let algorithm = collectives.run(&Arguments::gather(Some(&own), all, root)?)?;

    let mut back = vec![0_u64; rank + 1];
    let all = Partition { items: &items, counts: &counts, displacements: &displacements };
    let all = Some(all).filter(|_| rank == root);
    let mut scatter = collectives.init(&Arguments::scatter(all, Some(&mut back), root)?)?;
    for _ in 0..3 {
        scatter.start()?;
        scatter.wait()?;
    }
    drop(scatter);
    if back != own {
        return Err(format!("rank {rank} got {back:?} for {own:?}").into());
    }
    if rank == root {
        println!("gathered {items:?} by {}", algorithm.name());
    }
    Ok(())
}
