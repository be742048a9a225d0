//! Ports of a machine with levels that receive from each other: how much each kind can have by a time.
//!
//! A row of the system says what some rank, wire or group has at most by each step of the grid.
//!
//! ```text
//! hold(l)   of what is outside its group inside level l, a rank has at most so much; level 0: all but its own
//! has(k)    of all, a sender over level k has at most so much:
//!               min(largest block + hold(0), largest group of level k + hold(k + 1), N largest blocks)
//! ```
//!
//! A rank gets `has` over level `l` or a higher one; over a lower one its mates pass on `hold(l)`, since they are in
//! one group. No rank has more data from outside its group than all ranks of the group have received from outside.

use super::growth::{GrowingMessage, Port};
use super::machine::{BlocksOnLevels, CheapestMessage, Share};

/// Receivers of data from outside a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Receivers {
    /// Each rank, through its port.
    Ranks,
    /// Each node, through its wire; within the node, each rank through its own.
    Nodes,
}

/// Unit of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Byte,
    /// A block that is not empty, as if it had as few bytes as any.
    Block,
}

/// Least cost of a message of a level, in time units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    pub(super) earliest: f64,
    pub(super) latency: f64,
    pub(super) overhead: f64,
    pub(super) per_byte: f64,
}

impl From<CheapestMessage> for Cost {
    fn from(CheapestMessage { latency, overhead, per_byte }: CheapestMessage) -> Cost {
        Cost { earliest: latency, latency, overhead, per_byte }
    }
}

/// Position of a root, and its work besides receiving.
#[derive(Clone, Copy, Debug)]
pub(super) struct Goal {
    /// The level: all data outside the root's group inside it must come.
    pub(super) level: usize,
    /// Time units for which its port is busy with anything else.
    pub(super) chores: f64,
    /// Amount that must come.
    pub(super) wanted: f64,
    /// Content of the root's group.
    pub(super) inside: Share,
    /// Time units that pass after it has come.
    pub(super) after: f64,
}

/// Steps of a grid, and their length in time units.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grid {
    pub(super) steps: usize,
    pub(super) step: f64,
}

/// Parts of the system, before a grid is chosen.
#[derive(Clone, Copy)]
pub(super) struct System<'a> {
    pub(super) machine: &'a BlocksOnLevels,
    /// `None` for levels that nobody uses.
    pub(super) costs: &'a [Option<Cost>],
    pub(super) receivers: Receivers,
    pub(super) unit: Unit,
    pub(super) goals: &'a [Goal],
}

/// The least over some alternatives of a multiple of what some ports have.
type HeldAt = Vec<(f64, Vec<usize>)>;

/// Solution of the system.
pub(super) struct Solved {
    /// Before this no tree is complete, in time units.
    pub(super) bound: f64,
    /// True if all goals were reached.
    pub(super) is_reached: bool,
    /// Data outside a rank, plus its own, at each step.
    pub(super) held: Vec<f64>,
}

/// Relative amount that counts as all, to allow for rounding.
const NEARLY: f64 = 1.0 - 1e-9;

