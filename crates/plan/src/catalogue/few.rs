//! Alltoalls in which few ranks receive or send.

use super::{CatalogueRow, rootless};
use crate::error::NoTree;
use crate::request::{Built, Request, Wanted};
use tuwtree_collective::{ColumnTrees, alltoall};
use tuwtree_model::{CostModel, MessageSizes, Problem, Rank, Time};

pub(super) const COLUMN_TREES: CatalogueRow = CatalogueRow {
    suits: |request, _| roots(request.problem).is_some(),
    ..rootless::row(
        "few receivers or senders: rows of as many ranks exchange, and a tree for each collects or spreads, large messages straight",
        column_trees,
    )
};

/// The receivers if at most half of the ranks receive from others, or the senders likewise; true for senders.
fn roots(problem: &Problem) -> Option<(Vec<Rank>, bool)> {
    let sizes = problem.messages()?;
    let p = sizes.ranks();
    let few = |sends: bool| {
        let message = |root, other| match sends {
            true => sizes.message(root, other),
            false => sizes.message(other, root),
        };
        let is_root = |&root: &Rank| (0..p).any(|other| other != root && message(root, other) > 0);
        let roots: Vec<Rank> = (0..p).filter(is_root).collect();
        (!roots.is_empty() && 2 * roots.len() <= p).then_some((roots, sends))
    };
    few(false).or_else(|| few(true))
}

/// The fastest column trees by the judge with some radices, with all messages together or the large ones straight: one parameter
/// after the other is varied.
fn column_trees(request: &Request<'_>, wanted: Wanted) -> Result<Built, NoTree> {
    let problem = request.problem;
    let needs = "column-trees needs few receivers or senders, at most half of the ranks";
    let (roots, is_from_roots) =
        roots(problem).ok_or_else(|| wanted.effort.refused(needs.to_owned()))?;
    let sizes = problem.messages().expect("an alltoall");
    let rows = problem.ranks() / roots.len();
    let messages = (problem.ranks() * roots.len()) as u64;
    let mut best: Option<(Time, ColumnTrees, Built)> = None;
    let mut attempt = |trees: ColumnTrees, threshold: Option<u64>| -> Result<ColumnTrees, NoTree> {
        rootless::expense(wanted, messages, 2)
            .check(wanted.effort, request.watch, |_| String::new())?;
        let most = threshold.unwrap_or(u64::MAX);
        let schedule =
            alltoall::column_trees(problem, trees, &roots, most).map_err(NoTree::failed)?;
        let time = wanted.time_of(&schedule, problem)?;
        if best.as_ref().is_none_or(|(least, ..)| time < *least) {
            best = Some((
                time,
                trees,
                Built { threshold, time: Some(time), ..Built::without_search(schedule) },
            ));
        }
        Ok(best.as_ref().expect("one was tried").1)
    };
    let mut trees = ColumnTrees { row: 2, column: 2, is_from_roots };
    for threshold in [None].into_iter().chain(threshold(problem, sizes, roots[0]).map(Some)) {
        for column in radices(rows) {
            trees = attempt(ColumnTrees { column, ..trees }, threshold)?;
        }
        for row in radices(roots.len()).skip(1) {
            trees = attempt(ColumnTrees { row, ..trees }, threshold)?;
        }
    }
    Ok(best.expect("radix 2 was tried").2)
}

/// 2, 3, 4, then each about half as large again as the one before, up to `count`.
fn radices(count: usize) -> impl Iterator<Item = usize> {
    let all = std::iter::successors(Some(2_usize), |&radix| Some(radix + radix.div_ceil(2)));
    all.take_while(move |&radix| radix <= count.max(2)).chain((count > 2).then_some(count))
}

/// Least power of two of the bytes of a message that occupies ports twice as long as one of a byte, if some messages are larger,
/// and others not.
fn threshold(problem: &Problem, sizes: &MessageSizes, root: Rank) -> Option<u64> {
    let p = sizes.ranks();
    let other = (root + 1) % p;
    let occupied = |bytes| {
        problem.stated_costs().transmission_between(other, root, bytes).ok().map(Time::units)
    };
    let start = occupied(1)?;
    let least = (0..63).map(|power| 1_u64 << power);
    let least = least
        .take_while(|&bytes| bytes <= sizes.total())
        .find(|&bytes| occupied(bytes).is_some_and(|time| time >= 2.0 * start))?;
    let separates = |from: Rank, is_larger: bool| {
        (0..p).any(|to| {
            let bytes = sizes.message(from, to);
            from != to && bytes > 0 && (bytes > least) == is_larger
        })
    };
    let has = |is_larger| (0..p).any(|from| separates(from, is_larger));
    (has(true) && has(false)).then_some(least)
}
