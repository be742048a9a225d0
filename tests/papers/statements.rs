//! Statements and figures of papers: Träff 2018; Thakur, Rabenseifner, Gropp 2005; Kang et al. 2019.

use crate::program::{folder, json, tuwtree};
use serde_json::Value;

/// The statements of a paper as place, what, published, recomputed, verdict.
fn statements(paper: &str) -> Vec<[String; 5]> {
    let found = json(&format!("reproduce --paper {paper} --json"));
    let fields = ["place", "what", "published", "recomputed", "verdict"];
    let rows = found["statements"].as_array().unwrap().iter();
    rows.map(|row: &Value| fields.map(|name| row[name].as_str().unwrap().to_owned())).collect()
}

/// Those whose words hold this, as published, recomputed, verdict.
fn about<'a>(all: &'a [[String; 5]], what: &str) -> Vec<[&'a str; 3]> {
    let of = all.iter().filter(|one| format!("{} {}", one[0], one[1]).contains(what));
    of.map(|[_, _, published, recomputed, verdict]| {
        [published.as_str(), recomputed.as_str(), verdict.as_str()]
    })
    .collect()
}

#[test]
fn figures_and_formulas_of_the_mpich_paper_come_out_or_are_marked() {
    let all = statements("TRG");
    for figure in ["figure 1 ", "figure 9 "] {
        let all = about(&all, figure);
        assert!(all.len() == 1 && all[0][2] == "equal", "{all:?}");
    }
    assert_eq!(
        about(&all, "figure 2 "),
        [["0 1; 0 1 2 3; 0 1 2 3 4 5", "0 1; 0 1 2 3; 0 1 2 3 4 5", "equal"]]
    );
    // Each column of the figure's tables.
    let columns = about(&all, "figure 7 ");
    assert_eq!(columns.len(), 6);
    assert_eq!(columns[0], ["50 52 54; 40 30; 20 10", "50 52 54; 40 30; 20 10", "equal"]);
    assert!(columns.iter().all(|one| one[2] == "equal"), "{columns:?}");
    assert_eq!(
        about(&all, "figure 12 "),
        [
            ["1 3 5 7 9", "1 3 5 7 9", "equal"],
            ["A-D E-H A-D E-H", "A-D E-H A-D E-H", "equal"],
            ["0 2 4 6 8 10 11 12", "0 2 4 6 8 10 11 12", "equal"],
        ]
    );
    // The text of 5.1 has process 3 send to 0 what 2 lacks.
    assert_eq!(about(&all, "5.1 receivers"), [["0 0", "0 2", "wrong"]]);
    assert_eq!(
        about(&all, "figure 13 "),
        [
            ["B, A", "B, A", "equal"],
            ["A-B", "A-B", "equal"],
            ["4", "4", "equal"],
            ["2", "2", "equal"]
        ]
    );
    assert_eq!(about(&all, "5.2 delta of 100"), [["3", "3", "equal"]]);
    // For 3, 5, 6, 8, 12 and 13 ranks.
    let near = "approximate";
    assert_eq!(
        about(&all, "Bruck's alltoall"),
        [
            ["2.5", "2", near],
            ["6", "5", near],
            ["8", "7", near],
            ["12", "12", "equal"],
            ["22", "20", near],
            ["24.5", "22", near]
        ]
    );
    assert_eq!(
        about(&all, "recursive halving"),
        [
            ["6", "6", "equal"],
            ["10", "11", near],
            ["12", "13", near],
            ["7", "7", "equal"],
            ["24", "27", near],
            ["26", "28", near]
        ]
    );
    assert!(about(&all, "Rabenseifner").iter().all(|one| one[2] == "equal"));
    let others: Vec<&[String; 5]> =
        all.iter().filter(|one| !["equal", near].contains(&one[4].as_str())).collect();
    assert!(others.len() == 1 && others[0][4] == "wrong", "{others:?}");
    let text = tuwtree("reproduce --paper trg").success();
    assert!(text.contains("\nequal ") && text.contains("\napproximate "), "{text}");
}

