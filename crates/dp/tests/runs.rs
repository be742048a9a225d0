//! probe

use tuwtree_dp::runs::probe;

fn plain(a: i64, b: i64, g: i64, m: &[i64]) -> Vec<i64> {
    let n = m.len();
    let mut c = vec![vec![0_i64; n]; n];
    let s = |i: usize, j: usize| m[i..=j].iter().sum::<i64>();
    let comm = |s: i64| if s > 0 { a + b * s } else { 0 };
    for len in 2..=n {
        for i in 0..=n - len {
            let j = i + len - 1;
            let mut best = i64::MAX;
            for k in i..j {
                let left = if i < k { c[i][k] } else { g * m[i] };
                best = best.min(left.max(c[k + 1][j]) + comm(s(k + 1, j)));
                best = best.min(if k + 1 < j {
                    c[i][k].max(c[k + 1][j]) + comm(s(i, k))
                } else {
                    c[i][k] + comm(s(i, k)) + g * m[j]
                });
            }
            c[i][j] = best;
        }
    }
    (0..n).flat_map(|i| (i..n).map(move |j| (i, j))).map(|(i, j)| c[i][j]).collect()
}

#[test]
fn small() {
    let mut x = 12345_u64;
    let mut next = |n: u64| {
        x = x.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (x >> 33) % n
    };
    let count: u64 = std::env::var("RUNS").map_or(20000, |s| s.parse().unwrap());
    for case in 0..count {
        let n = 1 + next(14) as usize;
        let top = [2, 3, 5, 10, 30, 1000][next(6) as usize];
        let kind = next(5);
        let mut m: Vec<i64> = (0..n).map(|_| 1 + next(top) as i64).collect();
        if kind == 1 { m.sort() }
        if kind == 2 { m.sort(); m.reverse() }
        if kind == 3 { for v in &mut m { *v = if next(4) == 0 { 1 + top as i64 } else { 1 } } }
        let beta = [1, 1, 1, 2, 3, 0][next(6) as usize];
        let gamma = next(beta as u64 + 1) as i64;
        let alpha = [0, 1, 2, 3, 5, 10, 50, 1000][next(8) as usize];
        let side = 1 + next(n as u64) as usize;
        let expected = plain(alpha, beta, gamma, &m);
        let (times, _) = probe(alpha, beta, gamma, &m, side);
        assert_eq!(times, expected, "case {case}: alpha {alpha} beta {beta} gamma {gamma} {m:?} side {side}");
    }
}
