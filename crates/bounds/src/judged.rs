//! A lower bound on judged times, from the data that a rank can have received by a time.
//!
//! For every rank but the root, let `R(t)` be the most bytes that it receives until `t`, `H(t)` the most that the subtree
//! of a rank has which is ready at `t`, and `N(t)` the number of its blocks. In a scatter `t` is the time that is left, and
//! bytes are passed on. Costs are those of the cheapest link and size (`LeastJudged`): `u` is the rank's time for a message
//! (`o` in a gather, `o_s` in a scatter), `before` and `after` are what lies before and behind the wire (lambda and `o`, in
//! a scatter the other way round), and `w(s) >= A + B s`.
//!
//! ```text
//! 1 counts     N(t) <= 1 + least of    sum N(t - L - i u)                     i >= 0, L the least time of a message
//!                                      sum N(t - lambda - o - w - i w)        i >= 0
//!                                      sum N(t - lambda - i e)                i >= 1, gathers
//! 2 wire       K(t) =  most over a of  K(a) + min(H(a - before), (t - a - A) / B),    R(t) <= K(t - after)
//! 3 rank       R(t) <= sum g(t - i u), g(z) the most v with  v <= H(z - lambda - o - A - B v)
//! 4 messages   R(t) <= floor(t / u) H(a - before) + (t - after - a) / B      for every a
//!              H(t) =  min(largest block + R(t), the N(t) largest blocks)
//! ```
//!
//! Where the ranks of a node share a wire, a rank has another for messages within the node: rules 1 and 2 count both.
//!
//! The root's own `R` reaches all blocks but its own, and its `N` counts them.
//!
//! # Numbers
//! On a grid: entry `k` of a table is at least the value of every time up to `k` steps, since times before are rounded up
//! to whole steps. So the first time at which the root may be done is rounded down.
//!
//! # Source
//! `docs/planner-and-judge.md` has the proofs.

use tuwtree_model::{LeastJudged, Problem, Time, WireOwner};

/// Steps of the grid.
const STEPS: usize = 1000;

/// More terms of a sum are not added up: it then bounds nothing.
const MOST_TERMS: f64 = 20_000.0;

/// Safety factor, below the rounding error.
const KEPT: f64 = 1.0 - 1e-9;

/// A lower bound on the judged time of every tree through one port, at most `most`, the judged time of some tree; 0 where
/// nothing is known.
///
/// # Complexity
/// O(p log p), and some million steps.
pub(super) fn bound(problem: &Problem, most: f64) -> f64 {
    let Some(parts) = Parts::new(problem) else { return 0.0 };
    let sizes = parts.smallest..=parts.largest_message;
    let Some(costs) = LeastJudged::new(problem, sizes, parts.largest_sent) else { return 0.0 };
    let is_outward = problem.operation().is_outward();
    let busy = if is_outward { costs.send_overhead } else { costs.overhead };
    let least = costs.largest_message.max(costs.message).max(parts.copy + busy);
    if !(least.is_finite() && most.is_finite() && least < most) {
        return least.min(most).max(0.0) * KEPT;
    }
    let lines = match costs.lines[..] {
        [] => vec![(costs.on_wire, 0.0)],
        [first, .., last] => vec![first, last],
        [only] => vec![only],
    };
    let shares_wires = problem.stated_costs().network().wire == WireOwner::Node;
    let wires = if shares_wires && problem.costs().hierarchy().is_some() { 2.0 } else { 1.0 };
    let bounds = lines.into_iter().map(|(fixed, per_byte)| {
        // A line that is below 0 at 0 bytes: as if each message, and so each block, had fewer bytes.
        let free = if fixed < 0.0 && per_byte > 0.0 { -fixed / per_byte } else { 0.0 };
        let sums = parts.blocks.iter().scan(0.0, |sum, &block| {
            *sum += (block as f64 - free).max(0.0);
            Some(*sum)
        });
        let largest_sums: Vec<f64> = std::iter::once(0.0).chain(sums).collect();
        let search = BoundSearch {
            costs: &costs,
            is_outward,
            line: (fixed.max(0.0), per_byte),
            copy: parts.copy,
            // The smallest ones are the rest.
            volume: match parts.has_blocks {
                true => {
                    largest_sums[parts.blocks.len()]
                        - largest_sums[parts.blocks.len() - parts.count]
                }
                false => 0.0,
            },
            largest_sums: &largest_sums,
            count: parts.count as f64,
            step: most / STEPS as f64,
            wires,
        };
        search.first_time()
    });
    bounds.fold(least, f64::max).min(most) * KEPT
}

