//! A progress bar on a terminal's standard error for what takes longer than a second.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use whsize::ingest::Watch;
use whsize::units::human;

/// Nothing is shown before.
const PATIENCE: Duration = Duration::from_secs(1);

/// Between two looks.
const TICK: Duration = Duration::from_millis(100);

/// Shows how far a reading is until it is dropped.
pub(crate) struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Watches the reading of these files, if somebody sits at a terminal.
    pub(crate) fn of(files: &[String], watch: &Watch, quiet: bool) -> Option<Self> {
        if quiet || !stderr().is_terminal() {
            return None;
        }
        // Without a length, as of a pipe, there is no time left to tell.
        let length = |file: &String| std::fs::metadata(file).ok().filter(std::fs::Metadata::is_file);
        let total = files.iter().map(|file| length(file).map(|file| file.len())).sum::<Option<u64>>();
        let (stop, stopped) = channel();
        let watch = watch.clone();
        let thread = thread::spawn(move || show(&watch, total, &stopped));
        Some(Progress { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            // A bar that could not be drawn is no reason to fail.
            let _ = thread.join();
        }
    }
}

fn show(watch: &Watch, total: Option<u64>, stopped: &Receiver<()>) {
    let started = Instant::now();
    if stopped.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
        return;
    }
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr());
    let template = match total {
        Some(_) => "{bar:30} {percent:>3}%  {msg}, {eta} left",
        None => "{spinner} {decimal_bytes}  {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    bar.reset_elapsed();
    loop {
        let rows = watch.rows();
        let rate = rows as f64 / started.elapsed().as_secs_f64();
        bar.set_message(format!("{} rows, {} rows/s", human::count(rows), human::significant(rate, 3)));
        bar.set_position(watch.bytes());
        if stopped.recv_timeout(TICK) != Err(RecvTimeoutError::Timeout) {
            break;
        }
    }
    bar.finish_and_clear();
}
