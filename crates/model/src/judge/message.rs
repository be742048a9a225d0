//! Costs of a message by the judge, and the law by which trees are planned for it.

use crate::{
    Costs, Hierarchy, LeastCosts, Level, LinkLaw, MeasuredSize, MeasuredSizes, Network, Piece,
    PiecewiseLinear, Ports, Problem, StatedCosts, TimeError, WireOwner,
};
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Costs of a message by the judge, in the time unit of the costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JudgedMessage {
    /// lambda: the time from its sender's start until it enters its wire, a request of its receiver counted.
    pub latency: f64,
    /// `w`: its time on an idle wire.
    pub on_wire: f64,
    /// `o`: the receiving rank's time for it.
    pub overhead: f64,
    /// `o_s`: the sending rank's time for it.
    pub send_overhead: f64,
}

impl JudgedMessage {
    /// The costs of a message of `bytes >= 1`; `times` are the latency and the occupancy of a message by its size, and
    /// `is_outward` is true in a scatter.
    ///
    /// # Errors
    /// Those of `times`.
    pub fn new(
        network: &Network,
        is_outward: bool,
        bytes: u64,
        times: impl Fn(u64) -> Result<(f64, f64), TimeError>,
    ) -> Result<JudgedMessage, TimeError> {
        let ((latency, occupancy), (first_latency, first_byte)) = (times(bytes)?, times(1)?);
        let least = first_byte.min(occupancy);
        let (is_eager, takes_turns) = (network.is_eager(bytes), network.takes_turns(bytes));
        // What asks its receiver first is on the wire after a round trip at the earliest. That counts
        // where messages take turns, and is as much less on the wire.
        let asked = match is_outward && !is_eager && takes_turns {
            true => (2.0 * (first_latency + first_byte) - latency).clamp(0.0, occupancy),
            false => 0.0,
        };
        // Where messages take turns, nothing overlaps with the wire.
        let overhead = match is_eager && !takes_turns {
            true => network.send_overhead.map_or(least, |most| most.min(least)),
            false => 0.0,
        };
        Ok(JudgedMessage {
            latency: latency + asked,
            on_wire: occupancy - overhead - asked,
            overhead,
            send_overhead: network.send_overhead.unwrap_or(least),
        })
    }

    /// The costs of a message of this size on such links.
    ///
    /// # Errors
    /// Times that are not finite.
    pub fn on(
        links: &LinkLaw,
        network: &Network,
        is_outward: bool,
        bytes: u64,
    ) -> Result<JudgedMessage, TimeError> {
        let finite = |(latency, occupancy): (f64, f64)| match latency + occupancy {
            sum if sum.is_finite() => Ok((latency, occupancy)),
            _ => Err(TimeError::NotFinite),
        };
        JudgedMessage::new(network, is_outward, bytes, |bytes| finite(links.times(bytes)))
    }

    /// Latency and occupancy of such a message for a planner that lets messages occupy one port, one after the other:
    /// the part that overlaps with other messages counts as latency.
    fn planned(self, is_outward: bool, WireFactors { wire, wait }: WireFactors) -> (f64, f64) {
        let JudgedMessage { latency, on_wire, overhead, send_overhead } = self;
        let busy = if is_outward { send_overhead } else { overhead };
        let apart = on_wire + overhead - busy.max(on_wire);
        let occupancy = busy.max(busy + wire * (on_wire - busy));
        // A sender that is busy for longer than the message is under way sees none of its latency.
        ((latency + apart).max(0.0) + wait * on_wire, occupancy)
    }
}

/// Factors of the wire's time of large messages: in a scatter on a fair wire, all that are sent meanwhile slow them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct WireFactors {
    /// Factor of the time on the wire beyond a rank's own work.
    wire: f64,
    /// Times on the wire that a message takes longer.
    wait: f64,
}

impl WireFactors {
    /// Of messages that do not slow each other.
    const PLAIN: WireFactors = WireFactors { wire: 1.0, wait: 0.0 };

