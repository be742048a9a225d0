//! Pictures as files: SVG, and PNG and PDF by programs that are built with the features `png` and `pdf`: what
//! draws them would take a third of a first build.

use crate::error::CliError;
use crate::output::format::FormatArgs;
use tuwtree_io::{Destination, Format, Opened, ending};

/// Formats of pictures.
pub(crate) const FORMATS: [Format; 3] = [Format::Svg, Format::Png, Format::Pdf];

/// The pixels of each unit of the SVG: twice as many, as most screens have by now.
#[cfg(feature = "png")]
const SCALE: f32 = 2.0;

/// The format of a picture, which its file's name tells; SVG for standard output.
///
/// # Errors
/// [`CliError::Usage`] with option and name, for one that tells none; as [`check_available`].
pub(crate) fn format_of(option: &str, output: &Destination) -> Result<Format, CliError> {
    let Destination::File(path) = output else { return Ok(Format::Svg) };
    let format = match ending(path).as_deref() {
        Some("svg") => Format::Svg,
        Some("png") => Format::Png,
        Some("pdf") => Format::Pdf,
        _ => {
            return Err(CliError::Usage(format!(
                "{option} {}: the name ends neither with .svg or .svg.gz nor with .png or .pdf",
                path.display()
            )));
        }
    };
    check_available(format).map(|()| format)
}

/// Outputs with their formats, opened before the work.
///
/// # Errors
/// [`CliError::Usage`] for two outputs that are one, or a format that the command does not have; as [`check_available`].
pub(crate) fn opened(
    asked: FormatArgs,
    all: &[Format],
    outputs: &[Destination],
) -> Result<Vec<(Format, Opened)>, CliError> {
    Destination::check_different(outputs)?;
    let open = |output: &Destination| {
        let format = asked.written(all, output)?;
        check_available(format)?;
        Ok((format, output.open()?))
    };
    outputs.iter().map(open).collect()
}

/// An error if this is a format of pictures that this program does not write.
///
/// # Errors
/// It was built without.
pub(crate) fn check_available(format: Format) -> Result<(), CliError> {
    let (is_built_in, name, feature) = match format {
        Format::Png => (cfg!(feature = "png"), "PNG", "png"),
        Format::Pdf => (cfg!(feature = "pdf"), "PDF", "pdf"),
        _ => return Ok(()),
    };
    is_built_in.then_some(()).ok_or_else(|| {
        CliError::Failure(format!(
            "this tuwtree was built without {name}: write SVG and convert that, or build it with --features \
             {feature}"
        ))
    })
}

/// The bytes of the picture in one of [`FORMATS`].
///
/// # Errors
/// It cannot be drawn, or is too large; then do this `instead`. As [`check_available`].
pub(crate) fn bytes(format: Format, svg: String, instead: &str) -> Result<Vec<u8>, CliError> {
    check_available(format)?;
    let drawn: Result<Vec<u8>, Box<dyn std::error::Error>> = match format {
        #[cfg(feature = "png")]
        Format::Png => tuwtree_picture::png(&svg, SCALE).map_err(Box::from),
        #[cfg(feature = "pdf")]
        Format::Pdf => tuwtree_picture::pdf(&svg).map_err(Box::from),
        _ => Ok(svg.into_bytes()),
    };
    drawn.map_err(|error| CliError::Failure(format!("{error}; {instead}")))
}
