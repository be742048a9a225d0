//! The texts for the words of the templates: operation, costs, arguments.

use super::CFiles;
use crate::schedule::Schedule;
use tuwtree_model::{ClosedSet, Costs, Operation, Order, Payload, StatedCosts};

impl CFiles<'_> {
    /// Each word, with its text.
    pub(super) fn words(&self) -> Vec<(&'static str, String)> {
        let task = self.schedule.task();
        vec![
            ("$TITLE", self.title()),
            ("$VERSION", env!("CARGO_PKG_VERSION").to_owned()),
            ("$PROBLEM", self.problem()),
            ("$ARGUMENT_NOTES", argument_notes(&self.schedule)),
            ("$PORT_NOTE", port_note(task.ports).to_owned()),
            ("$PROCESSES", task.ranks().to_string()),
            ("$ROOT", task.root.unwrap_or_default().to_string()),
            ("$PORTS", task.ports.to_string()),
            ("$LARGEST", self.largest_buffer.to_string()),
            ("$VECTOR", task.total().to_string()),
            ("$PARAMETERS", parameters(task.operation).to_owned()),
            ("$PASSED", passed(task.operation).to_owned()),
            ("$BLOCK_BUFFER", block_buffer(task.operation).to_owned()),
            ("$UPPER", self.name.to_ascii_uppercase()),
            ("$NAME", self.name.to_owned()),
        ]
    }

    fn title(&self) -> String {
        let task = self.schedule.task();
        let (p, bytes) = (task.ranks(), task.total());
        let root = task.root.unwrap_or_default();
        match task.operation {
            Operation::Gather => {
                format!("Gather of the blocks of {p} processes to process {root}, {bytes} bytes.")
            }
            Operation::Scatter => {
                format!(
                    "Scatter of the blocks of {p} processes from process {root}, {bytes} bytes."
                )
            }
            Operation::Broadcast => {
                format!("Broadcast of {bytes} bytes from process {root} to {p} processes.")
            }
            Operation::Reduce => {
                format!("Reduction of {bytes} bytes of each of {p} processes to process {root}.")
            }
            Operation::Allgather => {
                format!("Allgather of the blocks of {p} processes, {bytes} bytes.")
            }
            Operation::ReduceScatter => {
                format!("Reduction of {bytes} bytes of each of {p} processes, to a block for each.")
            }
            Operation::Allreduce => {
                format!("Reduction of {bytes} bytes of each of {p} processes, to all of them.")
            }
            Operation::Alltoall => {
                format!("Alltoall of the messages of {p} processes, {bytes} bytes.")
            }
            Operation::IntergroupAllgather => {
                format!("Allgather of the blocks of {p} processes in two groups, {bytes} bytes.")
            }
        }
    }

    /// The problem in the lines of a comment.
    fn problem(&self) -> String {
        let task = self.schedule.task();
        let mut text = format!(
            " * {} actions; the data is kept in order: {}; ports: {}.",
            self.schedule.programs().len(),
            task.order.name(),
            task.ports
        );
        match &task.costs {
            Some(StatedCosts::Parameters(Costs::Homogeneous(costs))) => {
                let (alpha, beta, gamma) = (costs.alpha(), costs.beta(), costs.gamma());
                let overhead = match costs.overlaps() {
                    true => format!(" with overhead {}", costs.overhead()),
                    false => String::new(),
                };
                text += &format!(
                    "\n * Made for alpha {alpha}{overhead} and, per byte, beta {beta} and gamma {gamma}."
                );
            }
            Some(StatedCosts::Parameters(costs)) => {
                text += &format!("\n * Made for costs of kind {}.", costs.name());
            }
            Some(StatedCosts::Machine(machine)) => {
                text += &format!("\n * Made for the machine {}.", in_comment(&machine.name));
            }
            None => {}
        }
        if let Some(time) = self.completion_time {
            text += &format!("\n * Completion time in the model, in strict order: {time}.");
        }
        text
    }
}

/// A text that ends no comment and no line.
fn in_comment(text: &str) -> String {
    let printable = |c: char| if c.is_control() || c == '*' || c == '\\' { ' ' } else { c };
    text.chars().map(printable).collect()
}

