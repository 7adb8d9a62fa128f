//! `whsize size` with patience, a bounded queue, priorities and blocks.

use crate::schema::assert_matches;
use crate::support::{run, run_json};

const CENTRE: &str = "size --rate 48/min --mean 1m --patience 2m";

/// 50 agents: 3.1% abandon, 3.7 s mean wait, 93% busy (Garnett, Mandelbaum, Reiman 2002); 49 are enough for 5 s.
#[test]
fn impatient_callers_are_counted_and_shown() {
    let given = run_json(&format!("{CENTRE} --workers 50 --wait 5s"));
    assert_eq!((given.code, given.field("model")), (0, "M/M/N+M (Erlang A)".into()));
    assert!((given.number("abandonment_share") - 0.030_912).abs() < 1e-6);
    assert!((given.number("wait_mean_s") - 3.709_470).abs() < 1e-6);
    assert!((given.number("utilisation") - 48.0 / 50.0 * (1.0 - 0.030_912)).abs() < 1e-6);
    assert!(given.number("wait_mean_served_s") < given.number("wait_mean_s"));
    assert_eq!(given.field("stable"), true);
    assert!(given.json()["result"].get("loss_share").is_none(), "nothing is turned away");
    assert_matches("size", &given.json());
    assert_eq!(given.json()["inputs"]["patience_s"], 120.0);

    let found = run(&format!("{CENTRE} --wait 5s")).stdout;
    assert!(found.starts_with("49 workers carry 0.8/s"), "{found}");
    assert!(
        found.contains("losing 3.86% of arrivals") && found.contains("warning: 3.86% of all arrivals"),
        "{found}"
    );
    let few = run(&format!("{CENTRE} --max-lost 0.5%")).stdout;
    assert!(!few.contains("of all arrivals are lost"), "{few}");
}

#[test]
fn a_limit_on_the_losses_is_an_objective_like_any_other() {
    for (bounds, limit) in
        [("--patience 2m", 0.01), ("--queue-limit 0", 0.02), ("--patience 2m --queue-limit 3", 0.001)]
    {
        let asked = format!("size --rate 48/min --mean 1m {bounds} --max-lost {limit}");
        let found = run_json(&asked);
        let workers = found.number("workers");
        let lost = |workers: f64| {
            let judged = run_json(&format!("{asked} --workers {workers}"));
            (judged.code, judged.number("constraints.0.achieved"))
        };
        let (enough, fewer) = (lost(workers), lost(workers - 1.0));
        assert!(enough.0 == 0 && enough.1 <= limit, "{bounds}: {enough:?}");
        assert!(fewer.0 == 1 && fewer.1 > limit, "{bounds}: {fewer:?}");
        assert_eq!(found.field("binding_constraint"), "max_lost");
        assert_matches("size", &found.json());
        let risen = run_json(&format!("{asked} --workers {workers}")).number("max_rate_per_s");
        let at = |factor: f64| {
            let rate = risen * factor;
            run(&format!("size --rate {rate} --mean 1m {bounds} --max-lost {limit} --workers {workers}")).code
        };
        assert_eq!((at(0.999), at(1.001)), (0, 1), "{bounds}");
    }
}

/// Erlang B: 1260 erlangs on 1290 workers lose 0.968%.
#[test]
fn without_a_place_to_wait_nobody_waits_and_the_law_does_not_matter() {
    let exponential = run_json("size --rate 900 --mean 1.4 --queue-limit 0 --max-lost 1%");
    assert_eq!((exponential.number("workers"), exponential.number("wait_mean_s")), (1290.0, 0.0));
    let measured = run_json("size --rate 900 --mean 1.4 --scv 15 --queue-limit 0 --max-lost 1%");
    assert_eq!(measured.number("loss_share"), exponential.number("loss_share"));
    assert_eq!(measured.field("model_error"), serde_json::json!([0.0, 0.0]));
    assert!(!measured.json()["notes"].to_string().contains("taken-as-exponential"));
    let plot = run("size --rate 900 --mean 1.4 --queue-limit 0 --max-lost 1% --plot --quiet").stdout;
    assert!(
        plot.contains("lost arrivals, logarithmic") && !plot.contains("mean wait, logarithmic"),
        "{plot}"
    );
}

#[test]
fn an_overload_has_an_answer_in_every_table() {
    let text = run(
        "size --rate 900 --mean 1.4 --workers 1000 --patience 10s --queue-limit 500 --wait 1 --max-lost 30% \
                    --surge name=outage,rate=2400,mean=3.1 --plot --explain",
    );
    assert_eq!(text.code, 1, "the surge loses more");
    for shown in [
        "No: 1000 workers carry 900/s",
        "share that gives up",
        "share that is turned away",
        "mean wait, logarithmic",
        "lost arrivals, logarithmic",
        "in \"outage\"",
    ] {
        assert!(text.stdout.contains(shown), "{shown}: {}", text.stdout);
    }
    assert!(!text.stdout.contains("without end") && !text.stdout.contains("over 100%"), "{}", text.stdout);
    let any = run("size --rate 900 --mean 1.4 --workers 1000 --patience 10s --quiet").stdout;
    assert!(any.contains("nothing was asked for") && any.contains("any rate at this service time"), "{any}");
    let day = run_json("size --rate-profile docs/examples/day.csv --mean 1.4 --max-lost 1% --patience 10s");
    assert_eq!(day.code, 0);
    assert!(day.number("schedule.peak_workers") == day.number("workers") && day.number("workers") < 1263.0);
    assert_matches("size", &day.json());
}

