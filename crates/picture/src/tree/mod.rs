//! A tree as a picture: boxes are processes, lines are messages.
//!
//! A line is as wide as its message is large. Trees of any size fit: parts without space are summed
//! up in subtrees and runs of siblings that state their numbers of processes and bytes.

mod layout;
pub(crate) mod legend;
mod outline;

use crate::frame::{
    MARGIN, PictureStyle, SMALL, TEXT, draw_title, open_picture, prefix, title_height,
};
use crate::labels::{self, Unit};
use crate::messages::{ParentMessage, Performance, direction};
use crate::palette::Colouring;
use crate::svg::{Px, Xml};
use layout::{Area, BOX, boxes};
use legend::Legend;
use outline::{Item, OutlineNode, Room, TreeOutline};
use tuwtree_model::{ClosedSet, Operation, Rank, Time, Tree, quantity};

/// A picture of a tree.
#[derive(Clone, Copy, Debug)]
pub struct TreePicture<'a> {
    tree: &'a Tree,
    performance: Option<Performance<'a>>,
    heading: &'a str,
    colouring: Colouring,
    room: Room,
}

/// The most that the line of the largest message is wide.
const WIDEST_EDGE: f64 = 14.0;
/// The most that all lines to the children of a rank are wide, one beside the other.
const WIDEST_FAN: f64 = 60.0;
/// The width of the triangle of a subtree.
const WEDGE: f64 = 22.0;
/// No picture is narrower, so that its title fits.
const LEAST_WIDTH: f64 = 640.0;

impl<'a> TreePicture<'a> {
    /// The fewest rows that a picture may have.
    pub const LEAST_ROWS: usize = outline::LEAST_ROWS;

    /// A picture of this tree with at most 64 rows, 12 levels deep, coloured by the critical path;
    /// without times if there is no performance. The performance is of a schedule along this tree.
    pub fn new(tree: &'a Tree, performance: Option<Performance<'a>>) -> TreePicture<'a> {
        TreePicture {
            tree,
            performance,
            heading: "",
            colouring: Colouring::default(),
            room: Room { rows: 64, depth: 12 },
        }
    }

    /// The picture with a name in front of its title.
    #[must_use]
    pub fn named(self, heading: &'a str) -> TreePicture<'a> {
        TreePicture { heading, ..self }
    }

    /// The picture with its edges coloured by this.
    #[must_use]
    pub fn coloured(self, colouring: Colouring) -> TreePicture<'a> {
        TreePicture { colouring, ..self }
    }

    /// The picture with at most this many rows, at least [`LEAST_ROWS`](Self::LEAST_ROWS), and
    /// single processes at most `depth` messages, at least 1, away from the root.
    #[must_use]
    pub fn within(self, rows: usize, depth: usize) -> TreePicture<'a> {
        TreePicture { room: Room { rows: rows.max(Self::LEAST_ROWS), depth: depth.max(1) }, ..self }
    }

    /// The picture as SVG.
    ///
    /// # Complexity
    /// O(p log p) for p processes; the text's length is bounded by the rows and the depth.
    ///
    /// # Example
    /// ```
    /// use tuwtree_model::{Step, Tree};
    /// use tuwtree_picture::TreePicture;
    /// let steps = [(1, Step::Receive(0)), (1, Step::Copy), (1, Step::Receive(2))];
    /// let tree = Tree::new(3, 1, &steps).unwrap();
    /// assert!(TreePicture::new(&tree, None).svg().starts_with("<svg"));
    /// ```
    pub fn svg(&self) -> String {
        self.drawn(PictureStyle::Alone)
    }

    pub(crate) fn drawn(&self, setting: PictureStyle) -> String {
        let messages = self.performance.map(|performance| performance.messages(self.tree));
        let messages = messages.unwrap_or_default();
        let shape = TreeOutline::new(self.tree, &messages, self.operation().is_outward());
        let items = shape.items(self.room);
        let end = self.performance.map_or(Time::ZERO, |one| one.timeline.completion_time());
        let drawing = TreeCanvas {
            picture: self,
            shape: &shape,
            messages: &messages,
            end: end.units(),
            largest: messages.iter().flatten().map(|message| message.bytes).max().unwrap_or(0),
            widest_edge: WIDEST_EDGE,
            setting,
        };
        let widest_edge = drawing.widest_edge_for(&items);
        TreeCanvas { widest_edge, ..drawing }.draw(&items)
    }

    fn unit(&self) -> Unit {
        self.performance.map_or(Unit::Alpha, |one| one.costs.unit())
    }

    fn operation(&self) -> Operation {
        self.performance.map_or(Operation::Gather, |one| one.schedule.task().operation)
    }

    /// The title's lines.
    pub(crate) fn title(&self) -> (String, Vec<String>) {
        let ranks = labels::ranks(self.tree.ranks());
        let root = self.tree.root();
        let Some(Performance { schedule, timeline, costs }) = self.performance else {
            let title = format!("{}tree over {ranks}, root {root}", prefix(self.heading));
            return (
                title,
                vec!["children from top to bottom in the order of their messages".into()],
            );
        };
        let task = schedule.task();
        let operation = task.operation;
        let title = format!(
            "{}{} over {ranks}, root {root}, order {}",
            prefix(self.heading),
            operation.name(),
            task.order.name()
        );
        let what = format!(
            "{}; completion time {}; {}{}",
            quantity::bytes(task.total()),
            costs.unit().time(timeline.completion_time()),
            costs,
            match task.ports {
                1 => String::new(),
                ports => format!("; {ports} ports"),
            }
        );
        let how = format!(
            "messages go from {}; children from top to bottom in the order of their messages",
            direction(operation)
        );
        (title, vec![what, how])
    }
}

