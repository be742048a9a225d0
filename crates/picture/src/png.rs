//! SVG to PNG.

use crate::parsed::parsed;
use resvg::tiny_skia;

/// The most pixels of a side.
const LARGEST_SIDE: f64 = 16_384.0;

/// An SVG that cannot be turned into pixels.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// It is no SVG that can be drawn.
    #[error("the picture cannot be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// It is too large, or empty.
    #[error(
        "the picture would have {width:.0} x {height:.0} pixels; a side has 1 to {LARGEST_SIDE}"
    )]
    Size {
        /// Its width in pixels.
        width: f64,
        /// Its height in pixels.
        height: f64,
    },
    /// The PNG could not be written.
    #[error("the picture cannot be written as PNG: {0}")]
    Encoding(String),
}

/// The picture as PNG, with `scale` pixels for each unit of the SVG.
///
/// # Errors
/// [`PngError`].
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let picture = parsed(svg)?;
    let side = |length: f32| (f64::from(length) * f64::from(scale)).ceil();
    let (width, height) = (side(picture.size().width()), side(picture.size().height()));
    let in_range = |side: f64| (1.0..=LARGEST_SIDE).contains(&side);
    let pixels = (in_range(width) && in_range(height))
        .then(|| tiny_skia::Pixmap::new(width as u32, height as u32))
        .flatten();
    let mut pixels = pixels.ok_or(PngError::Size { width, height })?;
    resvg::render(&picture, tiny_skia::Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(width: u32, content: &str) -> String {
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20">{content}</svg>"#
        )
    }

    #[test]
    fn text_needs_no_font_of_the_machine() {
        let blank = png(&svg(80, ""), 1.0).unwrap();
        let text = r##"<text x="2" y="15" font-family="'DejaVu Sans', Arial">text</text>"##;
        let written = png(&svg(80, text), 1.0).unwrap();
        assert!(written.starts_with(b"\x89PNG"));
        assert_ne!(blank, written);
    }

    #[test]
    fn what_is_no_picture_or_too_large_is_refused() {
        assert!(matches!(png("<svg", 1.0), Err(PngError::Svg(_))));
        assert!(matches!(png(&svg(20_000, ""), 1.0), Err(PngError::Size { .. })));
    }
}
