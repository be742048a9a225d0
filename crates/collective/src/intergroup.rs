//! Intergroup allgather: every rank of two groups gets all blocks of the other group.
//!
//! ```text
//! shares, A = 5 1 7 | B = 4 9      the other group's bytes in equal shares, one for each rank:
//!                                  B gets 0..7 and 7..13 of A's 13 bytes, A gets 5, 4 and 4 of B's
//! 1. everybody sends to everybody of the other group what it has of that one's share
//! 2. each group gathers its shares
//! ```
//!
//! Data that is sent on lies in outputs. Where a root gathers the blocks of its group, they lie in segments, as they
//! do in the outputs of the other group.
//!
//! # Source
//! Q. Kang, J. L. Träff, R. Al-Bahrani, A. Agrawal, A. Choudhary, W.-k. Liao, "Scalable algorithms for MPI intergroup
//! allgather and allgatherv", Parallel Computing 85, 2019.

use crate::broadcast::{self, Gathering};
use crate::error::grouped;
use crate::rounds::finished;
use crate::{CollectiveError, bruck, circulant, circulant_in_pieces, ring};
use tuwtree_model::{
    BlockSizes, Group, GroupSizes, Homogeneous, Operation, Order, Problem, Rank, Root, Vector,
};
use tuwtree_schedule::{
    Action, Arrival, Buffer, Deed, Piece, Programs, Receive, Region, Schedule, Send,
};

/// The allgather of a group's shares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inside {
    /// Around the ring.
    Ring,
    /// By Bruck's algorithm.
    Bruck,
    /// On a circulant graph, in one pass.
    Circulant,
    /// On a circulant graph, in this many pieces, at least 1.
    Pieces(usize),
}

/// An action of a rank, before its program is complete.
#[derive(Clone, Debug)]
enum PendingAction {
    Send(Rank, (Buffer, Piece)),
    Receive(Rank, Piece),
    /// The peer, the sent piece, and the place of the received one.
    Exchange(Rank, (Buffer, Piece), Piece),
}

/// Programs in the making: for each rank its steps, then its actions in the schedules of its group.
struct Draft<'a> {
    problem: &'a Problem,
    sizes: &'a GroupSizes,
    steps: Vec<Vec<PendingAction>>,
    /// Buffer into which the ranks of a group gather.
    room: Buffer,
}

