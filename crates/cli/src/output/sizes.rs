//! Block sizes as text, CSV or JSON.

use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use tuwtree_model::BlockSizes;

/// The name of the JSON format.
pub(crate) const FORMAT: &str = "tuwtree-sizes";
/// Its newest version, which is the one that is written.
pub(crate) const VERSION: u64 = 1;

/// A sizes document.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SizesDocument {
    format: String,
    version: u64,
    /// The blocks in rank order.
    pub(crate) block_sizes_bytes: Vec<u64>,
}

/// A format for block sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum SizesFormat {
    /// One size a line.
    Text,
    /// Columns rank,size_bytes.
    Csv,
    /// A versioned document; see docs/formats.md.
    Json,
}

impl SizesFormat {
    /// Writes the sizes in this format.
    pub(crate) fn write(self, sizes: &BlockSizes, output: &mut dyn Write) -> io::Result<()> {
        match self {
            SizesFormat::Text => {
                for size in sizes.iter() {
                    writeln!(output, "{size}")?;
                }
            }
            SizesFormat::Csv => {
                writeln!(output, "rank,size_bytes")?;
                for (rank, size) in sizes.iter().enumerate() {
                    writeln!(output, "{rank},{size}")?;
                }
            }
            SizesFormat::Json => {
                let document = SizesDocument {
                    format: FORMAT.into(),
                    version: VERSION,
                    block_sizes_bytes: sizes.iter().collect(),
                };
                serde_json::to_writer(&mut *output, &document)?;
                writeln!(output)?;
            }
        }
        Ok(())
    }
}
