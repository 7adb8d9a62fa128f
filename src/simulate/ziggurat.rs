//! Exponential and normal variates by the ziggurat method, with logarithms from pure Rust.
//!
//! Method: Marsaglia and Tsang, "The ziggurat method for generating random variables", Journal of Statistical
//! Software 5(8), 2000, with 256 layers. `rand_distr` has the same method, but takes `ln` and `exp` from
//! `num-traits`, which any crate in the tree can switch to the platform's mathematics library; the same seed
//! would then give other bytes elsewhere.

use super::stream::{Stream, unit};
use std::sync::LazyLock;

const LAYERS: usize = 256;

/// Layers of equal area under a falling density: `edge` falls from the base layer's virtual width to 0,
/// `height` is the density at each edge.
struct Layers {
    edge: [f64; LAYERS + 1],
    height: [f64; LAYERS + 1],
}

impl Layers {
    /// `tail` is where the base layer's tail begins, `beyond` the area under the density from there on.
    fn new(tail: f64, beyond: f64, density: fn(f64) -> f64, inverse: fn(f64) -> f64) -> Self {
        let area = tail * density(tail) + beyond;
        let mut edge = [0.0; LAYERS + 1];
        edge[0] = area / density(tail);
        edge[1] = tail;
        for layer in 2..LAYERS {
            let below = edge[layer - 1];
            edge[layer] = inverse(area / below + density(below));
        }
        edge[LAYERS] = 0.0;
        Layers { edge, height: edge.map(density) }
    }
}

fn exponential_density(x: f64) -> f64 {
    libm::exp(-x)
}

fn normal_density(x: f64) -> f64 {
    libm::exp(-0.5 * x * x)
}

/// Where the tails begin with 256 layers: Marsaglia and Tsang's constants, for which the layers close at the mode.
const EXPONENTIAL_TAIL: f64 = 7.697_117_470_131_05;
const NORMAL_TAIL: f64 = 3.654_152_885_361_009;

static EXPONENTIAL: LazyLock<Layers> = LazyLock::new(|| {
    let beyond = exponential_density(EXPONENTIAL_TAIL);
    Layers::new(EXPONENTIAL_TAIL, beyond, exponential_density, |height| -libm::log(height))
});

static NORMAL: LazyLock<Layers> = LazyLock::new(|| {
    let beyond = std::f64::consts::FRAC_PI_2.sqrt() * libm::erfc(NORMAL_TAIL / std::f64::consts::SQRT_2);
    Layers::new(NORMAL_TAIL, beyond, normal_density, |height| (-2.0 * libm::log(height)).sqrt())
});

/// A uniform on (0, 1], whose logarithm is finite.
fn positive_uniform(stream: &mut Stream) -> f64 {
    1.0 - stream.uniform()
}

