//! Work on a stack of its own, which stops where it would wait for messages and goes on when it is asked to.
//!
//! What an operation does that is performed at once, and waits, is then also what one does that goes on bit by bit: there
//! is no second way to perform anything. `patient.rs` has the calls that wait.

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::Cell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;
use std::thread;

/// How many bytes a stack may have, as much as a thread's that Rust starts; those that are not used take no memory.
const STACK: usize = 1 << 21;

/// Where work is suspended from; null outside of any.
type Place = *const Yielder<(), ()>;

thread_local! {
    /// The work that runs in this thread now.
    static RUNNING: Cell<Place> = const { Cell::new(std::ptr::null()) };
    /// What whoever waits outside of such work does meanwhile.
    static MEANWHILE: Cell<Option<fn()>> = const { Cell::new(None) };
}

/// Work that has been begun.
pub(crate) struct Strand<T> {
    coroutine: Coroutine<(), (), thread::Result<T>, DefaultStack>,
    place: Rc<Cell<Place>>,
}

/// How far work has come.
pub(crate) enum Advance<T> {
    /// It waits.
    Waits(Strand<T>),
    /// It has ended, or panicked; the stack is free for other work.
    Ended(thread::Result<T>, DefaultStack),
}

/// A stack for work.
///
/// # Errors
/// No memory.
pub(crate) fn new_stack() -> io::Result<DefaultStack> {
    DefaultStack::new(STACK)
}

impl<T: 'static> Strand<T> {
    /// Work that has not begun.
    pub(crate) fn new(stack: DefaultStack, work: impl FnOnce() -> T + 'static) -> Strand<T> {
        let place = Rc::new(Cell::new(std::ptr::null()));
        let own = Rc::clone(&place);
        let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
            own.set(yielder);
            RUNNING.set(yielder);
            catch_unwind(AssertUnwindSafe(work))
        });
        Strand { coroutine, place }
    }

    /// Goes on until the work waits or ends.
    pub(crate) fn advance(mut self) -> Advance<T> {
        let before = RUNNING.replace(self.place.get());
        let result = self.coroutine.resume(());
        RUNNING.set(before);
        match result {
            CoroutineResult::Yield(()) => Advance::Waits(self),
            CoroutineResult::Return(result) => Advance::Ended(result, self.coroutine.into_stack()),
        }
    }
}

/// Whether what runs now is such work.
pub(crate) fn is_inside() -> bool {
    !RUNNING.get().is_null()
}

/// Whether to wait is to look again and again: inside of such work, or where some is to go on meanwhile.
pub(super) fn is_shared() -> bool {
    is_inside() || MEANWHILE.get().is_some()
}

/// Says what is done in this thread while it waits outside of such work, if anything.
pub(crate) fn set_meanwhile(work: Option<fn()>) {
    MEANWHILE.set(work);
}

/// Lets others go on: returns when there is reason to look again.
pub(super) fn pause() {
    let running = RUNNING.get();
    if running.is_null() {
        if let Some(work) = MEANWHILE.get() {
            work();
        }
        thread::yield_now();
        return;
    }
    // SAFETY: while work runs, `RUNNING` is what it suspends itself by: it is set whenever work is gone on with, and set
    // back when that returns.
    unsafe { &*running }.suspend(());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_stops_where_it_waits_and_goes_on_there() {
        let steps = Rc::new(Cell::new(0));
        let seen = Rc::clone(&steps);
        let work = move || {
            for step in 1..=3 {
                seen.set(step);
                assert!(is_inside());
                pause();
            }
            "done"
        };
        let mut strand = Strand::new(new_stack().unwrap(), work);
        for step in 1..=3 {
            let Advance::Waits(waiting) = strand.advance() else { panic!("it has three steps") };
            assert_eq!(steps.get(), step);
            assert!(!is_inside());
            strand = waiting;
        }
        let Advance::Ended(result, stack) = strand.advance() else { panic!("it has ended") };
        assert_eq!(result.unwrap(), "done");
        // The stack is good for more, and a panic stays where it is.
        let failing = Strand::new(stack, || -> u8 { std::panic::panic_any(7_u8) });
        let Advance::Ended(result, _) = failing.advance() else { panic!("it has ended") };
        assert_eq!(result.unwrap_err().downcast_ref::<u8>(), Some(&7));
    }
}
