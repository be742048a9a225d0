//! Arguments that several commands share.

use clap::builder::{PossibleValuesParser, TypedValueParser};
use tuwtree_executor::play::Mode;
use tuwtree_executor::sys::Element;
use tuwtree_model::Operation;

/// The parser of a closed set's names.
fn named<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(move |&one| name(one))).map(move |given| {
        *all.iter().find(|&&one| name(one) == given).expect("only these names are let through")
    })
}

pub(crate) fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    named(&Mode::ALL, Mode::name)
}

pub(crate) fn element_parser() -> impl TypedValueParser<Value = Element> {
    named(&Element::ALL, Element::name)
}

pub(crate) fn operation_parser() -> impl TypedValueParser<Value = Operation> {
    named(&Operation::ALL, Operation::name)
}
