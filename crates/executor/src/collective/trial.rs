//! Trial of a plan against the library's own call, by their times in the running program.
//!
//! Costs may be wrong. So most calls go one way, which leads, and turns of two calls the other way. After a turn the ranks tell
//! each other their times, and the other way leads from then on if it was faster.
//!
//! ```text
//!   call       1 2   3 4    5 6    7 8 9 ...
//!   goes       lib.  ours   lib.   ours       the plan leads
//!                                  lib.       it took 1.25 times as long in call 4
//!   decided                   ^    last call of each turn
//! ```
//!
//! Nothing is set up yet in calls 1 and 2. A turn follows call 8, 16, 32, ...: the later, the slower the other way was and
//! the more calls say so, as turns and decisions cost time, too. Times of earlier runs stand in for the first turn. Call numbers and decisions are equal at all ranks, so that
//! nobody asks which way a call goes. A call takes as long as the rank that is longest in it: the root of a gather or the
//! last receiver of a scatter, where ranks begin together.
//!
//! # Source
//! Tuning in the running program: MVAPICH-Plus and Intel MPI's autotuner test algorithms again likewise.

use super::rounds;
use std::collections::VecDeque;
use std::time::Duration;
use tuwtree_binding::{Communicator, MpiError};
use tuwtree_io::learned::LearnedSeconds;

/// Trial of one plan. Equal at all ranks, times excepted.
#[derive(Debug)]
pub(super) struct Trial {
    /// Number of calls.
    calls: u64,
    /// True if the library's own call leads.
    library_leads: bool,
    /// First call of the next turn of the other way; a decision ends it.
    turn: u64,
    /// The last times of our calls, and of the library's, in seconds.
    times: [VecDeque<f64>; 2],
    /// Times of our calls and of the library's at the rank that is longest in them, in seconds, by the last decision.
    measured: Option<[f64; 2]>,
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
/// Number of calls that are the library's before anything is set up.
const EARLY: u64 = 2;
/// First call of the first turn.
const FIRST_TURN: u64 = 5;
/// Number of calls of a turn.
const TURN: u64 = 2;
/// Ratio of the leading way's time to the other's beyond which the lead changes, and that by one time of our calls.
const WORSE: [f64; 2] = [1.05, 1.25];
/// Number of calls between turns, for each known time of the other way and each time that it takes longer: a turn of
/// `r` times the leading way's time after `40 (r - 1)` calls costs a twentieth.
const REST: f64 = 10.0;
/// Number of calls between turns beside that: a decision takes about a call.
const LEAST_REST: f64 = 16.0;
/// Greatest ratio that postpones a turn: a disturbed call may have taken any time.
const MOST_WORSE: f64 = 5.0;

impl Default for Trial {
    fn default() -> Trial {
        let times = Default::default();
        Trial { calls: 0, library_leads: false, turn: FIRST_TURN, times, measured: None }
    }
}

impl Trial {
    /// Takes the times of earlier runs, before the first turn: the faster way leads without one.
    pub(super) fn learn(&mut self, seconds: LearnedSeconds) {
        if self.measured.is_none() && self.turn == FIRST_TURN {
            let most = [seconds.planned, seconds.native];
            self.library_leads = most[0] > WORSE[0] * most[1];
            self.rest(most, KEPT);
        }
    }

    /// Times of our calls and of the library's, in seconds, once there is a decision; equal at all ranks.
    pub(super) fn measured(&self) -> Option<LearnedSeconds> {
        self.measured.map(|[planned, native]| LearnedSeconds { planned, native })
    }

    /// The way of a call that begins, the one with this number, from 1 on.
    pub(super) fn begin(&mut self, call: u64) -> Way {
        self.calls = call;
        let is_other = (self.turn..self.turn + TURN).contains(&call);
        if self.is_early() || self.library_leads != is_other { Way::Library } else { Way::Ours }
    }

    /// True in calls before anything is set up.
    fn is_early(&self) -> bool {
        self.calls <= EARLY
    }

