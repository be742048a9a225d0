//! `tuwtree map`: its table keeps the laws of its columns, and its picture is one.

use crate::program::{command, folder, json, tuwtree};
use std::fs;
use tuwtree_model::{ClosedSet, Distribution};

/// A small map: 5 powers of ten by 4 exponents, four places.
const SMALL: &str = "map -p 12 -b 100 --columns 1 --rows 1";

#[test]
fn every_kind_of_tree_is_no_slower_than_the_stricter_one() {
    let table = tuwtree(SMALL).success();
    let mut lines = table.lines();
    let heading = "root,exponent,alpha_over_beta_b,linear,adaptive,ordered,direct,any,lower_bound,choice,\
                   linear_over_choice,adaptive_over_choice";
    assert_eq!(lines.next(), Some(heading));
    let mut cells = 0;
    for line in lines {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |index: usize| fields[index].parse::<f64>().unwrap();
        let (linear, ordered, direct) = (number(3), number(5), number(6));
        let (any, bound) = (number(7), number(8));
        assert!(bound <= any && any <= direct && direct <= ordered && ordered <= linear, "{line}");
        let chosen = ["linear", "adaptive", "ordered", "direct", "any"]
            .iter()
            .position(|&kind| kind == fields[9])
            .unwrap();
        assert!(number(3 + chosen) <= 1.02 * any.min(number(4)), "{line}");
        for stricter in 3..3 + chosen {
            assert!(number(stricter) > 1.02 * any.min(number(4)), "{line}");
        }
        cells += 1;
    }
    assert_eq!(cells, 4 * 4 * 8);
}

