//! Rows of tables: values between blanks, with the line for faults.

use tuwtree_measure::Sample;

/// A row of a table.
pub(super) struct LineOfValues<'a> {
    /// Its line, from 1.
    pub(super) line: usize,
    values: Vec<&'a str>,
}

impl<'a> LineOfValues<'a> {
    pub(super) fn new(line: usize, text: &'a str) -> LineOfValues<'a> {
        LineOfValues { line, values: text.split_whitespace().collect() }
    }

    /// True if the column exists, counted from 0.
    pub(super) fn has(&self, column: usize) -> bool {
        column < self.values.len()
    }

    /// The text in a column.
    ///
    /// # Errors
    /// A row that is too short.
    pub(super) fn text(&self, column: usize) -> Result<&'a str, String> {
        self.values.get(column).copied().ok_or_else(|| {
            let (line, count) = (self.line, self.values.len());
            format!("line {line}: {count} values; at least {} are needed", column + 1)
        })
    }

    /// The whole number in a column.
    ///
    /// # Errors
    /// Line, value and the allowed values.
    pub(super) fn whole(&self, column: usize) -> Result<u64, String> {
        let text = self.text(column)?;
        let number = text.parse().ok().filter(|_| text.starts_with(|c: char| c.is_ascii_digit()));
        let line = self.line;
        number.ok_or_else(|| {
            format!(
                "line {line}: {text:?} is not a message size, a whole number from 0 to 2^64 - 1"
            )
        })
    }

    /// The number in a column, at least 0.
    ///
    /// # Errors
    /// Line, value and the allowed values.
    pub(super) fn number(&self, column: usize) -> Result<f64, String> {
        let text = self.text(column)?;
        let number = text.parse().ok().filter(|number: &f64| number.is_finite() && *number >= 0.0);
        let line = self.line;
        number.ok_or_else(|| {
            format!("line {line}: {text:?} is not a time or rate, a finite number of at least 0")
        })
    }

    /// Puts the time of a size behind those before it; messages of 0 bytes cost nothing, and are left out.
    ///
    /// # Errors
    /// A time that is not above 0, or too large; a size that is not above those before.
    pub(super) fn push(&self, samples: &mut Vec<Sample>, sample: Sample) -> Result<(), String> {
        let (line, Sample { bytes, seconds }) = (self.line, sample);
        if bytes == 0 {
            return Ok(());
        }
        if !(seconds.is_finite() && seconds > 0.0) {
            return Err(format!(
                "line {line}: {bytes} bytes take {seconds} s; more than 0 is needed"
            ));
        }
        match samples.last() {
            Some(last) if bytes <= last.bytes => {
                Err(format!("line {line}: {bytes} bytes after {}; sizes must ascend", last.bytes))
            }
            _ => {
                samples.push(sample);
                Ok(())
            }
        }
    }
}
