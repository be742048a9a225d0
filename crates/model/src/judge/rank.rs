//! One rank's part of a judged tree, by itself: what a search judges again after a small change.

use super::JudgedMessage;
use super::wire::Wire;

/// A message between a rank and a child, with the child's time beyond it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChildMessage {
    /// Its costs.
    pub message: JudgedMessage,
    /// In a gather, when the child is ready; in a scatter, how long its subtree takes from when the child has its data.
    pub child_time: f64,
    /// True if the network serves it after earlier ones, not with them.
    pub takes_turns: bool,
    /// True if it travels before its receive is posted.
    pub is_eager: bool,
}

/// In a gather, when a rank is ready that receives these messages; in a scatter, how long its subtree takes from when it
/// has its data, if it sends them in this order. Its copy takes `copy`, and all messages are posted at once.
///
/// The judge's time of a tree is the root's, where no wire belongs to a node and no window makes senders wait.
///
/// # Complexity
/// O(n log n) for n messages.
pub fn rank_time(children: &[ChildMessage], copy: f64, is_outward: bool, is_fair: bool) -> f64 {
    let mut sent = 0.0;
    let mut entered = 0.0_f64;
    let mut entries: Vec<(f64, usize)> = Vec::with_capacity(children.len());
    for (index, child) in children.iter().enumerate() {
        let JudgedMessage { latency, send_overhead, .. } = child.message;
        let mut time = latency + if is_outward { sent } else { child.child_time };
        if is_outward && child.is_eager && child.takes_turns {
            time = time.max(entered);
            entered = time;
        }
        sent += send_overhead;
        entries.push((time, index));
    }
    entries.sort_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    let mut wire = Wire::new(is_fair);
    let mut busy = if is_outward { sent + copy } else { copy };
    let mut next = entries.into_iter().peekable();
    loop {
        let enters = next.peek().map(|entry| entry.0);
        let left = match (wire.next_departure(), enters) {
            (Some(leaves), Some(enters)) if leaves > enters => None,
            (Some(leaves), _) => Some(leaves),
            (None, Some(_)) => None,
            (None, None) => return busy,
        };
        match left {
            None => {
                let (time, index) = next.next().expect("a message enters");
                let child = &children[index];
                wire.enter(time, index, child.message.on_wire, child.takes_turns);
            }
            Some(time) => {
                let child = &children[wire.leave(time)];
                let overhead = child.message.overhead;
                busy = match is_outward {
                    true => busy.max(time + overhead + child.child_time),
                    false => busy.max(time) + overhead,
                };
            }
        }
    }
}
