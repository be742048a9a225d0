//! Operations without a root: every rank has all sizes, and works out the same plan by itself, without a message.
//!
//! What is worked out is kept: calls with the same counts go by the plan of the first, and where blocks lie alike,
//! by its messages. What a program gets wrong is compared among all ranks in calls 1, 2, 4, 8, ... only, as in
//! `lenient.rs`, and only for programs that do not know of us.

use super::circulating::{CirculatedPlaces, Circulating, TAGS, rounds_of_a_batch};
use super::prices::{KnownRule, Prices, circulation};
use super::{CollectiveError, Collectives, rounds};
use crate::planning::library_named;
use crate::settings::{RootlessAlgorithm, RootlessChoice};
use crate::sys::{
    ArgumentError, Arguments, Communicator, Handles, Kept, Place, Reuse, library_version,
};
use std::cell::{Cell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;
use tuwtree_collective::{Circulation, Flow, RankRounds};
use tuwtree_model::{BlockSizes, Operation};

/// No more plans are kept on a communicator.
const MOST_KEPT: usize = 8;

/// Nothing can be gained against the library's own call on fewer processes.
const LEAST_PROCESSES: usize = 3;

/// What a communicator keeps of operations without a root.
#[derive(Debug, Default)]
pub(super) struct RootlessPlans {
    /// The last first.
    kept: RefCell<Vec<RootlessPlan>>,
    prices: RefCell<Option<Rc<Prices>>>,
    /// The communicator and the first of the tags of calls.
    tags: RefCell<Option<(Rc<Communicator>, c_int)>>,
    /// How many calls there have been of programs that do not know of us.
    calls: Cell<u64>,
    /// Whether these did not fit together when they were compared last.
    is_loose: Cell<bool>,
}

impl RootlessPlans {
    /// Forgets all plans: settings have changed.
    pub(super) fn clear(&self) {
        self.kept.borrow_mut().clear();
        self.prices.replace(None);
    }
}

/// How an operation goes with certain counts.
#[derive(Debug)]
struct RootlessPlan {
    operation: Operation,
    sizes: BlockSizes,
    /// None for the library's own call.
    circulation: Option<Circulation>,
    /// What performed it last, if it can again.
    performer: Option<Box<Circulating>>,
}

/// What arguments mean.
struct RootlessCall {
    places: CirculatedPlaces,
    sizes: BlockSizes,
    /// What is wrong with the own block, which does not keep others from going on.
    fault: Option<ArgumentError>,
}

impl Collectives {
    /// Performs an allgather, and says by which algorithm. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`].
    pub fn run_allgather(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<RootlessAlgorithm, CollectiveError> {
        let choice = self.settings().rootless();
        if choice.algorithm == RootlessAlgorithm::Native && arguments.are_for_library() {
            self.comm.native(arguments)?;
            return Ok(RootlessAlgorithm::Native);
        }
        if choice.algorithm == RootlessAlgorithm::Auto
            && self.comm.size() < LEAST_PROCESSES
            && arguments.are_for_library()
        {
            self.comm.native(arguments)?;
            return Ok(RootlessAlgorithm::Native);
        }
        let last = self.rootless.kept.borrow_mut().first_mut().and_then(|one| one.performer.take());
        let kept = last.as_ref().map(|one| one.places().clone());
        let parsed = self.parsed_rootless(arguments, Handles::Lent, kept.as_ref());
        // Back where it was, whatever came of it.
        if let Some(first) = self.rootless.kept.borrow_mut().first_mut() {
            first.performer = last;
        }
        let call = parsed?;
        let mut plan = self.plan_for(arguments, &call);
        let Some(circulation) = plan.circulation else {
            self.keep(plan);
            call.let_go();
            self.comm.native(arguments)?;
            return Ok(RootlessAlgorithm::Native);
        };
        let done = self.perform(&mut plan, circulation, call.places);
        self.keep(plan);
        let algorithm = match circulation {
            Circulation::Ring => RootlessAlgorithm::Ring,
            Circulation::Windows => RootlessAlgorithm::Circulant,
            Circulation::Pieces(_) => RootlessAlgorithm::CirculantPieces,
        };
        let rank = self.comm.rank();
        match call.fault {
            Some(error) => Err(CollectiveError::Argument { rank, error }),
            None => done.map(|()| algorithm),
        }
    }

    /// Performs an allgather for a program that does not know of us, and says by which algorithm; `None` if its library
    /// has to, since amounts are not the same everywhere. Collective.
    ///
    /// # Errors
    /// As [`run_allgather`](Self::run_allgather).
    ///
    /// # Complexity
    /// In calls 1, 2, 4, ... `ceil(log2 p)` messages follow one another beforehand, of 16 bytes for each process
    /// at most.
    pub fn run_allgather_leniently(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<RootlessAlgorithm>, CollectiveError> {
        let RootlessPlans { calls, is_loose, .. } = &self.rootless;
        if self.settings().rootless().algorithm != RootlessAlgorithm::Native {
            calls.set(calls.get() + 1);
            if calls.get().is_power_of_two() {
                is_loose.set(!self.fits_together(arguments)?);
            }
            if is_loose.get() {
                return Ok(None);
            }
        }
        self.run_allgather(arguments).map(Some)
    }

    /// Whether all ranks have the same sizes, and each gives as much as these say. Collective.
    fn fits_together(&self, arguments: &Arguments<'_>) -> Result<bool, CollectiveError> {
        const INVALID: u64 = u64::MAX;
        let parsed = self.parsed_rootless(arguments, Handles::Lent, None);
        let (own, all) = match &parsed {
            Ok(RootlessCall { sizes, fault: None, .. }) => (0, hash_of(sizes)),
            _ => (INVALID, INVALID),
        };
        let stated = rounds::all_words(&*self.comm, [own, all])?;
        Ok(stated.iter().all(|one| *one == [0, all]))
    }

    /// Sets up an allgather that is started many times: what performs it, or `None` if the library does. Collective.
    ///
    /// # Errors
    /// [`CollectiveError`], here or elsewhere: whoever has set up agrees.
    pub(super) fn set_up_allgather(
        &self,
        arguments: &Arguments<'_>,
    ) -> Result<Option<Circulating>, CollectiveError> {
        let choice = self.settings().rootless();
        let is_few = self.comm.size() < LEAST_PROCESSES;
        let is_native = choice.algorithm == RootlessAlgorithm::Native
            || (choice.algorithm == RootlessAlgorithm::Auto && is_few);
        if is_native && arguments.are_for_library() {
            return Ok(None);
        }
        let parsed = self.parsed_rootless(arguments, Handles::Copied, None);
        let fits = match &parsed {
            Ok(RootlessCall { fault: None, sizes, .. }) => [0, hash_of(sizes)],
            _ => [1, 0],
        };
        let stated = rounds::all_words(&*self.comm, fits)?;
        let rank = self.comm.rank();
        let call = parsed?;
        if let Some(error) = call.fault {
            return Err(CollectiveError::Argument { rank, error });
        }
        if stated.iter().any(|one| *one != fits) {
            return Err(CollectiveError::GivenUp { rank });
        }
        let plan = self.plan_for(arguments, &call);
        let circulation = plan.circulation;
        self.keep(plan);
        let Some(circulation) = circulation else { return Ok(None) };
        self.circulating((circulation, &call.sizes), call.places, Reuse::Again).map(Some)
    }

    /// What arguments mean here; places of a call before are taken again where blocks lie alike.
    fn parsed_rootless(
        &self,
        arguments: &Arguments<'_>,
        handles: Handles,
        kept: Option<&CirculatedPlaces>,
    ) -> Result<RootlessCall, CollectiveError> {
        let (rank, size) = (self.comm.rank(), self.comm.size());
        let kept = Kept {
            own: kept.and_then(|places| places.given.as_ref()),
            all: kept.map(|places| &places.result),
        };
        let parsed = arguments.parse_rootless(size, handles, kept);
        let (given, result) = parsed.map_err(|error| CollectiveError::Argument { rank, error })?;
        let sizes = BlockSizes::new((0..size).map(|rank| result.block_bytes(rank)));
        let sizes = sizes.expect("the total was found to fit");
        let (counted, own) = (sizes.block(rank), given.as_ref().map(|own| own.packed_bytes()));
        let fault = own.filter(|&own| own != counted);
        let fault = fault.map(|own| ArgumentError::OwnBlock { own, counted });
        Ok(RootlessCall { places: CirculatedPlaces { given, result }, sizes, fault })
    }

    /// The plan for a call: one that is kept, or a new one.
    fn plan_for(&self, arguments: &Arguments<'_>, call: &RootlessCall) -> RootlessPlan {
        let operation = arguments.operation();
        let mut kept = self.rootless.kept.borrow_mut();
        let known =
            kept.iter().position(|one| one.operation == operation && one.sizes == call.sizes);
        if let Some(index) = known {
            return kept.remove(index);
        }
        drop(kept);
        let settings = self.settings();
        let choice = match (settings.rootless(), arguments.are_for_library()) {
            // It has to be done without the library.
            (RootlessChoice { algorithm: RootlessAlgorithm::Native, .. }, false) => {
                RootlessChoice::from(RootlessAlgorithm::Circulant)
            }
            (choice, _) => choice,
        };
        let library = library_version().ok().and_then(|name| library_named(&name));
        let known = (&*self.prices(), KnownRule::of(library));
        let found = circulation(operation, &call.sizes, grain(&call.sizes), choice, known);
        let circulation = found.or((!arguments.are_for_library()).then_some(Circulation::Windows));
        RootlessPlan { operation, sizes: call.sizes.clone(), circulation, performer: None }
    }

    /// What messages cost here, the same at all ranks.
    fn prices(&self) -> Rc<Prices> {
        let mut known = self.rootless.prices.borrow_mut();
        let make = || match &self.settings().machine {
            Some(machine) => Rc::new(Prices::of(machine, self.comm.size())),
            None => Rc::new(Prices::usual()),
        };
        Rc::clone(known.get_or_insert_with(make))
    }

    /// Puts a plan before all others that are kept.
    fn keep(&self, plan: RootlessPlan) {
        let mut kept = self.rootless.kept.borrow_mut();
        kept.truncate(MOST_KEPT - 1);
        kept.insert(0, plan);
    }

    fn perform(
        &self,
        plan: &mut RootlessPlan,
        circulation: Circulation,
        places: CirculatedPlaces,
    ) -> Result<(), CollectiveError> {
        let mut performer = match plan.performer.take() {
            Some(mut known) => {
                known.take(places)?;
                known
            }
            None => Box::new(self.circulating((circulation, &plan.sizes), places, Reuse::Once)?),
        };
        let done = performer.run();
        let can_stay = performer.let_go() && done.is_ok();
        plan.performer = can_stay.then_some(performer);
        done
    }

    /// The tags that all operations share that are performed once, which follow one another in the same order
    /// everywhere. Collective where they are first asked for.
    fn shared_tags(&self) -> Result<(Rc<Communicator>, c_int), CollectiveError> {
        let mut shared = self.rootless.tags.borrow_mut();
        if shared.is_none() {
            *shared = Some(self.tags(TAGS, Reuse::Again)?);
        }
        let (comm, first) = shared.as_ref().expect("they were just reserved");
        Ok((Rc::clone(comm), *first))
    }

    /// What performs an operation. Collective.
    fn circulating(
        &self,
        (circulation, sizes): (Circulation, &BlockSizes),
        places: CirculatedPlaces,
        reuse: Reuse,
    ) -> Result<Circulating, CollectiveError> {
        let rank = self.comm.rank();
        let rounds = RankRounds::new(sizes.clone(), grain(sizes), rank, Flow::Spread, circulation);
        let batch = rounds_of_a_batch(circulation, self.comm.size());
        let (comm, first_tag) = match reuse {
            Reuse::Once => self.shared_tags()?,
            Reuse::Again => self.tags(TAGS, Reuse::Again)?,
        };
        Circulating::spreading((rounds, rank), places, (&comm, first_tag, reuse), batch)
    }
}

impl RootlessCall {
    /// Lets go of the program's memory.
    fn let_go(&self) {
        let CirculatedPlaces { given, result } = &self.places;
        given.iter().chain([result]).for_each(|place: &Rc<Place>| place.memory().let_go());
    }
}

/// Blocks are cut at multiples of so many bytes: the largest power of two up to a cache line that all of them are
/// multiples of. Elements may be called differently at each rank, so that only sizes in bytes are the same.
fn grain(sizes: &BlockSizes) -> u64 {
    let bits = sizes.iter().fold(64, |bits, bytes| bits | bytes);
    1 << bits.trailing_zeros()
}

/// A number that stands for all sizes.
fn hash_of(sizes: &BlockSizes) -> u64 {
    const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;
    sizes.iter().fold(1, |hash: u64, bytes| (hash.rotate_left(23) ^ bytes).wrapping_mul(FACTOR))
        >> 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_cut_between_the_largest_elements_that_all_have() {
        let grain_of = |sizes: &[u64]| grain(&BlockSizes::new(sizes.iter().copied()).unwrap());
        assert_eq!(grain_of(&[8, 24, 0, 4096]), 8);
        assert_eq!(grain_of(&[64_000, 128]), 64);
        assert_eq!(grain_of(&[64_000, 128, 3]), 1);
        assert_eq!(grain_of(&[0, 0]), 64);
    }
}
