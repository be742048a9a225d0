//! Holder of a port, or of one side of it: an action, or half of an exchange.
//!
//! ```text
//! duplex: false   port 0   [ copy ][ exchange: the later half ][ send ]
//! duplex: true    port 0, send side      [ copy ][ send of the exchange ][ send ]
//!                 port 0, receive side   [ copy ][ receive of the exchange    ]
//! ```

use crate::action::{Action, Buffer, Deed};
use crate::program::Programs;
use std::collections::BTreeMap;
use tuwtree_model::Rank;

/// An action, or half of one, that holds a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Held {
    /// All of a port: any action where ports are not duplex, and a copy.
    Port,
    /// The side of a duplex port that sends.
    SendSide,
    /// The side of a duplex port that receives.
    ReceiveSide,
}

impl Held {
    /// Parts of an action that hold a port, duplex or not, one after the other: itself, or the halves of an exchange.
    fn of(action: &Action<'_>, duplex: bool) -> &'static [Held] {
        match action.deed {
            _ if !duplex => &[Held::Port],
            Deed::Copy { .. } => &[Held::Port],
            Deed::Send(_) => &[Held::SendSide],
            Deed::Receive(_) => &[Held::ReceiveSide],
            Deed::Exchange(..) => &[Held::SendSide, Held::ReceiveSide],
        }
    }

    /// True if this part of the action waits for all earlier receives and copies of its rank.
    pub(crate) fn needs_written(self, action: &Action<'_>) -> bool {
        match self {
            Held::Port => action.needs_written(),
            Held::SendSide => action.reads().is_some_and(|region| region.buffer != Buffer::Input),
            Held::ReceiveSide => action.combines().is_some(),
        }
    }

    /// True if later reads wait for this part of the action: it receives or copies.
    pub(crate) fn writes(self, action: &Action<'_>) -> bool {
        self != Held::SendSide && action.writes().is_some()
    }

    /// The lanes of a rank, each of which one hold occupies at a time: lane k for a port k that is not duplex; else 2 k
    /// to send and 2 k + 1 to receive. The second if there are two.
    fn lanes(self, port: u16, duplex: bool) -> (usize, Option<usize>) {
        let port = usize::from(port);
        match self {
            _ if !duplex => (port, None),
            Held::Port => (2 * port, Some(2 * port + 1)),
            Held::SendSide => (2 * port, None),
            Held::ReceiveSide => (2 * port + 1, None),
        }
    }
}

/// All that holds ports, in the order of the actions; of an exchange on a duplex port the send first.
#[derive(Clone, Debug)]
pub(crate) struct Holds {
    actions: usize,
    /// `None` where each action holds all of its port: then the numbers of holds are those of actions.
    halves: Option<Halves>,
}

#[derive(Clone, Debug, Default)]
struct Halves {
    /// For each hold its action.
    action: Vec<u32>,
    held: Vec<Held>,
    /// For each action its first hold, and behind the last action the number of holds.
    first: Vec<u32>,
    /// For each hold that receives to combine the last on the side of its port that sends, listed before it or beside
    /// it; else [`NONE`].
    awaits: Vec<u32>,
    /// For each sending hold, the first hold that awaits it, and for each of these the next, or [`NONE`].
    awaited_by: Vec<u32>,
}

/// No hold.
const NONE: u32 = u32::MAX;

impl Holds {
    /// The holds of these programs.
    ///
    /// # Complexity
    /// O(n) for n actions where ports are duplex; else O(1).
    pub(crate) fn new(programs: &Programs, duplex: bool) -> Holds {
        let actions = programs.len();
        if !duplex {
            return Holds { actions, halves: None };
        }
        let mut halves = Halves::default();
        let mut rank = 0;
        let mut last_send: BTreeMap<u16, u32> = BTreeMap::new();
        for index in 0..actions {
            while index == programs.range(rank).end {
                rank += 1;
                last_send.clear();
            }
            halves.first.push(halves.action.len() as u32);
            let action = programs.action(index);
            for &held in Held::of(&action, duplex) {
                let number = halves.action.len() as u32;
                halves.action.push(index as u32);
                halves.held.push(held);
                let combines = held == Held::ReceiveSide && action.combines().is_some();
                let send = last_send.get(&action.port).copied().filter(|_| combines);
                halves.awaits.push(send.unwrap_or(NONE));
                // In front of those that await the same.
                let next = send
                    .map(|send| std::mem::replace(&mut halves.awaited_by[send as usize], number));
                halves.awaited_by.push(next.unwrap_or(NONE));
                match held {
                    Held::SendSide => {
                        last_send.insert(action.port, number);
                    }
                    Held::Port => {
                        last_send.remove(&action.port);
                    }
                    Held::ReceiveSide => {}
                }
            }
        }
        halves.first.push(halves.action.len() as u32);
        Holds { actions, halves: Some(halves) }
    }

