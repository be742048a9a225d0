//! The actions of a document: each an object, read into programs one by one.

use crate::action::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
use crate::program::Programs;
use serde::de::{DeserializeSeed, Error as _, SeqAccess, Visitor};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use tuwtree_model::document::Object;
use tuwtree_model::{MOST_RANKS, Rank};

/// A rank's actions.
pub(super) struct ActionList<'a>(pub(super) &'a Programs, pub(super) Rank);

impl Serialize for ActionList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let ActionList(programs, rank) = *self;
        let actions = programs.actions(rank);
        let mut list = serializer.serialize_seq(Some(actions.len()))?;
        for action in actions {
            list.serialize_element(&ActionFields::from(&action))?;
        }
        list.end()
    }
}

/// An action as it stands in a file: a message with `send`, `receive` or both, a copy with neither.
/// Fields that are 0 may be left out.
#[derive(Serialize, Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct ActionFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    send: Option<u32>,
    #[serde(skip_serializing_if = "is_zero")]
    send_tag: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<RegionFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    receive: Option<u32>,
    #[serde(skip_serializing_if = "is_zero")]
    receive_tag: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    into: Option<RegionFields>,
    #[serde(skip_serializing_if = "Option::is_none")]
    combine: Option<OperandSide>,
    #[serde(skip_serializing_if = "is_zero")]
    port: u16,
}

/// Side of the received or copied operand.
#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum OperandSide {
    Left,
    Right,
}

/// A region: a list of the buffer's name, then offset and bytes of each piece.
struct RegionFields {
    buffer: Buffer,
    pieces: Vec<Piece>,
}

fn is_zero<T: PartialEq + Default>(value: &T) -> bool {
    *value == T::default()
}

impl RegionFields {
    fn region(&self) -> Region<'_> {
        Region { buffer: self.buffer, pieces: &self.pieces }
    }
}

impl From<Region<'_>> for RegionFields {
    fn from(region: Region<'_>) -> RegionFields {
        RegionFields { buffer: region.buffer, pieces: region.pieces.to_vec() }
    }
}

impl Serialize for RegionFields {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(1 + 2 * self.pieces.len()))?;
        list.serialize_element(&self.buffer)?;
        for piece in &self.pieces {
            list.serialize_element(&piece.offset)?;
            list.serialize_element(&piece.bytes)?;
        }
        list.end()
    }
}

impl<'de> Deserialize<'de> for RegionFields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<RegionFields, D::Error> {
        struct PlaceVisitor;

        impl<'de> Visitor<'de> for PlaceVisitor {
            type Value = RegionFields;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of a buffer, then offset and bytes of each piece")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<RegionFields, A::Error> {
                let buffer =
                    list.next_element()?.ok_or_else(|| A::Error::invalid_length(0, &self))?;
                let mut pieces = Vec::with_capacity(1);
                while let Some(offset) = list.next_element()? {
                    let count = 2 * pieces.len() + 2;
                    let bytes = list
                        .next_element()?
                        .ok_or_else(|| A::Error::invalid_length(count, &self))?;
                    pieces.push(Piece { offset, bytes });
                }
                Ok(RegionFields { buffer, pieces })
            }
        }

        deserializer.deserialize_seq(PlaceVisitor)
    }
}

impl From<&Action<'_>> for ActionFields {
    fn from(action: &Action<'_>) -> ActionFields {
        ActionFields {
            send: action.send().map(|send| send.to as u32),
            send_tag: action.send().map_or(0, |send| send.tag),
            from: action.reads().map(RegionFields::from),
            receive: action.receive().map(|receive| receive.from as u32),
            receive_tag: action.receive().map_or(0, |receive| receive.tag),
            into: action.writes().map(RegionFields::from),
            combine: match action.arrival() {
                Arrival::Store => None,
                Arrival::CombineLeft => Some(OperandSide::Left),
                Arrival::CombineRight => Some(OperandSide::Right),
            },
            port: action.port,
        }
    }
}

/// Fields that belong to a message, in an action without such a message, and the like.
const SHAPES: &str = "an action has \"send\" and \"from\", or \"receive\" and \"into\", or all four, \
                      or to copy, \"from\" and \"into\" only; \"send_tag\" goes with \"send\", \
                      \"receive_tag\" with \"receive\", \"combine\" with \"into\"";

impl ActionFields {
    /// Adds the action to the programs.
    fn push_to(&self, programs: &mut Programs) -> Result<(), String> {
        let stray_tag = (self.send.is_none() && self.send_tag > 0)
            || (self.receive.is_none() && self.receive_tag > 0)
            || (self.into.is_none() && self.combine.is_some());
        if stray_tag {
            return Err(SHAPES.into());
        }
        let send = |to: u32, from| Send { to: to as Rank, tag: self.send_tag, from };
        let arrival = match self.combine {
            None => Arrival::Store,
            Some(OperandSide::Left) => Arrival::CombineLeft,
            Some(OperandSide::Right) => Arrival::CombineRight,
        };
        let receive =
            |from: u32, into| Receive { from: from as Rank, tag: self.receive_tag, into, arrival };
        let from = self.from.as_ref().map(RegionFields::region);
        let into = self.into.as_ref().map(RegionFields::region);
        let deed = match (self.send, from, self.receive, into) {
            (None, Some(from), None, Some(into)) => Deed::Copy { from, into, arrival },
            (Some(to), Some(from), None, None) => Deed::Send(send(to, from)),
            (None, None, Some(from), Some(into)) => Deed::Receive(receive(from, into)),
            (Some(to), Some(from), Some(source), Some(into)) => {
                Deed::Exchange(send(to, from), receive(source, into))
            }
            _ => return Err(SHAPES.into()),
        };
        programs.push(&Action { port: self.port, deed }).map_err(|error| error.to_string())
    }
}

/// All ranks' actions, read into programs one by one.
pub(super) struct ActionLists(pub(super) Programs);

impl<'de> Deserialize<'de> for ActionLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ActionLists, D::Error> {
        struct ListsVisitor;

        impl<'de> Visitor<'de> for ListsVisitor {
            type Value = ActionLists;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of actions for each rank")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> Result<ActionLists, A::Error> {
                let mut programs = Programs::new();
                while lists.next_element_seed(OneRank(&mut programs))?.is_some() {
                    if programs.ranks() > MOST_RANKS {
                        return Err(A::Error::custom(format!(
                            "actions for more than {MOST_RANKS} processes"
                        )));
                    }
                }
                Ok(ActionLists(programs))
            }
        }

        deserializer.deserialize_seq(ListsVisitor)
    }
}

/// Reads the actions of the rank that comes next.
struct OneRank<'a>(&'a mut Programs);

impl<'de> DeserializeSeed<'de> for OneRank<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for OneRank<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of the actions of rank {}", self.0.ranks())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut actions: A) -> Result<(), A::Error> {
        let OneRank(programs) = self;
        let mut index = 0;
        while let Some(Object(fields)) = actions.next_element::<Object<ActionFields>>()? {
            fields.push_to(programs).map_err(|fault| {
                let rank = programs.ranks();
                A::Error::custom(format!("rank {rank}, action {index}: {fault}"))
            })?;
            index += 1;
        }
        programs.end_rank();
        Ok(())
    }
}
