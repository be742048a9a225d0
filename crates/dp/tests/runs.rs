//! probe

use tuwtree_dp::runs::optimal;
use tuwtree_model::{BlockSizes, Homogeneous, Root, ScaledSizes, completion_time};

/// All C and, for a given root, F(0, n-1).
fn plain(a: i64, b: i64, g: i64, m: &[i64], root: Option<usize>) -> i64 {
    let n = m.len();
    let mut prefix = vec![0];
    for v in m { prefix.push(prefix[prefix.len() - 1] + v) }
    let comm = |i: usize, j: usize| { let s = prefix[j + 1] - prefix[i]; if s > 0 { a + b * s } else { 0 } };
    let mut c = vec![vec![0_i64; n]; n];
    for len in 2..=n {
        for i in 0..=n - len {
            let j = i + len - 1;
            let mut best = i64::MAX;
            for k in i..j {
                let left = if i < k { c[i][k] } else { g * m[i] };
                best = best.min(left.max(c[k + 1][j]) + comm(k + 1, j));
                best = best.min(if k + 1 < j {
                    c[i][k].max(c[k + 1][j]) + comm(i, k)
                } else {
                    c[i][k] + comm(i, k) + g * m[j]
                });
            }
            c[i][j] = best;
        }
    }
    let Some(r) = root else { return c[0][n - 1] };
    let mut f = vec![vec![0_i64; n]; n];
    for i in (0..=r).rev() {
        for j in r..n {
            if i == j { continue }
            let mut best = i64::MAX;
            for k in r..j {
                let left = if i == k { g * m[r] } else { f[i][k] };
                best = best.min(left.max(c[k + 1][j]) + comm(k + 1, j));
            }
            for k in i..r {
                best = best.min(if k + 1 == j {
                    c[i][k] + comm(i, k) + g * m[r]
                } else {
                    c[i][k].max(f[k + 1][j]) + comm(i, k)
                });
            }
            f[i][j] = best;
        }
    }
    f[0][n - 1]
}

#[test]
fn small() {
    let seed: u64 = std::env::var("SEED").map_or(12345, |s| s.parse().unwrap());
    let mut x = seed;
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
        let zeros = next(6);
        if zeros > 0 { for v in &mut m { if next(6) < zeros { *v = 0 } } }
        let beta = [1, 1, 1, 2, 3, 0][next(6) as usize];
        let gamma = next(beta as u64 + 1) as i64;
        let alpha = [0, 1, 2, 3, 5, 10, 50, 1000][next(8) as usize];
        let side = 1 + next(n as u64) as usize;
        let costs = Homogeneous::new(alpha as f64, beta as f64, gamma as f64).unwrap();
        let sizes: Vec<u64> = m.iter().map(|&v| v as u64).collect();
        let root = if next(2) == 0 { None } else { Some(next(n as u64) as usize) };
        let expected = plain(alpha, beta, gamma, &m, root);
        let blocks = BlockSizes::new(sizes).unwrap();
        let scaled = ScaledSizes::<i32>::new(&costs, &blocks).unwrap();
        let solution = optimal(&scaled, root.map_or(Root::Best, Root::Given), side).unwrap();
        let real = completion_time(&solution.tree, &blocks, &costs).unwrap();
        assert_eq!(real.units(), solution.time as f64);
        if let Some(root) = root { assert_eq!(solution.tree.root(), root) }
        assert_eq!(solution.time as i64, expected, "case {case}: alpha {alpha} beta {beta} gamma {gamma} {m:?} side {side} root {root:?}");
    }
}
