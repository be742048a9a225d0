//! A comparison in words: its title, table, notes and recommendation.

use crate::error::CliError;
use crate::output::advice::{Advised, against};
use crate::output::text;
use std::io::{IsTerminal, Write};
use tuwtree_bounds::direct_lower_bound;
use tuwtree_model::quantity::{self, Unit};
use tuwtree_model::{ClosedSet, Construction, Operation, Order, Ports, Root, Time};
use tuwtree_plan::{Advice, Comparison, Optimality, Outcome, Plan, Skipped, catalogue};

/// Checks that all certificates that were requested could be given: at least one.
///
/// # Errors
/// [`CliError::Failure`]: the first construction without its certificate, and the reason.
pub(crate) fn check_certificates(comparison: &Comparison) -> Result<(), CliError> {
    let built = comparison.outcomes.iter();
    let mut certificates =
        built.filter_map(|one| Some((one.construction, one.certificate.as_ref()?))).peekable();
    let left_out = comparison.skipped.iter().map(|one| (one.construction, &one.reason));
    let mut left_out = left_out.filter(|&(one, _)| catalogue::row(one).is_best_of_class);
    let uncertified = match certificates.peek() {
        Some(_) => certificates.find_map(|(one, found)| Some((one, found.as_ref().err()?))),
        None => left_out.next(),
    };
    uncertified.map_or(Ok(()), |(one, reason)| {
        Err(CliError::Failure(format!("{} is not certified: {reason}", one.name())))
    })
}

/// Mark of the recommended row on terminals.
const MARK: char = '▸';

/// A comparison in words.
pub(crate) struct Compared<'a>(pub(crate) &'a Comparison);

impl std::ops::Deref for Compared<'_> {
    type Target = Comparison;

    fn deref(&self) -> &Comparison {
        self.0
    }
}

