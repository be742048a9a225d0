//! Figures, formulas and limits of the papers on operations without a root, beside the times of schedules.
//!
//! Measurements cannot be computed again, and are left out: figures 3 to 5 and 14 to 19 of TRG, 4 to 6 of K19.
//!
//! # Source
//! TRG: R. Thakur, R. Rabenseifner, W. Gropp, IJHPCA 19(1), 2005. K19: Q. Kang et al., Parallel Computing 85, 2019. The blocks
//! of settings 3, 4 and 8 are not in K19: they follow from its limits.

use super::drawings::Drawn;
use super::figures;
use crate::error::CliError;
use std::sync::Arc;
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, Construction, GroupSizes, Homogeneous, MessageSizes,
    Operation, Operator, Problem, Vector,
};
use tuwtree_plan::{NoTree, Plan, Request, Settings, VectorUse, Wanted};
use tuwtree_schedule::{Schedule, Sends, simulate};

/// A quantity in a paper, beside that of a schedule.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statement {
    /// Its place in the paper.
    pub(crate) place: &'static str,
    pub(crate) what: String,
    pub(crate) published: String,
    pub(crate) recomputed: String,
    pub(crate) verdict: Verdict,
}

/// Relation of a published and a recomputed value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Verdict {
    /// They are the same, as far as digits are printed.
    Equal,
    /// The paper calls it approximate, or a limit, and it is not reached.
    Approximate,
    /// The paper states it, and it does not hold.
    Wrong,
    /// They differ, and nothing says why.
    Different,
}

/// The schedule of a construction.
///
/// # Errors
/// A construction that is not for the problem.
pub(super) fn schedule(
    problem: &Problem,
    construction: Construction,
) -> Result<Arc<Schedule>, CliError> {
    let settings = Settings { vector: VectorUse::Cut, ..Settings::DEFAULT };
    let request = Request::new(problem, settings, &());
    let built = request.build(Wanted::named(construction)).map_err(|error| match error {
        NoTree::Skipped(reason) => CliError::Failure(reason),
        NoTree::Failed(error) => error.into(),
    })?;
    match built.plan {
        Plan::Programs(programs) => Ok(Arc::new(Schedule::clone(&programs))),
        Plan::Tree(_) => unreachable!("these constructions build no trees"),
    }
}

/// Costs of start-ups alone, of bytes alone, and of combining alone.
const COSTS: [(f64, f64, f64); 3] = [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)];

/// Time of a construction at such costs.
///
/// # Errors
/// A construction that is not for the problem.
fn time(
    collective: Collective,
    (alpha, beta, combine): (f64, f64, f64),
    construction: Construction,
) -> Result<f64, CliError> {
    let costs = Homogeneous::new(alpha, beta, 0.0).expect("costs of 0 and 1");
    let is_reduction = collective.operation().is_reduction();
    let problem = Problem::of(collective, costs).expect("costs for all");
    let problem = match is_reduction {
        true => problem
            .with_operator(Operator::new(1, combine).expect("a time"))
            .expect("whole elements"),
        false => problem,
    };
    let schedule = schedule(&problem, construction)?;
    let timeline = simulate(&schedule, problem.costs(), Sends::Synchronous);
    Ok(timeline.expect("the schedule ends").completion_time().units())
}

pub(super) fn equal_blocks(ranks: usize, bytes: u64) -> BlockSizes {
    BlockSizes::new(vec![bytes; ranks]).expect("small sizes")
}

