//! Layout of a tree's picture: the root at the left, children to the right of their parent and
//! below each other, every item in a band of its own.

use super::outline::Item;

/// A rectangle, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Area {
    pub(super) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(super) fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// The height of its middle.
    pub(super) fn middle(&self) -> f64 {
        self.top + self.height / 2.0
    }
}

/// The height of a box.
pub(super) const BOX: f64 = 18.0;
/// The height of the row of an item with nothing to its right.
const ROW: f64 = 24.0;
/// The least height of the band of an item with a box and a line of text under it.
const CAPTIONED: f64 = 42.0;
/// The distance between a parent and its children, where the edges are.
const GAP: f64 = 84.0;

/// The box of each item, with the topmost row at `top`; and the height of all.
pub(super) fn boxes(items: &[Item], box_width: f64, left: f64, top: f64) -> (Vec<Area>, f64) {
    let mut band = vec![0.0; items.len()];
    for (index, item) in items.iter().enumerate().rev() {
        let below: f64 = item.children.iter().map(|&child| band[child]).sum();
        band[index] = if item.children.is_empty() { ROW } else { below.max(CAPTIONED) };
    }
    let mut tops = vec![top; items.len()];
    for (index, item) in items.iter().enumerate() {
        let below: f64 = item.children.iter().map(|&child| band[child]).sum();
        let mut next = tops[index] + (band[index] - below) / 2.0;
        for &child in &item.children {
            tops[child] = next;
            next += band[child];
        }
    }
    let mut middles: Vec<f64> =
        (0..items.len()).map(|index| tops[index] + band[index] / 2.0).collect();
    for (index, item) in items.iter().enumerate().rev() {
        if let [first, .., last] = item.children[..] {
            middles[index] = (middles[first] + middles[last]) / 2.0;
        }
    }
    let area = |(item, middle): (&Item, f64)| Area {
        left: left + item.depth as f64 * (box_width + GAP),
        top: middle - BOX / 2.0,
        width: box_width,
        height: BOX,
    };
    (items.iter().zip(middles).map(area).collect(), band[0])
}
