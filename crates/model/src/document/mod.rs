//! Trees and the problems they were made for, and machines, as versioned, self-describing data.
//!
//! Apart from the core types, which know nothing of it. A reader first checks [`Header`], then reads
//! [`TreeDocument`] or [`Machine`], which refuse unknown fields; `docs/formats.md` describes the
//! formats.

mod list;
mod machine;

pub use list::{NumberList, ShortList};
pub use machine::{Date, Machine};

use list::SubtreeLists;

use crate::{
    BlockSizes, ClosedSet, Homogeneous, NotOrdered, Operation, Order, Payload, Problem, Rank, Root,
    StatedCosts, Step, Tree, TreeError, Vector, check_combines_neighbours, check_ordered,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::ser::{Error, SerializeSeq, SerializeStruct};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

/// The fields that every document starts with, whatever else it holds.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Header {
    /// Kind of document.
    pub format: String,
    /// The version of that format.
    pub version: u64,
}

/// A document of another kind or of an unknown version.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum HeaderError {
    /// Another kind of document.
    #[error("the document's format is {found:?}; {expected:?} is expected")]
    Format {
        /// The document's format.
        found: String,
        /// The expected format.
        expected: &'static str,
    },
    /// A version that this program does not know.
    #[error("version {found} of format {format:?} is not known; versions up to {known} are")]
    Version {
        /// Kind of document.
        format: &'static str,
        /// Above the newest one that this program reads.
        found: u64,
        /// The newest version that can be read.
        known: u64,
    },
}

impl Header {
    /// Fails unless the document is of this format and of a version from 1 to `known`.
    ///
    /// # Errors
    /// [`HeaderError`].
    pub fn check(&self, expected: &'static str, known: u64) -> Result<(), HeaderError> {
        if self.format != expected {
            return Err(HeaderError::Format { found: self.format.clone(), expected });
        }
        if !(1..=known).contains(&self.version) {
            return Err(HeaderError::Version { format: expected, found: self.version, known });
        }
        Ok(())
    }
}

/// The message, its middle left out if it is long: faults quote documents, which may be huge.
pub fn shortened(message: &str) -> Cow<'_, str> {
    /// Most bytes that are kept from the start and the end.
    const KEPT: usize = 400;
    if message.len() <= 2 * KEPT {
        return Cow::Borrowed(message);
    }
    let start = (0..=KEPT).rev().find(|&at| message.is_char_boundary(at)).unwrap_or(0);
    let end = message.len() - KEPT;
    let end = (end..message.len()).find(|&at| message.is_char_boundary(at)).unwrap_or(end);
    Cow::Owned(format!("{} … {}", &message[..start], &message[end..]))
}

/// A document read from an object with named fields. Without this, a list of the fields' values in
/// order would do as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Object<T>(pub T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Object<T>, D::Error> {
        struct ObjectVisitor<T>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
            type Value = Object<T>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object with named fields")
            }

            fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<Object<T>, A::Error> {
                T::deserialize(MapAccessDeserializer::new(fields)).map(Object)
            }
        }

        deserializer.deserialize_map(ObjectVisitor(PhantomData))
    }
}

/// A tree, and the problem that it was made for, if that is known.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "TreeFields")]
pub struct TreeDocument {
    /// For as many ranks as the document says.
    pub tree: Tree,
    /// Data, costs and operation; for as many ranks as the tree has, and with its root.
    pub problem: Option<Problem>,
}

impl TreeDocument {
    /// The name of the format.
    pub const FORMAT: &'static str = "tuwtree-tree";
    /// The version that is written; older ones are read, newer ones are refused. Version 2 added machines, broadcast
    /// and reduction; version 3 the order, which is written where it is not the strictest; version 4 overheads, and
    /// machines of version 2; version 5 has `ranks` in place of `processors`.
    pub const VERSION: u64 = 5;

    /// The tree's operation; without a problem, gather.
    pub fn operation(&self) -> Operation {
        self.problem.as_ref().map_or(Operation::Gather, Problem::operation)
    }

    /// The strictest order that the tree keeps, whatever a file claims (which may be less).
    ///
    /// # Complexity
    /// O(p).
    pub fn order(&self) -> Order {
        Order::of(&self.tree, self.operation())
    }
}

