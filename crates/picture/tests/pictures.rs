//! Laws of all pictures: well-formed, complete, within their frames, nothing on top of anything,
//! the same again.

use proptest::prelude::*;
use roxmltree::{Document, Node};
use std::collections::HashMap;
use tuwtree_model::{
    BlockSizes, Homogeneous, Operation, Problem, Rank, Root, StatedCosts, Step, Time, Tree,
};
use tuwtree_picture::{Candidate, Colouring, Performance, Report, TimelinePicture, TreePicture};
use tuwtree_schedule::{Schedule, Sends, Timeline, document, perform, simulate, tree_of};

/// A tree with its blocks, performed.
#[derive(Debug)]
struct Case {
    tree: Tree,
    schedule: Schedule,
    timeline: Timeline,
    costs: StatedCosts,
}

impl Case {
    fn new(tree: Tree, operation: Operation, blocks: Vec<u64>) -> Case {
        Case::with_overhead(100.0, tree, operation, blocks)
    }

    fn with_overhead(overhead: f64, tree: Tree, operation: Operation, blocks: Vec<u64>) -> Case {
        let costs = Homogeneous::new(100.0, 1.0, 0.5).unwrap().with_overhead(overhead).unwrap();
        let sizes = BlockSizes::new(blocks).unwrap();
        let problem = Problem::new(operation, sizes, costs).unwrap();
        let schedule = Schedule::of_tree(&tree, &problem).unwrap();
        let timeline = perform(&schedule, problem.stated_costs()).unwrap();
        Case { tree, schedule, timeline, costs: problem.stated_costs().clone() }
    }

    fn performance(&self) -> Performance<'_> {
        Performance { schedule: &self.schedule, timeline: &self.timeline, costs: &self.costs }
    }

    fn tree_picture(&self) -> TreePicture<'_> {
        TreePicture::new(&self.tree, Some(self.performance()))
    }
}

/// The tree in which rank `i > 0` is below rank `parents[i - 1] % i`, relabelled so that
/// any rank may be the root; copies come after so many children.
fn tree(parents: &[usize], shift: usize, copy_after: usize) -> Tree {
    let ranks = parents.len() + 1;
    let label = |index: usize| (index + shift) % ranks;
    let mut children: HashMap<Rank, Vec<Rank>> = HashMap::new();
    for (index, parent) in parents.iter().enumerate() {
        let child = index + 1;
        children.entry(label(parent % child)).or_default().push(label(child));
    }
    let mut steps = Vec::new();
    for (rank, children) in children {
        let mut own: Vec<Step> = children.into_iter().map(Step::Receive).collect();
        own.insert(copy_after.min(own.len()), Step::Copy);
        steps.extend(own.into_iter().map(|step| (rank, step)));
    }
    Tree::new(ranks, label(0), &steps).unwrap()
}

fn cases() -> impl Strategy<Value = Case> {
    let parents = prop_oneof![
        prop::collection::vec(0..1000_usize, 0..120),
        (0..200_usize).prop_map(|ranks| vec![0; ranks]),
        (0..150_usize).prop_map(|ranks| (0..ranks).collect()),
    ];
    let operation = prop::sample::select(Operation::irregular().collect::<Vec<_>>());
    let overhead = prop::sample::select(vec![0.0, 30.0, 100.0]);
    (parents, 0..50_usize, 0..4_usize, operation, overhead).prop_flat_map(
        |(parents, shift, copy, operation, overhead)| {
            let block = prop_oneof![Just(0), 1..20_u64, 1..5_000_000_u64];
            prop::collection::vec(block, parents.len() + 1).prop_map(move |blocks| {
                let tree = tree(&parents, shift, copy);
                Case::with_overhead(overhead, tree, operation, blocks)
            })
        },
    )
}

fn number(node: Node<'_, '_>, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

fn of_class<'a>(document: &'a Document<'a>, class: &str) -> Vec<Node<'a, 'a>> {
    let has = |node: &Node<'_, '_>| {
        node.attribute("class").is_some_and(|all| all.split(' ').any(|one| one == class))
    };
    document.descendants().filter(has).collect()
}

