//! All readers on texts that are nearly right: none panics, whatever is changed, cut out or put in twice.
//!
//! `TUWTREE_FUZZ_CASES` says how many cases there are for each of 24 texts (400 by itself, 6000 with `./test --all`).

use std::fs;
use std::io::Write;
use std::path::Path;
use tuwtree_io::{Source, machine, measurements, recording, schedule, sizes, tree};

/// How many cases there are by themselves.
const FEW: usize = 400;

/// Numbers that stumble.
const WORDS: [&str; 14] = [
    "18446744073709551615",
    "-1",
    "1e308",
    "NaN",
    "0",
    "{",
    "}",
    "[",
    "]",
    "\"",
    ",",
    "null",
    "9223372036854775808",
    "\u{feff}",
];

/// Random numbers: xorshift.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % most.max(1) as u64) as usize
    }

    /// The text with some changes.
    fn mangled(&mut self, text: &[u8]) -> Vec<u8> {
        let mut text = text.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(text.len() + 1);
            let end = (at + self.below(12)).min(text.len());
            match self.below(6) {
                0 if at < text.len() => text[at] ^= 1 << self.below(8),
                1 => drop(text.drain(at..end)),
                2 => text.truncate(at),
                3 => {
                    let again = text[at..end].to_vec();
                    text.splice(at..at, again);
                }
                4 => drop(text.splice(at..end, *b"7")),
                _ => {
                    let word = WORDS[self.below(WORDS.len())];
                    text.splice(at..end, word.bytes());
                }
            }
        }
        text
    }
}

/// Reads mangled forms of this text again and again; most are refused, with a message of one line that is not long.
fn reads<T, E: ToString>(name: &str, seed: &[u8], read: impl Fn(&Source) -> Result<T, E>) {
    let cases = std::env::var("TUWTREE_FUZZ_CASES").map_or(FEW, |cases| cases.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let source = Source::File(path.clone());
    fs::write(&path, seed).unwrap();
    if let Err(error) = read(&source) {
        panic!("the seed itself is refused: {}", error.to_string());
    }
    let seed_of = |sum: u64, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte));
    let mut dice = Dice(name.bytes().fold(0x9e37_79b9, seed_of) | 1);
    for case in 0..cases {
        let text = dice.mangled(seed);
        fs::File::create(&path).unwrap().write_all(&text).unwrap();
        if let Err(error) = read(&source) {
            let message = error.to_string();
            let shown = || String::from_utf8_lossy(&text).into_owned();
            assert!(message.contains(name), "case {case}: {message}\n{}", shown());
            assert!(message.len() < 4000, "case {case}: {message}\n{}", shown());
        }
    }
}

fn data(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data").join(name)).unwrap()
}

#[test]
fn block_sizes() {
    reads("sizes.txt", b"12 7, 0 # a comment\n3 99 1000000\n", sizes::read);
    reads("sizes.csv", b"rank,size_bytes\n0,12\n1,7\n2,0\n", sizes::read);
    reads("list.json", b"[12, 7, 0, 3, 99]", sizes::read);
    let document = b"{\"format\":\"tuwtree-sizes\",\"version\":1,\"block_sizes_bytes\":[12,7,0,3]}";
    reads("sizes.json", document, sizes::read);
}

#[test]
fn matrices_and_displacements() {
    let matrix = |source: &Source| sizes::read_matrix(source, None);
    reads("matrix.txt", b"1 2 3\n4 5 6\n7 8 9\n", matrix);
    reads("matrix.json", b"[[1,2,3],[4,5,6],[7,8,9]]", matrix);
    let array = b"\x93NUMPY\x01\0\x46\0{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }          \n\x01\0\x02\0\x03\0\x04\0";
    reads("matrix.npy", array, matrix);
    let pattern = b"[collective]\ntype = ALLTOALLV\ndatatype = INT32\ncounts = {\n 1,2\n 3,4\n}\n";
    reads("matrix.ptini", pattern, matrix);
    reads("displacements.txt", b"0 12 19 19\n", sizes::read_displacements);
    reads("displacements.json", b"[0, 12, 19, 19]", sizes::read_displacements);
}

#[test]
fn trees_and_schedules() {
    let document = b"{\"format\":\"tuwtree-tree\",\"version\":1,\"processors\":4,\"root\":1,\"subtrees\":[[],[0,1,3],[],[2,3]]}";
    reads("tree.json", document, tree::read);
    for name in ["allgather", "deadlock", "gather", "pipelined_broadcast", "scatter_two_ports"] {
        let name = format!("{name}.json");
        reads(&name, &data(&format!("schedules/{name}")), schedule::read);
    }
}

#[test]
fn machines() {
    for name in ["asymmetric.toml", "two-sites.toml", "vsc3.toml", "ring.json"] {
        reads(name, &data(&format!("machines/{name}")), machine::read);
    }
}

#[test]
fn listings_of_benchmarks() {
    for name in ["imb.txt", "osu.txt", "reprompi.txt"] {
        reads(name, &data(&format!("listings/{name}")), machine::read);
    }
}

#[test]
fn platforms_of_simgrid() {
    for name in ["cabinets.xml", "hosts.xml"] {
        reads(name, &data(&format!("platforms/{name}")), machine::read);
    }
}

#[test]
fn shapes_of_machines() {
    for name in ["hostfile", "node.xml"] {
        reads(name, &data(&format!("shapes/{name}")), machine::read);
    }
}

#[test]
fn measured_times_and_recorded_calls() {
    let measured =
        fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/measurements"));
    let mut measured: Vec<_> = measured.unwrap().map(|entry| entry.unwrap().path()).collect();
    measured.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    measured.sort();
    if let Some(path) = measured.first() {
        reads("measured.json", &fs::read(path).unwrap(), measurements::read);
    }
    let recorded = b"{\"format\":\"tuwtree-recording\",\"version\":1,\"mpi_library\":\"a\",\"processes\":2,\"rank\":0,\
        \"entries\":[{\"function\":\"MPI_Gatherv\",\"operation\":\"gather\",\"root\":1,\"block_sizes_bytes\":[4,0],\
        \"calls\":4,\"seconds\":0.5,\"least_seconds\":0.1,\"greatest_seconds\":0.2}],\
        \"left_out_calls\":0,\"left_out_seconds\":0.0}";
    reads("recorded.json", recorded, recording::read);
}
