//! A tree drawn in text, small enough for a terminal.

use std::collections::BTreeSet;
use std::io::{self, Write};
use tuwtree_model::quantity::Unit;
use tuwtree_model::{Completion, Operation, Rank, Step, Time, Tree};

/// Most lines of a drawing, give or take the last rank's steps.
const LINES: usize = 24;
/// Most steps that are drawn of one process; of more, the middle ones are counted only.
const STEPS: usize = 12;

/// A tree to be drawn, with times if its problem is known.
pub(crate) struct Drawing<'a> {
    pub(crate) tree: &'a Tree,
    pub(crate) operation: Operation,
    /// The times and segments of the tree as a gather tree.
    pub(crate) completion: Option<&'a Completion>,
    pub(crate) unit: Unit,
}

/// One line: a rank's step.
struct StepLine {
    /// Box-drawing characters and the rank.
    label: String,
    /// Data that the step moves, and its times.
    cells: [String; 3],
}

impl Drawing<'_> {
    /// Writes the tree's upper part: the root's steps, and below them those of the largest subtrees.
    ///
    /// # Errors
    /// Errors of `output`.
    pub(crate) fn write(&self, output: &mut dyn Write) -> io::Result<()> {
        let spans = spans(self.tree);
        let expanded = self.expanded(&spans);
        let mut lines = vec![self.root_line(&spans)];
        self.push_steps(self.tree.root(), "", &spans, &expanded, &mut lines);
        let width = |cell: fn(&StepLine) -> &str| {
            lines.iter().map(|line| cell(line).chars().count()).max().unwrap_or(0)
        };
        let label = width(|line| &line.label);
        let [blocks, bytes, when] = [
            width(|line| &line.cells[0]),
            width(|line| &line.cells[1]),
            width(|line| &line.cells[2]),
        ];
        for StepLine { label: text, cells } in &lines {
            let line = format!(
                "{text:label$}  {:blocks$}  {:>bytes$}  {:>when$}",
                cells[0], cells[1], cells[2]
            );
            writeln!(output, "{}", line.trim_end())?;
        }
        Ok(())
    }

    /// The processes whose steps are drawn: the root, then the largest subtrees while there is room.
    fn expanded(&self, spans: &[(usize, Rank, Rank)]) -> BTreeSet<Rank> {
        let mut expanded = BTreeSet::new();
        let mut candidates = BTreeSet::from([(usize::MAX, self.tree.root())]);
        let mut lines = 1;
        while let Some((_, rank)) = candidates.pop_last() {
            let steps = self.steps(rank).len().min(STEPS + 1);
            if !expanded.is_empty() && lines + steps > LINES {
                break;
            }
            lines += steps;
            expanded.insert(rank);
            candidates.extend(
                self.visible(rank)
                    .into_iter()
                    .filter_map(|step| match step {
                        Some(Step::Receive(child)) => Some(child),
                        _ => None,
                    })
                    .filter(|&child| self.tree.degree(child) > 0)
                    .map(|child| (spans[child].0, child)),
            );
        }
        expanded
    }

    /// Steps of a rank: vectors are not copied.
    fn steps(&self, rank: Rank) -> Vec<Step> {
        let moves_blocks = self.operation.is_irregular();
        self.tree.steps(rank).filter(|&step| moves_blocks || step != Step::Copy).collect()
    }

    /// The steps of a rank in the order in which the operation performs them; `None` stands
    /// for the middle ones where there are many.
    fn visible(&self, rank: Rank) -> Vec<Option<Step>> {
        let mut steps: Vec<Option<Step>> = self.steps(rank).into_iter().map(Some).collect();
        if self.operation.is_outward() {
            steps.reverse();
        }
        if steps.len() > STEPS + 1 {
            steps.splice(STEPS / 2..steps.len() - STEPS / 2, [None]);
        }
        steps
    }

    fn push_steps(
        &self,
        rank: Rank,
        indent: &str,
        spans: &[(usize, Rank, Rank)],
        expanded: &BTreeSet<Rank>,
        lines: &mut Vec<StepLine>,
    ) {
        let visible = self.visible(rank);
        let hidden = self.steps(rank).len() + 1 - visible.len();
        for (index, step) in visible.iter().enumerate() {
            let is_last = index + 1 == visible.len();
            let (branch, below) = if is_last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
            let (text, cells) = match *step {
                None => (format!("… {hidden} more steps"), Default::default()),
                Some(Step::Copy) => ("own block".to_owned(), self.copy_cells(rank)),
                Some(Step::Receive(child)) => (child.to_string(), self.child_cells(child, spans)),
            };
            lines.push(StepLine { label: format!("{indent}{branch}{text}"), cells });
            if let Some(Step::Receive(child)) = *step
                && expanded.contains(&child)
            {
                self.push_steps(child, &format!("{indent}{below}"), spans, expanded, lines);
            }
        }
    }

    fn root_line(&self, spans: &[(usize, Rank, Rank)]) -> StepLine {
        let root = self.tree.root();
        let cells = match self.completion {
            Some(completion) => [
                carried(self.operation, spans[root]),
                format!("{} bytes", completion.segment[root]),
                format!("done at {}", self.unit.time(completion.ready[root])),
            ],
            None => [carried(self.operation, spans[root]), String::new(), String::new()],
        };
        StepLine { label: format!("{root} (root)"), cells }
    }

    fn copy_cells(&self, rank: Rank) -> [String; 3] {
        let own = self.completion.map(|completion| {
            let children: u64 =
                self.tree.children(rank).map(|child| completion.segment[child]).sum();
            format!("{} bytes", completion.segment[rank] - children)
        });
        [carried(self.operation, (1, rank, rank)), own.unwrap_or_default(), String::new()]
    }

    fn child_cells(&self, child: Rank, spans: &[(usize, Rank, Rank)]) -> [String; 3] {
        let Some(completion) = self.completion else {
            return [carried(self.operation, spans[child]), String::new(), String::new()];
        };
        let (start, end) = transmission(self.tree, self.operation, completion, child);
        [
            carried(self.operation, spans[child]),
            format!("{} bytes", completion.segment[child]),
            format!("{} to {}", self.unit.time(start), self.unit.time(end)),
        ]
    }
}

