//! The machine document: what sending and copying cost on a machine, who says so, and when.
//!
//! The same fields in JSON and TOML. Units stand in the names of the fields: seconds and bytes. A
//! reader first checks [`Header`], then reads [`Machine`].

use super::list::ShortList;
use super::{Header, Object};
use crate::{
    CostMatrix, Costs, Hierarchy, Homogeneous, Level, Link, LinkLaw, MOST_RANKS, MeasuredSize,
    MeasuredSizes, Network, Piece, PiecewiseLinear, Placement, PortKind, Rank, Time, WireOwner,
};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// A machine with its costs, as documents carry it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "MachineFields", into = "MachineFields")]
pub struct Machine {
    /// Name; not empty.
    pub name: String,
    /// Since when the costs hold.
    pub date: Date,
    /// Provenance: the authors of the measurement or publication, and the method; not empty.
    pub provenance: String,
    /// The costs, in seconds and bytes.
    pub costs: Costs,
    /// Service of several messages by the network, in seconds and bytes.
    pub network: Network,
    /// The seconds per byte of combining received data with local data, by a usual operator such as a sum of doubles:
    /// at least 0, and 0 if unknown.
    pub combine_per_byte: f64,
}

impl Machine {
    /// The name of the format.
    pub const FORMAT: &'static str = "tuwtree-machine";
    /// The newest version.
    pub const VERSION: u64 = 4;
    /// The name of costs that a user states with units.
    const STATED: &'static str = "stated costs";

    /// Costs that a user states with units: in seconds, of no network in particular.
    pub fn stated(costs: Homogeneous) -> Machine {
        Machine {
            name: Machine::STATED.to_owned(),
            date: Date { year: 1970, month: 1, day: 1 },
            provenance: "Stated by the user; the date is none.".to_owned(),
            costs: costs.into(),
            network: Network::default(),
            combine_per_byte: 0.0,
        }
    }

    /// True for costs that a user stated with units.
    pub fn is_stated(&self) -> bool {
        self.name == Machine::STATED
    }

    /// The least version that can carry the machine, which is the one that is written: 2 where latency
    /// overlaps, or something is known of the network, 3 where that is more than version 2 has, 4 where combining takes
    /// time, exchanges have costs of their own, or an uncertainty is stated.
    pub fn version(&self) -> u64 {
        let is_newest = self.network.fair_beyond.is_some() || self.network.window.is_some();
        match self.costs.overlaps() || self.has_tables() || self.network != Network::default() {
            _ if self.combine_per_byte != 0.0 || self.costs.have_exchange_costs() => 4,
            _ if self.network.uncertainty.is_some() => 4,
            _ if is_newest => 3,
            true => 2,
            false => 1,
        }
    }

    /// True if costs are stated by measured sizes.
    fn has_tables(&self) -> bool {
        let Some(costs) = self.costs.hierarchy() else { return false };
        costs.levels().iter().any(|level| matches!(level.links, LinkLaw::Measured(_)))
    }
}

/// A day of the Gregorian calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// The day of a text of the form `2018-05-31`; `None` for another text.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::document::Date;
    /// assert_eq!(Date::parse("2024-02-29").unwrap().to_string(), "2024-02-29");
    /// assert_eq!(Date::parse("2023-02-29"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Date> {
        let form = |(index, byte): (usize, u8)| match index {
            4 | 7 => byte == b'-',
            _ => byte.is_ascii_digit(),
        };
        if text.len() != 10 || !text.bytes().enumerate().all(form) {
            return None;
        }
        let year: u16 = text[..4].parse().ok()?;
        let (month, day) = (text[5..7].parse().ok()?, text[8..].parse().ok()?);
        let leap =
            year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
        let days = match month {
            2 if leap => 29,
            2 => 28,
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => return None,
        };
        (1..=days).contains(&day).then_some(Date { year, month, day })
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// The document as it stands in a file. Exactly one of the kinds of costs is there.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MachineFields {
    format: String,
    version: u64,
    name: String,
    date: String,
    provenance: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    homogeneous: Option<Object<HomogeneousFields>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matrix: Option<Object<MatrixFields>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hierarchical: Option<Object<HierarchicalFields>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    network: Option<Object<NetworkFields>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    combine_seconds_per_byte: Option<f64>,
}