/// Left, top, right, bottom of the boxes and of the texts beside or below them, of each item. Texts
/// are taken to have 6.5 pixels a letter, which is their mean width in the font.
fn extents(document: &Document<'_>) -> Vec<[f64; 4]> {
    of_class(document, "item")
        .into_iter()
        .map(|item| {
            let mut extent = [f64::MAX, f64::MAX, f64::MIN, f64::MIN];
            let mut add = |left: f64, top: f64, right: f64, bottom: f64| {
                extent = [
                    extent[0].min(left),
                    extent[1].min(top),
                    extent[2].max(right),
                    extent[3].max(bottom),
                ];
            };
            for part in item.children().filter(Node::is_element) {
                match part.tag_name().name() {
                    "rect" => {
                        let (x, y) = (number(part, "x"), number(part, "y"));
                        add(x, y, x + number(part, "width"), y + number(part, "height"));
                    }
                    "text" => {
                        let (x, y) = (number(part, "x"), number(part, "y"));
                        let wide = 6.5 * part.text().unwrap_or_default().chars().count() as f64;
                        match part.attribute("class") {
                            Some("name") => {}
                            Some("caption") => {
                                add(x - 0.4 * wide, y - 8.0, x + 0.4 * wide, y);
                            }
                            _ => add(x, y - 9.0, x + wide, y),
                        }
                    }
                    _ => {}
                }
            }
            extent
        })
        .collect()
}

/// How many ranks the picture's items say they are.
fn accounted_for(document: &Document<'_>) -> usize {
    let count = |item: Node<'_, '_>| {
        let title = item.children().find(|node| node.has_tag_name("title")).unwrap();
        let (who, _) =
            title.text().unwrap().split_once(": ").unwrap_or((title.text().unwrap(), ""));
        if let Some((_, below)) = who.split_once(" and ") {
            return below.trim_end_matches(" below it").parse::<usize>().unwrap() + 1;
        }
        if let Some((_, with)) = who.split_once(" with ") {
            return with.trim_end_matches(" processes").parse().unwrap();
        }
        match who.split_once(" children") {
            Some((children, _)) => children.parse().unwrap(),
            None => 1,
        }
    };
    of_class(document, "item").into_iter().map(count).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn trees_account_for_all_ranks_and_nothing_overlaps(
        case in cases(), rows in 8..80_usize, depth in 1..15_usize,
    ) {
        let svg = case.tree_picture().within(rows, depth).svg();
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let document = Document::parse(&svg).unwrap();
        let root = document.root_element();
        prop_assert_eq!(accounted_for(&document), case.tree.ranks());
        let extents = extents(&document);
        for (index, one) in extents.iter().enumerate() {
            prop_assert!(one[0] >= 0.0 && one[1] >= 0.0, "{one:?}");
            prop_assert!(one[2] <= number(root, "width") && one[3] <= number(root, "height"));
            for other in &extents[..index] {
                let apart = one[0] >= other[2] || other[0] >= one[2]
                    || one[1] >= other[3] || other[1] >= one[3];
                prop_assert!(apart, "{one:?} and {other:?}");
            }
        }
        // Every item but the root hangs on a line.
        prop_assert_eq!(of_class(&document, "edge").len() + 1
            - of_class(&document, "legend").iter()
                .flat_map(|legend| legend.children())
                .filter(|node| node.attribute("class") == Some("edge")).count(), extents.len());
        prop_assert_eq!(svg, case.tree_picture().within(rows, depth).svg());
    }

    #[test]
    fn timelines_account_for_all_ranks(case in cases(), rows in 8..80_usize) {
        let picture = TimelinePicture::new(case.performance()).within(rows);
        let svg = picture.svg();
        prop_assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let document = Document::parse(&svg).unwrap();
        let names = of_class(&document, "row").into_iter().map(|row| {
            let name = row.children().find(Node::is_element).unwrap();
            name.text().unwrap().to_owned()
        });
        let mut next = 0;
        let mut shown = 0;
        for name in names {
            let (first, last) = name.split_once(" to ").unwrap_or((&name, &name));
            prop_assert_eq!(first.parse::<usize>().unwrap(), next);
            next = last.parse::<usize>().unwrap() + 1;
            shown += 1;
        }
        prop_assert_eq!(next, case.tree.ranks());
        prop_assert!(shown <= rows);
        let right = number(document.root_element(), "width");
        for bar in document.descendants().filter(|node| node.has_tag_name("rect")) {
            if let Some(x) = bar.attribute("x") {
                let (x, width): (f64, f64) = (x.parse().unwrap(), number(bar, "width"));
                prop_assert!(x >= 0.0 && width >= 0.0 && x + width <= right);
            }
        }
        prop_assert_eq!(&svg, &picture.svg());
    }

    #[test]
    fn schedules_of_trees_are_drawn_like_the_trees(case in cases()) {
        // Without empty blocks, every rank sends or receives.
        let blocks = vec![7; case.tree.ranks()];
        let case = Case::new(case.tree, case.schedule.task().operation, blocks);
        let found = tree_of(&case.schedule).unwrap();
        prop_assert_eq!(&found, &case.tree);
    }
}

