//! Machine, tree and schedule documents: what is written is read, and fits the schema.

use super::verification::handmade;
use proptest::prelude::*;
use serde_json::Value;
use std::path::{Path, PathBuf};
use tuwtree_laws::machines::{hierarchy, matrix, measured_hierarchy, overlapping};
use tuwtree_laws::problems::{self, costs, gather, rooted, sizes};
use tuwtree_model::document::{Date, Machine, TreeDocument};
use tuwtree_model::{
    Collective, Costs, Homogeneous, Network, PortKind, Problem, Root, Tree, Vector, WireOwner,
};
use tuwtree_schedule::{Order, Schedule, document, verify};
use tuwtree_treegen::{AdaptiveRule, adaptive};

const MACHINE: &str = "docs/machine.schema.json";
const TREE: &str = "docs/tree.schema.json";
const SCHEDULE: &str = "docs/schedule.schema.json";

/// A file of this repository.
pub(crate) fn workspace_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

/// A schema of this repository.
fn schema(file: &str) -> jsonschema::Validator {
    let text = std::fs::read_to_string(workspace_file(file)).unwrap();
    jsonschema::validator_for(&serde_json::from_str(&text).unwrap()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn machines_read_as_written_in_json_and_toml_and_fit_the_schema(
        (costs, integers) in prop_oneof![
            problems::costs().prop_map(Costs::Homogeneous),
            (1..6_usize).prop_flat_map(|ranks| matrix(ranks, 4)).prop_map(Costs::Matrix),
            (1..12_usize).prop_flat_map(hierarchy).prop_map(Costs::Hierarchical),
        ].prop_flat_map(|costs| (Just(costs), any::<bool>())),
    ) {
        let costs = match (integers, costs) {
            // Some that are not integers.
            (false, Costs::Homogeneous(costs)) => Costs::Homogeneous(
                Homogeneous::new(costs.alpha() / 3.0, costs.beta() * 1e-9, 1e300).unwrap(),
            ),
            (_, costs) => costs,
        };
        let machine = Machine {
            name: "a \"name\" = 'x'".into(),
            date: Date::parse("2024-02-29").unwrap(),
            provenance: "two\nlines, \u{e9}".into(),
            costs,
            network: Network::default(),
combine_per_byte: 0.0,
        };
        let json = serde_json::to_string(&machine).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Machine>(&json).unwrap(), &machine);
        let toml = toml::to_string(&machine).unwrap();
        prop_assert_eq!(&toml::from_str::<Machine>(&toml).unwrap(), &machine);
        let value = serde_json::from_str(&json).unwrap();
        prop_assert!(schema(MACHINE).is_valid(&value), "{json}");
    }
}

/// Networks in which some things are known.
fn networks() -> impl Strategy<Value = Network> {
    let limit = || prop::option::of(0..1_u64 << 63);
    let port = prop_oneof![
        Just((PortKind::FirstInFirstOut, None)),
        limit().prop_map(|beyond| (PortKind::Fair, beyond)),
    ];
    (port, any::<bool>(), limit(), prop::option::of(0.0..1e-3), any::<bool>()).prop_map(
        |((port, fair_beyond), of_nodes, eager_limit, send_overhead, told)| Network {
            port,
            fair_beyond,
            wire: if of_nodes { WireOwner::Node } else { WireOwner::Rank },
            eager_limit,
            send_overhead,
            window: eager_limit.filter(|_| told),
            uncertainty: send_overhead.filter(|_| told).map(|seconds| 1.5 + seconds),
            measured: told
                .then(|| ("latency".into(), "two \"floods\"".into()))
                .into_iter()
                .collect(),
        },
    )
}

/// A machine with these costs, as far as its network goes with them.
fn machine_with(costs: Costs, network: Network) -> Machine {
    let wire = match costs {
        Costs::Hierarchical(_) => network.wire,
        Costs::Homogeneous(_) | Costs::Matrix(_) => WireOwner::Rank,
    };
    Machine {
        name: "any".into(),
        date: Date::parse("2026-11-21").unwrap(),
        provenance: "drawn at random".into(),
        costs,
        network: Network { wire, ..network },
        combine_per_byte: 0.0,
    }
}

