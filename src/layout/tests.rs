use super::*;
use crate::notice::Severity;
use crate::units::Exact;
use proptest::prelude::*;

/// A concurrency target with nothing else known.
fn target(concurrency: u64) -> Question {
    Question {
        concurrency,
        shape: Shape::default(),
        limits: Limits {
            descriptors: None,
            tasks_per_loop: 500,
            http_pool: None,
            vcpu_per_pod: None,
            pod_memory: None,
            memory_per_process: None,
            pods: None,
            broker_in_flight: None,
            downstream: None,
        },
        traffic: Traffic {
            rate: None,
            mean: None,
            cpu_per_attempt: "1ms".parse().unwrap(),
            timeout: "10s".parse().unwrap(),
        },
        hosts: Vec::new(),
        network: Network {
            reuse: "90%".parse().unwrap(),
            egress: Egress {
                platform: Platform::find("linux").unwrap(),
                addresses: 1,
                machines: None,
                stated: false,
            },
            destinations: 1,
        },
        database: None,
        lease: Some("60s".parse().unwrap()),
    }
}

fn layout(question: &Question) -> Layout {
    question.answer().layout
}

fn shape(deployment: &Deployment) -> (u64, u64, u64) {
    (deployment.pods, deployment.processes_per_pod, deployment.tasks_per_process)
}

fn database(pool: u64, max_connections: u64) -> Option<DatabaseUse> {
    Some(DatabaseUse { pool, max_connections, reserved: 3, pgbouncer: None })
}

/// The published example of the sizing guides, and what it leaves out.
#[test]
fn thirteen_hundred_at_once_are_nine_processes_in_three_pods_and_deploy_1920() {
    let layout = layout(&target(1300));
    let asked = layout.deployment.unwrap();
    assert_eq!((asked.processes, asked.pods, asked.fd_limit_per_process), (9, 3, 576));
    assert_eq!(asked.deployed_concurrency, 1920);
    let balanced = layout.balanced.as_ref().unwrap();
    assert_eq!(shape(&balanced.deployment), (3, 3, 145));
    assert_eq!(balanced.deployment.deployed_concurrency, 1305);
    assert_eq!(balanced.binding_limit.limit, LimitName::TasksPerProcess);
    assert!(layout.holds());
}

#[test]
fn the_two_pool_rules_contradict_each_other_at_the_layouts_own_descriptors() {
    let pool = |descriptors| {
        let mut question = target(1300);
        question.limits.descriptors = descriptors;
        layout(&question).pool.unwrap()
    };
    assert_eq!((pool(None).by_descriptors, pool(None).rules_contradict), (32, true));
    assert_eq!((pool(Some(1024)).by_descriptors, pool(Some(1024)).rules_contradict), (128, true));
    assert_eq!((pool(Some(1152)).by_descriptors, pool(Some(1152)).rules_contradict), (160, false));
    assert_eq!(pool(None).descriptors_for_tasks, Some(1152));
    assert_eq!(pool(Some(1_000_000)).by_descriptors, 400);
}

#[test]
fn a_host_gets_its_connections_and_a_slow_one_the_advice() {
    let host = |rate: &str, hold: &str, keepalive: Option<&str>| Host {
        name: "a".to_owned(),
        rate: rate.parse().unwrap(),
        hold_p95: hold.parse().unwrap(),
        keepalive: keepalive.map(|keepalive| keepalive.parse().unwrap()),
        limit: None,
    };
    let cap = |host: Host| layout(&Question { hosts: vec![host], ..target(1300) }).hosts.remove(0);
    let fast = cap(host("20", "250ms", None));
    assert_eq!((fast.connections, fast.keepalive_expiry_s), (5, 30.0));
    // Twelve processes run, so caps of one in each allow twelve.
    assert_eq!((fast.connections_allowed, fast.verdict), (12, HostVerdict::SharedLimiter));
    let slow = cap(host("20", "2s", None));
    assert_eq!((slow.connections, slow.verdict), (40, HostVerdict::SlowTheSender));
    let busy = cap(host("500", "100ms", None));
    assert_eq!((busy.connections, busy.connections_per_process, busy.verdict), (50, 5, HostVerdict::Ok));
    // 20/s for 10 s hold 200 of 1,920 tasks, or the 48 of a cap of 4 in each process.
    assert!((slow.share_without_cap - 200.0 / 1920.0).abs() < 1e-12);
    assert!((slow.share_with_cap - 48.0 / 1920.0).abs() < 1e-12);
    for (advertised, kept) in [("60s", 55.0), ("5s", 1.0), ("3s", 1.0), ("1h", 300.0), ("35s", 30.0)] {
        assert_eq!(cap(host("1", "1s", Some(advertised))).keepalive_expiry_s, kept, "{advertised}");
    }
}

