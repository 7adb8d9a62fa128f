//! The plain queue: one class, first come first served, everybody waits and is served once.
//!
//! Its waits follow from a recursion without an event list (Kiefer and Wolfowitz 1955): an arrival is served by the server
//! that is free first, from the later of the two moments. Three loops over a chunk of entries draw, queue and record.

use super::arrivals::Arrivals;
use super::feed::{CHUNK, Feed};
use super::histogram::Recorder;
use super::law::Law;
use super::servers::Servers;
use super::stream::Streams;
use super::stretch::{Horizon, Stretches};
use super::tally::{Replicate, Segment, Tally};

/// A plain queue, and what to record of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlainQueue<'a> {
    pub(super) workers: usize,
    pub(super) arrivals: &'a Arrivals,
    pub(super) service: &'a Law,
    pub(super) record: Record<'a>,
}

/// What is recorded of each wait beside its sum.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    /// Limits, in seconds, whose excess is counted.
    pub(super) limits_s: &'a [f64],
    /// Whether the histogram and the queue's length are kept.
    pub(super) distribution: bool,
}

impl PlainQueue<'_> {
    /// Runs one replication.
    pub(super) fn run(&self, stretches: &Stretches, streams: Streams) -> Replicate {
        let mut feed = Feed::new(self.arrivals, self.service, streams, 0);
        let mut servers = Servers::new(self.workers);
        let mut waits = [0.0; CHUNK];
        let mut book = Book::new(self.record);
        let mut ends = stretches.ends().iter().copied();
        let Some(mut end) = ends.next() else { return Replicate::default() };
        loop {
            feed.refill();
            let (times, services) = (feed.times(), feed.services());
            let arrivals_ended = times.len() < CHUNK;
            let mut from = 0;
            loop {
                let to = from + end.takes(&times[from..], book.arrived);
                let (times_taken, waits_taken) = (&times[from..to], &mut waits[from..to]);
                queue(&mut servers, times_taken, &services[from..to], waits_taken);
                book.record(times_taken, waits_taken, &services[from..to]);
                from = to;
                let complete = from < times.len() || arrivals_ended || end == Horizon::Arrivals(book.arrived);
                if !complete {
                    break;
                }
                book.close_stretch(end, &servers);
                match ends.next() {
                    Some(next) => end = next,
                    None => return Replicate { segments: book.segments, blocks: Vec::new() },
                }
            }
        }
    }
}

/// The recursion: from arrival and service times to waits.
fn queue(servers: &mut Servers, times: &[f64], services: &[f64], waits: &mut [f64]) {
    for ((&time, &service), wait) in times.iter().zip(services).zip(waits) {
        let free = servers.first_free();
        let start = if free > time { free } else { time };
        *wait = start - time;
        servers.occupy_first(start + service);
    }
}

/// Keeps the record of a run.
struct Book<'a> {
    record: Record<'a>,
    recorder: Option<Recorder>,
    depth: Depth,
    tally: Tally,
    segments: Vec<Segment>,
    arrived: u64,
    last_arrival: f64,
    /// Service time given out so far, and server-seconds worked until the last stretch ended.
    assigned: f64,
    worked: f64,
    stretch_began: f64,
}

impl<'a> Book<'a> {
    fn new(record: Record<'a>) -> Self {
        let mut book = Book {
            record,
            recorder: record.distribution.then(Recorder::new),
            depth: Depth::new(),
            tally: Tally::default(),
            segments: Vec::new(),
            arrived: 0,
            last_arrival: 0.0,
            assigned: 0.0,
            worked: 0.0,
            stretch_began: 0.0,
        };
        book.tally.beyond = vec![0; record.limits_s.len()];
        book
    }

    fn record(&mut self, times: &[f64], waits: &[f64], services: &[f64]) {
        let Some(&last) = times.last() else { return };
        self.arrived += times.len() as u64;
        self.last_arrival = last;
        self.assigned += services.iter().sum::<f64>();
        let tally = &mut self.tally;
        let (mut waited, mut sum, mut oldest) = (0_u64, 0.0, tally.oldest);
        for &wait in waits {
            waited += u64::from(wait > 0.0);
            sum += wait;
            oldest = if wait > oldest { wait } else { oldest };
        }
        tally.arrivals += times.len() as u64;
        tally.waited += waited;
        tally.wait_sum += sum;
        tally.oldest = oldest;
        for (count, limit) in tally.beyond.iter_mut().zip(self.record.limits_s) {
            *count += waits.iter().map(|wait| u64::from(wait > limit)).sum::<u64>();
        }
        if let Some(recorder) = &mut self.recorder {
            for (&time, &wait) in times.iter().zip(waits) {
                recorder.record(wait);
                self.depth.record(time, wait);
            }
        }
    }

    fn close_stretch(&mut self, end: Horizon, servers: &Servers) {
        let now = match end {
            Horizon::Seconds(end) => end,
            Horizon::Arrivals(_) => self.last_arrival,
        };
        let worked = self.assigned - servers.work_left(now);
        let mut tally = std::mem::take(&mut self.tally);
        self.tally.beyond = vec![0; self.record.limits_s.len()];
        tally.entries = tally.arrivals;
        tally.fates.delivered = tally.arrivals;
        if let Some(recorder) = &mut self.recorder {
            tally.waits = recorder.take();
        }
        self.segments.push(Segment {
            classes: vec![tally],
            span: now - self.stretch_began,
            busy: (worked - self.worked).max(0.0),
            queue_longest: self.depth.take_deepest(),
        });
        self.worked = worked;
        self.stretch_began = now;
    }
}

