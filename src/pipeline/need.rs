//! What a stage needs as the volume grows, and where that meets a limit.

use crate::units::Exact;
use schemars::JsonSchema;
use serde::Serialize;

/// The volumes that every stage is computed for, as factors of today's.
pub const GROWTH: [u32; 4] = [1, 2, 5, 10];

/// Beyond this growth nothing is searched: a limit that holds so long does not break.
const FARTHEST: f64 = 1_000.0;

/// How near the breaking point is found, relative to it.
const PRECISION: f64 = 1e-6;

/// What a number counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Whole things.
    Count,
    /// Bytes.
    Bytes,
    /// Seconds.
    Seconds,
    /// A second.
    PerSecond,
    /// A fraction, 1 being all.
    Fraction,
    /// Busy workers on average.
    Erlangs,
    /// Money in the currency of the price list, for a month of 30 days.
    MoneyPerMonth,
}

/// A need at one volume.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct NeedAt {
    /// The volume as a factor of today's.
    pub growth: u32,
    /// How much; absent where nothing is enough (a backlog that never drains, a wait without end).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Whether the limit is kept; true for a need that is only told.
    pub holds: bool,
}

/// One thing that a stage needs, at every volume.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Need {
    /// A stable name such as `rows_held`.
    pub name: &'static str,
    /// What the numbers count.
    pub unit: Unit,
    /// How much at today's volume and at 2, 5 and 10 times it.
    pub at: Vec<NeedAt>,
    /// The most that there may be; absent where the need is only told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<f64>,
    /// The growth from which on the limit is broken; below 1 where it is broken today. Absent where there is no
    /// limit, or where it holds beyond 1000 times today's volume.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks_at_growth: Option<f64>,
}

impl Need {
    /// A need that is told, with no limit on it.
    pub(super) fn told(name: &'static str, unit: Unit, value: impl Fn(&Exact) -> Option<f64>) -> Self {
        Need {
            name,
            unit,
            at: at_each_growth(|growth| (value(growth), true)),
            limit: None,
            breaks_at_growth: None,
        }
    }

    /// A need that must not exceed `limit`, where there is one. `value` rises with growth, and is `None` from where
    /// on nothing is enough.
    pub(super) fn limited(
        name: &'static str,
        unit: Unit,
        limit: Option<f64>,
        value: impl Fn(&Exact) -> Option<f64>,
    ) -> Self {
        let within = |value: Option<f64>| value.is_some_and(|value| limit.is_none_or(|limit| value <= limit));
        let holds = |growth: &Exact| within(value(growth));
        let at = at_each_growth(|growth| {
            let value = value(growth);
            (value, within(value))
        });
        Need { name, unit, at, limit, breaks_at_growth: breaking_point(holds) }
    }

    /// The same where the breaking point is known, so that nothing is searched.
    pub(super) fn breaking_at(
        name: &'static str,
        unit: Unit,
        limit: f64,
        breaks_at_growth: Option<f64>,
        value: impl Fn(&Exact) -> Option<f64>,
    ) -> Self {
        let at = at_each_growth(|growth| {
            let value = value(growth);
            (value, value.is_some_and(|value| value <= limit))
        });
        let breaks_at_growth = breaks_at_growth.filter(|growth| *growth < FARTHEST);
        Need { name, unit, at, limit: Some(limit), breaks_at_growth }
    }

    /// How much at today's volume.
    #[must_use]
    pub fn today(&self) -> Option<f64> {
        self.at.first().and_then(|at| at.value)
    }

    /// Whether the limit is kept today.
    #[must_use]
    pub fn holds_today(&self) -> bool {
        self.at.first().is_none_or(|at| at.holds)
    }
}

fn at_each_growth(value: impl Fn(&Exact) -> (Option<f64>, bool)) -> Vec<NeedAt> {
    let at = GROWTH.map(|growth| {
        let (value, limit_kept) = value(&Exact::whole(growth.into()));
        // A float that overflowed is as good as nothing: no such amount exists.
        NeedAt { growth, value: value.filter(|value| value.is_finite()), holds: limit_kept }
    });
    at.into()
}

