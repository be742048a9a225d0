//! The papers' numbers, each named by its table.

mod statements;
mod tables;