#[test]
fn limits_of_the_intergroup_paper_come_out_and_its_stronger_bound_does_not_hold() {
    let all = statements("K19");
    let limits: Vec<[&str; 3]> = about(&all, "formula (5)");
    let expected = ["7", "4.84", "4.21", "6.6786", "7", "7", "4.84"];
    for (limit, expected) in limits.iter().zip(expected) {
        assert_eq!((limit[1], limit[2]), (expected, "equal"), "{limits:?}");
    }
    // The rank's share of the largest block tends to the paper's limit as groups grow.
    assert_eq!(limits[7][0], "4.84");
    assert!(limits[7][1].starts_with("4.87") || limits[7][1].starts_with("4.88"), "{limits:?}");
    assert_eq!(limits[7][2], "approximate");
    let gains: Vec<f64> =
        about(&all, "on 64 ranks").iter().map(|one| one[1].parse().unwrap()).collect();
    for (gain, exact) in gains.iter().zip([6.844, 4.166, 3.611, 5.201, 6.844, 7.247, 4.666, 4.970])
    {
        // With the ring inside; in pieces it may be more.
        assert!(*gain > exact - 6e-4, "{gains:?}");
    }
    assert_eq!(about(&all, "theorem 3"), [["124", "130", "wrong"]]);
    assert_eq!(
        about(&all, "equation 1 "),
        [["1020", "1020", "equal"], ["1200", "1204", "approximate"]]
    );
    assert_eq!(about(&all, "equation 2 "), [["1740", "1340", "equal"], ["2700", "2460", "equal"]]);
    assert_eq!(about(&all, "equation 3 "), [["360", "360", "equal"]]);
    assert_eq!(about(&all, "theorem 1 "), [["420", "360", "equal"], ["480", "483", "wrong"]]);
    assert_eq!(about(&all, "links of Algorithm 1"), [["11", "14", "wrong"]]);
    assert_eq!(about(&all, "whose end result setting 7 has"), [["4", "2", "wrong"]]);
}

#[test]
fn the_proof_of_hardness_holds_on_its_instances() {
    let all = statements("OPT --figures");
    assert_eq!(about(&all, "figure 8 the tree"), [["134", "134", "equal"]]);
    assert_eq!(about(&all, "the best of all trees for them"), [["134", "134", "equal"]]);
    assert_eq!(about(&all, "figure 9 "), [["135", "136", "equal"]]);
    assert_eq!(about(&all, "cannot be parted"), [["45", "45", "equal"]]);
}

#[test]
fn figures_of_papers_are_drawn() {
    let folder = folder("figures-of-papers");
    for (paper, figures) in [("OPT", "8 9"), ("TRG", "1 2 7 9 12 13"), ("K19", "1 2")] {
        tuwtree(&format!("reproduce --paper {paper} --figures -o {}", folder.display())).success();
        for figure in figures.split(' ') {
            let file = folder.join(format!("{paper}-figure-{figure}.svg"));
            let svg = std::fs::read_to_string(file).unwrap();
            assert!(svg.contains(&format!("{paper}, figure {figure}: ")), "{svg}");
        }
    }
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 10);
}

#[test]
fn papers_are_listed_by_name() {
    let text = tuwtree("reproduce --list").success();
    let names: Vec<&str> = text.lines().map(|line| &line[..3]).collect();
    assert_eq!(names, ["OPT", "TRG", "K19", "HET", "TUW"]);
}

#[test]
fn numbers_that_come_out_as_published_are_printed_once() {
    let text = tuwtree("reproduce --table 2").success();
    let lines: Vec<Vec<&str>> =
        text.lines().map(|line| line.split_whitespace().collect()).collect();
    let labelled = |label: &str| lines.iter().filter(|line| line.first() == Some(&label)).count();
    // A root that is as good as the published one.
    assert_eq!((labelled("published"), labelled("recomputed")), (0, 1), "{text}");
    assert!(labelled("true") > 0, "{text}");
    let random = lines.iter().position(|line| line.first() == Some(&"random")).unwrap();
    assert!(lines[random + 1].contains(&"*2020053"), "{text}");
    assert_eq!(lines[random + 2], ["true", "2015133", "(256)"]);
}
