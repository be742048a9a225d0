use super::*;

fn problem(sizes: &BlockSizes, costs: Homogeneous, root: Root) -> Problem {
    Problem::gather(sizes, costs).unwrap().with_root(root).unwrap()
}

fn bounds(root: Root, sizes: &[u64], (alpha, beta, gamma): (f64, f64, f64)) -> [f64; 2] {
    let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
    let costs = Homogeneous::new(alpha, beta, gamma).unwrap();
    let problem = problem(&sizes, costs, root);
    [volume_bound, count_bound].map(|bound| bound(&problem).unwrap().units())
}

#[test]
fn a_lone_processor_and_a_lone_block_take_what_they_must() {
    assert_eq!(bounds(Root::Best, &[7], (3.0, 2.0, 1.0)), [0.0; 2]);
    // Nothing to send: only the root's copy.
    assert_eq!(bounds(Root::Given(1), &[0, 7, 0], (3.0, 2.0, 1.0)), [7.0; 2]);
    // One message: 3 + 2 * 7.
    assert_eq!(bounds(Root::Given(0), &[0, 7, 0], (3.0, 2.0, 1.0)), [17.0; 2]);
}

#[test]
fn without_latency_nothing_is_added_to_the_simple_bound() {
    assert_eq!(bounds(Root::Given(0), &[1, 2, 3, 4, 5], (0.0, 1.0, 1.0)), [15.0; 2]);
}

#[test]
fn two_blocks_beside_the_root_need_two_messages_or_waiting() {
    // Both at once are ready at 10 + 4 and sent by 14 + 14; one by one they take 14 + 14.
    assert_eq!(bounds(Root::Given(0), &[0, 4, 4], (10.0, 1.0, 1.0)), [28.0; 2]);
    // The root copies for 20 in the meantime: 20 + 10 + 8.
    assert_eq!(bounds(Root::Given(0), &[20, 4, 4], (10.0, 1.0, 1.0)), [38.0; 2]);
}

#[test]
fn counting_sees_what_volume_does_not() {
    // By volume the root may take one block (11), wait for 5, and receive six at once. But six blocks
    // are not together before 36. One, waiting for 1, then two, then four take 11 + 1 + 12 + 14.
    let [volume, count] = bounds(Root::Given(0), &[0, 1, 1, 1, 1, 1, 1, 1], (10.0, 1.0, 1.0));
    assert_eq!((volume, count), (32.0, 38.0));
}

#[test]
fn the_best_root_has_the_largest_block() {
    let costs = (5.0, 2.0, 1.0);
    let sizes = [3, 9, 0, 9, 1];
    assert_eq!(bounds(Root::Best, &sizes, costs), bounds(Root::Given(1), &sizes, costs));
    // Copies dearer than messages: the bound is that of copies which cost the same, 5 + 44, or the
    // simple one for the smallest block.
    assert_eq!(bounds(Root::Best, &sizes, (5.0, 2.0, 9.0)), [54.0; 2]);
    assert_eq!(bounds(Root::Best, &[3, 9], (5.0, 2.0, 9.0)), [50.0; 2]);
    assert_eq!(bounds(Root::Best, &[0, 3, 0], (50.0, 2.0, 9.0)), [27.0; 2]);
}

#[test]
fn times_that_cannot_be_stated_are_errors() {
    let sizes = BlockSizes::new([1, 1 << 52, 1 << 52]).unwrap();
    for (alpha, error) in [(1.0, TimeError::NotExact), (1e300, TimeError::NotExact)] {
        let costs = Homogeneous::new(alpha, 2.0, 1.0).unwrap();
        assert_eq!(best_lower_bound(&problem(&sizes, costs, Root::Given(0))), Err(error));
    }
    let costs = Homogeneous::new(0.5, 1e300, 1.0).unwrap();
    let sizes = BlockSizes::new([1, 1 << 40]).unwrap();
    assert_eq!(
        best_lower_bound(&problem(&sizes, costs, Root::Given(0))),
        Err(TimeError::NotFinite)
    );
    // No message, no latency.
    let costs = Homogeneous::new(1e300, 2.0, 1.0).unwrap();
    let sizes = BlockSizes::new([5, 0]).unwrap();
    assert_eq!(best_lower_bound(&problem(&sizes, costs, Root::Given(0))).unwrap().units(), 5.0);
}

#[test]
fn costs_that_are_no_integers_lose_next_to_nothing() {
    let sizes: Vec<u64> = (1..200).map(|rank| rank * rank % 331).collect();
    for factor in [0.1, 1e-9, 1e-200] {
        for root in [Root::Best, Root::Given(0), Root::Given(150)] {
            let exact = bounds(root, &sizes, (300.0, 3.0, 2.0));
            let scaled = bounds(root, &sizes, (300.0 * factor, 3.0 * factor, 2.0 * factor));
            for (exact, scaled) in exact.into_iter().zip(scaled) {
                let ratio = scaled / factor / exact;
                assert!((1.0 - 1e-12..=1.0).contains(&ratio), "{factor}: {ratio}");
            }
        }
    }
}

#[test]
fn neither_bound_is_below_the_simple_one() {
    let sizes: Vec<u64> = (0..40).map(|rank| rank * rank % 13).collect();
    for costs in [(7.0, 3.0, 2.0), (100.0, 0.0, 5.0), (1.0, 9.0, 0.0), (40.0, 1.0, 3.0)] {
        for root in 0..40 {
            let simple = {
                let costs = Homogeneous::new(costs.0, costs.1, costs.2).unwrap();
                let sizes = BlockSizes::new(sizes.iter().copied()).unwrap();
                lower_bound(&problem(&sizes, costs, Root::Given(root))).unwrap().units()
            };
            let [volume, count] = bounds(Root::Given(root), &sizes, costs);
            assert!(simple <= volume && volume <= count);
        }
    }
}
