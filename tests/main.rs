//! The workspace's integration tests: one binary, a module for each kind of evidence.

mod laws;
