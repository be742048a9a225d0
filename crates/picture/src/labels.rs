//! Words and numbers in pictures, and how wide they are.

pub(crate) use tuwtree_model::quantity::Unit;

/// The typefaces of all pictures: the first one is what widths are computed for, the others are not
/// wider to speak of.
pub(crate) const FONTS: &str = "'DejaVu Sans', Verdana, Arial, sans-serif";

/// Advance widths of the printable ASCII characters in DejaVu Sans, in 2048ths of the font size.
const WIDTHS: [u16; 95] = [
    651, 821, 942, 1716, 1303, 1946, 1597, 563, 799, 799, 1024, 1716, 651, 739, 651, 690, 1303,
    1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 1303, 690, 690, 1716, 1716, 1716, 1087, 2048,
    1401, 1405, 1430, 1577, 1294, 1178, 1587, 1540, 604, 604, 1343, 1141, 1767, 1532, 1612, 1235,
    1612, 1423, 1300, 1251, 1499, 1401, 2025, 1403, 1251, 1403, 799, 690, 799, 1716, 1024, 1024,
    1255, 1300, 1126, 1300, 1260, 721, 1300, 1298, 569, 569, 1186, 569, 1995, 1298, 1253, 1300,
    1300, 842, 1067, 803, 1298, 1212, 1675, 1212, 1212, 1075, 1303, 690, 1303, 1716,
];

/// Width of a text of this font size; characters beyond ASCII count as the widest.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let units: u32 = text
        .chars()
        .map(|character| match character {
            ' '..='~' => u32::from(WIDTHS[character as usize - 32]),
            _ => 2048,
        })
        .sum();
    f64::from(units) / 2048.0 * size
}

/// A number of processes, in words.
pub(crate) fn ranks(count: usize) -> String {
    match count {
        1 => "1 process".to_owned(),
        _ => format!("{count} processes"),
    }
}

/// The text, with its end cut off where it is wider than this.
pub(crate) fn fitted(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let mut fitted = text.to_owned();
    while !fitted.is_empty() && width(&fitted, size) + size > room {
        fitted.pop();
    }
    fitted.push('…');
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_cut_where_there_is_no_room() {
        assert_eq!(fitted("short", 12.0, 100.0), "short");
        let cut = fitted("a text that is much too long", 12.0, 100.0);
        assert!(cut.ends_with('…') && width(&cut, 12.0) <= 100.0, "{cut}");
    }
}
