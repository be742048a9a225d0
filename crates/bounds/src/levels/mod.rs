//! Lower bounds on machines with levels: by volume and by count, at each level, for the planner and for the
//! judge.
//!
//! All data outside the root's node has to cross to it, all data outside its island has to cross that boundary, and
//! senders have to receive it before. The bounds follow the most data that any rank can have by a time, level by level
//! ([`system`]), in blocks first, and then in bytes: no rank has more bytes than its number of largest blocks. A root
//! that is busy with the rest first gets the data outside its group no sooner ([`growth`]).
//!
//! Where the ranks of a node share a wire, the judge's times have a bound of their own: all that the root's
//! node lacks comes through one wire.
//!
//! # Source
//! Proofs and tests: `docs/bounds-on-levels.md`.

pub(super) mod growth;
mod machine;
mod system;
mod whole;

use machine::{BlocksOnLevels, CheapestMessage, Share};
use system::{Cost, Goal, Grid, Receivers, System, Unit};
use tuwtree_model::{
    BlockSizes, Hierarchy, LeastCosts, Network, Operation, PortKind, Ports, Problem, Rank, Root,
    Time, WireOwner,
};

/// Grid steps while a bound is searched for; a finer grid finds it.
const COARSE: usize = 256;
const FINE: usize = 2048;

/// Most refinements of a grid.
const MOST_GRIDS: usize = 60;

/// Number of times that a coarse grid is cut to end shortly after the bound.
const NARROWER: usize = 2;

/// Safety factor of a bound, below the rounding error.
const KEPT: f64 = 1.0 - 1e-9;

/// A lower bound on the completion time of every tree of a gather or scatter with one port on a machine of
/// several levels; `None` where nothing is known. `least` is another bound, in time units.
///
/// # Complexity
/// O(h^2) a step of the grid, some ten thousand steps; O(p (h + log p)) for the groups.
pub(super) fn bound(problem: &Problem, least: f64) -> Option<Time> {
    let (hierarchy, sizes) = parts(problem)?;
    let machine = BlocksOnLevels::new(hierarchy, sizes, 0.0)?;
    let roots = Roots { machine: &machine, hierarchy, sizes, root: problem.root() };
    let of_laws = |laws: &Vec<Option<CheapestMessage>>| {
        let costs: Vec<Option<Cost>> = laws.iter().map(|law| law.map(Cost::from)).collect();
        planned_bound(roots, &costs, least)
    };
    let sets = machine.laws();
    let bound = sets.iter().map(of_laws).fold(0.0, f64::max) * KEPT;
    // Where all costs are integers, so are all times.
    Time::new(if hierarchy.is_integral() { bound.ceil() } else { bound })
}

/// The bound by these costs, in time units.
fn planned_bound(roots: Roots<'_>, costs: &[Option<Cost>], least: f64) -> f64 {
    let machine = roots.machine;
    let per_byte = least_of(costs, |cost| cost.per_byte, 0);
    let smallest = machine.smallest as f64;
    let by_bytes: Vec<Goal> = (0..costs.len())
        .map(|level| {
            roots.goal(level, Unit::Byte, |rank, inside| {
                roots.copy(rank) + per_byte * (inside.bytes - roots.block(rank))
            })
        })
        .collect();
    let by_blocks: Vec<Goal> = (0..costs.len())
        .map(|level| {
            roots.goal(level, Unit::Block, |rank, inside| {
                // All bytes but those of as many smallest blocks as come.
                let coming = (machine.blocks() - inside.blocks) * smallest;
                let others = machine.total - roots.block(rank);
                roots.copy(rank) + per_byte * (others - coming).max(0.0)
            })
        })
        .collect();
    let in_blocks = System {
        machine,
        costs,
        receivers: Receivers::Ranks,
        unit: Unit::Block,
        goals: &by_blocks,
    };
    let in_bytes = System { unit: Unit::Byte, goals: &by_bytes, ..in_blocks };
    let copy = roots.root.given().map_or(0.0, |root| roots.copy(root));
    let in_parts = search(least.max(one_message(costs, smallest)), |grid| {
        let blocks = in_blocks.solve(grid, None);
        let bytes = in_bytes.solve(grid, Some(&one_more(&blocks.held)));
        (bytes.bound.max(blocks.bound), bytes.is_reached && blocks.is_reached)
    });
    in_parts.max(whole::bound(roots, costs, Receivers::Ranks, copy))
}

