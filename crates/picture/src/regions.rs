//! A map of regions: which of several choices is right where, over a grid of problems.

use crate::frame::{MARGIN, PictureStyle, SMALL, TEXT, draw_title, open_picture, title_height};
use crate::labels;
use crate::palette::{
    BLUE, FAINT, GREEN, INK, NEUTRAL, ORANGE, PAPER, PURPLE, SKY, VERMILION, YELLOW,
};
use crate::svg::{Px, Xml};

/// A map: panels, each a grid of coloured cells.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionMap {
    /// Title of the map.
    pub title: String,
    /// Its provenance, line by line.
    pub lines: Vec<String>,
    /// The choices, in words, in the order of their colours; at most [`MOST_CHOICES`](Self::MOST_CHOICES).
    pub choices: Vec<String>,
    /// Meaning of the columns, and the label of each.
    pub columns: (String, Vec<String>),
    /// Meaning of the rows, and the label of each, from the bottom to the top.
    pub rows: (String, Vec<String>),
    /// The panels, two side by side.
    pub panels: Vec<RegionPanel>,
}

/// A panel of a map.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionPanel {
    /// Difference from the other panels.
    pub title: String,
    /// The cells row by row from the bottom, each from left to right.
    pub cells: Vec<RegionCell>,
}

/// A cell of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct RegionCell {
    /// The index of the choice.
    pub choice: usize,
    /// A short text in the cell.
    pub text: String,
    /// Text that shows while the pointer is over the cell.
    pub detail: String,
}

const COLOURS: [&str; RegionMap::MOST_CHOICES] =
    [NEUTRAL, BLUE, GREEN, ORANGE, VERMILION, PURPLE, SKY, YELLOW, FAINT, BROWN];

/// A colour that no other picture needs.
const BROWN: &str = "#8c6d46";

/// A cell's size.
const CELL: (f64, f64) = (38.0, 22.0);
/// The room for a panel's title.
const PANEL_TITLE: f64 = 26.0;
/// The room for what the rows are.
const ROW_HEADING: f64 = 30.0;
/// The space between a row's label and its first cell.
const GAP: f64 = 8.0;
/// The height for the labels of columns and for their meaning.
const COLUMN_LABELS: f64 = 52.0;
/// The height of a line of the legend.
const LEGEND_LINE: f64 = 20.0;
/// No picture is narrower, so that its title and legend fit.
const LEAST_WIDTH: f64 = 640.0;

impl RegionMap {
    /// The number of colours.
    pub const MOST_CHOICES: usize = 10;

    /// The map as SVG.
    ///
    /// # Panics
    /// More choices than [`MOST_CHOICES`](Self::MOST_CHOICES), a cell with a choice out of range, and a panel with
    /// another number of cells than rows and columns make.
    ///
    /// # Complexity
    /// O(1) for each cell.
    pub fn svg(&self) -> String {
        assert!(self.choices.len() <= Self::MOST_CHOICES, "there are colours for all choices");
        let across = self.panels.len().clamp(1, 2);
        let down = self.panels.len().div_ceil(2);
        let (panel_width, panel_height) = self.panel_size();
        let longest = self.lines.iter().map(|line| labels::width(line, TEXT)).fold(0.0, f64::max);
        let width = (across as f64 * panel_width).max(longest) + 2.0 * MARGIN;
        let width = width.max(LEAST_WIDTH);
        let legend = title_height(self.lines.len());
        let top = legend + LEGEND_LINE * self.choices.len() as f64 + MARGIN / 2.0;
        let height = top + down as f64 * panel_height + MARGIN;
        let mut xml = Xml::default();
        open_picture(&mut xml, PictureStyle::Alone, &self.title, width, height, "picture");
        draw_title(&mut xml, &self.title, &self.lines, width);
        self.draw_legend(&mut xml, legend);
        for (index, panel) in self.panels.iter().enumerate() {
            let left = MARGIN + (index % 2) as f64 * panel_width;
            self.draw_panel(&mut xml, panel, left, top + (index / 2) as f64 * panel_height);
        }
        xml.close();
        xml.finish()
    }