    /// Candidates for scatters on fair wires, the best on average first: two for dynamic
    /// programs, two for trees that are split from the top down.
    const OF_SCATTERS: [WireFactors; 4] = [
        WireFactors::PLAIN,
        WireFactors { wire: 2.0, wait: 0.0 },
        WireFactors { wire: 1.0, wait: 4.0 },
        WireFactors { wire: 1.0, wait: 16.0 },
    ];

    /// The one choice of ranks that plan by themselves, in scatters on fair wires.
    const ONLINE: WireFactors = WireFactors { wire: 1.0, wait: 8.0 };
}

/// The problem at costs by which planned trees are early for the judge, one for each way of planning that is worth a
/// try, the best on average first; none where the judge is the planner, and where each pair of ranks has costs of its
/// own.
///
/// # Errors
/// Times that are not finite.
///
/// # Source
/// `docs/planner-and-judge.md`.
pub fn planned_problems(problem: &Problem) -> Result<Vec<Problem>, TimeError> {
    let factors = match is_slowed(problem) {
        true => &WireFactors::OF_SCATTERS[..],
        false => &[WireFactors::PLAIN],
    };
    factors.iter().filter_map(|&factors| planned_problem(problem, factors).transpose()).collect()
}

/// The problem at the costs by which ranks plan that find their places by themselves; the problem itself where
/// [`planned_problems`] has none.
///
/// # Errors
/// Times that are not finite.
pub fn online_problem(problem: &Problem) -> Result<Problem, TimeError> {
    let factors = if is_slowed(problem) { WireFactors::ONLINE } else { WireFactors::PLAIN };
    Ok(planned_problem(problem, factors)?.unwrap_or_else(|| problem.clone()))
}

/// True for a scatter in which large messages slow each other.
fn is_slowed(problem: &Problem) -> bool {
    problem.operation().is_outward() && !problem.stated_costs().network().takes_turns(u64::MAX)
}

/// The problem at the costs of one way of planning; `None` where the judge is the planner, and where each pair of ranks
/// has costs of its own.
fn planned_problem(problem: &Problem, factors: WireFactors) -> Result<Option<Problem>, TimeError> {
    let (ranks, costs) = (problem.ranks(), problem.costs());
    let is_judged = problem.operation().is_rooted() && costs.overlaps();
    if !is_judged || problem.ports() != Ports::ONE {
        return Ok(None);
    }
    let machine = match (costs.homogeneous(ranks), costs.hierarchy()) {
        (_, Some(machine)) => machine.clone(),
        (Some(costs), None) => Hierarchy::flat(ranks, &costs),
        (None, None) => return Ok(None),
    };
    let network = problem.stated_costs().network();
    // Every message of a broadcast or reduction has the bytes of the vector.
    let (least, most) = match problem.vector() {
        Some(vector) => (vector.bytes, vector.bytes),
        None => (1, problem.payload().total()),
    };
    let sizes = least.max(1)..=most.max(1);
    let laws = machine.levels().iter().map(|level| {
        let links = planned_law(&level.links, &network, problem, (sizes.clone(), factors))?;
        Ok(Level { links, ..level.clone() })
    });
    let levels = laws.collect::<Result<Vec<Level>, TimeError>>()?;
    let machine = Hierarchy::new(levels, machine.placement().clone(), machine.gamma());
    let costs = Costs::Hierarchical(machine.expect("levels as before"));
    let costs = match problem.vector() {
        Some(vector) => costs.linearised_at(vector.bytes),
        None => costs,
    };
    let costs = match problem.stated_costs() {
        StatedCosts::Parameters(_) => StatedCosts::Parameters(costs),
        StatedCosts::Machine(machine) => {
            let mut machine = machine.as_ref().clone();
            machine.costs = costs;
            StatedCosts::Machine(Arc::new(machine))
        }
    };
    Ok(Some(problem.with_costs(costs).expect("costs for as many ranks")))
}

/// The law of a level's links as it is planned with, for messages of these sizes.
fn planned_law(
    links: &LinkLaw,
    network: &Network,
    problem: &Problem,
    (sizes, factors): (RangeInclusive<u64>, WireFactors),
) -> Result<LinkLaw, TimeError> {
    let is_outward = problem.operation().is_outward();
    let at = |bytes| {
        let message = JudgedMessage::on(links, network, is_outward, bytes)?;
        let (latency, occupancy) = message.planned(is_outward, factors);
        Ok(MeasuredSize { bytes, latency, occupancy })
    };
    let measured = corners(links, network, sizes).into_iter().map(at);
    let measured = measured.collect::<Result<Vec<MeasuredSize>, TimeError>>()?;
    Ok(LinkLaw::Measured(MeasuredSizes::new(measured).expect("sizes that rise, and costs")))
}

