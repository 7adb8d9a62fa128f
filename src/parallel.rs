//! Independent pieces of work on several threads, with results that do not depend on the threads.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Does `work` for every item and returns the results in order of the items.
///
/// Threads take the next item from a counter. Scoped threads of the standard library do: the items are few and long, so a
/// work-stealing pool would add a dependency and no speed.
pub(crate) fn each<I: Sync, T: Send>(
    items: &[I],
    threads: NonZeroUsize,
    work: impl Fn(&I) -> T + Sync,
) -> Vec<T> {
    let helpers = threads.get().min(items.len()).saturating_sub(1);
    let next = AtomicUsize::new(0);
    let finished = Mutex::new(Vec::with_capacity(items.len()));
    let take = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { return };
            let result = work(item);
            finished.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(take);
        }
        take();
    });
    let mut finished = finished.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    finished.sort_unstable_by_key(|(index, _)| *index);
    finished.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_threads() {
        let numbers: Vec<u32> = (3..40).collect();
        for threads in [1, 2, 7] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let squares: Vec<u32> = (3..40).map(|n| n * n).collect();
            assert_eq!(each(&numbers, threads, |n| n * n), squares);
            assert!(each(&[], threads, |n: &u32| *n).is_empty());
        }
    }
}
