//! Prometheus text exposition: the format in which the sandbox and the dispatcher show their counters.
//!
//! Only what those two pages need: counters, gauges and classic histograms, in the text format 0.0.4 that every
//! Prometheus and `whsize ingest` read. The counts live in the histograms and atomics of their owners; a metrics
//! registry would keep a second copy of each.

use std::fmt::{Display, Write as _};

/// The dispatcher's histogram of the service time: what a reader of its page looks for among its histograms.
pub const SERVICE_SECONDS: &str = "whsize_service_seconds";

/// What a family of samples is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Only ever rises; its name ends in `_total`.
    Counter,
    /// Rises and falls.
    Gauge,
    /// Cumulative buckets with a sum and a count.
    Histogram,
}

/// A page under construction.
#[derive(Debug, Default)]
pub struct Exposition {
    text: String,
}

/// One family of a page: every sample below has its name.
#[derive(Debug)]
pub struct Family<'page> {
    text: &'page mut String,
    name: &'page str,
}

impl Exposition {
    /// An empty page.
    #[must_use]
    pub fn new() -> Self {
        Exposition::default()
    }

    /// Starts a family. Names are `snake_case` with the unit as a suffix, as Prometheus advises.
    pub fn family<'page>(&'page mut self, name: &'page str, kind: Kind, help: &str) -> Family<'page> {
        let kind = match kind {
            Kind::Counter => "counter",
            Kind::Gauge => "gauge",
            Kind::Histogram => "histogram",
        };
        let help = help.replace('\\', "\\\\").replace('\n', "\\n");
        put(&mut self.text, format_args!("# HELP {name} {help}\n# TYPE {name} {kind}\n"));
        Family { text: &mut self.text, name }
    }

    /// The finished page.
    #[must_use]
    pub fn finish(self) -> String {
        self.text
    }
}

impl Family<'_> {
    /// One sample of a counter or gauge.
    pub fn sample(&mut self, labels: &[(&str, &str)], value: impl Display) -> &mut Self {
        self.line("", labels, None, value);
        self
    }

    /// One histogram: `(upper edge in seconds, number of values at or below it)` in rising order, then the exact
    /// sum and count. The `+Inf` bucket is added.
    pub fn histogram(
        &mut self,
        labels: &[(&str, &str)],
        buckets: impl IntoIterator<Item = (f64, u64)>,
        sum_s: f64,
        count: u64,
    ) -> &mut Self {
        for (edge, at_or_below) in buckets {
            self.line("_bucket", labels, Some(&edge.to_string()), at_or_below);
        }
        self.line("_bucket", labels, Some("+Inf"), count);
        self.line("_sum", labels, None, sum_s);
        self.line("_count", labels, None, count);
        self
    }

    fn line(&mut self, suffix: &str, labels: &[(&str, &str)], edge: Option<&str>, value: impl Display) {
        self.text.push_str(self.name);
        self.text.push_str(suffix);
        let all = labels.iter().copied().chain(edge.map(|edge| ("le", edge)));
        let mut opening = '{';
        for (name, label) in all {
            self.text.push(opening);
            put(self.text, format_args!("{name}=\"{}\"", escaped(label)));
            opening = ',';
        }
        if opening == ',' {
            self.text.push('}');
        }
        put(self.text, format_args!(" {value}\n"));
    }
}

/// Label values escape the backslash, the quote and the line feed.
fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

fn put(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(arguments);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_what_the_text_format_prescribes() {
        let mut page = Exposition::new();
        page.family("jobs_total", Kind::Counter, "Jobs.\nAll of them.")
            .sample(&[], 3)
            .sample(&[("host", "a\"b\\c\nd")], 4);
        page.family("wait_seconds", Kind::Histogram, "Wait.").histogram(
            &[("phase", "read")],
            [(0.005, 1), (0.01, 2)],
            0.75,
            3,
        );
        let expected = r#"# HELP jobs_total Jobs.\nAll of them.
# TYPE jobs_total counter
jobs_total 3
jobs_total{host="a\"b\\c\nd"} 4
# HELP wait_seconds Wait.
# TYPE wait_seconds histogram
wait_seconds_bucket{phase="read",le="0.005"} 1
wait_seconds_bucket{phase="read",le="0.01"} 2
wait_seconds_bucket{phase="read",le="+Inf"} 3
wait_seconds_sum{phase="read"} 0.75
wait_seconds_count{phase="read"} 3
"#;
        assert_eq!(page.finish(), expected);
    }
}
