//! Small dense linear algebra: systems of a few dozen equations, solved directly.

/// A dense matrix, row by row.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
}

impl Matrix {
    pub(super) fn zero(rows: usize, columns: usize) -> Self {
        Matrix { rows, columns, values: vec![0.0; rows * columns] }
    }

    pub(super) fn at(&self, row: usize, column: usize) -> f64 {
        self.values[row * self.columns + column]
    }

    pub(super) fn add(&mut self, row: usize, column: usize, value: f64) {
        self.values[row * self.columns + column] += value;
    }

    pub(super) fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..][..self.columns]
    }

    /// The row vector times this matrix.
    pub(super) fn after(&self, vector: &[f64]) -> Vec<f64> {
        let mut product = vec![0.0; self.columns];
        for (row, factor) in vector.iter().enumerate() {
            add(&mut product, self.row(row), *factor);
        }
        product
    }

    /// The row as it is being built up.
    pub(super) fn row_mut(&mut self, row: usize) -> &mut [f64] {
        &mut self.values[row * self.columns..][..self.columns]
    }
}

/// `factor` times `source` added to `target`: slices of one length, so that it runs on several numbers at a time.
pub(super) fn add(target: &mut [f64], source: &[f64], factor: f64) {
    for (value, other) in target.iter_mut().zip(source) {
        *value += factor * other;
    }
}

/// X with A·X = B, by Gaussian elimination with partial pivoting (G. H. Golub, C. F. Van Loan, *Matrix
/// Computations*, 2013, §3.4). `a` is square and not singular.
pub(super) fn solve(a: &Matrix, b: &Matrix) -> Matrix {
    // A and B side by side, so that what is done to a row is done to both at once.
    let (size, width) = (a.rows, a.columns + b.columns);
    let mut both = Vec::with_capacity(size * width);
    for row in 0..size {
        both.extend_from_slice(a.row(row));
        both.extend_from_slice(b.row(row));
    }
    for pivot in 0..size {
        let mut largest = pivot;
        for row in pivot + 1..size {
            if both[row * width + pivot].abs() > both[largest * width + pivot].abs() {
                largest = row;
            }
        }
        let (source, below) = both[pivot * width..].split_at_mut(width);
        if largest != pivot {
            source.swap_with_slice(&mut below[(largest - pivot - 1) * width..][..width]);
        }
        let source = &source[pivot..];
        for row in below.chunks_exact_mut(width) {
            let factor = row[pivot] / source[0];
            if factor != 0.0 {
                add(&mut row[pivot..], source, -factor);
            }
        }
    }
    for pivot in (0..size).rev() {
        let (row, below) = both[pivot * width..].split_at_mut(width);
        let (coefficients, unknown) = row.split_at_mut(size);
        for (known, coefficient) in below.chunks_exact(width).zip(&coefficients[pivot + 1..]) {
            add(unknown, &known[size..], -coefficient);
        }
        unknown.iter_mut().for_each(|value| *value /= coefficients[pivot]);
    }
    let mut values = Vec::with_capacity(b.values.len());
    both.chunks_exact(width).for_each(|row| values.extend_from_slice(&row[size..]));
    Matrix { rows: size, columns: b.columns, values }
}

/// A⁻¹ by Gauss–Jordan elimination in place, without exchanges of rows: for a square matrix whose rows are dominated by
/// their diagonal (N. J. Higham, *Accuracy and Stability of Numerical Algorithms*, 2002, §14.4).
pub(super) fn inverse(mut a: Matrix) -> Matrix {
    let size = a.rows;
    for pivot in 0..size {
        let (above, rest) = a.values.split_at_mut(pivot * size);
        let (source, below) = rest.split_at_mut(size);
        let scale = std::mem::replace(&mut source[pivot], 1.0).recip();
        source.iter_mut().for_each(|value| *value *= scale);
        for row in above.chunks_exact_mut(size).chain(below.chunks_exact_mut(size)) {
            let factor = std::mem::replace(&mut row[pivot], 0.0);
            add(row, source, -factor);
        }
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_matrix_times_its_inverse_is_one(values in prop::collection::vec(-1.0f64..1.0, 36)) {
            let mut a = Matrix { rows: 6, columns: 6, values };
            (0..6).for_each(|row| a.add(row, row, 6.5));
            let inverse = inverse(a.clone());
            for row in 0..6 {
                for (column, value) in inverse.after(a.row(row)).iter().enumerate() {
                    prop_assert!((value - f64::from(row == column)).abs() < 1e-12);
                }
            }
        }

        #[test]
        fn the_solution_satisfies_its_equations(values in prop::collection::vec(-1.0f64..1.0, 36), right in prop::collection::vec(-1.0f64..1.0, 12)) {
            let mut a = Matrix { rows: 6, columns: 6, values };
            // Dominant enough to be far from singular, and not so that no pivot is ever exchanged.
            (0..6).for_each(|row| a.add(row, (row + 1) % 6, 4.0));
            let b = Matrix { rows: 6, columns: 2, values: right };
            let x = solve(&a, &b);
            for row in 0..6 {
                let product = x.after(a.row(row));
                for (column, value) in product.iter().enumerate() {
                    prop_assert!((value - b.at(row, column)).abs() < 1e-12);
                }
            }
        }
    }
}
