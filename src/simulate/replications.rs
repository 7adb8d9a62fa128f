//! Independent replications on several threads, with results that do not depend on the threads.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs `replicate` for every index and returns the results in order of the index.
///
/// Threads take the next index from a counter. Scoped threads of the standard library do: the tasks are few and long, so a
/// work-stealing pool would add a dependency and no speed.
pub(super) fn replicate<T: Send>(
    indices: Range<u32>,
    threads: NonZeroUsize,
    replicate: impl Fn(u32) -> T + Sync,
) -> Vec<T> {
    let helpers = threads.get().min(indices.len()).saturating_sub(1);
    let next = AtomicU32::new(indices.start);
    let finished = Mutex::new(Vec::with_capacity(indices.len()));
    let work = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= indices.end {
                return;
            }
            let result = replicate(index);
            finished.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(work);
        }
        work();
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
        for threads in [1, 2, 7] {
            let threads = NonZeroUsize::new(threads).unwrap();
            let squares: Vec<u32> = (3..40).map(|n| n * n).collect();
            assert_eq!(replicate(3..40, threads, |n| n * n), squares);
            assert!(replicate(3..3, threads, |n| n).is_empty());
        }
    }
}
