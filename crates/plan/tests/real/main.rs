//! Choices on machines that exist, held against times that were measured there.

mod rows;

use rows::{Plans, losses, rows};
use tuwtree_io::machine;
use tuwtree_model::document::Machine;

fn built_in(name: &str) -> Machine {
    machine::read(&machine::named(name).unwrap()).unwrap()
}

#[test]
fn choices_of_built_in_machines_are_near_the_fastest_measured() {
    let mut all = Vec::new();
    for (name, measured) in [("fugaku", "fugaku"), ("marenostrum5", "mare_nostrum")] {
        all.extend(losses(&rows(measured), &mut Plans::default(), &built_in(name)));
    }
    let near = all.iter().filter(|&&loss| loss <= 1.1).count();
    let worst = all.iter().copied().fold(1.0, f64::max);
    assert_eq!(all.len(), 56);
    assert!(near as f64 >= 0.93 * all.len() as f64, "{near} of 56");
    assert!(worst <= 2.5, "{worst}");
}

#[test]
fn half_of_the_times_are_within_a_quarter_of_those_measured() {
    let mut errors = Vec::new();
    for (name, measured) in
        [("fugaku", "fugaku"), ("leonardo", "leonardo"), ("marenostrum5", "mare_nostrum")]
    {
        let (machine, mut plans) = (built_in(name), Plans::default());
        let rows = rows(measured);
        let error = |row: &rows::Row| (plans.predicted(row, &machine) / row.median_us - 1.0).abs();
        errors.extend(rows.iter().map(error));
    }
    errors.sort_by(f64::total_cmp);
    let median = errors[errors.len() / 2];
    assert!(median < 0.25, "{median}");
}
