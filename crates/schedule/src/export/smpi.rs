//! A replay for SMPI, the MPI simulator of SimGrid: trace, platform, host file, command.
//!
//! The links of the platform make a message cost alpha + beta s exactly, although SMPI adds an
//! envelope of 16 bytes to every message. With homogeneous costs the platform is a cluster, where
//! messages cross the sender's and the receiver's link; otherwise there is one link for each ordered
//! pair of ranks that the schedule uses. Blocking, synchronous, ordered receives are the one-ported model; SMPI's other settings, which
//! imitate real networks, are switched off.
//!
//! Where exchanges have costs of their own, links have the smaller of both laws, and dearer messages are sent with more
//! bytes.
//!
//! Where part of the latency overlaps, the replay is the judge's: all receives are posted at once, messages
//! share their receiver's link (in a scatter their sender's), and SMPI's own overheads stand for what
//! occupies ranks. lambda is the latency of the links, which also makes up for the envelope:
//!
//! ```text
//!   judge       lambda      beta (s - 1), shared        o + beta
//!   SMPI        latency     k (s - 1) - 16 bytes        smpi/or
//!                           and an envelope of 16
//! ```
//!
//! # Source
//! OPT section 2.1 for the model; the SimGrid documentation, "Replaying MPI traces".

mod counts;

use self::counts::{DataUnit, Exchanges, scale, scale_apart};
use crate::action::{Action, Deed};
use crate::schedule::Schedule;
use crate::simulate::Unmatched;
use std::collections::BTreeSet;
use std::io::{self, Write};
use tuwtree_model::{CostModel, Costs, Operator, Rank, Time, TimeError};

/// Bytes that SMPI adds to every message.
const ENVELOPE_BYTES: f64 = 16.0;
/// Counts above this one make SMPI's times absurd.
const LARGEST_COUNT: u64 = (1 << 31) - 1;
/// Operations per second of every host.
const SPEED: f64 = 1e9;
/// Simulated seconds that the data alone should take: long enough for the six decimals that SMPI
/// prints, short enough for its inner precision.
const SECONDS: f64 = 1e4;

/// A replay of a schedule, scaled to what SMPI can express.
#[derive(Clone, Debug)]
pub struct Replay<'a> {
    schedule: &'a Schedule,
    costs: &'a Costs,
    /// Links in use.
    links: Vec<Link>,
    unit: DataUnit,
    /// Every size is multiplied, and beta divided, by it.
    size_factor: u64,
    seconds_per_unit: f64,
    /// With overlapping latency: the overheads of ranks, and lambda of the links.
    overlap: Option<Overlap>,
    /// With costs of exchanges: these costs.
    exchanges: Option<Exchanges>,
}

/// Overlapping latency as SMPI takes it, in time units.
#[derive(Clone, Copy, Debug)]
struct Overlap {
    /// Cost of each message at its receiver, and at its sender.
    overhead: f64,
    /// Between the start of a message and its data.
    latency: f64,
}

/// A link from one rank to another.
#[derive(Clone, Copy, Debug)]
struct Link {
    sender: Rank,
    receiver: Rank,
    alpha: f64,
    beta: f64,
}

impl Link {
    fn seconds_for(&self, bytes: u64) -> f64 {
        self.alpha + self.beta * bytes as f64
    }
}