    /// True if the next call is the library's because nothing is set up yet.
    pub(super) fn begins_early(&self) -> bool {
        self.calls < EARLY
    }

    /// Notes the time of the call that [`begin`](Self::begin) numbered. Neither the first call of a way counts, which
    /// connects ranks, nor calls in which plans change hands.
    pub(super) fn note(&mut self, way: Way, time: Duration) {
        let is_first = matches!(self.calls, 1 | 3);
        if !(is_first || self.calls > FIRST_TURN && self.calls.is_power_of_two()) {
            let times = &mut self.times[way as usize];
            times.truncate(KEPT - 1);
            times.push_front(time.as_secs_f64());
        }
    }

    /// True if a plan is to be made after this call; `is_native` says that the last plan is the library's own call. Where the
    /// library leads against a plan, only before a turn.
    pub(super) fn is_plan_due(&self, is_native: bool) -> bool {
        let is_performed = !self.library_leads || self.turn == self.calls + 1;
        // The first turn is of the first plan.
        let is_renewed = self.calls > FIRST_TURN && self.calls.is_power_of_two();
        self.calls == EARLY || is_renewed && (is_native || is_performed)
    }

    /// Forgets the times of our calls, as their plan has changed. Where the library leads, they are the best guess for the
    /// new one.
    pub(super) fn forget_ours(&mut self) {
        if !self.library_leads {
            self.times[Way::Ours as usize].clear();
        }
    }

    /// Number of calls until now.
    pub(super) fn calls(&self) -> u64 {
        self.calls
    }

    /// This rank's [`typical`](Self::typical) times, if a decision is due in this call; equally at all ranks.
    pub(super) fn due(&self) -> Option<[f64; 2]> {
        (self.calls >= self.turn + TURN - 1).then(|| self.typical())
    }

    /// Decides which way leads by the times of all ranks. Collective.
    ///
    /// # Complexity
    /// `ceil(log2 p)` messages follow one another, of 16 bytes for each rank at most.
    pub(super) fn decide(&mut self, own: [f64; 2], comm: &Communicator) -> Result<(), MpiError> {
        let all = rounds::all_words(comm, own.map(f64::to_bits))?;
        self.take(all.into_iter().map(|words| words.map(f64::from_bits)));
        Ok(())
    }

    /// The lower median of the last times of both ways; 0 without times of either.
    fn typical(&self) -> [f64; 2] {
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
        self.measured = Some(most).filter(|most| most[0] > 0.0 && most[1] > 0.0).or(self.measured);
        let [leading, other] = self.ordered(most);
        let is_known_once = self.times[Way::Ours as usize].len() == 1;
        if leading > WORSE[usize::from(is_known_once)] * other {
            self.library_leads = !self.library_leads;
        }
        self.rest(most, self.times[usize::from(!self.library_leads)].len());
    }

    /// These times of our calls and of the library's, the leading way's first.
    fn ordered(&self, [ours, librarys]: [f64; 2]) -> [f64; 2] {
        if self.library_leads { [librarys, ours] } else { [ours, librarys] }
    }