/// A picture being drawn.
struct TreeCanvas<'a> {
    picture: &'a TreePicture<'a>,
    shape: &'a TreeOutline<'a>,
    /// An entry for each rank, or none at all.
    messages: &'a [Option<ParentMessage>],
    /// The completion time, the unit of waits.
    end: f64,
    /// The largest message's size in bytes.
    largest: u64,
    /// The width of its line.
    widest_edge: f64,
    setting: PictureStyle,
}

/// The messages between an item and its parent, summed up.
#[derive(Clone, Copy, Debug, Default)]
struct Bundle {
    messages: usize,
    bytes: u64,
    start: Time,
    end: Time,
    parent_waits: Time,
    child_waits: Time,
    is_critical: bool,
}

/// An item with its places.
struct Placed<'a> {
    item: &'a Item,
    /// The box with its rank.
    area: Area,
    bundle: Option<Bundle>,
    /// The text beside the box, or below it if there are children.
    label: String,
}

impl TreeCanvas<'_> {
    fn draw(&self, items: &[Item]) -> String {
        let (title, lines) = self.picture.title();
        // A page has its own title.
        let lines = if self.setting == PictureStyle::Alone { lines } else { Vec::new() };
        let legend = Legend::new(self, items);
        let head = match self.setting {
            PictureStyle::Alone => title_height(lines.len()),
            PictureStyle::InPage => MARGIN,
        };
        let placed = self.placed(items, head);
        let tree_width = placed.iter().map(Placed::right).fold(0.0, f64::max) + MARGIN;
        let text_width = lines.iter().map(|line| labels::width(line, TEXT)).fold(0.0, f64::max);
        let width = tree_width.max(text_width + 2.0 * MARGIN).max(LEAST_WIDTH).ceil();
        let bottom = placed.iter().map(Placed::bottom).fold(head, f64::max) + 16.0;
        let height = (bottom + legend.height(width - 2.0 * MARGIN) + MARGIN).ceil();
        let mut xml = Xml::default();
        open_picture(&mut xml, self.setting, &title, width, height, &self.class());
        if self.setting == PictureStyle::Alone {
            draw_title(&mut xml, &title, &lines, width);
        }
        for one in &placed {
            if let Some(parent) = one.item.parent {
                self.draw_edge(&mut xml, &placed[parent].area, one);
            }
        }
        for one in &placed {
            self.draw_item(&mut xml, one);
        }
        legend.draw(&mut xml, MARGIN, bottom, width - 2.0 * MARGIN);
        xml.close();
        xml.finish()
    }

    fn class(&self) -> String {
        match self.setting {
            PictureStyle::Alone => format!("picture by-{}", self.picture.colouring.name()),
            // The page chooses.
            PictureStyle::InPage => "picture".to_owned(),
        }
    }

    fn placed<'b>(&self, items: &'b [Item], top: f64) -> Vec<Placed<'b>> {
        let widest = items.iter().map(|item| labels::width(&name(&item.node), TEXT));
        let box_width = (widest.fold(0.0, f64::max) + 14.0).max(34.0);
        let (areas, _) = boxes(items, box_width, MARGIN, top);
        let place = |(item, area)| {
            let bundle = self.bundle(item);
            Placed { item, area, bundle, label: self.label(item, bundle) }
        };
        items.iter().zip(areas).map(place).collect()
    }

    fn bundle(&self, item: &Item) -> Option<Bundle> {
        let one = |rank: Rank| self.messages.get(rank).copied().flatten();
        let messages: Vec<ParentMessage> = match &item.node {
            OutlineNode::Rank(rank) | OutlineNode::Subtree(rank) => {
                one(*rank).into_iter().collect()
            }
            OutlineNode::Run(ranks) => ranks.iter().filter_map(|&rank| one(rank)).collect(),
        };
        let first = messages.first()?;
        let mut bundle = Bundle { start: first.start, ..Bundle::default() };
        for message in &messages {
            bundle.messages += 1;
            bundle.bytes += message.bytes;
            bundle.start = bundle.start.min(message.start);
            bundle.end = bundle.end.later(message.end);
            bundle.parent_waits = bundle.parent_waits.later(message.parent_waits);
            bundle.child_waits = bundle.child_waits.later(message.child_waits);
            bundle.is_critical |= message.is_critical;
        }
        Some(bundle)
    }

    /// The text at an item: how many processes, bytes, and when.
    fn label(&self, item: &Item, bundle: Option<Bundle>) -> String {
        let unit = self.picture.unit();
        let volume = match (item.parent, self.picture.performance) {
            (None, Some(performance)) => Some(quantity::bytes(performance.schedule.task().total())),
            (None, None) => None,
            (Some(_), Some(_)) => Some(quantity::bytes(bundle.map_or(0, |bundle| bundle.bytes))),
            (Some(_), None) => None,
        };
        if !item.children.is_empty() {
            return volume.unwrap_or_default();
        }
        let who = match &item.node {
            OutlineNode::Rank(_) => None,
            OutlineNode::Subtree(_) => Some(labels::ranks(item.ranks)),
            OutlineNode::Run(ranks) => Some(children(ranks, item.ranks)),
        };
        let when = bundle
            .map(|bundle| format!("{} to {}", unit.time(bundle.start), unit.time(bundle.end)));
        let parts: Vec<String> = [who, volume, when].into_iter().flatten().collect();
        parts.join(", ")
    }

    fn draw_edge(&self, xml: &mut Xml, parent: &Area, one: &Placed<'_>) {
        let (x1, y1) = (parent.right(), parent.middle());
        let (x2, y2) = (one.area.left, one.area.middle());
        let bend = (x2 - x1) / 2.0;
        let path = format!(
            "M{} {}C{} {} {} {} {} {}",
            Px(x1),
            Px(y1),
            Px(x1 + bend),
            Px(y1),
            Px(x2 - bend),
            Px(y2),
            Px(x2),
            Px(y2)
        );
        let width = Px(self.edge_width(one.bundle.map_or(0, |bundle| bundle.bytes)));
        let class = self.edge_class(&one.item.node, one.bundle);
        xml.titled(
            "path",
            &[("class", &class), ("d", &path), ("stroke-width", &width)],
            self.story(one),
        );
    }

    /// The width of the largest message's line with which no rank has more of them than fit.
    fn widest_edge_for(&self, items: &[Item]) -> f64 {
        let mut fans = vec![0.0; items.len()];
        for item in items {
            if let (Some(parent), Some(bundle)) = (item.parent, self.bundle(item)) {
                let share = bundle.bytes as f64 / self.largest.max(1) as f64;
                fans[parent] += share.min(1.0);
            }
        }
        let widest_fan = fans.into_iter().fold(1.0, f64::max);
        WIDEST_EDGE.min(WIDEST_FAN / widest_fan)
    }

    /// The width of an edge: in proportion to the bytes, but always to be seen.
    fn edge_width(&self, bytes: u64) -> f64 {
        let share = if self.largest == 0 { 0.0 } else { bytes as f64 / self.largest as f64 };
        (self.widest_edge * share.min(1.0)).max(1.0)
    }

    fn edge_class(&self, node: &OutlineNode, bundle: Option<Bundle>) -> String {
        let mut class = "edge".to_owned();
        if matches!(node, OutlineNode::Run(_)) {
            class.push_str(" run");
        }
        let Some(bundle) = bundle else { return class + " none" };
        if bundle.is_critical {
            class.push_str(" critical");
        }
        let waits = [("parent", bundle.parent_waits), ("child", bundle.child_waits)];
        let longest = waits.into_iter().max_by_key(|&(who, wait)| (wait, who == "parent"));
        if let Some((who, wait)) = longest
            && let Some(shade) = legend::wait_shade(wait.units(), self.end)
        {
            class += &format!(" {who}-waits-{shade}");
        }
        let typical = bundle.bytes / bundle.messages.max(1) as u64;
        class += &format!(" volume-{}", legend::volume_shade(typical, self.largest));
        class
    }

    fn draw_item(&self, xml: &mut Xml, one: &Placed<'_>) {
        let Placed { item, area, bundle, label } = one;
        let mut class = "item".to_owned();
        if item.parent.is_none() {
            class.push_str(" root");
        } else if bundle.is_some_and(|bundle| bundle.is_critical) {
            class.push_str(" critical");
        }
        xml.open("g", &[("class", &class)]);
        xml.text("title", &[], self.story(one));
        let (middle, mut text_left) = (area.middle(), area.right() + 6.0);
        match &item.node {
            OutlineNode::Rank(_) => {}
            OutlineNode::Subtree(_) => {
                let (tip, base) = (area.right(), area.right() + WEDGE);
                let points = format!(
                    "{},{} {},{} {},{}",
                    Px(tip),
                    Px(middle),
                    Px(base),
                    Px(middle - 8.0),
                    Px(base),
                    Px(middle + 8.0)
                );
                xml.empty("polygon", &[("class", &"wedge"), ("points", &points)]);
                text_left += WEDGE;
            }
            OutlineNode::Run(_) => {
                for shift in [4.0, 2.0] {
                    self.draw_box(
                        xml,
                        &Area { left: area.left + shift, top: area.top + shift - 2.0, ..*area },
                    );
                }
                text_left += 4.0;
            }
        }
        self.draw_box(xml, area);
        let centre = Px(area.left + area.width / 2.0);
        let attributes: &[(&str, &dyn std::fmt::Display)] =
            &[("class", &"name"), ("x", &centre), ("y", &Px(middle + 4.3))];
        xml.text("text", attributes, name(&item.node));
        if !label.is_empty() {
            match item.children.is_empty() {
                true => {
                    xml.text("text", &[("x", &Px(text_left)), ("y", &Px(middle + 4.3))], label);
                }
                false => {
                    let y = Px(area.bottom() + 11.0);
                    xml.text("text", &[("class", &"caption"), ("x", &centre), ("y", &y)], label);
                }
            }
        }
        xml.close();
    }

    fn draw_box(&self, xml: &mut Xml, area: &Area) {
        xml.empty(
            "rect",
            &[
                ("class", &"box"),
                ("x", &Px(area.left)),
                ("y", &Px(area.top)),
                ("width", &Px(area.width)),
                ("height", &Px(BOX)),
                ("rx", &4),
            ],
        );
    }

    /// Everything about an item in words.
    fn story(&self, one: &Placed<'_>) -> String {
        let (item, unit) = (one.item, self.picture.unit());
        let outward = self.picture.operation().is_outward();
        let who = match &item.node {
            OutlineNode::Rank(rank) if item.parent.is_none() => {
                format!("rank {rank}, the root")
            }
            OutlineNode::Rank(rank) => format!("rank {rank}"),
            OutlineNode::Subtree(rank) => {
                format!("rank {rank} and {} below it", item.ranks - 1)
            }
            OutlineNode::Run(ranks) => children(ranks, item.ranks),
        };
        let Some(bundle) = one.bundle else {
            return match (&item.node, self.picture.performance) {
                (_, Some(_)) if item.parent.is_some() => format!("{who}: nothing to send"),
                _ => who,
            };
        };
        let verb = if outward { "received" } else { "sent" };
        let mut story = format!("{who}: {} bytes {verb}", bundle.bytes);
        if let OutlineNode::Rank(rank) | OutlineNode::Subtree(rank) = item.node
            && !matches!(self.picture.operation(), Operation::Broadcast | Operation::Reduce)
        {
            story += &format!(" for {}", labels::ranks(self.shape.ranks(rank)));
        }
        if bundle.messages > 1 {
            story += &format!(" in {} messages", bundle.messages);
        }
        story += &format!(", from {} to {}", unit.time(bundle.start), unit.time(bundle.end));
        for (side, wait) in [("parent", bundle.parent_waits), ("child", bundle.child_waits)] {
            if wait > Time::ZERO {
                let upto = if bundle.messages > 1 { "up to " } else { "" };
                story += &format!("; the {side} waits {upto}{}", unit.time(wait));
            }
        }
        if bundle.is_critical {
            story.push_str("; on the critical path");
        }
        story
    }
}