/// The greatest length of the queue. Entries start in the order of their arrival, so the queue is longer than `deepest`
/// exactly if the entry that came `deepest` places before this one has not started: one look a wait, and no list.
struct Depth {
    /// Start times of the latest entries; a power of two of them.
    starts: Vec<f64>,
    entries: usize,
    deepest: usize,
}

impl Depth {
    fn new() -> Self {
        Depth { starts: vec![0.0; 64], entries: 0, deepest: 0 }
    }

    #[inline(always)]
    fn record(&mut self, time: f64, wait: f64) {
        let mask = self.starts.len() - 1;
        self.starts[self.entries & mask] = time + wait;
        if self.starts[self.entries.wrapping_sub(self.deepest) & mask] > time {
            self.deepen(time);
        }
        self.entries += 1;
    }

    #[cold]
    fn deepen(&mut self, time: f64) {
        // The latest entry is number `entries`; its own wait makes a queue of one.
        while self.deepest <= self.entries {
            let mask = self.starts.len() - 1;
            if self.starts[(self.entries - self.deepest) & mask] <= time {
                break;
            }
            self.deepest += 1;
            if self.deepest == self.starts.len() {
                self.grow();
            }
        }
    }

    /// Doubles the room. Entries that are no longer known have started long ago: time 0 stands for them.
    fn grow(&mut self) {
        let old = std::mem::take(&mut self.starts);
        self.starts = vec![0.0; 2 * old.len()];
        let mask = self.starts.len() - 1;
        for entry in (self.entries + 1).saturating_sub(old.len())..=self.entries {
            self.starts[entry & mask] = old[entry & (old.len() - 1)];
        }
    }

    fn take_deepest(&mut self) -> u64 {
        std::mem::take(&mut self.deepest) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lindley's recursion by hand: one server, arrivals at 0, 1, 2, 10, each served for 2 s.
    #[test]
    fn one_server_queues_as_lindley_says() {
        let times = [0.0, 1.0, 2.0, 10.0];
        let mut waits = [0.0; 4];
        queue(&mut Servers::new(1), &times, &[2.0; 4], &mut waits);
        assert_eq!(waits, [0.0, 1.0, 2.0, 0.0]);
    }

    fn replicate(workers: usize, times: &[f64], service: f64, stretches: &Stretches) -> Replicate {
        let arrivals = Arrivals::trace(times.to_vec()).unwrap();
        let service = Law::constant(service).unwrap();
        let record = Record { limits_s: &[0.5, 1.0], distribution: true };
        let queue = PlainQueue { workers, arrivals: &arrivals, service: &service, record };
        queue.run(stretches, Streams::new(1, 0))
    }

    #[test]
    fn a_run_is_cut_where_its_stretches_end() {
        let times = [0.0, 1.0, 2.0, 10.0];
        let stretches = Stretches::ending_at(vec![Horizon::Seconds(2.0), Horizon::Seconds(12.0)]);
        let run = replicate(1, &times, 2.0, &stretches);
        let [first, second] = &run.segments[..] else { panic!("two stretches") };
        assert_eq!((first.classes[0].arrivals, second.classes[0].arrivals), (2, 2));
        assert_eq!((first.classes[0].wait_sum, second.classes[0].wait_sum), (1.0, 2.0));
        assert_eq!((first.busy, second.busy), (2.0, 6.0));
        assert_eq!((first.span, second.span), (2.0, 10.0));
        assert_eq!(first.classes[0].beyond, [1, 0]);
        assert_eq!(second.classes[0].beyond, [1, 1]);
        assert_eq!(second.classes[0].oldest, 2.0);
    }

    #[test]
    fn counted_stretches_end_with_their_last_arrival() {
        let times: Vec<f64> = (0..5000).map(|n| f64::from(n) * 0.1).collect();
        let stretches = Stretches::equal(Horizon::Arrivals(4096), 4);
        let run = replicate(1, &times, 0.05, &stretches);
        let counts: Vec<u64> = run.segments.iter().map(|s| s.classes[0].arrivals).collect();
        assert_eq!(counts, [1024; 4]);
        let total: f64 = run.segments.iter().map(|segment| segment.span).sum();
        assert!((total - 409.5).abs() < 1e-9);
    }

    #[test]
    fn a_trace_that_ends_closes_every_stretch() {
        let stretches = Stretches::equal(Horizon::Seconds(8.0), 4);
        let run = replicate(2, &[0.0, 0.0, 0.0], 3.0, &stretches);
        let busy: Vec<f64> = run.segments.iter().map(|segment| segment.busy).collect();
        assert_eq!(busy, [4.0, 3.0, 2.0, 0.0]);
        assert_eq!(run.segments[0].queue_longest, 1);
    }

    #[test]
    fn the_longest_queue_is_that_of_a_count_at_every_arrival() {
        let mut stream = Streams::new(9, 0).stream(0, super::super::stream::Purpose::Arrival);
        let mut times = vec![0.0; 3000];
        Law::exponential(1.0).unwrap().fill(&mut stream, &mut times);
        for index in 1..times.len() {
            // Twice the load for the first two thousand, then a quarter of it.
            let pace = if index < 2000 { 0.5 } else { 4.0 };
            times[index] = times[index - 1] + pace * times[index];
        }
        let mut waits = vec![0.0; times.len()];
        queue(&mut Servers::new(1), &times, &vec![1.0; times.len()], &mut waits);
        let longest = (0..times.len())
            .map(|n| (0..=n).filter(|&earlier| times[earlier] + waits[earlier] > times[n]).count())
            .max()
            .unwrap();
        assert!(longest > 500, "the ring must have grown: {longest}");
        let run = replicate(1, &times, 1.0, &Stretches::equal(Horizon::Arrivals(3000), 1));
        assert_eq!(run.segments[0].queue_longest, longest as u64);
    }
}
