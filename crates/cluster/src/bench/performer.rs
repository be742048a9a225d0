//! Algorithms ready to be called.

use super::{BenchError, MeasuredData, MeasuredProblem};
use crate::clock::Starts;
use crate::library::LibraryCall;
use std::rc::Rc;
use tuwtree_binding::{Arguments, Communicator, NativeRequest, Place};
use tuwtree_executor::collective::{Collectives, Persistent};
use tuwtree_executor::play::Execution;
use tuwtree_measure::median;

/// Number of timings of setting up once more.
const FURTHER: usize = 5;

/// An algorithm ready to be called.
pub(super) enum Performer<'a> {
    Regular(&'a [u8], &'a mut [u8]),
    Padded(&'a [u8], &'a mut [u8]),
    /// The library's own call.
    Native(&'a LibraryCall, &'a [u8], &'a mut [u8]),
    NativePersistent(NativeRequest<'a>),
    Distributed(Collectives, Arguments<'a>),
    /// All processes know all sizes.
    Online(Collectives, Arguments<'a>),
    DistributedPersistent(Persistent<'a>, Collectives, Arguments<'a>),
    /// A plan, and its output.
    Planned(Box<Execution>, Rc<Place>),
}

impl Performer<'_> {
    /// True if preparation precedes the first call, so that an application waits for it.
    pub(super) fn is_planned(&self) -> bool {
        match self {
            Performer::Regular(..) | Performer::Padded(..) | Performer::Native(..) => false,
            // Calls build their trees, or plan for others.
            Performer::Distributed(..) | Performer::Online(..) => false,
            Performer::NativePersistent(_)
            | Performer::DistributedPersistent(..)
            | Performer::Planned(..) => true,
        }
    }

    /// Median time of setting up once more on its communicator, if parts are shared. Collective.
    pub(super) fn further_seconds(&self, starts: &mut Starts) -> Result<Option<f64>, BenchError> {
        let Performer::DistributedPersistent(_, collectives, arguments) = self else {
            return Ok(None);
        };
        let mut seconds = Vec::new();
        for _ in 0..FURTHER {
            let span = starts.timed(0.0, || -> Result<(), BenchError> {
                collectives.init(arguments)?;
                Ok(())
            })?;
            seconds.push(span.seconds);
        }
        Ok(median(&seconds))
    }

    pub(super) fn perform(
        &mut self,
        problem: &MeasuredProblem,
        communicator: &Communicator,
    ) -> Result<(), BenchError> {
        let regular = |input: &[u8], output: &mut [u8]| match problem.operation.is_outward() {
            true => communicator.scatter_equal(input, output, problem.root),
            false => communicator.gather_equal(input, output, problem.root),
        };
        match self {
            Performer::Regular(input, output) => regular(input, output)?,
            Performer::Padded(input, output) => {
                communicator.greatest(&[problem.layout.block(communicator.rank()) as u64])?;
                regular(input, output)?;
            }
            Performer::Native(call, input, output) => call.run(input, output, communicator)?,
            Performer::NativePersistent(request) => {
                request.start()?;
                request.wait()?;
            }
            Performer::Distributed(collectives, arguments) => {
                collectives.run(arguments)?;
            }
            Performer::Online(collectives, arguments) => {
                let MeasuredData::Blocks(sizes) = &problem.data else {
                    unreachable!("gathers and scatters have blocks")
                };
                collectives.run_knowing(arguments, sizes)?;
            }
            Performer::DistributedPersistent(persistent, ..) => persistent.run()?,
            Performer::Planned(execution, _) => execution.run()?,
        }
        Ok(())
    }
}