#[test]
fn what_the_formula_cannot_see_is_said_or_refused() {
    let measured =
        run_json("size --profile fixtures/attempts-week.csv.gz --rate 900 --wait 0.5 --patience 10s");
    assert!(measured.json()["notes"].to_string().contains("taken-as-exponential"), "{measured:?}");
    assert!(measured.json()["result"].get("model_error").is_none());
    assert!(measured.number("workers_interval.0") < measured.number("workers"));
    assert_matches("size", &measured.json());
    for (arguments, reason) in [
        ("--wait 1 --patience 5s --batch 10", "bursts are what fills a bounded queue"),
        ("--wait 1 --queue-limit 5 --arrival-scv 3", "--arrivals batch:N"),
        ("--max-lost 1%", "nothing is ever lost"),
        ("--wait 1 --patience 5s --refine", "whsize simulate --workers N"),
        ("--wait 1 --queue-limit 20M", "10,000,000 places"),
        ("--wait 1 --patience 0", "more than zero"),
        ("--max-lost 100% --patience 1s", "at either end"),
        ("--wait 1 --priority-share 10% --patience 1s", "cannot be used with"),
        ("--wait 1 --priority-share 10% --batch 5", "cannot be used with"),
        ("--wait 1 --block 5k --queue-limit 10", "cannot be used with"),
        ("--wait 1 --block 2000G@1s", "\"2000G@1s\""),
        ("--wait 1 --block 5k@soon", "soon"),
    ] {
        let output = run(&format!("size --rate 900 --mean 1.4 {arguments}"));
        assert!(output.code == 2 && output.stdout.is_empty() && output.stderr.contains(reason), "{output:?}");
    }
}

/// W₁ = C·S/(N(1−ρ₁)), W₂ = W₁/(1−ρ) at 100 erlangs on 101 workers, a tenth of them urgent.
#[test]
fn urgent_traffic_waits_less_and_the_rest_a_little_more() {
    let found = run_json("size --rate 500 --mean 0.2 --wait 0.5 --priority-share 10%");
    let first = found.number("wait_probability") * 0.2 / (101.0 * (1.0 - 10.0 / 101.0));
    assert_eq!(found.field("classes.0.name"), "urgent");
    assert_eq!((found.number("classes.0.rate_per_s"), found.number("classes.1.rate_per_s")), (50.0, 450.0));
    assert!((found.number("classes.0.wait_mean_s") / first - 1.0).abs() < 1e-12);
    assert!((found.number("classes.1.wait_mean_s") / (first * 101.0) - 1.0).abs() < 1e-9);
    assert_matches("size", &found.json());
    let full = run("size --rate 500 --mean 0.2 --workers 99 --priority-share 10%").stdout;
    assert!(full.contains("urgent   50/s            2.25 ms"), "{full}");
    assert!(full.contains("others  450/s  grows without end"), "{full}");
}

#[test]
fn a_block_is_cleared_by_what_the_pool_serves_beyond_the_traffic() {
    let found =
        run_json("size --rate 500 --mean 0.2 --workers 120 --wait 0.5 --block 20k@60s --priority-share 10%");
    // 20,000 less the idle workers, at 100/s.
    let clear = found.number("block.clear_s");
    assert!((clear - 199.8).abs() < 0.1, "{clear}");
    assert!(
        found.number("block.clear_interval_s.0") < clear && clear < found.number("block.clear_interval_s.1")
    );
    assert!((found.number("block.cleared_at_s") - 60.0 - clear).abs() < 1e-9);
    let buffer = found.number("block.buffer");
    assert!((19_980.0..20_060.0).contains(&buffer), "{buffer}");
    assert!((found.number("block.wait_behind_s") - 20_000.0 / 600.0).abs() < 0.1);
    assert!((found.number("block.wait_urgent_s") - 0.2 / 120.0 / (1.0 - 10.0 / 120.0)).abs() < 1e-9);
    assert_matches("size", &found.json());
    let small = run_json("size --rate 500 --mean 0.2 --workers 300 --wait 0.5 --block 50");
    assert_eq!((small.number("block.buffer"), small.number("block.clear_s").round()), (0.0, 0.0));
    let never = run_json("size --rate 500 --mean 0.2 --workers 90 --wait 0.5 --block 50");
    assert_eq!((never.code, never.field("block.clears")), (1, false.into()));
    assert_matches("size", &never.json());
}