#[test]
fn a_limit_that_a_host_sets_needs_a_shared_limiter_where_there_are_more_processes() {
    let host = Host {
        name: "a".to_owned(),
        rate: "500".parse().unwrap(),
        hold_p95: "100ms".parse().unwrap(),
        keepalive: None,
        limit: Some(55),
    };
    let layout = layout(&Question { hosts: vec![host], ..target(1300) });
    assert_eq!(
        (layout.hosts[0].connections_allowed, layout.hosts[0].verdict),
        (60, HostVerdict::SharedLimiter)
    );
}

/// A cap of five over nine processes cannot be had in the processes: one in each allows nine.
#[test]
fn a_fleet_cap_below_the_processes_is_reported_with_both_numbers_also_where_the_host_is_slow() {
    let host = |hold: &str| Host {
        name: "a".to_owned(),
        rate: "20".parse().unwrap(),
        hold_p95: hold.parse().unwrap(),
        keepalive: None,
        limit: Some(5),
    };
    let shape = Shape { tasks_per_process: Some(160), processes_per_pod: Some(3) };
    let asked = |hold| Question { hosts: vec![host(hold)], shape, ..target(1300) }.answer();
    let fast = asked("250ms");
    assert_eq!(fast.layout.deployment.unwrap().deployed_processes, 9);
    let cap = &fast.layout.hosts[0];
    assert_eq!((cap.connections, cap.connections_per_process, cap.connections_allowed), (5, 1, 9));
    assert_eq!((cap.verdict, cap.carried_per_s), (HostVerdict::SharedLimiter, None));

    let slow = asked("2s");
    let cap = slow.layout.hosts[0].clone();
    assert_eq!((cap.connections, cap.connections_per_process, cap.connections_allowed), (40, 1, 9));
    // Five connections of two seconds carry 2.5 a second.
    assert_eq!((cap.verdict, cap.carried_per_s), (HostVerdict::SlowTheSender, Some(2.5)));
    for finding in [
        LayoutFinding::SlowTheSender(vec![cap.clone()]),
        LayoutFinding::HostAcceptsTooFew(cap.clone()),
        LayoutFinding::SharedLimiter { host: cap, processes: 9 },
    ] {
        assert!(slow.findings.contains(&finding), "{finding:?}");
    }
    assert!(
        fast.layout.fits && !slow.layout.fits,
        "the host states a limit, and it does not carry the traffic"
    );
}

#[test]
fn a_slow_host_is_never_given_more_than_the_usual_gate() {
    let host = Host {
        name: "a".to_owned(),
        rate: "90".parse().unwrap(),
        hold_p95: "28s".parse().unwrap(),
        keepalive: None,
        limit: None,
    };
    let cap = layout(&Question { hosts: vec![host], ..target(1300) }).hosts.remove(0);
    assert_eq!((cap.connections, cap.connections_per_process, cap.connections_allowed), (2520, 8, 96));
    // Hanging, it takes 900 of 1,920 tasks without a cap, and 96 with it.
    assert!((cap.share_without_cap - 900.0 / 1920.0).abs() < 1e-12);
    assert!((cap.share_with_cap - 0.05).abs() < 1e-12);
}

