//! The program from outside: good runs, and bad input of every kind.

mod bad_input;
mod good_runs;
mod machines;
mod pictures;
mod schedules;
