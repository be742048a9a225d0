//! Machines from XML: platforms of the simulator SimGrid; topologies of hwloc are left to `shape`.
//!
//! Supported elements: `<cluster>`, alone or several of them in a zone with a `<zoneRoute>` for each pair, and a zone
//! with `Full` routing of hosts with a `<route>` for each pair. A message passes all links of its route: its latency is
//! the sum of their latencies, its bandwidth the least. In a cluster these are the sender's link, the backbone (if
//! there is one) and the receiver's link; from one cluster to another both backbones, and the zone's route between
//! them.
//!
//! Every host has one process, ranks follow the order of the text. All of the latency occupies ports, and the factors
//! that SimGrid's network models put on latencies and bandwidths are left out; the provenance says so.
//!
//! # Source
//! SimGrid's manual, "Complete XML Reference" and "Platform routing" (versions 3 and 4).

use crate::assumed;
use crate::limits::LARGEST_XML;
use crate::shape;
use roxmltree::{Document, Node, ParsingOptions};
use std::collections::HashMap;
use std::iter;
use tuwtree_model::document::Machine;
use tuwtree_model::{
    CostMatrix, Costs, Hierarchy, Level, LinkLaw, MOST_RANKS, Network, Piece, PiecewiseLinear,
    Placement, Rank,
};

/// The most clusters of a zone: the route between each two is looked at.
const MOST_CLUSTERS: usize = 4096;
/// The most hosts in clusters of several sizes, each of which is listed.
const MOST_LISTED: usize = 1 << 20;

/// Links that a message passes.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Route {
    /// In seconds.
    latency: f64,
    /// In bytes a second, above 0.
    bandwidth: f64,
}

/// Hosts with links of the same kind to a router, or to a backbone that leads there.
struct Cluster {
    name: String,
    hosts: usize,
    /// Of each host.
    link: Route,
    /// Without one, it costs nothing.
    backbone: Route,
}

