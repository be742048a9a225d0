//! Contents of a buffer: runs of bytes with their sources.
//!
//! A rope: a balanced, immutable tree with runs as leaves, so that a message shares its data with
//! its source buffer. Cutting and joining take logarithmic time in the number of runs; neighbouring
//! runs that belong together are always one run, so that data which moves in one piece stays one
//! run.
//!
//! # Source
//! Boehm, Atkinson, Plass, "Ropes: an alternative to strings" (1995); joined and balanced by height
//! as in Blelloch, Ferizovic, Sun, "Just join for parallel ordered sets" (2016).

use std::rc::Rc;

/// Source of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ByteSource {
    /// From nowhere: nothing has been written there.
    Nothing,
    /// The operation's data.
    Data,
    /// In a reduction, this value.
    Value(u32),
}

/// Consecutive bytes of one source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ByteRun {
    pub(super) source: ByteSource,
    /// The number of the first of them in the operation's data.
    pub(super) start: u64,
    /// Number of bytes, at least 1.
    pub(super) bytes: u64,
}

impl ByteRun {
    fn joined(self, next: ByteRun) -> Option<ByteRun> {
        let together = self.source == next.source
            && (self.source == ByteSource::Nothing || self.start + self.bytes == next.start);
        together.then(|| ByteRun { bytes: self.bytes + next.bytes, ..self })
    }

    /// Without its first bytes.
    pub(super) fn from(self, offset: u64) -> ByteRun {
        let start = if self.source == ByteSource::Nothing { 0 } else { self.start + offset };
        ByteRun { start, bytes: self.bytes - offset, ..self }
    }
}

/// The bytes of a buffer or message, at least one.
#[derive(Clone, Debug)]
enum ContentNode {
    Leaf(ByteRun),
    Inner {
        bytes: u64,
        /// 1 more than the higher of both; they differ by at most 1.
        height: u8,
        /// True if all of it has been written, and if any of it has.
        all_written: bool,
        any_written: bool,
        left: Rc<ContentNode>,
        right: Rc<ContentNode>,
    },
}

impl ContentNode {
    fn bytes(&self) -> u64 {
        match self {
            ContentNode::Leaf(run) => run.bytes,
            ContentNode::Inner { bytes, .. } => *bytes,
        }
    }

    fn height(&self) -> u8 {
        match self {
            ContentNode::Leaf(_) => 0,
            ContentNode::Inner { height, .. } => *height,
        }
    }

    fn all_written(&self) -> bool {
        match self {
            ContentNode::Leaf(run) => run.source != ByteSource::Nothing,
            ContentNode::Inner { all_written, .. } => *all_written,
        }
    }

    fn any_written(&self) -> bool {
        match self {
            ContentNode::Leaf(run) => run.source != ByteSource::Nothing,
            ContentNode::Inner { any_written, .. } => *any_written,
        }
    }
}

/// The contents of a buffer, or of a message.
#[derive(Clone, Debug, Default)]
pub(super) struct Contents(Option<Rc<ContentNode>>);

impl Contents {
    /// One run, or none if it has no bytes.
    pub(super) fn of(run: ByteRun) -> Contents {
        Contents((run.bytes > 0).then(|| Rc::new(ContentNode::Leaf(run))))
    }

    /// A buffer into which nothing has been written.
    pub(super) fn nothing(bytes: u64) -> Contents {
        Contents::of(ByteRun { source: ByteSource::Nothing, start: 0, bytes })
    }

    /// The run that all of it is, if it is one.
    pub(super) fn as_run(&self) -> Option<ByteRun> {
        match self.0.as_deref() {
            Some(ContentNode::Leaf(run)) => Some(*run),
            _ => None,
        }
    }

    /// The first run.
    pub(super) fn first(&self) -> Option<ByteRun> {
        self.runs().next()
    }