/// The document as it stands in a file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TreeFields {
    #[serde(rename = "format")]
    _format: String,
    version: u64,
    #[serde(alias = "processors")]
    ranks: usize,
    root: Rank,
    order: Option<Order>,
    subtrees: SubtreeLists,
    problem: Option<Object<ProblemFields>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ProblemFields {
    operation: Operation,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta_per_byte: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    gamma_per_byte: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<Object<Machine>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    block_sizes_bytes: Option<NumberList>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector_bytes: Option<u64>,
}

/// Fields that can be read, but are not a tree document.
#[derive(Debug, thiserror::Error)]
enum TreeDocumentError {
    #[error("\"subtrees\" has {subtrees} entries, but \"ranks\" is {ranks}")]
    Subtrees { subtrees: usize, ranks: usize },
    #[error("\"block_sizes_bytes\" has {blocks} entries, but the tree has {ranks} processes")]
    Blocks { blocks: usize, ranks: usize },
    #[error("{what} in a document of version {version}; it needs version {needed}")]
    TooEarly { what: &'static str, version: u64, needed: u64 },
    #[error("\"order\" is \"{}\", but the tree keeps no more than \"{}\": {fault}", claimed.name(), kept.name())]
    Order { claimed: Order, kept: Order, fault: NotOrdered },
    #[error("{0}")]
    Problem(String),
    #[error("not a tree: {0}")]
    Tree(#[from] TreeError),
}

impl TryFrom<TreeFields> for TreeDocument {
    type Error = TreeDocumentError;

    fn try_from(fields: TreeFields) -> Result<TreeDocument, TreeDocumentError> {
        let TreeFields { version, ranks, root, order, subtrees, problem, .. } = fields;
        if order.is_some() && version < 3 {
            return Err(TreeDocumentError::TooEarly { what: "\"order\"", version, needed: 3 });
        }
        if subtrees.ranks != ranks {
            let subtrees = subtrees.ranks;
            return Err(TreeDocumentError::Subtrees { subtrees, ranks });
        }
        let problem = problem
            .map(|Object(problem)| {
                problem.check_version(version)?;
                problem.of_ranks(ranks)
            })
            .transpose()?;
        let tree = Tree::new(ranks, root, &subtrees.steps)?;
        let rooted = |problem: Problem| {
            let rooted = problem.with_root(Root::Given(root));
            rooted.map_err(|error| TreeDocumentError::Problem(error.to_string()))
        };
        let problem = problem.map(rooted).transpose()?;
        let document = TreeDocument { tree, problem };
        document.check_order(order.unwrap_or(Order::Any))?;
        Ok(document)
    }
}

impl TreeDocument {
    /// Fails unless the tree keeps this order, or a stricter one.
    fn check_order(&self, claimed: Order) -> Result<(), TreeDocumentError> {
        let kept = self.order();
        let checked = match self.operation().is_reduction() {
            true => check_combines_neighbours(&self.tree),
            false => check_ordered(&self.tree),
        };
        match checked {
            Err(fault) if kept > claimed => Err(TreeDocumentError::Order { claimed, kept, fault }),
            _ => Ok(()),
        }
    }
}

impl Serialize for TreeDocument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("TreeDocument", 7)?;
        fields.serialize_field("format", Self::FORMAT)?;
        fields.serialize_field("version", &Self::VERSION)?;
        fields.serialize_field("ranks", &self.tree.ranks())?;
        fields.serialize_field("root", &self.tree.root())?;
        match self.order() {
            Order::Ordered => fields.skip_field("order")?,
            order => fields.serialize_field("order", &order)?,
        }
        fields.serialize_field("subtrees", &Subtrees(&self.tree))?;
        match &self.problem {
            Some(problem) => {
                let problem = ProblemFields::try_from(problem).map_err(S::Error::custom)?;
                fields.serialize_field("problem", &problem)?;
            }
            None => fields.skip_field("problem")?,
        }
        fields.end()
    }
}

/// Each rank's subtrees in order, its own rank standing for the copy: written straight from
/// the tree, nothing held twice.
struct Subtrees<'a>(&'a Tree);

impl Serialize for Subtrees<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq((0..self.0.ranks()).map(|rank| SubtreesOf(self.0, rank)))
    }
}

struct SubtreesOf<'a>(&'a Tree, Rank);

