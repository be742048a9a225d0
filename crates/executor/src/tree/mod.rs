//! Adaptive binomial trees, built by the ranks themselves.
//!
//! Each rank knows its own block's size, and afterwards its own place in the tree: its parent,
//! its children, and how much each of them sends. Nobody learns all sizes. The tree is that of
//! [`tuwtree_treegen::adaptive`] with the same rule and root.
//!
//! Round `d` joins adjacent subcubes of `2^d` ranks. Two ranks of each subcube know a report: its
//! gather root, which has (will have) its data, and its fixed root, its last rank, which every rank
//! can find. First the two fixed roots exchange reports, then each tells its gather root, if that
//! is another rank. All four thus come to one decision.
//!
//! This is a machine of states, one for each rank, without any communication: it says what to
//! send and whom to hear, and is told what came. It can so be run in a program that stands for all
//! ranks, and on MPI.
//!
//! ```text
//!   round 0        round 1        round 2       . knows nothing more: it has sent its data
//!   0 = 1   2 = 3  01 = 23        0123 = 4567   f fixed root, the last of its subcube
//!                                               g gather root, anywhere in it
//!   left:  [ . g . f ]  <- exchange of reports, f to f ->  [ . . g f ]  :right
//!                 f tells g                                   f tells g
//! ```
//!
//! A failure (a rank without a valid block, differing roots, a total beyond 64 bits) travels as a [`Fault`] in place of
//! a report, to the gather roots of all subcubes still to be joined, the given root among them. A rank that has sent
//! its data to a parent before does not hear of it; its parent, or the parent's parent, does.
//!
//! Where a subtree's data would have its gather root hold more of others' data than a limit, that data goes
//! straight to the given root instead.
//!
//! # Source
//! TUW Lemma 3, with the fixed root of Lemma 2, and the rules of Lemmas 1 and 4, as [`JoinRule`] has
//! them.

pub(crate) mod straight;

use straight::{BlockRun, Joined, joined};
use strum::VariantArray;
use tuwtree_model::{Costs, Rank, Step, Time, TimeError};
use tuwtree_treegen::AdaptiveRule;
use tuwtree_treegen::join::{JoinRule, JoinSide};

/// The size of every message of the construction, in bytes.
pub const MESSAGE_BYTES: usize = 64;

/// A message of the construction: a report on a subcube.
pub type JoinMessage = [u8; MESSAGE_BYTES];

/// Rule by which two gather roots decide the sender; its costs are known to all ranks.
pub type Rule<'a> = JoinRule<'a, Costs>;

/// Reason for which no tree spans the ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// A rank takes part only to say that it has nothing to take part with.
    #[error("rank {rank} was given invalid arguments")]
    Refused {
        /// The rank that has invalid arguments.
        rank: Rank,
    },
    /// Two ranks were given different roots, or follow different rules.
    #[error("ranks {first} and {second} were given different roots or algorithms")]
    Differ {
        /// A rank of the left subcube.
        first: Rank,
        /// A rank of the right one.
        second: Rank,
    },
    /// A total that does not fit.
    #[error("the blocks of ranks {first} to {last} add up to more than 2^64 - 1 bytes")]
    TooLarge {
        /// The lowest rank of the subcubes that were joined.
        first: Rank,
        /// Their highest rank.
        last: Rank,
    },
    /// A time that the rule needs cannot be stated.
    #[error("ranks {first} to {last} cannot be joined by completion time: {}", NoTime::words(*reason))]
    NoTime {
        /// The first rank of the joined subcube.
        first: Rank,
        /// The highest rank of the joined subcube.
        last: Rank,
        /// Reason for the missing time.
        reason: NoTime,
    },
    /// The message is none of the construction's.
    #[error("rank {rank} received a message that is not the construction's")]
    Garbled {
        /// The rank that received the message.
        rank: Rank,
    },
}

/// Reason for which a time cannot be stated, in a word that fits a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, strum::VariantArray)]
pub enum NoTime {
    /// [`TimeError::NotExact`].
    NotExact,
    /// [`TimeError::NotFinite`].
    NotFinite,
    /// [`TimeError::NoLink`], [`TimeError::Isolated`].
    NoLink,
}

impl NoTime {
    fn words(self) -> &'static str {
        match self {
            NoTime::NotExact => "it exceeds 2^53, up to which integer times are exact",
            NoTime::NotFinite => "it is not finite",
            NoTime::NoLink => "there is no link between them",
        }
    }
}