#[test]
fn colours_change_nothing_but_colours() {
    let case = Case::new(tree(&[0, 0, 1, 1, 2], 3, 1), Operation::Gather, vec![5; 6]);
    let boxes = |colouring| {
        let svg = case.tree_picture().coloured(colouring).svg();
        let document = Document::parse(&svg).unwrap();
        extents(&document)
    };
    let first = boxes(Colouring::CriticalPath);
    assert_eq!(first.len(), 6);
    assert_eq!(first, boxes(Colouring::Wait));
    assert_eq!(first, boxes(Colouring::Volume));
}

#[test]
fn a_timeline_of_few_ranks_in_fewer_rows_has_no_lines_between_rows() {
    let case = Case::new(tree(&[0; 16], 0, 0), Operation::Gather, vec![5; 17]);
    let lines = |rows| {
        let svg = TimelinePicture::new(case.performance()).within(rows).svg();
        of_class(&Document::parse(&svg).unwrap(), "message").len()
    };
    assert_eq!((lines(17), lines(16)), (16, 0));
}

#[test]
fn pictures_of_one_rank_are_pictures() {
    let case = Case::new(tree(&[], 0, 0), Operation::Scatter, vec![9]);
    for svg in [
        case.tree_picture().svg(),
        TreePicture::new(&case.tree, None).svg(),
        TimelinePicture::new(case.performance()).svg(),
    ] {
        assert!(Document::parse(&svg).unwrap().root_element().has_tag_name("svg"));
        #[cfg(feature = "png")]
        assert!(tuwtree_picture::png(&svg, 1.0).unwrap().starts_with(b"\x89PNG"));
    }
}

#[test]
fn a_page_escapes_everything_that_users_name() {
    let case = Case::new(tree(&[0, 1], 0, 0), Operation::Gather, vec![1, 2, 3]);
    let evil = "</script><script>alert('x')</script>&\"";
    let report = Report {
        title: evil.to_owned(),
        facts: vec![(evil.to_owned(), evil.to_owned())],
        notes: vec![evil.to_owned()],
        columns: vec![evil.to_owned(), "time".to_owned()],
        bound: case.timeline.completion_time(),
        candidates: vec![Candidate {
            name: evil.to_owned(),
            summary: evil.to_owned(),
            tree: Some(&case.tree),
            performance: case.performance(),
            time: case.timeline.completion_time(),
            cells: vec![evil.to_owned()],
        }],
        recommended: 0,
        version: evil,
    };
    let page = report.html().unwrap();
    assert!(page.contains("&lt;script&gt;alert"));
    assert!(!page.contains("<script>alert"));
    // Two scripts and the data.
    assert_eq!(page.matches("</script>").count(), 3);
    assert_eq!(page, report.html().unwrap());
    for forbidden in ["http://", "https://", "src=", "url("] {
        let namespace = "http://www.w3.org/2000/svg";
        assert!(!page.replace(namespace, "").contains(forbidden), "{forbidden}");
    }
}