/// Everything in it may be left out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NetworkFields {
    #[serde(default)]
    port: PortKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    fair_beyond_bytes: Option<u64>,
    #[serde(default)]
    wire: WireOwner,
    #[serde(skip_serializing_if = "Option::is_none")]
    eager_limit_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    send_overhead_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uncertainty: Option<f64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    measured: BTreeMap<String, String>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HomogeneousFields {
    alpha_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead_seconds: Option<f64>,
    beta_seconds_per_byte: f64,
    gamma_seconds_per_byte: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange_alpha_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exchange_beta_seconds_per_byte: Option<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct MatrixFields {
    alpha_seconds: PerRank<PerRank<Latency>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead_seconds: Option<PerRank<PerRank<Latency>>>,
    beta_seconds_per_byte: PerRank<PerRank<f64>>,
    gamma_seconds_per_byte: PerRank<f64>,
}

/// An entry for each process of a matrix: twice as many as costs are ever expanded for.
type PerRank<T> = ShortList<T, { 2 * Costs::MOST_EXPANDED }>;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HierarchicalFields {
    gamma_seconds_per_byte: f64,
    placement: PlacementName,
    #[serde(skip_serializing_if = "Option::is_none")]
    node_of_rank: Option<ShortList<usize, MOST_RANKS>>,
    levels: Vec<Object<LevelFields>>,
}

#[derive(Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum PlacementName {
    Block,
    RoundRobin,
    Listed,
}

/// A level, with one law for all sizes, a list of pieces, or a table of measured sizes.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct LevelFields {
    name: String,
    members: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    alpha_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead_seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    beta_seconds_per_byte: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pieces: Option<Vec<Object<PieceFields>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sizes: Option<Vec<Object<SizeFields>>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PieceFields {
    from_bytes: u64,
    alpha_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    overhead_seconds: Option<f64>,
    beta_seconds_per_byte: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SizeFields {
    bytes: u64,
    latency_seconds: f64,
    occupancy_seconds: f64,
}

/// An entry of `alpha_seconds`: a number, or `"inf"` where there is no link, since JSON has no
/// infinite numbers.
struct Latency(f64);

impl Latency {
    const NO_LINK: &'static str = "inf";
}

impl Serialize for Latency {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            f64::INFINITY => serializer.serialize_str(Self::NO_LINK),
            alpha => serializer.serialize_f64(alpha),
        }
    }
}

impl<'de> Deserialize<'de> for Latency {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Latency, D::Error> {
        struct LatencyVisitor;

        impl Visitor<'_> for LatencyVisitor {
            type Value = Latency;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(formatter, "a number, or {:?} where there is no link", Latency::NO_LINK)
            }

            fn visit_f64<E: serde::de::Error>(self, alpha: f64) -> Result<Latency, E> {
                Ok(Latency(alpha))
            }

            fn visit_u64<E: serde::de::Error>(self, alpha: u64) -> Result<Latency, E> {
                Ok(Latency(alpha as f64))
            }

            fn visit_i64<E: serde::de::Error>(self, alpha: i64) -> Result<Latency, E> {
                Ok(Latency(alpha as f64))
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Latency, E> {
                match text {
                    Latency::NO_LINK => Ok(Latency(f64::INFINITY)),
                    _ => Err(E::invalid_value(serde::de::Unexpected::Str(text), &self)),
                }
            }
        }

        deserializer.deserialize_any(LatencyVisitor)
    }
}

impl TryFrom<MachineFields> for Machine {
    type Error = String;

