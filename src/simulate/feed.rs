//! Arrival times with the service times that belong to them, in chunks.

use super::arrivals::{Arrivals, Source};
use super::law::Law;
use super::stream::{Purpose, Stream, Streams};

/// Entries in a chunk. Three chunks of floats stay within a 32 KiB first-level cache beside a pool's tree.
pub(super) const CHUNK: usize = 512;

/// Draws a class's arrivals and service times. The choice of law is made once a chunk, so the loop that draws knows its
/// law, and the loop that queues knows nothing of laws.
pub(super) struct Feed<'a> {
    source: Source,
    service: &'a Law,
    service_stream: Stream,
    times: Box<[f64; CHUNK]>,
    services: Box<[f64; CHUNK]>,
    filled: usize,
}

impl<'a> Feed<'a> {
    pub(super) fn new(arrivals: &Arrivals, service: &'a Law, streams: Streams, class: usize) -> Self {
        Feed {
            source: arrivals.source(streams.stream(class, Purpose::Arrival)),
            service,
            service_stream: streams.stream(class, Purpose::Service),
            times: Box::new([0.0; CHUNK]),
            services: Box::new([0.0; CHUNK]),
            filled: 0,
        }
    }

    /// Draws the next chunk. A chunk that is not full is the last that holds anything.
    pub(super) fn refill(&mut self) {
        self.filled = self.source.fill(&mut self.times[..]);
        self.service.fill(&mut self.service_stream, &mut self.services[..self.filled]);
    }

    /// Arrival times of the chunk, in order.
    pub(super) fn times(&self) -> &[f64] {
        &self.times[..self.filled]
    }

    /// The service time of each arrival of the chunk.
    pub(super) fn services(&self) -> &[f64] {
        &self.services[..self.filled]
    }
}