/// Sizes between which the judge's costs of a message are on straight lines, nearly: where the law or its treatment
/// changes, and where the wire's time passes a rank's.
fn corners(links: &LinkLaw, network: &Network, sizes: RangeInclusive<u64>) -> Vec<u64> {
    let (first, last) = (*sizes.start(), *sizes.end());
    let limits = [network.eager_limit, network.fair_beyond].into_iter().flatten();
    let changes = links.changes().into_iter().flat_map(|bytes| [bytes.saturating_sub(1), bytes]);
    let mut all: Vec<u64> = limits
        .flat_map(|limit| [limit, limit.saturating_add(1)])
        .chain(changes)
        .chain([first, last])
        .filter(|bytes| sizes.contains(bytes))
        .collect();
    all.sort_unstable();
    all.dedup();
    // Where w passes o or o_s between two of these: where the occupancy is one of few multiples of them.
    let occupancy = |bytes: u64| links.times(bytes).1;
    let first_byte = occupancy(1);
    let busy = network.send_overhead.into_iter().chain([first_byte]);
    let asked = 2.0 * (links.times(1).0 + first_byte) - links.times(first).0;
    let marks = busy.flat_map(|busy| [busy, busy + first_byte, 2.0 * busy]).chain([asked]);
    let marks: Vec<f64> = marks.collect();
    let mut more = Vec::new();
    for pair in all.windows(2) {
        for &mark in &marks {
            let (low, high) = (occupancy(pair[0]) < mark, occupancy(pair[1]) < mark);
            if low == high {
                continue;
            }
            let (mut before, mut behind) = (pair[0], pair[1]);
            while behind - before > 1 {
                let middle = before.midpoint(behind);
                *if (occupancy(middle) < mark) == low { &mut before } else { &mut behind } = middle;
            }
            more.extend([before, behind]);
        }
    }
    all.extend(more);
    all.sort_unstable();
    all.dedup();
    all
}

/// Lower bounds on the judge's costs of all messages of some sizes on any links of some ranks.
#[derive(Clone, Debug, PartialEq)]
pub struct LeastJudged {
    /// The least lambda.
    pub latency: f64,
    /// The least `o`.
    pub overhead: f64,
    /// The least `o_s`.
    pub send_overhead: f64,
    /// The least `w`.
    pub on_wire: f64,
    /// The least of lambda + w + o: of the time of a message.
    pub message: f64,
    /// The least of lambda + w + o of the messages of at least the largest block.
    pub largest_message: f64,
    /// The greatest number of which every message takes, for some share, `share o + (1 - share) w` at least.
    pub mixed: f64,
    /// Lines below `w` by size: values at 0 bytes, which may be below 0, and times per byte.
    pub lines: Vec<(f64, f64)>,
}