/// Number of processes in each subtree, and the least and largest of their ranks.
pub(crate) fn spans(tree: &Tree) -> Vec<(usize, Rank, Rank)> {
    let mut spans: Vec<(usize, Rank, Rank)> =
        (0..tree.ranks()).map(|rank| (1, rank, rank)).collect();
    for rank in tree.top_down().into_iter().rev() {
        if let Some(parent) = tree.parent(rank) {
            let (count, first, last) = spans[rank];
            let span = &mut spans[parent];
            *span = (span.0 + count, span.1.min(first), span.2.max(last));
        }
    }
    spans
}

/// Start and end of the transmission between a child and its parent.
pub(crate) fn transmission(
    tree: &Tree,
    operation: Operation,
    completion: &Completion,
    child: Rank,
) -> (Time, Time) {
    let (start, end) = completion.sent[child];
    if !operation.is_outward() {
        return (start, end);
    }
    let total = completion.ready[tree.root()];
    (total.before(end), total.before(start))
}

/// Data between a subtree, `count` processes between the least and the largest rank, and its
/// parent: a set of blocks, or the vector for or of these processes.
pub(crate) fn carried(operation: Operation, (count, first, last): (usize, Rank, Rank)) -> String {
    let is_range = count == last - first + 1;
    let vector = |preposition: &str| match count {
        1 => format!("vector {preposition} {first}"),
        _ if is_range => format!("vector {preposition} {first}..={last}"),
        _ => format!("vector {preposition} {count} in {first}..={last}"),
    };
    match operation {
        Operation::Broadcast => vector("for"),
        reduction if reduction.is_reduction() => vector("of"),
        _ => match count {
            1 => format!("block {first}"),
            _ if is_range => format!("blocks {first}..={last}"),
            _ => format!("{count} blocks in {first}..={last}"),
        },
    }
}
