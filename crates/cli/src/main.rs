//! The program `tuwtree`; its code is in the library.

fn main() -> std::process::ExitCode {
    tuwtree_cli::program(std::env::args_os())
}
