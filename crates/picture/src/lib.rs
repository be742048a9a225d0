//! Pictures that people would rather look at than read: trees, timelines, and both side by side.
//!
//! Everything here is a pure function from trees, schedules and their simulated times to text: SVG for one picture,
//! HTML for a page that compares several constructions. With the features `png` and `pdf`, `png()` turns an SVG into
//! pixels, and `pdf()` into a page of a document. Details that exceed a picture are summed up, never left out: every
//! picture accounts for every rank.
//!
//! - [`TreePicture`]: who sends to whom, how much, and where time is lost.
//! - [`TimelinePicture`]: what each rank does when.
//! - [`MeasuredPicture`]: measured times against mean block sizes.
//! - [`RelativePicture`]: measured times over those of the library's own call; [`measured_page`] and
//!   [`measured_calls_page`] add verdicts and all figures.
//! - [`Report`]: constructions side by side, for a browser.
//! - [`RegionMap`]: which of several choices is right where.
//!
//! Same input, same bytes. This crate computes no times and knows no files or options.

mod frame;
mod labels;
mod measured;
mod messages;
mod page;
mod palette;
#[cfg(any(feature = "png", feature = "pdf"))]
mod parsed;
#[cfg(feature = "pdf")]
mod pdf;
#[cfg(feature = "png")]
mod png;
mod regions;
mod scale;
mod svg;
mod timeline;
mod tree;

pub use measured::{
    MeasuredPicture, RelativePicture, calls_picture, measured_calls_page, measured_page,
};
pub use messages::Performance;
pub use page::{Candidate, Report, ReportError};
pub use palette::Colouring;
#[cfg(feature = "pdf")]
pub use pdf::{PdfError, pdf};
#[cfg(feature = "png")]
pub use png::{PngError, png};
pub use regions::{RegionCell, RegionMap, RegionPanel};
pub use timeline::TimelinePicture;
pub use tree::TreePicture;