fn parameters(operation: Operation) -> &'static str {
    match operation {
        Operation::Broadcast => "void *vector",
        _ if operation.is_reduction() => {
            "const void *input, void *output, MPI_Datatype type, MPI_Op op"
        }
        _ if operation.is_irregular() => {
            "const void *input, void *output, const MPI_Aint *displacements"
        }
        _ => "const void *input, void *output",
    }
}

fn passed(operation: Operation) -> &'static str {
    match operation {
        Operation::Broadcast => "vector",
        _ if operation.is_reduction() => "input, output, type, op",
        _ if operation.is_irregular() => "input, output, displacements",
        _ => "input, output",
    }
}

/// The buffer in which all blocks lie.
fn block_buffer(operation: Operation) -> &'static str {
    if operation == Operation::Scatter { "INPUT" } else { "OUTPUT" }
}

fn port_note(ports: u16) -> &'static str {
    match ports {
        1 => "In strict order, one action is under way at a time.",
        _ => {
            "In strict order, one action of each port is under way at\n \
             * a time; what reads from the segment or the output waits for all receives and copies\n \
             * that are listed before it."
        }
    }
}

/// Description of the arguments, in the lines of a comment.
fn argument_notes(schedule: &Schedule) -> String {
    let task = schedule.task();
    let (root, bytes) = (task.root.unwrap_or_default(), task.total());
    let default = match task.displacements {
        Some(_) => "those exported",
        None => "one after the other",
    };
    let read_at = match task.root {
        Some(root) => format!("read at process {root} only, and copied"),
        None => "copied".to_owned(),
    };
    let displacements = format!(
        " * displacements   where each block begins in there, in bytes from its address; NULL: {default};\n \
         *                 {read_at}"
    );
    match task.operation {
        Operation::Gather => format!(
            " * input           the block of the process\n \
             * output          at process {root}, all blocks; not used elsewhere\n{displacements}"
        ),
        Operation::Scatter => format!(
            " * input           at process {root}, all blocks; not used elsewhere\n \
             * output          the block of the process\n{displacements}"
        ),
        Operation::Allgather => format!(
            " * input           the block of the process\n \
             * output          all blocks\n{displacements}"
        ),
        Operation::Broadcast => {
            format!(" * vector          {bytes} bytes, read at process {root}, written elsewhere")
        }
        Operation::Reduce => format!(
            " * input           {bytes} bytes\n \
             * output          at process {root}, {bytes} bytes; not used elsewhere\n{}",
            operator_notes(task.order)
        ),
        Operation::ReduceScatter => format!(
            " * input           {bytes} bytes\n \
             * output          {bytes} bytes; in the end, the block of the process in its place there is\n \
             *                 its part of the result, and what is beside it of no meaning\n{}",
            operator_notes(task.order)
        ),
        Operation::Alltoall => " * input           the messages to all processes, by receiver, one after the \
             other\n * output          the messages from all processes, by sender, one after the other"
            .to_owned(),
        Operation::IntergroupAllgather => {
            let (first, second) = group_ranks(schedule);
            format!(
                " * input           the block of the process\n \
                 * output          all blocks of the other group, one after the other\n \
                 *\n \
                 * The first group are processes {first}, the second are processes {second}."
            )
        }
        Operation::Allreduce => format!(
            " * input           {bytes} bytes\n \
             * output          {bytes} bytes\n{}",
            operator_notes(task.order)
        ),
    }
}

/// The ranks of both groups of an intergroup allgather, in words.
fn group_ranks(schedule: &Schedule) -> (String, String) {
    let Payload::Groups(groups) = &schedule.task().payload else {
        unreachable!("an intergroup allgather has groups")
    };
    let (first, all) = (groups.ranks()[0], schedule.ranks());
    (format!("0 to {}", first - 1), format!("{first} to {}", all - 1))
}

/// Description of the arguments of reductions.
fn operator_notes(order: Order) -> String {
    format!(
        " * type            of the elements; consecutive bytes without gaps\n \
         * op              associative; {}",
        match order {
            Order::Ordered => "need not be commutative, since vectors are combined in rank order",
            Order::Direct | Order::Any =>
                "commutative, too, since vectors are combined in any order",
        }
    )
}