/// The growth up to which `holds` is true, where it is true up to some growth and false from there on; `None` where
/// it is true up to 1000.
fn breaking_point(holds: impl Fn(&Exact) -> bool) -> Option<f64> {
    let holds = |growth: f64| Exact::from_f64(growth).is_some_and(|growth| holds(&growth));
    if holds(FARTHEST) {
        return None;
    }
    let (mut low, mut high) = (0.0, FARTHEST);
    while high - low > PRECISION * high && high > PRECISION {
        // The middle of the logarithms once there is a lower bound: growth is a ratio.
        let middle = if low > 0.0 { (low * high).sqrt() } else { high / 16.0 };
        if holds(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    // What holds at a growth that is computed holds there, however near the search came from below.
    let reached =
        |growth: &&f64| low < **growth && low > **growth * (1.0 - 2.0 * PRECISION) && holds(**growth);
    Some(GROWTH.map(f64::from).iter().find(reached).copied().unwrap_or(low))
}

/// A stage of the pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StageName {
    /// The outbox table and the change capture that reads it.
    Outbox,
    /// The event bus.
    Bus,
    /// From events to deliveries.
    FanOut,
    /// The queue of each partner.
    PartnerQueues,
    /// The workers that deliver.
    Delivery,
    /// Dead letters and their replay.
    Replay,
    /// The alarm for what is missing.
    AbsenceAlarm,
    /// What it costs.
    Cost,
}

impl StageName {
    /// Every stage, in order.
    pub const ALL: [StageName; 8] = [
        StageName::Outbox,
        StageName::Bus,
        StageName::FanOut,
        StageName::PartnerQueues,
        StageName::Delivery,
        StageName::Replay,
        StageName::AbsenceAlarm,
        StageName::Cost,
    ];

    /// The stage in words.
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            StageName::Outbox => "outbox",
            StageName::Bus => "bus",
            StageName::FanOut => "fan-out",
            StageName::PartnerQueues => "partner queues",
            StageName::Delivery => "delivery",
            StageName::Replay => "replay",
            StageName::AbsenceAlarm => "absence alarm",
            StageName::Cost => "cost",
        }
    }
}

/// What one stage needs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Stage {
    /// Which stage.
    pub stage: StageName,
    /// The need that breaks first as the volume grows; absent where nothing breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub binding: Option<&'static str>,
    /// The growth at which it breaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub breaks_at_growth: Option<f64>,
    /// Everything that the stage needs.
    pub needs: Vec<Need>,
}

impl Stage {
    pub(super) fn new(stage: StageName, needs: Vec<Need>) -> Self {
        let breaking =
            needs.iter().filter_map(|need| need.breaks_at_growth.map(|growth| (need.name, growth)));
        let first = breaking.min_by(|left, right| left.1.total_cmp(&right.1));
        Stage {
            stage,
            binding: first.map(|(name, _)| name),
            breaks_at_growth: first.map(|(_, at)| at),
            needs,
        }
    }

    /// A need by its name.
    #[must_use]
    pub fn need(&self, name: &str) -> Option<&Need> {
        self.needs.iter().find(|need| need.name == name)
    }

    /// Whether every limit is kept today.
    #[must_use]
    pub fn holds_today(&self) -> bool {
        self.needs.iter().all(Need::holds_today)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn linear(per_growth: f64) -> impl Fn(&Exact) -> Option<f64> {
        move |growth| Some(per_growth * growth.to_f64())
    }

    #[test]
    fn a_limit_breaks_where_the_need_meets_it() {
        for (limit, breaks_at) in [(300.0, Some(3.0)), (50.0, Some(0.5)), (1e9, None), (1e-3, Some(1e-5))] {
            let need = Need::limited("need", Unit::Count, Some(limit), linear(100.0));
            match (need.breaks_at_growth, breaks_at) {
                (Some(found), Some(expected)) => {
                    assert!((found / expected - 1.0_f64).abs() < 1e-5, "{found}")
                }
                (found, expected) => assert_eq!(found, expected),
            }
            let holds: Vec<bool> = need.at.iter().map(|at| at.holds).collect();
            assert_eq!(holds, GROWTH.map(|growth| 100.0 * f64::from(growth) <= limit));
        }
    }

    #[test]
    fn a_need_that_is_just_within_its_limit_breaks_there_and_not_before() {
        let need = Need::limited("need", Unit::Count, Some(120_000.0), linear(120_000.0));
        assert_eq!((need.holds_today(), need.breaks_at_growth), (true, Some(1.0)));
        let need = Need::limited("need", Unit::Count, Some(120_000.0), linear(24_000.0));
        assert_eq!(need.breaks_at_growth, Some(5.0));
    }

    #[test]
    fn where_nothing_is_enough_there_is_no_value_and_it_does_not_hold() {
        let need = Need::limited("drain", Unit::Seconds, None, |growth| {
            (growth.to_f64() < 4.0).then(|| 1.0 / (4.0 - growth.to_f64()))
        });
        let values: Vec<Option<f64>> = need.at.iter().map(|at| at.value).collect();
        assert_eq!(values, [Some(1.0 / 3.0), Some(0.5), None, None]);
        assert_eq!(need.at.iter().map(|at| at.holds).collect::<Vec<_>>(), [true, true, false, false]);
        assert!((need.breaks_at_growth.unwrap() - 4.0).abs() < 1e-4);
    }

    #[test]
    fn the_first_need_to_break_binds_its_stage() {
        let stage = Stage::new(
            StageName::Bus,
            vec![
                Need::told("told", Unit::Count, linear(1e9)),
                Need::limited("later", Unit::Count, Some(500.0), linear(100.0)),
                Need::limited("sooner", Unit::Count, Some(200.0), linear(100.0)),
            ],
        );
        assert_eq!((stage.binding, stage.holds_today()), (Some("sooner"), true));
        assert!((stage.breaks_at_growth.unwrap() - 2.0).abs() < 1e-5);
    }

    #[test]
    fn a_need_that_never_holds_breaks_at_once() {
        let need = Need::limited("none", Unit::Count, Some(1.0), |_| None);
        assert!(need.breaks_at_growth.unwrap() < 1e-5);
        assert!(!need.holds_today());
    }
}