/// The machine that a text in XML describes: a platform, or a topology of hwloc.
///
/// # Errors
/// Invalid XML, another document, or a platform of another form, with the line.
pub(crate) fn machine(text: &str) -> Result<Machine, String> {
    if text.len() as u64 > LARGEST_XML {
        return Err(format!("XML of more than {LARGEST_XML} bytes"));
    }
    // The document type is named in nearly all platforms. Entities, which none has, could stand for any length.
    if text.contains("<!ENTITY") {
        return Err("it defines entities (<!ENTITY …>); write out what they stand for".into());
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document =
        Document::parse_with_options(text, options).map_err(|error| error.to_string())?;
    let root = document.root_element();
    match root.tag_name().name() {
        "platform" => of_platform(root),
        "topology" => shape::of_topology(root),
        name => Err(fault(
            root,
            &format!(
                "the document is a <{name}>; <platform> of SimGrid and <topology> of hwloc are known"
            ),
        )),
    }
}

/// The machine that a platform describes.
fn of_platform(root: Node<'_, '_>) -> Result<Machine, String> {
    let parts: Vec<Node<'_, '_>> = root.children().filter(|part| is_part(*part)).collect();
    let [top] = parts[..] else {
        let message = format!("{} zones and clusters at the top; one is needed", parts.len());
        return Err(fault(root, &message));
    };
    let is_cluster = |part: &Node<'_, '_>| part.has_tag_name("cluster");
    let costs = match is_cluster(&top) || top.children().any(|part| is_cluster(&part)) {
        true => clusters(top)?,
        false => hosts(top)?,
    };
    let id = attribute(top, "id").filter(|id| !id.trim().is_empty());
    Ok(Machine {
        name: id.unwrap_or("SimGrid platform").to_owned(),
        date: assumed::day(),
        provenance: "A platform of SimGrid: latencies of the links of a route in sum, the least of their bandwidths, \
                     without the factors of SimGrid's network models. Assumed: one process on each host, all of a \
                     latency occupies the port, and copies at 10 GB/s. The platform has no date; 1970-01-01 stands \
                     for it"
            .into(),
        costs,
        network: Network::default(),
combine_per_byte: 0.0,
    })
}

impl Route {
    const NOTHING: Route = Route { latency: 0.0, bandwidth: f64::INFINITY };

    fn then(self, other: Route) -> Route {
        Route {
            latency: self.latency + other.latency,
            bandwidth: self.bandwidth.min(other.bandwidth),
        }
    }

    fn law(self) -> Result<LinkLaw, String> {
        let piece = Piece::one_port(0, self.latency, 1.0 / self.bandwidth);
        let law = PiecewiseLinear::new(vec![piece]).map_err(|error| error.to_string())?;
        Ok(LinkLaw::Pieces(law))
    }
}

impl Cluster {
    fn read(node: Node<'_, '_>) -> Result<Cluster, String> {
        if let Some(topology) = attribute(node, "topology")
            && topology != "FLAT"
        {
            return Err(fault(node, &format!("topology {topology:?}; FLAT is known")));
        }
        let backbone = match (attribute(node, "bb_bw"), attribute(node, "bb_lat")) {
            (None, None) => Route::NOTHING,
            _ => Route { latency: latency(node, "bb_lat")?, bandwidth: bandwidth(node, "bb_bw")? },
        };
        Ok(Cluster {
            name: needed(node, "id")?.to_owned(),
            hosts: radical(node)?,
            link: Route { latency: latency(node, "lat")?, bandwidth: bandwidth(node, "bw")? },
            backbone,
        })
    }

    fn inside(&self) -> Route {
        self.link.then(self.backbone).then(self.link)
    }

    fn outwards(&self) -> Route {
        self.link.then(self.backbone)
    }
}

/// The costs of a cluster, or of a zone of clusters: levels where these and the routes between them are all of one
/// kind, else a matrix.
fn clusters(top: Node<'_, '_>) -> Result<Costs, String> {
    let mut clusters = Vec::new();
    let all: Vec<Node<'_, '_>> = match top.has_tag_name("cluster") {
        true => vec![top],
        false => top.children().filter(|part| is_part(*part)).collect(),
    };
    for part in &all {
        match part.tag_name().name() {
            "cluster" => clusters.push(Cluster::read(*part)?),
            name => {
                return Err(fault(
                    *part,
                    &format!("<{name}> beside clusters; clusters only are known"),
                ));
            }
        }
    }
    let count = clusters.len();
    if count > MOST_CLUSTERS {
        return Err(fault(top, &format!("{count} clusters; at most {MOST_CLUSTERS} are allowed")));
    }
    let hosts: usize = clusters.iter().map(|cluster| cluster.hosts).sum();
    let largest = clusters.iter().map(|cluster| cluster.hosts).max().unwrap_or(0);
    let most = if hosts == count * largest { MOST_RANKS } else { MOST_LISTED };
    if hosts > most {
        let message = format!(
            "{hosts} hosts; at most {most} are allowed, in clusters of one size {MOST_RANKS}"
        );
        return Err(fault(top, &message));
    }
    let between = routes(top, clusters.iter().map(|cluster| cluster.name.as_str()))?;
    let route = |one: usize, other: usize| match one == other {
        true => Some(clusters[one].inside()),
        false => {
            let between = *between.get(&(one, other))?;
            Some(clusters[one].outwards().then(between).then(clusters[other].outwards()))
        }
    };
    let pairs =
        || (0..count).flat_map(|i| (0..count).filter(move |&j| j != i).map(move |j| (i, j)));
    let inside = clusters[0].inside();
    let outside = pairs().next().map(|(one, other)| route(one, other));
    let is_uniform = clusters.iter().all(|cluster| cluster.inside() == inside)
        && pairs().all(|(one, other)| Some(route(one, other)) == outside);
    let cluster_of = || -> Vec<usize> {
        clusters.iter().enumerate().flat_map(|(at, one)| iter::repeat_n(at, one.hosts)).collect()
    };
    match outside {
        None => levels(&[("cluster", hosts, inside)], Placement::Block),
        Some(Some(outside)) if is_uniform => {
            let placement = match hosts == count * largest {
                true => Placement::Block,
                false => Placement::Listed(cluster_of()),
            };
            levels(&[("cluster", largest, inside), ("zone", count, outside)], placement)
        }
        Some(_) => {
            check_matrix(top, hosts)?;
            let cluster_of = cluster_of();
            matrix(hosts, |one, other| route(cluster_of[one], cluster_of[other]))
        }
    }
}

/// The costs of a zone of hosts.
fn hosts(zone: Node<'_, '_>) -> Result<Costs, String> {
    if let Some(part) = zone.children().find(|part| is_part(*part) && !part.has_tag_name("host")) {
        let name = part.tag_name().name();
        return Err(fault(
            part,
            &format!("<{name}> in a zone; a zone of hosts or of clusters is known"),
        ));
    }
    let hosts = zone.children().filter(|part| part.has_tag_name("host"));
    let names = hosts.map(|host| needed(host, "id")).collect::<Result<Vec<&str>, String>>()?;
    if names.is_empty() {
        return Err(fault(zone, "a zone without hosts and clusters"));
    }
    check_matrix(zone, names.len())?;
    let routes = routes(zone, names.iter().copied())?;
    matrix(names.len(), |one, other| routes.get(&(one, other)).copied())
}

/// The routes that a zone states between these members, which are counted from 0; other routes are left out.
fn routes<'a>(
    zone: Node<'_, '_>,
    members: impl Iterator<Item = &'a str>,
) -> Result<HashMap<(usize, usize), Route>, String> {
    let members: HashMap<&str, usize> = members.zip(0..).collect();
    if let Some(routing) = attribute(zone, "routing")
        && members.len() > 1
        && routing != "Full"
    {
        return Err(fault(zone, &format!("routing {routing:?}; Full is known")));
    }
    let mut links = HashMap::new();
    for link in zone.children().filter(|part| part.has_tag_name("link")) {
        let passed =
            Route { latency: latency(link, "latency")?, bandwidth: bandwidth(link, "bandwidth")? };
        links.insert(needed(link, "id")?, passed);
    }
    let mut routes = HashMap::new();
    for stated in zone.children() {
        if !["route", "zoneRoute", "ASroute"].contains(&stated.tag_name().name()) {
            continue;
        }
        let ends = (members.get(needed(stated, "src")?), members.get(needed(stated, "dst")?));
        let (Some(&from), Some(&to)) = ends else { continue };
        let mut passed = Route::NOTHING;
        for part in stated.children().filter(|part| part.has_tag_name("link_ctn")) {
            let name = needed(part, "id")?;
            let link = links
                .get(name)
                .ok_or_else(|| fault(part, &format!("there is no link {name:?}")))?;
            passed = passed.then(*link);
        }
        routes.insert((from, to), passed);
        if !attribute(stated, "symmetrical").is_some_and(|value| value.eq_ignore_ascii_case("no")) {
            routes.entry((to, from)).or_insert(passed);
        }
    }
    Ok(routes)
}