impl<'a> Draft<'a> {
    fn new(problem: &'a Problem, room: Buffer) -> Result<Draft<'a>, CollectiveError> {
        let sizes = grouped(problem)?;
        Ok(Draft { problem, sizes, steps: vec![Vec::new(); problem.ranks()], room })
    }

    /// A message, unless it is empty, which ends up in the room of its receiver.
    fn message(&mut self, (from, to): (Rank, Rank), source: (Buffer, Piece), place: Piece) {
        if place.bytes > 0 {
            self.steps[from].push(PendingAction::Send(to, source));
            self.steps[to].push(PendingAction::Receive(from, place));
        }
    }

    /// Position of a rank's block among its group's blocks, and so in outputs of the other group.
    fn block(&self, rank: Rank) -> Piece {
        let blocks = self.sizes.blocks();
        let offset = blocks.before(rank) - self.sizes.own_group(rank).start;
        Piece { offset, bytes: blocks.block(rank) }
    }

    /// Part of the block of a rank in its input.
    fn given(&self, rank: Rank, part: Piece) -> (Buffer, Piece) {
        let offset = part.offset - self.block(rank).offset;
        (Buffer::Input, Piece { offset, bytes: part.bytes })
    }

    /// Adds the steps of a rank to programs.
    fn push_steps(&self, programs: &mut Programs, rank: Rank) -> Result<(), CollectiveError> {
        let arrival = Arrival::Store;
        for step in &self.steps[rank] {
            let into = |piece| Region { buffer: self.room, pieces: std::slice::from_ref(piece) };
            let deed = match step {
                PendingAction::Send(to, (buffer, piece)) => {
                    let from = Region { buffer: *buffer, pieces: std::slice::from_ref(piece) };
                    Deed::Send(Send { to: *to, tag: 0, from })
                }
                PendingAction::Receive(from, piece) => {
                    Deed::Receive(Receive { from: *from, tag: 0, into: into(piece), arrival })
                }
                PendingAction::Exchange(peer, (buffer, piece), place) => {
                    let from = Region { buffer: *buffer, pieces: std::slice::from_ref(piece) };
                    Deed::Exchange(
                        Send { to: *peer, tag: 0, from },
                        Receive { from: *peer, tag: 0, into: into(place), arrival },
                    )
                }
            };
            programs.push(&Action { port: 0, deed })?;
        }
        Ok(())
    }

    /// The schedule: all steps, then the schedules of both groups, whose data lies in outputs; on a duplex port, if
    /// the problem has such or it is asked for.
    fn followed_by(
        self,
        inside: [&Schedule; 2],
        segments: Vec<u64>,
        duplex: bool,
    ) -> Result<Schedule, CollectiveError> {
        let mut programs = Programs::new();
        for (group, inside) in self.sizes.groups().into_iter().zip(inside) {
            for member in 0..group.ranks {
                self.push_steps(&mut programs, group.first + member)?;
                for action in inside.programs().actions(member) {
                    push_moved(&mut programs, group, &action)?;
                }
                programs.end_rank();
            }
        }
        let schedule = finished(self.problem, (Order::Ordered, 1), segments, programs)?;
        Ok(schedule.with_duplex(duplex || self.problem.duplex()))
    }
}

/// Adds the action of a member of a group to programs of all ranks.
fn push_moved(
    programs: &mut Programs,
    group: Group,
    action: &Action<'_>,
) -> Result<(), CollectiveError> {
    let send = action.send().map(|send| Send { to: group.first + send.to, ..send });
    let receive =
        action.receive().map(|receive| Receive { from: group.first + receive.from, ..receive });
    if let Some(deed) = crate::rounds::deed(send, receive) {
        programs.push(&Action { port: 0, deed })?;
    }
    Ok(())
}

/// The allgather of these shares in a group.
fn gathered(shares: &BlockSizes, inside: Inside) -> Result<Schedule, CollectiveError> {
    let problem = Problem::allgather(shares, costs_of_nothing())?;
    match inside {
        Inside::Ring => ring(&problem),
        Inside::Bruck => bruck(&problem),
        Inside::Circulant => circulant(&problem),
        Inside::Pieces(pieces) => circulant_in_pieces(&problem, pieces),
    }
}

/// Costs for schedules that do not depend on any.
pub(crate) fn costs_of_nothing() -> Homogeneous {
    Homogeneous::new(0.0, 0.0, 0.0).expect("costs of nothing")
}

/// Shares of `bytes` that differ by at most one, the larger ones first.
fn cut(bytes: u64, shares: usize) -> impl Iterator<Item = u64> {
    let (each, longer) = (bytes / shares as u64, bytes % shares as u64);
    (0..shares as u64).map(move |share| each + u64::from(share < longer))
}

/// The intergroup allgather in which each rank of the smaller group is paired with neighbouring ranks of the larger
/// one: it exchanges its block, in as many segments as there are partners, for theirs. Then each group gathers its
/// received blocks. Made for blocks that are equal in each group.
///
/// Groups of `p` and `q <= p` ranks with blocks of `k_A` and `k_B` bytes take, if `q` divides `p`,
/// `(p/q) (alpha + beta max(k_A, k_B q/p))` and the longer of the allgathers.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// That of the allgathers.
///
/// # Source
/// Kang et al. 2019, Algorithm 1; differs: its index of the rank of the smaller group is `floor(i q/p)`.
pub fn paired(problem: &Problem, inside: Inside) -> Result<Schedule, CollectiveError> {
    let mut draft = Draft::new(problem, Buffer::Output)?;
    let [one, other] = draft.sizes.groups();
    let (large, small) = if one.ranks >= other.ranks { (one, other) } else { (other, one) };
    let (mut of_large, mut of_small) = (Vec::new(), Vec::new());
    let mut member = large.first;
    for (single, count) in (small.first..).zip(cut(large.ranks as u64, small.ranks)) {
        let block = draft.block(single);
        let mut start = block.offset;
        let mut taken = 0;
        for bytes in cut(block.bytes, count as usize) {
            let (segment, whole) = (Piece { offset: start, bytes }, draft.block(member));
            let ends = (member, single);
            match (segment.bytes, whole.bytes) {
                (1.., 1..) => {
                    let (there, back) = (draft.given(member, whole), draft.given(single, segment));
                    draft.steps[member].push(PendingAction::Exchange(single, there, segment));
                    draft.steps[single].push(PendingAction::Exchange(member, back, whole));
                }
                (0, _) => draft.message(ends, draft.given(member, whole), whole),
                (_, 0) => draft.message((single, member), draft.given(single, segment), segment),
            }
            of_large.push(bytes);
            taken += whole.bytes;
            start += bytes;
            member += 1;
        }
        of_small.push(taken);
    }
    let of_large = gathered(&BlockSizes::new(of_large)?, inside)?;
    let of_small = gathered(&BlockSizes::new(of_small)?, inside)?;
    let inside = if large == one { [&of_large, &of_small] } else { [&of_small, &of_large] };
    let segments = vec![0; problem.ranks()];
    draft.followed_by(inside, segments, false)
}

/// The intergroup allgather in equal shares: each rank gets an equal share of the other group's bytes from their
/// owners, and then each group gathers its shares. For blocks of any sizes. Ranks have a duplex port.
///
/// The transfer takes at most `beta (M + max m_i)` with `M` the bytes of the group that has more.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// That of the allgathers.
///
/// # Source
/// Kang et al. 2019, Algorithm 2 and Theorem 3; differs: of its two bounds only the weaker one holds. The order in
/// which a rank receives, without which ranks could wait for each other, is ours.
pub fn shares(problem: &Problem, inside: Inside) -> Result<Schedule, CollectiveError> {
    let mut draft = Draft::new(problem, Buffer::Output)?;
    let [one, other] = draft.sizes.groups();
    let mut schedules = Vec::new();
    for (from, to) in [(other, one), (one, other)] {
        let shares = BlockSizes::new(cut(from.bytes, to.ranks))?;
        draft.share_out(from, to, &shares);
        schedules.push(gathered(&shares, inside)?);
    }
    let segments = vec![0; problem.ranks()];
    draft.followed_by([&schedules[0], &schedules[1]], segments, true)
}

impl Draft<'_> {
    /// The messages in which the ranks of a group get their shares of another's bytes.
    fn share_out(&mut self, from: Group, to: Group, shares: &BlockSizes) {
        let part = |draft: &Self, sender: Rank, receiver: usize| {
            let block = draft.block(sender);
            let (start, end) = (shares.before(receiver), shares.before(receiver + 1));
            let offset = block.offset.max(start);
            Piece { offset, bytes: block.end().min(end).saturating_sub(offset) }
        };
        for sender in from.first..from.first + from.ranks {
            for receiver in 0..to.ranks {
                let part = part(self, sender, receiver);
                if part.bytes > 0 {
                    let source = self.given(sender, part);
                    self.steps[sender].push(PendingAction::Send(to.first + receiver, source));
                }
            }
        }
        for receiver in 0..to.ranks {
            let mut senders: Vec<(Rank, Piece)> = (from.first..from.first + from.ranks)
                .map(|sender| (sender, part(self, sender, receiver)))
                .filter(|(_, part)| part.bytes > 0)
                .collect();
            // First from who goes on to later receivers, at last from who has sent to earlier ones.
            let goes_on = |&(sender, part): &(Rank, Piece)| self.block(sender).end() > part.end();
            if senders.last().is_some_and(goes_on) {
                senders.rotate_right(1);
            }
            let is_late = |&(sender, part): &(Rank, Piece)| {
                self.block(sender).offset < part.offset && self.block(sender).end() == part.end()
            };
            if let Some(late) = senders.iter().position(is_late) {
                let late = senders.remove(late);
                senders.push(late);
            }
            for (sender, part) in senders {
                self.steps[to.first + receiver].push(PendingAction::Receive(sender, part));
            }
        }
    }

