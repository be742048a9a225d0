//! Documents in JSON, read as a stream: header first where it stands first, and faults with their
//! place.

use crate::limits::LONGEST_VALUE;
use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StringDeserializer, U64Deserializer};
use serde::de::{
    DeserializeSeed, Deserializer as _, Error as _, IntoDeserializer, MapAccess, Visitor,
};
use std::fmt;
use std::io::{self, BufRead, Read};
use std::marker::PhantomData;
use tuwtree_model::document::{Header, HeaderError};

/// Kind of document.
#[derive(Clone, Copy)]
pub(crate) struct DocumentKind {
    /// In words, such as `a tree document`.
    pub(crate) name: &'static str,
    /// The value of its field `format`.
    pub(crate) format: &'static str,
    /// The newest version that is read.
    pub(crate) version: u64,
}

/// The document of this kind in a stream.
///
/// # Errors
/// The fault, with line and column unless the document as a whole is at fault.
pub(crate) fn document<T: for<'de> Deserialize<'de>>(
    kind: DocumentKind,
    stream: impl BufRead,
) -> Result<T, String> {
    let (mut is_named, mut wrong_header) = (false, None);
    let mut input = Followed::new(stream);
    let mut deserializer = serde_json::Deserializer::from_reader(&mut input);
    let read = deserializer.deserialize_map(DocumentVisitor::<T> {
        kind,
        is_named: &mut is_named,
        wrong_header: &mut wrong_header,
        document: PhantomData,
    });
    let read = read.and_then(|document| deserializer.end().map(|()| document));
    drop(deserializer);
    read.map_err(|error| match wrong_header {
        Some(fault) => fault.to_string(),
        None if is_named => input.explain(&error),
        None => format!("not {}: {error}", kind.name),
    })
}

/// The value of a JSON text without a header.
///
/// # Errors
/// The fault, with line and column.
pub(crate) fn value<T: for<'de> Deserialize<'de>>(stream: impl BufRead) -> Result<T, String> {
    let mut input = Followed::new(stream);
    let mut deserializer = serde_json::Deserializer::from_reader(&mut input);
    let read = T::deserialize(&mut deserializer);
    let read = read.and_then(|value| deserializer.end().map(|()| value));
    drop(deserializer);
    read.map_err(|error| input.explain(&error))
}

/// Reads the fields of a document, and believes its header as soon as it comes.
struct DocumentVisitor<'a, T> {
    kind: DocumentKind,
    /// Set when the document says that it is of this kind.
    is_named: &'a mut bool,
    wrong_header: &'a mut Option<HeaderError>,
    document: PhantomData<T>,
}

impl<'de, T: Deserialize<'de>> Visitor<'de> for DocumentVisitor<'_, T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object with named fields")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        let DocumentVisitor { kind, is_named, wrong_header, .. } = self;
        let next = Next::Other;
        let headed = Headed { kind, is_named, wrong_header, fields, next };
        T::deserialize(MapAccessDeserializer::new(headed))
    }
}

/// The fields of a document, whose header fields are checked on the way.
struct Headed<'a, A> {
    kind: DocumentKind,
    is_named: &'a mut bool,
    wrong_header: &'a mut Option<HeaderError>,
    fields: A,
    next: Next,
}

impl<'de, A: MapAccess<'de>> Headed<'_, A> {
    /// Fails unless the header is right as far as it is known.
    fn check(&mut self, header: &Header) -> Result<(), A::Error> {
        header.check(self.kind.format, self.kind.version).map_err(|fault| {
            let error = A::Error::custom(&fault);
            *self.wrong_header = Some(fault);
            error
        })
    }
}

/// Field whose value comes next.
enum Next {
    Format,
    Version,
    Other,
}

impl<'de, A: MapAccess<'de>> MapAccess<'de> for Headed<'_, A> {
    type Error = A::Error;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, A::Error> {
        let Some(key) = self.fields.next_key::<String>()? else { return Ok(None) };
        self.next = match key.as_str() {
            "format" => Next::Format,
            "version" => Next::Version,
            _ => Next::Other,
        };
        let key: StringDeserializer<A::Error> = key.into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, A::Error> {
        let newest = self.kind.version;
        match self.next {
            Next::Format => {
                let format: String = self.fields.next_value()?;
                *self.is_named = true;
                self.check(&Header { format: format.clone(), version: newest })?;
                let format: StringDeserializer<A::Error> = format.into_deserializer();
                seed.deserialize(format)
            }
            Next::Version => {
                let version: u64 = self.fields.next_value()?;
                self.check(&Header { format: self.kind.format.to_owned(), version })?;
                let version: U64Deserializer<A::Error> = version.into_deserializer();
                seed.deserialize(version)
            }
            Next::Other => self.fields.next_value_seed(seed),
        }
    }
}

/// A stream that knows where its last byte was that is no blank.
pub(crate) struct Followed<R> {
    input: R,
    /// Line and column of the last byte that was read; columns count bytes, from 1.
    at: (usize, usize),
    /// Line and column of the last byte that is not blank, and that byte.
    last: (usize, usize),
    last_byte: u8,
    value: Value,
}

/// The name, text or number of a JSON text that is being read.
#[derive(Clone, Copy)]
enum Value {
    /// None.
    Between,
    /// A number or word, with its bytes up to now.
    Bare(usize),
    /// A text in quotation marks, with its bytes up to now.
    Text(usize),
    /// A text behind a backslash, which escapes the next byte.
    Escaped(usize),
}

impl Value {
    /// State one byte later.
    fn followed_by(self, byte: u8) -> Value {
        match (self, byte) {
            (Value::Text(_), b'"') => Value::Between,
            (Value::Text(length), b'\\') => Value::Escaped(length + 1),
            (Value::Text(length) | Value::Escaped(length), _) => Value::Text(length + 1),
            (Value::Between | Value::Bare(_), b'"') => Value::Text(0),
            (Value::Bare(length), b'0'..=b'9' | b'a'..=b'z' | b'.' | b'+' | b'-' | b'E') => {
                Value::Bare(length + 1)
            }
            (Value::Between, b'0'..=b'9' | b'-') => Value::Bare(1),
            (Value::Between | Value::Bare(_), _) => Value::Between,
        }
    }

