//! Bundles of small messages of an alltoall, which other ranks pass on.
//!
//! In each round a rank sends bundles, one to each of some ranks, of messages that it holds. Both ends of a bundle list its
//! messages alike, without sizes.
//!
//! ```text
//! digits, radix 2, 8 ranks   +1: distances 1, 3, 5, 7         | +2: 2, 3, 6, 7         | +4: 4, 5, 6, 7
//! node pairs                 to the rank that sends to a node | a bundle between nodes | to the receivers
//! 2 roots of 8 ranks         rows of 2 ranks: to the root's column                | columns: trees to the roots
//! ```
//!
//! # Source
//! J. Bruck et al., IEEE TPDS 8(11), 1997, section 3; K. Fan et al., arXiv:2411.02581 (radix).

use tuwtree_model::Rank;

/// Way of small messages of an alltoall by other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Passing {
    /// By the digits of distances in this radix, at least 2, the least significant first.
    Digits(usize),
    /// One bundle for each pair of nodes, with bundles inside nodes before and after.
    NodePairs,
}

/// Way of small messages to few ranks, the roots, or from them: in rows by the digits of distances, in columns along trees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ColumnTrees {
    /// Radix of distances in rows, at least 2.
    pub row: usize,
    /// Radix of the numbers of rows, at least 2: a rank receives from up to this many less one in a round.
    pub column: usize,
    /// True if the roots send, in the same rounds backwards.
    pub is_from_roots: bool,
}

/// Rows of as many ranks as there are roots, each root in the column of its index, and a last row of the remaining ranks, which may
/// be empty: for [`BundleRounds::of_column_trees`].
///
/// # Panics
/// For no roots, one that is named twice, or more than ranks.
///
/// # Complexity
/// O(p).
pub fn rows_of_roots(ranks: usize, roots: &[Rank]) -> Vec<Vec<Rank>> {
    let (columns, count) = (roots.len(), ranks / roots.len());
    let mut rows: Vec<Vec<Option<Rank>>> = vec![vec![None; columns]; count];
    let mut is_root = vec![false; ranks];
    for (column, &root) in roots.iter().enumerate() {
        assert!(!std::mem::replace(&mut is_root[root], true), "root {root} is named twice");
        rows[(root / columns).min(count - 1)][column] = Some(root);
    }
    let mut others = (0..ranks).filter(|&rank| !is_root[rank]);
    let mut all: Vec<Vec<Rank>> = Vec::with_capacity(count + 1);
    for row in rows {
        let filled = row.into_iter().map(|one| one.or_else(|| others.next()));
        all.push(filled.map(|one| one.expect("there are as many ranks")).collect());
    }
    all.push(others.collect());
    all
}

/// Messages that go together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bundle {
    /// Receiver of a bundle that is sent, sender of one that is received.
    pub peer: Rank,
    /// Sender and receiver of each message.
    pub messages: Vec<(Rank, Rank)>,
}

/// The rounds of bundles of one rank.
#[derive(Clone, Debug)]
pub struct BundleRounds<'n> {
    shape: BundleShape,
    /// The ranks of each node, or row.
    nodes: &'n [Vec<Rank>],
    ranks: usize,
    rank: Rank,
    /// Index of the rank's node or row, and the rank's index there.
    place: (usize, usize),
    /// For each column of ranks that lie in rows, the row of its root.
    root_rows: Vec<usize>,
}

/// Largest power of two of the bytes of a message that is better passed on by [`Passing::NodePairs`]: two more ways inside a node,
/// of which `inside` is the time of the port, take no longer than the start of a message of its own `between` nodes. 0 if
/// there is none.
///
/// # Complexity
/// O(1).
pub fn most_in_pairs(inside: impl Fn(u64) -> u128, between: impl Fn(u64) -> u128) -> u64 {
    let [own, start] = [inside(1), between(1)];
    let powers = (0..MOST_PASSED.ilog2()).rev().map(|power| 1 << power);
    let mut small = powers.skip_while(|&bytes| 2 * inside(bytes).saturating_sub(own) > start);
    small.next().unwrap_or(0)
}

/// No larger message is passed on.
const MOST_PASSED: u64 = 1 << 17;

