//! Machines from what other benchmarks print: tables of times or rates by message size.
//!
//! A ping-pong says how long a message takes, half of a round trip, but not for how much of that it occupies
//! ports. The rate of a stream of messages says that: a port is free for the next message when it is done with
//! one. So, for messages of s bytes, with the one-way time `t(s)` and the time between messages of a stream
//! `g(s)`, the occupancy is `min(g(s), t(s))`, the latency is the rest of `t(s)`, and without a stream the
//! occupancy is `t(s)`: the one-port model, which never promises too much.
//!
//! What a listing does not say (the cost of copies, what differs among pairs of processes, in some the date) is
//! assumed, and the machine's provenance says what.

mod imb;
mod osu;
mod reprompi;
mod row;

use crate::assumed;
use tuwtree_measure::Sample;
use tuwtree_model::document::{Date, Machine};
use tuwtree_model::{
    Costs, Hierarchy, Level, LinkLaw, MOST_RANKS, MeasuredSize, MeasuredSizes, Network, Placement,
};

/// A program that prints listings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Benchmark {
    Osu,
    Imb,
    ReproMpi,
}

/// Content of a listing.
struct Listed {
    /// Name of the machine.
    name: &'static str,
    /// Measurement, and its program.
    provenance: String,
    /// Date, if the listing has one.
    date: Option<Date>,
    /// One-way times, by ascending size from 1 byte on.
    one_way: Vec<Sample>,
    /// Times between the messages of a stream, likewise, if they were measured.
    spacing: Option<Vec<Sample>>,
}

impl Benchmark {
    /// The program that has printed this text; `None` if it is none of those whose listings are known. A text with
    /// a field `format` is a document, whatever its comments quote.
    pub(crate) fn of(text: &str) -> Option<Benchmark> {
        let is_field = |line: &str| {
            line.trim_start()
                .strip_prefix("format")
                .is_some_and(|rest| rest.trim_start().starts_with('='))
        };
        if text.lines().any(is_field) {
            return None;
        }
        text.lines().map(str::trim).find_map(|line| match line {
            _ if osu::title(line).is_some() => Some(Benchmark::Osu),
            _ if imb::is_title(line) => Some(Benchmark::Imb),
            _ if reprompi::is_title(line) => Some(Benchmark::ReproMpi),
            _ => None,
        })
    }

    /// The machine that a listing of this program describes.
    ///
    /// # Errors
    /// Tables that are missing, there twice, or have faults, with their lines.
    pub(crate) fn machine(self, text: &str) -> Result<Machine, String> {
        match self {
            Benchmark::Osu => osu::read(text),
            Benchmark::Imb => imb::read(text),
            Benchmark::ReproMpi => reprompi::read(text),
        }?
        .machine()
    }
}

impl Listed {
    fn machine(self) -> Result<Machine, String> {
        let Listed { name, mut provenance, date, .. } = self;
        provenance += match self.spacing {
            Some(_) => {
                ". Of a one-way time, what passes between two messages of a stream occupies the port, the rest is \
                 latency"
            }
            None => {
                ". Assumed: all of a one-way time occupies the port, since no rate of a stream is listed beside it"
            }
        };
        provenance += ". Assumed: the same costs between all processes, and copies at 10 GB/s";
        if date.is_none() {
            provenance += &format!(". The listing has no date; {} stands for it", assumed::UNDATED);
        }
        let links = LinkLaw::Measured(table(&self.one_way, self.spacing.as_deref())?);
        let level = Level { name: "network".into(), members: MOST_RANKS, links };
        let costs = Hierarchy::new(vec![level], Placement::Block, assumed::COPY);
        Ok(Machine {
            name: name.into(),
            date: date.unwrap_or_else(assumed::day),
            provenance,
            costs: Costs::Hierarchical(costs.map_err(|error| error.to_string())?),
            network: Network::default(),
            combine_per_byte: 0.0,
        })
    }
}

/// The costs of all sizes that both tables have.
///
/// # Errors
/// Fewer than two sizes.
fn table(one_way: &[Sample], spacing: Option<&[Sample]>) -> Result<MeasuredSizes, String> {
    let sizes = one_way.iter().filter_map(|&Sample { bytes, seconds }| {
        let occupancy = match spacing {
            Some(spacing) => {
                let at = spacing.binary_search_by_key(&bytes, |sample| sample.bytes).ok()?;
                spacing[at].seconds.min(seconds)
            }
            None => seconds,
        };
        Some(MeasuredSize { bytes, latency: seconds - occupancy, occupancy })
    });
    let sizes: Vec<MeasuredSize> = sizes.collect();
    match (sizes.len(), spacing) {
        (0 | 1, Some(_)) => Err(format!(
            "the tables of latencies and of rates have {} sizes above 0 bytes in common; at least 2 are needed",
            sizes.len()
        )),
        (0 | 1, None) => Err(format!(
            "the table of latencies has {} sizes above 0 bytes; at least 2 are needed",
            sizes.len()
        )),
        _ => MeasuredSizes::new(sizes).map_err(|error| error.to_string()),
    }
}

/// The day in a text such as `Mon Nov  5 10:00:00 2018`, as C's `asctime` and the command `date` print it.
fn day(text: &str) -> Option<Date> {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let number = |word: &str| MONTHS.iter().position(|month| *month == word);
    let (at, month) = words.iter().enumerate().find_map(|(at, word)| Some((at, number(word)?)))?;
    let day: u8 = words.get(at + 1)?.parse().ok()?;
    Date::parse(&format!("{}-{:02}-{day:02}", words.last()?, month + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_found_in_what_c_and_date_print() {
        for (text, expected) in [
            ("Mon Nov  5 10:00:00 2018", Some("2018-11-05")),
            ("Tue Apr 12 10:32:27 PDT 2022", Some("2022-04-12")),
            ("Tue Apr 31 10:32:27 2022", None),
            ("Nov", None),
            ("", None),
        ] {
            assert_eq!(day(text).map(|day| day.to_string()).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn documents_that_quote_a_listing_are_documents() {
        let listing = "# OSU MPI Latency Test v5.9\n# Size Latency (us)\n1 2\n";
        assert_eq!(Benchmark::of(listing), Some(Benchmark::Osu));
        assert_eq!(Benchmark::of(&format!("{listing}format = \"tuwtree-machine\"\n")), None);
        assert_eq!(Benchmark::of("1 2\n"), None);
    }

    #[test]
    fn what_a_stream_takes_occupies_the_port_and_never_more_than_the_message_takes() {
        let samples = |of: &[(u64, f64)]| -> Vec<Sample> {
            of.iter().map(|&(bytes, seconds)| Sample { bytes, seconds }).collect()
        };
        let one_way = samples(&[(1, 4.0), (2, 4.0), (8, 6.0)]);
        let spacing = samples(&[(1, 1.0), (4, 2.0), (8, 7.0)]);
        let size = |bytes, latency, occupancy| MeasuredSize { bytes, latency, occupancy };
        let both = table(&one_way, Some(&spacing)).unwrap();
        assert_eq!(both.sizes(), [size(1, 3.0, 1.0), size(8, 0.0, 6.0)]);
        let alone = table(&one_way, None).unwrap();
        assert_eq!(alone.sizes(), [size(1, 0.0, 4.0), size(2, 0.0, 4.0), size(8, 0.0, 6.0)]);
        assert!(table(&one_way, Some(&[])).unwrap_err().contains("have 0 sizes"));
        assert!(table(&one_way[..1], None).unwrap_err().contains("has 1 sizes"));
    }
}
