//! The schedule of a tree.
//!
//! Every rank's segment holds the blocks of its subtree: in rank order where these are
//! consecutive, in the order in which they arrive otherwise. A gather's leaf sends straight from its
//! input, and the root receives straight into its output; scatter mirrors that. Where there is no
//! data, nothing is sent.
//!
//! With several ports, costs decide which port does what: as in the completion time of the tree
//! ([`tuwtree_model::completion`]), and in a scatter the same backwards in time.
//!
//! # Source
//! OPT Definitions 1 to 3, sections 2.5 (scatter) and 2.6, Theorem 4 (broadcast, reduction).

use crate::action::{Action, Arrival, Buffer, Deed, Piece, Receive, Region, Send};
use crate::program::{Programs, TooManyActions};
use crate::schedule::{Schedule, ScheduleError, Task};
use tuwtree_model::{
    BlockSizes, ClosedSet, Collective, Completion, Operation, Operator, Order, Payload, Ports,
    Problem, Rank, StatedCosts, Step, TimeError, Tree, completion,
};

/// A tree that has no schedule.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OfTreeError {
    /// The payload is for another number of ranks.
    #[error("the tree has {tree} processes, the problem {payload}")]
    Ranks {
        /// Ranks of the tree.
        tree: usize,
        /// Ranks of the payload.
        payload: usize,
    },
    /// The task is wrong.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The tree is too large.
    #[error(transparent)]
    Size(#[from] TooManyActions),
    /// Several ports for one vector.
    #[error("{} with {ports} ports; only gather and scatter go along trees with several", operation.name())]
    Ports {
        /// The operation that is performed.
        operation: Operation,
        /// The number of ports.
        ports: Ports,
    },
    /// A time on which the choice of ports depends cannot be stated.
    #[error(transparent)]
    Time(#[from] TimeError),
}

impl Schedule {
    /// The schedule of a tree for this problem, on its ports. It promises the order that the tree keeps
    /// ([`Order::of`]), names the problem's costs, and at these completes when the tree does. The tree's
    /// own root counts.
    ///
    /// # Errors
    /// [`OfTreeError`]: among others an operation without a root, several ports for a broadcast or a
    /// reduction, and times that cannot be stated, if the choice of ports depends on them.
    ///
    /// # Complexity
    /// O(p log k) time for k ports, O(p) space.
    ///
    /// # Source
    /// `docs/ports.md`.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{BlockSizes, Homogeneous, Ports, Problem, Step, Tree};
    /// use tuwtree_schedule::Schedule;
    /// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
    /// let tree = Tree::new(3, 1, &steps).unwrap();
    /// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
    /// let problem = Problem::gather(&sizes, Homogeneous::new(1.0, 1.0, 1.0).unwrap()).unwrap();
    /// let ports = |problem: &Problem| {
    ///     let schedule = Schedule::of_tree(&tree, problem).unwrap();
    ///     schedule.programs().actions(1).map(|action| action.port).collect::<Vec<_>>()
    /// };
    /// assert_eq!(ports(&problem), [0, 0, 0]);
    /// // Until 3 from 0; until 1 the copy, and then from 2.
    /// assert_eq!(ports(&problem.with_ports(Ports::new(2).unwrap())), [0, 1, 1]);
    /// ```
    pub fn of_tree(tree: &Tree, problem: &Problem) -> Result<Schedule, OfTreeError> {
        let ports = problem.ports();
        let costs = Some(problem.stated_costs().clone());
        let mut task = one_ported_task(tree, problem.collective(), costs)?;
        if ports == Ports::ONE {
            return on_one_port(tree, task);
        }
        task.ports = ports.get();
        let operation = problem.operation();
        let Some(sizes) = problem.blocks() else {
            return Err(OfTreeError::Ports { operation, ports });
        };
        let dealt = completion(tree, problem)?;
        let (segments, programs) = match operation.is_outward() {
            false => TreeBlocks::new(tree, sizes, operation, Some(&dealt)).programs()?,
            true => {
                let listed = with_copies_listed_late(tree, &dealt);
                task.order = Order::of(&listed, operation);
                TreeBlocks::new(&listed, sizes, operation, Some(&dealt)).programs()?
            }
        };
        Ok(Schedule::new(task, segments, programs)?)
    }

    /// The schedule of a tree with one port, whatever the costs.
    ///
    /// # Errors
    /// [`OfTreeError`].
    ///
    /// # Complexity
    /// O(p) time and space.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{BlockSizes, Collective, Step, Tree};
    /// use tuwtree_schedule::{Buffer, Deed, Schedule};
    /// // 1 <- 0, then its own block, then 1 <- 2.
    /// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
    /// let tree = Tree::new(3, 1, &steps).unwrap();
    /// let sizes = BlockSizes::new([2, 1, 4]).unwrap();
    /// let schedule = Schedule::without_costs(&tree, &Collective::gather(&sizes)).unwrap();
    /// let last = schedule.programs().actions(1).last().unwrap();
    /// let Deed::Receive(receive) = last.deed else { unreachable!() };
    /// assert_eq!((receive.from, receive.into.buffer), (2, Buffer::Output));
    /// assert_eq!((receive.into.pieces[0].offset, receive.into.bytes()), (3, 4));
    /// ```
    pub fn without_costs(tree: &Tree, collective: &Collective) -> Result<Schedule, OfTreeError> {
        on_one_port(tree, one_ported_task(tree, collective, None)?)
    }
}

/// The schedule of a tree for a task with one port.
fn on_one_port(tree: &Tree, task: Task) -> Result<Schedule, OfTreeError> {
    let operation = task.operation;
    let (segments, programs) = match &task.payload {
        Payload::Blocks(sizes) => TreeBlocks::new(tree, sizes, operation, None).programs()?,
        Payload::Vector(vector) => vector_programs(tree, operation, vector.bytes)?,
        Payload::Messages(_) | Payload::Groups(_) => {
            return Err(ScheduleError::Rootless { operation }.into());
        }
    };
    Ok(Schedule::new(task, segments, programs)?)
}

/// The tree with its copies as early, and thus a scatter's as late, as each port's order allows.
///
/// In a schedule, what reads from the segment waits for all copies that are listed before it, though
/// a scatter's sends need nothing that a copy writes. Only at the root do they read from elsewhere.
fn with_copies_listed_late(tree: &Tree, dealt: &Completion) -> Tree {
    let mut steps = Vec::with_capacity(2 * tree.ranks());
    for rank in 0..tree.ranks() {
        let mut own: Vec<Step> = tree.steps(rank).collect();
        let copy = own.iter().position(|&step| step == Step::Copy);
        if let Some(copy) = copy.filter(|_| rank != tree.root()) {
            let waits_for_copy = |step: &Step| match *step {
                Step::Copy => false,
                Step::Receive(child) => dealt.port[child] != dealt.copy_port[rank],
            };
            // Stable: each port keeps its order.
            own[..=copy].sort_by_key(waits_for_copy);
        }
        steps.extend(own.into_iter().map(|step| (rank, step)));
    }
    Tree::new(tree.ranks(), tree.root(), &steps).expect("the steps of a tree in another order")
}

/// Task of a tree's schedule.
///
/// # Errors
/// [`OfTreeError::Ranks`].
fn one_ported_task(
    tree: &Tree,
    collective: &Collective,
    costs: Option<StatedCosts>,
) -> Result<Task, OfTreeError> {
    let task = Task {
        operation: collective.operation(),
        root: Some(tree.root()),
        payload: collective.payload().clone(),
        displacements: None,
        order: Order::of(tree, collective.operation()),
        ports: 1,
        duplex: false,
        costs,
        operator: Operator::FREE,
    };
    if task.ranks() != tree.ranks() {
        let (tree, payload) = (tree.ranks(), task.ranks());
        return Err(OfTreeError::Ranks { tree, payload });
    }
    Ok(task)
}

/// A gather or scatter tree with the place of every block in every segment.
struct TreeBlocks<'a> {
    tree: &'a Tree,
    sizes: &'a BlockSizes,
    operation: Operation,
    /// `p` entries: the size of each subtree in bytes.
    segment: Vec<u64>,
    /// `p` entries: where each rank's segment starts in its parent's.
    offset: Vec<u64>,
    /// `p` entries: where each rank's own block lies in its segment.
    own: Vec<u64>,
    /// The blocks of each child of the root in the order of its segment; empty for others, and
    /// where that is one run of ranks.
    scattered: Vec<Vec<Rank>>,
    /// The ports that do what; without, everything is done by the first.
    dealt: Option<&'a Completion>,
}

