//! Constructions that are built without search.

use super::{CatalogueRow, rootless};
use crate::error::NoTree;
use crate::expense::Expense;
use crate::request::{Built, Request, Wanted};
use tuwtree_model::{ClosedSet, Operation, Order, PayloadKind, Ports, Tree};
use tuwtree_treegen::{
    ConstructionError, Filling, adaptive, doubling, graceful, greedy, hybrid, knomial, linear,
    model_binomial, model_graceful, oblivious, paths, two_block,
};

pub(super) const LINEAR: CatalogueRow = CatalogueRow {
    floor: rootless::floor_of_linear,
    is_online: true,
    ..CatalogueRow::plain(
        "star: the root receives from all others; without a root, everybody from everybody in turn",
        |request, _| {
            let operation = request.problem.operation();
            let has_messages = operation.payload_kind() == PayloadKind::Messages;
            operation.is_rooted() || has_messages || request.problem.costs().overlaps()
        },
        |request, wanted| match request.problem.operation().is_rooted() {
            true => done(wanted, linear(request.problem)),
            false => rootless::linear(request, wanted),
        },
    )
};

pub(super) const OBLIVIOUS: CatalogueRow = CatalogueRow {
    is_online: true,
    ..CatalogueRow::plain(
        "rank-ordered binomial tree, whatever the blocks",
        |_, _| true,
        |request, wanted| done(wanted, oblivious(request.problem)),
    )
};

pub(super) const ADAPTIVE: CatalogueRow = CatalogueRow {
    is_online: true,
    is_for_one_port: true,
    ..CatalogueRow::plain(
        "binomial tree in which the larger side receives",
        |_, _| true,
        |request, wanted| done(wanted, adaptive(request.problem, request.settings.adaptive_rule)),
    )
};

pub(super) const GIVEN: CatalogueRow = CatalogueRow::plain(
    "the tree of --tree",
    |_, _| false,
    |request, wanted| match request.given {
        Some(tree) => Ok(Built::without_search(tree.clone())),
        None => Err(wanted.effort.refused("given is the tree of --tree, which names no file")),
    },
);

pub(super) const MINIMUM_FIRST: CatalogueRow = CatalogueRow::plain(
    "binomial tree, places filled with the nearest first; not in rank order",
    where_costs_differ,
    |request, wanted| filled(request, wanted, Filling::MinimumFirst),
);

pub(super) const MAXIMUM_FIRST: CatalogueRow = CatalogueRow::plain(
    "binomial tree, places filled with the farthest first; not in rank order",
    where_costs_differ,
    |request, wanted| filled(request, wanted, Filling::MaximumFirst),
);

/// A binomial tree filled by predicted times.
fn filled(request: &Request<'_>, wanted: Wanted, filling: Filling) -> Result<Built, NoTree> {
    if request.problem.root().given().is_some() {
        check_looks(request, wanted, "filling it")?;
    }
    done(wanted, model_binomial(request.problem, filling))
}

/// Fails if too much time is needed by what looks at all ranks that are left for each place.
fn check_looks(request: &Request<'_>, wanted: Wanted, what: &str) -> Result<(), NoTree> {
    let ranks = request.problem.ranks() as f64;
    let expense = Expense {
        what: what.into(),
        bytes: 0,
        seconds: ranks * ranks * SECONDS_A_LOOK,
        limit_seconds: LIMIT_OF_LOOKS_SECONDS,
    };
    expense.check(wanted.effort, request.watch, |_| String::new())
}

/// About how long a predicted time takes.
const SECONDS_A_LOOK: f64 = 2e-8;

/// The most that looking may take if it was not asked for by name: trees that are sooner built are better.
const LIMIT_OF_LOOKS_SECONDS: f64 = 1.0;

pub(super) const GRACEFUL: CatalogueRow = CatalogueRow::plain(
    "sets of growing weight, largest block first (Träff 2004); not in rank order",
    where_costs_differ,
    |request, wanted| match request.problem.vector() {
        Some(_) => {
            let reason = "its sets are of growing weight, and all vectors weigh the same";
            Err(wanted.effort.refused(reason))
        }
        None => done(wanted, graceful(request.problem)),
    },
);

pub(super) const MODEL_GRACEFUL: CatalogueRow = CatalogueRow::plain(
    "sets of growing message times, slowest first; not in rank order",
    where_costs_differ,
    |request, wanted| done(wanted, model_graceful(request.problem)),
);

pub(super) const PATHS: CatalogueRow = CatalogueRow::plain(
    "each rank along its fastest path of links, where pairs have none; not in rank order",
    |request, order| order == Order::Any && request.problem.costs().lacks_links(),
    |request, wanted| done(wanted, paths(request.problem)),
);

pub(super) const TWO_BLOCK: CatalogueRow = CatalogueRow {
    is_for_cheap_copies: true,
    ..CatalogueRow::plain(
        "small and large blocks apart, for at most two block sizes; not in rank order",
        |request, order| order == Order::Any && two_block(request.problem).is_ok(),
        |request, wanted| done(wanted, two_block(request.problem)),
    )
};

pub(super) const DOUBLING: CatalogueRow = CatalogueRow {
    is_for_cheap_copies: true,
    is_for_one_port: true,
    ..CatalogueRow::plain(
        "the largest blocks, 1, 1, 2, 4, ... at a time, no search; not in rank order",
        unordered_blocks,
        |request, wanted| done(wanted, doubling(request.problem)),
    )
};

pub(super) const GREEDY: CatalogueRow = CatalogueRow {
    is_for_cheap_copies: true,
    is_for_one_port: true,
    ..CatalogueRow::plain(
        "the largest blocks, as many at a time as are ready; not in rank order",
        unordered_blocks,
        |request, wanted| {
            if request.costs_differ() {
                check_looks(request, wanted, "looking for who is ready")?;
            }
            done(wanted, greedy(request.problem))
        },
    )
};

pub(super) const KNOMIAL: CatalogueRow = CatalogueRow::plain(
    "(k + 1)-nomial tree for --ports k, in which the last to be ready or the largest receives",
    |request, _| request.problem.ports() != Ports::ONE,
    |request, wanted| done(wanted, knomial(request.problem)),
);

pub(super) const HYBRID: CatalogueRow = CatalogueRow::plain(
    "large blocks alone, the others in growing groups, for several --ports; not in rank order",
    |request, order| request.problem.ports() != Ports::ONE && order == Order::Any,
    |request, wanted| done(wanted, hybrid(request.problem)),
);

/// Made for costs that differ.
fn where_costs_differ(request: &Request<'_>, order: Order) -> bool {
    // Blocks have an order to keep, one vector has none.
    let may_give_up_order = order == Order::Any || request.problem.blocks().is_none();
    request.costs_differ() && may_give_up_order
}

/// For blocks, where rank order need not be kept.
pub(super) fn unordered_blocks(request: &Request<'_>, order: Order) -> bool {
    request.problem.blocks().is_some() && order == Order::Any
}

/// Result of a construction.
fn done(wanted: Wanted, tree: Result<Tree, ConstructionError>) -> Result<Built, NoTree> {
    tree.map(Built::without_search).map_err(|error| match error {
        ConstructionError::NeedsBlocks { operation } => {
            wanted.effort.refused(needs_blocks(wanted, operation))
        }
        error => wanted.effort.unbuilt(error),
    })
}

/// Reason for a construction made of blocks to have no tree for a vector.
pub(super) fn needs_blocks(wanted: Wanted, operation: Operation) -> String {
    format!(
        "{} trees are for the blocks of a gather or scatter, and a {} has none",
        wanted.construction.name(),
        operation.name()
    )
}
