//! Validation runs: short, so that a noisy machine does not matter, and with verdicts that such a machine cannot spoil.

use whsize::dispatch::Shutdown;
use whsize::dispatch::governor::GovernorPolicy;
use whsize::sandbox::{LatencyLaw, Sandbox, SandboxConfig};
use whsize::sizing::ServiceTime;
use whsize::validate::{Arrivals, Plan, ValidateError, Validated, Verdict, validate};

fn plan() -> Plan {
    Plan {
        rate_per_s: 180.0,
        law: LatencyLaw::exponential(0.1).unwrap(),
        service: ServiceTime::exponential("100ms".parse().unwrap()),
        workers: 20,
        levels: vec![1.0],
        scale_pool: false,
        max_age_s: None,
        duration_s: 3.0,
        warm_up_s: 0.3,
        time_scale: 1.0,
        shrink: 1.0,
        arrivals: Arrivals::Poisson,
        endpoints: 4,
        faults: Vec::new(),
        governor: GovernorPolicy::Off,
        host_cap: false,
        tls: false,
        target: None,
        seed: 1,
    }
}

async fn run(plan: &Plan) -> Validated {
    validate(plan, &Shutdown::new(), &|_| ()).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_wait_of_a_real_pool_is_where_simulated_runs_say() {
    let mut disagree = 0;
    for seed in 1..=4 {
        let validated = run(&Plan { seed, ..plan() }).await;
        let level = &validated.validation.levels[0];
        let predicted = level.predicted.as_ref().unwrap();
        let [low, high] = predicted.wait_mean_interval_s;
        assert!(low <= predicted.wait_mean_s && predicted.wait_mean_s <= high);
        assert!(predicted.wait_mean_s > 0.002, "it is judged where messages wait: {predicted:?}");
        assert!(level.wait_mean_s > 0.999 * predicted.ideal_wait_mean_s, "nothing beats the ideal pool");
        assert_eq!((level.lost, level.duplicated, level.failed), (0, 0, 0), "{:?}", level.failures);
        assert_eq!((level.delivered, level.still_queued), (level.enqueued, 0));
        assert!((level.service_mean_s / 0.1 - 1.0).abs() < 0.5);
        disagree += usize::from(level.verdict == Verdict::Disagrees);
    }
    // One of a hundred lies outside by chance; two of four would be no chance.
    assert!(disagree <= 1, "{disagree} of 4 disagree");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn above_saturation_age_grows_as_predicted_and_the_queue_drains_afterwards() {
    let validated = run(&Plan { levels: vec![2.0], duration_s: 1.5, warm_up_s: 0.0, ..plan() }).await;
    let level = &validated.validation.levels[0];
    let predicted = level.predicted.as_ref().unwrap();
    assert!(!predicted.stable && predicted.utilisation > 1.2, "{predicted:?}");
    assert_eq!(predicted.steady_wait_mean_s, None);
    let growth = predicted.age_growth_ratio.unwrap();
    // After T seconds the oldest has waited for gT; the last arrival is served λ/μ = 1/(1 − g) times as late as it came.
    let expected = 1.5 * growth / (1.0 - growth);
    assert!((level.oldest_age_max_s / expected - 1.0).abs() < 0.3, "{} {expected}", level.oldest_age_max_s);
    assert!(level.drained_after_s.unwrap() > 0.3 && level.delivered == level.enqueued);
    assert_ne!(level.verdict, Verdict::Disagrees, "{:?}", level.checks);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn faults_lose_nothing_and_explain_every_duplicate() {
    let faults = ["share=5%,reset", "share=5%,lose-response", "share=5%,status=503"];
    let faults = faults.iter().map(|fault| fault.parse().unwrap()).collect();
    // A tenth of the time on the clock: retries after a second of the plan come after 100 ms.
    let plan = Plan {
        faults,
        time_scale: 0.1,
        rate_per_s: 18.0,
        law: LatencyLaw::exponential(1.0).unwrap(),
        ..plan()
    };
    let validated = run(&Plan { duration_s: 10.0, warm_up_s: 1.0, ..plan }).await;
    let level = &validated.validation.levels[0];
    assert!(level.failed > 0 && level.lost == 0, "{level:?}");
    assert_eq!(level.enqueued, level.delivered + level.dead_lettered + level.still_queued);
    let conserved = level.checks.iter().filter(|check| ["lost", "duplicated"].contains(&check.name));
    assert!(conserved.map(|check| check.verdict).all(|verdict| verdict == Verdict::Agrees));
    assert!((level.service_mean_s - 1.0).abs() < 0.5, "in seconds of the plan: {}", level.service_mean_s);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_level_beyond_the_machine_is_not_judged() {
    let plan = Plan {
        rate_per_s: 100_000.0,
        law: LatencyLaw::constant(0.001).unwrap(),
        duration_s: 0.1,
        warm_up_s: 0.0,
        workers: 200,
        ..plan()
    };
    let validated = run(&plan).await;
    let level = &validated.validation.levels[0];
    assert_eq!(level.verdict, Verdict::NotJudged, "{:?}", level.checks);
    assert!(validated.notes.iter().any(|note| note.message.contains("--shrink")), "{:?}", validated.notes);
    assert!(validated.profile.is_none(), "its service times are the machine's own");
    assert_eq!(level.lost, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trace_is_replayed_and_its_service_times_make_a_profile() {
    let trace: Vec<f64> = (0..200).map(|index| f64::from(index / 20) * 0.1).collect();
    let plan = Plan { arrivals: Arrivals::Trace(trace.into()), duration_s: 1.0, warm_up_s: 0.0, ..plan() };
    let validated = run(&plan).await;
    let level = &validated.validation.levels[0];
    assert_eq!((level.enqueued, level.delivered), (200, 200));
    // A machine that was too busy has no profile to give.
    let overloaded = validated.notes.iter().any(|note| note.code == "machine-too-slow");
    assert_eq!(validated.profile.is_none(), overloaded);
    let Some(profile) = validated.profile else { return };
    assert_eq!(profile.count(), 200);
    assert!((profile.mean().get() / level.service_mean_s - 1.0).abs() < 1e-6);
    assert_ne!(level.verdict, Verdict::Disagrees, "{:?}", level.checks);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sandbox_elsewhere_is_found_and_asked_for_duplicates() {
    let config = SandboxConfig {
        endpoints: vec![LatencyLaw::constant(0.01).unwrap(); 3],
        faults: vec!["share=20%,lose-response".parse().unwrap()],
        tls: false,
        seed: 1,
    };
    let sandbox = Sandbox::start(&config, "127.0.0.1:0".parse().unwrap()).unwrap();
    let target = Some(sandbox.urls()[1].clone());
    let validated = run(&Plan { target, duration_s: 0.5, warm_up_s: 0.0, time_scale: 0.5, ..plan() }).await;
    let level = &validated.validation.levels[0];
    assert_eq!(level.endpoints.len(), 3);
    assert!(level.duplicated > 0 && level.overhead_mean_s.is_none() && level.lost == 0, "{level:?}");
    let nobody = Plan { target: Some("http://127.0.0.1:1".to_owned()), ..plan() };
    let error = validate(&nobody, &Shutdown::new(), &|_| ()).await.unwrap_err();
    assert!(matches!(error, ValidateError::Target { .. }), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_interrupt_ends_the_level_and_keeps_what_was_measured() {
    let shutdown = Shutdown::new();
    let plan = Plan { duration_s: 600.0, levels: vec![1.0, 2.0], ..plan() };
    let stop_after_a_while = |progress: whsize::validate::Progress| {
        if progress.delivered > 20 {
            shutdown.drain();
        }
    };
    let validated = validate(&plan, &shutdown, &stop_after_a_while).await.unwrap();
    let level = &validated.validation.levels[0];
    assert_eq!((validated.validation.levels.len(), level.verdict, level.lost), (1, Verdict::NotJudged, 0));
    assert_eq!(validated.validation.levels_not_run, [2.0]);
    let ran_s = level.interrupted_after_s.unwrap();
    assert!(
        ran_s < 60.0 && level.utilisation > 0.2,
        "over the time that ran: {ran_s}, {}",
        level.utilisation
    );
    assert!((level.offered_rate_per_s / (level.enqueued as f64 / ran_s) - 1.0).abs() < 1e-6);
    let note = validated.notes.iter().find(|note| note.code == "interrupted").unwrap();
    assert!(
        note.message.contains("interrupted after") && note.message.contains("of 10 m"),
        "{}",
        note.message
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_against_one_long_lived_sandbox_count_only_their_own_duplicates_and_tell_its_speed() {
    let law = LatencyLaw::constant(0.02).unwrap();
    let config = SandboxConfig { endpoints: vec![law.clone(); 2], faults: Vec::new(), tls: false, seed: 1 };
    let sandbox = Sandbox::start(&config, "127.0.0.1:0".parse().unwrap()).unwrap();
    let target = Some(sandbox.urls()[0].clone());
    let service = ServiceTime { scv: 0.0, ..ServiceTime::exponential("20ms".parse().unwrap()) };
    let levels = vec![0.5, 1.0];
    let plan = Plan { target, law, service, levels, duration_s: 0.5, warm_up_s: 0.0, ..plan() };
    for _ in 0..2 {
        for level in run(&plan).await.validation.levels {
            assert!(level.delivered > 0 && level.duplicated == 0, "{level:?}");
        }
    }
    let planned = LatencyLaw::constant(0.5).unwrap();
    let levels = run(&Plan { law: planned, levels: vec![1.0], ..plan }).await.validation.levels;
    let check = levels[0].checks.iter().find(|check| check.name == "service_mean_s").unwrap();
    assert!(check.measured >= 0.02 && check.measured < check.low.unwrap(), "{check:?}");
    assert_ne!(check.verdict, Verdict::Agrees);
    assert_ne!(levels[0].verdict, Verdict::Agrees);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_level_in_which_nothing_was_delivered_is_not_judged() {
    let silent = run(&Plan { rate_per_s: 1e-9, duration_s: 0.2, warm_up_s: 0.0, ..plan() }).await;
    let level = &silent.validation.levels[0];
    assert_eq!((level.enqueued, level.verdict), (0, Verdict::NotJudged));
    assert!(
        silent.notes.iter().any(|note| note.message.contains("no message arrived")),
        "{:?}",
        silent.notes
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_endpoint_that_never_answers_leaves_is_not_waited_for() {
    let faults = vec!["endpoint=1,hang".parse().unwrap()];
    let law = LatencyLaw::constant(0.01).unwrap();
    let plan = Plan { faults, law, rate_per_s: 40.0, workers: 40, duration_s: 1.0, warm_up_s: 0.0, ..plan() };
    let started = std::time::Instant::now();
    let validated = run(&plan).await;
    assert!(started.elapsed().as_secs() < 20, "an attempt alone would hang for 30 s");
    let level = &validated.validation.levels[0];
    assert!(level.still_queued > 0 && level.lost == 0, "{level:?}");
    assert_eq!(level.enqueued, level.delivered + level.dead_lettered + level.still_queued);
    assert_eq!((level.verdict, level.endpoints[0].delivered), (Verdict::NotJudged, 0));
    let note = validated.notes.iter().find(|note| note.code == "not-drained").unwrap();
    assert!(note.message.contains("for endpoint 1, which had taken nothing"), "{}", note.message);
}