    /// The runs in order; no two neighbours could be joined.
    pub(super) fn runs(&self) -> Runs<'_> {
        Runs { pending: self.0.as_deref().into_iter().collect() }
    }

    /// This followed by that.
    pub(super) fn then(self, next: Contents) -> Contents {
        let (Some(left), Some(right)) = (&self.0, &next.0) else {
            return Contents(self.0.or(next.0));
        };
        let (last, first) = (edge(left, ContentSide::Right), edge(right, ContentSide::Left));
        let Some(between) = last.joined(first) else { return Contents(Some(join(left, right))) };
        let (head, _) = self.split(left.bytes() - last.bytes);
        let (_, tail) = next.split(first.bytes);
        let mut all = Rc::new(ContentNode::Leaf(between));
        if let Some(head) = &head.0 {
            all = join(head, &all);
        }
        if let Some(tail) = &tail.0 {
            all = join(&all, tail);
        }
        Contents(Some(all))
    }

    /// The contents before this offset, and from there on.
    pub(super) fn split(&self, offset: u64) -> (Contents, Contents) {
        match &self.0 {
            None => (Contents(None), Contents(None)),
            Some(node) => {
                let (left, right) = split(node, offset);
                (Contents(left), Contents(right))
            }
        }
    }

    /// The bytes at these offsets.
    pub(super) fn part(&self, offset: u64, bytes: u64) -> Contents {
        self.split(offset).1.split(bytes).0
    }

    /// These contents with other bytes at and behind this offset.
    pub(super) fn with(&self, offset: u64, bytes: u64, part: Contents) -> Contents {
        let (before, rest) = self.split(offset);
        before.then(part).then(rest.split(bytes).1)
    }

    /// The offset of the first byte that has been written, or that has not.
    pub(super) fn find(&self, wanted: Wanted) -> Option<u64> {
        let holds_it = |node: &ContentNode| match wanted {
            Wanted::Written => node.any_written(),
            Wanted::NotWritten => !node.all_written(),
        };
        let mut node = self.0.as_deref().filter(|node| holds_it(node))?;
        let mut offset = 0;
        while let ContentNode::Inner { left, right, .. } = node {
            node = if holds_it(left) {
                left
            } else {
                offset += left.bytes();
                right
            };
        }
        Some(offset)
    }
}

/// Query of [`Contents::find`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    Written,
    NotWritten,
}

/// The runs of contents in order.
pub(super) struct Runs<'a> {
    pending: Vec<&'a ContentNode>,
}

impl Iterator for Runs<'_> {
    type Item = ByteRun;

    fn next(&mut self) -> Option<ByteRun> {
        loop {
            match self.pending.pop()? {
                ContentNode::Leaf(run) => return Some(*run),
                ContentNode::Inner { left, right, .. } => self.pending.extend([&**right, &**left]),
            }
        }
    }
}

#[derive(Clone, Copy)]
enum ContentSide {
    Left,
    Right,
}

/// The first or last run.
fn edge(node: &Rc<ContentNode>, side: ContentSide) -> ByteRun {
    let mut node = node;
    loop {
        node = match (&**node, side) {
            (ContentNode::Leaf(run), _) => return *run,
            (ContentNode::Inner { left, .. }, ContentSide::Left) => left,
            (ContentNode::Inner { right, .. }, ContentSide::Right) => right,
        };
    }
}

/// Both, whose heights differ by at most 1.
fn pair(left: &Rc<ContentNode>, right: &Rc<ContentNode>) -> Rc<ContentNode> {
    Rc::new(ContentNode::Inner {
        bytes: left.bytes() + right.bytes(),
        height: 1 + left.height().max(right.height()),
        all_written: left.all_written() && right.all_written(),
        any_written: left.any_written() || right.any_written(),
        left: Rc::clone(left),
        right: Rc::clone(right),
    })
}

/// Both, of whatever heights. At most 1 higher than the higher of them.
///
/// # Complexity
/// O(d), and no deeper recursion, for heights that differ by d; no height exceeds 92, since there
/// are at most 2^64 bytes.
fn join(left: &Rc<ContentNode>, right: &Rc<ContentNode>) -> Rc<ContentNode> {
    match (&**left, &**right) {
        (ContentNode::Inner { left: outer, right: inner, .. }, _)
            if left.height() > right.height() + 1 =>
        {
            let inner = join(inner, right);
            match &*inner {
                ContentNode::Inner { left: near, right: far, .. }
                    if inner.height() > outer.height() + 1 =>
                {
                    match &**near {
                        ContentNode::Inner { left: a, right: b, .. }
                            if near.height() > far.height() =>
                        {
                            pair(&pair(outer, a), &pair(b, far))
                        }
                        _ => pair(&pair(outer, near), far),
                    }
                }
                _ => pair(outer, &inner),
            }
        }
        (_, ContentNode::Inner { left: inner, right: outer, .. })
            if right.height() > left.height() + 1 =>
        {
            let inner = join(left, inner);
            match &*inner {
                ContentNode::Inner { left: far, right: near, .. }
                    if inner.height() > outer.height() + 1 =>
                {
                    match &**near {
                        ContentNode::Inner { left: a, right: b, .. }
                            if near.height() > far.height() =>
                        {
                            pair(&pair(far, a), &pair(b, outer))
                        }
                        _ => pair(far, &pair(near, outer)),
                    }
                }
                _ => pair(&inner, outer),
            }
        }
        _ => pair(left, right),
    }
}

