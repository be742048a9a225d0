//! Trial of a plan against the library's own call, by their times in the running program.
//!
//! Costs may be wrong. So most calls go one way, which leads, and two calls of each doubling the other way; at calls 8,
//! 16, 32, ... the ranks tell each other their times, and the other way leads from then on if it was faster.
//!
//! ```text
//!   call    1 2 3 4   5 6   7 8   9 10   11 ... 16   17 18   19 ...
//!   goes    ours      lib.  ours  lib.   ours        lib.    ours      as long as ours leads
//!   decided                   ^              ^
//! ```
//!
//! (Of gathers, scatters and allgathers calls 1 and 2 are the library's, as nothing is set up yet.) Call numbers and decisions are equal at all ranks,
//! so that nobody asks which way a call goes. A call takes as long as the rank that is longest in it: the root of a gather
//! or the last receiver of a scatter, where ranks begin together.
//!
//! # Source
//! Tuning in the running program: MVAPICH-Plus and Intel MPI's autotuner test algorithms again likewise.

use super::rounds;
use std::collections::VecDeque;
use std::time::Duration;
use tuwtree_binding::{Communicator, MpiError};

/// Trial of one plan. Equal at all ranks, times excepted.
#[derive(Debug, Default)]
pub(super) struct Trial {
    /// Number of calls.
    calls: u64,
    /// True if the library's own call leads.
    library_leads: bool,
    /// The last times of our calls, and of the library's, in seconds.
    times: [VecDeque<f64>; 2],
}

/// A way in which a call goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// By a plan of ours.
    Ours,
    /// By the library's own call.
    Library,
}

/// Number of kept times of each way.
const KEPT: usize = 4;
/// Number of the call with the first decision.
const FIRST: u64 = 8;
/// Ratio of the leading way's time to the other's beyond which the lead changes.
const WORSE: f64 = 1.05;

impl Trial {
    /// The way of a call that begins, the one with this number, from 1 on.
    pub(super) fn begin(&mut self, call: u64) -> Way {
        self.calls = call;
        let since = self.calls - prev_power_of_two(self.calls);
        let is_other = self.calls > FIRST / 2 && matches!(since, 1 | 2);
        if self.library_leads != is_other { Way::Library } else { Way::Ours }
    }

    /// Notes the time of the call that [`begin`](Self::begin) numbered. Calls in which plans change hands do not count.
    pub(super) fn note(&mut self, way: Way, time: Duration) {
        if self.calls > 2 && !self.calls.is_power_of_two() {
            let times = &mut self.times[way as usize];
            times.truncate(KEPT - 1);
            times.push_front(time.as_secs_f64());
        }
    }

    /// Forgets the times of our calls: their plan has changed.
    pub(super) fn forget_ours(&mut self) {
        self.times[Way::Ours as usize].clear();
    }

    /// Counts a call before anything is set up: true for calls 1 and 2.
    pub(super) fn is_early(&mut self) -> bool {
        let is_early = self.calls < 2;
        self.calls += u64::from(is_early);
        is_early
    }

    /// Number of calls until now.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// Decides which way leads by the [`typical`](Self::typical) times of all ranks, in calls 8, 16, 32, .... Collective.
    ///
    /// # Complexity
    /// In these calls `ceil(log2 p)` messages follow one another, of 16 bytes for each rank at most.
    pub(super) fn decide(&mut self, own: [f64; 2], comm: &Communicator) -> Result<(), MpiError> {
        if self.calls >= FIRST && self.calls.is_power_of_two() {
            let all = rounds::all_words(comm, own.map(f64::to_bits))?;
            self.take(all.into_iter().map(|words| words.map(f64::from_bits)));
        }
        Ok(())
    }

    /// The lower median of the last times of both ways; 0 without times of either.
    pub(super) fn typical(&self) -> [f64; 2] {
        let middle = |times: &VecDeque<f64>| {
            let mut sorted: Vec<f64> = times.iter().copied().collect();
            sorted.sort_by(f64::total_cmp);
            sorted.get(times.len().saturating_sub(1) / 2).copied()
        };
        let [ours, librarys] = [&self.times[0], &self.times[1]].map(middle);
        ours.zip(librarys).map_or([0.0; 2], |(ours, librarys)| [ours, librarys])
    }