    /// Postpones the next turn the more, the longer the other way takes and the more times of it are known.
    fn rest(&mut self, most: [f64; 2], known: usize) {
        let [leading, other] = self.ordered(most);
        let rest = match other.min(MOST_WORSE * leading) / leading - 1.0 {
            worse if worse >= 0.0 => LEAST_REST + REST * known as f64 * worse,
            // In doubt, or without times.
            _ => 0.0,
        };
        self.turn = (self.calls + rest as u64).next_power_of_two() + 1;
    }
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
            if let Some(typical) = trial.due() {
                trial.take([typical; 4].into_iter());
            }
            way
        };
        (1..=calls).map(|call| one(call, &mut trial)).collect()
    }

    #[test]
    fn times_of_earlier_runs_postpone_the_first_turn_and_choose_the_leading_way() {
        let ways = |planned| {
            let mut trial = Trial::default();
            trial.learn(LearnedSeconds { planned, native: 1.0 });
            (1..=130).map(|call| trial.begin(call)).collect::<Vec<Way>>()
        };
        assert_eq!(librarys(&ways(0.5)), [1, 2, 65, 66]);
        let slower = librarys(&ways(1.5));
        assert!((1..=130).filter(|call| !slower.contains(call)).eq([65, 66]));
    }

    fn librarys(ways: &[Way]) -> Vec<u64> {
        let calls = ways.iter().zip(1..).filter(|(way, _)| **way == Way::Library);
        calls.map(|(_, call)| call).collect()
    }

    /// The calls up to `calls` that go our way where a plan takes `ratio` times as long as the library.
    fn ours(calls: u64, ratio: f64) -> Vec<u64> {
        let ways = ways(calls, |way, _| if way == Way::Ours { ratio } else { 1.0 });
        let librarys = librarys(&ways);
        (1..=calls).filter(|call| !librarys.contains(call)).collect()
    }

    #[test]
    fn a_good_plan_gives_the_library_fewer_calls_the_more_it_gains() {
        for (gain, expected) in [
            (1.2, &[1, 2, 5, 6, 33, 34, 65, 66, 129, 130][..]),
            (2.0, &[1, 2, 5, 6, 65, 66, 129, 130]),
            (6.0, &[1, 2, 5, 6]),
        ] {
            let ways = ways(200, |way, _| if way == Way::Ours { 1.0 } else { gain });
            assert_eq!(librarys(&ways), expected, "{gain}");
        }
    }

    #[test]
    fn a_bad_plan_costs_two_calls_and_two_of_some_doublings() {
        assert_eq!(ours(70, 1.2), [3, 4, 7, 8, 33, 34, 65, 66]);
        assert_eq!(ours(70, 1.6), [3, 4, 33, 34]);
        assert_eq!(ours(300, 4.8), [3, 4, 65, 66, 257, 258]);
    }

    #[test]
    fn one_disturbed_call_of_a_good_plan_gives_the_lead_away_for_some_calls_only() {
        let seconds = |way, call| match (way, call) {
            (Way::Ours, 4) => 1000.0,
            (Way::Ours, _) => 1.0,
            (Way::Library, _) => 2.0,
        };
        let ways = ways(200, seconds);
        assert_eq!(librarys(&ways).into_iter().filter(|call| *call > 64).count(), 2);
    }

    #[test]
    fn plans_are_made_where_the_library_leads_before_a_turn_and_where_none_was_better() {
        let led = |calls| Trial { calls, library_leads: true, turn: 65, ..Trial::default() };
        let due = |is_native| [8, 9, 32, 64, 128].map(|calls| led(calls).is_plan_due(is_native));
        assert_eq!(due(false), [false, false, false, true, false]);
        assert_eq!(due(true), [true, false, true, true, true]);
        let due: Vec<u64> = (1..=32)
            .filter(|&calls| Trial { calls, ..Trial::default() }.is_plan_due(false))
            .collect();
        assert_eq!(due, [2, 8, 16, 32]);
    }

    #[test]
    fn the_first_two_calls_are_the_librarys() {
        let mut trial = Trial::default();
        let early = [1, 2, 3].map(|call| (trial.begins_early(), trial.begin(call)));
        assert_eq!(early, [(true, Way::Library), (true, Way::Library), (false, Way::Ours)]);
    }

    #[test]
    fn a_gather_takes_as_long_as_its_root_is_in_it() {
        // Fifteen ranks send to the root and go on in the library's star; in a tree most wait for children.
        let mut trial = Trial { calls: 6, ..Trial::default() };
        let librarys_leaves = [[0.012, 0.001]; 15];
        trial.take([[0.015, 0.020]].into_iter().chain(librarys_leaves));
        assert!(!trial.library_leads);
    }

    #[test]
    fn equal_ways_keep_the_plan_and_one_disturbed_call_decides_nothing() {
        let equal = ways(64, |_, _| 1.0);
        assert_eq!(librarys(&equal), [1, 2, 5, 6, 33, 34]);
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
        assert!(ways[130..256].iter().all(|way| *way == Way::Ours), "{ways:?}");
    }
}
