//! Checks against other people's programs. They need Debian packages, so that plain `cargo test`
//! leaves them out and `./test` runs them.

mod c_files;
mod chakra;
mod chromium;
mod forced;
mod loggopsim;
mod mpi;
mod network;
mod simgrid;
mod smpi_runs;
mod tuning;