fn levels(levels: &[(&str, usize, Route)], placement: Placement) -> Result<Costs, String> {
    let levels = levels.iter().map(|&(name, members, route)| {
        Ok(Level { name: name.to_owned(), members, links: route.law()? })
    });
    let levels = levels.collect::<Result<Vec<Level>, String>>()?;
    let costs = Hierarchy::new(levels, placement, assumed::COPY);
    costs.map(Costs::Hierarchical).map_err(|error| error.to_string())
}

fn check_matrix(zone: Node<'_, '_>, hosts: usize) -> Result<(), String> {
    let most = Costs::MOST_EXPANDED;
    match hosts > most {
        true => Err(fault(
            zone,
            &format!("{hosts} hosts of different routes; at most {most} are allowed"),
        )),
        false => Ok(()),
    }
}

/// A matrix; where there is no route, there is no link.
fn matrix(hosts: usize, route: impl Fn(Rank, Rank) -> Option<Route>) -> Result<Costs, String> {
    let costs = CostMatrix::from_fn(
        hosts,
        |one, other| route(one, other).map_or(f64::INFINITY, |route| route.latency),
        |one, other| route(one, other).map_or(0.0, |route| 1.0 / route.bandwidth),
        |_| assumed::COPY,
    );
    costs.map(Costs::Matrix).map_err(|error| error.to_string())
}

/// True if an element holds hosts.
fn is_part(node: Node<'_, '_>) -> bool {
    ["zone", "AS", "cluster", "host", "peer", "cabinet"].contains(&node.tag_name().name())
}

fn attribute<'a>(node: Node<'a, '_>, name: &str) -> Option<&'a str> {
    node.attribute(name)
}

fn needed<'a>(node: Node<'a, '_>, name: &str) -> Result<&'a str, String> {
    attribute(node, name).ok_or_else(|| {
        fault(node, &format!("<{}> has no attribute {name:?}", node.tag_name().name()))
    })
}

fn fault(node: Node<'_, '_>, message: &str) -> String {
    let line = node.document().text_pos_at(node.range().start).row;
    format!("line {line}: {message}")
}

