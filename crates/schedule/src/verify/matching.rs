//! Matching of sends and receives.

use super::{Actions, Fault, NONE};

/// Sender, receiver and tag, then the index of the action.
type MessageEnd = (u32, u32, u32, u32);

/// A send and its receive, by the indices of their actions.
#[derive(Clone, Copy, Debug)]
pub(super) struct MatchedMessage {
    pub(super) send: u32,
    pub(super) receive: u32,
}

/// All messages of a schedule.
pub(super) struct MatchedMessages {
    pub(super) list: Vec<MatchedMessage>,
    /// For each action the message that it sends, or [`NONE`].
    pub(super) sent: Vec<u32>,
    /// For each action the message that it receives, or [`NONE`].
    pub(super) received: Vec<u32>,
}

impl MatchedMessages {
    /// Each send with its receive.
    ///
    /// # Errors
    /// A send or receive without the other, and messages of two sizes.
    pub(super) fn matched(actions: &Actions<'_>) -> Result<MatchedMessages, Fault> {
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for index in 0..actions.len() as u32 {
            let action = actions.get(index);
            let own = actions.rank(index) as u32;
            if let Some(send) = action.send() {
                sends.push((own, send.to as u32, send.tag, index));
            }
            if let Some(receive) = action.receive() {
                receives.push((receive.from as u32, own, receive.tag, index));
            }
        }
        sends.sort_unstable();
        receives.sort_unstable();
        check_numbers(actions, &sends, &receives)?;
        let mut messages = MatchedMessages {
            list: Vec::with_capacity(sends.len()),
            sent: vec![NONE; actions.len()],
            received: vec![NONE; actions.len()],
        };
        for (send, receive) in sends.iter().zip(&receives) {
            let message = MatchedMessage { send: send.3, receive: receive.3 };
            check_sizes(actions, message)?;
            messages.sent[message.send as usize] = messages.list.len() as u32;
            messages.received[message.receive as usize] = messages.list.len() as u32;
            messages.list.push(message);
        }
        Ok(messages)
    }
}

/// Fails unless there are as many sends as receives for each pair of ranks and tag.
fn check_numbers(
    actions: &Actions<'_>,
    sends: &[MessageEnd],
    receives: &[MessageEnd],
) -> Result<(), Fault> {
    let key = |half: &MessageEnd| (half.0, half.1, half.2);
    let (mut sends, mut receives) = (sends, receives);
    loop {
        let next = match (sends.first(), receives.first()) {
            (None, None) => return Ok(()),
            (Some(half), None) | (None, Some(half)) => key(half),
            (Some(send), Some(receive)) => key(send).min(key(receive)),
        };
        let sent = sends.iter().take_while(|half| key(half) == next).count();
        let received = receives.iter().take_while(|half| key(half) == next).count();
        let (from, to, tag) = (next.0 as usize, next.1 as usize, next.2);
        if sent > received {
            let send = actions.at(sends[received].3);
            return Err(Fault::UnmatchedSend { send, to, tag, received });
        }
        if received > sent {
            let receive = actions.at(receives[sent].3);
            return Err(Fault::UnmatchedReceive { receive, from, tag, sent });
        }
        sends = &sends[sent..];
        receives = &receives[received..];
    }
}

fn check_sizes(actions: &Actions<'_>, message: MatchedMessage) -> Result<(), Fault> {
    let bytes = |region: Option<crate::Region<'_>>| region.map_or(0, |region| region.bytes());
    let sent = bytes(actions.get(message.send).reads());
    let expected = bytes(actions.get(message.receive).writes());
    if sent == expected {
        return Ok(());
    }
    let (send, receive) = (actions.at(message.send), actions.at(message.receive));
    Err(Fault::UnequalSizes { send, sent, receive, expected })
}
