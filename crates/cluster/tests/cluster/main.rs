//! Calibration and measurements on clusters whose costs are known: network namespaces on this machine,
//! with a network between them that is a program (`../bed`). `./test --all` runs `quick` and `long`,
//! and `docs/where-it-pays.md` says how to run `proof`.

use std::path::{Path, PathBuf};
use std::process::Command;
use tuwtree_measure::{Algorithm, Measurements, Pace, Series};
use tuwtree_model::document::Machine;
use tuwtree_model::{Costs, LinkLaw, MeasuredSizes};

mod everywhere;
mod proof;

/// The MPI library that the program is built with.
fn library() -> &'static str {
    if env!("TUWTREE_MPICC").contains("mpich") { "mpich" } else { "openmpi" }
}

/// Nodes with a rank or several each, and the network between them; times in microseconds.
struct Bed {
    name: &'static str,
    nodes: usize,
    per_node: usize,
    megabits_per_second: f64,
    latency: f64,
    overhead: f64,
}

impl Bed {
    /// What a message of so many bytes keeps a port busy for, in seconds. Messages of one segment, of which
    /// 52 bytes are headers; the library adds some.
    fn occupancy(&self, bytes: u64) -> f64 {
        (self.overhead + (bytes + 52) as f64 * 8.0 / self.megabits_per_second) * 1e-6
    }

    fn folder(&self) -> PathBuf {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("bed-{}", self.name));
        std::fs::create_dir_all(&folder).expect("a folder for temporary files");
        folder
    }

    /// What the program says on all ranks of the bed, with these environment variables.
    fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> String {
        let number = |number: &dyn std::fmt::Display| number.to_string();
        let output = Command::new("timeout")
            .args(["1800", concat!(env!("CARGO_MANIFEST_DIR"), "/tests/bed/bed.sh")])
            .args([number(&self.nodes), number(&self.per_node), number(&self.megabits_per_second)])
            .args([number(&self.latency), number(&self.overhead)])
            .arg(env!("CARGO_BIN_EXE_tuwtree-exec"))
            .args(arguments)
            .env("BED_FOLDER", self.folder())
            .env("BED_LIBRARY", library())
            .envs(variables.iter().copied())
            .output()
            .expect("a shell");
        let (said, errors) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}: {arguments:?}: {said}{errors}", self.name);
        said.replace('\0', "")
    }

    /// The machine as calibrated, with its file.
    fn calibrated(&self, more: &[&str]) -> (Machine, String) {
        self.calibrated_with(more, &[])
    }

    /// The same, with environment variables.
    fn calibrated_with(&self, more: &[&str], variables: &[(&str, &str)]) -> (Machine, String) {
        let file = self.folder().join("machine.json").display().to_string();
        let said = self.run_with(&[&["calibrate", "-o", &file], more].concat(), variables);
        println!("{}\n{said}", self.name);
        let text = std::fs::read_to_string(&file).expect("it was written");
        (serde_json::from_str(&text).expect("a machine"), file)
    }

    fn measured(&self, machine: &str, more: &[&str]) -> Measurements {
        self.measured_with(machine, more, &[])
    }

    /// The same, with environment variables.
    fn measured_with(
        &self,
        machine: &str,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Measurements {
        let file = self.folder().join("times.json").display().to_string();
        let arguments = ["bench", "--machine", machine, "--element-bytes", "1", "-o", &file];
        println!("{}\n{}", self.name, self.run_with(&[&arguments[..], more].concat(), variables));
        let text = std::fs::read_to_string(&file).expect("it was written");
        serde_json::from_str(&text).expect("measurements")
    }
}

/// The table of a machine's outermost level.
fn table(machine: &Machine) -> &MeasuredSizes {
    let Costs::Hierarchical(hierarchy) = &machine.costs else { panic!("{machine:?}") };
    match &hierarchy.levels().last().expect("a level").links {
        LinkLaw::Measured(table) => table,
        LinkLaw::Pieces(_) => panic!("{machine:?}"),
    }
}

fn within(share: f64, value: f64, expected: f64) -> bool {
    (value / expected - 1.0).abs() <= share
}

/// What is judged, as a share of what is measured: 10 %, 50 % and 90 % quantiles.
fn quantiles(mut shares: Vec<f64>) -> [f64; 3] {
    shares.sort_by(f64::total_cmp);
    [0.1, 0.5, 0.9].map(|share| shares[((shares.len() - 1) as f64 * share).round() as usize])
}

fn judged(one: &Series) -> f64 {
    one.predicted.expect("it is judged").judged_seconds
}

mod quick {
    use super::*;

