//! Lists with an entry for each rank, read one by one: a list that is too long is refused as soon
//! as it is, before it takes more memory.

use crate::{MOST_RANKS, Rank, Step};
use serde::de::{DeserializeSeed, Error, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;
use std::marker::PhantomData;

/// Numbers, at most one for each of [`MOST_RANKS`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct NumberList(pub Vec<u64>);

impl<'de> Deserialize<'de> for NumberList {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<NumberList, D::Error> {
        let ShortList(numbers) = ShortList::<u64, MOST_RANKS>::deserialize(deserializer)?;
        Ok(NumberList(numbers))
    }
}

/// Entries of a list, at most `MOST`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct ShortList<T, const MOST: usize>(pub Vec<T>);

impl<'de, T: Deserialize<'de>, const MOST: usize> Deserialize<'de> for ShortList<T, MOST> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T, const MOST: usize>(PhantomData<T>);

        impl<'de, T: Deserialize<'de>, const MOST: usize> Visitor<'de> for Entries<T, MOST> {
            type Value = ShortList<T, MOST>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = list.next_element()? {
                    check_room::<A::Error>(entries.len(), MOST)?;
                    entries.push(entry);
                }
                Ok(ShortList(entries))
            }
        }

        deserializer.deserialize_seq(Entries(PhantomData))
    }
}

impl<T, const MOST: usize> FromIterator<T> for ShortList<T, MOST> {
    fn from_iter<I: IntoIterator<Item = T>>(entries: I) -> Self {
        ShortList(entries.into_iter().collect())
    }
}

/// The subtrees of all ranks, as steps: a list for each, in which its own rank stands for the copy.
pub(super) struct SubtreeLists {
    pub(super) ranks: usize,
    pub(super) steps: Vec<(Rank, Step)>,
}

impl<'de> Deserialize<'de> for SubtreeLists {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SubtreeLists, D::Error> {
        struct Lists;

        impl<'de> Visitor<'de> for Lists {
            type Value = SubtreeLists;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a list of subtrees for each rank")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut lists: A) -> Result<SubtreeLists, A::Error> {
                let mut read = SubtreeLists { ranks: 0, steps: Vec::new() };
                while lists.next_element_seed(OneRank(&mut read))?.is_some() {}
                Ok(read)
            }
        }

        deserializer.deserialize_seq(Lists)
    }
}

/// Reads the subtrees of the rank that comes next.
struct OneRank<'a>(&'a mut SubtreeLists);

impl<'de> DeserializeSeed<'de> for OneRank<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for OneRank<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "a list of the subtrees of rank {}", self.0.ranks)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut subtrees: A) -> Result<(), A::Error> {
        let OneRank(read) = self;
        let rank = read.ranks;
        check_room::<A::Error>(rank, MOST_RANKS)?;
        while let Some(subtree) = subtrees.next_element::<u32>()? {
            // Each rank stands at its parent, and once more where it copies.
            if read.steps.len() >= 2 * MOST_RANKS {
                return Err(A::Error::custom(format!(
                    "more than {} subtrees and copies",
                    2 * MOST_RANKS
                )));
            }
            let step = match subtree as Rank {
                own if own == rank => Step::Copy,
                child => Step::Receive(child),
            };
            read.steps.push((rank, step));
        }
        read.ranks += 1;
        Ok(())
    }
}

/// Fails unless one more entry is allowed after this many.
fn check_room<E: Error>(entries: usize, most: usize) -> Result<(), E> {
    match entries < most {
        true => Ok(()),
        false => Err(E::custom(format!("a list of more than {most} entries"))),
    }
}
