//! Lower bounds on the library's algorithms, in the model of one port that sends and receives concurrently. Rings on nodes are
//! estimated.

use super::{KnownRule, NodePrices, PriceTable, Prices};
use tuwtree_model::{BlockSizes, Rank};

/// Lower bound on the library's algorithm for an allgather.
///
/// # Source
/// MPICH 4.0 to 4.3: `maint/tuning/coll/mpir/generic.json`, chunks by `MPIR_CVAR_ALLGATHERV_PIPELINE_MSG_SIZE`.
/// Open MPI 4.1 and 5.0: `coll_tuned_decision_fixed.c`, where the size is that of all blocks over `p`. Others are taken to
/// do the best of what these do.
pub(super) fn least_of_allgather(
    sizes: &BlockSizes,
    nodes: &[Vec<Rank>],
    prices: &Prices,
    rule: KnownRule,
) -> u128 {
    let (p, total) = (sizes.ranks(), sizes.total());
    let known = Least::of(sizes, nodes, prices);
    match rule {
        KnownRule::Mpich => match (p.is_power_of_two(), total) {
            (true, ..524_288) => known.doubling(),
            (false, ..81_920) => known.bruck(),
            _ => known.ring(CHUNK_BYTES),
        },
        KnownRule::OpenMpi => match (p, total / p as u64) {
            (..8, ..256) | (8..16, ..1024) | (16..32, ..128) | (32..128, ..256) => known.by_root(),
            (..8, 4096..8192) => known.ring_of_blocks(),
            (..8, 16_384..262_144) => known.bruck(),
            (..8, _) => known.neighbours(),
            (8..16, _) | (16..32, ..262_144) | (32..64, ..8192) | (64..128, ..4096) => {
                known.bruck()
            }
            (128..256, 1024..65_536) | (512..1024, 4096..1_048_576) => known.neighbours(),
            (128..512, ..1024) | (512..1024, ..512 | 1024..4096) => known.bruck(),
            (512..1024, ..1024) => known.by_root(),
            (..1024, _) => known.ring_of_blocks(),
            (_, ..4096) => known.bruck(),
            _ => known.neighbours(),
        },
        KnownRule::Unknown => {
            known.few_rounds().min(known.ring(CHUNK_BYTES)).min(known.neighbours())
        }
    }
}

/// Lower bound on the library's algorithm for a reduce-scatter: recursive halving and its like, around the ring, or each block
/// straight to its owner.
///
/// # Source
/// Open MPI 4.1: `coll_tuned_decision_fixed.c`.
pub(super) fn least_of_reduce_scatter(
    sizes: &BlockSizes,
    nodes: &[Vec<Rank>],
    prices: &Prices,
    rule: KnownRule,
) -> u128 {
    let known = Least::of(sizes, nodes, prices);
    match (rule, sizes.ranks(), sizes.total()) {
        (KnownRule::Mpich, _, 524_288..) => known.pairwise(),
        (KnownRule::OpenMpi, ..4, ..65_536 | 131_072..)
        | (KnownRule::OpenMpi, ..32, 262_144..)
        | (KnownRule::OpenMpi, ..64, 524_288..) => {
            // Equal blocks may be those of `MPI_Reduce_scatter_block`, which has another rule.
            let are_equal = sizes.iter().all(|bytes| bytes == sizes.block(0));
            let other = if are_equal { known.few_rounds() } else { u128::MAX };
            known.ring_of_blocks().min(other)
        }
        (KnownRule::Mpich | KnownRule::OpenMpi, ..) => known.few_rounds(),
        (KnownRule::Unknown, ..) => known.few_rounds().min(known.pairwise()),
    }
}

/// The chunks of MPICH's ring.
pub(super) const CHUNK_BYTES: u64 = 32_768;

/// Looking at more messages around a ring would take longer than some milliseconds.
const MOST_PASSED: u128 = 1 << 20;

/// Lower bounds on algorithms.
pub(super) struct Least<'a> {
    /// Costs of messages in rounds in which every rank sends and receives: those of exchanges, unless a block is empty.
    exchanged: &'a PriceTable,
    /// Of any message.
    least: &'a PriceTable,
    /// Costs on nodes, and the ranks of each node, if they are known.
    nodes: Option<(&'a NodePrices, &'a [Vec<Rank>])>,
    sizes: &'a BlockSizes,
    p: u128,
    /// The largest block.
    largest: u64,
    /// All that some rank receives: that with the smallest block.
    received: u64,
    /// The blocks that are not empty.
    blocks: u128,
}