impl Serialize for SubtreesOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let SubtreesOf(tree, rank) = *self;
        let steps = tree.steps(rank);
        let mut sequence = serializer.serialize_seq(Some(steps.len()))?;
        for step in steps {
            let subtree = match step {
                Step::Copy => rank,
                Step::Receive(child) => child,
            };
            sequence.serialize_element(&subtree)?;
        }
        sequence.end()
    }
}

/// Costs that differ, but are no machine's: documents have no place for them.
#[derive(Debug, thiserror::Error)]
#[error("costs of kind \"{kind}\" without a machine; a document states three numbers or a machine")]
struct UnnamedCosts {
    kind: &'static str,
}

impl TryFrom<&Problem> for ProblemFields {
    type Error = UnnamedCosts;

    fn try_from(problem: &Problem) -> Result<ProblemFields, UnnamedCosts> {
        let (block_sizes_bytes, vector_bytes) = match problem.payload() {
            Payload::Blocks(sizes) => (Some(NumberList(sizes.iter().collect())), None),
            Payload::Vector(vector) => (None, Some(vector.bytes)),
            // No tree is for these.
            Payload::Messages(_) | Payload::Groups(_) => (None, None),
        };
        let mut fields = ProblemFields {
            operation: problem.operation(),
            alpha: None,
            overhead: None,
            beta_per_byte: None,
            gamma_per_byte: None,
            machine: None,
            block_sizes_bytes,
            vector_bytes,
        };
        match problem.stated_costs() {
            StatedCosts::Parameters(costs) => {
                let kind = costs.name();
                let costs = costs.parameters().ok_or(UnnamedCosts { kind })?;
                fields.alpha = Some(costs.alpha());
                fields.overhead = costs.overlaps().then_some(costs.overhead());
                fields.beta_per_byte = Some(costs.beta());
                fields.gamma_per_byte = Some(costs.gamma());
            }
            StatedCosts::Machine(machine) => fields.machine = Some(Object((**machine).clone())),
        }
        Ok(fields)
    }
}

impl ProblemFields {
    /// Fails on what this version of the format does not have.
    fn check_version(&self, version: u64) -> Result<(), TreeDocumentError> {
        let has_newer_machine =
            self.machine.as_ref().is_some_and(|Object(machine)| machine.version() > 1);
        let newer = [
            (self.machine.is_some(), "\"machine\"", 2),
            (self.vector_bytes.is_some(), "\"vector_bytes\"", 2),
            (self.overhead.is_some(), "\"overhead\"", 4),
            (has_newer_machine, "a machine of version 2", 4),
        ];
        match newer.into_iter().find(|&(is_given, _, needed)| is_given && version < needed) {
            Some((_, what, needed)) => Err(TreeDocumentError::TooEarly { what, version, needed }),
            None => Ok(()),
        }
    }

    /// The problem of a tree over this many ranks.
    fn of_ranks(self, ranks: usize) -> Result<Problem, TreeDocumentError> {
        let problem = |error: String| TreeDocumentError::Problem(error);
        let costs = stated(
            [
                ("alpha", self.alpha),
                ("beta_per_byte", self.beta_per_byte),
                ("gamma_per_byte", self.gamma_per_byte),
            ],
            self.overhead,
            self.machine,
        )
        .map_err(problem)?;
        let payload = match (self.block_sizes_bytes, self.vector_bytes) {
            (Some(NumberList(sizes)), None) if sizes.len() != ranks => {
                return Err(TreeDocumentError::Blocks { blocks: sizes.len(), ranks });
            }
            (Some(NumberList(sizes)), None) => {
                Payload::Blocks(BlockSizes::new(sizes).map_err(|error| problem(error.to_string()))?)
            }
            (None, Some(bytes)) => Payload::Vector(Vector { ranks, bytes }),
            (None, None) | (Some(_), Some(_)) => {
                let message = "one of \"block_sizes_bytes\" and \"vector_bytes\" is to be given";
                return Err(problem(message.to_owned()));
            }
        };
        costs.costs().check_ranks(ranks).map_err(|error| problem(format!("machine: {error}")))?;
        Problem::new(self.operation, payload, costs).map_err(|error| problem(error.to_string()))
    }
}

