//! Output for users: numbers, tables, pictures.

pub(crate) mod advice;
pub(crate) mod compared;
pub(crate) mod comparison;
pub(crate) mod drawing;
pub(crate) mod format;
pub(crate) mod machine;
pub(crate) mod page;
pub(crate) mod picture;
pub(crate) mod progress;
#[cfg(unix)]
pub(crate) mod signals;
pub(crate) mod swept;
pub(crate) mod text;
pub(crate) mod tuning;
