//! The sandbox does what its faults say, and counts it.

use crate::raw::Raw;
use std::io::ErrorKind;
use std::time::{Duration, Instant};
use whsize::sandbox::{LatencyLaw, Sandbox, SandboxConfig, SandboxError};

fn start(endpoints: usize, latency_s: f64, faults: &[&str]) -> Sandbox {
    let config = SandboxConfig {
        endpoints: vec![LatencyLaw::constant(latency_s).unwrap(); endpoints],
        faults: faults.iter().map(|fault| fault.parse().unwrap()).collect(),
        tls: false,
        seed: 1,
    };
    Sandbox::start(&config, "127.0.0.1:0".parse().unwrap()).unwrap()
}

#[tokio::test]
async fn a_delivery_takes_its_latency_and_is_counted_once() {
    let sandbox = start(2, 0.03, &[]);
    let urls = sandbox.urls();
    let mut client = Raw::open(&urls[1]).await;
    let start = Instant::now();
    for id in ["a", "b", "a"] {
        let (head, body) = client.deliver(id).await.unwrap();
        assert!(head.starts_with("http/1.1 200"), "{head}");
        assert_eq!(body, "ok");
    }
    assert!(start.elapsed() >= Duration::from_millis(90));
    let counts = sandbox.counts();
    assert_eq!(counts[0], Default::default());
    assert_eq!((counts[1].connections, counts[1].requests, counts[1].accepted), (1, 3, 3));
    assert_eq!((counts[1].duplicates, counts[1].in_flight_max), (1, 1));
    assert_eq!(counts[1].latency_s, 0.09);
}

#[tokio::test]
async fn metrics_and_endpoints_are_pages_on_every_port() {
    let sandbox = start(2, 0.0, &[]);
    let mut client = Raw::open(&sandbox.urls()[0]).await;
    client.deliver("a").await.unwrap();
    client.send("GET", "/endpoints", "x").await.unwrap();
    assert_eq!(client.answer().await.unwrap().1, sandbox.urls().join("\n") + "\n");
    client.send("GET", "/metrics", "x").await.unwrap();
    let page = client.answer().await.unwrap().1;
    assert!(page.contains("whsize_sandbox_accepted_total{endpoint=\"1\"} 1\n"), "{page}");
    assert!(page.contains("whsize_sandbox_accepted_total{endpoint=\"2\"} 0\n"), "{page}");
    assert_eq!(sandbox.counts()[0].requests, 1, "pages are no deliveries");
}

#[tokio::test]
async fn refusals_carry_status_and_retry_after_and_take_nothing() {
    let sandbox = start(1, 0.0, &["status=429,retry-after=1500ms", "status=503"]);
    let mut client = Raw::open(&sandbox.urls()[0]).await;
    let (head, body) = client.deliver("a").await.unwrap();
    assert!(head.starts_with("http/1.1 429") && head.contains("retry-after: 2\r\n"), "{head}");
    assert_eq!(body, "");
    let counts = sandbox.counts()[0];
    assert_eq!((counts.too_many, counts.other_statuses, counts.accepted), (1, 0, 0));
}

#[tokio::test]
async fn a_reset_takes_nothing_and_a_lost_response_takes_the_delivery() {
    for (fault, accepted) in [("reset", 0), ("lose-response", 1)] {
        let sandbox = start(1, 0.0, &[fault]);
        let mut client = Raw::open(&sandbox.urls()[0]).await;
        let error = client.deliver("a").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{fault}");
        let counts = sandbox.counts()[0];
        assert_eq!((counts.accepted, counts.lost_responses), (accepted, accepted), "{fault}");
        assert_eq!(counts.resets, 1 - accepted);
    }
}

#[tokio::test]
async fn a_hang_lasts_until_the_client_gives_up() {
    let sandbox = start(1, 0.0, &["hang"]);
    let mut client = Raw::open(&sandbox.urls()[0]).await;
    let waited = tokio::time::timeout(Duration::from_millis(50), client.deliver("a")).await;
    assert!(waited.is_err());
    assert_eq!((sandbox.counts()[0].hangs, sandbox.counts()[0].in_flight), (1, 1));
    drop(client);
    while sandbox.counts()[0].in_flight > 0 || sandbox.counts()[0].connections_open > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}

#[tokio::test]
async fn capacity_slows_and_refuses_what_is_above_it() {
    let sandbox = start(1, 1.0, &["above-concurrency=1,slower=0.5", "above-concurrency=2,status=429"]);
    let mut clients = Vec::new();
    for id in ["a", "b", "c"] {
        let mut client = Raw::open(&sandbox.urls()[0]).await;
        client.send("POST", "/", id).await.unwrap();
        // One after the other, so that the third is the one too many.
        while sandbox.counts()[0].requests < clients.len() as u64 + 1 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        clients.push(client);
    }
    assert!(clients[2].answer().await.unwrap().0.starts_with("http/1.1 429"));
    assert!(clients[1].answer().await.unwrap().0.starts_with("http/1.1 200"));
    assert!(clients[0].answer().await.unwrap().0.starts_with("http/1.1 200"));
    let counts = sandbox.counts()[0];
    assert_eq!((counts.in_flight_max, counts.too_many), (3, 1));
    assert_eq!(counts.latency_s, 1.5);
}

#[tokio::test]
async fn idle_connections_are_closed_early_but_busy_ones_are_not() {
    let sandbox = start(1, 0.1, &["close-idle=20ms", "keep-alive=5s", "slow-body=50ms"]);
    let mut client = Raw::open(&sandbox.urls()[0]).await;
    let (head, body) = client.deliver("a").await.unwrap();
    assert!(head.contains("keep-alive: timeout=5\r\n"), "{head}");
    assert_eq!(body, "ok");
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(client.deliver("b").await.is_err());
    assert_eq!(sandbox.counts()[0].connections_open, 0);
}

#[tokio::test]
async fn a_sandbox_that_cannot_be_is_refused() {
    let config = |endpoints, fault: &str| SandboxConfig {
        endpoints: vec![LatencyLaw::constant(0.0).unwrap(); endpoints],
        faults: vec![fault.parse().unwrap()],
        tls: false,
        seed: 1,
    };
    let any = "127.0.0.1:0".parse().unwrap();
    assert!(matches!(Sandbox::start(&config(0, "hang"), any), Err(SandboxError::Endpoints(0))));
    let error = Sandbox::start(&config(2, "endpoint=3,hang"), any).unwrap_err();
    assert!(matches!(error, SandboxError::FaultEndpoint { named: 3, endpoints: 2 }));
    let error = Sandbox::start(&config(2, "hang"), "127.0.0.1:65535".parse().unwrap()).unwrap_err();
    assert!(matches!(error, SandboxError::Ports { first: 65535, endpoints: 2 }), "{error}");
}
