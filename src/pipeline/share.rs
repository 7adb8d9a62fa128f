//! Dealing out classes over ranks.

use crate::units::Share;

/// A class for each of `count` ranks, so that among the first n ranks of any n every class has its share as nearly
/// as whole numbers allow: each rank goes to the class that is furthest behind (the method of the largest deficit).
pub(super) fn apportion(shares: &[Share], count: usize) -> Vec<usize> {
    let shares: Vec<f64> = shares.iter().map(Share::get).collect();
    let mut given = vec![0.0; shares.len()];
    let mut classes = Vec::with_capacity(count);
    for rank in 1..=count {
        let behind = |class: &usize| shares[*class] * rank as f64 - given[*class];
        let class = (0..shares.len())
            .reduce(|most, next| if behind(&next) > behind(&most) { next } else { most })
            .unwrap_or(0);
        if let Some(given) = given.get_mut(class) {
            *given += 1.0;
        }
        classes.push(class);
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_class_has_its_share_of_any_first_ranks(first in 1u32..999, second in 1u32..999, count in 1usize..500) {
            let total = f64::from(first + second + 100);
            let shares: Vec<f64> = [first, second, 100].map(|part| f64::from(part) / total).into();
            let typed: Vec<Share> = shares.iter().map(|share| share.to_string().parse().unwrap()).collect();
            let classes = apportion(&typed, count);
            for n in 1..=count {
                for (class, share) in shares.iter().enumerate() {
                    let given = classes[..n].iter().filter(|given| **given == class).count();
                    prop_assert!((given as f64 - share * n as f64).abs() < 2.0);
                }
            }
        }
    }

    #[test]
    fn one_in_twenty_is_slow() {
        let classes = apportion(&["95%".parse().unwrap(), "5%".parse().unwrap()], 400);
        assert_eq!(classes.iter().filter(|class| **class == 1).count(), 20);
    }
}