impl LeastJudged {
    /// The bounds for messages of these sizes; `largest` is the least size of the message that has the largest block.
    /// `None` for links that cannot be stated.
    ///
    /// # Complexity
    /// O(p^2) for costs of each pair of ranks.
    pub fn new(problem: &Problem, sizes: RangeInclusive<u64>, largest: u64) -> Option<LeastJudged> {
        let network = problem.stated_costs().network();
        let is_outward = problem.operation().is_outward();
        let ranks = problem.ranks();
        let machine = problem.costs().hierarchy();
        let links: Vec<LinkLaw> = match machine {
            Some(machine) => {
                machine.levels_of(ranks).into_iter().map(|level| level.links.clone()).collect()
            }
            None => cheapest_links(problem),
        };
        let mut points: Vec<(u64, JudgedMessage)> = Vec::new();
        for links in &links {
            let with_largest = corners(links, &network, sizes.clone()).into_iter();
            for bytes in with_largest.chain(sizes.contains(&largest).then_some(largest)) {
                let message = JudgedMessage::on(links, &network, is_outward, bytes).ok()?;
                points.push((bytes, message));
            }
        }
        points.first()?;
        let least = |of: fn(&JudgedMessage) -> f64, from: u64| {
            let all = points.iter().filter(|(bytes, _)| *bytes >= from);
            all.map(|(_, message)| of(message)).fold(f64::INFINITY, f64::min)
        };
        let whole = |one: &JudgedMessage| one.latency + one.on_wire + one.overhead;
        let shares = (0..=SHARES).map(|share| f64::from(share) / f64::from(SHARES));
        let mixed = shares.map(|share| {
            let of = |one: &JudgedMessage| share * one.overhead + (1.0 - share) * one.on_wire;
            points.iter().map(|(_, one)| of(one)).fold(f64::INFINITY, f64::min)
        });
        let wires = points.iter().map(|&(bytes, one)| (bytes, one.on_wire)).collect();
        Some(LeastJudged {
            latency: least(|one| one.latency, 0),
            overhead: least(|one| one.overhead, 0),
            send_overhead: least(|one| one.send_overhead, 0),
            on_wire: least(|one| one.on_wire, 0),
            message: least(whole, 0),
            largest_message: least(whole, largest),
            mixed: mixed.fold(0.0, f64::max),
            lines: LeastCosts::new(0.0, wires).edges(),
        })
    }
}

/// Least times of messages to and from nodes whose ranks share a wire.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeWires {
    /// Ports of a rank.
    ports: f64,
    /// The least latency of messages to or from other nodes, and of any message.
    latencies: (f64, f64),
    /// The least occupancy of messages to or from other nodes, and of any message.
    overheads: (f64, f64),
    /// Times per byte of messages to or from other nodes: on the wire, and at a rank's port.
    outside: Vec<(f64, f64)>,
    /// The least time per byte of a message inside a node, at a rank's port.
    inside: f64,
}

impl NodeWires {
    /// The wires of a problem with messages of these sizes; `None` where nodes share no wire.
    ///
    /// # Errors
    /// Times that are not finite.
    pub fn new(
        problem: &Problem,
        sizes: RangeInclusive<u64>,
    ) -> Result<Option<NodeWires>, TimeError> {
        let network = problem.stated_costs().network();
        let shares_wires = network.wire == WireOwner::Node && problem.costs().overlaps();
        let Some(machine) = problem.costs().hierarchy().filter(|_| shares_wires) else {
            return Ok(None);
        };
        let least = (f64::INFINITY, f64::INFINITY);
        let (mut latencies, mut overheads) = (least, least);
        let (mut outside, mut inside) = (Vec::new(), f64::INFINITY);
        for (number, level) in machine.levels().iter().enumerate() {
            for bytes in corners(&level.links, &network, sizes.clone()) {
                let (lambda, occupancy) = level.links.times(bytes);
                let a_byte = occupancy / bytes as f64;
                latencies.1 = latencies.1.min(lambda);
                overheads.1 = overheads.1.min(occupancy);
                if number == 0 {
                    inside = inside.min(a_byte);
                } else {
                    let wire = JudgedMessage::on(&level.links, &network, false, bytes)?.on_wire;
                    latencies.0 = latencies.0.min(lambda);
                    overheads.0 = overheads.0.min(occupancy);
                    outside.push((wire / bytes as f64, a_byte));
                }
            }
        }
        let ports = f64::from(problem.ports().get());
        let wires = NodeWires { ports, latencies, overheads, outside, inside };
        Ok((!wires.outside.is_empty()).then_some(wires))
    }

    /// The least latency and the least occupancy of a message to or from another node.
    pub fn least_between(&self) -> (f64, f64) {
        (self.latencies.0, self.overheads.0)
    }

    /// The least latency and the least occupancy of any message.
    pub fn least(&self) -> (f64, f64) {
        (self.latencies.1, self.overheads.1)
    }

