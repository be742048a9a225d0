//! Exported schedules as programs: C files beside a driver, compiled by an MPI's compiler.

use crate::program::{folder, workspace_file};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use tuwtree_model::ClosedSet;
use tuwtree_schedule::export::c::CFiles;
use tuwtree_schedule::{Order, Payload, Schedule};

/// A schedule and the name of its C files.
pub(super) struct Exported {
    pub(super) name: String,
    pub(super) schedule: Schedule,
}

/// Writes the C files of all cases and the driver's table of them into a new folder.
pub(super) fn write_all(cases: &[Exported], folder_name: &str) -> PathBuf {
    let folder = folder(folder_name);
    for Exported { name, schedule } in cases {
        let files = CFiles::new(schedule, name).unwrap();
        let (mut header, mut source) = (Vec::new(), Vec::new());
        files.header(&mut header).unwrap();
        files.source(&mut source).unwrap();
        fs::write(folder.join(format!("{name}.h")), header).unwrap();
        fs::write(folder.join(format!("{name}.c")), source).unwrap();
    }
    fs::write(folder.join("cases.c"), table(cases)).unwrap();
    folder
}

/// The driver's table, as C.
fn table(cases: &[Exported]) -> String {
    let mut text = String::from("#include \"driver.h\"\n\n#include <stddef.h>\n\n");
    let mut rows = String::new();
    for Exported { name, schedule } in cases {
        let task = schedule.task();
        let operation = task.operation.name().to_uppercase().replace('-', "_");
        let _ = writeln!(text, "#include \"{name}.h\"\n{operation}_FUNCTIONS({name})");
        let (mut sizes, mut displacements) = ("NULL".to_owned(), "NULL".to_owned());
        if let (Payload::Blocks(blocks), true) = (&task.payload, task.operation.is_reduction()) {
            displacements = format!("displacements_{name}");
            let places: Vec<u64> = (0..=task.ranks()).map(|rank| blocks.before(rank)).collect();
            let _ = writeln!(text, "static const MPI_Aint {displacements}[] = {};", list(&places));
        } else if let Payload::Blocks(blocks) = &task.payload {
            sizes = format!("sizes_{name}");
            let blocks: Vec<u64> = blocks.iter().collect();
            let _ = writeln!(text, "static const long long {sizes}[] = {};", list(&blocks));
        }
        let (messages, group) = match &task.payload {
            Payload::Messages(messages) => (Some(messages.iter().collect::<Vec<u64>>()), 0),
            Payload::Groups(groups) => (Some(groups.blocks().iter().collect()), groups.ranks()[0]),
            Payload::Blocks(_) | Payload::Vector(_) => (None, 0),
        };
        let mut of_messages = "NULL".to_owned();
        if let Some(messages) = &messages {
            of_messages = format!("messages_{name}");
            let _ = writeln!(text, "static const long long {of_messages}[] = {};", list(messages));
        }
        if let Some(places) = &task.displacements {
            displacements = format!("displacements_{name}");
            let _ = writeln!(text, "static const MPI_Aint {displacements}[] = {};", list(places));
        }
        let (p, root) = (task.ranks(), task.root.unwrap_or_default());
        let bytes = if sizes == "NULL" { task.total() } else { 0 };
        let commutes = i32::from(task.order != Order::Ordered);
        let _ = writeln!(
            rows,
            "    {{ \"{name}\", {operation}, {p}, {root}, {sizes}, {displacements}, {bytes}, \
             {commutes}, {of_messages}, {group}, OF({name}) }},"
        );
    }
    let count = cases.len();
    text + &format!("\nconst struct test_case test_cases[] = {{\n{rows}}};\n")
        + &format!("const int test_case_count = {count};\n")
}

fn list(numbers: &[u64]) -> String {
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    format!("{{ {} }}", numbers.join(", "))
}

/// The flags under which everything compiles without a word.
pub(super) const STRICT_FLAGS: [&str; 5] =
    ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// How to make a program of exported schedules.
pub(super) struct Recipe<'a> {
    pub(super) compiler: &'a str,
    /// The driver among the files of these tests.
    pub(super) driver: &'a str,
    /// The flags for each schedule's file, by its index.
    pub(super) flags: &'a (dyn Fn(usize) -> Vec<String> + Sync),
}

/// The program made of the folder's cases and a driver, all compiled without a warning.
pub(super) fn build(build: &Recipe<'_>, cases: &[Exported], folder: &Path) -> PathBuf {
    let drivers = workspace_file("tests/other_programs");
    let optimized = || vec!["-O2".to_owned()];
    let mut units = vec![
        (drivers.join(build.driver), optimized()),
        (drivers.join("buffers.c"), optimized()),
        (folder.join("cases.c"), optimized()),
    ];
    for (index, case) in cases.iter().enumerate() {
        units.push((folder.join(format!("{}.c", case.name)), (build.flags)(index)));
    }
    let object = |source: &Path| folder.join(source.file_name().unwrap()).with_extension("o");
    let left = Mutex::new(units.iter());
    let compile = || {
        loop {
            let next = left.lock().unwrap().next();
            let Some((source, flags)) = next else { break };
            let mut command = Command::new(build.compiler);
            command.args(STRICT_FLAGS).args(flags).arg(format!("-I{}", drivers.display()));
            succeed(command.arg("-c").arg(source).arg("-o").arg(object(source)));
        }
    };
    std::thread::scope(|scope| {
        scope.spawn(compile);
        scope.spawn(compile);
    });
    let program = folder.join("program");
    let objects = units.iter().map(|(source, _)| object(source));
    succeed(Command::new(build.compiler).args(objects).arg("-o").arg(&program));
    program
}

/// The standard output of a command that succeeds without a warning.
#[track_caller]
pub(super) fn succeed(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let [out, error] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}\n{out}\n{error}");
    out.replace('\0', "")
}
