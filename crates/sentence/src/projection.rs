//! Principal components.

use rayon::prelude::*;
use thiserror::Error;
use xpr_nn::Matrix;

/// An error of vectors that cannot be projected.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ProjectionError {
    /// The result would be larger than the vectors.
    #[error("the vectors have {size} numbers and cannot be projected to {wanted}")]
    Size {
        /// The size of the vectors.
        size: usize,
        /// The wanted size.
        wanted: usize,
    },
    /// All vectors are the same, so there is nothing to choose components by.
    #[error("a projection needs at least two different vectors")]
    NoVariance,
}

/// A projection onto principal components: the directions in which some vectors vary most.
///
/// The projected vectors have mean 0, and their mean squared norm is that of the vectors they were computed from.
#[derive(Clone, Debug, PartialEq)]
pub struct Projection {
    mean: Vec<f64>,
    /// The components, each multiplied with the scale.
    components: Vec<Vec<f64>>,
    kept: f64,
}

impl Projection {
    /// Computes the first `size` principal components of some vectors, one per row.
    ///
    /// The largest element of each component is positive. If the vectors vary in fewer than `size` directions, the last
    /// components are 0.
    ///
    /// # Errors
    /// If the vectors have fewer than `size` numbers, or if all vectors are the same.
    pub fn new(vectors: &Matrix, size: usize) -> Result<Self, ProjectionError> {
        if size > vectors.columns() {
            return Err(ProjectionError::Size { size: vectors.columns(), wanted: size });
        }
        let (mean, covariance) = moments(vectors);
        let dimensions = mean.len();
        let variance: f64 = (0..dimensions).map(|index| covariance[index][index]).sum();
        let squared_norm = variance + dot(&mean, &mean);
        let mut components = eigenvectors(covariance);
        let directions = components.len();
        components.truncate(size);
        let kept: f64 = components.iter().map(|(value, _)| value).sum();
        // Vectors that are all the same differ from their mean by rounding errors.
        if vectors.rows() < 2 || directions == 0 || variance <= 1e-12 * squared_norm || kept <= 0.0 {
            return Err(ProjectionError::NoVariance);
        }
        let scale = (squared_norm / kept).sqrt();
        let mut components: Vec<Vec<f64>> =
            components.into_iter().map(|(_, vector)| vector.iter().map(|x| x * scale).collect()).collect();
        components.resize(size, vec![0.0; dimensions]);
        Ok(Projection { mean, components, kept: kept / variance })
    }

    /// Returns the share of the variance that the components have.
    pub fn kept_variance(&self) -> f64 {
        self.kept
    }

    /// Projects vectors, one per row.
    ///
    /// # Panics
    /// Panics if the vectors have another size than those the projection was computed from.
    pub fn apply(&self, vectors: &Matrix) -> Matrix {
        assert_eq!(vectors.columns(), self.mean.len(), "the vectors have another size");
        let rows: Vec<Vec<f32>> = (0..vectors.rows())
            .into_par_iter()
            .map(|row| {
                let centred: Vec<f64> =
                    vectors.row(row).iter().zip(&self.mean).map(|(x, mean)| f64::from(*x) - mean).collect();
                self.components.iter().map(|component| dot(component, &centred) as f32).collect()
            })
            .collect();
        Matrix::new(vectors.rows(), self.components.len(), rows.concat())
    }
}

/// Returns the mean and the covariance of vectors.
fn moments(vectors: &Matrix) -> (Vec<f64>, Vec<Vec<f64>>) {
    /// The number of vectors that are added at once, few enough for a second-level cache.
    const BLOCK: usize = 256;
    let (rows, size) = (vectors.rows(), vectors.columns());
    let count = rows.max(1) as f64;
    let mut mean = vec![0.0; size];
    for row in 0..rows {
        mean.iter_mut().zip(vectors.row(row)).for_each(|(mean, x)| *mean += f64::from(*x));
    }
    mean.iter_mut().for_each(|mean| *mean /= count);
    let mut covariance = vec![vec![0.0; size]; size];
    for first in (0..rows).step_by(BLOCK) {
        let block: Vec<Vec<f64>> = (first..rows.min(first + BLOCK))
            .map(|row| vectors.row(row).iter().zip(&mean).map(|(x, mean)| f64::from(*x) - mean).collect())
            .collect();
        // Each element is added up by one thread in the order of the vectors, so the number of threads does not matter.
        covariance.par_iter_mut().enumerate().for_each(|(left, sums)| {
            for vector in &block {
                let factor = vector[left] / count;
                sums[left..].iter_mut().zip(&vector[left..]).for_each(|(sum, x)| *sum += factor * x);
            }
        });
    }
    for row in 1..size {
        let (before, from_row) = covariance.split_at_mut(row);
        from_row[0].iter_mut().zip(before).for_each(|(below, above)| *below = above[row]);
    }
    (mean, covariance)
}

