//! Machines as people read them.

use super::text;
use std::fmt::Write as _;
use tuwtree_model::Description;
use tuwtree_model::document::Machine;

/// A machine in words and tables.
pub(crate) fn describe(machine: &Machine) -> String {
    let Machine { name, date, provenance, costs } = machine;
    let Description { processes, facts, headings, rows } = costs.kind().description();
    let mut text = format!(
        "name        {name}\ndate        {date}\nprovenance  {provenance}\nprocesses   {processes}\n"
    );
    for (label, fact) in facts {
        let _ = writeln!(text, "{label:<12}{fact}");
    }
    if !rows.is_empty() {
        let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
        let mut table = text::table(&headings);
        table.add_rows(rows);
        let _ = writeln!(text, "\n{}", table.trim_fmt());
    }
    text
}
