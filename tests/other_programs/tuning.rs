//! Files of `select`, loaded by MPICH and Open MPI: algorithms change where they say.

use super::c_files::succeed;
use crate::program::{folder, tuwtree, workspace_file};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bruck's algorithm up to 3000 bytes in all, then the ring, at 5 processes: 3 messages and a copy of all against 4
/// messages.
const COSTS: &str = "--alpha 3000 --beta 1 --gamma 1";

/// The program for an MPI library, of a source here.
fn program(mpi: &str, source: &str) -> PathBuf {
    let folder = folder(&format!("{source}-{mpi}"));
    let program = folder.join("program");
    let source = workspace_file("tests/other_programs").join(format!("{source}.c"));
    succeed(Command::new(format!("mpicc.{mpi}")).arg("-o").arg(&program).arg(source));
    program
}

fn launch(mpi: &str, program: &Path, options: &[&str], bytes: u64) -> Command {
    let mut command = Command::new("timeout");
    command
        .args(["600", &format!("mpirun.{mpi}"), "-n", "5"])
        .args(options)
        .arg(program)
        .args([&bytes.to_string(), "7"])
        .current_dir(program.parent().unwrap())
        .envs([
            ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
            ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
            ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
        ]);
    command
}

#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_sends_the_messages_of_what_is_selected() {
    let program = program("openmpi", "tuned_allgather");
    let folder = program.parent().unwrap();
    let rules = folder.join("rules.conf").to_str().unwrap().to_owned();
    let arguments = "select --op allgather -p 5 --bytes 1..1MiB --for open-mpi";
    tuwtree(&format!("{arguments} {COSTS} -o {rules}")).success();
    // To whom rank 0 sends, and how many blocks in each of 7 calls.
    let sent = |bytes: u64| -> Vec<(u64, u64)> {
        let options = [
            "--mca",
            "coll_tuned_use_dynamic_rules",
            "1",
            "--mca",
            "coll_tuned_dynamic_rules_filename",
            &rules,
            "--mca",
            "pml_monitoring_enable",
            "2",
            "--mca",
            "pml_monitoring_enable_output",
            "3",
            "--mca",
            "pml_monitoring_filename",
            "prof",
        ];
        succeed(&mut launch("openmpi", &program, &options, bytes));
        let profile = std::fs::read_to_string(folder.join("prof.0.prof")).unwrap();
        let internal = profile.lines().filter(|line| line.starts_with("I\t"));
        internal
            .map(|line| {
                let numbers: Vec<u64> =
                    line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
                (numbers[1], numbers[2] / (7 * bytes))
            })
            .collect()
    };
    assert_eq!(sent(599), [(1, 1), (3, 2), (4, 1)]);
    assert_eq!(sent(601), [(1, 4)]);
}

/// MPICH's library, in which its own table is.
fn library_of(program: &Path) -> String {
    let find = format!("ldd {} | awk '/libmpich/ {{print $3}}'", program.display());
    succeed(Command::new("sh").args(["-c", &find])).trim().to_owned()
}

#[test]
#[ignore = "needs MPICH; ./test --all runs it"]
fn mpich_uses_what_is_selected_for_its_sizes_only() {
    let program = program("mpich", "tuned_allgather");
    let folder = program.parent().unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let arguments = "select --op allgather,bcast,allreduce,reduce,reduce_scatter,alltoall -p 2..9";
    let (base, tuned) = (library_of(&program), path("tuned.json"));
    tuwtree(&format!("{arguments} {COSTS} --for mpich --base {base} -o {tuned}")).success();
    let run = |table: &str, bytes: u64| {
        let mut command = launch("mpich", &program, &[], bytes);
        command.env("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", table);
        command.output().unwrap().status.success()
    };
    for bytes in [599, 601] {
        assert!(run(&tuned, bytes), "{bytes} bytes");
    }
    // An algorithm that is not for 5 processes, in place of Bruck's: only what was selected for that ends.
    let table = std::fs::read_to_string(&tuned).unwrap();
    let wrong = table.replace("Allgather_intra_brucks", "Allgather_intra_recursive_doubling");
    std::fs::write(path("wrong.json"), wrong).unwrap();
    assert!(!run(&path("wrong.json"), 599));
    assert!(run(&path("wrong.json"), 601));
}

/// Bandwidth counts from the start on: of an allreduce the ring is chosen, of a reduction Rabenseifner's for all but few bytes.
const FAST: &str = "--alpha 1 --beta 1 --gamma 1 --combine 1";

#[test]
#[ignore = "needs Open MPI; ./test --all runs it"]
fn open_mpi_reduces_in_rank_order_by_what_is_selected() {
    let program = program("openmpi", "tuned_reductions");
    let folder = program.parent().unwrap();
    // The number of results that are wrong.
    let wrong = |costs: &str, order: &str, processes: &str| -> u64 {
        let rules = folder.join("rules.conf").to_str().unwrap().to_owned();
        let arguments = "select --op reduce,allreduce,reduce-scatter -p 2..9 --for open-mpi";
        tuwtree(&format!("{arguments} {costs} {order} -o {rules}")).success();
        let set =
            ["coll_tuned_use_dynamic_rules", "1", "coll_tuned_dynamic_rules_filename", &rules];
        let mut command = Command::new("timeout");
        command
            .args(["600", "mpirun.openmpi", "-n", processes])
            .args(["--mca", set[0], set[1], "--mca", set[2], set[3]])
            .arg(&program)
            .envs([
                ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
                ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
                ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
            ]);
        succeed(&mut command).trim().parse().unwrap()
    };
    for processes in ["5", "8"] {
        for costs in [FAST, "--alpha 2us --beta 12.5GB/s --gamma 10GB/s"] {
            assert_eq!(wrong(costs, "", processes), 0, "{costs}, {processes} processes");
        }
        assert!(wrong(FAST, "--order any", processes) > 0, "{processes} processes");
    }
}

#[test]
#[ignore = "needs MPICH; ./test --all runs it"]
fn mpich_scatters_reductions_in_place_whatever_the_blocks() {
    let program = program("mpich", "scattered_in_place");
    let folder = program.parent().unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (base, tuned) = (library_of(&program), path("tuned.json"));
    let arguments = "select --op reduce-scatter -p 2..9 --for mpich";
    tuwtree(&format!("{arguments} {FAST} --base {base} -o {tuned}")).success();
    let table = std::fs::read_to_string(&tuned).unwrap();
    // Pairwise from 1 byte on.
    assert!(table.contains("\"total_msg_size=any\": {\n"), "{table}");
    for processes in ["3", "4"] {
        let mut command = Command::new("timeout");
        command.args(["600", "mpirun.mpich", "-n", processes]).arg(&program);
        succeed(command.env("MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE", &tuned));
    }
}
