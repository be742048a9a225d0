//! Errors as Python has them.

use pyo3::PyErr;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use std::fmt::Display;
use tuwtree_cli::CliError;

/// What is wrong with an argument: its name, what it was given, and what is allowed.
pub(crate) fn invalid(argument: &str, value: impl Display, allowed: impl Display) -> PyErr {
    PyValueError::new_err(format!("{argument}: {value}; allowed: {allowed}"))
}

/// What is wrong with an argument, as a message that has value and range.
pub(crate) fn wrong(argument: &str, error: impl Display) -> PyErr {
    PyValueError::new_err(format!("{argument}: {error}"))
}

/// An error of the program.
pub(crate) fn of_program(error: CliError) -> PyErr {
    match error {
        CliError::Interrupted => PyKeyboardInterrupt::new_err(()),
        CliError::Usage(message) => PyValueError::new_err(message),
        error => PyRuntimeError::new_err(error.to_string()),
    }
}
