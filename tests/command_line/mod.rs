//! The program from outside: good runs, and bad input of every kind.

mod advise;
mod allgather;
mod alltoall;
mod bad_input;
mod bombs;
mod broadcast;
mod cut;
mod formats;
mod front_door;
mod good_runs;
mod listings;
mod little_memory;
mod machines;
mod map;
mod measured;
mod orders;
mod overlapping;
mod picture_files;
mod pictures;
mod platforms;
mod ports;
mod recorded;
mod reductions;
mod schedules;
mod select;
mod shapes;