/// The contents before this offset, and from there on.
///
/// # Complexity
/// O(h), and no deeper recursion, for height h.
fn split(
    node: &Rc<ContentNode>,
    offset: u64,
) -> (Option<Rc<ContentNode>>, Option<Rc<ContentNode>>) {
    if offset == 0 {
        return (None, Some(Rc::clone(node)));
    }
    if offset >= node.bytes() {
        return (Some(Rc::clone(node)), None);
    }
    match &**node {
        ContentNode::Leaf(run) => {
            let before = ByteRun { bytes: offset, ..*run };
            (
                Some(Rc::new(ContentNode::Leaf(before))),
                Some(Rc::new(ContentNode::Leaf(run.from(offset)))),
            )
        }
        ContentNode::Inner { left, right, .. } if offset < left.bytes() => {
            let (before, after) = split(left, offset);
            (before, Some(after.map_or_else(|| Rc::clone(right), |after| join(&after, right))))
        }
        ContentNode::Inner { left, right, .. } => {
            let (before, after) = split(right, offset - left.bytes());
            (Some(before.map_or_else(|| Rc::clone(left), |before| join(left, &before))), after)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(source: ByteSource, start: u64, bytes: u64) -> Contents {
        Contents::of(ByteRun { source, start, bytes })
    }

    /// Checks heights and sums, and gives the height.
    fn check(node: &ContentNode) -> u8 {
        let ContentNode::Inner { bytes, height, left, right, .. } = node else { return 0 };
        let heights = (check(left), check(right));
        assert!(heights.0.abs_diff(heights.1) <= 1);
        assert_eq!(*height, 1 + heights.0.max(heights.1));
        assert_eq!(*bytes, left.bytes() + right.bytes());
        *height
    }

    fn bytes_of(contents: &Contents) -> Vec<Option<u64>> {
        let bytes = |run: ByteRun| {
            (0..run.bytes).map(move |at| (run.source == ByteSource::Data).then_some(run.start + at))
        };
        contents.runs().flat_map(bytes).collect()
    }

    proptest! {
        #[test]
        fn writing_and_reading_is_as_with_a_list_of_bytes(
            writes in proptest::collection::vec((0..90_u64, 1..10_u64, 0..99_u64, 0..90_u64), 0..60),
        ) {
            let (mut contents, mut list) = (Contents::nothing(100), vec![None; 100]);
            for (offset, bytes, start, from) in writes {
                let places = offset as usize..(offset + bytes) as usize;
                let (part, values): (_, Vec<Option<u64>>) = if start % 3 == 0 {
                    let read = from as usize..(from + bytes) as usize;
                    (contents.part(from, bytes), list[read].to_vec())
                } else {
                    (run(ByteSource::Data, start, bytes), (start..start + bytes).map(Some).collect())
                };
                contents = contents.with(offset, bytes, part);
                list[places].copy_from_slice(&values);
                prop_assert_eq!(&bytes_of(&contents), &list);
                check(contents.0.as_ref().unwrap());
                let runs: Vec<ByteRun> = contents.runs().collect();
                prop_assert!(runs.windows(2).all(|pair| pair[0].joined(pair[1]).is_none()));
                let find = |is: fn(&Option<u64>) -> bool| list.iter().position(is).map(|at| at as u64);
                prop_assert_eq!(contents.find(Wanted::Written), find(Option::is_some));
                prop_assert_eq!(contents.find(Wanted::NotWritten), find(Option::is_none));
            }
        }
    }

    #[test]
    fn doubling_sixty_times_is_quick() {
        let mut contents = run(ByteSource::Data, 5, 1).then(run(ByteSource::Data, 3, 1));
        for _ in 0..60 {
            contents = contents.clone().then(contents);
        }
        let last = contents.part((1 << 61) - 1, 1).as_run().unwrap();
        assert_eq!((last.start, last.bytes), (3, 1));
    }
}
