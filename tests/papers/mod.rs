//! The papers' numbers, each named by its table.

mod rootless;
mod tables;
