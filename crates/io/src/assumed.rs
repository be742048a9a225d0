//! What is assumed of machines where the text that they are made of does not say it; provenances name it.

use tuwtree_model::document::Date;

/// The seconds for a byte copied: 10 GB/s.
pub(crate) const COPY: f64 = 1e-10;
/// The day of costs that are not dated.
pub(crate) const UNDATED: &str = "1970-01-01";

/// That day.
pub(crate) fn day() -> Date {
    Date::parse(UNDATED).expect("it is a day")
}
