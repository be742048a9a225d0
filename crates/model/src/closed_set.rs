//! Closed sets: enums whose members users can name.

use std::str::FromStr;

/// A closed set: an enum without fields whose members have names, all of them derived from the enum
/// itself by `strum::VariantArray`, `strum::IntoStaticStr` and `strum::EnumString`.
///
/// A derive keeps the list of members: a new variant is in [`ALL`](Self::ALL), has a
/// [`name`](Self::name) and is parsed.
///
/// # Example
/// ```
/// use tuwtree_model::{ClosedSet, Operation};
/// assert_eq!(Operation::ALL.len(), 9);
/// assert_eq!(Operation::Reduce.name(), "reduce");
/// assert_eq!("reduce".parse(), Ok(Operation::Reduce));
/// ```
pub trait ClosedSet:
    Copy + PartialEq + strum::VariantArray + Into<&'static str> + FromStr + 'static
{
    /// All members, in the order in which users see them.
    const ALL: &'static [Self] = Self::VARIANTS;

    /// All members, one by one.
    fn all() -> std::iter::Copied<std::slice::Iter<'static, Self>> {
        Self::ALL.iter().copied()
    }

    /// The member's name in options, documents and tests.
    fn name(self) -> &'static str {
        self.into()
    }

    /// The names of all members, for messages: `a, b, c`.
    fn names() -> String {
        Self::all().map(Self::name).collect::<Vec<_>>().join(", ")
    }
}

impl<T> ClosedSet for T where
    T: Copy + PartialEq + strum::VariantArray + Into<&'static str> + FromStr + 'static
{
}
