//! Colours that colour-blind people tell apart, too.
//!
//! # Source
//! M. Okabe and K. Ito, "Color Universal Design", 2008: the eight colours. The shades of quantities
//! differ in lightness, so that they survive a grey printer.

/// Meaning of the colours of a tree's edges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[derive(strum::VariantArray, strum::IntoStaticStr, strum::EnumString)]
#[strum(serialize_all = "kebab-case")]
pub enum Colouring {
    /// Messages that determine the completion time.
    #[default]
    CriticalPath,
    /// The waiting end of a message, and its wait.
    Wait,
    /// Bytes sent.
    Volume,
}

pub(crate) const INK: &str = "#222222";
pub(crate) const FAINT: &str = "#5f6368";
pub(crate) const LINE: &str = "#d0d4d9";
pub(crate) const PAPER: &str = "#ffffff";
/// An edge of no interest.
pub(crate) const NEUTRAL: &str = "#a9b0b8";

pub(crate) const VERMILION: &str = "#d55e00";
pub(crate) const BLUE: &str = "#0072b2";
pub(crate) const SKY: &str = "#56b4e9";
pub(crate) const ORANGE: &str = "#e69f00";
pub(crate) const GREEN: &str = "#009e73";
pub(crate) const YELLOW: &str = "#f0e442";
pub(crate) const PURPLE: &str = "#cc79a7";

/// Shades for a parent that waits, from little to much.
pub(crate) const PARENT_WAITS: [&str; 3] = ["#f0bf96", "#e28a45", VERMILION];
/// Shades for a child that waits, from little to much.
pub(crate) const CHILD_WAITS: [&str; 3] = ["#a5cfe6", "#4fa0cd", BLUE];
/// Shades for volumes, from little to much.
pub(crate) const VOLUMES: [&str; 5] = ["#b9dccb", "#84c4a9", "#45a585", "#00795a", "#004b37"];