/// A lower bound on the time of every tree by the judge, for a gather or scatter on a machine with levels;
/// `None` where nothing is known.
///
/// # Complexity
/// As [`bound`].
pub(super) fn judged_bound(problem: &Problem) -> Option<Time> {
    let (hierarchy, sizes) = parts(problem)?;
    let machine = BlocksOnLevels::new(hierarchy, sizes, 0.0)?;
    let network = problem.stated_costs().network();
    let ranks = Ranks::new(hierarchy, &network, &machine, problem.operation());
    let of_laws = |laws: &Vec<Option<CheapestMessage>>| {
        let (less, on_wires) = ranks.on_wires(laws);
        let machine = BlocksOnLevels::new(hierarchy, sizes, less)?;
        let judged = Judged {
            roots: Roots { machine: &machine, hierarchy, sizes, root: problem.root() },
            receivers: match network.wire {
                WireOwner::Rank => Receivers::Ranks,
                WireOwner::Node => Receivers::Nodes,
            },
            ranks: &ranks,
            is_outward: problem.operation().is_outward(),
        };
        Some(judged.bound(&on_wires))
    };
    Time::new(machine.laws().iter().filter_map(of_laws).fold(0.0, f64::max) * KEPT)
}

/// The machine and the blocks of a gather or scatter with one port among several ranks.
fn parts(problem: &Problem) -> Option<(&Hierarchy, &BlockSizes)> {
    let is_tree = problem.operation().is_rooted() && problem.ranks() > 1;
    let blocks = problem.blocks().filter(|_| is_tree && problem.ports() == Ports::ONE)?;
    Some((problem.costs().hierarchy()?, blocks))
}

/// The best bound on several grids, the last of which ends shortly after it; `run` returns a grid's bound, and true if
/// the grid ends after it.
fn search(start: f64, mut run: impl FnMut(Grid) -> (f64, bool)) -> f64 {
    let (mut best, mut horizon, mut narrower) = (0.0_f64, 2.0 * start, 0);
    for _ in 0..MOST_GRIDS {
        if !(horizon > 0.0 && horizon.is_finite()) {
            break;
        }
        let steps = if narrower <= NARROWER { COARSE } else { FINE };
        let grid = Grid { steps, step: horizon / steps as f64 };
        let (bound, is_reached) = run(grid);
        best = best.max(bound);
        horizon = match is_reached {
            false if narrower > 0 => 1.1 * horizon,
            false => 2.0 * horizon,
            true if steps == FINE => break,
            true => {
                narrower += 1;
                (1.02 * best).max(4.0 * grid.step)
            }
        };
    }
    best
}

/// The least of a cost over the levels in use from `first` on.
fn least_of(costs: &[Option<Cost>], of: impl Fn(&Cost) -> f64, first: usize) -> f64 {
    costs[first.min(costs.len())..].iter().flatten().map(of).fold(f64::INFINITY, f64::min)
}

/// Candidates for the root.
#[derive(Clone, Copy)]
struct Roots<'a> {
    machine: &'a BlocksOnLevels,
    hierarchy: &'a Hierarchy,
    sizes: &'a BlockSizes,
    root: Root,
}

impl Roots<'_> {
    /// Data that any root must get from outside its group inside a level, and its least further work, given rank and
    /// group.
    fn goal(&self, level: usize, unit: Unit, chores: impl Fn(Rank, Share) -> f64) -> Goal {
        let of_root = |rank: Rank| {
            let inside = self.machine.inside(level, rank, self.sizes);
            let (all, inside_it) = match unit {
                Unit::Byte => (self.machine.total, inside.bytes),
                Unit::Block => (self.machine.blocks(), inside.blocks),
            };
            // Sums of fractions differ by rounding.
            let wanted = all - if inside_it >= all * KEPT { all } else { inside_it };
            Goal { level, chores: chores(rank, inside), wanted, inside, after: 0.0 }
        };
        let either = |one: Goal, other: Goal| Goal {
            chores: one.chores.min(other.chores),
            wanted: one.wanted.min(other.wanted),
            inside: one.inside.max(other.inside),
            ..one
        };
        match self.root.given() {
            Some(root) => of_root(root),
            None => {
                let all = (0..self.sizes.ranks()).map(of_root).reduce(either);
                all.expect("a problem has at least one rank")
            }
        }
    }

    /// The time of a root's copy.
    fn copy(&self, rank: Rank) -> f64 {
        self.hierarchy.gamma() * self.sizes.block(rank) as f64
    }

    /// The bytes of a rank's block that count.
    fn block(&self, rank: Rank) -> f64 {
        self.machine.inside(0, rank, self.sizes).bytes
    }
}