#[test]
fn a_page_of_many_ranks_stays_small() {
    // A star, and a tree in which each rank is below its half.
    let ranks = 30_000;
    let star = tree(&vec![0; ranks - 1], 0, 0);
    let halves: Vec<usize> = (1..ranks).map(|index| (index - 1) / 2).collect();
    let blocks: Vec<u64> = (0..ranks as u64).map(|rank| 1 + rank * 7919 % 1000).collect();
    let cases =
        [star, tree(&halves, 0, 0)].map(|tree| Case::new(tree, Operation::Gather, blocks.clone()));
    let candidate = |case: &'static str, of: usize| Candidate {
        name: case.to_owned(),
        summary: String::new(),
        tree: Some(&cases[of].tree),
        performance: cases[of].performance(),
        time: cases[of].timeline.completion_time(),
        cells: Vec::new(),
    };
    let report = Report {
        title: String::new(),
        facts: Vec::new(),
        notes: Vec::new(),
        columns: Vec::new(),
        bound: cases[0].timeline.completion_time(),
        candidates: vec![candidate("star", 0), candidate("halves", 1)],
        recommended: 1,
        version: "",
    };
    let length = report.html().unwrap().len();
    assert!(length < 1_500_000, "{length} bytes");
}

#[test]
fn a_latency_is_a_thin_line_and_its_message_is_aslant() {
    let star = |operation, overhead| {
        Case::with_overhead(overhead, tree(&[0; 3], 0, 0), operation, vec![5; 4])
    };
    for operation in Operation::irregular() {
        let svg = TimelinePicture::new(star(operation, 20.0).performance()).svg();
        let document = Document::parse(&svg).unwrap();
        let bars: Vec<_> = of_class(&document, "latency");
        assert!(bars.len() > 1 && bars.iter().all(|bar| number(*bar, "height") == 1.0));
        let messages = of_class(&document, "message");
        assert_eq!(messages.len(), 3);
        assert!(messages.iter().all(|line| number(*line, "x1") < number(*line, "x2")), "{svg}");
        assert!(svg.contains(">latency<"));
        let svg = TimelinePicture::new(star(operation, 100.0).performance()).svg();
        let document = Document::parse(&svg).unwrap();
        assert!(of_class(&document, "latency").is_empty() && !svg.contains(">latency<"));
        let messages = of_class(&document, "message");
        assert!(messages.iter().all(|line| number(*line, "x1") == number(*line, "x2")));
    }
}