#[test]
fn many_hosts_make_one_remark_of_a_kind() {
    let host = |name: String, rate: &str, hold: &str| Host {
        name,
        rate: rate.parse().unwrap(),
        hold_p95: hold.parse().unwrap(),
        keepalive: None,
        limit: None,
    };
    let hosts = (0..20).flat_map(|place| {
        [host(format!("slow-{place}"), "80", "5s"), host(format!("small-{place}"), "1", "100ms")]
    });
    let found = layout(&Question { hosts: hosts.collect(), ..target(1300) }).findings;
    for code in ["slow-the-sender", "takes-the-fleet", "fewer-than-processes"] {
        let notes: Vec<&str> =
            found.iter().filter(|note| note.code == code).map(|note| note.message.as_str()).collect();
        assert_eq!(notes.len(), 1, "{code}: {notes:?}");
        assert!(notes[0].contains("20 hosts") && notes[0].contains("and 15 more"), "{}", notes[0]);
    }
}

/// Two thousand unpooled deliveries a second hold 120,000 ports, where a destination has 28,232.
#[test]
fn unpooled_deliveries_run_out_of_ports() {
    let mut question = target(2000);
    question.traffic.rate = "2000".parse().ok();
    question.network.reuse = "0".parse().unwrap();
    let ports = layout(&question).ports.unwrap();
    assert_eq!((ports.time_wait, ports.limit, ports.verdict), (120_000, 28_232, PortsVerdict::Exhausted));
    assert!((ports.sustained_per_s - 470.5).abs() < 0.1);
    assert_eq!(ports.sources_needed, 5);
    assert!(layout(&question).holds(), "one source address was assumed, not stated: a warning");
    question.network.egress.stated = true;
    assert!(!layout(&question).holds());
    question.network.destinations = 5;
    assert_eq!(layout(&question).ports.unwrap().verdict, PortsVerdict::OkIfSpread);
    question.network.egress.addresses = 5;
    assert_eq!(layout(&question).ports.unwrap().verdict, PortsVerdict::Ok);
    question.network.reuse = "90%".parse().unwrap();
    assert_eq!(layout(&question).ports.unwrap().time_wait, 12_000);
}

/// As reported from the field: 16 instances with 3,000 connections to one address are 188 each, which fits 1,024
/// ports a machine and fails at 128.
#[test]
fn ports_of_a_machine_are_compared_with_what_the_machine_uses() {
    let mut question = target(3000);
    question.traffic.rate = "1".parse().ok();
    question.network.reuse = "1".parse().unwrap();
    question.shape = Shape { tasks_per_process: Some(250), processes_per_pod: Some(1) };
    question.network.egress.machines = Some(16);
    question.network.egress.platform = Platform::find("azure-lb").unwrap();
    let ports = layout(&question).ports.unwrap();
    assert_eq!((ports.worst_case_per_source, ports.limit, ports.verdict), (188, 1024, PortsVerdict::Ok));
    question.network.egress.platform.ports = 128;
    let ports = layout(&question).ports.unwrap();
    assert_eq!((ports.worst_case_per_source, ports.verdict), (188, PortsVerdict::Exhausted));
    // A translated port serves every destination once.
    question.network.destinations = 2;
    let ports = layout(&question).ports.unwrap();
    assert_eq!((ports.spread_per_source, ports.verdict), (94, PortsVerdict::OkIfSpread));
}

#[test]
fn more_addresses_than_a_gateway_can_have_are_not_advised() {
    let mut question = target(2000);
    (question.traffic.rate, question.network.reuse) = ("10000".parse().ok(), "0".parse().unwrap());
    question.network.egress.platform = Platform::find("aws-nat").unwrap();
    let layout = layout(&question);
    // 600,000 in TIME_WAIT and 2,080 open at 55,000 an address.
    assert_eq!(layout.ports.as_ref().map(|ports| ports.sources_needed), Some(11));
    let hint =
        layout.findings.iter().find(|note| note.code == "ports-exhausted").and_then(|note| note.hint.clone());
    assert!(
        hint.as_ref().is_some_and(|hint| hint.contains("several gateways") && hint.contains("has 8")),
        "{hint:?}"
    );
}

