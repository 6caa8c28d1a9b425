//! Small systems of linear equations.

/// Solves `a x = b` for a symmetric positive definite `a` by elimination.
pub(super) fn solve<const N: usize>(mut a: [[f64; N]; N], mut b: [f64; N]) -> [f64; N] {
    for pivot in 0..N {
        for row in pivot + 1..N {
            let factor = a[row][pivot] / a[pivot][pivot];
            let above = a[pivot];
            for (value, above) in a[row].iter_mut().zip(above).skip(pivot) {
                *value -= factor * above;
            }
            b[row] -= factor * b[pivot];
        }
    }
    let mut x = [0.0; N];
    for row in (0..N).rev() {
        let rest: f64 = (row + 1..N).map(|column| a[row][column] * x[column]).sum();
        x[row] = (b[row] - rest) / a[row][row];
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_solution_solves_the_equations() {
        let a = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 2.0]];
        let x = [1.0, -2.0, 3.0];
        let b = a.map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum());
        let solved = solve(a, b);
        assert!(solved.iter().zip(x).all(|(left, right)| (left - right).abs() < 1e-12), "{solved:?}");
    }
}
