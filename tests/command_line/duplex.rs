//! Duplex ports on the command line: chosen, compared with exchanges, written, judged and exported.

use crate::program::{folder, json, times, tuwtree};

const BLOCKS: &str = "--op allreduce --vector 128 -p 13 --alpha 1000 --algorithm binary-blocks";

#[test]
fn both_readings_of_ports_stand_beside_each_other() {
    let exchanges = json(&format!("optimize {BLOCKS} --json"));
    assert_eq!(times(&exchanges), [("binary-blocks", 13_416)]);
    assert_eq!(exchanges["constructions"][0]["completion_time_duplex"], 12_400);
    let duplex = json(&format!("optimize {BLOCKS} --duplex --json"));
    assert_eq!(times(&duplex), [("binary-blocks", 12_400)]);
    assert_eq!(duplex["duplex"], true);
    assert_eq!(duplex["constructions"][0]["completion_time_as_exchanges"], 13_416);
    let text = tuwtree(&format!("compare {BLOCKS}")).success();
    assert!(text.contains("  time  duplex"), "{text}");
    assert!(text.contains("13416   12400") || text.contains("13416  12400"), "{text}");
    let text = tuwtree(&format!("compare {BLOCKS} --duplex")).success();
    assert!(text.contains("; duplex ports\n"), "{text}");
    assert!(text.contains("  time  as exchanges"), "{text}");
    // What is made for duplex ports only has no time as exchanges.
    let shop = "compare --op alltoall --dist random -p 5 -b 50 --algorithm open-shop --json";
    let shop = json(shop);
    let known = &shop["constructions"][0];
    assert_eq!(known["completion_time"], known["completion_time_duplex"]);
    let gather = json("compare --dist spikes -p 9 --json");
    assert_eq!(gather["constructions"][0].get("completion_time_duplex"), None);
}

#[test]
fn the_number_of_pieces_is_the_best_on_the_ports_that_there_are() {
    let sizes = folder("duplex-pieces").join("sizes.txt").to_str().unwrap().to_owned();
    std::fs::write(&sizes, "0\n20\n5\n0\n0\n3\n0\n1\n").unwrap();
    let arguments = format!(
        "optimize --op allgather --sizes {sizes} --alpha 1 --beta 1 --gamma 0 --algorithm circulant-pieces --json"
    );
    let found = |ports: &str| {
        let one = &json(&format!("{arguments} {ports}"))["constructions"][0];
        let number = |field: &str| one[field].as_u64();
        let otherwise = number("completion_time_duplex").or(number("completion_time_as_exchanges"));
        [number("pieces"), number("completion_time"), otherwise].map(Option::unwrap)
    };
    assert_eq!(found(""), [4, 46, 46]);
    let [pieces, duplex, _] = found("--duplex");
    assert_eq!([pieces, duplex], [5, 45]);
}

#[test]
fn schedules_on_duplex_ports_are_written_judged_drawn_and_exported() {
    let folder = folder("duplex");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let (plan, plain) = (path("plan.json"), path("plain.json"));
    tuwtree(&format!("optimize {BLOCKS} --duplex -o {plan}")).success();
    tuwtree(&format!("optimize {BLOCKS} -o {plain}")).success();
    let text = std::fs::read_to_string(&plan).unwrap();
    assert!(text.contains("\"version\":6") && text.contains("\"duplex\":true"), "{text}");
    assert!(tuwtree(&format!("verify {plan}")).success().ends_with("ports      1, duplex\n"));
    for command in ["simulate", "evaluate"] {
        for arguments in [plan.clone(), format!("{plain} --duplex")] {
            let found = json(&format!("{command} {arguments} --json"));
            assert_eq!(found["completion_time"], 12_400, "{command} {arguments}");
            assert_eq!(found["duplex"], true);
        }
        assert_eq!(json(&format!("{command} {plain} --json"))["completion_time"], 13_416);
    }
    let picture = tuwtree(&format!("draw {plan} --picture timeline")).success();
    assert!(picture.contains("both sides of the ports of all processes"), "{picture}");
    assert!(!picture.contains("class=\"exchange\""), "halves have bars of their own");
    let trace = path("trace.json");
    tuwtree(&format!("simulate {plan} --trace {trace}")).success();
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(trace.contains("rank 3, sends") && trace.contains("rank 3, receives"), "{trace}");
    tuwtree(&format!("export {plan} --format goal")).success();
    let reason = "holds both sides of a duplex port";
    tuwtree(&format!("export {plan} -o {}", path("blocks.c"))).fails(1, &[reason]);
    tuwtree(&format!("export {plan} -o {} --format smpi", path("smpi")))
        .fails(1, &["duplex ports"]);
    let allgather = "--op allgather --dist random -p 6 -b 40 --algorithm ring --duplex";
    tuwtree(&format!("optimize {allgather} -o {plan}")).success();
    tuwtree(&format!("export {plan} -o {}", path("ring.c"))).success();
}

#[test]
fn trees_have_no_duplex_ports() {
    for command in ["optimize --dist spikes -p 9", "compare --op broadcast --vector 9 -p 4"] {
        tuwtree(&format!("{command} --duplex")).fails(2, &["--duplex", "along a tree"]);
    }
    tuwtree("compare --op broadcast --cut --vector 900 -p 5 --duplex").success();
}

#[test]
fn combining_takes_what_the_machine_says_unless_it_is_said() {
    let folder = folder("combining-machine");
    let file = folder.join("machine.toml");
    let text = "format = \"tuwtree-machine\"\nversion = 4\nname = \"a\"\ndate = \"2026-01-01\"\n\
                provenance = \"made up\"\ncombine_seconds_per_byte = 1.0\n[homogeneous]\n\
                alpha_seconds = 10.0\nbeta_seconds_per_byte = 1.0\ngamma_seconds_per_byte = 1.0\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let time = |arguments: &str| {
        let arguments = format!(
            "optimize --op allreduce --vector 24 -p 5 --algorithm circulant {arguments} --json"
        );
        json(&arguments)["constructions"][0]["completion_time"].as_f64().unwrap()
    };
    let combined = time("--alpha 10 --combine 1");
    let free = time("--alpha 10");
    assert!(free < combined);
    assert_eq!(time(&format!("--machine {file}")), combined);
    assert_eq!(time(&format!("--machine {file} --combine 0")), free);
    assert!(tuwtree(&format!("machine {file}")).success().contains("combining   1"));
    // Trees are those of operators that take no time, and other operations combine nothing.
    tuwtree(&format!("optimize --op reduce --vector 24 -p 5 --machine {file}")).success();
    tuwtree(&format!("optimize --op allgather --dist same -p 5 --machine {file}")).success();
}