    /// The width and the height of a panel with its labels.
    fn panel_size(&self) -> (f64, f64) {
        let (columns, rows) = (self.columns.1.len() as f64, self.rows.1.len() as f64);
        let width = self.label_room() + columns * CELL.0 + MARGIN;
        (width, PANEL_TITLE + rows * CELL.1 + COLUMN_LABELS + MARGIN)
    }

    /// The width for the labels of rows and for their meaning.
    fn label_room(&self) -> f64 {
        let widths = self.rows.1.iter().map(|label| labels::width(label, TEXT));
        ROW_HEADING + GAP + widths.fold(0.0, f64::max)
    }

    fn draw_legend(&self, xml: &mut Xml, top: f64) {
        for (index, (choice, colour)) in self.choices.iter().zip(COLOURS).enumerate() {
            let y = top + LEGEND_LINE * index as f64;
            rectangle(xml, (MARGIN, y), (14.0, 14.0), colour);
            let at = [("x", &Px(MARGIN + 22.0) as &dyn std::fmt::Display), ("y", &Px(y + 11.5))];
            xml.text("text", &at, choice);
        }
    }

    fn draw_panel(&self, xml: &mut Xml, panel: &RegionPanel, left: f64, top: f64) {
        let (columns, rows) = (self.columns.1.len(), self.rows.1.len());
        assert_eq!(panel.cells.len(), columns * rows, "a cell for each row and column");
        let (x0, y0) = (left + self.label_room(), top + PANEL_TITLE);
        let bold = "font-weight:bold";
        let middle = |x: f64, y: f64| (Px(x), Px(y));
        let (x, y) = middle(x0, top + 14.0);
        xml.text("text", &[("x", &x), ("y", &y), ("style", &bold)], &panel.title);
        for (index, cell) in panel.cells.iter().enumerate() {
            let (row, column) = (index / columns, index % columns);
            let x = x0 + column as f64 * CELL.0;
            let y = y0 + (rows - 1 - row) as f64 * CELL.1;
            draw_cell(xml, cell, x, y);
        }
        for (row, label) in self.rows.1.iter().enumerate() {
            let y = y0 + (rows - row) as f64 * CELL.1 - 7.0;
            let x = x0 - GAP - labels::width(label, TEXT);
            xml.text("text", &[("x", &Px(x)), ("y", &Px(y))], label);
        }
        let bottom = y0 + rows as f64 * CELL.1;
        for (column, label) in self.columns.1.iter().enumerate() {
            let (x, y) = middle(x0 + (column as f64 + 0.5) * CELL.0, bottom + 14.0);
            xml.text("text", &[("class", &"name"), ("x", &x), ("y", &y)], label);
        }
        let (x, y) = middle(x0 + columns as f64 * CELL.0 / 2.0, bottom + 34.0);
        xml.text("text", &[("class", &"name"), ("x", &x), ("y", &y)], &self.columns.0);
        let (x, y) = (left + 12.0, y0 + rows as f64 * CELL.1 / 2.0);
        let turned = format!("translate({} {}) rotate(-90)", Px(x), Px(y));
        xml.text("text", &[("class", &"name"), ("transform", &turned)], &self.rows.0);
    }
}

fn draw_cell(xml: &mut Xml, cell: &RegionCell, x: f64, y: f64) {
    let colour = COLOURS[cell.choice];
    xml.open("g", &[]);
    xml.text("title", &[], &cell.detail);
    rectangle(xml, (x, y), CELL, colour);
    let ink = if matches!(colour, NEUTRAL | ORANGE | PURPLE | SKY | YELLOW) { INK } else { PAPER };
    let style = format!("font-size:{SMALL}px;fill:{ink}");
    let (x, y) = (Px(x + CELL.0 / 2.0), Px(y + CELL.1 / 2.0 + 3.5));
    xml.text("text", &[("class", &"name"), ("style", &style), ("x", &x), ("y", &y)], &cell.text);
    xml.close();
}

fn rectangle(xml: &mut Xml, at: (f64, f64), size: (f64, f64), colour: &str) {
    let ((x, y), (width, height)) = (at, size);
    xml.empty(
        "rect",
        &[
            ("x", &Px(x)),
            ("y", &Px(y)),
            ("width", &Px(width)),
            ("height", &Px(height)),
            ("fill", &colour),
            ("stroke", &PAPER),
        ],
    );
}
