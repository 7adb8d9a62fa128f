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
            for (sum, value) in product.iter_mut().zip(self.row(row)) {
                *sum += factor * value;
            }
        }
        product
    }

    fn swap_rows(&mut self, first: usize, second: usize) {
        for column in 0..self.columns {
            self.values.swap(first * self.columns + column, second * self.columns + column);
        }
    }

    /// Takes `factor` times a row from a later one, from `column` on.
    fn subtract_row(&mut self, target: usize, source: usize, factor: f64, column: usize) {
        let (before, after) = self.values.split_at_mut(target * self.columns);
        let source = &before[source * self.columns..][..self.columns];
        subtract(&mut after[column..self.columns], &source[column..], factor);
    }
}

/// `factor` times `source` taken from `target`: slices of one length, so that it runs on several numbers at a time.
fn subtract(target: &mut [f64], source: &[f64], factor: f64) {
    for (value, other) in target.iter_mut().zip(source) {
        *value -= factor * other;
    }
}

/// X with A·X = B, by Gaussian elimination with partial pivoting (G. H. Golub, C. F. Van Loan, *Matrix
/// Computations*, 2013, §3.4). `a` is square and not singular.
pub(super) fn solve(mut a: Matrix, mut b: Matrix) -> Matrix {
    let size = a.rows;
    for pivot in 0..size {
        let largest = (pivot..size).max_by(|&x, &y| a.at(x, pivot).abs().total_cmp(&a.at(y, pivot).abs()));
        if let Some(row) = largest.filter(|&row| row != pivot) {
            a.swap_rows(row, pivot);
            b.swap_rows(row, pivot);
        }
        for row in pivot + 1..size {
            let factor = a.at(row, pivot) / a.at(pivot, pivot);
            if factor != 0.0 {
                a.subtract_row(row, pivot, factor, pivot);
                b.subtract_row(row, pivot, factor, 0);
            }
        }
    }
    for pivot in (0..size).rev() {
        let diagonal = a.at(pivot, pivot);
        let (unknown, known) = b.values.split_at_mut((pivot + 1) * b.columns);
        let unknown = &mut unknown[pivot * b.columns..];
        for (row, known) in known.chunks_exact(b.columns).enumerate() {
            subtract(unknown, known, a.at(pivot, pivot + 1 + row));
        }
        unknown.iter_mut().for_each(|value| *value /= diagonal);
    }
    b
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_solution_satisfies_its_equations(values in prop::collection::vec(-1.0f64..1.0, 36), right in prop::collection::vec(-1.0f64..1.0, 12)) {
            let mut a = Matrix { rows: 6, columns: 6, values };
            // Dominant enough to be far from singular, and not so that no pivot is ever exchanged.
            (0..6).for_each(|row| a.add(row, (row + 1) % 6, 4.0));
            let b = Matrix { rows: 6, columns: 2, values: right };
            let x = solve(a.clone(), b.clone());
            for row in 0..6 {
                let product = x_after(&x, a.row(row));
                for (column, value) in product.iter().enumerate() {
                    prop_assert!((value - b.at(row, column)).abs() < 1e-12);
                }
            }
        }
    }

    fn x_after(x: &Matrix, row: &[f64]) -> Vec<f64> {
        x.after(row)
    }
}