/// Data that has to come to the root, or go from it.
struct Parts {
    /// The blocks that are not empty, but a given root's, the largest first; or all vectors of other ranks.
    blocks: Vec<u64>,
    /// True for blocks, false for vectors, of which a message has one however many ranks get it.
    has_blocks: bool,
    /// Number of blocks or vectors that have to move.
    count: usize,
    smallest: u64,
    /// Bytes of a message, at most.
    largest_message: u64,
    /// The largest that has to move, at least.
    largest_sent: u64,
    /// The root's copy, at least, in time units.
    copy: f64,
}

impl Parts {
    /// `None` where nothing has to move.
    fn new(problem: &Problem) -> Option<Parts> {
        let (ranks, root) = (problem.ranks(), problem.root().given());
        let payload = problem.payload();
        let has_blocks = problem.blocks().is_some();
        let others = (0..ranks).filter(|&rank| Some(rank) != root);
        let mut blocks: Vec<u64> =
            others.map(|rank| payload.own(rank)).filter(|&own| own > 0).collect();
        blocks.sort_unstable_by(|one, other| other.cmp(one));
        // Without a given root, the largest one may be the root's own.
        let count = blocks.len().checked_sub(usize::from(root.is_none()))?;
        let moved = &blocks[blocks.len() - count..];
        let (&largest_sent, &smallest) = (moved.first()?, moved.last()?);
        let volume = if has_blocks { moved.iter().sum() } else { largest_sent };
        // Without a given root, any other rank may be the root.
        let largest_message = match (has_blocks, root) {
            (true, None) => (blocks.iter().sum::<u64>() - smallest).max(smallest),
            _ => volume,
        };
        let copies = (0..ranks).filter(|&rank| root.is_none_or(|root| root == rank));
        let copies = copies.map(|rank| problem.copy(rank).map_or(0.0, Time::units));
        let copy = if has_blocks { copies.fold(f64::INFINITY, f64::min) } else { 0.0 };
        Some(Parts { has_blocks, count, smallest, largest_message, largest_sent, copy, blocks })
    }
}

struct BoundSearch<'a> {
    costs: &'a LeastJudged,
    is_outward: bool,
    /// `A` and `B`.
    line: (f64, f64),
    /// The root's, at least.
    copy: f64,
    /// The bytes of so many largest blocks.
    largest_sums: &'a [f64],
    volume: f64,
    count: f64,
    /// That of the grid, in time units.
    step: f64,
    /// Wires through which a rank receives or sends: its own, and its node's where nodes share one.
    wires: f64,
}

