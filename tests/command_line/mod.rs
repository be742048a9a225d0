//! The program from outside: good runs, and bad input of every kind.

mod bad_input;
mod broadcast;
mod good_runs;
mod machines;
mod map;
mod pictures;
mod ports;
mod schedules;
