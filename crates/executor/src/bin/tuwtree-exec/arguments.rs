//! Arguments that several commands share.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tuwtree_executor::play::Mode;
use tuwtree_executor::sys::Element;
use tuwtree_model::{ClosedSet, Operation};

/// The parser of a closed set's names.
fn named<T: ClosedSet + Send + Sync>() -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(T::all().map(T::name)).map(|given| {
        T::all().find(|one| one.name() == given).expect("only these names are let through")
    })
}

pub(crate) fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    named()
}

pub(crate) fn element_parser() -> impl TypedValueParser<Value = Element> {
    named()
}

pub(crate) fn operation_parser() -> impl TypedValueParser<Value = Operation> {
    named()
}

/// The parser of gather and scatter.
pub(crate) fn irregular_operation_parser() -> impl TypedValueParser<Value = Operation> {
    let value = |one: Operation| {
        let what = match one.is_outward() {
            true => "distribute the root's blocks",
            false => "collect all blocks",
        };
        PossibleValue::new(one.name()).help(what)
    };
    PossibleValuesParser::new(Operation::irregular().map(value)).map(|given| {
        let known = Operation::irregular().find(|one| one.name() == given);
        known.expect("only these names are let through")
    })
}
