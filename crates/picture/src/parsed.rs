//! SVG as it is drawn: shapes and glyphs in their places.
//!
//! Text is drawn with a font that is part of this crate, so that the same picture looks the same on every
//! machine, with fonts or without.

use std::sync::Arc;

/// DejaVu Sans, reduced to Latin letters; see `fonts/LICENSE-DejaVu.txt`.
const FONT: &[u8] = include_bytes!("../fonts/DejaVuSans-Latin.ttf");

/// The drawable content of an SVG.
///
/// # Errors
/// It is no SVG that can be drawn.
pub(crate) fn parsed(svg: &str) -> Result<usvg::Tree, usvg::Error> {
    let mut fonts = usvg::fontdb::Database::new();
    fonts.load_font_data(FONT.to_vec());
    let options = usvg::Options {
        font_family: "DejaVu Sans".to_owned(),
        fontdb: Arc::new(fonts),
        ..usvg::Options::default()
    };
    usvg::Tree::from_str(svg, &options)
}
