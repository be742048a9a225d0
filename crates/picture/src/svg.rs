//! A small writer of XML: elements are closed, text is escaped, numbers are finite and short.

use std::fmt::{self, Display, Write as _};

/// The attributes of an element: names, and values to be escaped.
pub(crate) type Attributes<'a> = &'a [(&'a str, &'a dyn Display)];

/// An XML text that grows element by element.
#[derive(Default)]
pub(crate) struct Xml {
    text: String,
    open: Vec<&'static str>,
}

impl Xml {
    /// Opens an element.
    pub(crate) fn open(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.text.push('>');
        self.open.push(name);
    }

    /// Closes the element that was opened last.
    pub(crate) fn close(&mut self) {
        let name = self.open.pop().expect("an element is open");
        self.text.push_str("</");
        self.text.push_str(name);
        self.text.push_str(">\n");
    }

    /// An element without content.
    pub(crate) fn empty(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.start(name, attributes);
        self.text.push_str("/>\n");
    }

    /// An element that contains text.
    pub(crate) fn text(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        content: impl Display,
    ) {
        self.open(name, attributes);
        self.escaped(&content);
        self.close();
    }

    /// An element with a text that shows while the pointer is over it.
    pub(crate) fn titled(
        &mut self,
        name: &'static str,
        attributes: Attributes<'_>,
        title: impl Display,
    ) {
        self.open(name, attributes);
        self.text("title", &[], title);
        self.close();
    }

    /// An element that was written elsewhere.
    pub(crate) fn markup(&mut self, element: &str) {
        self.text.push_str(element);
    }

    /// The whole text.
    pub(crate) fn finish(self) -> String {
        assert!(self.open.is_empty(), "every element is closed");
        self.text
    }

    fn start(&mut self, name: &'static str, attributes: Attributes<'_>) {
        self.text.push('<');
        self.text.push_str(name);
        for (name, value) in attributes {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            self.escaped(value);
            self.text.push('"');
        }
    }

    fn escaped(&mut self, value: &dyn Display) {
        write!(Escape(&mut self.text), "{value}").expect("a string takes what is written");
    }
}

/// Escapes text that is written to it, for text and attributes alike.
struct Escape<'a>(&'a mut String);

impl fmt::Write for Escape<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            match character {
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                '&' => self.0.push_str("&amp;"),
                '"' => self.0.push_str("&quot;"),
                '\n' | '\t' => self.0.push(character),
                // Control characters are not allowed in XML, escaped or not.
                _ if character.is_control() || matches!(character, '\u{fffe}' | '\u{ffff}') => {
                    self.0.push('\u{fffd}');
                }
                _ => self.0.push(character),
            }
        }
        Ok(())
    }
}

/// A length in pixels, written with at most two decimals.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(crate) struct Px(pub(crate) f64);

impl Display for Px {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        assert!(self.0.is_finite(), "a picture has finite lengths");
        // `+ 0.0` turns a negative zero into the ordinary one.
        let hundredths = (self.0 * 100.0).round() + 0.0;
        write!(formatter, "{}", hundredths / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_attributes_are_escaped() {
        let mut xml = Xml::default();
        xml.open("a", &[("b", &"\"<&>\u{1}")]);
        xml.text("c", &[], "x < y & z");
        xml.close();
        assert_eq!(
            xml.finish(),
            "<a b=\"&quot;&lt;&amp;&gt;\u{fffd}\"><c>x &lt; y &amp; z</c>\n</a>\n"
        );
    }

    #[test]
    fn lengths_are_short() {
        for (length, text) in [(1.0, "1"), (-0.001, "0"), (1.0 / 3.0, "0.33"), (2.5, "2.5")] {
            assert_eq!(Px(length).to_string(), text);
        }
    }
}
