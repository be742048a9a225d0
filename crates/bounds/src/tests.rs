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
fn a_lone_rank_and_a_lone_block_take_what_they_must() {
    assert_eq!(bounds(Root::Best, &[7], (3.0, 2.0, 1.0)), [0.0; 2]);
    // Nothing to send: only the root's copy.
    assert_eq!(bounds(Root::Given(1), &[0, 7, 0], (3.0, 2.0, 1.0)), [7.0; 2]);
    // One message: 3 + 2 * 7.
    assert_eq!(bounds(Root::Given(0), &[0, 7, 0], (3.0, 2.0, 1.0)), [17.0; 2]);
}

#[test]
fn through_several_ports_every_root_copies_its_block_beside_a_message() {
    let sizes = BlockSizes::new([16, 59]).unwrap();
    let costs = Homogeneous::new(2.0, 0.0, 1.0).unwrap();
    let problem = problem(&sizes, costs, Root::Best).with_ports(Ports::new(3).unwrap());
    assert_eq!(best_lower_bound(&problem).unwrap().units(), 16.0);
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

/// Blocks, latency, overhead, beta and gamma of many kinds.
fn many_loads() -> impl Iterator<Item = (Vec<u64>, [u64; 4], usize)> {
    let mut state = 1_u64;
    let mut random = move |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    (0..20_000).map(move |problem| {
        let p = 1 + random(if problem % 10 == 0 { 40 } else { 12 });
        let kind = random(4);
        let sizes: Vec<u64> = (0..p)
            .map(|_| match kind {
                0 => random(12),
                1 => 1 << random(10),
                2 => [0, 1, 1, 900][random(4) as usize],
                _ => 5,
            })
            .collect();
        let latency = [0, 0, 1, random(60), 1000, 1_000_000][random(6) as usize];
        let overhead = [0, random(6), random(60), 200][random(4) as usize];
        let root = random(p) as usize;
        (sizes, [latency, overhead, random(4), random(5)], root)
    })
}

/// The bound as `docs/bounds-with-latency.md` states it: all pairs of numbers of messages, each with the
/// least waiting, by signed numbers and without any short cut.
fn by_every_pair(sizes: &[u64], [latency, overhead, beta, gamma]: [u64; 4], root: usize) -> i128 {
    let [lambda, o, beta, gamma] = [latency, overhead, beta, gamma].map(i128::from);
    let slow = gamma.min(beta);
    let copy = gamma * i128::from(sizes[root]);
    let mut a: Vec<i128> = sizes.iter().map(|&m| i128::from(m)).collect();
    a.swap_remove(root);
    a.retain(|&m| m > 0);
    a.sort_unstable_by(|x, y| y.cmp(x));
    let n = a.len();
    let top = |c: usize| -> i128 { a[..c].iter().sum() };
    let sm = |c: usize| -> i128 { a[n - c..].iter().sum() };
    let base = copy + beta * top(n);
    if n == 0 {
        return base;
    }
    let mut tau = vec![0, 0];
    for c in 2..=n {
        let keep = |c: usize| if c == 1 { slow * sm(1) } else { tau[c] };
        let cut = |s: usize| keep(c - s).max(tau[s] + lambda) + o + beta * sm(s);
        tau.push((1..c).map(cut).min().unwrap());
    }
    let blocks_at = |t: i128| (1..=n).rev().find(|&c| tau[c] + lambda <= t).unwrap_or(0);
    let volume = |t: i128, m: i128| (2 * t + beta * m - lambda - lambda.max(slow * m)).max(0);
    let wait = (lambda - copy).max(0);
    let mut least = wait + n as i128 * o;
    for s in 0..n {
        for k in 1..=(n - s) / 2 {
            let spent = (s + k) as i128 * o;
            let suffices = |idle: i128| {
                let mut fixed = copy + s as i128 * o + idle;
                let (mut f, mut v, mut collected) = (fixed + beta * top(s), s, s);
                let mut b = f;
                for _ in 0..k {
                    let most = blocks_at(b);
                    if most < 2 {
                        return false;
                    }
                    let (by_volume, by_count) = (volume(f, a[v]), f + o + beta * top(most));
                    v += usize::from(by_volume <= by_count);
                    f = by_volume.min(by_count);
                    fixed += o;
                    collected = n.min(collected + most);
                    let counted = fixed + beta * top(collected);
                    b = f.min(counted).min(volume(b, a[0]));
                    if collected == n && b == counted {
                        return true;
                    }
                }
                false
            };
            // From the least waiting on, in steps that halve.
            if spent + wait >= least || !suffices(least - spent) {
                continue;
            }
            let (mut idle, mut enough) = (wait, least - spent);
            while idle < enough {
                let middle = (idle + enough) / 2;
                if suffices(middle) { enough = middle } else { idle = middle + 1 }
            }
            least = least.min(spent + enough);
        }
    }
    base + least
}

#[test]
fn the_bound_is_that_of_every_pair_of_numbers_of_messages() {
    for (sizes, [latency, overhead, beta, gamma], root) in many_loads() {
        let costs =
            Homogeneous::new((latency + overhead) as f64, beta as f64, gamma as f64).unwrap();
        let costs = costs.with_overhead(overhead as f64).unwrap();
        let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
        let bound = count_bound(&problem(&blocks, costs, Root::Given(root))).unwrap().units();
        let expected = if sizes.len() == 1 {
            0
        } else {
            by_every_pair(&sizes, [latency, overhead, beta, gamma], root)
        };
        assert_eq!(bound, expected as f64, "{sizes:?} {latency} {overhead} {beta} {gamma} {root}");
    }
}

#[test]
fn blocks_in_the_shortest_messages_come_together_no_later() {
    for (sizes, [latency, overhead, beta, gamma], root) in many_loads() {
        let costs =
            Homogeneous::new((latency + overhead) as f64, beta as f64, gamma as f64).unwrap();
        let costs = costs.with_overhead(overhead as f64).unwrap();
        let blocks = BlockSizes::new(sizes.iter().copied()).unwrap();
        let load = RootLoad::new(root, costs.gamma(), &blocks, &costs);
        let [exact, shortest] = [Counts::new(&load), Counts::of_shortest_messages(&load)];
        for time in (0..200).chain([1000, 2000, 1_000_000, 1_000_300, 3_000_000]) {
            let [exact, shortest] = [&exact, &shortest].map(|counts| counts.within(time));
            assert!(if beta == 0 { exact == shortest } else { exact <= shortest });
        }
    }
}