/// A schedule that SMPI cannot replay.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ReplayError {
    /// Messages without latency.
    #[error("alpha from {sender} to {receiver} is 0; a message in SMPI always has a latency")]
    NoLatency {
        /// The sender of such a message.
        sender: Rank,
        /// The rank that receives the message.
        receiver: Rank,
    },
    /// Messages that take no time for their data.
    #[error("beta from {sender} to {receiver} is 0; a link in SMPI has a finite bandwidth")]
    NoBandwidth {
        /// The sender of such a message.
        sender: Rank,
        /// The rank that receives the message.
        receiver: Rank,
    },
    /// A message between ranks without a link.
    #[error("rank {sender} sends to rank {receiver}, but there is no such link")]
    NoLink {
        /// The rank that sends the message.
        sender: Rank,
        /// The rank that receives the message.
        receiver: Rank,
    },
    /// Costs that are not linear.
    #[error(
        "the costs from {sender} to {receiver} are linear only piece by piece; SMPI's links are linear"
    )]
    NotLinear {
        /// The rank that sends the message.
        sender: Rank,
        /// The rank that receives the message.
        receiver: Rank,
    },
    /// Latency that overlaps, but not for all pairs alike.
    #[error(
        "the latency from {sender} to {receiver} overlaps with other work; SMPI's links stand for that only \
         where one alpha, overhead and beta hold for all pairs: replay with an overhead of all alpha, or \
         simulate"
    )]
    Overlaps {
        /// The rank that sends the message.
        sender: Rank,
        /// The rank that receives the message.
        receiver: Rank,
    },
    /// Latency that overlaps, and a rank that receives as it sends or after.
    #[error(
        "rank {rank} receives as it sends or after; where latency overlaps, SMPI replays schedules along trees"
    )]
    NotAlongTree {
        /// Such a rank.
        rank: Rank,
    },
    /// Latency of a scatter that overlaps, unless a send takes longer to begin.
    #[error(
        "lambda = {latency} is below o + beta = {overhead}; SMPI counts what a send takes to begin as part \
         of the latency: replay with an overhead of all alpha, or simulate"
    )]
    LatencyBelowOverhead {
        /// lambda, in time units.
        latency: f64,
        /// Occupancy of a message of one byte, in time units.
        overhead: f64,
    },
    /// A copy whose time cannot be stated.
    #[error(transparent)]
    Time(#[from] TimeError),
    /// A message with one end only, where exchanges have costs of their own.
    #[error(transparent)]
    Unmatched(#[from] Unmatched),
    /// More than one port.
    #[error("{ports} ports; SMPI replays one-ported schedules")]
    Ports {
        /// Ports of the schedule.
        ports: u16,
    },
    /// Ports that send and receive each by itself.
    #[error("duplex ports; SMPI replays actions one after the other")]
    Duplex,
    /// A message that SMPI cannot count.
    #[error(
        "a message of {bytes} bytes, scaled by {factor} to keep the latency positive, is too large for SMPI's counts of 2^31 - 1 doubles"
    )]
    TooLarge {
        /// The size of the message.
        bytes: u64,
        /// Factor of sizes.
        factor: u64,
    },
}

impl<'a> Replay<'a> {
    /// The replay of a one-ported schedule under these costs.
    ///
    /// # Errors
    /// [`ReplayError`].
    ///
    /// # Complexity
    /// O(1) for each action.
    pub fn new(schedule: &'a Schedule, costs: &'a Costs) -> Result<Self, ReplayError> {
        let ports = schedule.task().ports;
        if ports != 1 {
            return Err(ReplayError::Ports { ports });
        }
        if schedule.task().duplex {
            return Err(ReplayError::Duplex);
        }
        let overlap = Overlap::of(schedule, costs)?;
        let links = match overlap {
            Some(_) => links_that_overlap(schedule, costs)?,
            None => links(schedule, costs)?,
        };
        let exchanges = Exchanges::of(schedule, costs.parameters())?;
        let (unit, size_factor) = match (&overlap, &exchanges) {
            (Some(_), _) => (DataUnit::Bytes, scale_apart(&message_sizes(schedule))?),
            (None, Some(exchanges)) => exchanges.scale(&links, schedule)?,
            (None, None) => scale(&links, &message_sizes(schedule))?,
        };
        let bytes = schedule.task().total();
        let slowest = links.iter().map(|link| match &exchanges {
            Some(exchanges) => exchanges.most_time(bytes),
            None => link.seconds_for(bytes),
        });
        let total = slowest.fold(0.0, f64::max).max(f64::MIN_POSITIVE);
        let seconds_per_unit = 10_f64.powf((SECONDS / total).log10().floor().clamp(-300.0, 300.0));
        for rank in 0..schedule.ranks() {
            costs.copy_at(rank, schedule.task().own(rank))?;
        }
        Ok(Replay {
            schedule,
            costs,
            links,
            unit,
            size_factor,
            seconds_per_unit,
            overlap,
            exchanges,
        })
    }

    /// Simulated seconds that stand for one time unit of the costs.
    pub fn seconds_per_unit(&self) -> f64 {
        self.seconds_per_unit
    }

    /// Writes the trace, a line for each action; one file serves all ranks.
    ///
    /// # Errors
    /// Errors of `output`.
    pub fn write_trace(&self, output: &mut dyn Write) -> io::Result<()> {
        for rank in 0..self.schedule.ranks() {
            writeln!(output, "{rank} init")?;
            match self.overlap {
                Some(_) => self.write_all_posted(rank, output)?,
                None => {
                    let programs = self.schedule.programs();
                    for index in programs.range(rank) {
                        self.write_action(rank, index, output)?;
                        self.write_combining(rank, &programs.action(index), output)?;
                    }
                }
            }
            writeln!(output, "{rank} finalize")?;
        }
        Ok(())
    }