#[test]
fn the_map_is_the_same_for_any_number_of_threads() {
    let run = |threads: &str| {
        let arguments: Vec<&str> = SMALL.split(' ').collect();
        let output = command(&arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    assert_eq!(run("1"), run("3"));
}

#[test]
fn the_map_is_written_as_picture_and_table_in_one_run() {
    let folder = folder("map");
    let path = |name: &str| folder.join(name).display().to_string();
    let (svg, csv) = (path("map.svg"), path("map.csv"));
    tuwtree(&format!("{SMALL} -o {svg} -o {csv}")).success();
    let picture = fs::read_to_string(svg).unwrap();
    let document = roxmltree::Document::parse(&picture).unwrap();
    let titles = document.descendants().filter(|node| node.has_tag_name("title")).count();
    assert_eq!(titles, 4 * 4 * 8, "a title for each cell");
    assert_eq!(fs::read_to_string(csv).unwrap(), tuwtree(SMALL).success());
}

#[test]
fn rows_may_be_the_papers_distributions() {
    let table = tuwtree("map --blocks distributions -p 12 -b 100 --columns 1").success();
    for distribution in Distribution::published() {
        let row = format!("smallest,{},", distribution.name());
        assert_eq!(table.lines().filter(|line| line.starts_with(&row)).count(), 8, "{row}");
    }
}

#[test]
fn what_a_map_cannot_be_made_for_is_wrong_usage() {
    for (arguments, messages) in [
        ("map --gamma-over-beta 2", &["--gamma-over-beta 2", "at most 1"][..]),
        ("map --gamma-over-beta NaN", &["gamma", "NaN"]),
        ("map --gamma-over-beta -1", &["gamma", "-1"]),
        ("map --tolerance -1", &["--tolerance -1", "at least 0"]),
        ("map --tolerance inf", &["--tolerance inf"]),
        ("map -p 1", &["2..=5000"]),
        ("map -p 5001", &["2..=5000"]),
        ("map -b 0", &["0"]),
        ("map --blocks distributions --rows 2", &["--rows", "power-law"]),
    ] {
        tuwtree(arguments).fails(2, messages);
    }
}

#[test]
fn a_sweep_is_a_map_of_a_machine() {
    let folder = folder("swept_map");
    let file = folder.join("map.svg");
    let arguments = "sweep --dist same,spikes --machine vsc3 -p 16,32,64 -b 8,4096 --root 0";
    let drawn = tuwtree(&format!("{arguments} -o {}", file.display()));
    assert_eq!(drawn.success(), "");
    let svg = fs::read_to_string(&file).unwrap();
    assert_eq!(svg.matches("<title>").count(), 12, "one for each cell: {svg}");
    for text in [">same<", ">spikes<", ">16<", ">64<", ">8 B<", ">4.1 kB<", "VSC-3"] {
        assert!(svg.contains(text), "{text}");
    }
    // Cells name the simplest tree that is nearly as fast: in the last panel's last column and first row.
    let problem = "--dist spikes --machine vsc3 -p 64 -b 8 --root 0";
    let comparison = json(&format!("optimize {problem} --json"));
    let advice = tuwtree(&format!("advise {problem}")).success();
    let name = match advice.split_once("Simpler: ") {
        Some((_, simpler)) => simpler.split(' ').next().unwrap(),
        None => comparison["recommended"].as_str().unwrap(),
    };
    let advised = json(&format!("advise {problem} --json"));
    let library = advised["baseline"]["completion_time"].as_f64().unwrap();
    let constructions = comparison["constructions"].as_array().unwrap();
    let chosen = constructions.iter().find(|one| one["construction"] == name).unwrap();
    let chosen = chosen["completion_time_with_unpacking"].as_f64().unwrap();
    let gain = library / chosen;
    let gain = if gain < 9.95 { format!("{gain:.2}") } else { format!("{gain:.0}") };
    let panel = &svg[svg.find(">spikes<").unwrap()..];
    let cell = panel.split("<title>").nth(3).unwrap();
    assert!(
        cell.starts_with(&format!("{name}: ")) && cell.contains(&format!(">{gain}<")),
        "{cell}"
    );
}

#[test]
fn a_users_own_sizes_are_swept_as_they_are_and_in_proportion() {
    let folder = folder("swept_sizes");
    let sizes = folder.join("counts.txt");
    fs::write(&sizes, "1\n2\n3000\n4\n5\n600\n7\n8\n").unwrap();
    let own =
        format!("sweep --sizes {} --machine vsc3 --root 0 --algorithm linear", sizes.display());
    let column = |arguments: &str, name: &str| -> Vec<String> {
        let csv = tuwtree(arguments).success();
        let mut lines = csv.lines().map(|line| line.split(',').map(str::to_owned));
        let place = lines.next().unwrap().position(|one| one == name).unwrap();
        lines.map(|mut line| line.nth(place).unwrap()).collect()
    };
    // As `evaluate` has it, for sizes as they are, in other units, and twice as large.
    let time = |sizes: &str| {
        let problem = "--machine vsc3 --root 0 --algorithm linear --format csv";
        let file = folder.join("other.txt");
        fs::write(&file, sizes).unwrap();
        column(&format!("optimize --sizes {} {problem}", file.display()), "completion_time")
    };
    let twice = time("2\n4\n6000\n8\n10\n1200\n14\n16\n");
    assert_eq!(column(&own, "completion_time"), time("1\n2\n3000\n4\n5\n600\n7\n8\n"));
    assert_eq!(column(&format!("{own} --element-size 2"), "completion_time"), twice);
    assert_eq!(column(&own, "mean_block_bytes"), ["453"]);
    assert_eq!(column(&own, "seed"), [""]);
    // 3627 bytes in all: with a mean of 907, each block twice its size, but for rounding.
    let scaled = column(&format!("{own} -b 907"), "completion_time");
    let near = |one: &str, other: &str| {
        let of = |text: &str| text.parse::<f64>().unwrap();
        (of(one) / of(other) - 1.0).abs() < 1e-3
    };
    assert!(near(&scaled[0], &twice[0]), "{scaled:?} {twice:?}");
    let map = folder.join("map.svg");
    tuwtree(&format!("{own} -b 8..64*2 -o {}", map.display())).success();
    assert_eq!(fs::read_to_string(&map).unwrap().matches("<title>").count(), 4);
    tuwtree(&format!("{own} -p 9")).fails(2, &["--sizes", "--processes"]);
    fs::write(&sizes, "0\n0\n").unwrap();
    tuwtree(&format!("{own} -b 8")).fails(2, &["all blocks are empty"]);
}

#[test]
fn a_map_is_of_trees_that_a_library_can_be_compared_with() {
    tuwtree("sweep --dist same -p 8 --op allgather -o map.svg")
        .fails(2, &["--op allgather", "maps are of gather and scatter"]);
    let file = folder("swept_ports").join("map.svg");
    tuwtree(&format!("sweep --dist same -p 8 --ports 2 -o {}", file.display()))
        .fails(1, &["no library's time is known for gather on 2 ports"]);
    assert!(!file.exists(), "nothing is left half written");
}

#[test]
fn maps_of_allgathers_where_latency_overlaps_have_a_colour_for_the_postal_model_too() {
    let svg = folder("map-postal").join("map.svg").display().to_string();
    let map = "map --op allgather -p 7 -b 100 --columns 1 --rows 1 --overhead-over-alpha 0.2";
    tuwtree(&format!("{map} -o {svg}")).success();
    assert!(fs::read_to_string(svg).unwrap().contains("bruck-postal"));
}

#[test]
fn maps_of_operations_without_trees_name_the_fastest_algorithm() {
    let folder = folder("map-algorithms");
    for (operation, algorithms, rows) in [
        (
            "allgather",
            "ring,ring-chunks,recursive-doubling,bruck,circulant,circulant-pieces,circulant-balanced",
            4,
        ),
        (
            "reduce-scatter",
            "pairwise,recursive-doubling,halving,butterfly,circulant,circulant-pieces,circulant-balanced",
            4,
        ),
        (
            "allreduce",
            "ring,binomial,recursive-doubling,rabenseifner-half,rabenseifner-full,binary-blocks,circulant",
            5,
        ),
        ("broadcast", "binomial,scatter-ring,scatter-doubling,circulant-pieces", 5),
        (
            "reduce",
            "ring,binomial,rabenseifner-half,rabenseifner-full,binary-blocks,circulant-pieces",
            5,
        ),
        ("alltoall", "linear,pairwise,bruck,bruck-radix,column-trees,open-shop", 4),
        ("intergroup-allgather", "paired,shares,root-best,root-mpich,root-mpich-v", 4),
    ] {
        let of_vector = ["allreduce", "broadcast", "reduce"].contains(&operation);
        let (heading, steps) = if of_vector { ("processes", "") } else { ("exponent", "--rows 1") };
        let (svg, csv) = (folder.join("map.svg"), folder.join("map.csv"));
        let [svg, csv] = [svg, csv].map(|path| path.display().to_string());
        tuwtree(&format!("map --op {operation} -p 7 -b 100 --columns 1 {steps} -o {svg} -o {csv}"))
            .success();
        let table = fs::read_to_string(csv).unwrap();
        let mut lines = table.lines();
        let first = lines.next().unwrap();
        let names: Vec<&str> = first.split(',').collect();
        let mut known: Vec<&str> = names[3..names.len() - 4].to_vec();
        let mut expected: Vec<&str> = algorithms.split(',').collect();
        assert!(first.starts_with(&format!("operation,{heading},alpha_over_beta_b,")), "{first}");
        known.sort_unstable();
        expected.sort_unstable();
        assert_eq!(known, expected);
        let mut cells = 0;
        for line in lines {
            let fields: Vec<&str> = line.split(',').collect();
            let times =
                fields[3..names.len() - 4].iter().filter_map(|cell| cell.parse::<f64>().ok());
            let least = times.fold(f64::INFINITY, f64::min);
            let [bound, choice, mpich, over] = fields[names.len() - 4..] else { panic!("{line}") };
            let time = |name: &str| -> f64 {
                fields[names.iter().position(|&one| one == name).unwrap()].parse().unwrap()
            };
            assert!(bound.parse::<f64>().unwrap() <= least, "{line}");
            assert!(time(choice) <= 1.02 * least, "{line}");
            let over: f64 = over.parse().unwrap();
            assert!((over - time(mpich) / time(choice)).abs() < 1e-6 * over, "{line}");
            cells += 1;
        }
        assert_eq!(cells, 8 * rows, "{operation}");
        let picture = fs::read_to_string(svg).unwrap();
        let document = roxmltree::Document::parse(&picture).unwrap();
        let titles = document.descendants().filter(|node| node.has_tag_name("title")).count();
        assert_eq!(titles, cells, "{operation}: a title for each cell");
    }
    let gather = tuwtree(SMALL).success();
    assert_eq!(tuwtree(&format!("{SMALL} --op scatter")).success(), gather, "its dual");
}
