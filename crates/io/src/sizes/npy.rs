//! Arrays of whole numbers as NumPy saves them: format versions 1 to 3 (NEP 1).
//!
//! A header of some words and plain numbers: the crates that read it would be a tenth of a first build.

use tuwtree_model::MOST_RANKS;

const MAGIC: &[u8] = b"\x93NUMPY";

/// An array.
struct Array {
    shape: Vec<usize>,
    numbers: Vec<u64>,
}

/// The numbers of an array of one dimension.
///
/// # Errors
/// Text that is not such an array, in words.
pub(super) fn list(file: &[u8]) -> Result<Vec<u64>, String> {
    let array = read(file)?;
    match array.shape.as_slice() {
        [_] => Ok(array.numbers),
        shape => {
            Err(format!("an array of {} dimensions; one of a size a rank is needed", shape.len()))
        }
    }
}

/// The numbers of a square array, row after row.
///
/// # Errors
/// Text that is not such an array, in words.
pub(super) fn square(file: &[u8]) -> Result<Vec<u64>, String> {
    let array = read(file)?;
    match array.shape.as_slice() {
        [rows, columns] if rows == columns => Ok(array.numbers),
        shape => Err(format!("an array of shape {shape:?}; p rows of p sizes are needed")),
    }
}

/// The array, in the order of C.
fn read(file: &[u8]) -> Result<Array, String> {
    let rest = file
        .strip_prefix(MAGIC)
        .ok_or("not an array of NumPy: it does not begin with \\x93NUMPY")?;
    let cut = || "it ends within its header".to_owned();
    let (version, rest) = rest.split_at_checked(2).ok_or_else(cut)?;
    let width = match version[0] {
        1 => 2,
        2 | 3 => 4,
        other => return Err(format!("version {other} of NumPy's format; 1 to 3 are known")),
    };
    let (length, rest) = rest.split_at_checked(width).ok_or_else(cut)?;
    let length = length.iter().rev().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    let (header, data) = rest.split_at_checked(length).ok_or_else(cut)?;
    let header = std::str::from_utf8(header).map_err(|_| "its header is not UTF-8".to_owned())?;
    let kind = value_of(header, "descr")?.trim_matches(['\'', '"']);
    let is_fortran = match value_of(header, "fortran_order")? {
        "True" => true,
        "False" => false,
        other => return Err(format!("fortran_order is {other}; True or False is needed")),
    };
    let shape = shape(value_of(header, "shape")?)?;
    let count = shape.iter().try_fold(1_usize, |product, one| product.checked_mul(*one));
    let count = count.filter(|count| *count <= MOST_RANKS);
    let count = count.ok_or_else(|| format!("more than {MOST_RANKS} numbers"))?;
    let numbers = numbers(data, kind, count)?;
    let numbers = match (is_fortran, shape.as_slice()) {
        (true, &[rows, columns]) => {
            (0..count).map(|at| numbers[at % columns * rows + at / columns]).collect()
        }
        _ => numbers,
    };
    Ok(Array { shape, numbers })
}

/// Text behind a key of the header's dictionary.
fn value_of<'a>(header: &'a str, key: &str) -> Result<&'a str, String> {
    let missing = || format!("its header has no {key}");
    let at = header.find(&format!("'{key}'")).ok_or_else(missing)?;
    let rest = header[at + key.len() + 2..].trim_start().strip_prefix(':').ok_or_else(missing)?;
    let rest = rest.trim_start();
    let end = match rest.starts_with('(') {
        true => rest.find(')').map(|at| at + 1),
        false => rest.find([',', '}']),
    };
    end.map(|end| rest[..end].trim()).ok_or_else(missing)
}

/// A shape such as `(3, 4)` or `(3,)`.
fn shape(text: &str) -> Result<Vec<usize>, String> {
    let inner = text.strip_prefix('(').and_then(|text| text.strip_suffix(')'));
    let parts = inner.map(|inner| inner.split(',').map(str::trim).filter(|part| !part.is_empty()));
    let lengths = parts.and_then(|parts| parts.map(|part| part.parse().ok()).collect());
    lengths.ok_or_else(|| format!("its shape is {text}"))
}