/// Draws exponential variates with mean 1.
#[derive(Clone, Copy)]
pub(super) struct Exponential(&'static Layers);

impl Exponential {
    pub(super) fn new() -> Self {
        Exponential(&EXPONENTIAL)
    }

    #[inline(always)]
    pub(super) fn draw(self, stream: &mut Stream) -> f64 {
        loop {
            let bits = stream.bits();
            // The layer takes the lowest eight bits, the place within it the highest 53.
            let layer = (bits & 0xff) as usize;
            let x = unit(bits) * self.0.edge[layer];
            if x < self.0.edge[layer + 1] {
                return x;
            }
            if let Some(x) = self.outside_the_core(layer, x, stream) {
                return x;
            }
        }
    }

    /// One draw in fifty: the tail, or the wedge between a layer's core and the density.
    #[cold]
    fn outside_the_core(self, layer: usize, x: f64, stream: &mut Stream) -> Option<f64> {
        if layer == 0 {
            return Some(EXPONENTIAL_TAIL - libm::log(positive_uniform(stream)));
        }
        in_wedge(self.0, layer, x, exponential_density, stream).then_some(x)
    }
}

/// Draws standard normal variates.
#[derive(Clone, Copy)]
pub(super) struct Normal(&'static Layers);

impl Normal {
    pub(super) fn new() -> Self {
        Normal(&NORMAL)
    }

    #[inline(always)]
    pub(super) fn draw(self, stream: &mut Stream) -> f64 {
        loop {
            let bits = stream.bits();
            let layer = (bits & 0xff) as usize;
            let sign = if bits & 0x100 == 0 { 1.0 } else { -1.0 };
            let x = unit(bits) * self.0.edge[layer];
            if x < self.0.edge[layer + 1] {
                return sign * x;
            }
            if let Some(x) = self.outside_the_core(layer, x, stream) {
                return sign * x;
            }
        }
    }

    #[cold]
    fn outside_the_core(self, layer: usize, x: f64, stream: &mut Stream) -> Option<f64> {
        if layer > 0 {
            return in_wedge(self.0, layer, x, normal_density, stream).then_some(x);
        }
        // Marsaglia's tail method (1964).
        loop {
            let beyond = -libm::log(positive_uniform(stream)) / NORMAL_TAIL;
            let height = -libm::log(positive_uniform(stream));
            if 2.0 * height >= beyond * beyond {
                return Some(NORMAL_TAIL + beyond);
            }
        }
    }
}

fn in_wedge(layers: &Layers, layer: usize, x: f64, density: fn(f64) -> f64, stream: &mut Stream) -> bool {
    let (low, high) = (layers.height[layer], layers.height[layer + 1]);
    low + (high - low) * stream.uniform() < density(x)
}

#[cfg(test)]
mod tests {
    use super::super::stream::{Purpose, Streams};
    use super::*;

    /// Kolmogorov–Smirnov distance of sorted values from a distribution function.
    fn distance(mut values: Vec<f64>, distribution: impl Fn(f64) -> f64) -> f64 {
        values.sort_by(f64::total_cmp);
        let count = values.len() as f64;
        values
            .iter()
            .enumerate()
            .map(|(rank, &value)| {
                let exact = distribution(value);
                (exact - rank as f64 / count).abs().max((exact - (rank as f64 + 1.0) / count).abs())
            })
            .fold(0.0, f64::max)
    }

    const DRAWS: usize = 200_000;
    /// The distance that is exceeded once in 10⁶ (Kolmogorov's limit, √(ln(2·10⁶)/2n)).
    const LIMIT: f64 = 0.006_023;

    #[test]
    fn exponential_draws_follow_their_distribution() {
        let mut stream = Streams::new(1, 0).stream(0, Purpose::Service);
        let draws: Vec<f64> = (0..DRAWS).map(|_| Exponential::new().draw(&mut stream)).collect();
        assert!(draws.iter().any(|&x| x > EXPONENTIAL_TAIL), "the tail is reached");
        assert!(distance(draws, |x| -libm::expm1(-x)) < LIMIT);
    }

    #[test]
    fn normal_draws_follow_their_distribution() {
        let mut stream = Streams::new(2, 0).stream(0, Purpose::Service);
        let draws: Vec<f64> = (0..DRAWS).map(|_| Normal::new().draw(&mut stream)).collect();
        assert!(draws.iter().any(|&x| x.abs() > NORMAL_TAIL), "the tail is reached");
        assert!(distance(draws, |x| 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)) < LIMIT);
    }

    #[test]
    fn the_layers_close_at_the_mode() {
        for layers in [&EXPONENTIAL, &NORMAL] {
            assert!(layers.edge.windows(2).all(|pair| pair[0] > pair[1]));
            // The topmost layer must have the common area too: that is what fixes where the tails begin.
            let base_area = layers.edge[0] * layers.height[1];
            let top_area = layers.edge[LAYERS - 1] * (1.0 - layers.height[LAYERS - 1]);
            assert!((top_area / base_area - 1.0).abs() < 1e-9, "{top_area} {base_area}");
        }
    }
}