/// Returns the positive eigenvalues of a covariance matrix with their eigenvectors, largest first.
///
/// This is one-sided Jacobi: pairs of rows are rotated until all rows are orthogonal. A rotation of rows multiplies with an
/// orthogonal matrix from the left, so in the end the rows are the eigenvectors, multiplied with their eigenvalues.
fn eigenvectors(mut rows: Vec<Vec<f64>>) -> Vec<(f64, Vec<f64>)> {
    /// The cosine of the angle between two rows below which they count as orthogonal.
    const TOLERANCE: f64 = 1e-12;
    /// The number of sweeps. About ten are enough, since the last ones converge quadratically.
    const SWEEPS: usize = 60;
    let total: f64 = rows.iter().map(|row| dot(row, row)).sum::<f64>().sqrt();
    // Rows below this are rounding errors, and angles between them mean nothing.
    let negligible = (1e-14 * total).powi(2);
    for _ in 0..SWEEPS {
        let mut rotated = false;
        for second in 1..rows.len() {
            let (before, from_second) = rows.split_at_mut(second);
            let right = &mut from_second[0];
            for left in before {
                let (a, b, c) = (dot(left, left), dot(right, right), dot(left, right));
                if c.abs() <= TOLERANCE * (a * b).sqrt() || a <= negligible || b <= negligible {
                    continue;
                }
                rotated = true;
                let zeta = (b - a) / (2.0 * c);
                let tangent = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
                let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
                let sine = cosine * tangent;
                for (x, y) in left.iter_mut().zip(right.iter_mut()) {
                    (*x, *y) = (cosine * *x - sine * *y, sine * *x + cosine * *y);
                }
            }
        }
        if !rotated {
            break;
        }
    }
    let mut pairs: Vec<(f64, Vec<f64>)> = rows
        .into_iter()
        .map(|row| (dot(&row, &row).sqrt(), row))
        .filter(|(value, _)| *value > 1e-12 * total)
        .collect();
    pairs.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    for (value, vector) in &mut pairs {
        let largest = vector
            .iter()
            .copied()
            .fold(0.0, |largest: f64, x| if x.abs() > largest.abs() { x } else { largest });
        let factor = largest.signum() / *value;
        vector.iter_mut().for_each(|x| *x *= factor);
    }
    pairs
}

/// Returns the dot product, as four sums that the compiler can keep in vectors.
fn dot(left: &[f64], right: &[f64]) -> f64 {
    let ((left, left_rest), (right, right_rest)) = (left.as_chunks::<4>(), right.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (left, right) in left.iter().zip(right) {
        for ((sum, left), right) in sums.iter_mut().zip(left).zip(right) {
            *sum += left * right;
        }
    }
    let rest: f64 = left_rest.iter().zip(right_rest).map(|(left, right)| left * right).sum();
    sums.iter().sum::<f64>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_nn::Random;

    fn assert_close(found: f64, expected: f64) {
        assert!((found - expected).abs() <= 1e-9 * (1.0 + expected.abs()), "{found}, not {expected}");
    }

    #[test]
    fn eigenvectors_of_a_small_matrix_are_exact() {
        // The eigenvalues of [[2, 1], [1, 2]] are 3 and 1, and its eigenvectors the diagonals.
        let found = eigenvectors(vec![vec![2.0, 1.0], vec![1.0, 2.0]]);
        let root = 0.5f64.sqrt();
        for ((value, vector), (expected, direction)) in
            found.into_iter().zip([(3.0, [root, root]), (1.0, [root, -root])])
        {
            assert_close(value, expected);
            // The elements have the same size, so either may be the positive one.
            let sign = if expected < 2.0 { vector[0].signum() } else { 1.0 };
            vector.iter().zip(direction).for_each(|(found, expected)| assert_close(*found, sign * expected));
        }
    }

    #[test]
    fn eigenvectors_solve_their_equation_and_are_orthogonal() {
        let random = Random::new(7);
        let (rows, size) = (50, 24);
        let vectors =
            Matrix::new(rows, size, (0..(rows * size) as u64).map(|i| random.normal(i) as f32).collect());
        let (_, covariance) = moments(&vectors);
        let pairs = eigenvectors(covariance.clone());
        assert_eq!(pairs.len(), size);
        for (index, (value, vector)) in pairs.iter().enumerate() {
            for (row, x) in covariance.iter().zip(vector) {
                assert_close(dot(row, vector), value * x);
            }
            for (other, (_, second)) in pairs.iter().enumerate() {
                assert_close(dot(vector, second), f64::from(u8::from(index == other)));
            }
            let largest = vector.iter().max_by(|left, right| left.abs().total_cmp(&right.abs())).unwrap();
            assert!(*largest > 0.0);
            assert!(index == 0 || *value <= pairs[index - 1].0);
        }
    }

    #[test]
    fn a_projection_keeps_distances_within_its_directions() {
        // Four points of a plane in three dimensions.
        let vectors =
            Matrix::from_rows(&[&[3.0, 1.0, 0.0], &[-1.0, 1.0, 0.0], &[1.0, 1.0, 1.0], &[1.0, 1.0, -1.0]]);
        let projection = Projection::new(&vectors, 3).unwrap();
        let projected = projection.apply(&vectors);
        assert_close(projection.kept_variance(), 1.0);
        let squared_norm = |matrix: &Matrix| matrix.data().iter().map(|x| f64::from(x * x)).sum::<f64>();
        assert!((squared_norm(&projected) / squared_norm(&vectors) - 1.0).abs() < 1e-6);
        for row in 0..4 {
            assert_eq!(projected.row(row)[2], 0.0, "the plane has two directions");
        }
        // The first direction has the points that are four apart, the second those that are two apart.
        let [long, short] =
            [(0, 1, 0), (2, 3, 1)].map(|(a, b, column)| projected.row(a)[column] - projected.row(b)[column]);
        assert!((long / short - 2.0).abs() < 1e-6, "{long} {short}");

        let one = Projection::new(&vectors, 1).unwrap();
        assert_close(one.kept_variance(), 0.8);
    }

    #[test]
    fn vectors_without_variance_are_an_error() {
        let same = Matrix::from_rows(&[&[0.1, 0.2, 0.7][..]; 5]);
        assert_eq!(Projection::new(&same, 2), Err(ProjectionError::NoVariance));
        assert_eq!(Projection::new(&Matrix::zeros(0, 3), 2), Err(ProjectionError::NoVariance));
        assert_eq!(Projection::new(&same, 4), Err(ProjectionError::Size { size: 3, wanted: 4 }));
    }
}
