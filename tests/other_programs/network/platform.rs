//! Clusters as SimGrid simulates them, and programs of these tests run on them.
//!
//! Only SimGrid reads what a platform is made of: floods measure it from outside.

use crate::other_programs::c_files::{STRICT_FLAGS, succeed};
use crate::program::workspace_file;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A simulated cluster.
#[derive(Clone, Copy, Debug)]
pub(super) struct Platform {
    /// The name in tables and folders.
    pub(super) name: &'static str,
    /// From the innermost level on: its name, and how many groups of it, or processes, make one of
    /// the next.
    pub(super) levels: &'static [(&'static str, usize)],
    /// How many processes are on a host.
    processes_per_host: usize,
    /// How many hosts there are.
    hosts: usize,
    /// Further attributes of SimGrid's `<cluster>`.
    attributes: &'static str,
    /// The factor within which times are known, if it is stated.
    pub(super) uncertainty: Option<f64>,
}

/// 12.5 GB/s and 1 us from each host to a switch that is never crowded.
pub(super) const CLUSTER: Platform = Platform {
    name: "cl",
    levels: &[("cluster", 64)],
    processes_per_host: 1,
    hosts: 512,
    attributes: r#"bw="12.5GBps" lat="1us" bb_bw="3TBps" bb_lat="0us""#,
    uncertainty: None,
};

/// The first 64 hosts of a fat tree of 512: groups of 8 on a switch, with four links upwards.
pub(super) const FAT_TREE: Platform = Platform {
    name: "ft",
    levels: &[("switch", 8), ("tree", 8)],
    processes_per_host: 1,
    hosts: 512,
    attributes: r#"bw="12.5GBps" lat="300ns" topology="FAT_TREE" topo_parameters="3;8,8,8;1,4,2;1,1,2" sharing_policy="SPLITDUPLEX""#,
    uncertainty: None,
};

/// A cube of 4 x 4 x 4 hosts. Messages share the links on their way, which floods to one process do not show: as much
/// uncertainty is stated as by the built-in machines.
pub(super) const TORUS: Platform = Platform {
    name: "torus",
    levels: &[("torus", 64)],
    processes_per_host: 1,
    hosts: 64,
    attributes: r#"bw="12.5GBps" lat="300ns" topology="TORUS" topo_parameters="4,4,4" sharing_policy="SPLITDUPLEX""#,
    uncertainty: Some(1.5),
};

/// 8 nodes of 16 processes; each node has one link.
pub(super) const NODES: Platform = Platform {
    name: "nd",
    levels: &[("node", 16), ("cluster", 8)],
    processes_per_host: 16,
    hosts: 8,
    attributes: r#"core="16" bw="12.5GBps" lat="1us" bb_bw="3TBps" bb_lat="0us" loopback_bw="8GBps" loopback_lat="0.3us""#,
    uncertainty: None,
};

/// What SMPI charges processes for each message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Overheads {
    /// 0.4 us at both ends.
    Given,
    /// 1.3 us at both ends.
    Large,
    /// Nothing.
    Unset,
}

impl Overheads {
    /// What tables call them.
    pub(super) fn name(self) -> &'static str {
        match self {
            Overheads::Given => "0.4 us",
            Overheads::Large => "1.3 us",
            Overheads::Unset => "unset",
        }
    }
}

/// Settings under which only messages take time, and asking for the time does not.
const SETTINGS: [&str; 3] = ["smpi/simulate-computation:no", "smpi/test:0", "smpi/wtime:0"];

impl Platform {
    /// The processes that the levels have room for.
    pub(super) fn processes(&self) -> usize {
        self.levels.iter().map(|(_, members)| members).product()
    }

    /// Writes platform and hosts, with as many places for processes as there are.
    fn write(&self, folder: &Path) {
        let last = self.hosts - 1;
        let platform = format!(
            "<?xml version='1.0'?>\n\
             <!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
             <platform version=\"4.1\">\n  \
             <cluster id=\"cluster\" prefix=\"n\" suffix=\"\" radical=\"0-{last}\" speed=\"1Gf\" {}/>\n\
             </platform>\n",
            self.attributes
        );
        let mut hosts = String::new();
        for place in 0..self.hosts * self.processes_per_host {
            let _ = writeln!(hosts, "n{}", place / self.processes_per_host);
        }
        fs::write(folder.join("platform.xml"), platform).unwrap();
        fs::write(folder.join("hosts.txt"), hosts).unwrap();
    }

    /// The lines that a C program beside this file prints when that many processes run it here.
    pub(super) fn run(
        &self,
        folder: &Path,
        overheads: Overheads,
        processes: usize,
        program: &str,
        arguments: &[String],
    ) -> Vec<String> {
        self.write(folder);
        let sources = workspace_file("tests/other_programs/network");
        let mut compiler = Command::new("smpicc");
        compiler.args(STRICT_FLAGS).arg("-O2");
        compiler.arg(sources.join(format!("{program}.c"))).arg(sources.join("clock.c"));
        succeed(compiler.arg("-o").arg(folder.join(program)));
        let mut command = Command::new("timeout");
        command.args(["3000", "smpirun", "-np", &processes.to_string()]);
        command.args(["-hostfile", "hosts.txt", "-platform", "platform.xml"]);
        command.args(SETTINGS.iter().map(|setting| format!("--cfg={setting}")));
        let seconds = match overheads {
            Overheads::Given => Some("4e-7"),
            Overheads::Large => Some("1.3e-6"),
            Overheads::Unset => None,
        };
        if let Some(seconds) = seconds {
            // For messages of 0 bytes and more: seconds, and seconds per byte.
            command.args(["os", "or", "ois"].map(|end| format!("--cfg=smpi/{end}:0:{seconds}:0")));
        }
        command.arg(format!("./{program}")).args(arguments).current_dir(folder);
        succeed(&mut command).lines().map(str::to_owned).collect()
    }
}
