//! The document as it stands in a file.

use super::{Algorithm, Delayed, Measurements, Series, Setting};
use crate::blocks::{Blocks, ListedBlocks};
use crate::prediction::Prediction;
use crate::repetitions::{LateStarts, Repetitions};
use serde::{Deserialize, Serialize};
use tuwtree_model::document::{Header, Machine, NumberList, Object, ShortList};
use tuwtree_model::{BlockSizes, ClosedSet, Distribution, Rank};

/// The most repetitions of a series that are read: sixteen times as many as `bench` makes.
const MOST_REPETITIONS: usize = 1 << 24;

/// The document as it stands in a file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Fields {
    format: String,
    version: u64,
    operation: String,
    program: String,
    library: String,
    #[serde(alias = "processors")]
    ranks: usize,
    root: Rank,
    #[serde(default, skip_serializing_if = "is_zero", alias = "remote_processors")]
    remote_ranks: usize,
    nodes: usize,
    oversubscribed: bool,
    element_bytes: u64,
    rho: u64,
    seed: u32,
    warm_up: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine: Option<Object<Machine>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    listed: Vec<Object<ListedFields>>,
    series: Vec<Object<SeriesFields>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ListedFields {
    name: String,
    block_sizes_bytes: NumberList,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesFields {
    #[serde(skip_serializing_if = "Option::is_none")]
    distribution: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<String>,
    mean_block: u64,
    total_bytes: u64,
    largest_block_bytes: u64,
    algorithm: String,
    planning_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    planned_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_starts: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    late_repetitions: Option<ShortList<usize, MOST_REPETITIONS>>,
    seconds: ShortList<f64, MOST_REPETITIONS>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    late_rank: Vec<Object<DelayedFields>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DelayedFields {
    rank: Rank,
    late_seconds: f64,
    seconds: ShortList<f64, MOST_REPETITIONS>,
    others_seconds: ShortList<f64, MOST_REPETITIONS>,
}

impl TryFrom<Fields> for Measurements {
    type Error = String;

    fn try_from(fields: Fields) -> Result<Measurements, String> {
        let header = Header { format: fields.format, version: fields.version };
        header.check(Self::FORMAT, Self::VERSION).map_err(|error| error.to_string())?;
        let operation = one_of("operation", &fields.operation)?;
        let series: Result<Vec<Series>, String> = fields
            .series
            .into_iter()
            .enumerate()
            .map(|(index, Object(one))| {
                Series::try_from(one).map_err(|error| format!("series {index}: {error}"))
            })
            .collect();
        let setting = Setting {
            operation,
            program: fields.program,
            library: fields.library,
            ranks: fields.ranks,
            root: fields.root,
            remote_ranks: fields.remote_ranks,
            nodes: fields.nodes,
            oversubscribed: fields.oversubscribed,
            element_bytes: fields.element_bytes,
            rho: fields.rho,
            seed: fields.seed,
            warm_up: fields.warm_up,
            machine: fields.machine.map(|Object(machine)| machine),
            listed: fields.listed.into_iter().map(listed).collect::<Result<_, _>>()?,
        };
        let read = Measurements::new(setting, series?).map_err(|error| error.to_string())?;
        match (read.oldest_version() > fields.version, read.oldest_version()) {
            (true, 9) => Err(format!(
                "version {} has no \"late_repetitions\"; they need version 9",
                fields.version
            )),
            (true, 7) => Err(format!(
                "version {} has no broadcasts, reductions, allreduces and intergroup allgathers, and no schedules of \
                 operations without a root; they need version 7",
                fields.version
            )),
            (true, 6) => {
                Err(format!("version {} has no alltoalls; they need version 6", fields.version))
            }
            (true, 5) => Err(format!(
                "version {} has no allgathers, and no \"online\" and \"online-persistent\"; they need version 5",
                fields.version
            )),
            (true, 4) => {
                Err(format!("version {} has no \"late_rank\"; it needs version 4", fields.version))
            }
            (true, 3) => Err(format!(
                "version {} has no \"listed\" block sizes; they need version 3",
                fields.version
            )),
            (true, _) => Err(
                "version 1 has no predicted times, late starts, \"distributed-persistent\" and \
                         \"auto\"; they need version 2"
                    .into(),
            ),
            (false, _) => Ok(read),
        }
    }
}

fn listed(Object(fields): Object<ListedFields>) -> Result<ListedBlocks, String> {
    let ListedFields { name, block_sizes_bytes: NumberList(sizes) } = fields;
    let sizes = BlockSizes::new(sizes)
        .map_err(|error| format!("the block sizes listed as {name:?}: {error}"))?;
    Ok(ListedBlocks { name, sizes })
}

impl TryFrom<SeriesFields> for Series {
    type Error = String;

    fn try_from(fields: SeriesFields) -> Result<Series, String> {
        Ok(Series {
            blocks: match (fields.distribution, fields.listed) {
                (Some(name), None) => Blocks::Drawn(one_of::<Distribution>("distribution", &name)?),
                (None, Some(name)) => Blocks::Listed(name),
                _ => return Err("either \"distribution\" or \"listed\" is needed".into()),
            },
            mean_block: fields.mean_block,
            total_bytes: fields.total_bytes,
            largest_block_bytes: fields.largest_block_bytes,
            algorithm: named_algorithm(&fields.algorithm)?,
            planning_seconds: fields.planning_seconds,
            predicted: match (fields.planned_seconds, fields.judged_seconds) {
                (planned_seconds, Some(judged_seconds)) => {
                    Some(Prediction { planned_seconds, judged_seconds })
                }
                (None, None) => None,
                (Some(_), None) => {
                    return Err("\"planned_seconds\" goes with \"judged_seconds\" only".into());
                }
            },
            times: Repetitions {
                seconds: fields.seconds.0,
                late: match (fields.late_starts, fields.late_repetitions) {
                    (None, None) => LateStarts::Unknown,
                    (Some(count), None) => LateStarts::Counted(count),
                    (None, Some(late)) => LateStarts::Listed(late.0),
                    (Some(_), Some(_)) => {
                        return Err("\"late_starts\" does not go with \"late_repetitions\"".into());
                    }
                },
            },
            delayed: fields.late_rank.into_iter().map(|Object(one)| one.into()).collect(),
        })
    }
}

/// True if a field can be left out.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference")]
fn is_zero(number: &usize) -> bool {
    *number == 0
}

/// The one of a closed set with this name.
pub(crate) fn one_of<T: ClosedSet>(field: &str, name: &str) -> Result<T, String> {
    name.parse().map_err(|_| unknown(field, name, &T::names()))
}

fn unknown(field: &str, name: &str, names: &str) -> String {
    format!("\"{field}\" is {name:?}; one of {names} is needed")
}

/// The algorithm with this name.
pub(crate) fn named_algorithm(name: &str) -> Result<Algorithm, String> {
    Algorithm::named(name).ok_or_else(|| {
        let names: Vec<_> = Algorithm::all().map(Algorithm::name).collect();
        unknown("algorithm", name, &names.join(", "))
    })
}

impl From<Measurements> for Fields {
    fn from(measurements: Measurements) -> Fields {
        let Measurements { setting, series } = measurements;
        Fields {
            format: Measurements::FORMAT.into(),
            version: Measurements::VERSION,
            operation: setting.operation.name().into(),
            program: setting.program,
            library: setting.library,
            ranks: setting.ranks,
            root: setting.root,
            remote_ranks: setting.remote_ranks,
            nodes: setting.nodes,
            oversubscribed: setting.oversubscribed,
            element_bytes: setting.element_bytes,
            rho: setting.rho,
            seed: setting.seed,
            warm_up: setting.warm_up,
            machine: setting.machine.map(Object),
            listed: setting.listed.into_iter().map(|one| Object(one.into())).collect(),
            series: series.into_iter().map(|one| Object(one.into())).collect(),
        }
    }
}

impl From<ListedBlocks> for ListedFields {
    fn from(ListedBlocks { name, sizes }: ListedBlocks) -> ListedFields {
        ListedFields { name, block_sizes_bytes: NumberList(sizes.iter().collect()) }
    }
}

impl From<Series> for SeriesFields {
    fn from(series: Series) -> SeriesFields {
        let (distribution, listed) = match series.blocks {
            Blocks::Drawn(distribution) => (Some(distribution.name().to_owned()), None),
            Blocks::Listed(name) => (None, Some(name)),
        };
        let (late_starts, late_repetitions) = match series.times.late {
            LateStarts::Unknown => (None, None),
            LateStarts::Counted(count) => (Some(count), None),
            LateStarts::Listed(late) => (None, Some(ShortList(late))),
        };
        SeriesFields {
            distribution,
            listed,
            mean_block: series.mean_block,
            total_bytes: series.total_bytes,
            largest_block_bytes: series.largest_block_bytes,
            algorithm: series.algorithm.name().into(),
            planning_seconds: series.planning_seconds,
            planned_seconds: series.predicted.and_then(|one| one.planned_seconds),
            judged_seconds: series.predicted.map(|one| one.judged_seconds),
            late_starts,
            late_repetitions,
            seconds: ShortList(series.times.seconds),
            late_rank: series.delayed.into_iter().map(|one| Object(one.into())).collect(),
        }
    }
}

impl From<DelayedFields> for Delayed {
    fn from(fields: DelayedFields) -> Delayed {
        let DelayedFields { rank, late_seconds, seconds, others_seconds } = fields;
        let (seconds, others_seconds) = (seconds.0, others_seconds.0);
        Delayed { rank, delay_seconds: late_seconds, seconds, others_seconds }
    }
}

impl From<Delayed> for DelayedFields {
    fn from(delayed: Delayed) -> DelayedFields {
        let Delayed { rank, delay_seconds, seconds, others_seconds } = delayed;
        let [seconds, others_seconds] = [seconds, others_seconds].map(ShortList);
        DelayedFields { rank, late_seconds: delay_seconds, seconds, others_seconds }
    }
}
