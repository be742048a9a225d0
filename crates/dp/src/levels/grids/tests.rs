//! The ranges of grids against the exact tables.

use super::{GridReach, near_optimal};
use crate::levels::tests::rooted;
use crate::levels::{Class, optimal};
use crate::tests::random::{Random, problems};
use tuwtree_model::{Root, check_ordered, completion_time};

/// Reach without limit: everything is looked at.
const ALL: GridReach = GridReach { reach: f64::INFINITY, refinements: 0, leaders_only: false };

/// Whether two times are the same but for rounding.
fn agree(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.max(other)
}

#[test]
fn with_unlimited_reach_trees_are_the_best_for_every_root() {
    let mut random = Random(21);
    for (most, count) in problems(&[(14, 400), (40, 40)]) {
        for _ in 0..count {
            let ranks = 1 + random.below(most as u64) as usize;
            let (levels, laws) = (random.levels(), random.laws());
            let problem = random.problem(ranks, levels, laws);
            for root in (0..ranks).map(Root::Given).chain([Root::Best]) {
                let problem = rooted(&problem, root);
                let best = optimal(&problem, Class::CopyFirst, &()).unwrap().value;
                let found = near_optimal(&problem, ALL, &()).unwrap().value;
                assert!(agree(found, best), "{found} {best} {problem:?}");
            }
        }
    }
}

#[test]
fn trees_of_any_reach_are_ordered_never_below_the_best_and_never_worse_when_refined() {
    let mut random = Random(22);
    let (mut attained, mut all) = (0, 0);
    for (most, count) in problems(&[(60, 200)]) {
        for _ in 0..count {
            let ranks = 1 + random.below(most as u64) as usize;
            let (levels, laws) = (random.levels(), random.laws());
            let problem = random.problem(ranks, levels, laws);
            let root = Root::Given(random.below(ranks as u64) as usize);
            for root in [root, Root::Best] {
                let problem = rooted(&problem, root);
                let best = optimal(&problem, Class::CopyFirst, &()).unwrap().value;
                let mut before = f64::INFINITY;
                for refinements in 0..4 {
                    let grid = GridReach { reach: 3.0, refinements, leaders_only: false };
                    let found = near_optimal(&problem, grid, &()).unwrap();
                    assert_eq!(check_ordered(&found.tree), Ok(()));
                    assert!(root.given().is_none_or(|root| root == found.tree.root()));
                    let time = completion_time(&found.tree, &problem).unwrap().units();
                    assert_eq!(found.value, time);
                    assert!(time >= best * (1.0 - 1e-9), "{time} {best} {problem:?}");
                    assert!(time <= before, "{time} {before} {problem:?}");
                    before = time;
                }
                all += 1;
                attained += usize::from(agree(before, best));
            }
        }
    }
    assert!(2 * attained > all, "{attained} of {all}");
}

#[test]
fn where_leaders_only_talk_to_other_nodes_trees_are_ordered_with_any_root() {
    let mut random = Random(23);
    for (most, count) in problems(&[(60, 200)]) {
        for _ in 0..count {
            let ranks = 1 + random.below(most as u64) as usize;
            let (levels, laws) = (random.levels(), random.laws());
            let problem = random.problem(ranks, levels, laws);
            for root in (0..ranks).map(Root::Given).step_by(7).chain([Root::Best]) {
                let problem = rooted(&problem, root);
                let best = optimal(&problem, Class::CopyFirst, &()).unwrap().value;
                let grid = GridReach { reach: 3.0, refinements: 1, leaders_only: true };
                let found = near_optimal(&problem, grid, &()).unwrap();
                assert_eq!(check_ordered(&found.tree), Ok(()));
                assert!(root.given().is_none_or(|root| root == found.tree.root()));
                assert!(found.value >= best * (1.0 - 1e-9), "{problem:?}");
            }
        }
    }
}
