//! What takes minutes: `./test --all` runs it, and prints the tables.

use super::experiment::{agree, is_never_slower};
use super::platform::{CLUSTER, FAT_TREE, NODES, Overheads, TORUS};
use super::problems::{fifty, hold_out};

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_a_cluster_of_64_without_overheads() {
    agree(&CLUSTER, Overheads::Unset, &fifty(64));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_a_cluster_of_256() {
    agree(&CLUSTER, Overheads::Given, &fifty(256));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_a_cluster_of_256_without_overheads() {
    agree(&CLUSTER, Overheads::Unset, &fifty(256));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_a_cluster_of_64_with_overheads_of_its_latency() {
    agree(&CLUSTER, Overheads::Large, &fifty(64));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn gains_beyond_the_stated_uncertainty_are_gains_on_a_torus() {
    is_never_slower(&TORUS, Overheads::Given, &fifty(64));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_a_fat_tree() {
    agree(&FAT_TREE, Overheads::Given, &fifty(64));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_a_fat_tree_without_overheads() {
    agree(&FAT_TREE, Overheads::Unset, &fifty(64));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_nodes_of_one_link() {
    agree(&NODES, Overheads::Given, &fifty(128));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_with_nodes_of_one_link_without_overheads() {
    agree(&NODES, Overheads::Unset, &fifty(128));
}

#[test]
#[ignore = "needs SimGrid, minutes; ./test --all runs it"]
fn the_judge_agrees_on_problems_that_nothing_was_adjusted_to() {
    agree(&CLUSTER, Overheads::Given, &hold_out(100));
}
