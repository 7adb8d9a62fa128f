//! How far the reading is, for whoever shows progress: this module reads no clock and writes nowhere.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Counters that the reading moves and another thread may look at.
#[derive(Clone, Debug, Default)]
pub struct Watch(Arc<Counters>);

#[derive(Debug, Default)]
struct Counters {
    bytes: AtomicU64,
    rows: AtomicU64,
}

impl Watch {
    /// Bytes of the files as they lie on the disk that have been read.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Relaxed)
    }

    /// Rows that have been read.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.0.rows.load(Relaxed)
    }

    pub(super) fn read_bytes(&self, more: u64) {
        self.0.bytes.fetch_add(more, Relaxed);
    }

    pub(super) fn read_rows(&self, rows: u64) {
        self.0.rows.store(rows, Relaxed);
    }
}