impl<'a> TreeBlocks<'a> {
    fn new(
        tree: &'a Tree,
        sizes: &'a BlockSizes,
        operation: Operation,
        dealt: Option<&'a Completion>,
    ) -> TreeBlocks<'a> {
        let ranks = tree.ranks();
        let mut segment: Vec<u64> = sizes.iter().collect();
        let mut span: Vec<(Rank, Rank, usize)> = (0..ranks).map(|rank| (rank, rank, 1)).collect();
        for rank in tree.top_down().into_iter().rev() {
            if let Some(parent) = tree.parent(rank) {
                segment[parent] += segment[rank];
                let (first, last, count) = span[rank];
                let total = &mut span[parent];
                *total = (total.0.min(first), total.1.max(last), total.2 + count);
            }
        }
        let mut blocks = TreeBlocks {
            tree,
            sizes,
            operation,
            segment,
            offset: vec![0; ranks],
            own: vec![0; ranks],
            scattered: vec![Vec::new(); ranks],
            dealt,
        };
        let consecutive = |rank: Rank| span[rank].1 - span[rank].0 + 1 == span[rank].2;
        // A segment is in rank order if it and all segments below it are consecutive.
        let mut in_rank_order = vec![true; ranks];
        for rank in tree.top_down().into_iter().rev() {
            in_rank_order[rank] &= consecutive(rank);
            if let Some(parent) = tree.parent(rank)
                && !in_rank_order[rank]
            {
                in_rank_order[parent] = false;
            }
        }
        let first = |rank: Rank| span[rank].0;
        for (rank, &in_rank_order) in in_rank_order.iter().enumerate() {
            if in_rank_order {
                blocks.place_by_rank(rank, first);
            } else {
                blocks.place_by_arrival(rank);
            }
        }
        for child in tree.children(tree.root()) {
            if !in_rank_order[child] {
                blocks.scattered[child] = blocks.in_segment_order(child);
            }
        }
        // The root's output is in rank order, whatever its segment would be.
        let root = tree.root();
        blocks.own[root] = sizes.before(root);
        for child in tree.children(root) {
            blocks.offset[child] = sizes.before(first(child));
        }
        blocks
    }

    fn place_by_rank(&mut self, rank: Rank, first: impl Fn(Rank) -> Rank) {
        let start = self.sizes.before(first(rank));
        self.own[rank] = self.sizes.before(rank) - start;
        for child in self.tree.children(rank) {
            self.offset[child] = self.sizes.before(first(child)) - start;
        }
    }

    fn place_by_arrival(&mut self, rank: Rank) {
        let mut end = 0;
        for step in self.tree.steps(rank) {
            match step {
                Step::Copy => {
                    self.own[rank] = end;
                    end += self.sizes.block(rank);
                }
                Step::Receive(child) => {
                    self.offset[child] = end;
                    end += self.segment[child];
                }
            }
        }
    }

    /// The blocks of a subtree in the order of its segment, by their places in it.
    fn in_segment_order(&self, top: Rank) -> Vec<Rank> {
        let mut places = Vec::new();
        let mut pending = vec![(top, 0)];
        while let Some((rank, start)) = pending.pop() {
            places.push((start + self.own[rank], rank));
            for child in self.tree.children(rank) {
                pending.push((child, start + self.offset[child]));
            }
        }
        places.retain(|&(_, rank)| self.sizes.block(rank) > 0);
        places.sort_unstable();
        places.into_iter().map(|(_, rank)| rank).collect()
    }

    /// The pieces of the root's blocks that a message between it and this child is made of.
    fn at_root(&self, child: Rank) -> Vec<Piece> {
        let mut pieces: Vec<Piece> = Vec::new();
        if self.scattered[child].is_empty() {
            pieces.push(Piece { offset: self.offset[child], bytes: self.segment[child] });
        }
        for &rank in &self.scattered[child] {
            let block = Piece { offset: self.sizes.before(rank), bytes: self.sizes.block(rank) };
            match pieces.last_mut() {
                Some(last) if last.end() == block.offset => last.bytes += block.bytes,
                _ => pieces.push(block),
            }
        }
        pieces
    }

    fn programs(&self) -> Result<(Vec<u64>, Programs), TooManyActions> {
        let mut segments = vec![0; self.tree.ranks()];
        let mut programs = Programs::new();
        for (rank, segment) in segments.iter_mut().enumerate() {
            if rank != self.tree.root() && self.tree.degree(rank) > 0 {
                *segment = self.segment[rank];
            }
            match self.operation.is_outward() {
                false => self.push_gather(rank, &mut programs)?,
                true => self.push_scatter(rank, &mut programs)?,
            }
            programs.end_rank();
        }
        Ok((segments, programs))
    }

    fn push_gather(&self, rank: Rank, programs: &mut Programs) -> Result<(), TooManyActions> {
        let held = if rank == self.tree.root() { Buffer::Output } else { Buffer::Segment };
        let own = Piece { offset: 0, bytes: self.sizes.block(rank) };
        for step in self.tree.steps(rank) {
            match step {
                Step::Copy if own.bytes > 0 => {
                    let deed = Deed::Copy {
                        from: Region { buffer: Buffer::Input, pieces: &[own] },
                        into: Region {
                            buffer: held,
                            pieces: &[Piece { offset: self.own[rank], bytes: own.bytes }],
                        },
                        arrival: Arrival::Store,
                    };
                    programs.push(&Action { port: self.port(rank, step), deed })?;
                }
                Step::Receive(child) if self.segment[child] > 0 => {
                    let into = Region { buffer: held, pieces: &self.place_of(child, rank) };
                    let Action { deed, .. } = receive(child, into, Arrival::Store);
                    programs.push(&Action { port: self.port(rank, step), deed })?;
                }
                Step::Copy | Step::Receive(_) => {}
            }
        }
        match self.tree.parent(rank) {
            Some(parent) if self.segment[rank] > 0 => {
                let is_leaf = self.tree.degree(rank) == 0;
                let buffer = if is_leaf { Buffer::Input } else { Buffer::Segment };
                let whole = Piece { offset: 0, bytes: self.segment[rank] };
                programs.push(&send(parent, Region { buffer, pieces: &[whole] }))
            }
            _ => Ok(()),
        }
    }

    fn push_scatter(&self, rank: Rank, programs: &mut Programs) -> Result<(), TooManyActions> {
        let held = if rank == self.tree.root() { Buffer::Input } else { Buffer::Segment };
        match self.tree.parent(rank) {
            Some(parent) if self.segment[rank] > 0 => {
                let is_leaf = self.tree.degree(rank) == 0;
                let buffer = if is_leaf { Buffer::Output } else { Buffer::Segment };
                let whole = Piece { offset: 0, bytes: self.segment[rank] };
                programs.push(&receive(
                    parent,
                    Region { buffer, pieces: &[whole] },
                    Arrival::Store,
                ))?;
            }
            _ => {}
        }
        let own = Piece { offset: 0, bytes: self.sizes.block(rank) };
        for step in self.tree.steps(rank).rev() {
            match step {
                Step::Copy if own.bytes > 0 => {
                    let deed = Deed::Copy {
                        from: Region {
                            buffer: held,
                            pieces: &[Piece { offset: self.own[rank], bytes: own.bytes }],
                        },
                        into: Region { buffer: Buffer::Output, pieces: &[own] },
                        arrival: Arrival::Store,
                    };
                    programs.push(&Action { port: self.port(rank, step), deed })?;
                }
                Step::Receive(child) if self.segment[child] > 0 => {
                    let from = Region { buffer: held, pieces: &self.place_of(child, rank) };
                    let Action { deed, .. } = send(child, from);
                    programs.push(&Action { port: self.port(rank, step), deed })?;
                }
                Step::Copy | Step::Receive(_) => {}
            }
        }
        Ok(())
    }

    /// The port of `rank` that does this step.
    fn port(&self, rank: Rank, step: Step) -> u16 {
        match (self.dealt, step) {
            (None, _) => 0,
            (Some(dealt), Step::Copy) => dealt.copy_port[rank],
            (Some(dealt), Step::Receive(child)) => dealt.port[child],
        }
    }

    /// Position of a child's segment in its parent's data.
    fn place_of(&self, child: Rank, parent: Rank) -> Vec<Piece> {
        if parent == self.tree.root() {
            return self.at_root(child);
        }
        vec![Piece { offset: self.offset[child], bytes: self.segment[child] }]
    }
}

