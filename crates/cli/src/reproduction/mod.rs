//! The papers' tables, figures and statements, beside what the constructions here find.

pub(crate) mod drawings;
pub(crate) mod figures;
pub(crate) mod partition;
pub(crate) mod statements;
pub(crate) mod tables;