/// Index of a rank's node or row, and the rank's index there.
fn place_in(nodes: &[Vec<Rank>], rank: Rank) -> (usize, usize) {
    let index = |ranks: &Vec<Rank>| ranks.iter().position(|&one| one == rank);
    let place = nodes.iter().enumerate().find_map(|(node, ranks)| Some((node, index(ranks)?)));
    place.expect("each rank is somewhere")
}

/// Number of digits of the numbers below `count` in a radix.
fn digits(count: usize, radix: usize) -> usize {
    let largest = (count - 1).checked_ilog(radix);
    largest.map_or(0, |position| position as usize + 1)
}

/// Kind of the rounds.
#[derive(Clone, Copy, Debug)]
enum BundleShape {
    Passing(Passing),
    ColumnTrees(ColumnTrees),
}

/// The end of a bundle that a rank is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BundleEnd {
    Sender,
    Receiver,
}

impl<'n> BundleRounds<'n> {
    /// Rounds of a rank among `ranks`. Nodes are lists of their ranks, in any placement; digits need none.
    ///
    /// # Panics
    /// For a radix below 2, or nodes without the rank where pairs of them are asked for.
    ///
    /// # Complexity
    /// O(p).
    pub fn new(
        (rank, ranks): (Rank, usize),
        passing: Passing,
        nodes: &'n [Vec<Rank>],
    ) -> BundleRounds<'n> {
        let place = match passing {
            Passing::Digits(radix) => {
                assert!(radix >= 2, "radix {radix}");
                (0, 0)
            }
            Passing::NodePairs => place_in(nodes, rank),
        };
        let shape = BundleShape::Passing(passing);
        BundleRounds { shape, nodes, ranks, rank, place, root_rows: Vec::new() }
    }

    /// Rounds of a rank in the rows that [`rows_of_roots`] makes for the roots.
    ///
    /// # Panics
    /// As [`new`](Self::new), and for radices below 2.
    ///
    /// # Complexity
    /// O(p).
    pub fn of_column_trees(
        (rank, ranks): (Rank, usize),
        trees: ColumnTrees,
        rows: &'n [Vec<Rank>],
        roots: &[Rank],
    ) -> BundleRounds<'n> {
        assert!(trees.row >= 2 && trees.column >= 2, "radices of at least 2");
        let row_of = |(column, root): (usize, &Rank)| {
            rows.iter().position(|row| row.get(column) == Some(root)).expect("a row with the root")
        };
        let root_rows = roots.iter().enumerate().map(row_of).collect();
        let (shape, place) = (BundleShape::ColumnTrees(trees), place_in(rows, rank));
        BundleRounds { shape, nodes: rows, ranks, rank, place, root_rows }
    }

    /// Number of rounds.
    pub fn count(&self) -> usize {
        match self.shape {
            BundleShape::Passing(Passing::Digits(radix)) => digits(self.ranks, radix),
            BundleShape::Passing(Passing::NodePairs) => 3,
            BundleShape::ColumnTrees(trees) => {
                let rows = self.nodes.len() - 1;
                1 + digits(self.root_rows.len(), trees.row) + digits(rows, trees.column)
            }
        }
    }

    /// Bundles that the rank sends in a round, in order.
    ///
    /// # Complexity
    /// O(n) for n messages.
    pub fn sent(&self, round: usize) -> Vec<Bundle> {
        self.bundles(round, BundleEnd::Sender)
    }

    /// Bundles that the rank receives in a round, in order.
    ///
    /// # Complexity
    /// O(n) for n messages.
    pub fn received(&self, round: usize) -> Vec<Bundle> {
        self.bundles(round, BundleEnd::Receiver)
    }

    fn bundles(&self, round: usize, end: BundleEnd) -> Vec<Bundle> {
        match (self.shape, round) {
            (BundleShape::Passing(Passing::Digits(radix)), _) => {
                let width = radix.pow(round as u32);
                let lengths = (1..radix).map(|digit| digit * width);
                let lengths = lengths.take_while(|&length| length < self.ranks);
                lengths.map(|length| self.hop((width, radix), length, end)).collect()
            }
            (BundleShape::Passing(Passing::NodePairs), 1) => {
                self.distances(self.place.1).map(|distance| self.pair(distance, end)).collect()
            }
            (BundleShape::Passing(Passing::NodePairs), _) => self.inside(round == 0, end),
            (BundleShape::ColumnTrees(trees), _) if trees.is_from_roots => {
                let end =
                    if end == BundleEnd::Sender { BundleEnd::Receiver } else { BundleEnd::Sender };
                let mut all = self.towards_roots(trees, self.count() - 1 - round, end);
                for (from, to) in all.iter_mut().flat_map(|bundle| &mut bundle.messages) {
                    std::mem::swap(from, to);
                }
                all
            }
            (BundleShape::ColumnTrees(trees), _) => self.towards_roots(trees, round, end),
        }
    }

    /// Bundles towards the roots of a trees.
    fn towards_roots(&self, trees: ColumnTrees, round: usize, end: BundleEnd) -> Vec<Bundle> {
        let hops = digits(self.root_rows.len(), trees.row);
        match round {
            0 => self.fold(end),
            _ if self.place.0 + 1 == self.nodes.len() => Vec::new(),
            _ if round <= hops => self.along_row(trees.row, round - 1, end),
            _ => self.along_column(trees.column, round - 1 - hops, end),
        }
    }

    /// The root of a column.
    fn root(&self, column: usize) -> Rank {
        self.nodes[self.root_rows[column]][column]
    }

    /// Row and column of the rank that has the messages of the one with this index in the last row.
    fn partner(&self, index: usize) -> (usize, usize) {
        (index % (self.nodes.len() - 1), index % self.root_rows.len())
    }

    /// Ranks whose messages leave from this place: the one there and its partners of the last row.
    fn origins(&self, (row, column): (usize, usize)) -> impl Iterator<Item = Rank> {
        let last = self.nodes.last().expect("the last row");
        let partners = last.iter().enumerate();
        let partners = partners.filter(move |&(index, _)| self.partner(index) == (row, column));
        [self.nodes[row][column]].into_iter().chain(partners.map(|(_, &rank)| rank))
    }

    /// Bundles from the last row to partners, with all messages of a rank.
    fn fold(&self, end: BundleEnd) -> Vec<Bundle> {
        let (row, column) = self.place;
        let from_last = |from: Rank, peer: Rank| {
            let columns = 0..self.root_rows.len();
            Bundle { peer, messages: columns.map(|column| (from, self.root(column))).collect() }
        };
        match (row + 1 == self.nodes.len(), end) {
            (true, BundleEnd::Sender) => {
                let partner = self.partner(column);
                vec![from_last(self.rank, self.nodes[partner.0][partner.1])]
            }
            (false, BundleEnd::Receiver) => {
                let origins = self.origins((row, column)).filter(|&rank| rank != self.rank);
                origins.map(|from| from_last(from, from)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Bundles between columns of the rank's row, with messages whose distance in columns has a digit at this position.
    fn along_row(&self, radix: usize, position: usize, end: BundleEnd) -> Vec<Bundle> {
        let ((row, column), columns) = (self.place, self.root_rows.len());
        let width = radix.pow(position as u32);
        let lengths = (1..radix).map(|digit| digit * width).take_while(|&length| length < columns);
        let bundle = |length: usize| {
            let (sender, peer) = match end {
                BundleEnd::Sender => (column, (column + length) % columns),
                BundleEnd::Receiver => {
                    ((column + columns - length) % columns, (column + columns - length) % columns)
                }
            };
            let has_digit = |distance: &usize| distance / width % radix == length / width;
            let messages = (length..columns).filter(has_digit).flat_map(|distance| {
                let from = (sender + columns - distance % width) % columns;
                let root = self.root((from + distance) % columns);
                self.origins((row, from)).map(move |origin| (origin, root))
            });
            Bundle { peer: self.nodes[row][peer], messages: messages.collect() }
        };
        lengths.map(bundle).collect()
    }

    /// Bundles along the tree of the rank's column, with all messages for its root of the rows below.
    fn along_column(&self, radix: usize, position: usize, end: BundleEnd) -> Vec<Bundle> {
        let ((row, column), rows) = (self.place, self.nodes.len() - 1);
        let (width, root_row) = (radix.pow(position as u32), self.root_rows[column]);
        let at = |number: usize| (root_row + number) % rows;
        let number = (row + rows - root_row) % rows;
        let bundle = |sender: usize, peer: usize| {
            let below = sender..rows.min(sender + width);
            let origins = below.flat_map(|number| {
                (0..self.root_rows.len()).flat_map(move |from| self.origins((at(number), from)))
            });
            let messages = origins.map(|origin| (origin, self.root(column))).collect();
            Bundle { peer: self.nodes[at(peer)][column], messages }
        };
        let digit = number / width % radix;
        match end {
            _ if number % width > 0 => Vec::new(),
            BundleEnd::Sender if digit > 0 => vec![bundle(number, number - digit * width)],
            BundleEnd::Receiver if digit == 0 => {
                let children = (1..radix).map(|digit| number + digit * width);
                children.take_while(|&child| child < rows).map(|one| bundle(one, one)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Bundle that goes this far, of messages whose distances have a digit there.
    fn hop(&self, (width, radix): (usize, usize), length: usize, end: BundleEnd) -> Bundle {
        let (rank, p) = (self.rank, self.ranks);
        let (sender, peer) = match end {
            BundleEnd::Sender => (rank, (rank + length) % p),
            BundleEnd::Receiver => ((rank + p - length) % p, (rank + p - length) % p),
        };
        let has_digit = |distance: &usize| distance / width % radix == length / width;
        let message = |distance: usize| {
            let from = (sender + p - distance % width) % p;
            (from, (from + distance) % p)
        };
        Bundle { peer, messages: (length..p).filter(has_digit).map(message).collect() }
    }

    /// Distances between nodes whose bundles are sent, and received, by ranks with this index on a node like the rank's own.
    fn distances(&self, index: usize) -> impl Iterator<Item = usize> + use<'n> {
        let own = self.nodes[self.place.0].len();
        (1..self.nodes.len()).filter(move |distance| (distance - 1) % own == index)
    }

    /// Index of the node this many nodes on, or before.
    fn node(&self, distance: usize, end: BundleEnd) -> usize {
        let (node, count) = (self.place.0, self.nodes.len());
        match end {
            BundleEnd::Sender => (node + distance) % count,
            BundleEnd::Receiver => (node + count - distance) % count,
        }
    }

    /// Bundle between the rank's node and the one at this distance.
    fn pair(&self, distance: usize, end: BundleEnd) -> Bundle {
        let [own, other] = [self.place.0, self.node(distance, end)].map(|node| &self.nodes[node]);
        let (from, to) = if end == BundleEnd::Sender { (own, other) } else { (other, own) };
        let all = from.iter().flat_map(|&from| to.iter().map(move |&to| (from, to)));
        Bundle { peer: other[(distance - 1) % other.len()], messages: all.collect() }
    }

    /// Bundles inside the node, before those between nodes or after.
    fn inside(&self, is_before: bool, end: BundleEnd) -> Vec<Bundle> {
        let (node, place) = self.place;
        let mates = &self.nodes[node];
        let bundle = |step: usize| {
            let other = match end {
                BundleEnd::Sender => (place + step) % mates.len(),
                BundleEnd::Receiver => (place + mates.len() - step) % mates.len(),
            };
            let (from, to) = if end == BundleEnd::Sender { (place, other) } else { (other, place) };
            let messages = if is_before {
                let nodes =
                    self.distances(to).map(|distance| self.node(distance, BundleEnd::Sender));
                let beyond = nodes.flat_map(|node| &self.nodes[node]).copied();
                [mates[to]].into_iter().chain(beyond).map(|to| (mates[from], to)).collect()
            } else {
                let nodes =
                    self.distances(from).map(|distance| self.node(distance, BundleEnd::Receiver));
                nodes.flat_map(|node| &self.nodes[node]).map(|&from| (from, mates[to])).collect()
            };
            Bundle { peer: mates[other], messages }
        };
        let bundles = (1..mates.len()).map(bundle);
        bundles.filter(|bundle| !bundle.messages.is_empty()).collect()
    }
}