impl Least<'_> {
    pub(super) fn of<'a>(
        sizes: &'a BlockSizes,
        nodes: &'a [Vec<Rank>],
        prices: &'a Prices,
    ) -> Least<'a> {
        let [largest, smallest] =
            [sizes.iter().max(), sizes.iter().min()].map(|one| one.unwrap_or(0));
        Least {
            exchanged: if smallest > 0 { &prices.exchanged } else { &prices.least },
            least: &prices.least,
            nodes: prices.nodes.as_ref().zip(Some(nodes).filter(|nodes| nodes.len() > 1)),
            sizes,
            p: sizes.ranks() as u128,
            largest,
            received: sizes.total() - smallest,
            blocks: sizes.iter().filter(|&bytes| bytes > 0).count() as u128,
        }
    }

    /// All rounds of messages at these prices that have these bytes together.
    fn rounds(prices: &PriceTable, rounds: u128, bytes: u64) -> u128 {
        // All but one message of a rank have a byte at least.
        let others = u64::try_from(rounds.saturating_sub(1)).unwrap_or(u64::MAX).min(bytes);
        u128::from(others) * prices.message(1) + prices.message(bytes - others)
    }

    /// Bruck's algorithm: some rank sends all these windows, from its own block on, one after the other.
    pub(super) fn bruck(&self) -> u128 {
        let p = self.sizes.ranks();
        let distances =
            || std::iter::successors(Some(1), |&one| Some(2 * one)).take_while(|&one| one < p);
        let sent = |rank: Rank| {
            let windows =
                distances().map(|distance| self.sizes.window(rank, distance.min(p - distance)));
            windows.map(|bytes| self.exchanged.message(bytes)).sum()
        };
        (0..p).map(sent).max().unwrap_or(0)
    }

    /// Recursive doubling of a power of two: some rank sends its subtrees, one after the other.
    pub(super) fn doubling(&self) -> u128 {
        let p = self.sizes.ranks();
        let masks =
            || std::iter::successors(Some(1), |&one| Some(2 * one)).take_while(|&one| one < p);
        let sent = |rank: Rank| {
            let subtrees = masks().map(|mask| self.sizes.window(rank - rank % mask, mask));
            subtrees.map(|bytes| self.exchanged.message(bytes)).sum()
        };
        (0..p).map(sent).max().unwrap_or(0)
    }

    /// Any algorithm of few rounds: who has the largest block sends it in every round. Of a number of ranks that is no
    /// power of two, some messages may be lone ones.
    pub(super) fn few_rounds(&self) -> u128 {
        let p = self.sizes.ranks();
        let prices = if p.is_power_of_two() { self.exchanged } else { self.least };
        let rounds = u128::from(p.next_power_of_two().ilog2());
        (rounds * prices.message(self.largest)).max(Least::rounds(prices, rounds, self.received))
    }

    /// Around the ring, whole blocks; on nodes by the costs of each link.
    fn ring_of_blocks(&self) -> u128 {
        match self.nodes {
            Some((prices, nodes)) if self.p * self.p <= MOST_PASSED => {
                prices.ring_time(self.sizes, nodes)
            }
            _ => self.ring(u64::MAX),
        }
    }

    /// Around the ring, blocks in chunks: the largest goes through all ranks.
    pub(super) fn ring(&self, chunk: u64) -> u128 {
        let chunks = u128::from(self.largest.div_ceil(chunk).max(1));
        let hops = self.p.saturating_sub(2) + chunks;
        // While the chunks of one block go around, ranks receive them and send them on, unless there are two; but of the
        // chunks of several blocks, and of the last ones, some are lone messages.
        let has_several = self.sizes.iter().filter(|&bytes| bytes > chunk).count() > 1;
        let is_of_exchanges = self.largest <= chunk || (self.p > 2 && !has_several);
        let going = if is_of_exchanges { self.exchanged } else { self.least };
        // All hops are of whole chunks but the last one's to its last rank.
        let last = self.largest - self.largest.saturating_sub(1) / chunk * chunk;
        let whole = (hops - 1) * going.message(self.largest.min(chunk));
        let largest = whole + going.message(last);
        let all = if self.largest <= chunk { self.exchanged } else { self.least };
        largest.max(Least::rounds(all, self.blocks.saturating_sub(1), self.received))
    }

    /// Between neighbours, two blocks at a time.
    fn neighbours(&self) -> u128 {
        let rounds = (self.p / 2).saturating_sub(1);
        let received = Least::rounds(self.exchanged, rounds, self.received);
        (rounds * self.exchanged.message(self.largest)).max(received)
    }

    /// To a root and from there to all.
    fn by_root(&self) -> u128 {
        let rounds = u128::from((self.p as usize).next_power_of_two().ilog2());
        let spread = Least::rounds(self.least, rounds, self.received);
        self.least.message(self.received) + spread
    }

    /// Straight to owners, one after the other: that of the largest block combines it `p - 1` times.
    pub(super) fn pairwise(&self) -> u128 {
        let others = self.p.saturating_sub(1);
        let rounds = self.blocks.saturating_sub(1);
        (others * self.exchanged.message(self.largest)).max(Least::rounds(
            self.exchanged,
            rounds,
            self.received,
        ))
    }
}