/// The seconds that an attribute states; 0 if it is not there.
fn latency(node: Node<'_, '_>, name: &str) -> Result<f64, String> {
    const UNITS: [(&str, f64); 10] = [
        ("", 1.0),
        ("ps", 1e-12),
        ("ns", 1e-9),
        ("us", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3600.0),
        ("d", 86400.0),
        ("w", 604_800.0),
    ];
    let Some(text) = attribute(node, name) else { return Ok(0.0) };
    let (number, unit) = number_and_unit(text);
    let unit = UNITS.iter().find(|(known, _)| *known == unit);
    match (number, unit) {
        (Some(number), Some((_, unit))) if number >= 0.0 => Ok(number * unit),
        _ => Err(fault(
            node,
            &format!("{name} is {text:?}; a time of at least 0, such as 50us, is needed"),
        )),
    }
}

/// The bytes a second that an attribute states.
fn bandwidth(node: Node<'_, '_>, name: &str) -> Result<f64, String> {
    const PREFIXES: [&str; 7] = ["", "K", "M", "G", "T", "P", "E"];
    let text = needed(node, name)?;
    let (number, unit) = number_and_unit(text);
    let (prefix, bytes) = match (unit.strip_suffix("Bps"), unit.strip_suffix("bps")) {
        (Some(prefix), _) => (prefix, 1.0),
        (_, Some(prefix)) => (prefix, 1.0 / 8.0),
        _ => (unit, 1.0),
    };
    let (prefix, base) =
        prefix.strip_suffix('i').map_or((prefix, 1000_u64), |prefix| (prefix, 1024));
    let power = PREFIXES.iter().position(|known| *known == prefix.replace('k', "K"));
    // Without a unit, only bytes a second are meant.
    let power = power.filter(|_| unit.is_empty() || unit.ends_with("ps"));
    match (number, power) {
        // 1000^6 is exact as an integer, and as an `f64`.
        (Some(number), Some(power)) if number > 0.0 => {
            Ok(number * bytes * base.pow(power as u32) as f64)
        }
        _ => Err(fault(
            node,
            &format!(
                "{name} is {text:?}; a bandwidth above 0, such as 125MBps or 1Gbps, is needed"
            ),
        )),
    }
}

fn number_and_unit(text: &str) -> (Option<f64>, &str) {
    let text = text.trim();
    // An exponent's e is followed by digits.
    let is_number = |(at, letter): (usize, char)| {
        letter.is_ascii_digit()
            || ".+-".contains(letter)
            || (letter.eq_ignore_ascii_case(&'e')
                && text[at + 1..]
                    .starts_with(|next: char| next.is_ascii_digit() || "+-".contains(next)))
    };
    let end = text.char_indices().find(|&one| !is_number(one)).map_or(text.len(), |(at, _)| at);
    let number = text[..end].parse().ok().filter(|number: &f64| number.is_finite());
    (number, text[end..].trim())
}

