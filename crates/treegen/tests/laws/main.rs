//! Laws of constructed trees, and of costs that are not the same everywhere, checked on many.

mod constructed;
mod groups;
mod machines;
mod model_based;
mod overlapping;
