//! The subcommands: each its arguments and a `run`.

pub(crate) mod advise;
pub(crate) mod draw;
pub(crate) mod evaluate;
pub(crate) mod export;
pub(crate) mod generate;
pub(crate) mod machine;
pub(crate) mod map;
pub(crate) mod optimize;
mod recorded;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod select;
pub(crate) mod shell;
pub(crate) mod show;
pub(crate) mod simulate;
pub(crate) mod sweep;
pub(crate) mod verify;
