//! Tree documents: what the schema says of them, the program says, too; and it judges them as it made
//! them.

use crate::program::{folder, tuwtree, tuwtree_with_input, workspace_file};
use serde_json::Value;
use tuwtree_model::{ClosedSet, Distribution};

const TREE: &str = "docs/tree.schema.json";

/// A schema of this repository.
pub(crate) fn schema(file: &str) -> jsonschema::Validator {
    let text = std::fs::read_to_string(workspace_file(file)).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

#[test]
fn the_schema_refuses_what_the_program_refuses() {
    let good =
        r#"{"format":"tuwtree-tree","version":1,"processors":2,"root":0,"subtrees":[[0,1],[]]}"#;
    let validator = schema(TREE);
    assert!(validator.is_valid(&serde_json::from_str(good).unwrap()));
    for (from, to) in [
        ("\"version\":1", "\"version\":6"),
        ("\"root\":0", "\"root\":0,\"order\":\"ordered\""),
        ("tuwtree-tree", "tree"),
        ("\"root\":0", "\"root\":-1"),
        ("\"root\":0", "\"root\":0,\"extra\":0"),
        ("\"root\":0,", ""),
        ("[0,1]", "[0,1.5]"),
        ("[0,1]", "[1,1]"),
    ] {
        let bad = good.replace(from, to);
        assert!(!validator.is_valid(&serde_json::from_str(&bad).unwrap()), "{bad}");
        tuwtree_with_input("evaluate - --dist same", &bad).fails(1, &["standard input: "]);
    }
}

#[test]
fn the_schema_and_the_program_want_data_that_goes_with_the_operation() {
    let good = r#"{"format":"tuwtree-tree","version":2,"processors":2,"root":0,"subtrees":[[0,1],[]],"problem":{"operation":"broadcast","alpha":1,"beta_per_byte":1,"gamma_per_byte":1,"vector_bytes":9}}"#;
    let validator = schema(TREE);
    assert!(validator.is_valid(&serde_json::from_str(good).unwrap()));
    assert!(tuwtree_with_input("evaluate -", good).success().starts_with("completion time  10\n"));
    for (from, to) in [
        ("\"version\":2", "\"version\":1"),
        ("\"broadcast\"", "\"gather\""),
        ("\"broadcast\"", "\"bcast\""),
        ("\"vector_bytes\":9", "\"vector_bytes\":[9]"),
        ("\"vector_bytes\":9", "\"vector_bytes\":-9"),
        ("\"vector_bytes\":9", "\"block_sizes_bytes\":[9,9]"),
        ("\"vector_bytes\":9", "\"vector_bytes\":9,\"block_sizes_bytes\":[9,9]"),
        (",\"vector_bytes\":9", ""),
    ] {
        let bad = good.replace(from, to);
        assert!(!validator.is_valid(&serde_json::from_str(&bad).unwrap()), "{bad}");
        tuwtree_with_input("evaluate -", &bad).fails(1, &["standard input: "]);
    }
}

#[test]
fn every_construction_s_tree_is_judged_by_evaluate_as_by_optimize() {
    let folder = folder("judged");
    let file = folder.join("tree.json");
    let file = file.to_str().unwrap();
    for distribution in Distribution::all() {
        for construction in ["linear", "oblivious", "adaptive", "binary", "optimal"] {
            let made = tuwtree(&format!(
                "optimize --dist {} -p 61 -b 30 --gamma 0.5 --root 17 --op scatter --json -o {file} \
                 --algorithm {construction}",
                distribution.name()
            ));
            let made: Value = serde_json::from_str(&made.success()).unwrap();
            let judged: Value =
                serde_json::from_str(&tuwtree(&format!("evaluate {file} --json")).success())
                    .unwrap();
            let made_one = &made["constructions"][0];
            assert_eq!(made_one["construction"], construction);
            for field in ["completion_time", "root", "root_degree", "depth"] {
                assert_eq!(made_one[field], judged[field], "{distribution:?} {construction}");
            }
            assert_eq!(judged["root"], 17);
            assert_eq!(judged["operation"], "scatter");
            assert_eq!(judged["ordered"], true);
        }
    }
}
