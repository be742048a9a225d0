//! What users see: numbers, tables, pictures.

pub(crate) mod drawing;
pub(crate) mod machine;
pub(crate) mod progress;
pub(crate) mod text;