    #[test]
    #[ignore = "needs network namespaces and TUN devices; ./test --all runs it"]
    fn ranks_of_several_nodes_have_every_byte() {
        let bed = Bed {
            name: "nodes",
            nodes: 3,
            per_node: 3,
            megabits_per_second: 1000.0,
            latency: 100.0,
            overhead: 30.0,
        };
        let said = bed.run_with(&["selftest", "--problems", "200"], &[]);
        assert!(said.contains("50 allgather") && said.contains("every byte as from MPI"), "{said}");
    }

    /// Slow enough for a busy machine.
    const SLOW: Bed = Bed {
        name: "slow",
        nodes: 5,
        per_node: 1,
        megabits_per_second: 50.0,
        latency: 8000.0,
        overhead: 2000.0,
    };

    #[test]
    #[ignore = "needs network namespaces and TUN devices; ./test --all runs it"]
    fn latency_occupancy_and_times_are_those_of_the_network() {
        let more = ["--largest", "8192", "--seconds", "10"];
        let (machine, file) = SLOW.calibrated(&more);
        for size in table(&machine).sizes() {
            let occupancy = SLOW.occupancy(size.bytes);
            assert!(within(0.1, size.occupancy, occupancy), "{size:?}, not {occupancy}");
            assert!(within(0.1, size.latency, SLOW.latency * 1e-6), "{size:?}");
        }
        assert!(machine.network.send_overhead.unwrap() < 2e-4, "{machine:?}");
        let times = SLOW.measured(
            &file,
            &["--dist", "same", "-b", "1000", "--algorithm", "linear-eager", "--repetitions", "7"],
        );
        // The root has posted its receives: one latency, and four messages one after the other.
        let expected = SLOW.latency * 1e-6 + 4.0 * SLOW.occupancy(1000);
        let names: Vec<_> = times.series().iter().map(|one| one.algorithm.name()).collect();
        assert_eq!(names, ["native", "linear-eager"]);
        for one in times.series() {
            let predicted = one.predicted.expect("both are judged");
            assert!(within(0.1, one.times.minimum(), expected), "{one:?}, not {expected}");
            assert!(within(0.1, predicted.judged_seconds, expected), "{one:?}, not {expected}");
        }
    }
}

mod long {
    use super::*;

    /// Latency overlaps.
    const OVERLAPPING: Bed = Bed {
        name: "overlapping",
        nodes: 16,
        per_node: 1,
        megabits_per_second: 200.0,
        latency: 500.0,
        overhead: 100.0,
    };

    /// Messages cost at the ports.
    const COSTLY: Bed = Bed {
        name: "costly",
        nodes: 32,
        per_node: 1,
        megabits_per_second: 100.0,
        latency: 500.0,
        overhead: 400.0,
    };

    /// The least of all repetitions, in seconds: whatever else runs on this machine only ever adds to them.
    fn least(measured: &[Measurements], one: &Series) -> f64 {
        let same = measured.iter().filter_map(|times| times.of(one.problem(), one.algorithm));
        same.map(|one| one.times.minimum()).fold(f64::INFINITY, f64::min)
    }

    /// How judge and choice did.
    struct Agreement {
        said: String,
        holds: bool,
    }

    /// Judged times, which a calibrated machine predicts, beside the least of measured ones, of 20 problems. It holds
    /// if what is judged is within 20 % of what is measured from the 10 % to the 90 % quantile, for the library
    /// and for what is recommended, and that is within 10 % of the fastest in at least 17 of the 20. It is the
    /// library, if its time by the judge is within 2 % of the least, else the tree of least time.
    fn agreement(measured: &[Measurements]) -> Agreement {
        let times = &measured[0];
        let least = |one: &Series| least(measured, one);
        let mut library = Vec::new();
        let mut chosen = Vec::new();
        let mut good = 0;
        let (mut gain, mut worst) = (0.0, 0.0_f64);
        let problems = times.problems();
        for &problem in &problems {
            let all: Vec<&Series> =
                times.series().iter().filter(|one| one.is_of(problem)).collect();
            let native = all.iter().find(|one| one.algorithm == Algorithm::Native).unwrap();
            let best = all
                .iter()
                .filter(|one| matches!(one.algorithm, Algorithm::Planned(_, Pace::Eager)))
                .min_by(|one, other| judged(one).total_cmp(&judged(other)))
                .unwrap();
            let choice = if judged(native) <= 1.02 * judged(best) { native } else { best };
            let fastest = all.iter().map(|one| least(one)).fold(f64::INFINITY, f64::min);
            library.push(judged(native) / least(native));
            chosen.push(judged(best) / least(best));
            good += usize::from(least(choice) <= 1.1 * fastest);
            let ratio = least(choice) / least(native);
            gain += ratio.ln() / problems.len() as f64;
            worst = worst.max(ratio);
        }
        let (library, chosen) = (quantiles(library), quantiles(chosen));
        let said = format!(
            "judged / measured: library {library:.3?}, best tree {chosen:.3?}; within 10 % of the fastest \
             in {good} of {}; time / library {:.3}, at most {worst:.3}",
            problems.len(),
            f64::exp(gain)
        );
        let are_close = [library, chosen].iter().all(|[low, _, high]| *low >= 0.8 && *high <= 1.2);
        Agreement { said, holds: are_close && 20 * good >= 17 * problems.len() }
    }

