//! What users see: numbers, tables, pictures, files.

pub(crate) mod drawing;
pub(crate) mod file;
pub(crate) mod machine;
pub(crate) mod png;
pub(crate) mod progress;
pub(crate) mod sizes;
pub(crate) mod text;
