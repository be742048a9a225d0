//! `tuwtree advise --recording`: advice on each call of a program.

use crate::program::{folder, json, tuwtree, workspace_file};
use std::fs;
use std::path::PathBuf;

/// A recording of two calls, and its file.
fn recording(name: &str, root: usize) -> PathBuf {
    let file = folder(name).join("calls.json");
    let entry = |function: &str, operation: &str, root: usize, sizes: &str| {
        format!(
            "{{\"function\":\"{function}\",\"operation\":\"{operation}\",\"root\":{root},\
             \"block_sizes_bytes\":[{sizes}],\"calls\":4,\"seconds\":0.002,\"least_seconds\":0.0001,\
             \"greatest_seconds\":0.001}}"
        )
    };
    let text = format!(
        "{{\"format\":\"tuwtree-recording\",\"version\":1,\"mpi_library\":\"Open MPI v4.1.4\",\"processes\":8,\
         \"rank\":0,\"entries\":[{},{}],\"left_out_calls\":0,\"left_out_seconds\":0.0}}",
        entry("MPI_Gatherv", "gather", root, "1,2,3,4,5,6,7,8"),
        entry("MPI_Iscatterv", "scatter", 0, "100,0,0,100"),
    );
    fs::write(&file, text).unwrap();
    file
}

#[test]
fn each_recorded_call_has_the_advice_on_its_blocks_and_root() {
    let file = recording("recorded", 3);
    let file = file.to_str().unwrap();
    let costs = "--alpha 100 --beta 1 --gamma 1";
    let all = json(&format!("advise --recording {file} {costs} --json"));
    assert_eq!(all["format"], "tuwtree-advice-on-calls");
    let calls = all["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 2);
    for (call, op, sizes) in
        [(&calls[0], "gather", "1,2,3,4,5,6,7,8"), (&calls[1], "scatter", "100,0,0,100")]
    {
        let list = folder("recorded-one").join("sizes.txt");
        fs::write(&list, sizes).unwrap();
        let root = call["root"].as_u64().unwrap();
        let list = list.to_str().unwrap();
        // What is compared with is the library of the recording.
        let library = "--library open-mpi-5";
        let one = json(&format!(
            "advise --sizes {list} --op {op} --root {root} {costs} {library} --json"
        ));
        assert_eq!(call["advice"], one);
        assert_eq!(call["calls"], 4);
    }
    let text = tuwtree(&format!("advise --recording {file} {costs}")).success();
    assert!(text.contains("2 distinct calls, 8 in all, 4 ms in them"), "{text}");
    assert!(
        text.contains("MPI_Gatherv, 8 processes, root 3, 36 bytes (largest block 8): 4 times"),
        "{text}"
    );
}

#[test]
fn recordings_of_different_runs_are_told_apart() {
    let file = recording("recorded-mixed", 3);
    let other = file.with_extension("json.1");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&other, text.replace("\"processes\":8", "\"processes\":16")).unwrap();
    let run = tuwtree(&format!("advise --recording {} {}", file.display(), other.display()));
    let note = "calls.json.1 is of a job of 16 processes";
    assert!(
        run.stderr.contains(note) && run.stderr.contains("of different runs"),
        "{}",
        run.stderr
    );
    run.success();
}

#[test]
fn a_machine_of_other_processes_and_a_root_that_there_is_not_are_said() {
    let file = recording("recorded-other", 9);
    let output = tuwtree(&format!("advise --recording {}", file.display()));
    output.fails(1, &["calls.json: entry 0: root 9 is outside 0..8"]);
    let file = recording("recorded-other", 0);
    let machine = "--machine data/machines/griffon.toml";
    let text = tuwtree(&format!("advise --recording {} {machine}", file.display())).success();
    assert!(text.contains("  No advice: "), "{text}");
    // What to do next names what was given.
    let next = format!("bench --recording {} {machine}", file.display());
    assert!(text.contains(&next), "{text}");
    tuwtree(&format!("advise --recording {} --dist same", file.display()))
        .fails(2, &["--recording"]);
}