/// Number of hosts of a cluster: `0-99` are 100, `1-29,58` are 30.
fn radical(node: Node<'_, '_>) -> Result<usize, String> {
    let text = needed(node, "radical")?;
    let count = |range: &str| {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        last.checked_sub(first)?.checked_add(1)
    };
    let hosts =
        text.split([',', ';']).try_fold(0_usize, |sum, range| sum.checked_add(count(range)?));
    hosts.filter(|&hosts| hosts <= MOST_RANKS).ok_or_else(|| {
        fault(
            node,
            &format!(
                "radical is {text:?}; ranges such as 0-99 or 1-29,58 are needed, of at most {MOST_RANKS} hosts"
            ),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::CostModel;

    const CLUSTER: &str = "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n\
        <platform version=\"4.1\">\n<cluster id=\"a\" prefix=\"n\" suffix=\"\" radical=\"0-2\" speed=\"1Gf\" bw=\"1Gbps\" \
        lat=\"50us\" bb_bw=\"2.25GBps\" bb_lat=\"500us\"/>\n</platform>\n";

    fn zone(content: &str) -> String {
        format!(
            "<platform version=\"4.1\"><zone id=\"z\" routing=\"Full\">{content}</zone></platform>"
        )
    }

    fn cluster(id: &str, radical: &str, lat: &str) -> String {
        format!("<cluster id=\"{id}\" radical=\"{radical}\" bw=\"125MBps\" lat=\"{lat}\"/>")
    }

    /// The time of a message of 1250 bytes in microseconds.
    fn microseconds(costs: &Costs, from: Rank, to: Rank) -> f64 {
        (costs.transmission_between(from, to, 1250).unwrap().units() * 1e9).round() / 1e3
    }

    #[test]
    fn a_message_in_a_cluster_passes_two_links_and_the_backbone() {
        let machine = machine(CLUSTER).unwrap();
        assert_eq!((machine.name.as_str(), machine.costs.room()), ("a", Some(3)));
        assert_eq!(microseconds(&machine.costs, 0, 2), 610.0);
        let without = CLUSTER.replace(" bb_bw=\"2.25GBps\" bb_lat=\"500us\"", "");
        assert_eq!(microseconds(&super::machine(&without).unwrap().costs, 0, 2), 110.0);
    }

    #[test]
    fn clusters_of_one_kind_are_levels_and_others_a_matrix() {
        let link = "<link id=\"l\" bandwidth=\"62.5MBps\" latency=\"1ms\"/>";
        let route = "<zoneRoute src=\"a\" dst=\"b\" gw_src=\"x\" gw_dst=\"y\"><link_ctn id=\"l\"/></zoneRoute>";
        let both = |radical: &str, lat: &str| {
            let clusters = cluster("a", "0-1,7", "10us") + &cluster("b", radical, lat);
            machine(&zone(&format!("{clusters}{link}{route}"))).unwrap().costs
        };
        for (radical, lat, name) in [
            ("0-2", "10us", "hierarchical"),
            ("0-1", "10us", "hierarchical"),
            ("0-2", "40us", "matrix"),
        ] {
            let costs = both(radical, lat);
            assert_eq!(costs.name(), name);
            assert_eq!(microseconds(&costs, 0, 2), 30.0);
            let own: f64 = if lat == "10us" { 10.0 } else { 40.0 };
            assert_eq!(microseconds(&costs, 3, 4), 2.0 * own + 10.0);
            assert_eq!(microseconds(&costs, 0, 4), 10.0 + 1000.0 + own + 20.0);
        }
    }

    #[test]
    fn hosts_without_a_route_have_no_link() {
        let hosts = "<host id=\"a\"/><host id=\"b\"/><router id=\"r\"/><host id=\"c\"/>";
        let links = "<link id=\"k\" bandwidth=\"1e8\" latency=\"1us\"/><link id=\"l\" bandwidth=\"1GiBps\"/>";
        let routes = "<route src=\"a\" dst=\"b\"><link_ctn id=\"k\"/><link_ctn id=\"l\"/></route>\
                      <route src=\"b\" dst=\"c\" symmetrical=\"NO\"><link_ctn id=\"k\"/></route>\
                      <route src=\"b\" dst=\"r\"><link_ctn id=\"k\"/></route>";
        let costs = machine(&zone(&format!("{hosts}{links}{routes}"))).unwrap().costs;
        assert_eq!(microseconds(&costs, 1, 0), 13.5);
        assert_eq!(microseconds(&costs, 1, 2), 13.5);
        assert!(costs.transmission_between(2, 1, 1).is_err());
    }

    #[test]
    fn faults_name_line_and_value() {
        let fat = CLUSTER.replace(" lat=", " topology=\"FAT_TREE\" lat=");
        for (text, message) in [
            (CLUSTER.replace("50us", "50µs"), "line 4: lat is \"50µs\"; a time"),
            (CLUSTER.replace("50us", "-1us"), "line 4: lat is \"-1us\""),
            (CLUSTER.replace("1Gbps", "1Gb"), "line 4: bw is \"1Gb\"; a bandwidth"),
            (CLUSTER.replace("1Gbps", "0"), "line 4: bw is \"0\""),
            (CLUSTER.replace("0-2", "2-0"), "line 4: radical is \"2-0\""),
            (CLUSTER.replace("0-2", "0-999999999999"), "at most 100000000 hosts"),
            (
                CLUSTER.replace("radical", "radicals"),
                "line 4: <cluster> has no attribute \"radical\"",
            ),
            (fat, "line 4: topology \"FAT_TREE\"; FLAT is known"),
            (CLUSTER.replace("<cluster", "<cluster/><cluster"), "2 zones and clusters at the top"),
            (
                CLUSTER.replace("platform version", "plan version").replace("/platform", "/plan"),
                "a <plan>",
            ),
            (CLUSTER.replace("/platform", "/plat"), "platform"),
            (zone(""), "without hosts and clusters"),
            (zone("<zone id=\"y\"/>"), "<zone> in a zone"),
            (zone(&(cluster("a", "0", "0") + "<host id=\"h\"/>")), "<host> beside clusters"),
            (
                zone("<host id=\"h\"/><host id=\"i\"/>").replace("Full", "Floyd"),
                "routing \"Floyd\"; Full",
            ),
            (
                zone(
                    "<host id=\"h\"/><host id=\"i\"/><route src=\"h\" dst=\"i\"><link_ctn id=\"x\"/></route>",
                ),
                "there is no link \"x\"",
            ),
        ] {
            let error = machine(&text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
