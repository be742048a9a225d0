//! The document of measured calls as it stands in a file.

use super::{CallTimes, MeasuredCall, MeasuredCalls};
use crate::document::{named_algorithm, one_of};
use crate::repetitions::{LateStarts, Repetitions};
use serde::{Deserialize, Serialize};
use tuwtree_model::document::{Header, NumberList, Object};
use tuwtree_model::{BlockSizes, ClosedSet, Rank};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallsFields {
    format: String,
    version: u64,
    program: String,
    mpi_library: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nodes: Option<usize>,
    #[serde(default)]
    oversubscribed: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    machine_file: Option<String>,
    calls: Vec<Object<CallFields>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallFields {
    functions: Vec<String>,
    operation: String,
    root: Rank,
    block_sizes_bytes: NumberList,
    recorded_calls: u64,
    recorded_seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    measured: Option<Vec<Object<TimesFields>>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    not_measured: Option<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TimesFields {
    algorithm: String,
    planning_seconds: f64,
    median_seconds: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    late_repetitions: Option<Vec<usize>>,
    seconds: Vec<f64>,
}

impl TryFrom<CallsFields> for MeasuredCalls {
    type Error = String;

    fn try_from(fields: CallsFields) -> Result<MeasuredCalls, String> {
        let header = Header { format: fields.format, version: fields.version };
        header.check(Self::FORMAT, Self::VERSION).map_err(|error| error.to_string())?;
        let calls = fields.calls.into_iter().enumerate().map(|(index, Object(one))| {
            one.call().map_err(|error| format!("call {index}: {error}"))
        });
        Ok(MeasuredCalls {
            program: fields.program,
            library: fields.mpi_library,
            nodes: fields.nodes,
            oversubscribed: fields.oversubscribed,
            machine_file: fields.machine_file,
            calls: calls.collect::<Result<_, _>>()?,
        })
    }
}

impl CallFields {
    fn call(self) -> Result<MeasuredCall, String> {
        let sizes = BlockSizes::new(self.block_sizes_bytes.0).map_err(|error| error.to_string())?;
        let (root, ranks) = (self.root, sizes.ranks());
        if root >= ranks {
            return Err(format!("root {root} is outside 0..{ranks} ({ranks} ranks)"));
        }
        let (calls, seconds) = (self.recorded_calls, self.recorded_seconds);
        if calls == 0 || !(seconds.is_finite() && seconds >= 0.0) {
            return Err(format!("{calls} calls in {seconds} s"));
        }
        let measured = match (self.measured, self.not_measured) {
            (Some(all), None) if all.is_empty() => return Err("\"measured\" is empty".into()),
            (Some(all), None) => {
                let times = all.into_iter().map(|Object(one)| one.times());
                Ok(times.collect::<Result<Vec<_>, String>>()?)
            }
            (None, Some(reason)) => Err(reason),
            _ => return Err("either \"measured\" or \"not_measured\" is needed".into()),
        };
        Ok(MeasuredCall {
            functions: self.functions,
            operation: one_of("operation", &self.operation)?,
            root,
            sizes,
            recorded_calls: calls,
            recorded_seconds: seconds,
            measured,
        })
    }
}

impl TimesFields {
    fn times(self) -> Result<CallTimes, String> {
        let planning_seconds = self.planning_seconds;
        if !(planning_seconds.is_finite() && planning_seconds >= 0.0) {
            return Err(format!("\"planning_seconds\" is {planning_seconds}; it is at least 0"));
        }
        let late = self.late_repetitions.map_or(LateStarts::Unknown, LateStarts::Listed);
        let times = Repetitions { seconds: self.seconds, late };
        times.check()?;
        Ok(CallTimes { algorithm: named_algorithm(&self.algorithm)?, planning_seconds, times })
    }
}

impl From<MeasuredCalls> for CallsFields {
    fn from(measured: MeasuredCalls) -> CallsFields {
        CallsFields {
            format: MeasuredCalls::FORMAT.into(),
            version: MeasuredCalls::VERSION,
            program: measured.program,
            mpi_library: measured.library,
            nodes: measured.nodes,
            oversubscribed: measured.oversubscribed,
            machine_file: measured.machine_file,
            calls: measured.calls.into_iter().map(|one| Object(one.into())).collect(),
        }
    }
}

impl From<MeasuredCall> for CallFields {
    fn from(call: MeasuredCall) -> CallFields {
        let (measured, not_measured) = match call.measured {
            Ok(all) => (Some(all.into_iter().map(|one| Object(one.into())).collect()), None),
            Err(reason) => (None, Some(reason)),
        };
        CallFields {
            functions: call.functions,
            operation: call.operation.name().into(),
            root: call.root,
            block_sizes_bytes: NumberList(call.sizes.iter().collect()),
            recorded_calls: call.recorded_calls,
            recorded_seconds: call.recorded_seconds,
            measured,
            not_measured,
        }
    }
}

impl From<CallTimes> for TimesFields {
    fn from(CallTimes { algorithm, planning_seconds, times }: CallTimes) -> TimesFields {
        TimesFields {
            algorithm: algorithm.name().into(),
            planning_seconds,
            median_seconds: times.median(),
            late_repetitions: match times.late {
                LateStarts::Listed(late) => Some(late),
                LateStarts::Unknown | LateStarts::Counted(_) => None,
            },
            seconds: times.seconds,
        }
    }
}