impl From<TimeError> for NoTime {
    fn from(error: TimeError) -> NoTime {
        match error {
            TimeError::NotExact => NoTime::NotExact,
            TimeError::NotFinite => NoTime::NotFinite,
            TimeError::NoLink { .. } | TimeError::Isolated { .. } => NoTime::NoLink,
        }
    }
}

/// Knowledge of a subcube at its fixed root and its gather root.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Report {
    /// The rank that has, or will have, all data of the subcube.
    root: Rank,
    /// All data of the subcube.
    bytes: u64,
    /// The part of it that the gather root has, or will have; the rest goes straight to the given root.
    passed: u64,
    /// The gather root's own block.
    root_block: u64,
    /// The sum of all its ranks' [`digest`]s.
    digest: u64,
    /// Completion time of the gather root: 0, except for the rule that uses it.
    time: Time,
}

impl Report {
    /// A rank's own report.
    fn of_block(rank: Rank, bytes: u64) -> Report {
        let digest = digest(rank, bytes);
        Report { root: rank, bytes, passed: bytes, root_block: bytes, digest, time: Time::ZERO }
    }

    /// The subcube as a join sees it.
    fn side(&self, cube: Cube) -> JoinSide {
        JoinSide {
            root: self.root,
            is_single: cube.is_single(),
            bytes: self.passed,
            copied: self.root_block,
            ready: self.time,
        }
    }
}

/// A subtree whose data comes from (goes to) one child: the blocks of consecutive ranks, except for those that go
/// straight.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Child {
    /// The rank with which the data is exchanged.
    pub rank: Rank,
    /// The first rank of its subtree.
    pub first: Rank,
    /// The last rank of its subtree.
    pub last: Rank,
    /// The sizes of the blocks that it sends together, as the ranks themselves have stated them.
    pub bytes: u64,
    /// Total size of its ranks' blocks that go straight to the root.
    pub straight: u64,
    /// The wrapping sum of the [`digest`]s of all its ranks.
    pub digest: u64,
    /// At the root, where some go straight: the blocks that this child sends, in rank order. Otherwise none are
    /// listed.
    pub runs: Vec<BlockRun>,
}

impl Child {
    /// The child with this rank, first and last rank, which sends all their data.
    pub(crate) fn of_range(
        (rank, first, last): (Rank, Rank, Rank),
        bytes: u64,
        digest: u64,
    ) -> Child {
        Child { rank, first, last, bytes, straight: 0, digest, runs: Vec::new() }
    }
}

/// A number that stands for a block of this size at this rank.
///
/// Sums of several ranks' digests differ, except in one case in 2^64, if any of their sizes does:
/// the root detects wrong sizes, even with an equal sum.
pub fn digest(rank: Rank, bytes: u64) -> u64 {
    mixed(mixed(rank as u64).wrapping_add(bytes))
}

/// Every bit of the result depends on every bit of the word: the finalizer of SplitMix64.
fn mixed(word: u64) -> u64 {
    let word = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

/// A rank's place in the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// The rank.
    pub rank: Rank,
    /// Receiver in a gather; `None` for the root, and for a rank that met a fault before it had a
    /// parent.
    pub parent: Option<Rank>,
    /// In the order in which it receives in a gather.
    pub children: Vec<Child>,
    /// Number of children received from before the own block is copied: 0 or 1. A leaf copies
    /// nothing.
    pub received_before_copy: usize,
    /// The first rank of its subtree.
    pub first: Rank,
    /// The last.
    pub last: Rank,
    /// The size of its own block.
    pub block: u64,
    /// The size of its subtree's data, its own block included.
    pub bytes: u64,
}

impl Node {
    /// The rank's steps in a gather, as in [`tuwtree_model::Tree::steps`].
    pub fn steps(&self) -> Vec<Step> {
        let mut steps: Vec<Step> =
            self.children.iter().map(|child| Step::Receive(child.rank)).collect();
        if !steps.is_empty() {
            steps.insert(self.received_before_copy, Step::Copy);
        }
        steps
    }

    /// True if both have equal neighbours in equal order, and data to exchange with equal ones, whatever the sizes.
    pub(crate) fn is_like(&self, other: &Node) -> bool {
        let place = |node: &Node| (node.rank, node.parent, node.received_before_copy);
        let data = |node: &Node| (node.block > 0, node.bytes > 0);
        let child = |child: &Child| (child.rank, child.first, child.last, child.bytes > 0);
        let has_all = |node: &Node| node.children.iter().all(|child| child.runs.is_empty());
        (place(self), data(self)) == (place(other), data(other))
            && self.children.iter().map(child).eq(other.children.iter().map(child))
            && has_all(self)
            && has_all(other)
    }

