//! Numbers that one argument stands for, in all commands that take several.

use tuwtree_model::quantity::parse_bytes;

/// Numbers in ascending order, at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Series(pub(crate) Vec<u64>);

/// The most numbers of a series.
const MOST: usize = 100_000;

/// Value of `64`, `64KiB`, `2..64`, `16..1024*2` or `16..64+16`: a number, each from one to the other, or each a
/// multiple of the one before, or a sum.
///
/// # Errors
/// The allowed values.
pub(crate) fn parse_series(argument: &str) -> Result<Series, String> {
    let Some((first, rest)) = argument.split_once("..") else {
        let ends =
            argument.split_once('-').map(|(first, last)| (parse_bytes(first), parse_bytes(last)));
        return match ends {
            Some((Ok(_), Ok(_))) => Err(format!("a range is {}", argument.replacen('-', "..", 1))),
            _ => parse_bytes(argument).map(|one| Series(vec![one])),
        };
    };
    let (last, factor, more) = match (rest.split_once('*'), rest.split_once('+')) {
        (Some((last, factor)), _) => (last, parse_bytes(factor)?, 0),
        (None, Some((last, more))) => (last, 1, parse_bytes(more)?),
        (None, None) => (rest, 1, 1),
    };
    let (first, last) = (parse_bytes(first)?, parse_bytes(last)?);
    if first == 0 || first > last {
        return Err("A..B starts from 1 or more and does not fall".into());
    }
    if (factor, more) == (1, 0) || factor == 0 {
        return Err("A..B*N has an N of 2 or more, A..B+N one of 1 or more".into());
    }
    let next = |one: &u64| one.checked_mul(factor)?.checked_add(more);
    let numbers = std::iter::successors(Some(first), next).take_while(|&one| one <= last);
    let numbers: Vec<u64> = numbers.take(MOST + 1).collect();
    match numbers.len() > MOST {
        true => Err(format!("more than {MOST} numbers; A..B*2 is A, 2A, 4A, … up to B")),
        false => Ok(Series(numbers)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_count_by_one_unless_they_state_a_step() {
        let numbers = |text: &str| parse_series(text).map(|Series(numbers)| numbers);
        assert_eq!(numbers("64KiB"), Ok(vec![65536]));
        assert_eq!(numbers("2..5"), Ok(vec![2, 3, 4, 5]));
        assert_eq!(numbers("16..128*2"), Ok(vec![16, 32, 64, 128]));
        assert_eq!(numbers("1..1KiB*10"), Ok(vec![1, 10, 100, 1000]));
        assert_eq!(numbers("16..70+16"), Ok(vec![16, 32, 48, 64]));
        assert_eq!(numbers("7..7"), Ok(vec![7]));
        for (text, message) in [
            ("9..3", "does not fall"),
            ("0..3", "from 1 or more"),
            ("2..9*1", "2 or more"),
            ("2..9*0", "2 or more"),
            ("2..9+0", "1 or more"),
            ("1..1MiB", "A..B*2"),
            ("1..x", "a whole number"),
            ("10-20", "a range is 10..20"),
        ] {
            assert!(numbers(text).unwrap_err().contains(message), "{text}");
        }
    }
}
