//! Tree documents: what is written is read, fits the schema, and is judged as it was made.

use crate::laws::problems::{costs, sizes};
use crate::program::{folder, tuwtree, tuwtree_with_input, workspace_file};
use proptest::prelude::*;
use serde_json::Value;
use tuwtree_model::document::{Problem, TreeDocument};
use tuwtree_model::{Distribution, Operation, Root};
use tuwtree_treegen::{AdaptiveRule, adaptive};

fn schema() -> jsonschema::Validator {
    let text = std::fs::read_to_string(workspace_file("docs/tree.schema.json")).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

proptest! {
    #[test]
    fn documents_read_as_written_and_fit_the_schema(
        sizes in sizes(30), costs in costs(), with_problem: bool,
    ) {
        let tree = adaptive(&sizes, &costs, Root::Best, AdaptiveRule::DataSize).unwrap();
        let problem = Problem { operation: Operation::Scatter, sizes, costs: costs.into() };
        let document = TreeDocument { tree, problem: with_problem.then_some(problem) };
        let text = serde_json::to_string(&document).unwrap();
        prop_assert_eq!(&serde_json::from_str::<TreeDocument>(&text).unwrap(), &document);
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert!(schema().is_valid(&value));
    }
}

#[test]
fn the_schema_refuses_what_the_program_refuses() {
    let good =
        r#"{"format":"tuwtree-tree","version":1,"processors":2,"root":0,"subtrees":[[0,1],[]]}"#;
    let validator = schema();
    assert!(validator.is_valid(&serde_json::from_str(good).unwrap()));
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
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
fn every_construction_s_tree_is_judged_by_evaluate_as_by_optimize() {
    let folder = folder("judged");
    let file = folder.join("tree.json");
    let file = file.to_str().unwrap();
    for distribution in Distribution::ALL {
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