/// The numbers of a kind such as `<i8`.
fn numbers(data: &[u8], kind: &str, count: usize) -> Result<Vec<u64>, String> {
    let refused =
        || format!("numbers of kind {kind:?}; whole numbers are needed, such as int64 (\"<i8\")");
    let bytes = kind.as_bytes();
    let &[order, sign, width] = bytes else { return Err(refused()) };
    let width = usize::from(width.wrapping_sub(b'0'));
    if !b"<>|=".contains(&order) || !b"iu".contains(&sign) || ![1, 2, 4, 8].contains(&width) {
        return Err(refused());
    }
    if data.len() != count * width {
        return Err(format!(
            "{} bytes of data; {count} numbers of {width} bytes are needed",
            data.len()
        ));
    }
    let number = |(at, bytes): (usize, &[u8])| {
        let join = |sum: u64, byte: &u8| sum << 8 | u64::from(*byte);
        let number = match order {
            b'>' => bytes.iter().fold(0, join),
            _ => bytes.iter().rev().fold(0, join),
        };
        match sign == b'i' && number >> (8 * width - 1) == 1 {
            true => Err(format!("number {at} is negative")),
            false => Ok(number),
        }
    };
    data.chunks_exact(width).enumerate().map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file as NumPy 1.24 writes it.
    fn file(kind: &str, order: &str, shape: &str, data: &[u8]) -> Vec<u8> {
        let mut header =
            format!("{{'descr': '{kind}', 'fortran_order': {order}, 'shape': {shape}, }}");
        while (10 + header.len() + 1) % 64 != 0 {
            header.push(' ');
        }
        header.push('\n');
        let length = u16::try_from(header.len()).unwrap().to_le_bytes();
        [MAGIC, &[1, 0], &length, header.as_bytes(), data].concat()
    }

    #[test]
    fn whole_numbers_of_every_kind_are_read() {
        assert_eq!(list(&file("|u1", "False", "(3,)", &[1, 0, 255])), Ok(vec![1, 0, 255]));
        assert_eq!(list(&file("<i2", "False", "(2,)", &[1, 2, 3, 0])), Ok(vec![513, 3]));
        assert_eq!(list(&file(">u4", "False", "(1,)", &[0, 0, 1, 2])), Ok(vec![258]));
        assert_eq!(
            list(&file("<i8", "False", "(1,)", &[7, 0, 0, 0, 0, 0, 0, 1])),
            Ok(vec![7 + (1 << 56)])
        );
        assert_eq!(square(&file("|u1", "False", "(2, 2)", &[1, 2, 3, 4])), Ok(vec![1, 2, 3, 4]));
        assert_eq!(square(&file("|u1", "True", "(2, 2)", &[1, 2, 3, 4])), Ok(vec![1, 3, 2, 4]));
    }

    #[test]
    fn what_is_no_list_of_whole_numbers_is_refused() {
        for (file, message) in [
            (file("<f8", "False", "(1,)", &[0; 8]), "numbers of kind \"<f8\""),
            (file("<i1", "False", "(1,)", &[255]), "number 0 is negative"),
            (file("|u1", "False", "(2, 2)", &[1, 2, 3, 4]), "an array of 2 dimensions"),
            (file("|u1", "False", "(3,)", &[1, 2]), "2 bytes of data; 3 numbers of 1 bytes"),
            (
                file("|u1", "False", "(1000000000, 1000000000, 1000000000)", &[]),
                "more than 100000000 numbers",
            ),
            (b"\x93NUMPY\x01\0\xff\xff{".to_vec(), "it ends within its header"),
            (b"1 2 3".to_vec(), "not an array of NumPy"),
        ] {
            let error = list(&file).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
