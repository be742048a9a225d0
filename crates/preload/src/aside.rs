//! Detection of a program on another MPI library than this one was built for. Its handles and constants differ, so that
//! nothing of ours can be called; this library then stands aside, and says so once:
//!
//! - Where the program is linked to its MPI library itself, that is searched for a name before those that this library
//!   brings. Every call goes straight to it (`exported.rs`).
//! - Where only libraries of the program are, as with MPI's interfaces for Fortran, the MPI library that this one brings
//!   would come first, for all functions of MPI. So the program is started again without this library, before
//!   it has begun.
//! - A program that loads its MPI library later, as Python does, cannot run, for the same reason; when it
//!   initializes MPI, at least that is said.

use crate::loaded;
use crate::log;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::LazyLock;

/// The MPI libraries whose handles and constants are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BinaryInterface {
    OpenMpi,
    /// MPICH and what descends from it: Intel MPI, MVAPICH, Cray MPICH.
    Mpich,
    /// MPI's own, since version 5.
    Standard,
}

/// The MPI library whose interface this library was built for.
const OURS: BinaryInterface = if cfg!(standard_abi) {
    BinaryInterface::Standard
} else if cfg!(open_mpi) {
    BinaryInterface::OpenMpi
} else {
    BinaryInterface::Mpich
};

impl BinaryInterface {
    fn name(self) -> &'static str {
        match self {
            BinaryInterface::OpenMpi => "Open MPI",
            BinaryInterface::Mpich => "MPICH's kin",
            BinaryInterface::Standard => "MPI's standard ABI",
        }
    }

    /// That of the library in this file, which calls itself so.
    fn of(file: &str, version: &str) -> BinaryInterface {
        if file_name(file).starts_with("libmpi_abi.") {
            BinaryInterface::Standard
        } else if version.starts_with("Open MPI") {
            BinaryInterface::OpenMpi
        } else {
            BinaryInterface::Mpich
        }
    }

    /// That of the library with this file's name, if it is an MPI library's.
    fn of_file(file: &str) -> Option<BinaryInterface> {
        let name = file_name(file).strip_prefix("libmpi")?;
        match name {
            _ if name.starts_with("_abi.so") => Some(BinaryInterface::Standard),
            _ if name.contains(".so.40") => Some(BinaryInterface::OpenMpi),
            _ if name.contains(".so.12") => Some(BinaryInterface::Mpich),
            _ => None,
        }
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

static STANDS_ASIDE: LazyLock<bool> = LazyLock::new(|| {
    let answers = loaded::behind(VERSION);
    let Some((file, version)) = loaded::file_of(answers).zip(said_by(answers)) else {
        return false;
    };
    let is_another = BinaryInterface::of(&file, &version) != OURS;
    if is_another {
        say_aside(&version);
    }
    is_another
});

/// The function that says what a library is.
const VERSION: &CStr = c"PMPI_Get_library_version";

/// Set for a program that has been started again.
const MARK: &str = "TUWTREE_STOOD_ASIDE";

/// True if all calls go to the MPI library, which answers to every name behind this one.
pub(crate) fn stands_aside() -> bool {
    *STANDS_ASIDE
}

fn say_aside(version: &str) {
    if is_first_of_its_job() {
        log::hint(&format!(
            "stands aside: built for {}, but the program runs on {version}; all calls stay that library's. To use \
             trees, preload a build for it. (TUWTREE_LOG=0: not this line)",
            OURS.name()
        ));
    }
}

/// The file of an MPI library with another interface whose names this library's has taken, if one is loaded.
fn displaced() -> Option<String> {
    let is_another = |file: &String| BinaryInterface::of_file(file).is_some_and(|one| one != OURS);
    loaded::files().into_iter().find(is_another).filter(|_| !stands_aside())
}

#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

/// Starts the program again without this library if it displaces the program's MPI library.
extern "C" fn at_load() {
    let Some(file) = displaced() else { return };
    let version = said_by(loaded::in_library(&file, VERSION)).unwrap_or(file);
    let own = loaded::file_of(at_load as *const c_void);
    let Some(others) = own.and_then(|own| without(&std::env::var("LD_PRELOAD").ok()?, &own)) else {
        return;
    };
    if std::env::var_os(MARK).is_none() {
        say_aside(&version);
        let changed = [("LD_PRELOAD", others.as_str()), (MARK, "1")];
        loaded::start_again(&changed);
    }
}

/// A list of preloaded libraries without this file; `None` if that is not in it.
fn without(list: &str, own: &str) -> Option<String> {
    let is_own = |entry: &&str| match entry.contains('/') {
        true => std::fs::canonicalize(entry).ok() == std::fs::canonicalize(own).ok(),
        false => file_name(own) == *entry,
    };
    let entries = || list.split([':', ' ']).filter(|entry| !entry.is_empty());
    let others: Vec<&str> = entries().filter(|entry| !is_own(entry)).collect();
    (others.len() < entries().count()).then(|| others.join(":"))
}

/// Says so, if the program has loaded another MPI library after its start, whose names this one's has taken.
pub(crate) fn warn_of_later_libraries() {
    if let Some(other) = displaced().filter(|_| is_first_of_its_job()) {
        log::hint(&format!(
            "built for {}, but the program has loaded {other}, of another MPI library: it will probably fail. \
             Run it without this library, or preload a build for that MPI library",
            OURS.name()
        ));
    }
}

/// Version text of the MPI library that owns this function, named [`VERSION`].
fn said_by(function: *const c_void) -> Option<String> {
    /// Enough for any library: the longest limit known is 8192.
    const ROOM: usize = 1 << 16;
    if function.is_null() {
        return None;
    }
    let mut text = vec![0u8; ROOM];
    let mut length = 0;
    // SAFETY: MPI's function of this name, which may be called before MPI is initialized, and whose arguments are
    // alike in all MPI libraries; the text is longer than any of them writes.
    unsafe {
        let get: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int =
            std::mem::transmute(function);
        get(text.as_mut_ptr().cast(), &mut length);
    }
    Some(version(&CStr::from_bytes_until_nul(&text).ok()?.to_string_lossy()))
}

/// The first statement of what a library says of itself.
fn version(text: &str) -> String {
    let first = text.lines().next().unwrap_or_default();
    let first = first.split(',').next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    words.join(" ")
}

/// True for the first process of a job, as far as launchers tell.
fn is_first_of_its_job() -> bool {
    const RANKS: [&str; 4] = ["OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"];
    let stated = RANKS.iter().find_map(|name| std::env::var(name).ok());
    stated.is_none_or(|rank| rank.trim() == "0")
}