/// A number with at most four decimals.
fn number(value: f64) -> String {
    let text = format!("{value:.4}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A formula of a paper beside the time of a schedule.
fn formula(
    (place, what): (&'static str, String),
    published: f64,
    recomputed: f64,
    otherwise: Verdict,
) -> Statement {
    let (published, recomputed) = (number(published), number(recomputed));
    let verdict = if published == recomputed { Verdict::Equal } else { otherwise };
    Statement { place, what, published, recomputed, verdict }
}

/// Statements of TRG.
///
/// # Errors
/// None but of broken invariants.
pub(crate) fn of_mpich() -> Result<Vec<Statement>, CliError> {
    let mut all = figures::all()?;
    let [startups, bytes, combining] = COSTS;
    for p in [3_usize, 5, 6, 8, 12, 13] {
        let of = |operation, what: &str| format!("{operation}, {p} ranks: {what}");
        let messages = MessageSizes::of_senders(&equal_blocks(p, 1)).expect("small sizes");
        let alltoall = || Collective::alltoall(&messages);
        let rounds = f64::from(p.next_power_of_two().ilog2());
        all.push(formula(
            ("4.3", of("Bruck's alltoall", "blocks sent")),
            volume_of_bruck(p),
            time(alltoall(), bytes, Construction::Bruck)?,
            Verdict::Approximate,
        ));
        let allgather = || Collective::allgather(&equal_blocks(p, 1));
        all.push(formula(
            ("4.1", of("Bruck's allgather", "messages")),
            rounds,
            time(allgather(), startups, Construction::Bruck)?,
            Verdict::Different,
        ));
        all.push(formula(
            ("4.1", of("ring allgather", "blocks sent")),
            (p - 1) as f64,
            time(allgather(), bytes, Construction::Ring)?,
            Verdict::Different,
        ));
        let scatter = || Collective::reduce_scatter(&equal_blocks(p, 1));
        let is_power = p.is_power_of_two();
        all.push(formula(
            ("4.4", of("recursive halving", "blocks sent")),
            if is_power { (p - 1) as f64 } else { 2.0 * p as f64 },
            time(scatter(), bytes, Construction::Halving)?,
            Verdict::Approximate,
        ));
        let floor = (1_usize << p.ilog2()) as f64;
        let vector = Vector { ranks: p, bytes: 1680 };
        let reduce = || Collective::new(Operation::Allreduce, vector).expect("its data");
        let half = Construction::RabenseifnerHalf;
        let volume = if is_power { 2.0 * (1.0 - 1.0 / floor) } else { 4.0 - 2.0 / floor };
        let combined = if is_power { 1.0 - 1.0 / floor } else { 1.5 - 1.0 / floor };
        for (what, costs, share) in [("volume", bytes, volume), ("combining", combining, combined)]
        {
            all.push(formula(
                ("5.1", of("Rabenseifner's allreduce", &format!("{what} in vectors"))),
                share,
                time(reduce(), costs, half)? / 1680.0,
                Verdict::Different,
            ));
        }
    }
    Ok(all)
}

/// The blocks that each rank sends in Bruck's alltoall by the paper's formula.
fn volume_of_bruck(p: usize) -> f64 {
    let floor = p.ilog2();
    p as f64 / 2.0 * f64::from(floor) + (p - (1 << floor)) as f64
}

/// Blocks of a group: all the same, or growing with the rank up to the largest.
#[derive(Clone, Copy)]
enum GroupBlocks {
    Equal(u64),
    Arithmetic(u64),
}

impl GroupBlocks {
    fn sizes(self, ranks: usize) -> Vec<u64> {
        match self {
            GroupBlocks::Equal(bytes) => vec![bytes; ranks],
            GroupBlocks::Arithmetic(largest) => {
                (1..=ranks as u64).map(|rank| largest * rank / ranks as u64).collect()
            }
        }
    }
}

/// Statements of K19.
///
/// # Errors
/// None but of broken invariants.
pub(crate) fn of_intergroup() -> Result<Vec<Statement>, CliError> {
    use GroupBlocks::{Arithmetic, Equal};
    const UNIT: u64 = 22_400;
    let paired = Construction::Paired;
    let shares = Construction::Shares;
    let settings = [
        (1, "7", (32, Equal(UNIT), Equal(UNIT)), paired),
        (2, "4.84", (50, Equal(UNIT), Equal(UNIT)), paired),
        (3, "4.21", (50, Equal(4 * UNIT), Equal(UNIT)), paired),
        (4, "6.68", (50, Equal(UNIT), Equal(4 * UNIT)), paired),
        (5, "7", (32, Equal(UNIT), Equal(UNIT)), shares),
        (6, "7", (32, Arithmetic(32 * UNIT), Arithmetic(32 * UNIT)), shares),
        (7, "4.84", (50, Equal(UNIT), Equal(UNIT)), shares),
        (8, "4.84", (50, Arithmetic(350 * UNIT), Arithmetic(350 * UNIT)), shares),
    ];
    let mut all = Vec::new();
    let mut limits = Vec::new();
    for (setting, published, (ranks, first, second), ours) in settings {
        let groups = [first.sizes(ranks), second.sizes(64 - ranks)];
        let [one, other] = groups.each_ref().map(|sizes| sizes.iter().sum::<u64>() as f64);
        let largest = one.max(other);
        let limit = (largest + 3.0 * (one + other)) / largest;
        limits.push(limit);
        let rounded = number((limit * 100.0).round() / 100.0);
        let verdict = if rounded == published { Verdict::Equal } else { Verdict::Approximate };
        let what = format!("setting {setting}, limit of the gain over MPICH by formula (5)");
        let (published, recomputed) = (published.to_owned(), number(limit));
        all.push(Statement { place: "5", what, published: published.clone(), recomputed, verdict });
        let taken = |construction| time(between(&groups), COSTS[1], construction);
        let gain = taken(Construction::RootMpich)? / taken(ours)?;
        all.push(Statement {
            place: "5",
            what: format!("setting {setting}, gain of {} on 64 ranks", ours.name()),
            published,
            recomputed: number(gain),
            verdict: Verdict::Approximate,
        });
    }
    // Of settings 1 to 4, which have equal blocks of their own for Algorithm 1.
    let alike = (0..4).find(|&setting| limits[setting] == limits[6]);
    all.push(Statement {
        place: "5",
        what: "the setting of Algorithm 1 whose end result setting 7 has".to_owned(),
        published: "4".to_owned(),
        recomputed: alike.map_or_else(String::new, |setting| (setting + 1).to_string()),
        verdict: Verdict::Wrong,
    });
    all.extend(equations()?);
    all.push(theorem_3()?);
    Ok(all)
}

/// Equations 1 to 3, Theorem 1 and the number of links, for blocks of 60 bytes each.
fn equations() -> Result<Vec<Statement>, CliError> {
    const BYTES: u64 = 60;
    let k = BYTES as f64;
    let mut all = Vec::new();
    for (p, q) in [(6_usize, 2_usize), (7, 6)] {
        let groups = || between(&[vec![BYTES; p], vec![BYTES; q]]);
        let taken = |construction| time(groups(), COSTS[1], construction);
        let of = |what: &str| format!("{what}, groups of {p} and {q}, blocks of {BYTES}");
        let (one, other) = (k * p as f64, k * q as f64);
        let longer = one.max(other);
        let gathered = (one - k).max(other - k);
        all.push(formula(
            ("equation 1", of("transfers of the best root algorithm")),
            gathered + 2.0 * longer,
            taken(Construction::RootBest)?,
            Verdict::Approximate,
        ));
        all.push(at_most(
            ("equation 2", of("transfers of MPICH's root algorithm, at most")),
            gathered + 3.0 * (one + other),
            taken(Construction::RootMpich)?,
        ));
        let paired = taken(Construction::Paired)?;
        if p % q == 0 {
            let share = k * p as f64 / q as f64;
            let inside = (one - share).max(other - other / p as f64);
            all.push(formula(
                ("equation 3", of("transfers of Algorithm 1")),
                share.max(k) + inside,
                paired,
                Verdict::Different,
            ));
        }
        all.push(at_most(
            ("theorem 1", of("transfers of Algorithm 1, at most")),
            longer + k,
            paired,
        ));
    }
    // A link to each of p ranks, a ring of p and a ring of q.
    let (p, q) = (6.0, 2.0);
    let what =
        "links of Algorithm 1 are fewer than: those that the text adds up, groups of 6 and 2";
    all.push(at_most(("4", what.to_owned()), p + q + p / q, p + p + q));
    Ok(all)
}

/// A bound of a paper beside the time of a schedule.
pub(super) fn at_most((place, what): (&'static str, String), bound: f64, taken: f64) -> Statement {
    let verdict = if taken <= bound { Verdict::Equal } else { Verdict::Wrong };
    Statement { place, what, published: number(bound), recomputed: number(taken), verdict }
}

/// The intergroup allgather of these blocks.
fn between(groups: &[Vec<u64>; 2]) -> Collective {
    let all = BlockSizes::new(groups.iter().flatten().copied()).expect("small sizes");
    let groups = GroupSizes::new(all, groups[0].len()).expect("two groups");
    Collective::new(Operation::IntergroupAllgather, groups).expect("its data")
}

/// The executions of Algorithm 1 that figures 1 and 2 show.
///
/// # Errors
/// None but of broken invariants.
pub(crate) fn drawn() -> Result<Vec<(u32, Drawn)>, CliError> {
    let costs = Homogeneous::new(1.0, 1.0, 0.0).expect("costs of 0 and 1");
    let of_groups = |(number, p, q): (u32, usize, usize)| {
        let groups = [vec![6; p], vec![6; q]];
        let problem = Problem::of(between(&groups), costs).expect("costs for all");
        Ok((number, Drawn::Schedule(schedule(&problem, Construction::Paired)?)))
    };
    [(1, 6, 2), (2, 8, 3)].into_iter().map(of_groups).collect()
}

/// The stronger of the two bounds on what transfers of Algorithm 2 take, in an example that takes more.
fn theorem_3() -> Result<Statement, CliError> {
    const SCALE: u64 = 840;
    let scaled = |sizes: &[u64]| sizes.iter().map(|size| SCALE * size).collect();
    let groups = [scaled(&[0, 2, 0, 60, 2, 0]), scaled(&[20, 2, 20, 2, 20, 20, 0])];
    let bound = groups.each_ref().map(|group: &Vec<u64>| {
        let largest = group.iter().max().copied().unwrap_or(0);
        (group.iter().sum::<u64>() + largest) / SCALE
    });
    let taken = time(between(&groups), COSTS[1], Construction::Shares)? / SCALE as f64;
    let what = "time of transfers at most: blocks 0 2 0 60 2 0 and 20 2 20 2 20 20 0";
    Ok(at_most(("theorem 3", what.to_owned()), bound[0].max(bound[1]) as f64, taken))
}

impl Verdict {
    /// Its meaning, in words.
    pub(crate) fn explanation(self) -> &'static str {
        match self {
            Verdict::Equal => "as published, or within a published bound",
            Verdict::Approximate => {
                "near: a formula for all numbers of ranks, or a limit for many, beside an exact schedule"
            }
            Verdict::Wrong => "stated in the paper, and it does not hold",
            Verdict::Different => "not as published",
        }
    }

    /// All that have a count in the summary, with their names.
    pub(crate) fn counted(statements: &[Statement]) -> Vec<(Verdict, usize)> {
        let count = |verdict: Verdict| {
            (verdict, statements.iter().filter(|one| one.verdict == verdict).count())
        };
        Verdict::all().map(count).filter(|(_, count)| *count > 0).collect()
    }
}
