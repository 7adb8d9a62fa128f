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
    // Both before the first frame, which would else show the one without the other.
    let bar = ProgressBar::with_draw_target(total, ProgressDrawTarget::stderr())
        .with_position(watch.bytes())
        .with_message(message(watch, total, started.elapsed()));
    let template = match total {
        Some(_) => "{bar:20} {percent:>3}%  {msg}",
        None => "{spinner} {decimal_bytes}  {msg}",
    };
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style);
    }
    while stopped.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
        bar.set_position(watch.bytes());
        bar.set_message(message(watch, total, started.elapsed()));
    }
    bar.finish_and_clear();
}

/// How many rows have been read, how fast, and how long the rest takes at that speed.
fn message(watch: &Watch, total: Option<u64>, elapsed: Duration) -> String {
    let (rows, bytes) = (watch.rows(), watch.bytes());
    let rate = three_digits(rows as f64 / elapsed.as_secs_f64());
    let so_far = format!("{} rows, {} rows/s", human::count(rows), human::count(rate));
    let rest = total.map(|total| total.saturating_sub(bytes) as f64 / bytes as f64);
    match rest.map(|rest| (elapsed.as_secs_f64() * rest).ceil()).filter(|left_s| left_s.is_finite()) {
        Some(left_s) => format!("{so_far}, {} left", human::duration(left_s)),
        None => so_far,
    }
}

/// A number without the digits that change at every look.
fn three_digits(number: f64) -> u64 {
    let unit = 10f64.powf((number.max(1.0).log10().floor() - 2.0).max(0.0));
    ((number / unit).round() * unit) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_speed_has_three_digits() {
        let shown = [0.0, 9.6, 999.4, 999.6, 12_345.0, 23_442_268.0].map(three_digits);
        assert_eq!(shown, [0, 10, 999, 1000, 12_300, 23_400_000]);
    }
}