    /// Writes the platform: hosts `n0`, `n1`, … whose links have these costs.
    ///
    /// # Errors
    /// Errors of `output`.
    pub fn write_platform(&self, output: &mut dyn Write) -> io::Result<()> {
        writeln!(output, "<?xml version='1.0'?>")?;
        writeln!(output, "<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">")?;
        writeln!(output, "<platform version=\"4.1\">")?;
        match self.costs.parameters() {
            Some(_) => self.write_cluster(output)?,
            None => self.write_pairs(output)?,
        }
        writeln!(output, "</platform>")
    }

    /// A cluster: every message crosses two links, each with half the latency.
    fn write_cluster(&self, output: &mut dyn Write) -> io::Result<()> {
        let last = self.schedule.ranks() - 1;
        let (bandwidth, latency) = match self.links.first() {
            Some(link) => self.physical(link),
            None => (1.0, 0.0),
        };
        let latency = latency / 2.0;
        writeln!(
            output,
            "  <cluster id=\"cluster\" prefix=\"n\" suffix=\"\" radical=\"0-{last}\" \
             speed=\"{SPEED}f\" bw=\"{bandwidth:e}Bps\" lat=\"{latency:e}s\" \
             sharing_policy=\"SPLITDUPLEX\"/>"
        )
    }

    /// A link for each ordered pair of ranks between which there are messages.
    fn write_pairs(&self, output: &mut dyn Write) -> io::Result<()> {
        writeln!(output, "  <zone id=\"machine\" routing=\"Full\">")?;
        for rank in 0..self.schedule.ranks() {
            writeln!(output, "    <host id=\"n{rank}\" speed=\"{SPEED}f\"/>")?;
        }
        for link in &self.links {
            let Link { sender, receiver, .. } = link;
            let (bandwidth, latency) = self.physical(link);
            writeln!(
                output,
                "    <link id=\"l{sender}-{receiver}\" bandwidth=\"{bandwidth:e}Bps\" \
                 latency=\"{latency:e}s\"/>"
            )?;
        }
        for Link { sender, receiver, .. } in &self.links {
            writeln!(
                output,
                "    <route src=\"n{sender}\" dst=\"n{receiver}\" symmetrical=\"NO\">\
                 <link_ctn id=\"l{sender}-{receiver}\"/></route>"
            )?;
        }
        writeln!(output, "  </zone>")
    }

    /// Bandwidth and latency of a link, in bytes per second and seconds.
    fn physical(&self, link: &Link) -> (f64, f64) {
        let beta = link.beta * self.seconds_per_unit / self.size_factor as f64;
        if let Some(Overlap { latency, .. }) = self.overlap {
            return (1.0 / beta, latency * self.seconds_per_unit);
        }
        let alpha = link.alpha * self.seconds_per_unit;
        (1.0 / beta, alpha - ENVELOPE_BYTES * beta)
    }

    /// Writes the host file: one rank on each host.
    ///
    /// # Errors
    /// Errors of `output`.
    pub fn write_hosts(&self, output: &mut dyn Write) -> io::Result<()> {
        (0..self.schedule.ranks()).try_for_each(|rank| writeln!(output, "n{rank}"))
    }

    /// Writes a shell script that replays the trace with the files beside it: `trace.txt`,
    /// `platform.xml` and `hosts.txt`.
    ///
    /// # Errors
    /// Errors of `output`.
    pub fn write_script(&self, output: &mut dyn Write) -> io::Result<()> {
        let ranks = self.schedule.ranks();
        let seconds = self.seconds_per_unit;
        write!(
            output,
            "#!/bin/sh\n\
             # Replays the schedule on SimGrid's SMPI (Debian package libsimgrid-dev).\n\
             # The time that is printed is in seconds; {seconds:e} of them are one time unit.\n\
             set -eu\n\
             cd \"$(dirname \"$0\")\"\n\
             echo \"$PWD/trace.txt\" > traces.txt\n\
             smpirun -np {ranks} -hostfile hosts.txt -platform platform.xml \\\n  \
             -replay traces.txt"
        )?;
        for setting in self.settings() {
            write!(output, " \\\n  --cfg={setting}")?;
        }
        writeln!(output)
    }

    /// The settings of SMPI for this replay.
    fn settings(&self) -> Vec<String> {
        let mut settings = SETTINGS.map(str::to_owned).to_vec();
        if let Some(Overlap { overhead, .. }) = self.overlap {
            // Only what is sent and forgotten costs its receiver the overhead.
            let detached = "smpi/send-is-detached-thresh";
            settings.retain(|setting| !setting.starts_with(detached));
            let seconds = overhead * self.seconds_per_unit;
            settings.push(format!("{detached}:{LARGEST_COUNT}"));
            settings.push(format!("smpi/or:0:{seconds:e}:0"));
            settings.push("smpi/os:0:0:0".to_owned());
            settings.push(format!("smpi/ois:0:{seconds:e}:0"));
        }
        settings
    }

    /// Writes a rank's actions with overlapping latency: all receives are posted, then it copies if the copy precedes
    /// its sends, takes messages in order of arrival, and sends.
    ///
    /// A gather's only send is a blocking one, which costs no overhead; a scatter's sends begin one after the other.
    fn write_all_posted(&self, rank: Rank, output: &mut dyn Write) -> io::Result<()> {
        let programs = self.schedule.programs();
        let actions = || programs.actions(rank);
        let receives = actions().filter(|action| matches!(action.deed, Deed::Receive(_))).count();
        for action in actions() {
            if let Deed::Receive(receive) = action.deed {
                let data = self.data_apart(receive.into.bytes());
                writeln!(output, "{rank} irecv {} {} {data}", receive.from, receive.tag)?;
            }
        }
        let is_outward = self.schedule.task().operation.is_outward();
        if !is_outward {
            self.write_copies(rank, output)?;
        }
        if receives > 0 {
            writeln!(output, "{rank} waitall")?;
        }
        let mut sends = 0;
        for action in actions() {
            if let Deed::Send(send) = action.deed {
                let (how, data) =
                    (if is_outward { "isend" } else { "send" }, self.data_apart(send.from.bytes()));
                writeln!(output, "{rank} {how} {} {} {data}", send.to, send.tag)?;
                sends += 1;
            }
        }
        if is_outward {
            self.write_copies(rank, output)?;
            if sends > 0 {
                writeln!(output, "{rank} waitall")?;
            }
        }
        Ok(())
    }

    fn write_copies(&self, rank: Rank, output: &mut dyn Write) -> io::Result<()> {
        let programs = self.schedule.programs();
        programs
            .range(rank)
            .filter(|&index| matches!(programs.action(index).deed, Deed::Copy { .. }))
            .try_for_each(|index| self.write_action(rank, index, output))
    }

    /// Writes an action of a rank; actions are counted over all ranks.
    fn write_action(&self, rank: Rank, index: usize, output: &mut dyn Write) -> io::Result<()> {
        let action = self.schedule.programs().action(index);
        match action.deed {
            // That, whoever writes combining does.
            Deed::Copy { .. } if action.combines().is_some() => Ok(()),
            Deed::Copy { from, .. } => {
                self.write_compute(rank, self.costs.copy_at(rank, from.bytes()), output)
            }
            Deed::Send(send) => {
                let data = self.sent(index, send.from.bytes());
                writeln!(output, "{rank} send {} {} {data}", send.to, send.tag)
            }
            Deed::Receive(receive) => {
                let data = self.received(index, receive.into.bytes());
                writeln!(output, "{rank} recv {} {} {data}", receive.from, receive.tag)
            }
            Deed::Exchange(send, receive) => {
                let sent = self.sent(index, send.from.bytes());
                let received = self.received(index, receive.into.bytes());
                writeln!(output, "{rank} isend {} {} {sent}", send.to, send.tag)?;
                writeln!(output, "{rank} recv {} {} {received}", receive.from, receive.tag)?;
                writeln!(output, "{rank} wait {rank} {} {}", send.to, send.tag)
            }
        }
    }

    /// Writes that a rank combines what an action has received or copies, if that takes time.
    fn write_combining(
        &self,
        rank: Rank,
        action: &Action<'_>,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let operator = self.schedule.task().operator;
        match action.combines().filter(|_| operator != Operator::FREE) {
            Some(region) => self.write_compute(rank, operator.combine(region.bytes()), output),
            None => Ok(()),
        }
    }

    /// Writes that a rank is busy by itself.
    fn write_compute(
        &self,
        rank: Rank,
        time: Result<Time, TimeError>,
        output: &mut dyn Write,
    ) -> io::Result<()> {
        let seconds = time.map_err(io::Error::other)?.units() * self.seconds_per_unit;
        writeln!(output, "{rank} compute {}", seconds * SPEED)
    }

    /// Count and type of what an action sends, as SMPI has them.
    fn sent(&self, action: usize, bytes: u64) -> String {
        self.data(bytes, |exchanges| exchanges.is_sent(action))
    }

    /// Count and type of what an action receives.
    fn received(&self, action: usize, bytes: u64) -> String {
        self.data(bytes, |exchanges| exchanges.is_received(action))
    }

    fn data(&self, bytes: u64, is_exchanged: impl Fn(&Exchanges) -> bool) -> String {
        let scaled = match &self.exchanges {
            Some(exchanges) => {
                let bytes = exchanges.bytes_on_link(bytes, is_exchanged(exchanges));
                self.unit.rounded(bytes * self.size_factor as f64)
            }
            None => bytes * self.size_factor,
        };
        self.unit.counted(scaled)
    }

    /// Count and type of a message where latency overlaps.
    fn data_apart(&self, bytes: u64) -> String {
        let scaled = bytes.saturating_sub(1) * self.size_factor;
        self.unit.counted(scaled.saturating_sub(ENVELOPE_BYTES as u64))
    }
}

/// Settings that make SMPI follow the linear model to the letter.
pub const SETTINGS: [&str; 8] = [
    "network/model:CM02",
    "network/crosstraffic:0",
    "network/TCP-gamma:0",
    "smpi/wtime:0",
    "smpi/async-small-thresh:0",
    "smpi/send-is-detached-thresh:0",
    "smpi/simulate-computation:yes",
    "smpi/privatization:no",
];

impl Overlap {
    /// Overlapping latency as SMPI takes it; `None` where nothing overlaps.
    fn of(schedule: &Schedule, costs: &Costs) -> Result<Option<Overlap>, ReplayError> {
        let Some(shared) = costs.parameters().filter(|costs| costs.overlaps()) else {
            return Ok(None);
        };
        for rank in 0..schedule.ranks() {
            let programs = schedule.programs();
            let exchanges = |action: Action<'_>| matches!(action.deed, Deed::Exchange(..));
            let receives = |action: Action<'_>| matches!(action.deed, Deed::Receive(_));
            let mut after = programs.actions(rank).skip_while(|action| action.send().is_none());
            if programs.actions(rank).any(exchanges) || after.any(receives) {
                return Err(ReplayError::NotAlongTree { rank });
            }
        }
        let (latency, overhead) = (shared.latency(), shared.overhead() + shared.beta());
        match schedule.task().operation.is_outward() {
            false => Ok(Some(Overlap { overhead, latency })),
            true if latency < overhead => {
                Err(ReplayError::LatencyBelowOverhead { latency, overhead })
            }
            // SMPI begins to send before a message travels.
            true => Ok(Some(Overlap { overhead, latency: latency - overhead })),
        }
    }
}

/// The sizes of all messages.
fn message_sizes(schedule: &Schedule) -> Vec<u64> {
    let programs = schedule.programs();
    let actions = (0..schedule.ranks()).flat_map(|rank| programs.actions(rank));
    actions.filter_map(|action| action.send()).map(|send| send.from.bytes()).collect()
}

/// The links that a schedule uses; where exchanges have costs of their own, with the least of both.
fn links(schedule: &Schedule, costs: &Costs) -> Result<Vec<Link>, ReplayError> {
    let least = costs.parameters().map(|costs| Costs::from(costs.cheapest()));
    let costs = least.as_ref().unwrap_or(costs);
    let link = |(sender, receiver)| match costs.link(sender, receiver) {
        None => Err(ReplayError::NotLinear { sender, receiver }),
        Some(link) if link.alpha.is_infinite() => Err(ReplayError::NoLink { sender, receiver }),
        Some(link) if link.overlaps() => Err(ReplayError::Overlaps { sender, receiver }),
        Some(link) if link.alpha == 0.0 => Err(ReplayError::NoLatency { sender, receiver }),
        Some(link) if link.beta == 0.0 => Err(ReplayError::NoBandwidth { sender, receiver }),
        Some(link) => Ok(Link { sender, receiver, alpha: link.alpha, beta: link.beta }),
    };
    pairs(schedule).into_iter().map(link).collect()
}

/// Pairs of senders and receivers.
fn pairs(schedule: &Schedule) -> BTreeSet<(Rank, Rank)> {
    let programs = schedule.programs();
    (0..schedule.ranks())
        .flat_map(|rank| programs.actions(rank).map(move |action| (rank, action.send())))
        .filter_map(|(rank, send)| Some((rank, send?.to)))
        .collect()
}

/// The links that a schedule uses, whose latency overlaps.
fn links_that_overlap(schedule: &Schedule, costs: &Costs) -> Result<Vec<Link>, ReplayError> {
    let link = |(sender, receiver)| match costs.link(sender, receiver) {
        None => Err(ReplayError::NotLinear { sender, receiver }),
        Some(link) if link.beta == 0.0 => Err(ReplayError::NoBandwidth { sender, receiver }),
        Some(link) => Ok(Link { sender, receiver, alpha: link.alpha, beta: link.beta }),
    };
    pairs(schedule).into_iter().map(link).collect()
}