    /// Takes the times of all ranks, in rank order.
    fn take(&mut self, all: impl Iterator<Item = [f64; 2]>) {
        let most =
            all.fold([0.0; 2], |most: [f64; 2], one| [most[0].max(one[0]), most[1].max(one[1])]);
        let [leading, other] = if self.library_leads { [most[1], most[0]] } else { most };
        if leading > WORSE * other {
            self.library_leads = !self.library_leads;
        }
    }
}

fn prev_power_of_two(number: u64) -> u64 {
    1 << number.ilog2()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The ways of calls 1 to `calls` on four ranks, each of which takes these seconds, by way and call.
    fn ways(calls: u64, seconds: impl Fn(Way, u64) -> f64) -> Vec<Way> {
        let mut trial = Trial::default();
        let one = |call: u64, trial: &mut Trial| {
            let way = trial.begin(call);
            trial.note(way, Duration::from_secs_f64(seconds(way, call)));
            if call >= FIRST && call.is_power_of_two() {
                let typical = trial.typical();
                trial.take([typical; 4].into_iter());
            }
            way
        };
        (1..=calls).map(|call| one(call, &mut trial)).collect()
    }

    fn librarys(ways: &[Way]) -> Vec<u64> {
        let calls = ways.iter().zip(1..).filter(|(way, _)| **way == Way::Library);
        calls.map(|(_, call)| call).collect()
    }

    #[test]
    fn a_good_plan_gives_two_calls_of_each_doubling_to_the_library() {
        let ways = ways(64, |way, _| if way == Way::Ours { 1.0 } else { 2.0 });
        assert_eq!(librarys(&ways), [5, 6, 9, 10, 17, 18, 33, 34]);
    }

    #[test]
    fn a_bad_plan_costs_eight_calls_and_two_of_each_doubling() {
        let ways = ways(64, |way, _| if way == Way::Ours { 4.8 } else { 1.0 });
        let ours: Vec<u64> = (1..=64).filter(|call| !librarys(&ways).contains(call)).collect();
        assert_eq!(ours, [1, 2, 3, 4, 7, 8, 9, 10, 17, 18, 33, 34]);
    }

    #[test]
    fn calls_before_anything_is_set_up_are_counted() {
        let mut trial = Trial::default();
        let early = [trial.is_early(), trial.is_early(), trial.is_early()];
        assert_eq!((early, trial.calls()), ([true, true, false], 2));
    }

    #[test]
    fn a_gather_takes_as_long_as_its_root_is_in_it() {
        // Fifteen ranks send to the root and go on in the library's star; in a tree most wait for children.
        let mut trial = Trial { calls: FIRST, ..Trial::default() };
        let librarys_leaves = [[0.012, 0.001]; 15];
        trial.take([[0.015, 0.020]].into_iter().chain(librarys_leaves));
        assert!(!trial.library_leads);
    }

    #[test]
    fn equal_ways_keep_the_plan_and_one_disturbed_call_decides_nothing() {
        let equal = ways(64, |_, _| 1.0);
        assert_eq!(librarys(&equal).len(), 8);
        let disturbed = |way, call| if (way, call) == (Way::Ours, 7) { 100.0 } else { 1.0 };
        assert_eq!(ways(64, disturbed), equal);
    }

    #[test]
    fn the_plan_leads_again_once_the_library_is_slower() {
        let seconds = |way, call| match way {
            Way::Ours => 1.5,
            Way::Library if call < 40 => 1.0,
            Way::Library => 3.0,
        };
        let ways = ways(256, seconds);
        assert!(ways[11..16].iter().all(|way| *way == Way::Library));
        assert!(ways[66..127].iter().all(|way| *way == Way::Ours), "{ways:?}");
    }
}
