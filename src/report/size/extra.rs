//! What `size` shows beside the pool: priority classes, and a block of events.

use super::wait;
use crate::report::{Column, Section, Table};
use crate::sizing::{BlockClearing, ClassWait};
use crate::units::human;

/// The waits by class.
pub(super) fn classes(classes: &[ClassWait]) -> Table {
    let columns = [Column::words("class"), Column::number("rate"), Column::number("mean wait")];
    let mut table = Table::new("Priority classes, the most urgent first", &columns);
    for class in classes {
        table.row([class.name.clone(), human::rate(class.rate_per_s), wait(class.wait_mean_s)]);
    }
    table
}

/// How a block clears, and what it does to what comes behind it.
pub(super) fn block(block: &BlockClearing) -> Section {
    let fact = |name: &str, value: String| (name.to_owned(), value);
    let at = block.at_s.map_or_else(String::new, |at_s| format!(", at {}", human::duration(at_s)));
    let mut rows = vec![fact("events", human::count(block.events) + &at)];
    let (Some(clear_s), Some([low, high]), Some(confidence), Some(backlog)) =
        (block.clear_s, block.clear_interval_s, block.clear_interval_confidence, block.backlog)
    else {
        rows.push(fact("cleared", "never: the pool does not keep up with the traffic itself".to_owned()));
        return Section::Facts { title: "Block", rows };
    };
    let at = block.cleared_at_s.map_or_else(String::new, |at_s| format!(", at {}", human::duration(at_s)));
    rows.push(fact(
        "events that wait",
        format!("{} on average, right after it", human::significant(backlog, 6)),
    ));
    rows.push(fact(
        "cleared after",
        format!(
            "{}{at} ({} to {} with {} confidence)",
            human::duration(clear_s),
            human::duration(low),
            human::duration(high),
            human::percent(confidence)
        ),
    ));
    let buffer =
        block.buffer.map(|buffer| format!("{}, for 99% of such blocks", human::counted(buffer, "place")));
    let urgent =
        block.wait_urgent_s.map(|wait_s| format!("{} on average if it goes first", human::duration(wait_s)));
    let behind = block.wait_behind_s.map(|wait_s| format!("{} on average in order", human::duration(wait_s)));
    rows.extend(buffer.map(|buffer| fact("buffer", buffer)));
    rows.extend(
        behind.zip(urgent).map(|(behind, urgent)| fact("wait of the next", format!("{behind}, {urgent}"))),
    );
    Section::Facts { title: "Block", rows }
}
