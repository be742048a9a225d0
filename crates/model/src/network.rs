//! How a network serves several messages at once: what the judge knows beyond the planner's costs.

use std::collections::BTreeMap;

/// How a port serves messages that are under way at the same time.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Default,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum PortKind {
    /// All of them share its wire equally.
    #[default]
    Fair,
    /// One after the other, in the order in which they come.
    FirstInFirstOut,
}

/// Who has a wire of its own.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    Default,
    strum::VariantArray,
    strum::IntoStaticStr,
    strum::EnumString,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum WireOwner {
    /// Each rank.
    #[default]
    Rank,
    /// Each node: its ranks share one wire to the others. Messages within a node have a wire for each
    /// rank.
    Node,
}

/// What is known of a network beside the costs of its links.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Network {
    /// How a port serves several messages.
    pub port: PortKind,
    /// The size in bytes up to which messages from a port that is fair, or to it, take turns all the same: the packets of a
    /// small message leave together, before those of the next. All such messages are to the larger ones
    /// like one. `None`: all messages share.
    pub fair_beyond: Option<u64>,
    /// Who has a wire of its own.
    pub wire: WireOwner,
    /// The size in bytes up to which messages travel at once; larger ones wait for their receive to be
    /// posted, and cost the receiver's processor nothing. `None`: all travel at once.
    pub eager_limit: Option<u64>,
    /// How long a rank is occupied by each message that it begins to send, in the time unit of the costs.
    /// `None`: as long as the overhead of the link.
    pub send_overhead: Option<f64>,
    /// How many bytes may be under way to a rank at once before switches with small buffers lose some; `None`: as
    /// many as come. The judge does not ask for it.
    pub window: Option<u64>,
    /// How things were measured, by the name of the thing.
    pub measured: BTreeMap<String, String>,
}

impl Network {
    /// Whether a port serves messages of this size one after the other.
    pub fn takes_turns(&self, bytes: u64) -> bool {
        let is_small = self.fair_beyond.is_some_and(|limit| bytes <= limit);
        self.port == PortKind::FirstInFirstOut || is_small
    }

    /// Whether a message of this size travels before its receive is posted.
    pub fn is_eager(&self, bytes: u64) -> bool {
        self.eager_limit.is_none_or(|limit| bytes <= limit)
    }
}
