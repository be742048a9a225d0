//! The names of all ways to make a plan.

/// A way to build a tree, or to make a schedule where there is none, by name: what each is, what it is for,
/// and how it is built, the crates that build them know. In the order of the published tables' columns, but with the cheaper ones first: of
/// equally fast trees, the first is recommended.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[strum(serialize_all = "kebab-case")]
#[expect(missing_docs, reason = "the catalogue of constructions says what each is")]
pub enum Construction {
    Linear,
    Oblivious,
    Adaptive,
    MinimumFirst,
    MaximumFirst,
    Graceful,
    ModelGraceful,
    Paths,
    TwoLevel,
    Deadline,
    Binary,
    Optimal,
    Direct,
    TwoBlock,
    Doubling,
    Greedy,
    Sorted,
    Searched,
    Knomial,
    Hybrid,
    Exact,
    Ring,
    RecursiveDoubling,
    Bruck,
    Circulant,
    CirculantPieces,
}

impl Construction {
    /// Whether it builds trees, for operations with a root; else it has schedules of an allgather.
    pub fn builds_trees(self) -> bool {
        use Construction::{Bruck, Circulant, CirculantPieces, RecursiveDoubling, Ring};
        !matches!(self, Ring | RecursiveDoubling | Bruck | Circulant | CirculantPieces)
    }
}
