//! Checks that elements combined by a reduction stay whole.

use super::{Actions, Fault};

/// Fails unless every piece of a reduction's actions is made of whole elements.
///
/// # Errors
/// The first piece that cuts an element, by rank, then by action, then read pieces before written
/// ones.
///
/// # Complexity
/// O(n) for n pieces.
pub(super) fn check(actions: &Actions<'_>) -> Result<(), Fault> {
    let task = actions.schedule.task();
    let element = task.operator.element_bytes();
    if !task.operation.is_reduction() || element == 1 {
        return Ok(());
    }
    for index in 0..actions.len() as u32 {
        let action = actions.get(index);
        for region in [action.reads(), action.writes()].into_iter().flatten() {
            let is_cut = |piece: &&crate::Piece| {
                !piece.offset.is_multiple_of(element) || !piece.bytes.is_multiple_of(element)
            };
            if let Some(piece) = region.pieces.iter().find(is_cut) {
                return Err(Fault::CutElement {
                    at: actions.at(index),
                    doing: actions.doing(index),
                    buffer: region.buffer,
                    offset: piece.offset,
                    bytes: piece.bytes,
                    element,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::verify::{At, Doing};
    use crate::{Buffer, Fault, document, verify};

    /// What is found in an allreduce of two elements between two ranks, which exchange these pieces of the output.
    fn exchanged(pieces: &[(u64, u64)]) -> Result<(), Fault> {
        let side = |peer: usize, side: &str| {
            let actions: Vec<String> = pieces
                .iter()
                .map(|(offset, bytes)| {
                    let place = format!("[\"output\",{offset},{bytes}]");
                    format!(
                        r#"{{"send":{peer},"from":{place},"receive":{peer},"into":{place},"combine":"{side}"}}"#
                    )
                })
                .collect();
            actions.join(",")
        };
        let (first, second) = (side(1, "right"), side(0, "left"));
        let text = format!(
            r#"{{"format":"tuwtree-schedule","version":3,"operation":"allreduce","processors":2,"order":"ordered",
            "ports":1,"element_bytes":4,"vector_bytes":8,"segment_bytes":[0,0],"actions":[[{first}],[{second}]]}}"#
        );
        verify(&document::read(text.as_bytes()).unwrap()).map(|_| ())
    }

    #[test]
    fn a_piece_that_cuts_an_element_is_refused_with_rank_action_and_place() {
        assert_eq!(exchanged(&[(0, 4), (4, 4)]), Ok(()));
        let cut = |action, offset, bytes| {
            let (at, doing) = (At { rank: 0, action }, Doing::Exchange(1, 1));
            Err(Fault::CutElement { at, doing, buffer: Buffer::Output, offset, bytes, element: 4 })
        };
        assert_eq!(exchanged(&[(0, 4), (4, 2), (6, 2)]), cut(1, 4, 2));
        assert_eq!(exchanged(&[(2, 4), (0, 2), (6, 2)]), cut(0, 2, 4));
        assert_eq!(
            exchanged(&[(0, 6), (6, 2)]).unwrap_err().to_string(),
            "rank 0, action 0 (send to 1 and receive from 1) takes 6 bytes at offset 0 of its output, which cuts an \
             element of 4 bytes"
        );
    }
}
