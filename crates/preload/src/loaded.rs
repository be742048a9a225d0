//! Symbols of the libraries that are loaded.

use std::ffi::{CStr, CString, OsStr, OsString, c_char, c_int, c_void};
use std::os::unix::ffi::OsStrExt;

/// A name as C has it.
macro_rules! c_name {
    ($name:ident) => {
        const {
            match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("it ends with its only zero"),
            }
        }
    };
}
pub(crate) use c_name;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn execve(
        file: *const c_char,
        arguments: *const *const c_char,
        environment: *const *const c_char,
    ) -> c_int;
    fn dladdr(address: *const c_void, found: *mut FoundSymbol) -> c_int;
}

/// `Dl_info`.
#[repr(C)]
struct FoundSymbol {
    file: *const c_char,
    file_begins: *mut c_void,
    symbol: *const c_char,
    symbol_begins: *mut c_void,
}

/// The handle that asks libraries behind the one that asks: -1 in glibc and musl.
const NEXT: *mut c_void = std::ptr::without_provenance_mut(usize::MAX);

/// True if a loaded library has this symbol.
pub(crate) fn has(name: &CStr) -> bool {
    // SAFETY: the null handle asks all libraries that are loaded; the name ends with a zero.
    !unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) }.is_null()
}

/// The address of this symbol in the next library behind this one that has it, or null.
pub(crate) fn behind(name: &CStr) -> *mut c_void {
    // SAFETY: a handle that the system knows; the name ends with a zero.
    unsafe { dlsym(NEXT, name.as_ptr()) }
}

/// Address of this symbol in a loaded library or its dependencies; null if absent.
pub(crate) fn in_library(file: &str, name: &CStr) -> *mut c_void {
    /// `RTLD_LAZY | RTLD_NOLOAD` in glibc.
    const ONLY_IF_LOADED: c_int = 1 | 4;
    let Ok(file) = CString::new(file) else { return std::ptr::null_mut() };
    // SAFETY: names that end with a zero; nothing is loaded that is not, and what is found stays.
    unsafe {
        let library = dlopen(file.as_ptr(), ONLY_IF_LOADED);
        if library.is_null() { library } else { dlsym(library, name.as_ptr()) }
    }
}

/// Starts this program again in this process, with the same arguments and another environment. Returns only if
/// that is not possible.
pub(crate) fn start_again(changed: &[(&str, &str)]) {
    let Ok(arguments) = std::fs::read("/proc/self/cmdline") else { return };
    let arguments: Vec<CString> = arguments
        .split_inclusive(|&byte| byte == 0)
        .filter_map(|one| Some(CStr::from_bytes_with_nul(one).ok()?.to_owned()))
        .collect();
    let is_changed = |name: &OsStr| changed.iter().any(|&(other, _)| name == other);
    let kept = std::env::vars_os().filter(|(name, _)| !is_changed(name));
    let changed =
        changed.iter().map(|&(name, value)| (OsString::from(name), OsString::from(value)));
    let environment: Vec<CString> = kept
        .chain(changed)
        .filter_map(|(name, value)| {
            CString::new([name.as_bytes(), b"=", value.as_bytes()].concat()).ok()
        })
        .collect();
    let pointers = |list: &[CString]| -> Vec<*const c_char> {
        list.iter().map(|one| one.as_ptr()).chain([std::ptr::null()]).collect()
    };
    // SAFETY: lists of strings that end with null.
    unsafe {
        execve(
            c"/proc/self/exe".as_ptr(),
            pointers(&arguments).as_ptr(),
            pointers(&environment).as_ptr(),
        );
    }
}

/// The file of the library, or program, in which this address is.
pub(crate) fn file_of(address: *const c_void) -> Option<String> {
    let nothing = std::ptr::null();
    let nowhere = std::ptr::null_mut();
    let mut found = FoundSymbol {
        file: nothing,
        file_begins: nowhere,
        symbol: nothing,
        symbol_begins: nowhere,
    };
    // SAFETY: the address is only looked for; what is found is written to a local variable.
    let is_found = !address.is_null() && unsafe { dladdr(address, &mut found) } != 0;
    // SAFETY: a name that ends with a zero, and stays as long as the library is loaded.
    (is_found && !found.file.is_null())
        .then(|| unsafe { CStr::from_ptr(found.file) }.to_string_lossy().into_owned())
}

/// The files of all libraries that are loaded, as far as the system tells.
pub(crate) fn files() -> Vec<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mut files: Vec<String> =
        maps.lines().filter_map(|line| Some(line[line.find('/')?..].to_owned())).collect();
    files.dedup();
    files
}