impl BoundSearch<'_> {
    /// The entry of a table for a time `earlier` before `at` steps; `None` before all time.
    fn index(&self, at: usize, earlier: f64) -> Option<usize> {
        let steps = earlier / self.step * KEPT;
        (steps <= at as f64).then(|| at - steps.floor() as usize)
    }

    /// The sum of a table's entries at `earlier + i apart` before this many steps, up to `limit`; no bound where there are
    /// too many of them, or an entry would be needed that is not known.
    fn sum(&self, table: &[f64], at: usize, (earlier, apart): (f64, f64), limit: f64) -> f64 {
        let span = at as f64 * self.step - earlier;
        if span < 0.0 {
            return 0.0;
        }
        if apart <= 0.0 || span > MOST_TERMS * apart {
            return f64::INFINITY;
        }
        let mut sum = 0.0;
        for i in 0.. {
            let Some(index) = self.index(at, earlier + f64::from(i) * apart) else { break };
            match table.get(index) {
                Some(entry) => sum += entry,
                None => return f64::INFINITY,
            }
            if sum >= limit {
                break;
            }
        }
        sum
    }

    /// The first time at which the root may be done, rounded down to the grid.
    fn first_time(&self) -> f64 {
        let &LeastJudged { latency, overhead, send_overhead, on_wire, message, mixed, .. } =
            self.costs;
        let (busy, before, after) = match self.is_outward {
            true => (send_overhead, overhead, latency),
            false => (overhead, latency, overhead),
        };
        let fixed = self.line.0;
        let all = self.count + 1.0;
        let mut tables = Tables::default();
        for at in 0..=STEPS {
            let time = at as f64 * self.step;
            // 1: counts, of a subtree with its own block.
            let gathered = match self.is_outward || self.wires > 1.0 {
                true => f64::INFINITY,
                false => self.sum(&tables.counts, at, (latency + mixed, mixed), all),
            };
            let on_wires =
                self.sum(&tables.counts, at, (latency + overhead + on_wire, on_wire), all);
            let others = self
                .sum(&tables.counts, at, (message, busy), all)
                .min(self.wires * on_wires)
                .min(gathered);
            let count = (1.0 + others).min(all).floor();
            // 2: the wire.
            let wire = self.wire(&tables, at, before);
            tables.wire.push(wire);
            // 3: the most that one message brings.
            let one = self.one_message(&tables, at, latency + overhead + fixed);
            tables.message.push(one);
            let (through, in_turn, in_few) = (
                self.index(at, after).map_or(0.0, |index| self.wires * tables.wire[index]),
                self.sum(&tables.message, at, (0.0, busy), self.volume),
                self.in_few(&tables, at, (busy, before, after), time),
            );
            let received = through.min(in_turn).min(in_few);
            let top = self.largest_sums[(count as usize).min(self.largest_sums.len() - 1)];
            tables.held.push((self.largest_sums[1] + received).min(top));
            tables.counts.push(count);
            // The root, whose own copy takes its time.
            let left = time - self.copy;
            let rooted = match left >= 0.0 {
                false => 0.0,
                true => {
                    let in_turn = match busy > 0.0 {
                        true => self.in_turn_beside_copy(&tables, at, busy, left),
                        false => f64::INFINITY,
                    };
                    through.min(in_turn).min(self.in_few(&tables, at, (busy, before, after), left))
                }
            };
            if rooted >= self.volume * KEPT && others >= self.count {
                return (at.max(1) - 1) as f64 * self.step;
            }
        }
        STEPS as f64 * self.step
    }

    /// Rule 2: the most bytes off a wire.
    fn wire(&self, tables: &Tables, at: usize, before: f64) -> f64 {
        let (fixed, per_byte) = self.line;
        if per_byte == 0.0 {
            return f64::INFINITY;
        }
        let time = at as f64 * self.step;
        let rate = ((time - before) / per_byte).max(0.0);
        let within = match fixed < self.step {
            true => tables.wire.last().map_or(0.0, |last| last + self.step / per_byte),
            false => tables.wire.last().copied().unwrap_or(0.0),
        };
        let mut most = within;
        // The last message starts on the wire within the step before `start`.
        for start in 1..=at {
            let Some(index) = self.index(start, before) else { continue };
            let (Some(held), Some(earlier)) = (tables.held.get(index), tables.wire.get(start))
            else {
                break;
            };
            let room = ((at - start + 1) as f64 * self.step - fixed) / per_byte;
            most = most.max(earlier + held.min(room.max(0.0)));
        }
        most.min(rate)
    }

    /// Rule 3: the most bytes of one message that is received until then.
    fn one_message(&self, tables: &Tables, at: usize, around: f64) -> f64 {
        let per_byte = self.line.1;
        let time = at as f64 * self.step;
        let mut most = 0.0_f64;
        for (index, &held) in tables.held.iter().enumerate() {
            // Its sender is ready within the step before.
            let left = time - around - index.max(1) as f64 * self.step + self.step;
            let room = if per_byte > 0.0 { left / per_byte } else { f64::INFINITY };
            if left < 0.0 {
                return most;
            }
            most = most.max(held.min(room));
        }
        // Its sender may be ready as late as now.
        match time - around >= (at as f64 - 1.0) * self.step && around < self.step {
            true => f64::INFINITY,
            false => most,
        }
    }

    /// Rule 4: the most bytes of as many messages as a rank handles in so much time.
    fn in_few(
        &self,
        tables: &Tables,
        at: usize,
        (busy, before, after): (f64, f64, f64),
        time: f64,
    ) -> f64 {
        let per_byte = self.line.1;
        if busy <= 0.0 || per_byte == 0.0 {
            return f64::INFINITY;
        }
        let messages = (time / busy).floor();
        let mut least = f64::INFINITY;
        for start in 0..=at {
            let held = match self.index(start, before) {
                None => 0.0,
                Some(index) => match tables.held.get(index) {
                    Some(&held) => held,
                    None => break,
                },
            };
            let later = (at as f64 * self.step - after - start as f64 * self.step) / per_byte;
            least = least.min(messages * held + self.wires * later.max(0.0));
        }
        least
    }

    /// Rule 3 for the root: only messages that it handles beside its copy.
    fn in_turn_beside_copy(&self, tables: &Tables, at: usize, busy: f64, left: f64) -> f64 {
        let messages = (left / busy).floor();
        if messages > MOST_TERMS {
            return f64::INFINITY;
        }
        let mut sum = 0.0;
        for i in 0..messages as usize {
            let Some(index) = self.index(at, i as f64 * busy) else { break };
            sum += tables.message[index];
            if sum >= self.volume {
                break;
            }
        }
        sum
    }
}

/// Tables by steps.
#[derive(Default)]
struct Tables {
    /// `N`.
    counts: Vec<f64>,
    /// `K`.
    wire: Vec<f64>,
    /// `g`.
    message: Vec<f64>,
    /// `H`.
    held: Vec<f64>,
}
