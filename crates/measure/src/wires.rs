//! A machine from what floods have found: levels with tables of costs, and how its network serves
//! messages.

use crate::floods::{LevelCosts, SizeCosts};
use crate::statistics::median;
use crate::windows::FoundWindow;
use tuwtree_model::{
    Hierarchy, HierarchyError, Level, LinkLaw, MeasuredSize, MeasuredSizes, Network, Piece,
    PiecewiseLinear, Placement, PortKind, Rank, WireOwner,
};

/// Result of a calibration from outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Levels and placement; its costs count for nothing.
    pub shape: Hierarchy,
    /// Costs of messages, for each level.
    pub levels: Vec<LevelCosts>,
    /// The largest message that leaves its sender before it is received, 0 if none does; none if all do
    /// that were tried.
    pub eager_limit: Option<u64>,
    /// Seconds that a rank is occupied by each message that it begins to send.
    pub send_overhead: f64,
    /// Arrival of the first and the last of equal messages, sent by one process to several others at once, in seconds;
    /// none with fewer than three others.
    pub port: Option<(f64, f64)>,
    /// The largest size at which such messages take turns; none if they never do.
    pub in_turns: Option<u64>,
    /// From how many bytes on at once to one process data was lost; none where none was.
    pub window: Option<FoundWindow>,
    /// Seconds in which one rank of a node, and two at once, received and sent a message; none without two nodes of two
    /// ranks each.
    pub wire: Option<[(f64, f64); 2]>,
    /// The time per byte copied locally, in seconds.
    pub gamma: f64,
    /// The time per byte of combining, by a sum of doubles, in seconds.
    pub combine_per_byte: f64,
}

/// A fault of the result, and its remedy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// The fault, in words.
    pub fault: String,
    /// The remedy.
    pub remedy: &'static str,
}

impl std::fmt::Display for Doubt {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}: {}", self.fault, self.remedy)
    }
}

/// Members of a machine of which only one level is known: more than any machine has.
const ROOM: usize = 1 << 20;

/// The levels on which ranks on these nodes meet: nodes, the network between them, or both. Without costs.
pub fn levels_of_nodes(nodes: &[usize]) -> Hierarchy {
    let count = nodes.iter().max().map_or(1, |last| last + 1);
    let on = |node| nodes.iter().filter(|&&other| other == node).count();
    let members = (0..count).map(on).max().unwrap_or(1);
    let is = |place: &dyn Fn(Rank) -> usize| nodes.iter().enumerate().all(|(i, &n)| n == place(i));
    let (levels, placement) = match (members, count) {
        (_, 1) => (vec![level("node", ROOM)], Placement::Block),
        (1, _) => (vec![level("network", ROOM)], Placement::Block),
        _ => {
            let placement = match () {
                () if is(&|rank| rank / members) => Placement::Block,
                () if is(&|rank| rank % count) => Placement::RoundRobin,
                () => Placement::Listed(nodes.to_vec()),
            };
            (vec![level("node", members), level("network", count)], placement)
        }
    };
    Hierarchy::new(levels, placement, 0.0).expect("each rank has room on its node")
}

/// Levels with these names and members, innermost first, filled with ranks block by block. Without costs.
///
/// # Errors
/// As [`Hierarchy::new`].
pub fn levels_of_members(members: &[(String, usize)]) -> Result<Hierarchy, HierarchyError> {
    let levels = members.iter().map(|(name, members)| level(name, *members)).collect();
    Hierarchy::new(levels, Placement::Block, 0.0)
}

fn level(name: &str, members: usize) -> Level {
    let links = PiecewiseLinear::new(vec![Piece::one_port(0, 0.0, 0.0)]).expect("zeros are costs");
    Level { name: name.to_owned(), members, links: links.into() }
}

/// The innermost levels on which pairs of this many ranks meet, without empty levels.
pub fn levels_that_meet(shape: &Hierarchy, ranks: usize) -> Vec<usize> {
    let first = |level: &usize| first_pair(shape, ranks, *level).is_some();
    (0..shape.levels().len()).filter(first).collect()
}

