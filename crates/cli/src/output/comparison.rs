//! A comparison for programs: a document, or a row for each construction.

use crate::output::format::insert_after;
use crate::output::text;
use serde_json::{Value, json};
use tuwtree_bounds::direct_lower_bound;
use tuwtree_model::{ClosedSet, GroupSizes, Root, Tree};
use tuwtree_plan::{
    Advice, Baseline, Comparison, Optimality, Outcome, Plan, Price, Search, Skipped,
};

/// The comparison as a document.
pub(crate) fn document(comparison: &Comparison) -> Value {
    let (payload, costs) = (comparison.problem.payload(), comparison.problem.stated_costs());
    let vector = comparison.problem.vector();
    let skipped: Vec<_> = comparison
        .skipped
        .iter()
        .map(|Skipped { construction, reason }| {
            json!({ "construction": construction.name(), "reason": reason })
        })
        .collect();
    let mut document = json!({
        "format": "tuwtree-comparison",
        "version": 3,
        "operation": comparison.problem.operation().name(),
        "ranks": payload.ranks(),
        "ports": comparison.problem.ports().get(),
        "total_bytes": vector.is_none().then(|| payload.total()),
        "vector_bytes": vector.map(|vector| vector.bytes),
        "root": match comparison.problem.root() {
            Root::Given(root) => json!(root),
            Root::Best => json!("best"),
            Root::None => Value::Null,
        },
        "machine": costs.machine_name(),
        "lower_bound": text::json_time(comparison.bound),
        "constructions": constructions(comparison),
        "skipped": skipped,
        "recommended": comparison.recommended().construction.name(),
        "recommended_method": comparison.recommended().built.search.map(Search::name),
        "baselines": comparison.baselines.iter().copied().map(baseline).collect::<Vec<_>>(),
        "baseline": comparison.baseline().map(|baseline| baseline.library.name()),
    });
    insert_after(&mut document, "root", text::json_parameters(costs));
    let (operation, operator) = (comparison.problem.operation(), comparison.problem.operator());
    insert_after(&mut document, "gamma_per_byte", text::json_operator(operation, operator));
    let groups = comparison.problem.groups().map(GroupSizes::groups);
    let groups = groups.map(|groups| ("groups", json!(groups.map(|group| group.ranks))));
    insert_after(&mut document, "ranks", groups);
    let uncertainty = comparison.problem.stated_costs().network().uncertainty;
    let uncertainty = uncertainty.map(|factor| ("uncertainty", json!(factor)));
    insert_after(&mut document, "machine", uncertainty);
    let duplex = comparison.problem.duplex().then_some(("duplex", json!(true)));
    insert_after(&mut document, "ports", duplex);
    insert_after(&mut document, "baseline", price(&Advice::new(comparison)));
    let direct = direct_lower_bound(&comparison.problem).and_then(Result::ok);
    let direct = direct.map(|bound| ("direct_lower_bound", text::json_time(bound)));
    insert_after(&mut document, "lower_bound", direct);
    document
}

/// Price of the advised plan as a field of a document.
pub(crate) fn price(advice: &Advice<'_>) -> Option<(&'static str, Value)> {
    let Price { time, calls } = advice.price()?;
    Some(("price", json!({ "time": text::json_time(time), "calls": calls })))
}

/// Time of a library's own call.
pub(crate) fn baseline(baseline: Baseline) -> Value {
    let Baseline { library, root, time } = baseline;
    json!({
        "library": library.name(),
        "versions": library.title(),
        "algorithm": library.summary(),
        "known": library.knowledge().name(),
        "root": root,
        "completion_time": text::json_time(time),
    })
}

/// Adds the planner's time, where it is not the completion time.
pub(crate) fn add_planned(document: &mut Value, outcome: &Outcome, comparison: &Comparison) {
    if comparison.problem.costs().overlaps() {
        document["planned_completion_time"] = text::json_time(outcome.planned);
    }
}

/// Properties of each construction.
fn constructions(comparison: &Comparison) -> Vec<Value> {
    comparison
        .outcomes
        .iter()
        .map(|outcome| {
            let tree = outcome.tree().ok();
            let time = outcome.time();
            let mut document = json!({
                "construction": outcome.construction.name(),
                "root": outcome.plan().root(),
                "completion_time": text::json_time(time),
                "gap_percent": comparison.gap_percent(time),
                "gap_alphas": comparison.gap_alphas(time),
                "optimal_among": comparison.optimality(outcome).map(Optimality::name),
                "above_ordered_percent": comparison.above_ordered_percent(outcome),
                "order": outcome.order.name(),
                "completion_time_with_unpacking": text::json_time(outcome.unpacked),
                "root_degree": tree.map(|tree| tree.degree(tree.root())),
                "depth": tree.map(Tree::depth),
                "rank_order": comparison.keeps_rank_order(outcome),
                "method": outcome.built.search.map(|method| method.name()),
                "certificate": outcome.certificate.as_ref().and_then(|one| one.as_ref().ok()),
                "not_certified_because":
                    outcome.certificate.as_ref().and_then(|one| one.as_ref().err()),
            });
            add_planned(&mut document, outcome, comparison);
            if let Plan::Programs(schedule) = outcome.plan() {
                let name = match comparison.problem.duplex() {
                    true => "completion_time_as_exchanges",
                    false => "completion_time_duplex",
                };
                document[name] = outcome.otherwise.map(text::json_time).into();
                document["rounds"] = schedule.most_actions().into();
                document["most_bytes_sent"] = schedule.most_bytes_sent().into();
                document["pieces"] = outcome.built.pieces.into();
                if let Some(radix) = outcome.built.radix {
                    document["radix"] = radix.into();
                    document["threshold_bytes"] = outcome.built.threshold.into();
                }
                if let Some(delay) = outcome.built.delay {
                    document["delay"] = delay.into();
                }
            }
            document
        })
        .collect()
}

/// A row for each construction, with the bound and which of them is recommended.
pub(crate) fn rows(comparison: &Comparison) -> Vec<Value> {
    let mut rows = constructions(comparison);
    for (row, outcome) in rows.iter_mut().zip(&comparison.outcomes) {
        row["lower_bound"] = text::json_time(comparison.bound);
        row["recommended"] = std::ptr::eq(outcome, comparison.recommended()).into();
    }
    rows
}
