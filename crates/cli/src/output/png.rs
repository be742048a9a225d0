//! Pictures as PNG, for programs that are built with the feature `png`: what draws them would take a
//! third of a first build.

use crate::error::CliError;

/// The pixels of each unit of the SVG: twice as many, as most screens have by now.
#[cfg(feature = "png")]
const SCALE: f32 = 2.0;

/// An error unless this program writes PNG.
///
/// # Errors
/// It was built without.
pub(crate) fn available() -> Result<(), CliError> {
    cfg!(feature = "png").then_some(()).ok_or_else(|| {
        CliError::Failure(
            "this tuwtree was built without PNG: write SVG and convert that, or build it with \
             --features png"
                .to_owned(),
        )
    })
}

/// The picture as PNG.
///
/// # Errors
/// It cannot be drawn, or has too many pixels; then do this `instead`.
#[cfg(feature = "png")]
pub(crate) fn png(svg: &str, instead: &str) -> Result<Vec<u8>, CliError> {
    tuwtree_picture::png(svg, SCALE)
        .map_err(|error| CliError::Failure(format!("{error}; {instead}")))
}

/// That there is none.
///
/// # Errors
/// Always that of [`available`].
#[cfg(not(feature = "png"))]
pub(crate) fn png(_svg: &str, _instead: &str) -> Result<Vec<u8>, CliError> {
    available().map(|()| Vec::new())
}