/// The costs of a problem: all three of the named numbers, and the overhead if there is one, or a
/// machine.
fn stated(
    parameters: [(&str, Option<f64>); 3],
    overhead: Option<f64>,
    machine: Option<Object<Machine>>,
) -> Result<StatedCosts, String> {
    match machine {
        Some(Object(machine)) => {
            let numbers = parameters.into_iter().chain([("overhead", overhead)]);
            match numbers.into_iter().find(|(_, value)| value.is_some()) {
                Some((name, _)) => Err(format!("\"machine\" and \"{name}\" are both given")),
                None => Ok(StatedCosts::from(machine)),
            }
        }
        None => {
            let value = |index: usize| {
                let (name, value) = parameters[index];
                value.ok_or_else(|| format!("missing field `{name}` (or `machine`)"))
            };
            let costs = Homogeneous::new(value(0)?, value(1)?, value(2)?)
                .map_err(|error| error.to_string())?;
            costs
                .with_overhead(overhead.unwrap_or(costs.alpha()))
                .map(StatedCosts::from)
                .map_err(|error| error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document() -> TreeDocument {
        let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
        TreeDocument {
            tree: Tree::new(3, 1, &steps).unwrap(),
            problem: Some(problem(
                Operation::Gather,
                Payload::Blocks(BlockSizes::new([2, 1, 4]).unwrap()),
            )),
        }
    }

    fn problem(operation: Operation, payload: Payload) -> Problem {
        Problem::new(operation, payload, Homogeneous::new(100.0, 1.0, 0.5).unwrap())
            .and_then(|problem| problem.with_root(Root::Given(1)))
            .unwrap()
    }

    #[test]
    fn a_document_reads_as_it_was_written() {
        let text = serde_json::to_string(&document()).unwrap();
        assert_eq!(
            text,
            r#"{"format":"tuwtree-tree","version":5,"ranks":3,"root":1,"subtrees":[[],[0,1,2],[]],"problem":{"operation":"gather","alpha":100.0,"beta_per_byte":1.0,"gamma_per_byte":0.5,"block_sizes_bytes":[2,1,4]}}"#
        );
        assert_eq!(serde_json::from_str::<TreeDocument>(&text).unwrap(), document());
        let old = text.replace("\"version\":5,\"ranks\"", "\"version\":1,\"processors\"");
        assert_eq!(serde_json::from_str::<TreeDocument>(&old).unwrap(), document());
    }

    /// Also where the tests of other crates have the feature of `serde_json` for it from elsewhere.
    #[test]
    fn costs_of_17_digits_read_to_the_last_one() {
        let costs = Homogeneous::new(1.3522987986828883e-5, 1.0 / 3e9, 1e-9 / 9.0);
        let sizes = BlockSizes::new([2, 1, 4]).unwrap();
        let problem = Problem::gather(&sizes, costs.unwrap()).unwrap();
        let problem = problem.with_root(Root::Given(1)).unwrap();
        let document = TreeDocument { problem: Some(problem), ..document() };
        let text = serde_json::to_string(&document).unwrap();
        let read = serde_json::from_str::<TreeDocument>(&text).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), text);
        assert_eq!(read, document);
    }

    #[test]
    fn a_broadcast_and_a_reduction_have_one_vector_size_and_need_version_2() {
        for operation in [Operation::Broadcast, Operation::Reduce] {
            let payload = Payload::Vector(Vector { ranks: 3, bytes: 1000 });
            let document =
                TreeDocument { problem: Some(problem(operation, payload)), ..document() };
            let text = serde_json::to_string(&document).unwrap();
            assert!(text.contains("\"version\":5") && text.contains("\"vector_bytes\":1000"));
            assert!(!text.contains("block_sizes_bytes"));
            assert_eq!(serde_json::from_str::<TreeDocument>(&text).unwrap(), document);
            for (from, to, message) in [
                ("\"version\":5", "\"version\":1", "\"vector_bytes\" in a document of version 1"),
                ("\"vector_bytes\":1000", "\"vector_bytes\":-1", "invalid value: integer `-1`"),
                (",\"vector_bytes\":1000", "", "one of \"block_sizes_bytes\" and \"vector_bytes\""),
                ("\"vector_bytes\":1000", "\"block_sizes_bytes\":[1,2,3]", "one vector size"),
                (operation.name(), "scatter", "scatter needs block sizes"),
            ] {
                let bad = text.replace(from, to);
                let error = serde_json::from_str::<TreeDocument>(&bad).unwrap_err().to_string();
                assert!(error.contains(message), "{bad}: {error}");
            }
        }
    }

    #[test]
    fn what_is_no_document_is_refused_by_name() {
        let good = serde_json::to_string(&document()).unwrap();
        for (from, to, message) in [
            ("\"root\":1", "\"root\":1,\"colour\":2", "unknown field `colour`"),
            ("\"root\":1", "\"root\":3", "root 3 is outside 0..3"),
            ("\"root\":1,", "", "missing field `root`"),
            ("[0,1,2]", "[0,1]", "rank 2 sends to nobody"),
            ("[0,1,2]", "[0,1,-2]", "invalid value: integer `-2`"),
            ("\"ranks\":3", "\"ranks\":4", "\"subtrees\" has 3 entries"),
            ("[2,1,4]", "[2,1]", "\"block_sizes_bytes\" has 2 entries"),
            ("\"alpha\":100.0", "\"alpha\":-1", "alpha is -1"),
            ("\"operation\":\"gather\"", "\"operation\":\"sort\"", "unknown variant `sort`"),
            (
                "\"operation\":\"gather\"",
                "\"operation\":\"reduce\"",
                "reduce needs one vector size",
            ),
            ("\"problem\":{", "\"problem\":[1],\"x\":{", "expected an object with named fields"),
        ] {
            let bad = good.replace(from, to);
            let error = serde_json::from_str::<TreeDocument>(&bad).unwrap_err().to_string();
            assert!(error.contains(message), "{bad}: {error}");
        }
    }

    #[test]
    fn a_tree_that_is_not_ordered_says_so_in_version_3() {
        let document = |steps: &[(Rank, Step)]| TreeDocument {
            tree: Tree::new(4, 0, steps).unwrap(),
            problem: None,
        };
        let direct = document(&[
            (0, Step::Copy),
            (0, Step::Receive(1)),
            (0, Step::Receive(3)),
            (0, Step::Receive(2)),
        ]);
        let text = serde_json::to_string(&direct).unwrap();
        assert_eq!(
            text,
            r#"{"format":"tuwtree-tree","version":5,"ranks":4,"root":0,"order":"direct","subtrees":[[0,1,3,2],[],[],[]]}"#
        );
        assert_eq!(serde_json::from_str::<TreeDocument>(&text).unwrap(), direct);
        let less = text.replace("direct", "any");
        assert_eq!(serde_json::from_str::<TreeDocument>(&less).unwrap(), direct);
        let silent =
            text.replace("\"order\":\"direct\",", "").replace("\"version\":5", "\"version\":1");
        assert_eq!(serde_json::from_str::<TreeDocument>(&silent).unwrap(), direct);
        let steps = [(0, Step::Copy), (0, Step::Receive(1)), (0, Step::Receive(2))];
        let any = document(&[&steps[..], &[(1, Step::Copy), (1, Step::Receive(3))]].concat());
        let text_of_any = serde_json::to_string(&any).unwrap();
        for (bad, message) in [
            (
                text.replace("direct", "ordered"),
                "but the tree keeps no more than \"direct\": rank 0",
            ),
            (text_of_any.replace("\"any\"", "\"direct\""), "no more than \"any\": rank 1"),
            (
                text.replace("\"version\":5", "\"version\":2"),
                "\"order\" in a document of version 2; it needs version 3",
            ),
            (text.replace("direct", "weak"), "unknown variant `weak`"),
        ] {
            let error = serde_json::from_str::<TreeDocument>(&bad).unwrap_err().to_string();
            assert!(error.contains(message), "{bad}: {error}");
        }
    }

    #[test]
    fn long_messages_lose_their_middle() {
        assert_eq!(shortened("short"), "short");
        for word in ["x", "ä", "€", "😀"] {
            let long = format!("before {} after", word.repeat(5000));
            let short = shortened(&long);
            assert!(short.len() < 820 && short.starts_with("before ") && short.ends_with(" after"));
        }
    }

    #[test]
    fn a_header_names_format_and_version() {
        let header = |format: &str, version| Header { format: format.into(), version };
        assert_eq!(header("a", 1).check("a", 1), Ok(()));
        assert!(header("b", 1).check("a", 1).is_err());
        assert!(header("a", 2).check("a", 1).is_err());
        assert!(header("a", 0).check("a", 1).is_err());
    }
}
