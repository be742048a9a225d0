//! `select` on the command line: algorithms of MPI libraries by size, and the files that these read.

use crate::program::{folder, json, tuwtree};
use serde_json::{Value, json};

/// A table with the conditions of MPICH 4.0 for two operations.
const TABLE: &str = r#"{
  "collective=bcast": {"comm_type=intra": {"comm_size=any": {"algorithm=MPIR_Bcast_intra_binomial": {}}},
    "comm_type=inter": {"algorithm=MPIR_Bcast_inter_remote_send_local_bcast": {}}},
  "collective=allreduce": {"comm_type=intra": {"avg_msg_size=any": {"algorithm=MPIR_Allreduce_intra_recursive_doubling": {}}}},
  "collective=barrier": {"comm_type=intra": {"algorithm=MPIR_Barrier_intra_dissemination": {}}}
}"#;

#[test]
fn the_fastest_algorithms_are_listed_by_size() {
    let found = json("select --op broadcast -p 8 --bytes 1..1MiB --alpha 100 --json");
    let row = |from: u64, name: &str| {
        json!({ "operation": "broadcast", "first_processors": 8, "last_processors": 8,
                "from_bytes": from, "algorithm": name })
    };
    // 300 + 3 n > 600 + 1.75 n from n = 241 on.
    let expected = json!([row(1, "binomial"), row(241, "scatter-doubling")]);
    assert_eq!(found["ranges"], expected);
    let text = tuwtree("select --op bcast,allgather -p 8 --bytes 1..1MiB").success();
    assert!(text.contains("broadcast\n  8 "), "{text}");
    assert!(text.contains("scatter-doubling from 241"), "{text}");
    let csv = tuwtree("select --op alltoall -p 2..9 --format csv").success();
    assert!(csv.starts_with("operation,first_processors,last_processors,from_bytes,algorithm\n"));
    let regret = json("select --op allgather,alltoall -p 2..40 --regret --json");
    let worst = |index: usize| regret["operations"][index]["worst"].as_f64().unwrap();
    assert!(worst(0) >= 1.0 && worst(1) >= 1.0, "{regret}");
}

#[test]
fn mpich_s_table_is_kept_but_for_what_is_selected() {
    let folder = folder("select-mpich");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (base, output) = (path("base.json"), path("tuned.json"));
    std::fs::write(&base, TABLE).unwrap();
    let arguments = "select --op bcast,allreduce -p 8 --bytes 1..1MiB --for mpich";
    tuwtree(&format!("{arguments} --base {base} -o {output}")).success();
    let tuned: Value = serde_json::from_str(&std::fs::read_to_string(&output).unwrap()).unwrap();
    let own: Value = serde_json::from_str(TABLE).unwrap();
    assert_eq!(tuned["collective=barrier"], own["collective=barrier"]);
    let of = |table: &Value, name: &str| table[format!("collective={name}")].clone();
    assert_eq!(of(&tuned, "bcast")["comm_type=inter"], of(&own, "bcast")["comm_type=inter"]);
    let broadcast = json!({
        "comm_size<8": of(&own, "bcast")["comm_type=intra"],
        "comm_size<=8": {
            "avg_msg_size<241": { "algorithm=MPIR_Bcast_intra_binomial": {} },
            "avg_msg_size=any": { "algorithm=MPIR_Bcast_intra_scatter_recursive_doubling_allgather": {} },
        },
        "comm_size=any": of(&own, "bcast")["comm_type=intra"],
    });
    let found = of(&tuned, "bcast")["comm_type=intra"].clone();
    // Conditions are tried in their order.
    assert_eq!(found.to_string(), broadcast.to_string());
    let guarded = &of(&tuned, "allreduce")["comm_type=intra"];
    let own = &of(&own, "allreduce")["comm_type=intra"];
    assert_eq!(&guarded["is_op_built_in=no"], own);
    assert_eq!(&guarded["is_op_built_in=yes"]["count<pow2"], own);
    tuwtree(&format!("{arguments} -o {output}")).fails(2, &["--for mpich needs --base"]);
    let of_device = TABLE.replace("algorithm=MPIR_Bcast_intra_binomial", "composition=MPIDI_Bcast");
    std::fs::write(&base, of_device).unwrap();
    tuwtree(&format!("{arguments} --base {base} -o {output}"))
        .fails(1, &["base.json", "the table is that of MPICH's device"]);
    std::fs::write(&base, "{}").unwrap();
    tuwtree(&format!("{arguments} --base {base} -o {output}"))
        .fails(1, &["base.json", "the table lacks \"collective=bcast\""]);
}

#[test]
fn selections_are_written_as_other_libraries_read_them() {
    let folder = folder("select-others");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let written = |library: &str| {
        let file = path(library);
        let arguments = "select --op bcast -p 8 --bytes 1..1MiB";
        tuwtree(&format!("{arguments} --for {library} -o {file}")).success();
        std::fs::read_to_string(&file).unwrap()
    };
    assert_eq!(
        written("open-mpi"),
        "1 # operations\n7 # bcast\n3 # numbers of processes\n0\n1\n0 0 0 0\n8\n2 # sizes\n\
         0 6 0 0 # binomial\n241 8 0 0 # scatter_allgather\n9\n1\n0 0 0 0\n"
    );
    let rules: Value = serde_json::from_str(&written("open-mpi-json")).unwrap();
    assert_eq!(
        rules,
        json!({ "rule_file_version": 3, "module": "tuned", "collectives": { "bcast": [
            { "comm_size_min": 8, "comm_size_max": 8, "rules": [
                { "msg_size_min": 0, "msg_size_max": 240, "alg": "binomial" },
                { "msg_size_min": 241, "msg_size_max": "inf", "alg": "scatter_allgather" },
            ] },
        ] } })
    );
    assert_eq!(written("ucc"), "UCC_TL_UCP_TUNE=bcast:0-241:[8-8]:@0#bcast:241-inf:[8-8]:@1\n");
    assert_eq!(written("intel"), "export I_MPI_ADJUST_BCAST='1:0-240@8-8;2:241-2147483647@8-8'\n");
}

#[test]
fn what_cannot_be_selected_is_refused() {
    tuwtree("select --op gather").fails(2, &["nothing is chosen by size for gather"]);
    tuwtree("select --op bcast -p 9..2").fails(2, &["numbers of processes from 2 to"]);
    tuwtree("select --op bcast --bytes 9").fails(2, &["two sizes"]);
    tuwtree("select --op bcast --bytes 1..8GiB").fails(2, &["sizes up to 2147483647"]);
    tuwtree("select --op bcast -o rules.conf").fails(2, &["--for"]);
}