    fn try_from(fields: MachineFields) -> Result<Machine, String> {
        let MachineFields { format, version, name, date, provenance, .. } = fields;
        let MachineFields { homogeneous, matrix, hierarchical, network, .. } = fields;
        let MachineFields { combine_seconds_per_byte, .. } = fields;
        let header = Header { format, version };
        header.check(Machine::FORMAT, Machine::VERSION).map_err(|error| error.to_string())?;
        for (field, text) in [("name", &name), ("provenance", &provenance)] {
            if text.trim().is_empty() {
                return Err(format!("\"{field}\" is empty"));
            }
        }
        let day = Date::parse(&date).ok_or_else(|| {
            format!("\"date\" is {date:?}; a day such as \"2018-05-31\" is needed")
        })?;
        let states_exchange = match &homogeneous {
            Some(Object(fields)) => fields.states_exchange(),
            None => None,
        };
        let costs = match (homogeneous, matrix, hierarchical) {
            (Some(Object(fields)), None, None) => {
                Costs::Homogeneous(fields.costs().map_err(|error| format!("homogeneous: {error}"))?)
            }
            (None, Some(Object(fields)), None) => {
                Costs::Matrix(fields.costs().map_err(|error| format!("matrix: {error}"))?)
            }
            (None, None, Some(Object(fields))) => Costs::Hierarchical(
                fields.costs().map_err(|error| format!("hierarchical: {error}"))?,
            ),
            (homogeneous, matrix, hierarchical) => {
                let given = [homogeneous.is_some(), matrix.is_some(), hierarchical.is_some()];
                return Err(format!(
                    "{} of \"homogeneous\", \"matrix\" and \"hierarchical\" are given; exactly one \
                     is needed",
                    given.into_iter().filter(|&given| given).count()
                ));
            }
        };
        let network = match network {
            Some(Object(fields)) => {
                fields.network(&costs).map_err(|error| format!("network: {error}"))?
            }
            None => Network::default(),
        };
        let combine_per_byte = combine_seconds_per_byte.unwrap_or(0.0);
        if !(combine_per_byte.is_finite() && combine_per_byte >= 0.0) {
            return Err(format!(
                "\"combine_seconds_per_byte\" is {combine_per_byte}; a finite number of at least 0 is needed"
            ));
        }
        let machine = Machine { name, date: day, provenance, costs, network, combine_per_byte };
        if combine_seconds_per_byte.is_some() && version < 4 {
            return Err(format!(
                "version {version} has no \"combine_seconds_per_byte\"; it needs version 4"
            ));
        }
        if let Some(field) = states_exchange.filter(|_| version < 4) {
            return Err(format!("version {version} has no \"{field}\"; it needs version 4"));
        }
        match machine.version() > version {
            true => Err(format!(
                "version {version} has no {}; they need version {}",
                match machine.version() {
                    4 => "uncertainties",
                    3 if machine.network.window.is_some() => "windows",
                    3 => "ports that are fair beyond a size",
                    _ => "overheads, measured sizes and networks",
                },
                machine.version()
            )),
            false => Ok(machine),
        }
    }
}

impl NetworkFields {
    fn network(self, costs: &Costs) -> Result<Network, String> {
        let NetworkFields { port, fair_beyond_bytes, wire, .. } = self;
        let NetworkFields { eager_limit_bytes, send_overhead_seconds, .. } = self;
        if fair_beyond_bytes.is_some() && port != PortKind::Fair {
            return Err("\"fair_beyond_bytes\" is for a \"port\" that is \"fair\"".into());
        }
        if wire == WireOwner::Node && costs.hierarchy().is_none() {
            return Err("\"wire\" is \"node\", but only hierarchical costs know nodes".into());
        }
        if let Some(value) = send_overhead_seconds.filter(|&value| Time::new(value).is_none()) {
            return Err(format!(
                "\"send_overhead_seconds\" is {value}; costs are finite numbers of at least 0"
            ));
        }
        if let Some(value) = self.uncertainty.filter(|&value| !(value.is_finite() && value > 1.0)) {
            return Err(format!("\"uncertainty\" is {value}; a finite factor above 1 is needed"));
        }
        Ok(Network {
            port,
            fair_beyond: fair_beyond_bytes,
            wire,
            eager_limit: eager_limit_bytes,
            send_overhead: send_overhead_seconds,
            window: self.window_bytes,
            uncertainty: self.uncertainty,
            measured: self.measured,
        })
    }
}

impl From<Network> for NetworkFields {
    fn from(network: Network) -> NetworkFields {
        let Network { port, fair_beyond, wire, eager_limit, send_overhead, .. } = network;
        NetworkFields {
            port,
            fair_beyond_bytes: fair_beyond,
            wire,
            eager_limit_bytes: eager_limit,
            send_overhead_seconds: send_overhead,
            window_bytes: network.window,
            uncertainty: network.uncertainty,
            measured: network.measured,
        }
    }
}

impl HomogeneousFields {
    /// The name of the first field that states what exchanges cost, if there is one.
    fn states_exchange(&self) -> Option<&'static str> {
        match (self.exchange_alpha_seconds, self.exchange_beta_seconds_per_byte) {
            (Some(_), _) => Some("exchange_alpha_seconds"),
            (None, Some(_)) => Some("exchange_beta_seconds_per_byte"),
            (None, None) => None,
        }
    }

    fn costs(self) -> Result<Homogeneous, String> {
        let HomogeneousFields { alpha_seconds, overhead_seconds, .. } = self;
        let HomogeneousFields { beta_seconds_per_byte, gamma_seconds_per_byte, .. } = self;
        let exchange_alpha = self.exchange_alpha_seconds.unwrap_or(alpha_seconds);
        let exchange_beta = self.exchange_beta_seconds_per_byte.unwrap_or(beta_seconds_per_byte);
        Homogeneous::new(alpha_seconds, beta_seconds_per_byte, gamma_seconds_per_byte)
            .map_err(|error| error.to_string())?
            .with_overhead(overhead_seconds.unwrap_or(alpha_seconds))
            .map_err(|error| error.to_string())?
            .with_exchange(exchange_alpha, exchange_beta)
            .map_err(|error| error.to_string())
    }
}