    /// Measures an operation, prints how judge and choice did, and fails unless they agree. On a machine that does
    /// much else seven repetitions may all be disturbed: up to three times as many are made.
    fn agrees(bed: &Bed, machine: &str, operation: &str) {
        let arguments = [
            "--op",
            operation,
            "--dist",
            "same,random,spikes,skewed,decreasing",
            "-b",
            "8,100,1000,10000",
            "--repetitions",
            "7",
            "--warm-up",
            "1",
            "--algorithm",
            "linear-eager,oblivious-eager,adaptive-eager,deadline-eager,optimal-eager",
        ];
        let mut measured = Vec::new();
        let holds = (1..=3).any(|round| {
            measured.push(bed.measured(machine, &arguments));
            let Agreement { said, holds } = agreement(&measured);
            println!("{}, {operation}, round {round}: {said}", bed.name);
            holds
        });
        assert!(
            holds,
            "{}, {operation}: judge or choice do not agree with what is measured",
            bed.name
        );
    }

    #[test]
    #[ignore = "takes minutes, network namespaces and TUN devices; ./test --all runs it"]
    fn the_judge_agrees_where_latency_overlaps() {
        let (_, machine) = OVERLAPPING.calibrated(&[]);
        agrees(&OVERLAPPING, &machine, "gather");
        agrees(&OVERLAPPING, &machine, "scatter");
    }

    #[test]
    #[ignore = "takes minutes, network namespaces and TUN devices; ./test --all runs it"]
    fn the_judge_agrees_where_messages_cost_at_ports() {
        let (_, machine) = COSTLY.calibrated(&["--seconds", "40"]);
        agrees(&COSTLY, &machine, "gather");
        agrees(&COSTLY, &machine, "scatter");
    }

    /// Small buffers: what all send at once to one is lost in part, and sent again after 200 ms.
    const INCAST: Bed = Bed {
        name: "incast",
        nodes: 32,
        per_node: 1,
        megabits_per_second: 200.0,
        latency: 100.0,
        overhead: 100.0,
    };

    #[test]
    #[ignore = "takes a minute, network namespaces and TUN devices; ./test --all runs it"]
    fn a_window_of_senders_avoids_incast() {
        let (_, machine) = INCAST.calibrated(&["--seconds", "10", "--largest", "65536"]);
        let blocks = ["--dist", "same", "-b", "10000", "--algorithm", "auto"];
        let few = ["--warm-up", "3", "--repetitions", "7"];
        let arguments = [&blocks[..], &few, &["--window", "64KiB"]].concat();
        let times = INCAST.measured_with(&machine, &arguments, &[("BED_BUFFER", "100000")]);
        let median = |algorithm| times.of(times.problems()[0], algorithm).unwrap().times.median();
        let (library, auto) = (median(Algorithm::Native), median(Algorithm::Auto));
        assert!(3.0 * auto < library, "{auto} s, the library {library} s");
    }

    #[test]
    #[ignore = "takes a minute, network namespaces and TUN devices; ./test --all runs it"]
    fn calibrate_finds_the_window_of_small_buffers() {
        let few = ["--seconds", "12", "--largest", "65536"];
        let median = |machine: &str, set: &[&str]| {
            let blocks = ["--dist", "same", "-b", "10000", "--algorithm", "auto"];
            let repeated = ["--warm-up", "3", "--repetitions", "9"];
            let arguments = [&blocks[..], &repeated, set].concat();
            let times = INCAST.measured_with(machine, &arguments, &[("BED_BUFFER", "100000")]);
            let of = |algorithm| times.of(times.problems()[0], algorithm).unwrap().times.median();
            (of(Algorithm::Auto), of(Algorithm::Native))
        };
        let (machine, file) = INCAST.calibrated_with(&few, &[("BED_BUFFER", "100000")]);
        let window = machine.network.window.expect("data is lost");
        assert!((20_000..=100_000).contains(&window), "{window}");
        let (found, library) = median(&file, &[]);
        let (machine, file) = INCAST.calibrated(&few);
        assert_eq!(machine.network.window, None, "nothing is lost");
        let (set, _) = median(&file, &["--window", "64KiB"]);
        println!("{found} s with {window} bytes, {set} s with 64 KiB, the library {library} s");
        assert!(found < 1.15 * set, "{found} s, {set} s with a window that is set");
        assert!(3.0 * found < library, "{found} s, the library {library} s");
    }
}