#[test]
fn the_librarys_best_setting_and_the_next_command_are_said() {
    let file = folder("recorded-settings").join("calls.json");
    let entry = |function: &str, operation: &str, sizes: &str| {
        format!(
            "{{\"function\":\"{function}\",\"operation\":\"{operation}\",\"root\":0,\
             \"block_sizes_bytes\":[{sizes}],\"calls\":4,\"seconds\":0.002,\"least_seconds\":0.0001,\
             \"greatest_seconds\":0.001}}"
        )
    };
    let entries = [
        entry("MPI_Gatherv", "gather", "1,2,3,4,5,6,7,80000"),
        entry("MPI_Allgatherv", "allgather", "1,2,3,4,5,6,7,80000"),
        entry("MPI_Alltoallv", "alltoall", "1,1,1,1,1,1,1,1"),
        entry("MPI_Reduce_scatter", "reduce-scatter", "1,1,1,1,1,1,1,1"),
    ];
    let caution = "operators that do not commute give wrong results";
    for (library, gather, allgather) in [
        (
            "Open MPI v4.1.4",
            "has no setting that does it in another way.",
            "coll_tuned_reduce_scatter_algorithm 2. With it, reductions by operators that do not commute give wrong results.",
        ),
        (
            "MPICH Version: 4.0.2",
            "MPICH 3.4 to 4.2 has no setting that does it in another way.",
            "(MPIR_CVAR_ALLGATHERV_INTRA_ALGORITHM=brucks: bruck) takes 2.7 times as long.",
        ),
        (
            "Intel(R) MPI Library 2021.19",
            "The gather of Intel MPI at its best setting (I_MPI_ADJUST_GATHERV=3: oblivious) takes ",
            "Intel MPI has no setting that does it in another way.",
        ),
    ] {
        let text = format!(
            "{{\"format\":\"tuwtree-recording\",\"version\":2,\"mpi_library\":\"{library}\",\"processes\":8,\
             \"rank\":0,\"entries\":[{}],\"left_out_calls\":0,\"left_out_seconds\":0.0}}",
            entries.join(",")
        );
        fs::write(&file, text).unwrap();
        let machine = "--machine data/machines/griffon.toml";
        let costs = "--alpha 100 --beta 1 --gamma 1";
        let said = tuwtree(&format!("advise --recording {} {costs}", file.display())).success();
        assert!(said.contains(gather), "{said}");
        assert!(said.contains(allgather), "{said}");
        assert_eq!(said.contains(caution), library.starts_with("Open MPI"), "{said}");
        let nothing =
            "No advice: of an alltoall, each rank records its own messages: all ranks' recordings";
        assert!(said.contains(nothing), "{said}");
        let said = tuwtree(&format!("advise --recording {} {machine}", file.display())).success();
        let next = format!(
            "To measure these calls: mpirun -n 8 tuwtree-exec bench --recording {} --machine data/machines/griffon.toml",
            file.display()
        );
        assert!(said.contains(&next), "{said}");
    }
}

#[test]
fn an_alltoall_that_all_ranks_have_recorded_has_advice() {
    let folder = folder("recorded-rows");
    let mut files = String::new();
    for rank in (0..8).rev() {
        let file = folder.join(format!("calls.json.{rank}"));
        // Rank 3 has a large message for everybody.
        let size = if rank == 3 { 90_000 } else { 1 };
        let text = format!(
            "{{\"format\":\"tuwtree-recording\",\"version\":2,\"mpi_library\":\"Open MPI v4.1.4\",\"processes\":8,\
             \"rank\":{rank},\"entries\":[{{\"function\":\"MPI_Alltoallv\",\"operation\":\"alltoall\",\"root\":{rank},\
             \"block_sizes_bytes\":{:?},\"calls\":4,\"seconds\":0.002,\"least_seconds\":0.0001,\
             \"greatest_seconds\":0.001}}],\"left_out_calls\":0,\"left_out_seconds\":0.0}}",
            [size; 8]
        );
        fs::write(&file, text).unwrap();
        files.push_str(&format!(" --recording {}", file.display()));
    }
    let costs = "--alpha 100 --beta 1 --gamma 1";
    let said = tuwtree(&format!("advise{files} {costs}")).success();
    assert!(
        said.contains("MPI_Alltoallv, 8 processes, at rank 0, 720056 bytes (largest block 90000)"),
        "{said}"
    );
    assert!(!said.contains("No advice") && said.matches("distinct call").count() == 1, "{said}");
    let all = json(&format!("advise{files} {costs} --json"));
    let calls = all["calls"].as_array().unwrap();
    assert_eq!(calls.len(), 1);
    // Seven messages of 90,000 bytes leave rank 3.
    let time = calls[0]["advice"]["completion_time"].as_u64().unwrap();
    assert!(time >= 7 * 90_000, "{all}");
}

#[test]
fn recordings_of_real_programs_have_advice_on_every_call() {
    let folder = workspace_file("data/recordings");
    let mut files: Vec<PathBuf> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort_unstable();
    let list: String =
        files.iter().map(|file| format!(" --recording {}", file.display())).collect();
    let costs = "--alpha 10 --beta 0.01 --gamma 0.01";
    let all = json(&format!("advise{list} {costs} --json"));
    let calls = all["calls"].as_array().unwrap();
    let of = |operation: &str| calls.iter().filter(|call| call["operation"] == operation).count();
    for (operation, least) in [("gather", 2), ("scatter", 1), ("allgather", 8), ("alltoall", 150)] {
        assert!(of(operation) >= least, "{operation}: {}", of(operation));
    }
    for call in calls {
        // Of an alltoall a rank has recorded only what it sends.
        let is_whole = call["operation"] != "alltoall";
        assert_eq!(call["advice"].is_object(), is_whole, "{call}");
        assert_eq!(call["no_advice"].is_string(), !is_whole, "{call}");
    }
    let text = tuwtree(&format!("advise{list} {costs}")).success();
    for program in ["lammps-peptide", "pw-silicon", "petsc-gamg", "petsc-mumps", "petsc-superlu"] {
        assert!(text.contains(program), "{program}: {text}");
    }
}