    /// The messages in which the blocks of a group come together at its first rank, along a binomial tree.
    fn gather_binomially(&mut self, group: Group) {
        let mut mask = 1;
        while mask < group.ranks {
            for child in (mask..group.ranks).step_by(2 * mask) {
                let (from, last) = (group.first + child, (child + mask).min(group.ranks) - 1);
                let start = self.block(from).offset;
                let bytes = self.block(group.first + last).end() - start;
                let piece = Piece { offset: start, bytes };
                self.message((from, from - mask), (Buffer::Segment, piece), piece);
            }
            mask *= 2;
        }
    }
}

/// The segments of all ranks, in which their group's segments come together.
fn rooms(sizes: &GroupSizes) -> Vec<u64> {
    (0..sizes.blocks().ranks()).map(|rank| sizes.own_group(rank).bytes).collect()
}

/// The broadcast of this many bytes in a group, from its first rank.
fn broadcast_in(
    ranks: usize,
    bytes: u64,
    build: impl Fn(&Problem) -> Result<Schedule, CollectiveError>,
) -> Result<Schedule, CollectiveError> {
    let vector = Vector { ranks, bytes };
    let problem = Problem::new(Operation::Broadcast, vector, costs_of_nothing())?;
    build(&problem.with_root(Root::Given(0))?)
}

