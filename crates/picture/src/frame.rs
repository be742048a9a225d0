//! Common parts of all pictures: title, background, style sheet.

use crate::labels;
use crate::palette::{
    CHILD_WAITS, FAINT, INK, LINE, NEUTRAL, PAPER, PARENT_WAITS, VERMILION, VOLUMES,
};
use crate::svg::{Px, Xml};

/// Style sheet of a picture: its own, or the page's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PictureStyle {
    Alone,
    InPage,
}

/// The font size of all but the smallest texts.
pub(crate) const TEXT: f64 = 12.0;
/// The font size by which titles are measured; they are bold, which takes more space.
pub(crate) const TITLE: f64 = 18.0;
/// The font size of captions.
pub(crate) const SMALL: f64 = 10.0;
/// The space around the picture.
pub(crate) const MARGIN: f64 = 20.0;

/// The height of a title with this many lines below it, with the space around it.
pub(crate) fn title_height(lines: usize) -> f64 {
    MARGIN + 16.0 + 18.0 * lines as f64 + 10.0
}

/// A title with lines below it.
pub(crate) fn draw_title(xml: &mut Xml, title: &str, lines: &[String], width: f64) {
    let mut draw = |class: &str, y: f64, text: &str| {
        xml.text("text", &[("class", &class), ("x", &Px(MARGIN)), ("y", &Px(y))], text);
    };
    draw("title", MARGIN + 14.0, &labels::fitted(title, TITLE, width - 2.0 * MARGIN));
    for (index, line) in lines.iter().enumerate() {
        draw("faint", MARGIN + 34.0 + 18.0 * index as f64, line);
    }
}

/// A name in front of a title.
pub(crate) fn prefix(heading: &str) -> String {
    if heading.is_empty() { String::new() } else { format!("{heading}: ") }
}

/// Opens an SVG with its style and background; the caller closes it.
pub(crate) fn open_picture(
    xml: &mut Xml,
    setting: PictureStyle,
    title: &str,
    width: f64,
    height: f64,
    class: &str,
) {
    let view = format!("0 0 {} {}", Px(width), Px(height));
    xml.open(
        "svg",
        &[
            ("xmlns", &"http://www.w3.org/2000/svg"),
            ("viewBox", &view),
            ("width", &Px(width)),
            ("height", &Px(height)),
            ("role", &"img"),
            ("aria-label", &title),
            ("class", &class),
        ],
    );
    if setting == PictureStyle::Alone {
        xml.text("style", &[], style());
        let whole = [("width", &Px(width) as &dyn std::fmt::Display), ("height", &Px(height))];
        xml.empty("rect", &[("class", &"paper"), whole[0], whole[1]]);
    }
}

/// The style sheet of all pictures. It uses nothing that needs escaping.
pub(crate) fn style() -> String {
    let mut style = format!(
        "\
.picture text{{font-family:{fonts};font-size:{TEXT}px;fill:{INK}}}
.picture .title{{font-size:16px;font-weight:bold}}
.picture .faint{{fill:{FAINT}}}
.picture .name{{text-anchor:middle}}
.picture .caption{{text-anchor:middle;font-size:{SMALL}px;fill:{FAINT}}}
.picture .paper{{fill:{PAPER}}}
.picture .box{{fill:{PAPER};stroke:{FAINT}}}
.picture .root .box{{fill:{INK};stroke:{INK}}}
.picture .root .name{{fill:{PAPER}}}
.picture .wedge{{fill:{LINE};stroke:{FAINT}}}
.picture .edge{{fill:none;stroke:{NEUTRAL}}}
.picture .run{{stroke-dasharray:6 2}}
.picture .none{{stroke-dasharray:1 3}}
.by-critical-path .edge.critical{{stroke:{VERMILION}}}
.by-critical-path .critical .box{{stroke:{VERMILION};stroke-width:1.5}}
",
        fonts = labels::FONTS
    );
    for (who, shades) in [("parent", PARENT_WAITS), ("child", CHILD_WAITS)] {
        for (index, shade) in shades.iter().enumerate() {
            style += &format!(".by-wait .edge.{who}-waits-{index}{{stroke:{shade}}}\n");
        }
    }
    for (index, shade) in VOLUMES.iter().enumerate() {
        style += &format!(".by-volume .edge.volume-{index}{{stroke:{shade}}}\n");
    }
    style
}