/// The programs of a broadcast or reduction: the whole vector along every edge.
fn vector_programs(
    tree: &Tree,
    operation: Operation,
    bytes: u64,
) -> Result<(Vec<u64>, Programs), TooManyActions> {
    let mut segments = vec![0; tree.ranks()];
    let mut programs = Programs::new();
    let vector = [Piece { offset: 0, bytes }];
    let region = |buffer| Region { buffer, pieces: &vector };
    for (rank, segment) in segments.iter_mut().enumerate() {
        let parent = tree.parent(rank);
        if operation == Operation::Broadcast && bytes > 0 {
            if let Some(parent) = parent {
                programs.push(&receive(parent, region(Buffer::Output), Arrival::Store))?;
            }
            for child in tree.children(rank).rev() {
                programs.push(&send(child, region(Buffer::Output)))?;
            }
        } else if bytes > 0 {
            let is_leaf = tree.degree(rank) == 0;
            let held = match parent {
                None => Buffer::Output,
                Some(_) if is_leaf => Buffer::Input,
                Some(_) => {
                    *segment = bytes;
                    Buffer::Segment
                }
            };
            for child in tree.children(rank) {
                let side = if child < rank { Arrival::CombineLeft } else { Arrival::CombineRight };
                programs.push(&receive(child, region(held), side))?;
            }
            if let Some(parent) = parent {
                programs.push(&send(parent, region(held)))?;
            }
        }
        programs.end_rank();
    }
    Ok((segments, programs))
}

