//! Tree documents from JSON.

use crate::error::FileError;
use crate::json::{self, DocumentKind};
use crate::limits::LARGEST_TREE;
use crate::source::Source;
use std::io::BufRead;
use tuwtree_model::document::TreeDocument;
use tuwtree_model::{Rank, Step, Tree};

const KIND: DocumentKind = DocumentKind {
    name: "a tree document",
    format: TreeDocument::FORMAT,
    version: TreeDocument::VERSION,
};

/// The tree document in a file or on standard input.
///
/// # Errors
/// [`FileError::Content`] with the source's name, the fault and its place.
pub fn read(source: &Source) -> Result<TreeDocument, FileError> {
    parse(source.stream(LARGEST_TREE)?).map_err(|error| source.failure(&error))
}

/// The tree document in a stream, or the tree of a list of parents.
///
/// # Errors
/// The fault and its place.
pub(crate) fn parse(mut stream: impl BufRead) -> Result<TreeDocument, String> {
    let start = stream.fill_buf().map_err(|error| error.to_string())?;
    let start = start.trim_ascii_start().strip_prefix(b"{").map(<[u8]>::trim_ascii_start);
    match start.is_some_and(|start| start.starts_with(b"\"parents\"")) {
        true => Ok(TreeDocument { tree: of_parents(&json::value(stream)?)?, problem: None }),
        false => json::document(KIND, stream),
    }
}

/// A tree as other programs have it.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Parents {
    /// Parent of each rank; -1 or null for the root.
    parents: Vec<Option<i64>>,
}

/// The tree in which each rank has its own block first, and then receives from its children by their ranks.
fn of_parents(Parents { parents }: &Parents) -> Result<Tree, String> {
    let parents: Vec<i64> = parents.iter().map(|parent| parent.unwrap_or(-1)).collect();
    let ranks = parents.len();
    let roots: Vec<Rank> = (0..ranks).filter(|&rank| parents[rank] == -1).collect();
    let [root] = roots[..] else {
        return Err(format!(
            "\"parents\" has {} entries of -1, and needs one, the root's",
            roots.len()
        ));
    };
    let mut children = vec![Vec::new(); ranks];
    for (rank, &parent) in parents.iter().enumerate().filter(|&(rank, _)| rank != root) {
        let of_parent = usize::try_from(parent).ok().and_then(|parent| children.get_mut(parent));
        let fault = || format!("the parent of rank {rank} is {parent}, and not of 0..{ranks}");
        of_parent.ok_or_else(fault)?.push(rank);
    }
    let steps = children.iter().enumerate().filter(|(_, own)| !own.is_empty());
    let steps = steps.flat_map(|(rank, own)| {
        let receives = own.iter().map(move |&child| (rank, Step::Receive(child)));
        std::iter::once((rank, Step::Copy)).chain(receives)
    });
    Tree::new(ranks, root, &steps.collect::<Vec<_>>())
        .map_err(|error| format!("not a tree: {error}"))
}