    /// The place of a rank in the star whose centre is `root`, without children: a leaf does
    /// not know the sizes of others, and needs not.
    pub fn in_star(rank: Rank, root: Rank, own: u64) -> Node {
        Node {
            rank,
            parent: Some(root).filter(|&root| root != rank),
            children: Vec::new(),
            received_before_copy: 0,
            first: rank,
            last: rank,
            block: own,
            bytes: own,
        }
    }

    /// The place of a star's centre: its children in rank order, for the sizes of all processes.
    pub fn centre_of_star(root: Rank, own: u64, sizes: impl ExactSizeIterator<Item = u64>) -> Node {
        let (last, mut total) = (sizes.len() - 1, 0);
        let mut children = Vec::with_capacity(last);
        for (rank, bytes) in sizes.enumerate() {
            total += bytes;
            if rank != root {
                children.push(Child::of_range((rank, rank, rank), bytes, digest(rank, bytes)));
            }
        }
        Node { children, first: 0, last, bytes: total, ..Node::in_star(root, root, own) }
    }
}

/// A rank's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transmission {
    /// Send a message to another rank, and receive one from it.
    Exchange {
        /// Partner of the exchange.
        with: Rank,
        /// Sent message.
        message: JoinMessage,
    },
    /// Send a message.
    Send {
        /// Receiver.
        to: Rank,
        /// Sent message.
        message: JoinMessage,
    },
    /// Receive a message.
    Receive {
        /// From whom.
        from: Rank,
    },
}

/// A range of ranks that round `d` joins with its neighbour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cube {
    first: Rank,
    last: Rank,
}

impl Cube {
    /// The subcube of `2^round` ranks, or fewer at the end, that `rank` belongs to.
    fn of(rank: Rank, round: u32, ranks: usize) -> Cube {
        let first = rank >> round << round;
        Cube { first, last: (first + (1 << round) - 1).min(ranks - 1) }
    }

    /// The subcube that this one is joined with in `round`; `None` for a last one without.
    fn neighbour(self, round: u32, ranks: usize) -> Option<Cube> {
        let other = self.first ^ (1 << round);
        (other < ranks).then(|| Cube::of(other, round, ranks))
    }

    /// The rank that everybody can find.
    fn fixed_root(self) -> Rank {
        self.last
    }

    fn is_single(self) -> bool {
        self.first == self.last
    }

    fn contains(self, rank: Rank) -> bool {
        (self.first..=self.last).contains(&rank)
    }
}

/// Permission or refusal for data that goes straight, passed down the tree as it would be without a limit. Absent where
/// all data is passed on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Consent {
    /// The rank that tells this one.
    pub from: Option<Rank>,
    /// Whom it tells.
    pub to: Vec<Rank>,
    /// True if it sends its subtree's data straight.
    pub is_straight: bool,
}

/// One rank's part in the construction of a tree.
///
/// # Complexity
/// `ceil(log2 p)` rounds, in each at most one exchange and one more message; O(1) work in each.
#[derive(Clone, Debug)]
pub struct Construction<'a> {
    ranks: usize,
    root: Option<Rank>,
    rule: Rule<'a>,
    /// Most bytes of others' data at a rank other than the root.
    most_passed: u64,
    node: Node,
    fault: Option<Fault>,
    consent: Consent,
    round: u32,
    /// Knowledge of the own subcube, present at its fixed root and its gather root only.
    known: Option<Result<Report, Fault>>,
    /// In this round: what a fixed root has heard of the neighbour, and has yet to tell.
    heard: Option<JoinMessage>,
}

