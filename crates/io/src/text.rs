//! Whole numbers in text: between white space or commas, where `#` starts a comment.

use crate::limits::LONGEST_NUMBER;
use std::io::BufRead;
use tuwtree_model::quantity::parse_bytes;

/// The numbers in a stream, one after the other; after the first fault, none.
pub(crate) struct Numbers<R> {
    input: R,
    /// The line that is being read, from 1.
    line: u64,
    commas: usize,
    /// True if a value stands between the last comma, or the line's start, and here.
    has_value: bool,
    /// True if this line has a value at all.
    line_has_value: bool,
    /// True if nothing stood before some comma of this line.
    hole: bool,
    /// Values that were found together, the last one first.
    found: Vec<u64>,
    done: bool,
}

/// End of a value.
enum End {
    Blank,
    Comma,
    Line,
    Comment,
    Text,
}

impl<R: BufRead> Numbers<R> {
    pub(crate) fn new(input: R) -> Numbers<R> {
        Numbers {
            input,
            line: 1,
            commas: 0,
            has_value: false,
            line_has_value: false,
            hole: false,
            found: Vec::new(),
            done: false,
        }
    }

    /// Reads until there are values, or the text ends.
    fn read_on(&mut self) -> Result<(), String> {
        let mut word = Vec::new();
        while self.found.is_empty() && !self.done {
            word.clear();
            let end = self.word(&mut word)?;
            self.take_values(&word)?;
            match end {
                End::Blank => {}
                End::Comma => {
                    self.hole |= !self.has_value;
                    self.commas += 1;
                    self.has_value = false;
                    self.check_hole()?;
                }
                End::Comment => {
                    self.skip_line()?;
                    self.end_line();
                }
                End::Line => self.end_line(),
                End::Text => self.done = true,
            }
        }
        Ok(())
    }

    /// The bytes up to what ends a value, which is consumed.
    fn word(&mut self, word: &mut Vec<u8>) -> Result<End, String> {
        loop {
            let rest = self.input.fill_buf().map_err(|error| error.to_string())?;
            if rest.is_empty() {
                return Ok(End::Text);
            }
            let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'#' | 0x0b);
            let length = rest.iter().position(ends).unwrap_or(rest.len());
            if word.len() + length > LONGEST_NUMBER {
                let line = self.line;
                return Err(format!("line {line}: a value of more than {LONGEST_NUMBER} bytes"));
            }
            word.extend(&rest[..length]);
            let end = rest.get(length).copied();
            self.input.consume(length + usize::from(end.is_some()));
            match end {
                None => {}
                Some(b',') => return Ok(End::Comma),
                Some(b'#') => return Ok(End::Comment),
                Some(b'\n') => return Ok(End::Line),
                Some(_) => return Ok(End::Blank),
            }
        }
    }

    fn skip_line(&mut self) -> Result<(), String> {
        loop {
            let rest = self.input.fill_buf().map_err(|error| error.to_string())?;
            if rest.is_empty() {
                return Ok(());
            }
            let end = rest.iter().position(|&byte| byte == b'\n');
            let count = end.map_or(rest.len(), |at| at + 1);
            self.input.consume(count);
            if end.is_some() {
                return Ok(());
            }
        }
    }

    /// A comma may end a line, but two in a row, or one at its start, leave a value out.
    fn check_hole(&self) -> Result<(), String> {
        match self.hole && (self.commas > 1 || self.line_has_value) {
            true => Err(format!("line {}: an empty value between commas", self.line)),
            false => Ok(()),
        }
    }

    fn end_line(&mut self) {
        self.line += 1;
        self.commas = 0;
        (self.has_value, self.line_has_value, self.hole) = (false, false, false);
    }

    /// The values in a word: one, none if it is empty, or several where blanks beyond ASCII part them.
    fn take_values(&mut self, word: &[u8]) -> Result<(), String> {
        if word.is_empty() {
            return Ok(());
        }
        let line = self.line;
        let word =
            std::str::from_utf8(word).map_err(|_| format!("line {line} is not UTF-8 text"))?;
        for value in word.split_whitespace() {
            self.found.push(whole(value, line)?);
            (self.has_value, self.line_has_value) = (true, true);
        }
        self.found.reverse();
        self.check_hole()
    }
}

impl<R: BufRead> Iterator for Numbers<R> {
    type Item = Result<u64, String>;

    fn next(&mut self) -> Option<Result<u64, String>> {
        if self.found.is_empty()
            && let Err(fault) = self.read_on()
        {
            self.done = true;
            return Some(Err(fault));
        }
        self.found.pop().map(Ok)
    }
}

/// The number of bytes that a value in a line states.
///
/// # Errors
/// Line and value.
pub(crate) fn whole(value: &str, line: u64) -> Result<u64, String> {
    let digits = value.strip_prefix('+').unwrap_or(value);
    let is_number = digits.starts_with(|c: char| c.is_ascii_digit()) && !digits.contains('_');
    let number = digits.parse::<u64>().or_else(|_| parse_bytes(digits)).ok().filter(|_| is_number);
    number.ok_or_else(|| {
        format!(
            "line {line}: {value:?} is not a block size, a whole number of bytes from 0 to 2^64 - 1, \
             such as 4096, 4KiB or 1e3"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comma_may_end_a_line_but_leaves_nothing_out() {
        let numbers = |text: &str| Numbers::new(text.as_bytes()).collect::<Result<Vec<u64>, _>>();
        assert_eq!(numbers("1,2,\n3 , 4 # x\n\n,\n+5\u{a0}6").unwrap(), [1, 2, 3, 4, 5, 6]);
        for (text, line) in [("1,,2", 1), ("1\n,2", 2), ("1,,", 1), (",,", 1), ("3\n1, ,2", 2)] {
            let error = numbers(text).unwrap_err();
            assert_eq!(error, format!("line {line}: an empty value between commas"), "{text}");
        }
        let long = "1".repeat(LONGEST_NUMBER + 1);
        assert!(numbers(&long).unwrap_err().contains("line 1: a value of more than 4096 bytes"));
    }
}
