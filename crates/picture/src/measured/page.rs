//! A page with the picture of measured times, the verdicts on the guidelines, and all figures.

use super::MeasuredPicture;
use crate::frame::{PictureStyle as Frame, style};
use crate::svg::Xml;
use tuwtree_measure::{
    Algorithm, Blocks, CONFIDENCE, Certainty, Comparison, Guideline, LEVEL, Measurements,
    Predictions, SpeedUp, SpeedUps, Verdict, median_interval,
};
use tuwtree_model::ClosedSet;
use tuwtree_model::quantity;

/// The page as HTML: one file that needs no network. `version` is the program's.
pub fn measured_page(
    measurements: &Measurements,
    predictions: &Predictions,
    version: &str,
) -> String {
    let picture = MeasuredPicture::new(measurements);
    let (title, lines) = picture.title();
    let mut xml = Xml::default();
    xml.open("html", &[("lang", &"en")]);
    xml.open("head", &[]);
    xml.empty("meta", &[("charset", &"utf-8")]);
    xml.text("title", &[], &title);
    xml.text("style", &[], format!("{}{PAGE}", style()));
    xml.close();
    xml.open("body", &[]);
    xml.text("h1", &[], &title);
    for line in lines {
        xml.text("p", &[], line);
    }
    write_speed_ups(&mut xml, measurements);
    xml.markup(&picture.drawn(Frame::InPage));
    for guideline in Guideline::all() {
        write_verdicts(&mut xml, measurements, guideline);
    }
    write_figures(&mut xml, measurements, predictions);
    xml.text("footer", &[], format!("tuwtree {version}"));
    xml.close();
    xml.close();
    format!("<!DOCTYPE html>\n{}", xml.finish())
}