#[test]
fn every_row_of_the_port_table_is_read_with_its_source_and_date() {
    let rows = include_str!("../../data/ports.csv").lines().filter(|line| !line.starts_with('#')).count() - 1;
    let all = Platform::all();
    assert_eq!(all.len(), rows);
    assert!(all.iter().all(|row| row.ports > 0 && !row.source.is_empty() && row.as_of.starts_with("20")));
    assert_eq!(Platform::find("aws-nat").unwrap().ports, 55_000);
    assert!(Platform::find("carrier-pigeon").unwrap_err().to_string().contains("aws-nat"));
}

/// Eight processes with twenty connections each are 160, and a database with a hundred takes 97 of them.
#[test]
fn a_database_that_is_too_small_is_refused_with_the_processes_that_it_allows() {
    let question = Question { database: database(20, 100), ..target(1280) };
    let layout = layout(&question);
    let found = layout.database.as_ref().unwrap();
    assert_eq!((found.connections, found.limit, found.max_processes), (160, 97, 4));
    assert_eq!(found.verdict, CeilingVerdict::Refused);
    assert!(!layout.fits && !layout.holds());
    let balanced = layout.balanced.unwrap();
    assert_eq!(shape(&balanced.deployment), (1, 4, 320), "more tasks in each of four processes do it");
    assert_eq!(balanced.binding_limit.limit, LimitName::Database);
}

#[test]
fn limits_that_contradict_each_other_are_both_named() {
    let named = |question: &Question| {
        let layout = layout(question);
        assert!(layout.balanced.is_none() && !layout.holds());
        let [one, other] = layout.contradiction.unwrap().limits;
        (one.limit, other.limit)
    };
    let typed = |mut question: Question| {
        question.shape.tasks_per_process = Some(160);
        question
    };
    let database_and = |question| Question { database: database(20, 100), ..question };
    assert_eq!(named(&typed(database_and(target(1280)))), (LimitName::Database, LimitName::TasksPerProcess));
    assert_eq!(named(&database_and(target(2001))), (LimitName::Database, LimitName::LoopFairness));
    let with = |change: fn(&mut Limits)| {
        let mut question = target(1300);
        question.traffic.mean = "1.4".parse().ok();
        change(&mut question.limits);
        question
    };
    assert_eq!(
        named(&with(|limits| limits.descriptors = Some(257))),
        (LimitName::Descriptors, LimitName::OtherDescriptors)
    );
    assert_eq!(
        named(&with(|limits| (limits.descriptors, limits.pods) = (Some(1024), Some(0)))),
        (LimitName::MaxPods, LimitName::Concurrency)
    );
    assert_eq!(
        named(&with(|limits| (limits.vcpu_per_pod, limits.pods) = (Exact::fraction(1, 10), Some(9)))),
        (LimitName::MaxPods, LimitName::VcpuPerPod)
    );
    assert_eq!(
        named(&with(|limits| limits.broker_in_flight = Some(1299))),
        (LimitName::Concurrency, LimitName::BrokerInFlight)
    );
    assert_eq!(
        named(&with(|limits| {
            (limits.pod_memory, limits.memory_per_process) = ("200Mi".parse().ok(), "300Mi".parse().ok());
        })),
        (LimitName::PodMemory, LimitName::MemoryPerProcess)
    );
    assert_eq!(
        named(&Question { database: database(98, 100), ..target(1) }),
        (LimitName::Database, LimitName::DatabasePool)
    );
}

#[test]
fn what_one_process_holds_is_bound_by_nothing_else() {
    let balanced = layout(&target(100)).balanced.unwrap();
    assert_eq!(shape(&balanced.deployment), (1, 1, 100));
    assert_eq!(balanced.binding_limit.limit, LimitName::Concurrency);
}

#[test]
fn what_was_left_out_of_the_shape_gives_way_to_the_limits_of_a_process() {
    let mut question = target(1300);
    question.limits.descriptors = Some(512);
    let found = layout(&question);
    assert_eq!(found.deployment.unwrap().tasks_per_process, 128);
    assert_eq!(found.balanced.unwrap().binding_limit.limit, LimitName::Descriptors);
    assert!(found.fits);
    question.shape.tasks_per_process = Some(160);
    let found = layout(&question);
    assert_eq!(found.exceeded[0].limit, LimitName::Descriptors);
    assert!(!found.fits && found.balanced.is_some());
}

