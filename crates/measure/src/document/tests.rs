//! Documents of measured times, and what is refused.

use super::*;
use tuwtree_model::Construction;

pub(crate) fn setting() -> Setting {
    Setting {
        operation: Operation::Gather,
        program: "a program 1.0".into(),
        library: "a library 4.0".into(),
        ranks: 4,
        root: 2,
        remote_ranks: 0,
        nodes: 1,
        oversubscribed: true,
        element_bytes: 4,
        rho: 5,
        seed: 1,
        warm_up: 10,
        machine: None,
        listed: Vec::new(),
    }
}

pub(crate) fn series(algorithm: Algorithm, seconds: &[f64]) -> Series {
    Series {
        blocks: Distribution::Same.into(),
        mean_block: 10,
        total_bytes: 160,
        largest_block_bytes: 40,
        algorithm,
        planning_seconds: 0.0,
        predicted: None,
        times: Repetitions { seconds: seconds.into(), late: LateStarts::Unknown },
        delayed: Vec::new(),
    }
}

#[test]
fn a_document_reads_as_it_was_written() {
    let algorithms = || Algorithm::all().filter(|one| one.is_for(Operation::Gather));
    let all: Vec<Series> = algorithms().map(|algorithm| series(algorithm, &[0.5, 0.25])).collect();
    let document = Measurements::new(setting(), all).unwrap();
    let text = serde_json::to_string(&document).unwrap();
    assert!(text.starts_with(r#"{"format":"tuwtree-measurements","version":9,"operation":"#));
    assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
    assert_eq!(document.algorithms(), algorithms().collect::<Vec<_>>());
    let problem = (&Blocks::Drawn(Distribution::Same), 10);
    assert_eq!(document.problems(), [problem]);
    let native = document.of(problem, Algorithm::Native).unwrap();
    assert_eq!((native.times.minimum(), native.times.median()), (0.25, 0.375));
}

#[test]
fn trees_in_which_processes_find_their_places_take_version_five() {
    for algorithm in [Algorithm::Online, Algorithm::OnlinePersistent] {
        let document = Measurements::new(setting(), vec![series(algorithm, &[0.5, 0.25])]).unwrap();
        assert_eq!(document.oldest_version(), 5);
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
        let error = text.replace("\"version\":9", "\"version\":4");
        let error = serde_json::from_str::<Measurements>(&error).unwrap_err().to_string();
        assert!(error.contains("version 4 has no allgathers, and no \"online\""), "{error}");
    }
}

#[test]
fn predicted_times_and_late_starts_take_a_later_version() {
    let old = series(Algorithm::Native, &[0.5, 0.25]);
    let predicted = Prediction { planned_seconds: Some(0.5), judged_seconds: 0.25 };
    let late = |late| Repetitions { late, ..old.times.clone() };
    let new =
        Series { predicted: Some(predicted), times: late(LateStarts::Counted(1)), ..old.clone() };
    let newest = Series { times: late(LateStarts::Listed(vec![1])), ..old.clone() };
    for (one, version) in [(old, 1), (new, 2), (newest, 9)] {
        let document = Measurements::new(setting(), vec![one]).unwrap();
        assert_eq!(document.oldest_version(), version);
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
        let claimed = text.replace("\"version\":9", "\"version\":1");
        assert_eq!(serde_json::from_str::<Measurements>(&claimed).is_ok(), version == 1);
    }
}

#[test]
fn blocks_are_made_anew_if_they_are_those_that_were_measured() {
    let one = series(Algorithm::Native, &[0.5]);
    let sizes = one.block_sizes(&setting()).unwrap();
    assert_eq!(sizes.iter().collect::<Vec<_>>(), [40; 4]);
    assert_eq!(Series { total_bytes: 161, ..one }.block_sizes(&setting()), None);
}

#[test]
fn listed_blocks_are_kept_and_take_version_three() {
    let sizes = BlockSizes::new([1, 0, 7, 2]).unwrap();
    let one = Series {
        blocks: Blocks::Listed("counts.txt".into()),
        mean_block: crate::mean_in_elements(&sizes, 4),
        total_bytes: 10,
        largest_block_bytes: 7,
        ..series(Algorithm::Native, &[0.5])
    };
    let listed = vec![ListedBlocks { name: "counts.txt".into(), sizes: sizes.clone() }];
    let setting = Setting { listed, ..setting() };
    let document = Measurements::new(setting, vec![one]).unwrap();
    let text = serde_json::to_string(&document).unwrap();
    assert!(text.contains(r#""version":9"#) && text.contains(r#""listed":"counts.txt""#));
    assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
    assert_eq!(document.series()[0].block_sizes(document.setting()), Some(sizes));
    assert_eq!(document.series()[0].mean_block, 1);
    for (from, to, message) in [
        ("\"version\":9", "\"version\":2", "version 2 has no \"listed\" block sizes"),
        ("[1,0,7,2]", "[1,0,7]", "3 blocks for 4 processes"),
        (
            "\"listed\":[",
            "\"listed\":[{\"name\":\"counts.txt\",\"block_sizes_bytes\":[0,0,0,0]},",
            "listed twice",
        ),
    ] {
        let bad = text.replace(from, to);
        assert_ne!(bad, text);
        let error = serde_json::from_str::<Measurements>(&bad).unwrap_err().to_string();
        assert!(error.contains(message), "{bad}: {error}");
    }
}

#[test]
fn times_with_a_late_rank_are_kept_and_take_version_four() {
    let delayed =
        Delayed { rank: 1, delay_seconds: 0.25, seconds: vec![0.75], others_seconds: vec![0.125] };
    let one = Series { delayed: vec![delayed], ..series(Algorithm::Native, &[0.5]) };
    let document = Measurements::new(setting(), vec![one]).unwrap();
    let text = serde_json::to_string(&document).unwrap();
    assert!(text.contains(r#""version":9"#) && text.contains(r#""late_rank":[{"rank":1,"#));
    assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
    for (from, to, message) in [
        ("\"version\":9", "\"version\":3", "version 3 has no \"late_rank\""),
        ("\"rank\":1", "\"rank\":2", "rank 2 cannot begin late; any but the root, 2, can"),
        ("\"rank\":1", "\"rank\":4", "rank 4 cannot begin late"),
        ("[0.125]", "[]", "not as many positive numbers"),
        ("[0.75]", "[0]", "not as many positive numbers"),
    ] {
        let bad = text.replace(from, to);
        assert_ne!(bad, text);
        let error = serde_json::from_str::<Measurements>(&bad).unwrap_err().to_string();
        assert!(error.contains(message), "{bad}: {error}");
    }
}

#[test]
fn what_is_no_document_is_refused_by_name() {
    let one = series(Algorithm::Native, &[0.5]);
    let good = Measurements::new(setting(), vec![one]).unwrap();
    let good = serde_json::to_string(&good).unwrap();
    let good = good.replace("\"version\":9", "\"version\":1");
    for (from, to, message) in [
        ("\"version\":1", "\"version\":10", "version 10 of format"),
        ("\"distribution\":\"same\",", "", "either \"distribution\" or \"listed\" is needed"),
        ("\"distribution\":\"same\"", "\"listed\":\"a\"", "no block sizes are listed as \"a\""),
        ("\"root\":2", "\"root\":4", "root 4 is outside 0..4"),
        ("\"nodes\":1", "\"nodes\":0", "\"nodes\" is 0"),
        ("\"nodes\":1", "\"nodes\":1,\"colour\":1", "unknown field `colour`"),
        ("\"gather\"", "\"reduce\"", "series 0: a vector is one block"),
        ("\"gather\"", "\"intergroup-allgather\"", "with 0 of them in a second group"),
        ("\"gather\"", "\"allgather\"", "version 1 has no allgathers"),
        ("\"gather\"", "\"alltoall\"", "version 1 has no alltoalls"),
        ("\"gather\"", "\"sort\"", "\"operation\" is \"sort\"; one of gather, scatter"),
        ("\"native\"", "\"magic\"", "series 0: \"algorithm\" is \"magic\"; one of regular"),
        ("\"same\"", "\"other\"", "series 0: \"distribution\" is \"other\""),
        ("[0.5]", "[0.5,0]", "series 0: repetition 1 took 0 s"),
        ("[0.5]", "[]", "series 0: there are no times"),
        ("\"mean_block\":10", "\"mean_block\":0", "\"mean_block\" is 0"),
        ("\"planning_seconds\":0.0", "\"planning_seconds\":-1", "\"planning_seconds\" is -1"),
    ] {
        let bad = good.replace(from, to);
        assert_ne!(bad, good);
        let error = serde_json::from_str::<Measurements>(&bad).unwrap_err().to_string();
        assert!(error.contains(message), "{bad}: {error}");
    }
    let twice = vec![series(Algorithm::Native, &[0.5]), series(Algorithm::Native, &[0.7])];
    let error = Measurements::new(setting(), twice).unwrap_err();
    assert_eq!(error, MeasurementsError::Twice { series: 1 });
}

#[test]
fn vectors_groups_and_schedules_without_a_root_take_version_seven() {
    let planned = Algorithm::Planned(Construction::Ring, Pace::Eager);
    let vector = |algorithm| Series { largest_block_bytes: 160, ..series(algorithm, &[0.5, 0.25]) };
    for (operation, remote_ranks, one) in [
        (Operation::Allreduce, 0, vector(planned)),
        (Operation::Broadcast, 0, vector(Algorithm::Native)),
        (Operation::IntergroupAllgather, 1, series(Algorithm::Native, &[0.5])),
        (Operation::Allgather, 0, series(planned, &[0.5])),
    ] {
        let setting = Setting { operation, remote_ranks, ..setting() };
        let document = Measurements::new(setting, vec![one]).unwrap();
        assert_eq!(document.oldest_version(), 7);
        let text = serde_json::to_string(&document).unwrap();
        assert_eq!(serde_json::from_str::<Measurements>(&text).unwrap(), document);
        assert_eq!(text.contains("\"remote_ranks\":1"), remote_ranks == 1);
        let old = text.replace("\"version\":9", "\"version\":6");
        let error = serde_json::from_str::<Measurements>(&old).unwrap_err().to_string();
        assert!(error.contains("version 6 has no broadcasts"), "{error}");
    }
}