impl<'a> Construction<'a> {
    /// The part of rank `rank` of `ranks`, with a block of `block` bytes, or with none
    /// because its arguments are invalid. The root is given to all, or for the rule to find.
    ///
    /// # Panics
    /// If `rank` is not below `ranks`.
    pub fn new(
        (rank, ranks): (Rank, usize),
        block: Option<u64>,
        root: Option<Rank>,
        rule: Rule<'a>,
    ) -> Construction<'a> {
        assert!(rank < ranks, "a rank of the communicator");
        let own = block.unwrap_or(0);
        let node = Node {
            rank,
            parent: None,
            children: Vec::new(),
            received_before_copy: 0,
            first: rank,
            last: rank,
            block: own,
            bytes: own,
        };
        let report = Report::of_block(rank, own);
        let fault = block.is_none().then_some(Fault::Refused { rank });
        let known = Some(fault.map_or(Ok(report), Err));
        let mut construction = Construction {
            ranks,
            root,
            rule,
            most_passed: u64::MAX,
            node,
            fault,
            consent: Consent::default(),
            round: 0,
            known,
            heard: None,
        };
        construction.pass_idle_rounds();
        construction
    }

    /// Limits the bytes of others' data at ranks other than the root; the limit is equal everywhere.
    pub fn with_limit(self, most_passed: u64) -> Construction<'a> {
        Construction { most_passed, ..self }
    }

    /// This rank's next step; `None` when it has its place.
    pub fn transmission(&self) -> Option<Transmission> {
        let known = self.known?;
        let (own, other) = self.joined_cubes()?;
        if self.node.rank != own.fixed_root() {
            return Some(Transmission::Receive { from: own.fixed_root() });
        }
        match self.heard {
            None => {
                let message = self.encode(known);
                Some(Transmission::Exchange { with: other.fixed_root(), message })
            }
            Some(message) => {
                let to = known.expect("only a sound subcube has a gather root to tell").root;
                Some(Transmission::Send { to, message })
            }
        }
    }

    /// Takes note that what [`transmission`](Self::transmission) said is done, with the message that was received.
    pub fn done(&mut self, received: Option<&JoinMessage>) {
        let Some((own, other)) = self.joined_cubes() else { return };
        let is_fixed = self.node.rank == own.fixed_root();
        let told = self.heard.take();
        if let (true, None, Some(message), Some(Ok(known))) = (is_fixed, told, received, self.known)
            && known.root != self.node.rank
        {
            // The neighbour's report is for our gather root as well: it is the next step to send it.
            self.heard = Some(*message);
            return;
        }
        let Some(message) = told.as_ref().or(received) else { return };
        let heard = self.decode(message);
        self.join(own, other, heard);
        self.round += 1;
        self.pass_idle_rounds();
    }

    /// The number of the round that this rank is in, and whether it is in its second half.
    pub fn position(&self) -> (u32, bool) {
        let is_fixed =
            self.joined_cubes().is_none_or(|(own, _)| own.fixed_root() == self.node.rank);
        (self.round, self.heard.is_some() || !is_fixed)
    }

    /// The rank's place, what went wrong, if anything did that it heard of, and who has to agree before
    /// data goes straight.
    ///
    /// Even then the children are right: they will send what they have. The root has yet to find the ranks that send
    /// straight.
    pub fn finish(self) -> (Node, Option<Fault>, Consent) {
        (self.node, self.fault, self.consent)
    }

    fn joined_cubes(&self) -> Option<(Cube, Cube)> {
        // Only those that know their subcube take part.
        self.known.as_ref()?;
        if 1_usize.checked_shl(self.round).is_none_or(|width| width >= self.ranks) {
            return None;
        }
        let own = Cube::of(self.node.rank, self.round, self.ranks);
        Some((own, own.neighbour(self.round, self.ranks)?))
    }

    /// Goes to the next round in which the own subcube is joined, if there is one.
    fn pass_idle_rounds(&mut self) {
        while self.known.is_some()
            && (1_usize << self.round) < self.ranks
            && self.joined_cubes().is_none()
        {
            self.round += 1;
        }
    }

    /// Joins the own subcube with the other, given its report.
    fn join(&mut self, own: Cube, other: Cube, heard: Result<Report, Fault>) {
        let known = self.known.expect("whoever joins knows its subcube");
        let rank = self.node.rank;
        let own_is_left = own.first < other.first;
        let cubes = if own_is_left { (own, other) } else { (other, own) };
        let joined = match (known, heard) {
            (Ok(known), Ok(heard)) => {
                let reports = if own_is_left { (known, heard) } else { (heard, known) };
                joined(cubes, reports, (self.root, self.rule, self.most_passed))
            }
            (Err(fault), Ok(_)) | (Ok(_), Err(fault)) => Err(fault),
            (Err(known), Err(heard)) => Err(if own_is_left { known } else { heard }),
        };
        let was_gather_root = known.is_ok_and(|report| report.root == rank);
        let joined = match joined {
            Ok(joined) => {
                if was_gather_root {
                    self.attach((own, other), (known, heard.expect("joined")), &joined);
                }
                Ok(joined.report)
            }
            Err(fault) => {
                if was_gather_root {
                    self.fault = Some(fault);
                }
                Err(fault)
            }
        };
        let stays_fixed = rank == own.fixed_root() && !own_is_left;
        let stays_root = joined.is_ok_and(|report| report.root == rank);
        self.known = (stays_fixed || stays_root).then_some(joined);
    }

    /// Makes the other gather root a child, or the parent.
    fn attach(
        &mut self,
        (own, other): (Cube, Cube),
        (known, heard): (Result<Report, Fault>, Report),
        joined: &Joined,
    ) {
        let node = &mut self.node;
        let is_straight = joined.is_straight;
        if joined.report.root != node.rank {
            let goes_straight = |known: Report| is_straight || known.passed < known.bytes;
            node.parent = if is_straight { self.root } else { Some(heard.root) };
            let asks = known.is_ok_and(goes_straight);
            self.consent.from = asks.then_some(heard.root);
            self.consent.is_straight = is_straight;
            return;
        }
        if is_straight || heard.passed < heard.bytes {
            self.consent.to.push(heard.root);
        }
        node.first = node.first.min(other.first);
        node.last = node.last.max(other.last);
        if is_straight {
            return;
        }
        if own.is_single() && other.first < own.first {
            // A lone rank on the right copies behind the data that it receives first.
            node.received_before_copy = 1;
        }
        let place = (heard.root, other.first, other.last);
        node.children.push(Child {
            straight: heard.bytes - heard.passed,
            ..Child::of_range(place, heard.passed, heard.digest)
        });
        // Cannot overflow: the join of the two was found to fit.
        node.bytes += heard.passed;
    }

    /// Word by which ranks with other roots or rules are detected.
    fn agreement(&self) -> u64 {
        let rule = match self.rule.kind() {
            AdaptiveRule::GatherTime => 1,
            AdaptiveRule::DataSize => 2,
            AdaptiveRule::CompletionTime => 3,
        };
        let root = self.root.map_or(0, |root| root as u64 + 1);
        root << 8 | rule
    }

    fn encode(&self, known: Result<Report, Fault>) -> JoinMessage {
        let agreement = self.agreement();
        let words = match known {
            Ok(Report { root, bytes, passed, root_block, digest, time }) => {
                let time = time.units().to_bits();
                [0, agreement, root as u64, bytes, root_block, time, digest, passed]
            }
            Err(Fault::Refused { rank }) => [1, agreement, rank as u64, 0, 0, 0, 0, 0],
            Err(Fault::Differ { first, second }) => {
                [2, agreement, first as u64, second as u64, 0, 0, 0, 0]
            }
            Err(Fault::TooLarge { first, last }) => {
                [3, agreement, first as u64, last as u64, 0, 0, 0, 0]
            }
            Err(Fault::NoTime { first, last, reason }) => {
                [4, agreement, first as u64, last as u64, reason as u64, 0, 0, 0]
            }
            Err(Fault::Garbled { rank }) => [5, agreement, rank as u64, 0, 0, 0, 0, 0],
        };
        let mut message = [0; MESSAGE_BYTES];
        for (place, word) in message.chunks_exact_mut(8).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        message
    }

    /// Reads a neighbour's message of this round.
    fn decode(&self, message: &JoinMessage) -> Result<Report, Fault> {
        let garbled = Fault::Garbled { rank: self.node.rank };
        let mut words = [0; MESSAGE_BYTES / 8];
        for (word, bytes) in words.iter_mut().zip(message.chunks_exact(8)) {
            *word = u64::from_le_bytes(bytes.try_into().expect("chunks of 8"));
        }
        let [kind, agreement, one, two, three, four, digest, passed] = words;
        let rank =
            |word: u64| usize::try_from(word).ok().filter(|&rank| rank < self.ranks).ok_or(garbled);
        match kind {
            0 => {
                let (own, other) = self.joined_cubes().ok_or(garbled)?;
                let root = rank(one)?;
                let time = Time::new(f64::from_bits(four)).ok_or(garbled)?;
                if agreement != self.agreement() {
                    let (first, second) = (own.last.min(other.last), own.last.max(other.last));
                    return Err(Fault::Differ { first, second });
                }
                let report = Report { root, bytes: two, passed, root_block: three, digest, time };
                match other.contains(root) && three <= passed && passed <= two {
                    true => Ok(report),
                    false => Err(garbled),
                }
            }
            1 => Err(Fault::Refused { rank: rank(one)? }),
            2 => Err(Fault::Differ { first: rank(one)?, second: rank(two)? }),
            3 => Err(Fault::TooLarge { first: rank(one)?, last: rank(two)? }),
            4 => {
                let reason =
                    NoTime::VARIANTS.iter().copied().find(|&reason| reason as u64 == three);
                let reason = reason.ok_or(garbled)?;
                Err(Fault::NoTime { first: rank(one)?, last: rank(two)?, reason })
            }
            5 => Err(Fault::Garbled { rank: rank(one)? }),
            _ => Err(garbled),
        }
    }
}

#[cfg(test)]
mod tests;
