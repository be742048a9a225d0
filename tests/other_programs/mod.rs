//! Checks against other people's programs. They need Debian packages, so that plain `cargo test`
//! leaves them out and `./test` runs them.

mod astra_sim;
mod c_files;
mod chakra;
mod chromium;
mod forced;
mod loggopsim;
mod mpi;
mod network;
mod pdf;
mod simgrid;
mod smpi_runs;
mod tuning;
