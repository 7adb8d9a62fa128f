//! The events that are on their way to delivery.

/// An event on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Job {
    pub(super) class: usize,
    /// Endpoint that it goes to; 0 where there are none.
    pub(super) endpoint: usize,
    /// Block that it came with.
    pub(super) block: Option<usize>,
    /// Stretch of the run in which it arrived, and to which everything about it is booked.
    pub(super) stretch: usize,
    pub(super) arrived_at: f64,
    /// When it joined the queue for the current attempt.
    pub(super) queued_at: f64,
    /// The number of the current attempt, from 1.
    pub(super) attempt: u32,
    /// How long the current attempt holds a worker.
    pub(super) service: f64,
    /// Whether the current attempt fails.
    pub(super) fails: bool,
    /// Its place in the queue while it waits; 0 otherwise.
    pub(super) ticket: u64,
}

/// Jobs by number; numbers are used again.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    jobs: Vec<Job>,
    free: Vec<usize>,
}

impl Jobs {
    pub(super) fn add(&mut self, job: Job) -> usize {
        if let Some(number) = self.free.pop() {
            self.jobs[number] = job;
            return number;
        }
        self.jobs.push(job);
        self.jobs.len() - 1
    }

    pub(super) fn remove(&mut self, number: usize) {
        // A ticket of 0 lets no entry of the queue take the number for the job that it knew.
        self.jobs[number].ticket = 0;
        self.free.push(number);
    }
}

impl std::ops::Index<usize> for Jobs {
    type Output = Job;

    fn index(&self, number: usize) -> &Job {
        &self.jobs[number]
    }
}

impl std::ops::IndexMut<usize> for Jobs {
    fn index_mut(&mut self, number: usize) -> &mut Job {
        &mut self.jobs[number]
    }
}