impl MatrixFields {
    fn costs(self) -> Result<CostMatrix, String> {
        let row = |ShortList(row): PerRank<Latency>| -> Vec<f64> {
            row.into_iter().map(|Latency(alpha)| alpha).collect()
        };
        let table = |ShortList(rows): PerRank<PerRank<Latency>>| -> Vec<Vec<f64>> {
            rows.into_iter().map(row).collect()
        };
        let alpha = table(self.alpha_seconds);
        let beta: Vec<Vec<f64>> =
            self.beta_seconds_per_byte.0.into_iter().map(|ShortList(row)| row).collect();
        let costs = CostMatrix::new(&alpha, &beta, &self.gamma_seconds_per_byte.0)
            .map_err(|error| error.to_string())?;
        match self.overhead_seconds.map(table) {
            Some(overheads) => costs.with_overheads(&overheads).map_err(|error| error.to_string()),
            None => Ok(costs),
        }
    }
}

impl HierarchicalFields {
    fn costs(self) -> Result<Hierarchy, String> {
        let levels: Result<Vec<Level>, String> = (0..)
            .zip(self.levels)
            .map(|(index, Object(level)): (usize, _)| {
                let place = format!("level {index} ({:?})", level.name);
                level.level().map_err(|error| format!("{place}: {error}"))
            })
            .collect();
        let placement = match (self.placement, self.node_of_rank) {
            (PlacementName::Block, None) => Placement::Block,
            (PlacementName::RoundRobin, None) => Placement::RoundRobin,
            (PlacementName::Listed, Some(ShortList(nodes))) => Placement::Listed(nodes),
            (PlacementName::Listed, None) => {
                return Err("placement \"listed\" needs \"node_of_rank\"".into());
            }
            (_, Some(_)) => {
                return Err("\"node_of_rank\" goes with placement \"listed\" only".into());
            }
        };
        Hierarchy::new(levels?, placement, self.gamma_seconds_per_byte)
            .map_err(|error| error.to_string())
    }
}

impl LevelFields {
    fn level(self) -> Result<Level, String> {
        let LevelFields { name, members, overhead_seconds, .. } = self;
        let line = (self.alpha_seconds, self.beta_seconds_per_byte);
        let pieces = |pieces| -> Result<LinkLaw, String> {
            Ok(PiecewiseLinear::new(pieces).map_err(|error| error.to_string())?.into())
        };
        let links = match (line, overhead_seconds, self.pieces, self.sizes) {
            ((Some(alpha), Some(beta)), overhead, None, None) => {
                let overhead = overhead.unwrap_or(alpha);
                pieces(vec![Piece { from_bytes: 0, alpha, overhead, beta }])?
            }
            ((None, None), None, Some(list), None) => {
                pieces(list.into_iter().map(|Object(piece)| piece.into()).collect())?
            }
            ((None, None), None, None, Some(sizes)) => {
                let sizes = sizes.into_iter().map(|Object(size)| size.into()).collect();
                LinkLaw::Measured(MeasuredSizes::new(sizes).map_err(|error| error.to_string())?)
            }
            _ => {
                return Err("either \"alpha_seconds\" and \"beta_seconds_per_byte\" (and \
                     \"overhead_seconds\" if need be), or \"pieces\", or \"sizes\" must be given"
                    .into());
            }
        };
        Ok(Level { name, members, links })
    }
}

impl From<PieceFields> for Piece {
    fn from(fields: PieceFields) -> Piece {
        Piece {
            from_bytes: fields.from_bytes,
            alpha: fields.alpha_seconds,
            overhead: fields.overhead_seconds.unwrap_or(fields.alpha_seconds),
            beta: fields.beta_seconds_per_byte,
        }
    }
}

impl From<SizeFields> for MeasuredSize {
    fn from(fields: SizeFields) -> MeasuredSize {
        MeasuredSize {
            bytes: fields.bytes,
            latency: fields.latency_seconds,
            occupancy: fields.occupancy_seconds,
        }
    }
}

