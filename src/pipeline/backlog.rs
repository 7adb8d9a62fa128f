//! How long a backlog takes to go.

use crate::units::Exact;

/// The time in seconds until `backlog` is gone where `served` leave and `arriving` come in a second:
/// backlog/(μ − λ). `None` where as many arrive as leave, or more; 0 for no backlog.
#[must_use]
pub fn drain_s(backlog: &Exact, served: &Exact, arriving: &Exact) -> Option<f64> {
    if backlog.is_zero() {
        return Some(0.0);
    }
    served.minus(arriving).and_then(|net| backlog.over(&net)).map(|seconds| seconds.to_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_at_500_in_and_600_out_takes_10_000_seconds() {
        let million = Exact::whole(1_000_000);
        assert_eq!(drain_s(&million, &Exact::whole(600), &Exact::whole(500)), Some(10_000.0));
        assert_eq!(drain_s(&million, &Exact::whole(500), &Exact::whole(500)), None);
        assert_eq!(drain_s(&million, &Exact::whole(400), &Exact::whole(500)), None);
        assert_eq!(drain_s(&Exact::zero(), &Exact::whole(1), &Exact::whole(2)), Some(0.0));
    }
}