/// About what a message takes: where to begin to search.
fn one_message(costs: &[Option<Cost>], bytes: f64) -> f64 {
    least_of(costs, |cost| cost.earliest + cost.overhead + cost.per_byte * bytes, 0)
}

/// Work of ranks for messages, by level, in time units.
struct Ranks {
    /// Largest cost of a message off the wire, or while the wire idles.
    most: Vec<f64>,
    /// The least of any message.
    least: Vec<f64>,
}

impl Ranks {
    fn new(
        hierarchy: &Hierarchy,
        network: &Network,
        machine: &BlocksOnLevels,
        operation: Operation,
    ) -> Ranks {
        let of_send = network.send_overhead.unwrap_or(f64::INFINITY);
        let of_one_byte = |level: usize| hierarchy.levels()[level].links.times(1).1;
        let is_fair = network.port == PortKind::Fair;
        let all_eager = network.is_eager(machine.total as u64);
        let levels = 0..machine.levels.len();
        // What asks its receiver first leaves a wire that takes turns to others for a round trip at most.
        let asked = |level: usize| {
            let (latency, occupancy) = hierarchy.levels()[level].links.times(1);
            let least = machine.levels[level].law.as_ref().map_or(0.0, LeastCosts::latency);
            (2.0 * (latency + occupancy) - least).max(0.0)
        };
        let some_take_turns = !is_fair || network.fair_beyond.is_some();
        let asked = |level: usize| match operation.is_outward() && !all_eager && some_take_turns {
            true => asked(level),
            false => 0.0,
        };
        let most = |level: usize| match is_fair {
            true => of_send.min(of_one_byte(level)).max(asked(level)),
            false => asked(level),
        };
        // Where messages take turns, they cost the rank nothing beside the wire.
        let least = |level: usize| match &machine.levels[level].law {
            Some(law) if all_eager && !some_take_turns => most(level).min(law.least_occupancy()),
            _ => 0.0,
        };
        Ranks { most: levels.clone().map(most).collect(), least: levels.map(least).collect() }
    }

    /// Lines below the wire times of messages, with all blocks reduced by this many bytes.
    ///
    /// Of a line below occupancies, the wire has all but `most`. If that starts below nothing, as `beta (s -
    /// d)`, then blocks that are smaller by `d` lose at least as much together: and so at any larger `d`.
    fn on_wires(&self, laws: &[Option<CheapestMessage>]) -> (f64, Vec<Option<CheapestMessage>>) {
        let left = |(law, &most): (&Option<CheapestMessage>, &f64)| {
            let law = (*law)?;
            let overhead = law.overhead - most;
            // Without a slope, there is nothing below nothing.
            Some(CheapestMessage {
                overhead: if law.per_byte > 0.0 { overhead } else { overhead.max(0.0) },
                ..law
            })
        };
        let left: Vec<Option<CheapestMessage>> = laws.iter().zip(&self.most).map(left).collect();
        let lacks = |law: &CheapestMessage| match law.overhead < 0.0 {
            true => -law.overhead / law.per_byte,
            false => 0.0,
        };
        let less = left.iter().flatten().map(lacks).fold(0.0, f64::max);
        let moved = |law: CheapestMessage| CheapestMessage {
            overhead: (law.overhead + law.per_byte * less).max(0.0),
            ..law
        };
        (less, left.into_iter().map(|law| law.map(moved)).collect())
    }
}

/// A machine as the judge sees it.
struct Judged<'a> {
    roots: Roots<'a>,
    receivers: Receivers,
    ranks: &'a Ranks,
    is_outward: bool,
}