impl Placed<'_> {
    /// Left end of the item's label, if it is beside the box.
    fn label_left(&self) -> f64 {
        let more = match self.item.node {
            OutlineNode::Rank(_) => 6.0,
            OutlineNode::Subtree(_) => 6.0 + WEDGE,
            OutlineNode::Run(_) => 10.0,
        };
        self.area.right() + more
    }

    /// The rectangle that the item's box and text take.
    fn extent(&self) -> Area {
        let area = self.area;
        if self.item.children.is_empty() {
            let width = self.label_left() + labels::width(&self.label, TEXT) - area.left;
            return Area { width, ..area };
        }
        let text = labels::width(&self.label, SMALL);
        let beyond = ((text - area.width) / 2.0).max(0.0);
        let (left, width) = (area.left - beyond, area.width + 2.0 * beyond);
        Area { left, width, height: area.height + 14.0, ..area }
    }

    fn right(&self) -> f64 {
        self.extent().right()
    }

    fn bottom(&self) -> f64 {
        self.extent().bottom()
    }
}

/// Several children of one process in words.
fn children(members: &[Rank], ranks: usize) -> String {
    let (count, first, last) = (members.len(), members[0], members[members.len() - 1]);
    let is_range = members.windows(2).all(|pair| pair[1] == pair[0] + 1)
        || members.windows(2).all(|pair| pair[0] == pair[1] + 1);
    let which = if is_range { format!(" {first} to {last}") } else { String::new() };
    match ranks == count {
        true => format!("{count} children{which}"),
        false => format!("{count} children{which} with {ranks} processes"),
    }
}

/// Text in an item's box.
fn name(node: &OutlineNode) -> String {
    match node {
        OutlineNode::Rank(rank) | OutlineNode::Subtree(rank) => rank.to_string(),
        OutlineNode::Run(_) => "…".to_owned(),
    }
}
