//! Constructions side by side.

use crate::error::{of_program, wrong};
use crate::machine::checked;
use crate::problem::Problem;
use crate::schedule::{Schedule, Tree};
use crate::watch::interruptible;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::sync::Arc;
use tuwtree::model::document::TreeDocument;
use tuwtree::{Advice, Outcome, Plan};
use tuwtree_cli::front_end::{self, Options};

/// What was compared for a problem.
#[pyclass(frozen, module = "tuwtree._native")]
pub(crate) struct Comparison(tuwtree::Comparison);

/// The comparison of the constructions that these options of the command line choose.
#[pyfunction]
pub(crate) fn compare(
    py: Python<'_>,
    problem: &Problem,
    options: Vec<String>,
) -> PyResult<Comparison> {
    let options = checked(Options::parse(options))?;
    let problem = &problem.0;
    let compared = interruptible(py, |watch| options.compare(problem, watch))?;
    compared.map(Comparison).map_err(of_program)
}

impl Comparison {
    fn outcome(&self, index: usize) -> PyResult<&Outcome> {
        let count = self.0.outcomes.len();
        let error = || PyIndexError::new_err(format!("plan {index}; there are 0 to {}", count - 1));
        self.0.outcomes.get(index).ok_or_else(error)
    }

    fn index_of(&self, outcome: &Outcome) -> usize {
        let is_it = |one: &Outcome| std::ptr::eq(one, outcome);
        self.0.outcomes.iter().position(is_it).expect("it is one of them")
    }
}

#[pymethods]
impl Comparison {
    /// The document that `tuwtree optimize --json` prints.
    fn document(&self) -> String {
        front_end::comparison_document(&self.0).to_string()
    }

    /// A row for each construction, a list in JSON.
    fn rows(&self) -> String {
        serde_json::Value::Array(front_end::comparison_rows(&self.0)).to_string()
    }

    /// The comparison in words.
    fn text(&self) -> String {
        front_end::comparison_text(&self.0)
    }

    /// A page with pictures; `source` says what is moved.
    fn page(&self, source: &str) -> PyResult<String> {
        checked(front_end::comparison_page(&self.0, source))
    }

    /// The construction of each plan.
    fn constructions(&self) -> Vec<&'static str> {
        use tuwtree::ClosedSet;
        self.0.outcomes.iter().map(|outcome| outcome.construction.name()).collect()
    }

    /// A plan in a line.
    fn line(&self, index: usize) -> PyResult<String> {
        Ok(front_end::plan_text(&self.0, self.outcome(index)?))
    }

    /// Which plan is recommended.
    fn recommended(&self) -> usize {
        self.index_of(self.0.recommended())
    }

    /// Completion time and the order of a plan.
    fn times(&self, index: usize) -> PyResult<(f64, &'static str)> {
        use tuwtree::ClosedSet;
        let outcome = self.outcome(index)?;
        Ok((outcome.time().units(), outcome.order.name()))
    }

    /// The bound on all trees.
    fn lower_bound(&self) -> f64 {
        self.0.bound.units()
    }

    /// The tree of a plan; `None` if it has none.
    fn tree(&self, index: usize) -> PyResult<Option<Tree>> {
        let tree = match self.outcome(index)?.plan() {
            Plan::Tree(tree) => tree.clone(),
            Plan::Programs(_) => return Ok(None),
        };
        Ok(Some(Tree(TreeDocument { tree, problem: Some(self.0.problem.clone()) })))
    }

    /// What each rank does in a plan.
    fn schedule(&self, py: Python<'_>, index: usize) -> PyResult<Schedule> {
        let plan = self.outcome(index)?.plan();
        let made =
            interruptible(py, |_| plan.schedule(&self.0.problem).map(|one| one.into_owned()))?;
        Ok(Schedule(Arc::new(made.map_err(|error| wrong("plan", error))?)))
    }

    /// The advice: which plan to use, the document in JSON, and in words.
    fn advice(&self) -> (usize, String, String) {
        let advice = Advice::new(&self.0);
        let document = front_end::advice_document(&advice).to_string();
        (self.index_of(advice.chosen), document, front_end::advice_text(&advice))
    }
}