impl Judged<'_> {
    /// The bound by these laws of wires, in time units.
    fn bound(&self, laws: &[Option<CheapestMessage>]) -> f64 {
        let costs = self.on_wires(laws);
        let (on_ranks, by_blocks) = (self.on_ranks(), self.goals_of_ranks());
        let by_bytes = self.goals_of_wires(&costs);
        let in_blocks = System {
            machine: self.roots.machine,
            costs: &on_ranks,
            receivers: Receivers::Ranks,
            unit: Unit::Block,
            goals: &by_blocks,
        };
        let in_bytes = System {
            costs: &costs,
            receivers: self.receivers,
            unit: Unit::Byte,
            goals: &by_bytes,
            ..in_blocks
        };
        let start = one_message(&costs, self.roots.machine.smallest as f64);
        let start = start.max(self.roots.machine.total * least_of(&costs, |cost| cost.per_byte, 0));
        // A wire copies nothing.
        let whole = whole::bound(self.roots, &costs, self.receivers, 0.0);
        let in_parts = search(start, |grid| {
            let blocks = (!self.is_outward).then(|| in_blocks.solve(grid, None));
            let counts = blocks.as_ref().map(|blocks| one_more(&blocks.held));
            let bytes = in_bytes.solve(grid, counts.as_deref());
            blocks.map_or((bytes.bound, bytes.is_reached), |blocks| {
                (bytes.bound.max(blocks.bound), bytes.is_reached && blocks.is_reached)
            })
        });
        in_parts.max(whole)
    }

    /// Costs of messages on wires. A scatter is read backwards in time: data that a rank gives away is then received, a
    /// message begins when its receiver has taken it, and before that the receiver's own messages have travelled.
    fn on_wires(&self, laws: &[Option<CheapestMessage>]) -> Vec<Option<Cost>> {
        let least_latency = self.roots.machine.least_latency();
        let of_level = |(law, &taken): (&Option<CheapestMessage>, &f64)| {
            let law = (*law)?;
            Some(match self.is_outward {
                false => law.into(),
                true => Cost { earliest: taken, latency: taken + least_latency, ..Cost::from(law) },
            })
        };
        laws.iter().zip(&self.ranks.least).map(of_level).collect()
    }

    /// Costs of messages at receiving ranks, once the messages are off the wire.
    fn on_ranks(&self) -> Vec<Option<Cost>> {
        let of_level = |level: usize| {
            let law = self.roots.machine.levels[level].law.as_ref()?;
            let on_wire = law.beyond(self.ranks.most[level]).least_occupancy();
            let latency = law.latency() + on_wire;
            let overhead = self.ranks.least[level];
            Some(Cost { earliest: latency, latency, overhead, per_byte: 0.0 })
        };
        (0..self.roots.machine.levels.len()).map(of_level).collect()
    }

    fn goals_of_ranks(&self) -> Vec<Goal> {
        let levels = 0..self.roots.machine.levels.len();
        let chores = |rank: Rank, _: Share| self.roots.copy(rank);
        levels.map(|level| self.roots.goal(level, Unit::Block, chores)).collect()
    }

    fn goals_of_wires(&self, costs: &[Option<Cost>]) -> Vec<Goal> {
        let (roots, receivers) = (&self.roots, self.receivers);
        let of_level = |level: usize| {
            // Of a rank, messages of all levels come to its wires.
            let first = if level == 0 { 0 } else { receivers.first() };
            let per_byte = least_of(costs, |cost| cost.per_byte, first);
            // Whose wire it is needs nothing of what it has.
            let own = |rank: Rank| roots.machine.inside(first, rank, roots.sizes).bytes;
            let chores = |rank: Rank, inside: Share| match per_byte.is_finite() {
                true => per_byte * (inside.bytes - own(rank)).max(0.0),
                // Nobody else is there.
                false => 0.0,
            };
            let after = match self.is_outward {
                true => roots.machine.least_latency(),
                false => {
                    let used = |&level: &usize| costs[level].is_some();
                    let taken = (first..costs.len()).filter(used);
                    taken.map(|level| self.ranks.least[level]).fold(f64::INFINITY, f64::min)
                }
            };
            let goal = roots.goal(level, Unit::Byte, chores);
            Goal { after: if goal.wanted > 0.0 { after } else { 0.0 }, ..goal }
        };
        (0..costs.len()).map(of_level).collect()
    }
}

/// The blocks that a rank has with its own, which need not be empty.
fn one_more(held: &[f64]) -> Vec<f64> {
    held.iter().map(|held| held + 1.0).collect()
}