fn first_pair(shape: &Hierarchy, ranks: usize, level: usize) -> Option<(Rank, Rank)> {
    let meets = |&(one, other): &(Rank, Rank)| shape.shared_level(one, other) == level;
    // Whoever meets anybody on a level is met by rank 0, or by the first of another group.
    (0..ranks).flat_map(|one| (one + 1..ranks).map(move |other| (one, other))).find(meets)
}

impl Found {
    /// The costs, in seconds and bytes.
    pub fn costs(&self) -> Hierarchy {
        let table = |costs: &LevelCosts| {
            let size = |one: &SizeCosts| MeasuredSize {
                bytes: one.bytes,
                latency: one.latency,
                occupancy: one.occupancy,
            };
            MeasuredSizes::new(costs.sizes.iter().map(size).collect()).expect("measured costs")
        };
        let levels = self.shape.levels().iter().zip(&self.levels).map(|(level, costs)| Level {
            name: level.name.clone(),
            members: level.members,
            links: LinkLaw::Measured(table(costs)),
        });
        Hierarchy::new(levels.collect(), self.shape.placement().clone(), self.gamma)
            .expect("as many levels as before")
    }

    /// Network properties for the judge.
    pub fn network(&self) -> Network {
        let port = self.port_kind();
        let mut network = Network {
            port,
            fair_beyond: self.in_turns.filter(|_| port == PortKind::Fair),
            wire: self.wire_owner(),
            eager_limit: self.eager_limit,
            send_overhead: Some(self.send_overhead),
            window: self.window.map(|window| window.bytes()),
            uncertainty: self.uncertainty(),
            ..Network::default()
        };
        let mut note = |name: &str, text: String| network.measured.insert(name.to_owned(), text);
        note(
            "sizes",
            "half a round trip, and floods of several messages to one process that has \
                       posted its receives"
                .to_owned(),
        );
        note(
            "send_overhead_seconds",
            "64 messages of a byte less one, until their sender is free".to_owned(),
        );
        note(
            "eager_limit_bytes",
            match self.eager_limit {
                Some(_) => "a sender whose receiver is late, by bisection".to_owned(),
                None => "no sender waited for its receiver, whatever the size".to_owned(),
            },
        );
        if let Some(FoundWindow { senders, whole, lost }) = self.window {
            let text = format!(
                "a message from each of {senders} processes to one at the same time: up to {whole} bytes in all \
                 without a time-out, from {lost} on with one; three fifths"
            );
            note("window_bytes", text);
        }
        note(
            "port",
            match self.port {
                Some((first, last)) => format!(
                    "equal messages from one process at once: the first there after {:.2} of the time of all",
                    first / last
                ),
                None => "too few processes to tell; fair is assumed".to_owned(),
            },
        );
        if network.fair_beyond.is_some() {
            network.measured.insert(
                "fair_beyond_bytes".to_owned(),
                "the largest of which the first is there before half of what all but one occupy has passed, by \
                 bisection"
                    .to_owned(),
            );
        }
        let mut note = |name: &str, text: String| network.measured.insert(name.to_owned(), text);
        if let Some([into, out]) = self.wire {
            let ratio = |(one, two): (f64, f64)| two / one;
            note(
                "wire",
                format!(
                    "two ranks of a node at once take {:.2} times as long as one to receive, {:.2} to send",
                    ratio(into),
                    ratio(out)
                ),
            );
        }
        network
    }

    /// A fair port is done with all at nearly the same time.
    fn port_kind(&self) -> PortKind {
        match self.port {
            Some((first, last)) if first < 0.5 * last => PortKind::FirstInFirstOut,
            _ => PortKind::Fair,
        }
    }

    /// A node's wire makes the second rank wait for the first.
    fn wire_owner(&self) -> WireOwner {
        let waits = |(one, two): (f64, f64)| two > 1.5 * one;
        match self.wire {
            Some(ways) if ways.into_iter().all(waits) => WireOwner::Node,
            _ => WireOwner::Rank,
        }
    }