#[test]
fn copies_that_combine_are_told_from_those_that_do_not_in_bars_and_legend() {
    // The one combines what it has received with its own; the other copies what it has received.
    let text = |combine: &str| {
        format!(
            r#"{{"format":"tuwtree-schedule","version":5,"operation":"allreduce","processors":2,"order":"any","ports":1,
            "vector_bytes":400,"combine_per_byte":1.0,"segment_bytes":[400,400],"actions":[
            [{{"receive":1,"into":["segment",0,400]}},{{"from":["segment",0,400],"into":["output",0,400]{combine}}},
             {{"send":1,"from":["output",0,400]}}],
            [{{"send":0,"from":["input",0,400]}},{{"receive":0,"into":["segment",0,400]}},
             {{"from":["segment",0,400],"into":["output",0,400]}}]]}}"#
        )
    };
    let costs = Homogeneous::new(100.0, 1.0, 0.5).unwrap();
    let stated = StatedCosts::from(costs);
    let picture = |combine: &str| {
        let schedule = document::read(text(combine).as_bytes()).unwrap();
        let timeline = simulate(&schedule, &costs, Sends::Synchronous).unwrap();
        let performance = Performance { schedule: &schedule, timeline: &timeline, costs: &stated };
        TimelinePicture::new(performance).svg()
    };
    let (combining, plain) = (picture(r#","combine":"right""#), picture(""));
    let document = Document::parse(&combining).unwrap();
    let widths = |class: &str| -> Vec<f64> {
        of_class(&document, class).into_iter().map(|bar| number(bar, "width")).collect()
    };
    // 400 bytes at 1 a byte, and at 0.5; then the legend.
    let ([combined, 24.0], [copied, 24.0]) = (&widths("combine")[..], &widths("copy")[..]) else {
        panic!("a bar and a place in the legend each: {combining}");
    };
    assert!((combined / copied - 2.0).abs() < 0.01, "{combined} {copied}");
    assert!(combining.contains(">combine</text>") && combining.contains(".combine{fill:"));
    assert!(!plain.contains("combine"), "{plain}");
}

#[test]
fn a_timeline_has_a_line_where_the_lower_bound_is() {
    let case = Case::new(tree(&[0, 0, 0], 0, 0), Operation::Gather, vec![1, 2, 3, 4]);
    let end = case.timeline.completion_time();
    let picture = TimelinePicture::new(case.performance());
    let lines = |svg: &str| {
        let document = Document::parse(svg).unwrap();
        let places: Vec<f64> = of_class(&document, "bound")
            .into_iter()
            .filter(|node| node.has_tag_name("line"))
            .map(|line| number(line, "x1"))
            .collect();
        places
    };
    let at_end = lines(&picture.bounded(Some(end)).svg());
    let at_half = lines(&picture.bounded(Some(Time::new(end.units() / 2.0).unwrap())).svg());
    assert_eq!((at_end.len(), at_half.len()), (1, 1));
    assert!(at_half[0] < at_end[0], "{at_half:?} {at_end:?}");
    assert!(lines(&picture.svg()).is_empty());
    let beyond = Time::new(end.units() + 1.0).unwrap();
    assert!(lines(&picture.bounded(Some(beyond)).svg()).is_empty(), "a bound that is none");
}

#[test]
fn a_page_begins_with_the_best_and_hides_pictures_of_what_takes_more_than_twice_as_long() {
    let blocks = vec![100; 12];
    let star = Case::new(tree(&[0; 11], 0, 0), Operation::Gather, blocks.clone());
    let chain =
        Case::new(tree(&(0..11).collect::<Vec<_>>(), 0, 0), Operation::Gather, blocks.clone());
    let halves: Vec<usize> = (1..12).map(|index| (index - 1) / 2).collect();
    let halves = Case::new(tree(&halves, 0, 0), Operation::Gather, blocks);
    let cases = [("chain", &chain), ("halves", &halves), ("star", &star)];
    let times = cases.map(|(_, case)| case.timeline.completion_time().units());
    assert!(times[2] < times[1] && times[1] < 2.0 * times[2] && 2.0 * times[2] < times[0]);
    let report = Report {
        title: String::new(),
        facts: Vec::new(),
        notes: Vec::new(),
        columns: Vec::new(),
        bound: star.timeline.completion_time(),
        candidates: cases
            .map(|(name, case)| Candidate {
                name: name.to_owned(),
                summary: String::new(),
                tree: Some(&case.tree),
                performance: case.performance(),
                time: case.timeline.completion_time(),
                cells: Vec::new(),
            })
            .into(),
        recommended: 2,
        version: "",
    };
    let page = report.html().unwrap();
    let place = |name: &str| page.find(&format!("<th scope=\"row\">{name}")).unwrap();
    assert!(place("star") < place("halves") && place("halves") < place("chain"));
    for (index, is_shown) in [(0, true), (1, true), (2, false)] {
        let checked = format!("name=\"shown\" value=\"{index}\" checked>");
        assert_eq!(page.contains(&checked), is_shown, "{index}");
    }
}

#[test]
fn where_latency_overlaps_pictures_are_drawn_by_the_judge() {
    let star = tree(&[0; 5], 0, 0);
    let case = Case::with_overhead(10.0, star, Operation::Gather, vec![300; 6]);
    let problem = Problem::gather(&BlockSizes::new([300; 6]).unwrap(), case.costs.clone()).unwrap();
    let problem = problem.with_root(Root::Given(0)).unwrap();
    let judged = tuwtree_model::judged_time(&case.tree, &problem).unwrap();
    let simulated = simulate(&case.schedule, &case.costs, Sends::Synchronous).unwrap();
    assert!(judged < simulated.completion_time(), "{judged}");
    let stated = format!("completion time {}; ", judged.units());
    for picture in [case.tree_picture().svg(), TimelinePicture::new(case.performance()).svg()] {
        assert!(picture.contains(&stated), "{stated}: {}", &picture[..3000.min(picture.len())]);
    }
}