/// The intergroup allgather through roots, at its best: blocks come together at the first rank of each group along
/// binomial trees, the two roots exchange all, and each group gets it by a broadcast in this many pieces.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Panics
/// For no pieces.
///
/// # Complexity
/// That of the broadcasts.
///
/// # Source
/// Kang et al. 2019, section 3.
pub fn root_best(problem: &Problem, pieces: usize) -> Result<Schedule, CollectiveError> {
    let build = |problem: &Problem| broadcast::circulant_in_pieces(problem, pieces);
    through_roots(problem, build, Roots::Exchange)
}

/// The intergroup allgather of MPICH and others: blocks come together at the first rank of each group along
/// binomial trees; the first group's go to the other root, which spreads them, by scatter and ring, before the other
/// way begins.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p^2).
///
/// # Source
/// MPICH's `allgather_inter_local_gather_remote_bcast.c`.
pub fn root_mpich(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let build = |problem: &Problem| broadcast::scatter_allgather(problem, Gathering::Ring);
    through_roots(problem, build, Roots::InTurn)
}

/// The intergroup allgather of MPICH for blocks that differ: the root of each group receives all blocks of the other
/// one by one, first that of the first group, then that of the second; then both spread them along binomial trees.
///
/// # Errors
/// [`CollectiveError`].
///
/// # Complexity
/// O(p log p).
///
/// # Source
/// MPICH's `allgatherv_inter_remote_gather_local_bcast.c`.
pub fn root_mpich_v(problem: &Problem) -> Result<Schedule, CollectiveError> {
    let mut draft = Draft::new(problem, Buffer::Output)?;
    let [one, other] = draft.sizes.groups();
    for (from, to) in [(other, one), (one, other)] {
        for sender in from.first..from.first + from.ranks {
            let block = draft.block(sender);
            draft.message((sender, to.first), draft.given(sender, block), block);
        }
    }
    let spread = [(one, other.bytes), (other, one.bytes)]
        .map(|(group, bytes)| broadcast_in(group.ranks, bytes, broadcast::binomial));
    let [first, second] = spread;
    let segments = vec![0; problem.ranks()];
    draft.followed_by([&first?, &second?], segments, false)
}

/// Exchange of gathered data between the roots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Roots {
    /// Both at once, before either spreads.
    Exchange,
    /// One after the other: the second when the first has spread.
    InTurn,
}

fn through_roots(
    problem: &Problem,
    spread: impl Fn(&Problem) -> Result<Schedule, CollectiveError>,
    roots: Roots,
) -> Result<Schedule, CollectiveError> {
    let mut draft = Draft::new(problem, Buffer::Segment)?;
    let sizes = draft.sizes;
    let [one, other] = sizes.groups();
    draft.gather_binomially(one);
    draft.gather_binomially(other);
    let of_first = broadcast_in(one.ranks, other.bytes, &spread)?;
    let of_second = broadcast_in(other.ranks, one.bytes, &spread)?;
    let mut programs = Programs::new();
    let whole = |group: Group| Piece { offset: 0, bytes: group.bytes };
    let [all_of_one, all_of_other] = [whole(one), whole(other)];
    for (group, inside) in [(one, &of_first), (other, &of_second)] {
        let is_first = group == one;
        let (peer, own, theirs) = match is_first {
            true => (other.first, &all_of_one, &all_of_other),
            false => (one.first, &all_of_other, &all_of_one),
        };
        let source = Region { buffer: Buffer::Segment, pieces: std::slice::from_ref(own) };
        let into = Region { buffer: Buffer::Output, pieces: std::slice::from_ref(theirs) };
        let send = (own.bytes > 0).then_some(Send { to: peer, tag: 0, from: source });
        let receive = (theirs.bytes > 0).then_some(Receive {
            from: peer,
            tag: 0,
            into,
            arrival: Arrival::Store,
        });
        for member in 0..group.ranks {
            let rank = group.first + member;
            draft.push_steps(&mut programs, rank)?;
            let mut push = |deed: Option<Deed<'_>>| match deed.filter(|_| member == 0) {
                Some(deed) => programs.push(&Action { port: 0, deed }),
                None => Ok(()),
            };
            match (roots, is_first) {
                (Roots::Exchange, _) => push(crate::rounds::deed(send, receive))?,
                (Roots::InTurn, true) => {
                    push(send.map(Deed::Send))?;
                    push(receive.map(Deed::Receive))?;
                }
                (Roots::InTurn, false) => push(receive.map(Deed::Receive))?,
            }
            for action in inside.programs().actions(member) {
                push_moved(&mut programs, group, &action)?;
            }
            if (roots, is_first, member) == (Roots::InTurn, false, 0)
                && let Some(send) = send
            {
                programs.push(&Action { port: 0, deed: Deed::Send(send) })?;
            }
            programs.end_rank();
        }
    }
    finished(problem, (Order::Ordered, 1), rooms(sizes), programs)
}