    /// Least time in which the ranks of a node receive `all` bytes, `entering` of them or more from other nodes and the rest
    /// from mates. Bytes that are sent take as long.
    ///
    /// A message of `b` bytes is on the wire for `w(b)` and occupies one of a node's `c` ranks for `f(b)`; one inside the node
    /// occupies it for `g(b)`. For any share, the time is at least the sum of `(1 - share) w(b) + share f(b) / c` over the
    /// messages from other nodes and of `share g(b) / c` over those inside: by the least of each for a byte, it is linear in the
    /// bytes from other nodes, of which there are between `entering` and `all`.
    pub fn least_time(&self, ranks: usize, entering: f64, all: f64) -> f64 {
        let ranks = ranks as f64 * self.ports;
        let between = if entering > 0.0 { self.latencies.0 } else { 0.0 };
        let shares = (0..=SMALL_SHARES).map(|quarter| 0.5_f64.powf(f64::from(quarter) / 4.0));
        let times = shares.map(|share| {
            let of = |&(wire, rank): &(f64, f64)| (1.0 - share) * wire + share * rank / ranks;
            let outside = self.outside.iter().map(of).fold(f64::INFINITY, f64::min);
            let inside = share * self.inside / ranks;
            let latency = (1.0 - share) * between + share * self.latencies.1;
            let together = latency + outside.min(inside) * (all - entering) + outside * entering;
            together.max(between + outside * entering)
        });
        times.fold(0.0, f64::max)
    }
}

/// Shares of ranks' work against the wire's are tried down to two to the power of minus a quarter of this.
const SMALL_SHARES: u8 = 48;

/// Two laws of which one costs at most as much as any pair's linear law, whatever part of a message is looked at: all is
/// least in the first, and a request of the receiver first hides most of the wire's time in the second.
fn cheapest_links(problem: &Problem) -> Vec<LinkLaw> {
    // Where all pairs share their costs, one pair stands for them.
    let ranks = match problem.costs().homogeneous(problem.ranks()) {
        Some(_) => problem.ranks().min(2),
        None => problem.ranks(),
    };
    let pairs = (0..ranks).flat_map(|one| (0..ranks).map(move |other| (one, other)));
    let links = pairs
        .filter(|(one, other)| one != other)
        .filter_map(|(one, other)| problem.costs().link(one, other))
        .filter(|link| link.alpha.is_finite());
    let mut ends: Option<[(f64, f64); 3]> = None;
    for link in links {
        let now = [link.latency(), link.overhead, link.beta];
        let before = ends.unwrap_or(now.map(|value| (value, value)));
        ends =
            Some(std::array::from_fn(|at| (before[at].0.min(now[at]), before[at].1.max(now[at]))));
    }
    let law = |latency: f64, overhead: f64, beta: f64| {
        let piece = Piece { from_bytes: 0, alpha: latency + overhead, overhead, beta };
        PiecewiseLinear::new(vec![piece]).ok().map(LinkLaw::from)
    };
    let Some([latency, overhead, beta]) = ends else { return Vec::new() };
    let all = [law(latency.0, overhead.0, beta.0), law(latency.1, overhead.1, beta.0)];
    all.into_iter().flatten().collect()
}

/// Shares that are tried between the work of ranks and that of wires.
const SHARES: u32 = 10;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Date, Machine};
    use crate::{BlockSizes, Collective, Homogeneous};

    #[test]
    fn a_sender_that_is_busy_for_longer_than_its_message_travels_is_planned_for() {
        let costs = Homogeneous::new(3.0, 1.0, 0.0).unwrap().with_overhead(2.0).unwrap();
        let machine = Machine {
            name: "busy senders".into(),
            date: Date::parse("2026-11-27").unwrap(),
            provenance: "made up".into(),
            costs: Costs::Homogeneous(costs),
            network: Network { send_overhead: Some(100.0), ..Network::default() },
            combine_per_byte: 0.0,
        };
        let sizes = BlockSizes::new([4, 1, 0]).unwrap();
        let problem = Problem::of(Collective::scatter(&sizes), machine).unwrap();
        let planned = online_problem(&problem).unwrap();
        let links = planned.costs().hierarchy().unwrap().levels()[0].links.clone();
        // o_s for the sender, and of the latency only the wait for others on the wire, 8 w = 8 * 0.
        assert_eq!(links.times(1), (0.0, 100.0));
    }
}