    /// True if holds are actions, with equal numbers.
    pub(crate) fn are_actions(&self) -> bool {
        self.halves.is_none()
    }

    pub(crate) fn len(&self) -> usize {
        self.halves.as_ref().map_or(self.actions, |halves| halves.action.len())
    }

    /// The index of a hold's action among all actions.
    pub(crate) fn action(&self, hold: usize) -> usize {
        self.halves.as_ref().map_or(hold, |halves| halves.action[hold] as usize)
    }

    pub(crate) fn held(&self, hold: usize) -> Held {
        self.halves.as_ref().map_or(Held::Port, |halves| halves.held[hold])
    }

    /// The numbers of the holds of these actions, which follow each other.
    pub(crate) fn of(&self, actions: std::ops::Range<usize>) -> std::ops::Range<usize> {
        match &self.halves {
            None => actions,
            Some(halves) => {
                halves.first[actions.start] as usize..halves.first[actions.end] as usize
            }
        }
    }

    /// The numbers of the holds of a rank.
    pub(crate) fn of_rank(&self, programs: &Programs, rank: Rank) -> std::ops::Range<usize> {
        self.of(programs.range(rank))
    }

    /// The hold in which an action sends, if it does, or copies.
    pub(crate) fn sending(&self, action: usize) -> usize {
        self.of(action..action + 1).start
    }

    /// The hold in which an action receives, if it does, or copies.
    pub(crate) fn receiving(&self, action: usize) -> usize {
        self.of(action..action + 1).end - 1
    }

    /// The send that must have ended before what this hold receives is combined: the last one on its duplex port.
    pub(crate) fn awaited_send(&self, hold: usize) -> Option<usize> {
        let awaited = self.halves.as_ref()?.awaits[hold];
        (awaited != NONE).then_some(awaited as usize)
    }

    /// The holds that combine received data when this send has ended.
    pub(crate) fn awaiting(&self, hold: usize) -> impl Iterator<Item = usize> + '_ {
        let known = |next: u32| (next != NONE).then_some(next as usize);
        let halves = self.halves.as_ref().filter(|halves| halves.held[hold] == Held::SendSide);
        let first = halves.and_then(|halves| known(halves.awaited_by[hold]));
        std::iter::successors(first, move |&next| known(halves?.awaited_by[next]))
    }

    /// The one or two lanes of a hold of an action on this port ([`Held`]).
    pub(crate) fn lanes(&self, hold: usize, port: u16) -> (usize, Option<usize>) {
        self.held(hold).lanes(port, self.halves.is_some())
    }

    /// The holds of an action, and their lanes.
    pub(crate) fn of_action(
        action: &Action<'_>,
        duplex: bool,
    ) -> impl Iterator<Item = (Held, [Option<usize>; 2])> + use<> {
        let port = action.port;
        Held::of(action, duplex).iter().map(move |&held| {
            let (first, second) = held.lanes(port, duplex);
            (held, [Some(first), second])
        })
    }

    /// True if a hold of this action waits for all earlier receives and copies of its rank.
    pub(crate) fn needs_written(&self, hold: usize, action: &Action<'_>) -> bool {
        self.held(hold).needs_written(action)
    }

    /// True if later reads wait for a hold of this action: it receives or copies.
    pub(crate) fn writes(&self, hold: usize, action: &Action<'_>) -> bool {
        self.held(hold).writes(action)
    }
}