#[test]
fn a_window_takes_version_three() {
    let network = Network { window: Some(65_536), ..Network::default() };
    let machine = machine_with(Homogeneous::new(1.0, 1.0, 1.0).unwrap().into(), network);
    let json = serde_json::to_string(&machine).unwrap();
    assert_eq!(machine.version(), 3);
    assert_eq!(serde_json::from_str::<Machine>(&json).unwrap(), machine);
    let older = json.replace("\"version\":3", "\"version\":2");
    let error = serde_json::from_str::<Machine>(&older).unwrap_err().to_string();
    assert!(error.contains("version 2 has no windows"), "{error}");
}

#[test]
fn what_combining_takes_is_written_in_version_four_and_only_where_it_takes_time() {
    let costs = Homogeneous::new(1.0, 1.0, 1.0).unwrap();
    let free = machine_with(costs.into(), Network::default());
    assert_eq!(free.version(), 1);
    let machine = Machine { combine_per_byte: 2.5e-10, ..free };
    let json = serde_json::to_value(&machine).unwrap();
    assert_eq!(json["version"], 4);
    assert_eq!(json["combine_seconds_per_byte"], 2.5e-10);
    let validator = schema(MACHINE);
    assert!(validator.is_valid(&json));
    assert_eq!(serde_json::from_value::<Machine>(json.clone()).unwrap(), machine);
    for (field, value, message) in [
        ("version", 3.into(), "version 3 has no \"combine_seconds_per_byte\"; it needs version 4"),
        ("combine_seconds_per_byte", (-1).into(), "\"combine_seconds_per_byte\" is -1"),
    ] {
        let mut bad = json.clone();
        bad[field] = value;
        assert!(!validator.is_valid(&bad), "{field}");
        let error = serde_json::from_value::<Machine>(bad).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn what_exchanges_cost_is_written_in_version_four_and_only_where_it_differs() {
    let lone = Homogeneous::new(1.0, 2.0, 3.0).unwrap();
    let machine = machine_with(lone.with_exchange(1.5, 4.0).unwrap().into(), Network::default());
    let json = serde_json::to_value(&machine).unwrap();
    assert_eq!(json["version"], 4);
    assert_eq!(json["homogeneous"]["exchange_alpha_seconds"], 1.5);
    assert_eq!(json["homogeneous"]["exchange_beta_seconds_per_byte"], 4.0);
    let validator = schema(MACHINE);
    assert!(validator.is_valid(&json));
    assert_eq!(serde_json::from_value::<Machine>(json.clone()).unwrap(), machine);
    let equal = machine_with(lone.with_exchange(1.0, 2.0).unwrap().into(), Network::default());
    assert_eq!(equal.version(), 1);
    for (edit, message) in [
        (("/version", 3.into()), "version 3 has no \"exchange_alpha_seconds\"; it needs version 4"),
        (
            ("/homogeneous/exchange_beta_seconds_per_byte", (-1).into()),
            "homogeneous: exchange beta is -1; costs are finite numbers of at least 0",
        ),
    ] {
        let (place, value) = edit;
        let mut bad = json.clone();
        *bad.pointer_mut(place).unwrap() = value;
        assert!(!validator.is_valid(&bad), "{place}");
        let error = serde_json::from_value::<Machine>(bad).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
    let mut overlapping = json;
    overlapping["homogeneous"]["overhead_seconds"] = 0.5.into();
    let error = serde_json::from_value::<Machine>(overlapping).unwrap_err().to_string();
    assert!(error.contains("with an overhead that is all of alpha, 1, and not 0.5"), "{error}");
}

/// Costs of any kind whose latency may overlap, tables among them, for so many ranks.
fn newer_costs(ranks: usize) -> impl Strategy<Value = Costs> {
    prop_oneof![overlapping(ranks), measured_hierarchy(ranks).prop_map(Costs::Hierarchical),]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn machines_with_overheads_tables_and_networks_read_as_written_and_fit_the_schema(
        costs in (1..12_usize).prop_flat_map(newer_costs), network in networks(),
    ) {
        let machine = machine_with(costs, network);
        let json = serde_json::to_string(&machine).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Machine>(&json).unwrap(), &machine);
        let toml = toml::to_string(&machine).unwrap();
        prop_assert_eq!(&toml::from_str::<Machine>(&toml).unwrap(), &machine);
        let value: Value = serde_json::from_str(&json).unwrap();
        prop_assert_eq!(&value["version"], machine.version());
        prop_assert!(schema(MACHINE).is_valid(&value), "{json}");
        let version = machine.version();
        if version > 1 {
            let [own, before] = [version, version - 1].map(|one| format!("\"version\":{one}"));
            let early = json.replacen(&own, &before, 1);
            let error = serde_json::from_str::<Machine>(&early).unwrap_err().to_string();
            prop_assert!(error.contains(&format!("they need version {version}")), "{}", error);
        }
    }

    #[test]
    fn trees_and_schedules_with_them_read_as_written_and_fit_the_schema(
        (sizes, costs) in sizes(12).prop_flat_map(|sizes| {
            let ranks = sizes.ranks();
            (Just(sizes), newer_costs(ranks))
        }),
        network in networks(), with_machine: bool,
    ) {
        let problem = match (&costs, with_machine) {
            (Costs::Homogeneous(costs), false) => gather(&sizes, costs, Root::Best),
            _ => gather(&sizes, machine_with(costs, network), Root::Best),
        };
        let stated = problem.stated_costs();
        let is_newer = stated.machine().map_or(stated.costs().overlaps(), |one| one.version() > 1);
        let tree = adaptive(&problem, AdaptiveRule::CompletionTime).unwrap();
        let schedule = Schedule::of_tree(&tree, &problem).unwrap();
        let document = document_of(tree, Some(&problem));
        let text = serde_json::to_string(&document).unwrap();
        prop_assert_eq!(&serde_json::from_str::<TreeDocument>(&text).unwrap(), &document);
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert!(schema(TREE).is_valid(&value), "{text}");
        prop_assert_eq!(&value["version"], TreeDocument::VERSION);
        let mut written = Vec::new();
        document::write(&schedule, &mut written).unwrap();
        prop_assert_eq!(&document::read(&written[..]).unwrap(), &schedule);
        let written = String::from_utf8(written).unwrap();
        let value: Value = serde_json::from_str(&written).unwrap();
        prop_assert!(schema(SCHEDULE).is_valid(&value), "{written}");
        prop_assert_eq!(&value["version"], document::VERSION);
        if is_newer {
            // What older programs would not understand is not called as it was for them.
            let early = text.replacen("\"version\":5", "\"version\":3", 1);
            let error = serde_json::from_str::<TreeDocument>(&early).unwrap_err().to_string();
            prop_assert!(error.contains("it needs version 4"), "{}", error);
            prop_assert!(!schema(TREE).is_valid(&serde_json::from_str(&early).unwrap()));
            let early = written.replacen("\"version\":6", "\"version\":1", 1);
            let error = document::read(early.as_bytes()).unwrap_err().to_string();
            prop_assert!(error.contains("it needs version 2"), "{}", error);
            prop_assert!(!schema(SCHEDULE).is_valid(&serde_json::from_str(&early).unwrap()));
        }
    }
}

/// A document of this tree, made for this problem with its root.
fn document_of(tree: Tree, problem: Option<&Problem>) -> TreeDocument {
    let problem = problem.map(|problem| rooted(problem, Root::Given(tree.root())));
    TreeDocument { tree, problem }
}

proptest! {
    #[test]
    fn documents_with_a_machine_need_version_2_and_read_as_written(
        (sizes, costs) in sizes(20).prop_flat_map(|sizes| {
            let ranks = sizes.ranks();
            (Just(sizes), hierarchy(ranks))
        }),
    ) {
        let problem = gather(&sizes, &costs, Root::Best);
        let tree = adaptive(&problem, AdaptiveRule::CompletionTime).unwrap();
        let machine = Machine {
            name: "any".into(),
            date: Date::parse("2026-11-21").unwrap(),
            provenance: "drawn at random".into(),
            costs: Costs::Hierarchical(costs),
            network: Network::default(),
combine_per_byte: 0.0,
        };
        let document = document_of(tree, Some(&problem.with_costs(machine).unwrap()));
        let text = serde_json::to_string(&document).unwrap();
        prop_assert_eq!(&serde_json::from_str::<TreeDocument>(&text).unwrap(), &document);
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert!(schema(TREE).is_valid(&value));
        // What a program that knows version 1 only would not understand is not called that.
        let early = text.replacen("\"version\":5", "\"version\":1", 1);
        let error = serde_json::from_str::<TreeDocument>(&early).unwrap_err().to_string();
        prop_assert!(error.contains("it needs version 2"), "{}", error);
        prop_assert!(!schema(TREE).is_valid(&serde_json::from_str(&early).unwrap()));
    }

    #[test]
    fn documents_read_as_written_and_fit_the_schema(
        sizes in sizes(30), costs in costs(), with_problem: bool, vector: Option<u64>,
    ) {
        let tree = adaptive(&gather(&sizes, costs, Root::Best), AdaptiveRule::DataSize).unwrap();
        let ranks = sizes.ranks();
        let collective = match vector {
            Some(bytes) => Collective::reduce(Vector { ranks, bytes }),
            None => Collective::scatter(&sizes),
        };
        let problem = Problem::of(collective, costs).unwrap();
        let document = document_of(tree, with_problem.then_some(&problem));
        let text = serde_json::to_string(&document).unwrap();
        prop_assert_eq!(&serde_json::from_str::<TreeDocument>(&text).unwrap(), &document);
        let value: Value = serde_json::from_str(&text).unwrap();
        prop_assert!(schema(TREE).is_valid(&value));
    }
}

#[test]
fn schedules_in_data_are_written_as_they_are_read_and_fit_the_schema() {
    let validator = schema(SCHEDULE);
    for (name, messages, order) in [
        ("allgather", Some(4), Order::Ordered),
        ("gather", Some(3), Order::Ordered),
        ("pipelined_broadcast", Some(4), Order::Ordered),
        ("scatter_two_ports", Some(3), Order::Direct),
        ("deadlock", None, Order::Ordered),
    ] {
        let file = workspace_file(&format!("data/schedules/{name}.json"));
        let text = std::fs::read_to_string(&file).unwrap();
        let schedule = document::read(text.as_bytes()).unwrap();
        let mut written = Vec::new();
        document::write(&schedule, &mut written).unwrap();
        assert_eq!(String::from_utf8(written).unwrap(), text, "{name}");
        assert!(validator.is_valid(&serde_json::from_str(&text).unwrap()), "{name}");
        let verified = verify(&schedule);
        assert_eq!(verified.as_ref().ok().map(|verified| verified.messages), messages, "{name}");
        assert_eq!(schedule.task().order, order);
        if let Ok(verified) = verified {
            assert_eq!(verified.order, order, "{name}");
        }
    }
}

#[test]
fn an_operation_without_a_root_takes_version_2_and_no_root() {
    let validator = schema(SCHEDULE);
    let text = std::fs::read_to_string(workspace_file("data/schedules/allgather.json")).unwrap();
    for (from, to, error) in [
        (
            "\"version\":6",
            "\"version\":1",
            "allgather in a document of version 1; it needs version 2",
        ),
        ("\"order\"", "\"root\":0,\"order\"", "allgather has no root"),
        ("\"allgather\"", "\"gather\"", "missing field `root`"),
    ] {
        let bad = text.replacen(from, to, 1);
        assert_ne!(bad, text, "{from} is not in the document");
        assert!(!validator.is_valid(&serde_json::from_str(&bad).unwrap()), "{from} -> {to}");
        let found = document::read(bad.as_bytes()).unwrap_err().to_string();
        assert!(found.contains(error), "{found}");
    }
}

#[test]
fn newer_operations_and_copies_that_combine_take_newer_versions() {
    let validator = schema(SCHEDULE);
    let fits = |text: &str| validator.is_valid(&serde_json::from_str(text).unwrap());
    for (schedule, faults) in [
        (
            handmade::allreduce_by_doubling(),
            &[
                ("\"version\":6", "\"version\":2", "allreduce in a document of version 2"),
                ("\"order\"", "\"root\":0,\"order\"", "allreduce has no root"),
                ("\"ports\":1", "\"ports\":1,\"element_bytes\":0", "elements of 0 bytes"),
            ][..],
        ),
        (
            handmade::reduce_scatter_that_hands_on(),
            &[(
                "\"version\":6",
                "\"version\":4",
                "\"combine\" in a copy in a document of version 4; it needs version 5",
            )],
        ),
        (
            handmade::alltoall_by_a_relay(),
            &[
                ("\"version\":6", "\"version\":2", "alltoall in a document of version 2"),
                ("\"alltoall\"", "\"allgather\"", "allgather needs block sizes"),
                ("\"order\"", "\"vector_bytes\":3,\"order\"", "beside other sizes"),
                ("\"ports\":1", "\"ports\":1,\"combine_per_byte\":1.0", "alltoall has no operator"),
            ],
        ),
    ] {
        let made = schedule.schedule().unwrap().unwrap();
        let mut text = Vec::new();
        document::write(&made, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(fits(&text), "{text}");
        assert_eq!(document::read(text.as_bytes()).unwrap(), made);
        for (from, to, error) in faults {
            let bad = text.replacen(from, to, 1);
            assert_ne!(bad, text, "{from} is not in the document");
            assert!(!fits(&bad), "{from} -> {to}");
            let found = document::read(bad.as_bytes()).unwrap_err().to_string();
            assert!(found.contains(error), "{found}");
        }
    }
}

#[test]
fn a_deadlock_is_explained_all_the_way_round() {
    let text = std::fs::read(workspace_file("data/schedules/deadlock.json")).unwrap();
    let fault = verify(&document::read(&text[..]).unwrap()).unwrap_err();
    assert_eq!(
        fault.to_string(),
        "deadlock: rank 1, action 0 (send to 2) waits for rank 2, action 1 (receive from 1), \
         which waits for rank 2, action 0 (send to 1), which waits for rank 1, action 1 \
         (receive from 2), which waits for rank 1, action 0; with eager sends, which end at once, \
         there is none"
    );
}

#[test]
fn the_schema_of_schedules_refuses_what_the_program_refuses() {
    let validator = schema(SCHEDULE);
    let file = workspace_file("data/schedules/scatter_two_ports.json");
    let good = std::fs::read_to_string(file).unwrap();
    let good = good.replace("\"version\":6", "\"version\":1");
    for (from, to) in [
        ("\"version\":1", "\"version\":7"),
        ("\"version\":1", "\"version\":1,\"element_bytes\":4"),
        ("\"version\":1", "\"version\":3,\"combine_per_byte\":0.5"),
        ("\"version\":1", "\"version\":4,\"duplex\":true"),
        ("\"version\":1", "\"version\":5,\"duplex\":1"),
        ("\"scatter\"", "\"allgather\""),
        ("tuwtree-schedule", "schedule"),
        ("\"root\":2", "\"root\":-2"),
        ("\"root\":2,", ""),
        ("\"root\":2", "\"root\":2,\"extra\":0"),
        ("\"scatter\"", "\"broadcast\""),
        ("\"scatter\"", "\"sort\""),
        ("\"ports\":2", "\"ports\":0"),
        ("\"ports\":2", "\"ports\":65536"),
        ("\"direct\"", "\"some\""),
        ("\"alpha\":100.0", "\"alpha\":-1.0"),
        ("\"alpha\":100.0", "\"alpha\":100.0,\"overhead\":100.0"),
        ("\"alpha\":100.0", "\"alpha\":100.0,\"exchange_alpha\":150.0"),
        ("\"alpha\":100.0", "\"alpha\":100.0,\"exchange_beta_per_byte\":2.0"),
        ("[3,1,2,5]", "[3,1,2,-5]"),
        ("[3,1,2,5]", "[3,1,2,5],\"vector_bytes\":11"),
        ("\"receive\":2,", "\"receive\":2,\"send\":1,"),
        ("\"receive\":2,", "\"receive\":2,\"send_tag\":1,"),
        ("\"receive\":2,", ""),
        ("\"send\":1,", "\"send\":1,\"combine\":\"left\","),
        ("\"send\":1,", "\"send\":1,\"receive_tag\":4,"),
        ("[\"output\",0,1]", "[\"input\",0,1]"),
        ("[\"output\",0,1]", "[\"output\",0]"),
        ("[\"output\",0,1]", "[\"output\",0,1.5]"),
        ("[\"output\",0,1]", "[\"heap\",0,1]"),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from} is not in the document");
        assert!(!validator.is_valid(&serde_json::from_str(&bad).unwrap()), "{from} -> {to}");
        assert!(document::read(bad.as_bytes()).is_err(), "{from} -> {to}");
    }
    let newest = good
        .replace("\"version\":1", "\"version\":5")
        .replace("\"alpha\":100.0", "\"alpha\":100.0,\"exchange_alpha\":150.0");
    assert!(validator.is_valid(&serde_json::from_str(&newest).unwrap()));
    assert!(document::read(newest.as_bytes()).is_ok());
}