/// Styles that the pictures lack. They need no escaping.
const PAGE: &str = "\
body{margin:0 auto;padding:1rem 1.5rem;max-width:1400px;font:15px/1.45 'DejaVu Sans',Verdana,Arial,sans-serif}
h1{font-size:1.5rem;margin:0 0 .5rem}
h2{font-size:1.15rem;margin:1.5rem 0 .5rem}
p{margin:.2rem 0;color:#5f6368}
svg{max-width:100%;height:auto}
div{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.2rem .7rem;text-align:right;border-bottom:1px solid #d0d4d9;white-space:nowrap}
th:first-child,td:first-child{text-align:left}
.heat{margin:.3rem 1.5rem .8rem 0;display:inline-table;vertical-align:top}
.heat caption{text-align:left;font-weight:bold;padding:.2rem 0}
.heat td{border:1px solid #fff;min-width:3.2rem;text-align:center}
.heat td.unsure{font-style:italic}
.violated{color:#d55e00;font-weight:bold}
footer{margin-top:1rem;color:#5f6368;font-size:.85rem}
";

/// For each algorithm a sentence and a heat map: how many times as fast as the library's own call it is, by blocks and
/// mean block.
fn write_speed_ups(xml: &mut Xml, measurements: &Measurements) {
    let mut algorithms = measurements.algorithms();
    // What a program would use comes first.
    algorithms.sort_by_key(|&algorithm| algorithm != Algorithm::Auto);
    let all = algorithms.into_iter().filter(|&algorithm| algorithm != Algorithm::Native);
    let all = all.filter_map(|algorithm| {
        let ratios = measurements.speed_ups(algorithm);
        SpeedUps::of(&ratios).map(|summary| (algorithm, ratios, summary))
    });
    let all: Vec<_> = all.collect();
    if all.is_empty() {
        return;
    }
    xml.text("h2", &[], "Times as fast as the library's own call");
    for (algorithm, _, summary) in &all {
        let SpeedUps { median, least, largest, faster, slower, problems } = *summary;
        let sentence = format!(
            "{}: {median:.2} times as fast in the median of {problems} problems, {least:.2} to {largest:.2}; \
             certainly faster in {faster}, certainly slower in {slower}.",
            algorithm.name()
        );
        xml.text("p", &[], sentence);
    }
    xml.text("p", &[], HEAT);
    xml.open("div", &[]);
    for (algorithm, ratios, _) in &all {
        write_heat_map(xml, &algorithm.name(), ratios);
    }
    xml.close();
}

/// Legend of a heat map.
const HEAT: &str = "Medians of the ratios, repetition by repetition. Blue is faster, orange slower; pale and slanted where \
    the 95 % interval, which shows while the pointer is over a cell, contains 1.";

fn write_heat_map(xml: &mut Xml, name: &str, ratios: &[SpeedUp<'_>]) {
    let mut means: Vec<u64> = ratios.iter().map(|one| one.mean_block).collect();
    means.sort_unstable();
    means.dedup();
    let mut rows: Vec<&Blocks> = Vec::new();
    for one in ratios {
        if !rows.contains(&one.blocks) {
            rows.push(one.blocks);
        }
    }
    xml.open("table", &[("class", &"heat")]);
    xml.text("caption", &[], name);
    xml.open("tr", &[]);
    xml.text("th", &[], "blocks, b");
    for mean in &means {
        xml.text("th", &[], mean);
    }
    xml.close();
    for blocks in rows {
        xml.open("tr", &[]);
        xml.text("td", &[], blocks.name());
        for &mean in &means {
            let cell = ratios.iter().find(|one| (one.blocks, one.mean_block) == (blocks, mean));
            write_heat(xml, cell);
        }
        xml.close();
    }
    xml.close();
}

fn write_heat(xml: &mut Xml, cell: Option<&SpeedUp<'_>>) {
    let Some(cell) = cell else { return xml.text("td", &[], "") };
    let is_sure = cell.certainty() != Certainty::Neither;
    // Four times as fast, or as slow, is as dark as it gets; what is unsure stays pale.
    let darkness = (cell.ratio.log2().abs() / 2.0).min(1.0) * if is_sure { 0.6 } else { 0.15 };
    let (red, green, blue) = if cell.ratio >= 1.0 { (0, 114, 178) } else { (230, 159, 0) };
    let style = format!("background:rgba({red},{green},{blue},{darkness:.2})");
    let interval = match &cell.interval {
        Some(ends) => format!("95 % interval {:.3} to {:.3}", ends.low, ends.high),
        None => "too few repetitions for an interval".to_owned(),
    };
    let class = if is_sure { "" } else { "unsure" };
    let attributes: [(&str, &dyn std::fmt::Display); 3] =
        [("class", &class), ("style", &style), ("title", &interval)];
    xml.text("td", &attributes, format!("{:.2}", cell.ratio));
}

fn write_verdicts(xml: &mut Xml, measurements: &Measurements, guideline: Guideline) {
    let Some(formula) = guideline.formula(measurements.setting().operation) else { return };
    let tried = guideline.tried(measurements, LEVEL);
    xml.text("h2", &[], format!("{}: {formula}", guideline.name()));
    let count = |verdict| tried.iter().filter(|one| one.verdict == verdict).count();
    let summary = format!(
        "{} comparisons: violated {}, kept {}, no difference {}. One-sided rank-sum tests at {LEVEL} \
         for all together (Bonferroni).",
        tried.len(),
        count(Verdict::Violated),
        count(Verdict::Kept),
        count(Verdict::NoDifference)
    );
    xml.text("p", &[], summary);
    if tried.is_empty() {
        return;
    }
    open_table(xml, &["blocks", "b", "algorithm", "left : right", "p", "verdict"]);
    for Comparison {
        blocks,
        mean_block,
        algorithm,
        ratio,
        probability_against,
        probability_for,
        verdict,
        ..
    } in tried
    {
        let p = match verdict {
            Verdict::Kept => probability_for,
            Verdict::Violated | Verdict::NoDifference => probability_against,
        };
        let class = if verdict == Verdict::Violated { "violated" } else { "" };
        xml.open("tr", &[]);
        for text in [
            blocks.name().to_owned(),
            mean_block.to_string(),
            algorithm.name().into_owned(),
            format!("{ratio:.3}"),
            format!("{p:.1e}"),
        ] {
            xml.text("td", &[], text);
        }
        xml.text("td", &[("class", &class)], verdict.name());
        xml.close();
    }
    close_table(xml);
}

fn write_figures(xml: &mut Xml, measurements: &Measurements, predictions: &Predictions) {
    xml.text("h2", &[], "Times in microseconds");
    let mut headings =
        vec!["blocks", "b", "algorithm", "minimum", "median", "from", "to", "planning"];
    if predictions.are_any() {
        headings.extend(["planned", "judged", "median : judged"]);
        xml.text("p", &[], PREDICTED);
    }
    open_table(xml, &headings);
    let us = |seconds: f64| quantity::number((seconds * 1e8).round() / 100.0);
    for (index, one) in measurements.series().iter().enumerate() {
        let ends = median_interval(&one.seconds, CONFIDENCE);
        let end = |of: fn(&tuwtree_measure::Interval) -> f64| {
            ends.as_ref().map_or_else(|| "-".to_owned(), |ends| us(of(ends)))
        };
        xml.open("tr", &[]);
        for text in [
            one.blocks.name().to_owned(),
            one.mean_block.to_string(),
            one.algorithm.name().into_owned(),
            us(one.minimum()),
            us(one.median()),
            end(|ends| ends.low),
            end(|ends| ends.high),
            us(one.planning_seconds),
        ] {
            xml.text("td", &[], text);
        }
        if predictions.are_any() {
            let prediction = predictions.of(index);
            let ratio = prediction.and_then(|said| said.measured_over_judged(one));
            for text in [
                prediction.and_then(|said| said.planned_seconds).map(us),
                prediction.map(|said| us(said.judged_seconds)),
                ratio.map(|ratio| format!("{ratio:.3}")),
            ] {
                xml.text("td", &[], text.as_deref().unwrap_or("-"));
            }
        }
        xml.close();
    }
    close_table(xml);
}

/// Explanation of the times of planner and judge.
const PREDICTED: &str = "Planned and judged: what planner and judge say of the tree, planned anew with the \
    costs that stand in the document. Both take receives to be posted in advance, as trees do that \
    send messages at once (eager).";

fn open_table(xml: &mut Xml, headings: &[&str]) {
    xml.open("div", &[]);
    xml.open("table", &[]);
    xml.open("tr", &[]);
    for heading in headings {
        xml.text("th", &[], heading);
    }
    xml.close();
}

fn close_table(xml: &mut Xml) {
    xml.close();
    xml.close();
}

#[cfg(test)]
mod tests {
    use super::super::tests::measured;
    use super::*;
    use tuwtree_measure::{Algorithm, Prediction};

    #[test]
    fn the_page_has_a_row_for_each_series_and_each_verdict() {
        let measured = measured(&[Algorithm::Padded, Algorithm::Native], &[1, 10]);
        let page = measured_page(&measured, &Predictions::default(), "1.2.3");
        let page = page.strip_prefix("<!DOCTYPE html>\n").unwrap();
        let parsed = roxmltree::Document::parse(page).unwrap();
        let rows = parsed.descendants().filter(|node| node.has_tag_name("tr")).count();
        // Of the heat map a heading and two kinds of blocks; GL2 has a heading and 4 comparisons, the figures a
        // heading and 8 series.
        assert_eq!(rows, 3 + 5 + 9);
        assert!(page.contains("a &lt;library&gt;") && page.contains("tuwtree 1.2.3"));
        assert!(page.contains("GL1: MPI_Gather(m) &lt;= MPI_Gatherv(m)"));
        assert!(!page.contains("judged"));
    }

    #[test]
    fn a_heat_map_is_of_what_was_measured_beside_the_library() {
        let both = measured(&[Algorithm::Native, Algorithm::Auto], &[1, 10]);
        let page = measured_page(&both, &Predictions::default(), "1.2.3");
        // Equal times: 1 for each of two kinds of blocks and two means.
        assert_eq!(page.matches("class=\"unsure\"").count(), 4, "{page}");
        assert!(page.contains("auto: 1.00 times as fast in the median of 4 problems"), "{page}");
        assert!(page.contains("95 % interval 1.000 to 1.000"));
        let alone = measured(&[Algorithm::Auto], &[1]);
        let page = measured_page(&alone, &Predictions::default(), "1.2.3");
        assert!(!page.contains("class=\"heat\""));
    }

    #[test]
    fn the_page_has_planner_and_judge_beside_the_measured_times() {
        let measured = measured(&[Algorithm::Padded, Algorithm::Native], &[1]);
        let said = Prediction { planned_seconds: Some(3e-5), judged_seconds: 2e-5 };
        let predictions = Predictions::new(vec![None, Some(said)]);
        let page = measured_page(&measured, &predictions, "1.2.3");
        assert!(page.contains("<th>median : judged</th>"));
        // The median is 30.5 us.
        assert!(page.contains("<td>30</td>\n<td>20</td>\n<td>1.525</td>"), "{page}");
        assert!(page.contains("<td>-</td>\n<td>-</td>\n<td>-</td>"));
    }
}
