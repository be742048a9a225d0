//! SVG to PDF: one page, lines as lines and text as text, with the font inside.

use crate::parsed::parsed;
use svg2pdf::{ConversionError, ConversionOptions, PageOptions};

/// The longest side of a page: viewers show no longer ones (ISO 32000-1, Annex C).
const LONGEST_SIDE: f64 = 14_400.0;

/// An inch in units of an SVG, which are CSS's pixels; a page's units, points, are 72 to the inch.
const DOTS_PER_INCH: f32 = 96.0;

/// An SVG that cannot be turned into a page.
#[derive(Debug, thiserror::Error)]
pub enum PdfError {
    /// It is no SVG that can be drawn.
    #[error("the picture cannot be drawn: {0}")]
    Svg(#[from] usvg::Error),
    /// It is too large.
    #[error(
        "the picture's page would have {width:.0} x {height:.0} points; a side has at most {LONGEST_SIDE}"
    )]
    Size {
        /// Its width in points.
        width: f64,
        /// Its height in points.
        height: f64,
    },
    /// The PDF could not be written.
    #[error("the picture cannot be written as PDF: {0}")]
    Conversion(ConversionError),
}

/// The picture as PDF, on a page of its size.
///
/// # Errors
/// [`PdfError`].
pub fn pdf(svg: &str) -> Result<Vec<u8>, PdfError> {
    let picture = parsed(svg)?;
    let points = |length: f32| f64::from(length) * 72.0 / f64::from(DOTS_PER_INCH);
    let (width, height) = (points(picture.size().width()), points(picture.size().height()));
    if width.max(height) > LONGEST_SIDE {
        return Err(PdfError::Size { width, height });
    }
    let page = PageOptions { dpi: DOTS_PER_INCH };
    svg2pdf::to_pdf(&picture, ConversionOptions::default(), page).map_err(PdfError::Conversion)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn svg(width: u32) -> String {
        format!(
            r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="20"><text x="2" y="15">rank</text></svg>"#
        )
    }

    #[test]
    fn a_page_has_the_size_of_its_picture_and_the_font_inside() {
        let page = pdf(&svg(80)).unwrap();
        assert!(page.starts_with(b"%PDF-1."));
        let text = String::from_utf8_lossy(&page);
        assert!(text.contains("/MediaBox [0 0 60 15]"), "{text}");
        assert!(text.contains("DejaVuSans") && text.contains("/FontFile2"), "{text}");
        assert_eq!(page, pdf(&svg(80)).unwrap(), "same input, same bytes");
    }

    #[test]
    fn what_is_no_picture_or_too_large_is_refused() {
        assert!(matches!(pdf("<svg"), Err(PdfError::Svg(_))));
        assert!(matches!(pdf(&svg(20_000)), Err(PdfError::Size { .. })));
    }
}