    /// The factor within which times are known: (1 + e) / (1 - e) for the worst level's error e, the median over its sizes
    /// of the larger of spread and deviation; `None` up to 10 %, and at most 100.
    fn uncertainty(&self) -> Option<f64> {
        let of_level = |costs: &LevelCosts| {
            let errors = costs.sizes.iter().map(|one| one.spread.max(one.deviation));
            median(&errors.collect::<Vec<_>>()).unwrap_or(0.0)
        };
        let error = self.levels.iter().map(of_level).fold(0.0, f64::max);
        let factor = (1.0 + error) / (1.0 - error).max(0.01);
        (error > BAD).then_some(factor.min(Network::WORTHLESS))
    }

    /// Reasons for wrong plans and judgements.
    pub fn doubts(&self) -> Vec<Doubt> {
        let mut doubts = Vec::new();
        for (level, costs) in self.shape.levels().iter().zip(&self.levels) {
            let percent = |share: f64| 100.0 * share;
            let mut doubt = |fault: String, remedy| {
                doubts.push(Doubt { fault: format!("{}: {fault}", level.name), remedy });
            };
            let worst = |of: fn(&SizeCosts) -> f64| {
                costs.sizes.iter().max_by(|one, other| of(one).total_cmp(&of(other)))
            };
            if let Some(one) = worst(|one| one.spread).filter(|one| one.spread > BAD) {
                doubt(
                    format!("times of {} bytes spread by {:.0} %", one.bytes, percent(one.spread)),
                    "measure on nodes that nobody else uses, a process a core, with more --seconds",
                );
            }
            if let Some(one) = worst(|one| one.deviation).filter(|one| one.deviation > BAD) {
                doubt(
                    format!(
                        "floods of {} bytes are {:.0} % off latency and occupancy",
                        one.bytes,
                        percent(one.deviation)
                    ),
                    "measure again; if it stays, many messages at once cost more, or less, than few \
                     (small buffers of switches, nodes that share a wire): give --levels as the \
                     network has them, and trust no plan with many children",
                );
            }
            if let Some((bytes, off)) = costs.bent.filter(|&(_, off)| off > BAD) {
                doubt(
                    format!("costs up to {bytes} bytes bend by {:.0} %", percent(off)),
                    "give more --seconds, so that sizes between are measured",
                );
            }
            if costs.unseen > 0 {
                doubt(
                    format!("no time to look between {} pairs of sizes", costs.unseen),
                    "give more --seconds, or a smaller --largest",
                );
            }
        }
        doubts
    }
}

