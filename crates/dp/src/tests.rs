//! Laws between several programs of this crate, and random problems for all its tests.

mod agreement;
mod lemmas;
pub(crate) mod random;
