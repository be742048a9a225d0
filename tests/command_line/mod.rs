//! The program from outside: good runs, and bad input of every kind.

mod advise;
mod bad_input;
mod broadcast;
mod formats;
mod good_runs;
mod machines;
mod map;
mod measured;
mod orders;
mod pictures;
mod ports;
mod schedules;