impl From<Machine> for MachineFields {
    fn from(machine: Machine) -> MachineFields {
        let mut fields = MachineFields {
            format: Machine::FORMAT.into(),
            version: machine.version(),
            name: machine.name,
            date: machine.date.to_string(),
            provenance: machine.provenance,
            homogeneous: None,
            matrix: None,
            hierarchical: None,
            network: None,
            combine_seconds_per_byte: Some(machine.combine_per_byte).filter(|&time| time != 0.0),
        };
        if machine.network != Network::default() {
            fields.network = Some(Object(machine.network.into()));
        }
        match &machine.costs {
            Costs::Homogeneous(costs) => fields.homogeneous = Some(Object(costs.into())),
            Costs::Matrix(costs) => fields.matrix = Some(Object(costs.into())),
            Costs::Hierarchical(costs) => fields.hierarchical = Some(Object(costs.into())),
        }
        fields
    }
}

impl From<&Homogeneous> for HomogeneousFields {
    fn from(costs: &Homogeneous) -> HomogeneousFields {
        let has_exchange_costs = costs.has_exchange_costs();
        HomogeneousFields {
            alpha_seconds: costs.alpha(),
            overhead_seconds: costs.overlaps().then_some(costs.overhead()),
            beta_seconds_per_byte: costs.beta(),
            gamma_seconds_per_byte: costs.gamma(),
            exchange_alpha_seconds: has_exchange_costs.then_some(costs.exchange_alpha()),
            exchange_beta_seconds_per_byte: has_exchange_costs.then_some(costs.exchange_beta()),
        }
    }
}

impl From<&CostMatrix> for MatrixFields {
    fn from(costs: &CostMatrix) -> MatrixFields {
        let ranks = || 0..costs.size();
        // The diagonals are 0: see `CostMatrix`.
        let row = |sender: Rank| ranks().map(move |receiver| (sender, receiver));
        let table = |cost: &dyn Fn(Rank, Rank) -> f64| {
            ranks().map(|sender| row(sender).map(|(i, j)| Latency(cost(i, j))).collect()).collect()
        };
        let overlaps = Costs::Matrix(costs.clone()).overlaps();
        MatrixFields {
            alpha_seconds: table(&|i, j| costs.alpha(i, j)),
            overhead_seconds: overlaps.then(|| table(&|i, j| costs.overhead(i, j))),
            beta_seconds_per_byte: ranks()
                .map(|sender| row(sender).map(|(i, j)| costs.beta(i, j)).collect())
                .collect(),
            gamma_seconds_per_byte: ranks().map(|rank| costs.gamma(rank)).collect(),
        }
    }
}

impl From<&Hierarchy> for HierarchicalFields {
    fn from(costs: &Hierarchy) -> HierarchicalFields {
        let (placement, node_of_rank) = match costs.placement() {
            Placement::Block => (PlacementName::Block, None),
            Placement::RoundRobin => (PlacementName::RoundRobin, None),
            Placement::Listed(nodes) => (PlacementName::Listed, Some(ShortList(nodes.clone()))),
        };
        HierarchicalFields {
            gamma_seconds_per_byte: costs.gamma(),
            placement,
            node_of_rank,
            levels: costs.levels().iter().map(|level| Object(level.into())).collect(),
        }
    }
}

impl From<&Level> for LevelFields {
    fn from(level: &Level) -> LevelFields {
        let overhead = |link: Link| link.overlaps().then_some(link.overhead);
        let piece = |piece: &Piece| {
            Object(PieceFields {
                from_bytes: piece.from_bytes,
                alpha_seconds: piece.alpha,
                overhead_seconds: overhead(piece.link()),
                beta_seconds_per_byte: piece.beta,
            })
        };
        let size = |size: &MeasuredSize| {
            Object(SizeFields {
                bytes: size.bytes,
                latency_seconds: size.latency,
                occupancy_seconds: size.occupancy,
            })
        };
        let line = level.links.linear();
        let (pieces, sizes) = match &level.links {
            LinkLaw::Pieces(law) if line.is_none() => {
                (Some(law.pieces().iter().map(piece).collect()), None)
            }
            LinkLaw::Pieces(_) => (None, None),
            LinkLaw::Measured(law) => (None, Some(law.sizes().iter().map(size).collect())),
        };
        LevelFields {
            name: level.name.clone(),
            members: level.members,
            alpha_seconds: line.map(|link| link.alpha),
            overhead_seconds: line.and_then(overhead),
            beta_seconds_per_byte: line.map(|link| link.beta),
            pieces,
            sizes,
        }
    }
}