    fn length(self) -> usize {
        match self {
            Value::Between => 0,
            Value::Bare(length) | Value::Text(length) | Value::Escaped(length) => length,
        }
    }
}

impl<R: BufRead> Followed<R> {
    pub(crate) fn new(input: R) -> Followed<R> {
        Followed { input, at: (1, 0), last: (1, 0), last_byte: b' ', value: Value::Between }
    }

    /// The error's message; without the place where it is that of the document's end, at which all that
    /// is wrong with it as a whole is found.
    pub(crate) fn explain(&mut self, error: &serde_json::Error) -> String {
        let (line, column) = (error.line(), error.column());
        let message = error.to_string();
        let is_whole = error.is_data()
            && (line, column) == self.last
            && self.last_byte == b'}'
            && self.is_at_end();
        match message.strip_suffix(&format!(" at line {line} column {column}")) {
            Some(whole) if is_whole => whole.to_owned(),
            _ => message,
        }
    }

    /// True if only blanks are left.
    fn is_at_end(&mut self) -> bool {
        loop {
            let Ok(rest) = self.input.fill_buf() else { return false };
            if rest.is_empty() {
                return true;
            }
            let (count, is_blank) = (rest.len(), rest.iter().all(u8::is_ascii_whitespace));
            if !is_blank {
                return false;
            }
            self.input.consume(count);
        }
    }
}

impl<R: Read> Read for Followed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        for byte in &buffer[..count] {
            self.at = match byte {
                b'\n' => (self.at.0 + 1, 0),
                _ => (self.at.0, self.at.1 + 1),
            };
            if !byte.is_ascii_whitespace() {
                (self.last, self.last_byte) = (self.at, *byte);
            }
            self.value = self.value.followed_by(*byte);
        }
        // What is a little longer may pass, as far as it was read at once.
        if self.value.length() > LONGEST_VALUE {
            return Err(io::Error::other(format!("a value of more than {LONGEST_VALUE} bytes")));
        }
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tuwtree_model::document::TreeDocument;

    const KIND: DocumentKind = DocumentKind {
        name: "a tree document",
        format: TreeDocument::FORMAT,
        version: TreeDocument::VERSION,
    };
    const GOOD: &str = r#"{"format":"tuwtree-tree","version":1,"processors":3,"root":1,"subtrees":[[],[0,1,2],[]]}"#;

    fn fault(from: &str, to: &str) -> String {
        let bad = GOOD.replacen(from, to, 1);
        assert_ne!(bad, GOOD);
        document::<TreeDocument>(KIND, bad.as_bytes()).unwrap_err()
    }

    #[test]
    fn what_is_wrong_with_the_whole_document_has_no_place() {
        assert!(document::<TreeDocument>(KIND, GOOD.as_bytes()).is_ok());
        assert_eq!(
            fault("\"processors\":3", "\"processors\":4"),
            "\"subtrees\" has 3 entries, but \"ranks\" is 4"
        );
        assert_eq!(fault("\"root\":1,", ""), "missing field `root`");
        assert_eq!(
            fault("\"version\":1", "\"version\":9"),
            "version 9 of format \"tuwtree-tree\" is not known; versions up to 5 are"
        );
    }

    #[test]
    fn what_is_wrong_at_a_place_names_it() {
        assert!(fault("\"root\"", "\"rot\"").contains("unknown field `rot`, expected one of"));
        assert!(fault("[0,1,2]", "[0,1,-2]").contains("integer `-2`, expected u32 at line 1"));
        assert!(fault("[]]}", "[-1]]}").contains(" at line 1 column "));
        assert!(fault("}", "}\n\n x").contains("trailing characters at line 3 column 2"));
        assert!(fault("tuwtree-tree\"", "tuwtree-tree\",").contains("at line 1 column"));
        assert!(fault(GOOD, "[1]").starts_with("not a tree document: "));
    }

    #[test]
    fn the_header_may_stand_anywhere() {
        let late = GOOD.replacen("\"format\":\"tuwtree-tree\",", "", 1);
        let late = late.replacen('}', ",\"format\":\"tuwtree-tree\"}", 1);
        assert!(document::<TreeDocument>(KIND, late.as_bytes()).is_ok());
    }
}