impl System<'_> {
    /// Follows the system along a grid. `blocks` says for each step how many blocks anybody has, if that is
    /// known.
    ///
    /// # Complexity
    /// O(h^2) a step.
    pub(super) fn solve(&self, grid: Grid, blocks: Option<&[f64]>) -> Solved {
        let levels = self.costs.len();
        let (mut ports, holds) = self.ports(grid);
        let goals: Vec<HeldAt> =
            self.goals.iter().map(|goal| self.add_goal(goal, grid, &mut ports)).collect();
        let mut reached: Vec<Option<usize>> = vec![None; goals.len()];
        let held = |ports: &[Port], held: &HeldAt, step: usize| {
            let sum = |(times, ports_of): &(f64, Vec<usize>)| {
                times * ports_of.iter().map(|&port| ports[port].received()[step]).sum::<f64>()
            };
            held.iter().map(sum).fold(f64::INFINITY, f64::min)
        };
        // hold(0), ..., hold(levels), has(0), ...
        let mut rows: Vec<Vec<f64>> = vec![Vec::with_capacity(grid.steps + 1); 2 * levels + 1];
        for step in 0..=grid.steps {
            if step > 0 {
                ports.iter_mut().for_each(|port| port.advance(&rows));
            }
            for level in 0..levels {
                rows[level].push(held(&ports, &holds[level], step));
            }
            rows[levels].push(0.0);
            for level in 0..levels {
                let has = self.has(level, rows[0][step], rows[level + 1][step]);
                let counted = blocks.map_or(f64::INFINITY, |blocks| {
                    self.machine.bytes_of_largest(blocks[step] * (2.0 - NEARLY) + 1.0)
                });
                rows[levels + 1 + level].push(has.min(counted));
            }
            for ((goal, parts), reached) in self.goals.iter().zip(&goals).zip(&mut reached) {
                if reached.is_none() && held(&ports, parts, step) >= goal.wanted * NEARLY {
                    *reached = Some(step);
                }
            }
        }
        let least = |(goal, reached): (&Goal, &Option<usize>)| {
            let steps = reached.map_or(grid.steps, |step| step.saturating_sub(1));
            steps as f64 * grid.step + goal.after
        };
        Solved {
            bound: self.goals.iter().zip(&reached).map(least).fold(0.0, f64::max),
            is_reached: reached.iter().all(Option::is_some),
            held: rows.swap_remove(0),
        }
    }

    /// Data of a sender over a level, given its data from outside itself and from outside its group.
    fn has(&self, level: usize, outside_itself: f64, outside_group: f64) -> f64 {
        let most = self.machine.levels[level].most;
        let (own, group) = match self.unit {
            Unit::Byte => (self.machine.bytes_of_largest(1.0), most.bytes),
            Unit::Block => (1.0, most.blocks),
        };
        let has = (own + outside_itself).min(group + outside_group);
        match self.unit {
            Unit::Byte => has,
            Unit::Block => (has * (2.0 - NEARLY)).floor(),
        }
    }

    /// The ports that hold outside data, and the composition of `hold` on each level.
    fn ports(&self, grid: Grid) -> (Vec<Port>, Vec<HeldAt>) {
        let levels = self.costs.len();
        let mut ports = vec![];
        let mut add = |port: Port| {
            ports.push(port);
            ports.len() - 1
        };
        let holds = (0..levels)
            .map(|level| match (level, self.receivers) {
                (0, Receivers::Nodes) => {
                    let own = add(self.port(grid, 0.0, 0, 0..1));
                    vec![(1.0, vec![own, add(self.port(grid, 0.0, 0, 1..levels))])]
                }
                (0, Receivers::Ranks) => vec![(1.0, vec![add(self.port(grid, 0.0, 0, 0..levels))])],
                _ => {
                    let many = self.receivers.of(self.machine.levels[level - 1].most);
                    let passed_on =
                        add(self.port(grid, 0.0, level, self.receivers.first()..levels));
                    let direct = add(self.port(grid, 0.0, level, level..levels));
                    vec![(1.0, vec![passed_on]), (many, vec![direct])]
                }
            })
            .collect();
        (ports, holds)
    }

    /// The ports of a root, and the composition of its data.
    fn add_goal(&self, goal: &Goal, grid: Grid, ports: &mut Vec<Port>) -> HeldAt {
        let levels = self.costs.len();
        let mut add = |port: Port| {
            ports.push(port);
            ports.len() - 1
        };
        match (goal.level, self.receivers) {
            (0, Receivers::Nodes) => {
                let own = add(self.port(grid, 0.0, 0, 0..1));
                vec![(1.0, vec![own, add(self.port(grid, 0.0, 0, 1..levels))])]
            }
            (level, receivers) => {
                let first = if level == 0 { 0 } else { receivers.first() };
                let mut held =
                    vec![(1.0, vec![add(self.port(grid, goal.chores, level, first..levels))])];
                if level > 0 {
                    let direct = add(self.port(grid, 0.0, level, level..levels));
                    held.push((receivers.of(goal.inside), vec![direct]));
                }
                held
            }
        }
    }

    /// A port that receives data from outside its group inside `level`, in messages of several
    /// levels.
    fn port(&self, grid: Grid, free_from: f64, level: usize, over: std::ops::Range<usize>) -> Port {
        let (levels, smallest) = (self.costs.len(), self.machine.smallest as f64);
        let all = match self.unit {
            Unit::Byte => self.machine.total,
            Unit::Block => self.machine.blocks(),
        };
        let message = |over: usize| {
            let Cost { earliest, latency, overhead, per_byte } = self.costs[over]?;
            Some(GrowingMessage {
                earliest: earliest / grid.step,
                latency: latency / grid.step,
                overhead: overhead / grid.step,
                per_unit: match self.unit {
                    Unit::Byte => per_byte,
                    Unit::Block => per_byte * smallest,
                } / grid.step,
                from: if over < level { level } else { levels + 1 + over },
            })
        };
        Port::new(free_from / grid.step, over.filter_map(message).collect(), all)
    }
}

impl Receivers {
    /// Number of units in a group.
    fn of(self, share: Share) -> f64 {
        match self {
            Receivers::Ranks => share.ranks,
            Receivers::Nodes => share.nodes,
        }
    }

    /// The first level whose messages come to a wire that holds data from outside a node.
    pub(super) fn first(self) -> usize {
        match self {
            Receivers::Ranks => 0,
            Receivers::Nodes => 1,
        }
    }
}
