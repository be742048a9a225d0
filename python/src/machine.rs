//! Costs, of a machine or as some numbers.

use crate::error::{invalid, of_program, wrong};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tuwtree::model::document::Machine as MachineDocument;
use tuwtree::model::quantity::{Cost, Unit, parse_time, parse_time_per_byte};
use tuwtree::model::{CostMatrix, StatedCosts};
use tuwtree::{Costs, Homogeneous};
use tuwtree_cli::front_end;
use tuwtree_io::machine;

/// What messages and copies cost.
#[pyclass(frozen, module = "tuwtree._native")]
pub(crate) struct Machine(pub(crate) StatedCosts);

/// The names of the machines that are built in.
#[pyfunction]
pub(crate) fn machines() -> Vec<&'static str> {
    machine::SAMPLES.iter().map(|sample| sample.name).collect()
}

#[pymethods]
impl Machine {
    /// The machine that is built in under this name, or in this file.
    #[staticmethod]
    fn named(argument: &str) -> PyResult<Machine> {
        let source = machine::named(argument).map_err(|error| wrong("machine", error))?;
        let machine = machine::read(&source).map_err(|error| wrong("machine", error))?;
        Ok(Machine(machine.into()))
    }

    /// The machine in a document of JSON.
    #[staticmethod]
    fn of_document(text: &str) -> PyResult<Machine> {
        let machine: MachineDocument =
            serde_json::from_str(text).map_err(|error| wrong("machine", error))?;
        Ok(Machine(machine.into()))
    }

    /// The costs that are the same for all, as texts: plain numbers or with units.
    #[staticmethod]
    #[pyo3(signature = (alpha, beta, gamma, overhead=None))]
    fn of_costs(alpha: &str, beta: &str, gamma: &str, overhead: Option<&str>) -> PyResult<Machine> {
        let parsed = |name: &str, text: &str, parse: fn(&str) -> Result<Cost, String>| {
            parse(text).map_err(|allowed| invalid(name, text, allowed))
        };
        let mut stated = vec![("alpha", parsed("alpha", alpha, parse_time)?)];
        stated.push(("beta", parsed("beta", beta, parse_time_per_byte)?));
        stated.push(("gamma", parsed("gamma", gamma, parse_time_per_byte)?));
        if let Some(overhead) = overhead {
            stated.push(("overhead", parsed("overhead", overhead, parse_time)?));
        }
        let with = stated.iter().find(|(_, cost)| matches!(cost, Cost::Seconds(_)));
        let plain = |cost: &Cost| matches!(cost, Cost::Plain(value) if *value != 0.0);
        let without = stated.iter().find(|(_, cost)| plain(cost));
        if let (Some((with, _)), Some((without, _))) = (with, without) {
            return Err(PyValueError::new_err(format!(
                "{with} has a unit, and {without} has none: state all costs with units, or none"
            )));
        }
        let value = |at: usize| stated[at].1.value();
        let costs = Homogeneous::new(value(0), value(1), value(2))
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        let costs = match stated.get(3) {
            Some((_, overhead)) => {
                costs.with_overhead(overhead.value()).map_err(|error| wrong("overhead", error))?
            }
            None => costs,
        };
        Ok(Machine(match with {
            Some(_) => MachineDocument::stated(costs).into(),
            None => costs.into(),
        }))
    }

    /// The costs of the papers: alpha = 100, beta = gamma = 1.
    #[staticmethod]
    fn of_papers() -> Machine {
        Machine(Homogeneous::new(100.0, 1.0, 1.0).expect("costs").into())
    }

    /// The machine's name; `None` if the costs are numbers without a machine.
    fn name(&self) -> Option<&str> {
        self.0.machine_name()
    }

    /// For how many ranks the costs are at most; `None` for any number.
    fn processes(&self) -> Option<usize> {
        self.0.costs().room()
    }

    /// The machine as a document of JSON; `None` if the costs are numbers without a machine.
    fn document(&self) -> PyResult<Option<String>> {
        let document = self.0.machine().map(serde_json::to_string);
        document.transpose().map_err(|error| wrong("machine", error))
    }

    /// True for times in seconds, false for times in the unit of alpha.
    fn in_seconds(&self) -> bool {
        self.0.unit() == Unit::Seconds
    }

    /// The machine in words.
    fn text(&self) -> String {
        match &self.0 {
            StatedCosts::Machine(machine) if !machine.is_stated() => {
                front_end::machine_text(machine)
            }
            stated => stated.to_string(),
        }
    }

    /// alpha and overhead, if they are the same for all by themselves; `None` for a machine of levels or pairs.
    fn latencies(&self) -> (Option<f64>, Option<f64>) {
        match self.0.costs() {
            Costs::Homogeneous(costs) => (Some(costs.alpha()), Some(costs.overhead())),
            _ => (None, None),
        }
    }

    /// alpha, overhead and beta of all pairs, row after row, and gamma of all ranks.
    fn matrices(&self, processes: usize) -> PyResult<[Vec<f64>; 4]> {
        let costs = self.0.costs();
        let matrix = costs.matrix(processes).map_err(|error| wrong("machine", error))?;
        let pairs = |cost: fn(&CostMatrix, usize, usize) -> f64| -> Vec<f64> {
            let all = (0..processes).flat_map(|from| (0..processes).map(move |to| (from, to)));
            all.map(|(from, to)| if from == to { 0.0 } else { cost(&matrix, from, to) }).collect()
        };
        let gammas = (0..processes).map(|rank| matrix.gamma(rank)).collect();
        let (alpha, beta) = (pairs(CostMatrix::alpha), pairs(CostMatrix::beta));
        Ok([alpha, pairs(CostMatrix::overhead), beta, gammas])
    }

    /// The same machine with costs that are linear: those of messages of this size.
    fn linearised_at(&self, bytes: u64) -> Machine {
        Machine(match &self.0 {
            StatedCosts::Machine(machine) => {
                let costs = machine.costs.linearised_at(bytes);
                MachineDocument { costs, ..(**machine).clone() }.into()
            }
            StatedCosts::Parameters(costs) => costs.linearised_at(bytes).into(),
        })
    }
}

/// The costs of a machine, or those of the papers without one.
pub(crate) fn costs(machine: Option<&Machine>) -> StatedCosts {
    machine.map_or_else(|| Machine::of_papers().0, |machine| machine.0.clone())
}

/// What the program says of costs, as an error of Python.
pub(crate) fn checked<T>(result: Result<T, tuwtree_cli::CliError>) -> PyResult<T> {
    result.map_err(of_program)
}