/// Error that is worth a warning.
const BAD: f64 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;

    fn size(bytes: u64, latency: f64, occupancy: f64) -> SizeCosts {
        SizeCosts { bytes, latency, occupancy, spread: 0.01, deviation: 0.01 }
    }

    fn found(nodes: &[usize]) -> Found {
        let shape = levels_of_nodes(nodes);
        let sizes = vec![size(1, 4e-6, 1e-6), size(1001, 4e-6, 2e-6)];
        let level = LevelCosts { sizes, bent: None, unseen: 0 };
        let levels = vec![level; shape.levels().len()];
        let send_overhead = 5e-7;
        let (port, wire) = (Some((0.9, 1.0)), None);
        Found {
            shape,
            levels,
            eager_limit: Some(100),
            send_overhead,
            port,
            in_turns: None,
            window: None,
            wire,
            gamma: 1e-10,
            combine_per_byte: 2e-10,
        }
    }

    #[test]
    fn times_that_spread_are_uncertain() {
        let with = |spread: f64| {
            let mut found = found(&[0, 1, 2]);
            found.levels[0].sizes.iter_mut().for_each(|one| one.spread = spread);
            found.network().uncertainty
        };
        assert_eq!((with(0.05), with(0.5), with(2.0)), (None, Some(3.0), Some(100.0)));
    }

    #[test]
    fn ranks_meet_on_nodes_and_between_them() {
        for (nodes, levels, placement) in [
            (vec![0, 0, 1, 1, 2], vec![0, 1], Placement::Block),
            (vec![0, 1, 0, 1], vec![0, 1], Placement::RoundRobin),
            (vec![0, 1, 1, 0], vec![0, 1], Placement::Listed(vec![0, 1, 1, 0])),
            (vec![0, 1, 2, 3], vec![0], Placement::Block),
            (vec![0, 0, 0], vec![0], Placement::Block),
        ] {
            let shape = levels_of_nodes(&nodes);
            assert_eq!(*shape.placement(), placement);
            assert_eq!(levels_that_meet(&shape, nodes.len()), levels);
            for (one, node) in nodes.iter().enumerate() {
                for (other, its) in nodes.iter().enumerate().filter(|&(other, _)| other != one) {
                    let expected = usize::from(levels.len() == 2 && node != its);
                    assert_eq!(shape.shared_level(one, other), expected);
                }
            }
        }
        let racks = [("rack".to_owned(), 4), ("network".to_owned(), 2)];
        let shape = levels_of_members(&racks).unwrap();
        assert_eq!(levels_that_meet(&shape, 8), [0, 1]);
        assert_eq!(levels_that_meet(&shape, 4), [0]);
    }

    #[test]
    fn what_was_found_is_a_machine() {
        let found = found(&[0, 0, 1, 1]);
        let costs = found.costs();
        let LinkLaw::Measured(law) = &costs.levels()[1].links else { panic!("a table") };
        assert_eq!(law.occupancy(501).unwrap().units(), 1.5e-6);
        assert_eq!((costs.gamma(), costs.levels().len()), (1e-10, 2));
        let network = found.network();
        assert_eq!((network.port, network.wire), (PortKind::Fair, WireOwner::Rank));
        assert_eq!((network.eager_limit, network.send_overhead), (Some(100), Some(5e-7)));
        assert!(found.doubts().is_empty());
    }

    #[test]
    fn ports_that_take_turns_and_nodes_that_share_a_wire_are_told() {
        let mut found = found(&[0, 0, 1, 1]);
        found.port = Some((0.125, 1.0));
        found.wire = Some([(1.0, 1.9), (1.0, 2.0)]);
        let network = found.network();
        assert_eq!((network.port, network.wire), (PortKind::FirstInFirstOut, WireOwner::Node));
        found.wire = Some([(1.0, 1.9), (1.0, 1.0)]);
        assert_eq!(found.network().wire, WireOwner::Rank);
    }

    #[test]
    fn small_messages_that_take_turns_are_told_of_fair_ports_only() {
        let mut found = found(&[0, 1, 2, 3]);
        found.in_turns = Some(1000);
        let network = found.network();
        assert_eq!((network.port, network.fair_beyond), (PortKind::Fair, Some(1000)));
        assert!(network.measured.contains_key("fair_beyond_bytes"));
        found.port = Some((0.125, 1.0));
        assert_eq!(found.network().fair_beyond, None);
    }

    #[test]
    fn a_window_is_told_with_how_it_was_found() {
        let mut found = found(&[0, 1, 2, 3]);
        assert_eq!(found.network().window, None);
        found.window = Some(FoundWindow { senders: 3, whole: 1000, lost: 1100 });
        let network = found.network();
        assert_eq!(network.window, Some(600));
        assert!(network.measured["window_bytes"].contains("up to 1000 bytes"));
    }

    #[test]
    fn bad_fits_are_doubted_with_what_to_do() {
        let mut found = found(&[0, 1]);
        found.levels[0].sizes[1].deviation = 0.3;
        found.levels[0].bent = Some((1001, 0.2));
        found.levels[0].unseen = 2;
        let doubts: Vec<String> = found.doubts().iter().map(Doubt::to_string).collect();
        assert_eq!(doubts.len(), 3);
        assert!(doubts[0].starts_with("network: floods of 1001 bytes are 30 % off latency"));
        assert!(doubts[1].contains("bend by 20 %: give more --seconds"), "{doubts:?}");
    }
}