#[test]
fn short_attempts_fill_a_loop_long_before_the_tasks_do() {
    let mut question = target(1300);
    question.traffic.mean = "50ms".parse().ok();
    let found = layout(&question);
    assert_eq!(found.deployment.unwrap().tasks_per_process, 50, "a task is busy 1 ms in 50");
    assert_eq!(found.balanced.unwrap().binding_limit.limit, LimitName::LoopCpu);
}

#[test]
fn pgbouncer_has_two_limits_of_its_own() {
    let bouncer = |max_clients, pool_size| DatabaseUse {
        pgbouncer: Some(PgBouncerUse { max_clients, pool_size }),
        ..database(20, 100).unwrap()
    };
    let with = |database| layout(&Question { database: Some(database), ..target(1280) });
    assert_eq!(with(bouncer(100, 20)).database.unwrap().max_processes, 5);
    assert!(with(bouncer(200, 20)).holds());
    let wide = with(bouncer(200, 98));
    assert!(wide.exceeded.is_empty() && !wide.fits, "it opens more than the database takes");
}

#[test]
fn more_workers_cannot_help_beyond_what_the_receiving_side_or_the_broker_takes() {
    let mut question = target(1300);
    (question.traffic.rate, question.traffic.mean) = ("900".parse().ok(), "1.4".parse().ok());
    question.limits.downstream = "800".parse().ok();
    let found = layout(&question);
    assert_eq!(found.downstream.as_ref().unwrap().useful_concurrency, Some(1120));
    assert!(!found.fleet_ceiling.as_ref().unwrap().more_workers_help && !found.holds());
    question.limits.downstream = "920".parse().ok();
    let found = layout(&question);
    assert!(
        !found.fleet_ceiling.as_ref().unwrap().more_workers_help && found.holds(),
        "1288 at once fill it"
    );

    // As reported from the field: 4,000/s with a visibility timeout of 30 s hold 120,000 messages.
    let mut held = target(5600);
    (held.traffic.rate, held.traffic.mean) = ("4000".parse().ok(), "1.4".parse().ok());
    (held.limits.broker_in_flight, held.lease) = (Some(120_000), "30s".parse().ok());
    let answered = held.answer();
    assert_eq!(answered.layout.broker.unwrap().in_flight_if_held, Some(120_000));
    assert!(answered.findings.contains(&LayoutFinding::HeldExceeds { in_flight: 120_000, limit: 120_000 }));
}

#[test]
fn grace_and_scale_in_follow_the_lease() {
    let with = |lease: Option<&str>| {
        layout(&Question { lease: lease.map(|lease| lease.parse().unwrap()), ..target(10) })
    };
    let found = with(Some("45.5"));
    assert_eq!((found.safety.grace_period_s, found.safety.scale_in_period_s), (56, 46));
    assert_eq!(with(None).safety.lease_s, 60.0);
    assert!(!with(Some("9s")).holds(), "an attempt of 10 s outlasts it");
}

/// What a deployment takes, counted here anew, against every limit of the question.
fn keeps_every_limit(question: &Question, found: &Deployment) -> Result<(), TestCaseError> {
    let limits = &question.limits;
    let (tasks, processes) = (found.tasks_per_process, found.pods * found.processes_per_pod);
    let at_once = processes * tasks;
    prop_assert!(at_once >= question.concurrency);
    prop_assert_eq!(at_once, found.deployed_concurrency);
    prop_assert!(tasks <= limits.tasks_per_loop);
    prop_assert!(question.shape.tasks_per_process.is_none_or(|most| tasks <= most));
    prop_assert!(question.shape.processes_per_pod.is_none_or(|most| found.processes_per_pod <= most));
    prop_assert!(limits.descriptors.is_none_or(|most| 2 * tasks + 256 <= most));
    prop_assert!(limits.http_pool.is_none_or(|most| tasks <= most));
    prop_assert!(limits.pods.is_none_or(|most| found.pods <= most));
    prop_assert!(limits.broker_in_flight.is_none_or(|most| at_once <= most));
    if let (Some(pod), Some(each)) = (&limits.pod_memory, &limits.memory_per_process) {
        prop_assert!(found.processes_per_pod as f64 * each.get() <= pod.get());
    }
    if let Some(mean) = &question.traffic.mean {
        let busy = question.traffic.cpu_per_attempt.exact().over(mean.exact()).unwrap();
        prop_assert!(&Exact::whole(tasks.into()) * &busy <= Exact::one());
        if let Some(vcpu) = &limits.vcpu_per_pod {
            prop_assert!(&Exact::whole(found.tasks_per_pod().into()) * &busy <= *vcpu);
        }
    }
    if let Some(database) = &question.database {
        let most = database
            .pgbouncer
            .map_or(database.max_connections.saturating_sub(database.reserved), |b| b.max_clients);
        prop_assert!(processes * database.pool <= most);
    }
    Ok(())
}

