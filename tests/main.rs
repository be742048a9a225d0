//! The workspace's integration tests: one binary, a module for each kind of evidence.

mod c_header;
mod command_line;
mod documents;
mod manual;
mod other_programs;
mod papers;
mod program;