impl Compared<'_> {
    /// Writes the problem, the table, the omissions, and the recommendation.
    ///
    /// # Errors
    /// Errors of `output`.
    pub(crate) fn write_text(&self, output: &mut dyn Write) -> Result<(), CliError> {
        writeln!(output, "{}; {}", self.title(), self.costs())?;
        writeln!(output, "{}: {}\n", self.bound_name(), self.unit().time(self.bound))?;
        let style = anstyle::AnsiColor::Green.on_default().bold();
        for row in self.table().trim_fmt().lines() {
            match row.starts_with(MARK) {
                true => writeln!(output, "{style}{row}{style:#}")?,
                false => writeln!(output, "{row}")?,
            }
        }
        for note in self.notes() {
            writeln!(output, "{note}")?;
        }
        for outcome in &self.outcomes {
            if let Some(Ok(route)) = &outcome.certificate {
                writeln!(output, "\n{} is certified: {route}", outcome.construction.name())?;
            }
        }
        writeln!(output, "\n{}", self.recommendation())?;
        if let Some(simpler) = Advice::simpler(self) {
            writeln!(output, "{}", Advised(&simpler).simpler())?;
        }
        Ok(())
    }

    /// Notes on constructions beside their figures: reasons for omissions, and limits of others.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut skipped: Vec<(String, &str)> = Vec::new();
        for Skipped { construction, reason } in &self.skipped {
            match skipped.iter_mut().find(|(_, known)| known == reason) {
                Some((names, _)) => *names = format!("{names}, {}", construction.name()),
                None => skipped.push((construction.name().to_owned(), reason)),
            }
        }
        let skipped = skipped.into_iter().map(|(names, reason)| {
            let are = if names.contains(',') { "are" } else { "is" };
            format!("{names} {are} left out: {reason}")
        });
        let unordered = self.outcomes.iter().filter(|outcome| {
            self.problem.operation() == Operation::Reduce
                && self.keeps_rank_order(outcome) == Some(false)
        });
        let commutative = unordered.map(|outcome| {
            let name = outcome.construction.name();
            format!("{name} does not keep rank order: it is for operators that commute")
        });
        let commutative = commutative.chain(self.for_operators_that_commute());
        skipped
            .chain(commutative)
            .chain(self.unfinished())
            .chain(self.heuristics())
            .chain(self.made_for_one_port())
            .chain(self.of_direct_messages())
            .chain(self.of_bundles())
            .collect()
    }

    /// Radix for messages that travel together, and threshold of direct ones.
    fn of_bundles(&self) -> impl Iterator<Item = String> {
        self.outcomes.iter().filter_map(|outcome| {
            let (radix, threshold) = (outcome.built.radix, outcome.built.threshold);
            let radix = radix.map(|radix| format!("in radix {radix}"));
            let straight = threshold
                .map(|bytes| format!("with messages of more than {} straight", text::bytes(bytes)));
            let said: Vec<String> = radix.into_iter().chain(straight).collect();
            let name = outcome.construction.name();
            (!said.is_empty()).then(|| format!("{name} is {}", said.join(", ")))
        })
    }

    /// Distance of the best schedule of direct alltoall messages from the optimum, at most.
    fn of_direct_messages(&self) -> Option<String> {
        let bound = direct_lower_bound(&self.problem)?.ok()?;
        let is_direct = |outcome: &&Outcome| {
            matches!(
                outcome.construction,
                Construction::Linear | Construction::Pairwise | Construction::OpenShop
            )
        };
        let best = self.outcomes.iter().filter(is_direct).min_by_key(|outcome| outcome.time())?;
        let above = match bound.units() {
            0.0 => 0.0,
            bound => best.time().units() / bound - 1.0,
        };
        Some(format!(
            "no schedule whose messages go straight takes less than {}: {} is at most {} above the best of these",
            self.unit().time(bound),
            best.construction.name(),
            text::share(above)
        ))
    }

    /// Distance from the optimum, at most, of a tree whose search was cut short.
    fn unfinished(&self) -> Option<String> {
        let optimal = |one: &&Outcome| one.construction == Construction::Optimal;
        let outcome = self.outcomes.iter().find(optimal)?;
        let percent = self.above_ordered_percent(outcome)?;
        Some(format!(
            "optimal is at most {percent} % above the best ordered tree: the search ended before it was certain"
        ))
    }

    /// Schedules of a reduction that combine in another than rank order.
    fn for_operators_that_commute(&self) -> Option<String> {
        let operation = self.problem.operation();
        let is_one = operation.is_reduction() && !self.has_trees();
        let unordered = self.outcomes.iter().filter(|outcome| outcome.order != Order::Ordered);
        let names: Vec<&str> = unordered.map(|outcome| outcome.construction.name()).collect();
        (is_one && !names.is_empty()).then(|| {
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{} {are} for operators that commute", names.join(", "))
        })
    }

    /// Constructions that are made for copies that take no longer than messages.
    fn heuristics(&self) -> Option<String> {
        let ranks = self.problem.payload().ranks();
        let costs = self.problem.costs().homogeneous(ranks)?;
        let built = self.outcomes.iter().map(|outcome| outcome.construction);
        let names: Vec<&str> = built
            .filter(|&one| catalogue::row(one).is_for_cheap_copies)
            .map(Construction::name)
            .collect();
        let is_dear = costs.gamma() > costs.beta() && !names.is_empty();
        is_dear.then(|| {
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{} {are} made for gamma <= beta: only heuristics here", names.join(", "))
        })
    }

    /// Constructions that search among trees for one port.
    fn made_for_one_port(&self) -> Option<String> {
        let built = self.outcomes.iter().map(|outcome| outcome.construction);
        let mut names: Vec<&str> = built
            .filter(|&one| catalogue::row(one).is_for_one_port)
            .map(Construction::name)
            .collect();
        names.dedup();
        (self.problem.ports() != Ports::ONE && !names.is_empty()).then(|| {
            let are = if names.len() == 1 { "is" } else { "are" };
            format!("{} {are} made for one port: only heuristics here", names.join(", "))
        })
    }

    /// The problem in a line, without its costs.
    pub(crate) fn title(&self) -> String {
        let payload = self.problem.payload();
        let root = match self.problem.root() {
            Root::Given(root) => format!(", root {root}"),
            Root::Best => ", best root".to_owned(),
            Root::None => String::new(),
        };
        format!(
            "{} of {} over {}{root}",
            self.problem.operation().name(),
            text::payload(payload),
            text::processes(payload.ranks())
        )
    }

    /// All costs and the ports, in a line.
    pub(crate) fn costs(&self) -> String {
        let costs = self.problem.stated_costs();
        let operator = text::with_operator(self.problem.operator(), self.unit());
        format!("{costs}{operator}{}", text::with_ports(&self.problem))
    }

    /// Unit of all times.
    pub(crate) fn unit(&self) -> Unit {
        self.problem.stated_costs().unit()
    }

    /// Scope of the bound.
    pub(crate) fn bound_name(&self) -> String {
        match self.problem.root() {
            Root::Given(root) => {
                format!("lower bound on any {} with root {root}", self.plan_word())
            }
            Root::Best | Root::None => {
                format!("lower bound on any {}", self.plan_word())
            }
        }
    }

    /// The table; on a terminal the recommended row has a mark.
    fn table(&self) -> comfy_table::Table {
        let mut headings = self.headings();
        headings.push("planned in");
        // Pipes and files get the bare names.
        let marks = std::io::stdout().is_terminal();
        let mut table = text::table(&headings);
        for outcome in &self.outcomes {
            let time = text::duration(outcome.build_time);
            let built_in = match outcome.built.search {
                Some(method) => format!("{time} ({})", method.name()),
                None => time,
            };
            let mut cells = self.cells(outcome);
            if marks {
                let mark = if std::ptr::eq(outcome, self.recommended()) { MARK } else { ' ' };
                cells[0] = format!("{mark} {}", cells[0]);
            }
            table.add_row(cells.into_iter().chain([built_in]));
        }
        table
    }

    /// The headings of the table, without the column of planning times. A plan without a tree has its time with both
    /// kinds of ports. Orders and unpack steps are listed if a tree is not ordered.
    pub(crate) fn headings(&self) -> Vec<&'static str> {
        let mut headings = vec!["construction", "time"];
        if !self.has_trees() {
            headings.push(if self.problem.duplex() { "as exchanges" } else { "duplex" });
        }
        if self.has_unordered_blocks() {
            headings.extend(["with unpack", "order"]);
        }
        headings.extend(self.baseline().is_some().then_some("vs library"));
        headings.push("above bound");
        match self.has_trees() {
            true => headings.extend(["root", "children", "depth"]),
            false => headings.extend(["rounds", "most sent"]),
        }
        headings.extend(self.has_pieces().then_some("pieces"));
        headings
    }

    /// The table's cells for an outcome, below [`headings`](Self::headings).
    pub(crate) fn cells(&self, outcome: &Outcome) -> Vec<String> {
        let none = || "-".to_owned();
        let time = |time| self.unit().time(time);
        let mut cells = vec![outcome.construction.name().to_owned(), time(outcome.time())];
        if !self.has_trees() {
            cells.push(outcome.otherwise.map_or_else(none, time));
        }
        if self.has_unordered_blocks() {
            cells.extend([time(outcome.unpacked), outcome.order.name().to_owned()]);
        }
        if self.baseline().is_some() {
            cells.push(self.ratio(outcome).unwrap_or_else(none));
        }
        cells.push(self.gap(outcome).unwrap_or_else(none));
        match outcome.plan() {
            Plan::Tree(tree) => {
                let (root, depth) = (tree.root(), tree.depth());
                cells.extend([root, tree.degree(root), depth].map(|value| value.to_string()));
            }
            Plan::Programs(schedule) if self.has_trees() => {
                let root = schedule.task().root.map_or_else(none, |root| root.to_string());
                cells.extend([root, none(), none()]);
            }
            Plan::Programs(schedule) => cells.extend([
                schedule.most_actions().to_string(),
                quantity::bytes(schedule.most_bytes_sent()),
            ]),
        }
        cells.extend(
            self.has_pieces()
                .then(|| outcome.built.pieces.map_or_else(none, |pieces| pieces.to_string())),
        );
        cells
    }

    /// Ratio of an outcome's time to the library's.
    fn ratio(&self, outcome: &Outcome) -> Option<String> {
        let ratio = outcome.unpacked.units() / self.baseline()?.time.units();
        ratio.is_finite().then(|| format!("{ratio:.2}x"))
    }

    /// Distance of an outcome's time from the bound.
    fn gap(&self, outcome: &Outcome) -> Option<String> {
        Some(match self.gap_percent(outcome.time())? {
            percent if 0.0 < percent && percent < 0.001 => "< 0.001 %".to_owned(),
            percent => text::share(percent / 100.0),
        })
    }

    /// An outcome in a line: construction, time, ratio to the library's time, distance from the bound.
    pub(crate) fn line(&self, outcome: &Outcome) -> String {
        let time = self.unit().time(outcome.unpacked);
        let ratio =
            self.ratio(outcome).map_or(String::new(), |ratio| format!(", {ratio} the library's"));
        let gap = self.gap(outcome).map_or(String::new(), |gap| format!(", {gap} above the bound"));
        format!("{}, {time}{ratio}{gap}", outcome.construction.name())
    }

    /// Word for the compared plans.
    fn plan_word(&self) -> &'static str {
        if self.has_trees() { "tree" } else { "schedule" }
    }

    /// True if data goes along trees in some of the compared plans.
    fn has_trees(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.tree().is_ok())
    }

    /// True if data is cut into pieces in some of the compared plans.
    fn has_pieces(&self) -> bool {
        self.outcomes.iter().any(|outcome| outcome.built.pieces.is_some_and(|pieces| pieces > 1))
    }

    /// True if blocks are moved, and a tree does not keep them in rank order.
    fn has_unordered_blocks(&self) -> bool {
        self.problem.blocks().is_some()
            && self.problem.operation().is_rooted()
            && self.outcomes.iter().any(|outcome| outcome.order != Order::Ordered)
    }

    /// The recommended construction and its properties, in some lines.
    pub(crate) fn recommendation(&self) -> String {
        let best = self.recommended();
        let name = best.construction.name();
        let method = match best.built.search {
            Some(method) => format!(" (found by the {} method)", method.name()),
            None => String::new(),
        };
        let passed_over = self.passed_over().map_or(String::new(), |line| format!("\n{line}"));
        let uncertainty = self.problem.stated_costs().network().uncertainty;
        let against = self.baseline().map(|baseline| {
            against(baseline, self.problem.operation(), best.unpacked, uncertainty)
        });
        let against = against.map_or(String::new(), |against| format!("\n{against}."));
        let price = Advised(&Advice::new(self)).price_line();
        let price = price.map_or(String::new(), |price| format!("\n{price}"));
        format!(
            "Recommended: {name}{method}.{}{}{}{passed_over}{against}{price}",
            self.standing(best),
            self.unpacking(best),
            self.caveat()
        )
    }

    /// Gain of a built tree if its order were admitted, in a line.
    fn passed_over(&self) -> Option<String> {
        let (best, fastest) = (self.recommended(), self.0.passed_over()?);
        let less = text::share(1.0 - fastest.unpacked.units() / best.unpacked.units());
        let (name, order) = (fastest.construction.name(), fastest.order.name());
        Some(format!("{name} takes {less} less, not in rank order (--order {order})."))
    }

    /// Saving of a tree that does not keep rank order against the recommended one, in a line.
    pub(crate) fn beyond_order(&self, beyond: &Outcome) -> String {
        let best = self.recommended();
        let against = |time: Time| {
            let factor = time.units() / best.unpacked.units();
            match factor {
                _ if !factor.is_finite() || factor > 1.0 => {
                    format!("{}, no less", self.unit().time(time))
                }
                _ => format!("{}, {} less", self.unit().time(time), text::share(1.0 - factor)),
            }
        };
        format!(
            "In any order (--order any), {} would take {}; with an unpack step at the root {}.",
            beyond.construction.name(),
            against(beyond.time()),
            against(beyond.unpacked)
        )
    }

    /// Proven quality of a tree.
    fn standing(&self, outcome: &Outcome) -> String {
        let rounding = if self.problem.costs().is_integral() { "" } else { ", up to rounding" };
        let plan = self.plan_word();
        let above = self.gap_percent(outcome.time()).filter(|&percent| percent > 0.0);
        // Rounded up, so that it is true.
        let above = above.map(|percent| {
            let percent = (percent * 1000.0).ceil() / 1000.0;
            format!("at most {percent} % above the best of all {plan}s")
        });
        match (self.optimality(outcome), above) {
            (Some(Optimality::AmongAll), _) => {
                format!("\nIt is optimal among all {plan}s{rounding}.")
            }
            (Some(optimality), above) => {
                let trees = match optimality {
                    Optimality::AmongAll | Optimality::AmongOrdered => "all ordered trees",
                    Optimality::AmongCopyFirst => "copy-first ordered trees",
                    Optimality::AmongAdjacent => "ordered trees that join adjacent ranges",
                };
                let above = above.map_or(String::new(), |above| format!("; {above}"));
                format!("\nIt is optimal among {trees}{rounding}{above}.")
            }
            (None, Some(above)) => format!("\nIt is {above}."),
            (None, None) => String::new(),
        }
    }

    /// Cost of putting the blocks into rank order, if a tree leaves that to the root.
    fn unpacking(&self, best: &Outcome) -> String {
        if !self.has_unordered_blocks() || best.order == Order::Ordered {
            return String::new();
        }
        format!(
            "\n{}; {}.",
            text::out_of_order(best, "Its tree"),
            text::unpacking(self.unit(), best.time(), best.unpacked, self.problem.operation())
        )
    }

    /// Reason for the best tree of a class not to be the fastest, unless the order tells it.
    fn caveat(&self) -> String {
        let best = self.recommended();
        let beaten = self.outcomes.iter().find(|outcome| {
            catalogue::row(outcome.construction).is_best_of_class
                && outcome.construction != Construction::Optimal
                && outcome.time() > best.time()
        });
        let is_settled = self.outcomes.iter().any(|one| one.construction == Construction::Optimal);
        let Some(beaten) = beaten.filter(|_| !is_settled) else { return String::new() };
        let name = beaten.construction.name();
        match () {
            () if self.keeps_rank_order(best) == Some(false) => {
                format!(
                    "\nIts tree is not in rank order, and {name} is the best of those that are."
                )
            }
            () if best.order != Order::Ordered || self.problem.ports() != Ports::ONE => {
                String::new()
            }
            () => format!(
                "\nIt is not among the trees that {name} searches, because of when its processes copy or in \
                 which order they receive: see docs/optimal.md."
            ),
        }
    }
}
