//! Alltoalls in which few ranks receive or send, as operations of their own on the command line.

use crate::args::{one_of, operation_value};
use crate::error::CliError;
use clap::builder::{PossibleValue, TypedValueParser};
use tuwtree_model::{ClosedSet, MessageSizes, Operation, Payload, Rank};

/// Side of an alltoall that has few ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Few {
    /// Receivers.
    Receive,
    /// Senders.
    Send,
}

/// Value of `--op`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatedOperation {
    pub(super) operation: Operation,
    few: Option<Few>,
}

/// Parses the name of an operation, ours or one of MPI's, or of an alltoall with few receivers or senders.
pub(super) fn stated_operation_parser() -> impl TypedValueParser<Value = StatedOperation> {
    let few = [Few::Receive, Few::Send].map(Some);
    let few = few.map(|few| StatedOperation { operation: Operation::Alltoall, few });
    let all = Operation::ALL.iter().map(|&operation| StatedOperation { operation, few: None });
    one_of(all.chain(few).collect(), |StatedOperation { operation, few }| match few {
        None => operation_value(operation).aliases(operation.other_names()),
        Some(few) => PossibleValue::new(few.name()).hide(true),
    })
}

impl Few {
    fn name(self) -> &'static str {
        match self {
            Few::Receive => "all-to-few",
            Few::Send => "few-to-all",
        }
    }
}

impl StatedOperation {
    /// The payload of the operation, in which only the roots receive or send: blocks become messages of their senders to all
    /// roots, or to their receivers from all roots.
    ///
    /// # Errors
    /// [`CliError::Usage`]: roots of another operation, none, out of range, or named twice; other data than blocks and messages.
    pub(super) fn few(self, roots: &[Rank], payload: Payload) -> Result<Payload, CliError> {
        let usage = |text: String| Err(CliError::Usage(text));
        let Some(few) = self.few else {
            return match roots {
                [] => Ok(payload),
                _ => usage("--roots is for --op all-to-few and few-to-all".to_owned()),
            };
        };
        let (name, p) = (few.name(), payload.ranks());
        let mut is_root = vec![false; p];
        for &root in roots {
            match is_root.get_mut(root) {
                None => return usage(format!("--roots: {root}; 0 to {} is allowed", p - 1)),
                Some(true) => return usage(format!("--roots: {root} is named twice")),
                Some(is_root) => *is_root = true,
            }
        }
        if roots.is_empty() {
            return usage(format!("--op {name} needs --roots, such as --roots 0,1"));
        }
        let pairs = || (0..p).flat_map(|from| (0..p).map(move |to| (from, to)));
        let has = |(from, to): (Rank, Rank)| is_root[if few == Few::Send { from } else { to }];
        let sizes = match &payload {
            Payload::Blocks(blocks) => MessageSizes::new(pairs().map(|(from, to)| {
                let block = blocks.block(if few == Few::Send { to } else { from });
                if has((from, to)) { block } else { 0 }
            })),
            Payload::Messages(sizes) => MessageSizes::new(
                pairs().map(|(from, to)| if has((from, to)) { sizes.message(from, to) } else { 0 }),
            ),
            Payload::Vector(_) | Payload::Groups(_) => {
                return usage(format!("--op {name} needs --dist, --bytes, --sizes or --matrix"));
            }
        };
        sizes.map(Payload::from).map_err(|error| CliError::Usage(format!("--op {name}: {error}")))
    }
}
