//! Laws of schedules: their simulation, verification and documents.

mod documents;
mod fuzz;
mod judged;
mod order;
mod simulation;
mod verification;
