//! What is to be moved.

use crate::error::{invalid, wrong};
use crate::machine::{Machine, checked, costs};
use pyo3::prelude::*;
use tuwtree::model::{GroupSizes, MOST_RANKS, MessageSizes, Operator, Payload, Vector};
use tuwtree::{
    BlockSizes, ClosedSet, Distribution, DistributionParameters, Operation, Ports, Randomness, Root,
};
use tuwtree_cli::front_end;
use tuwtree_io::{Source, sizes};

/// An operation with its data, costs and root.
#[pyclass(frozen, module = "tuwtree._native")]
pub(crate) struct Problem(pub(crate) tuwtree::Problem);

/// What moves: exactly one of these.
#[derive(FromPyObject)]
enum Data {
    // First, since a tuple could be a list of blocks, too.
    #[pyo3(transparent)]
    Vector((usize, u64)),
    #[pyo3(transparent)]
    Blocks(Vec<u64>),
}

fn operation(name: &str) -> PyResult<Operation> {
    let known = Operation::all()
        .find(|one| one.name() == name || one.other_names().any(|other| other == name));
    known.ok_or_else(|| invalid("operation", format!("{name:?}"), Operation::names()))
}

#[pymethods]
impl Problem {
    /// The problem of blocks, of messages for each pair (row after row), of a vector (ranks and bytes), or of
    /// the blocks of two groups.
    #[new]
    #[pyo3(signature = (kind, name, data, remote, machine, root, is_best, ports, operator))]
    #[expect(clippy::too_many_arguments, reason = "Python names them")]
    fn new(
        kind: &str,
        name: &str,
        data: Data,
        remote: Vec<u64>,
        machine: Option<&Machine>,
        root: Option<usize>,
        is_best: bool,
        ports: u16,
        operator: Option<(u64, f64)>,
    ) -> PyResult<Problem> {
        let blocks =
            |sizes: Vec<u64>| BlockSizes::new(sizes).map_err(|error| wrong("sizes", error));
        let payload: Payload = match (kind, data) {
            ("vector", Data::Vector((ranks, bytes))) => {
                if !(1..=MOST_RANKS).contains(&ranks) {
                    let allowed = format!("1 to {MOST_RANKS}");
                    return Err(invalid("processes", ranks, allowed));
                }
                Vector { ranks, bytes }.into()
            }
            ("messages", Data::Blocks(sizes)) => {
                MessageSizes::new(sizes).map_err(|error| wrong("sizes", error))?.into()
            }
            ("groups", Data::Blocks(sizes)) => {
                GroupSizes::of_groups(&blocks(sizes)?, &blocks(remote)?)
                    .map_err(|error| wrong("remote_sizes", error))?
                    .into()
            }
            (_, Data::Blocks(sizes)) => blocks(sizes)?.into(),
            (_, Data::Vector(_)) => {
                return Err(wrong("sizes", "one number for each rank is needed"));
            }
        };
        let ports = Ports::new(ports).ok_or_else(|| invalid("ports", 0, "1 to 65535"))?;
        let root = match (root, is_best) {
            (Some(root), _) => Some(Root::Given(root)),
            (None, true) => Some(Root::Best),
            (None, false) => None,
        };
        let operation = operation(name)?;
        let problem = checked(front_end::problem(operation, payload, costs(machine), root, ports))?;
        let problem = match operator {
            Some((element, combine)) => {
                let operator = Operator::new(element, combine)
                    .map_err(|error| wrong("element_size, combine", error))?;
                problem
                    .with_operator(operator)
                    .map_err(|error| wrong("element_size, combine", error))?
            }
            None => problem,
        };
        Ok(Problem(problem))
    }

    /// The operation's name.
    fn operation(&self) -> &'static str {
        self.0.operation().name()
    }

    /// The number of ranks.
    fn processes(&self) -> usize {
        self.0.ranks()
    }

    /// All bytes that are moved; of a vector, its size.
    fn total_bytes(&self) -> u64 {
        self.0.payload().total()
    }

    /// The rank that is the root; `None` if it is open, or there is none.
    fn root(&self) -> Option<usize> {
        self.0.root().given()
    }

    /// The block of each rank; `None` if other data is moved.
    fn blocks(&self) -> Option<Vec<u64>> {
        self.0.blocks().map(|blocks| blocks.iter().collect())
    }

    /// The costs.
    fn machine(&self) -> Machine {
        Machine(self.0.stated_costs().clone())
    }
}

/// The block sizes of a distribution.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "Python names them")]
pub(crate) fn block_sizes(
    name: &str,
    processes: usize,
    block: u64,
    rho: u64,
    exponent: f64,
    sigma: f64,
    seed: u64,
    generator: &str,
) -> PyResult<Vec<u64>> {
    let distribution = name
        .parse::<Distribution>()
        .map_err(|_| invalid("distribution", format!("{name:?}"), Distribution::names()))?;
    let randomness = match generator {
        "glibc" => Randomness::Glibc {
            seed: seed.try_into().map_err(|_| {
                invalid("seed", seed, "0 to 4294967295; generator=\"xoshiro\" takes larger ones")
            })?,
        },
        "xoshiro" => Randomness::Xoshiro { seed },
        _ => return Err(invalid("generator", format!("{generator:?}"), "glibc, xoshiro")),
    };
    let parameters = DistributionParameters {
        rho,
        exponent,
        sigma,
        ..DistributionParameters::new(processes, block)
    };
    let sizes = distribution.sizes(parameters, randomness);
    sizes.map(|sizes| sizes.iter().collect()).map_err(|error| wrong(name, error))
}

/// The block sizes in a file.
#[pyfunction]
#[pyo3(signature = (path, element_size=None))]
pub(crate) fn read_sizes(path: &str, element_size: Option<u64>) -> PyResult<Vec<u64>> {
    if element_size == Some(0) {
        return Err(invalid("element_size", 0, "at least 1 byte"));
    }
    let source = Source::parse(path).map_err(|error| wrong("path", error))?;
    let sizes =
        sizes::read_elements(&source, element_size).map_err(|error| wrong("path", error))?;
    Ok(sizes.iter().collect())
}
