//! Assumptions about machines whose text lacks facts; provenances name them.

use tuwtree_model::document::Date;

/// The seconds for a byte copied: 10 GB/s.
pub(crate) const COPY: f64 = 1e-10;
/// The day of costs that are not dated.
pub(crate) const UNDATED: &str = "1970-01-01";

/// That day.
pub(crate) fn day() -> Date {
    Date::parse(UNDATED).expect("it is a day")
}

/// Warnings in a machine's provenance: sentences that begin with an assumption, and those with `WARNING`.
///
/// # Example
/// ```
/// let provenance = "osu_latency 5.3. Assumed: copies at 10 GB/s. WARNING: few cores";
/// let warnings: Vec<&str> = tuwtree_io::warnings(provenance).collect();
/// assert_eq!(warnings, ["Assumed: copies at 10 GB/s", "WARNING: few cores"]);
/// ```
pub fn warnings(provenance: &str) -> impl Iterator<Item = &str> {
    let sentences = provenance.split(". ").flat_map(|text| text.split('\n'));
    let sentences = sentences.map(|text| text.trim().trim_end_matches('.'));
    sentences.filter(|text| text.starts_with("Assumed: ") || text.starts_with("WARNING"))
}
