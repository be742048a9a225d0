//! Matching of receives and sends.

use crate::program::Programs;
use tuwtree_model::Rank;

/// The partner of a message half that has none, which is no index of an action.
const NONE: u32 = u32::MAX;

/// For each action that sends, the action that receives it, and the other way round.
#[derive(Clone, Debug)]
pub(crate) struct Matching {
    /// An entry for each action: the receiving action, if the action sends.
    receiver: Vec<u32>,
    /// An entry for each action: the sending action, if the action receives.
    sender: Vec<u32>,
}

/// One end of a message: from, to, tag, the index of the action, bytes.
type End = (u32, u32, u32, u32, u64);

/// The first message, in the order of sender, receiver and tag, whose ends do not match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unmatched {
    /// A send without a receive.
    #[error(
        "rank {sender} sends message {message} with tag {tag} to rank {receiver}, which receives only {message} such messages; `verify` says more"
    )]
    Send {
        /// The rank of the sender.
        sender: Rank,
        /// The rank of the receiver.
        receiver: Rank,
        /// The tag of these messages in the schedule.
        tag: u32,
        /// The index of the message among those with this sender, receiver and tag.
        message: usize,
    },
    /// A receive without a send.
    #[error(
        "rank {receiver} receives message {message} with tag {tag} from rank {sender}, which sends only {message} such messages; `verify` says more"
    )]
    Receive {
        /// The rank of the sender.
        sender: Rank,
        /// The rank of the receiver.
        receiver: Rank,
        /// The tag of these messages in the schedule.
        tag: u32,
        /// The index of the message among those with this sender, receiver and tag.
        message: usize,
    },
    /// A message that changes its size on its way.
    #[error(
        "rank {sender} sends {sent} bytes to rank {receiver} in message {message} with tag {tag}, where {received} bytes are received; `verify` says more"
    )]
    Size {
        /// The rank of the sender.
        sender: Rank,
        /// The rank of the receiver.
        receiver: Rank,
        /// The tag of these messages in the schedule.
        tag: u32,
        /// The index of the message among those with this sender, receiver and tag.
        message: usize,
        /// Bytes at the sender.
        sent: u64,
        /// Bytes at the receiver.
        received: u64,
    },
}

impl Matching {
    /// Messages with one sender, receiver and tag match in the order of the lists.
    ///
    /// # Complexity
    /// O(n log n) for n actions.
    pub(crate) fn new(programs: &Programs) -> Result<Matching, Unmatched> {
        let (sends, receives) = ends(programs);
        let mut matching =
            Matching { receiver: vec![NONE; programs.len()], sender: vec![NONE; programs.len()] };
        let (mut key, mut message) = ((0, 0, 0), 0);
        for index in 0..sends.len().max(receives.len()) {
            let (send, receive) = (sends.get(index), receives.get(index));
            let next = [send, receive].into_iter().flatten().map(channel).min();
            let next = next.expect("one of the lists goes on");
            message = if index > 0 && next == key { message + 1 } else { 0 };
            key = next;
            let (sender, receiver, tag) = (key.0 as Rank, key.1 as Rank, key.2);
            match (
                send.filter(|end| channel(end) == key),
                receive.filter(|end| channel(end) == key),
            ) {
                (Some(send), Some(receive)) if send.4 == receive.4 => {
                    matching.receiver[send.3 as usize] = receive.3;
                    matching.sender[receive.3 as usize] = send.3;
                }
                (Some(&(.., sent)), Some(&(.., received))) => {
                    return Err(Unmatched::Size { sender, receiver, tag, message, sent, received });
                }
                (Some(_), None) => return Err(Unmatched::Send { sender, receiver, tag, message }),
                _ => return Err(Unmatched::Receive { sender, receiver, tag, message }),
            }
        }
        Ok(matching)
    }

    /// The action that receives what this one sends.
    pub(crate) fn receiver_of(&self, action: usize) -> Option<usize> {
        (self.receiver[action] != NONE).then(|| self.receiver[action] as usize)
    }

    /// The action that sends what this one receives.
    pub(crate) fn sender_to(&self, action: usize) -> Option<usize> {
        (self.sender[action] != NONE).then(|| self.sender[action] as usize)
    }
}

fn channel(end: &End) -> (u32, u32, u32) {
    (end.0, end.1, end.2)
}

/// All sends and all receives, each sorted by sender, receiver, tag, and place in the list.
fn ends(programs: &Programs) -> (Vec<End>, Vec<End>) {
    let (mut sends, mut receives) = (Vec::new(), Vec::new());
    for rank in 0..programs.ranks() {
        for index in programs.range(rank) {
            let action = programs.action(index);
            let (own, index) = (rank as u32, index as u32);
            if let Some(send) = action.send() {
                sends.push((own, send.to as u32, send.tag, index, send.from.bytes()));
            }
            if let Some(receive) = action.receive() {
                let bytes = receive.into.bytes();
                receives.push((receive.from as u32, own, receive.tag, index, bytes));
            }
        }
    }
    sends.sort_unstable();
    receives.sort_unstable();
    (sends, receives)
}