/// Whether some shape keeps every limit, by trying them all.
fn some_shape_fits(question: &Question) -> bool {
    (1..=8u64).any(|processes| {
        (1..=60u64).any(|tasks| {
            let pods = question.concurrency.div_ceil(tasks * processes);
            Deployment::of(question.concurrency, tasks, processes)
                .is_some_and(|found| found.pods == pods && keeps_every_limit(question, &found).is_ok())
        })
    })
}

prop_compose! {
    fn any_question()(
        concurrency in prop_oneof![1u64..200, 200u64..50_000],
        tasks in proptest::option::of(1u64..60), processes in proptest::option::of(1u64..8),
        descriptors in proptest::option::of(200u64..1_000), tasks_per_loop in 1u64..60,
        http_pool in proptest::option::of(1u64..60), vcpu in proptest::option::of(1u64..4_000),
        memory in proptest::option::of((1u64..8, 1u64..4)), pods in proptest::option::of(1u64..300),
        broker in proptest::option::of(1u64..60_000), mean_ms in proptest::option::of(1u64..3_000),
        database in proptest::option::of((1u64..30, 1u64..500, proptest::option::of(1u64..500))),
    ) -> Question {
        let mut question = target(concurrency);
        question.shape = Shape { tasks_per_process: tasks, processes_per_pod: processes };
        question.traffic.mean = mean_ms.map(|mean| format!("{mean}ms").parse().unwrap());
        question.database = database.map(|(pool, max_connections, clients)| DatabaseUse {
            pgbouncer: clients.map(|max_clients| PgBouncerUse { max_clients, pool_size: 20 }),
            ..self::database(pool, max_connections).unwrap()
        });
        question.limits = Limits {
            descriptors, tasks_per_loop, http_pool, pods,
            vcpu_per_pod: vcpu.and_then(|thousandths| Exact::fraction(thousandths.into(), 1_000)),
            pod_memory: memory.map(|(pod, _)| format!("{pod}Gi").parse().unwrap()),
            memory_per_process: memory.map(|(_, each)| format!("{each}Gi").parse().unwrap()),
            broker_in_flight: broker,
            downstream: None,
        };
        question
    }
}

proptest! {
    #[test]
    fn no_layout_violates_one_of_its_own_limits(question in any_question()) {
        let answered = question.answer();
        let layout = answered.layout;
        prop_assert_ne!(layout.balanced.is_some(), layout.contradiction.is_some());
        if let Some(balanced) = &layout.balanced {
            keeps_every_limit(&question, &balanced.deployment)?;
        }
        if layout.fits {
            keeps_every_limit(&question, &layout.deployment.unwrap())?;
        }
        if let Some(contradiction) = &layout.contradiction {
            prop_assert!(!layout.holds() && contradiction.limits[0] != contradiction.limits[1]);
        }
        if let (Some(asked), false) = (&layout.deployment, layout.exceeded.is_empty()) {
            prop_assert!(layout.contradiction.is_some() || keeps_every_limit(&question, asked).is_err());
        }
        let refused = layout.findings.iter().any(|finding| finding.severity == Severity::Error);
        prop_assert_eq!(layout.fits, !refused);
    }

    #[test]
    fn what_is_called_impossible_is_impossible(question in any_question()) {
        if layout(&question).balanced.is_none() {
            prop_assert!(!some_shape_fits(&question));
        }
    }
}