fn one_ported(deed: Deed<'_>) -> Action<'_> {
    Action { port: 0, deed }
}

fn send(to: Rank, from: Region<'_>) -> Action<'_> {
    one_ported(Deed::Send(Send { to, tag: 0, from }))
}

fn receive(from: Rank, into: Region<'_>, arrival: Arrival) -> Action<'_> {
    one_ported(Deed::Receive(Receive { from, tag: 0, into, arrival }))
}

/// The tree along which a schedule moves its data, or `None` if it does so along none: if
/// processes exchange messages, or have others than one towards the root, or there is no root.
///
/// Processes without messages, because there is nothing to send, are leaves below the root.
///
/// # Complexity
/// O(n) for n actions.
pub fn tree_of(schedule: &Schedule) -> Option<Tree> {
    let task = schedule.task();
    let root = task.root?;
    let outward = task.operation.is_outward();
    let mut steps: Vec<Vec<Step>> = vec![Vec::new(); schedule.ranks()];
    let mut has_parent = vec![false; schedule.ranks()];
    for (rank, steps) in steps.iter_mut().enumerate() {
        for action in schedule.programs().actions(rank) {
            match (action.deed, outward) {
                (Deed::Exchange(..), _) => return None,
                (Deed::Copy { .. }, _) => steps.push(Step::Copy),
                (Deed::Send(send), true) => steps.push(Step::Receive(send.to)),
                (Deed::Receive(receive), false) => steps.push(Step::Receive(receive.from)),
                (Deed::Send(_), false) | (Deed::Receive(_), true) => {
                    if std::mem::replace(&mut has_parent[rank], true) {
                        return None;
                    }
                }
            }
        }
        if outward {
            steps.reverse();
        }
    }
    for (rank, has_parent) in has_parent.into_iter().enumerate() {
        if rank != root && !has_parent {
            steps[root].push(Step::Receive(rank));
        }
    }
    let mut all = Vec::with_capacity(2 * schedule.ranks());
    for (rank, mut steps) in steps.into_iter().enumerate() {
        let is_inner = steps.iter().any(|step| matches!(step, Step::Receive(_)));
        match (is_inner, steps.contains(&Step::Copy)) {
            // Broadcasts and reductions copy nothing, and neither does who has an empty block.
            (true, false) => steps.insert(0, Step::Copy),
            (false, _) => steps.clear(),
            (true, true) => {}
        }
        all.extend(steps.into_iter().map(|step| (rank, step)));
    }
    Tree::new(schedule.ranks(), root, &all).ok()
}
