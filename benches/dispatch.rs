//! Deliveries a second of the dispatcher and its sandbox, beside a bare loop of the same HTTP library with the same
//! number of tasks on the same cores in the same run: `cargo bench --bench dispatch`. The ratio is what matters.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a bench may fail by unwrapping, and prints")]

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::service::service_fn;
use hyper::{Request, Response, body::Incoming};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use whsize::dispatch::clock::SystemClock;
use whsize::dispatch::governor::GovernorPolicy;
use whsize::dispatch::message::{EndpointId, Message, MessageId, Priority};
use whsize::dispatch::queue::{MemoryQueue, QueueSettings};
use whsize::dispatch::recorder::{AttemptRecord, Observer};
use whsize::dispatch::{Dispatcher, EndpointConfig, PoolSettings, Settings, Shutdown};
use whsize::sandbox::{LatencyLaw, Sandbox, SandboxConfig};

/// Threads of the runtime: both loops, client and server together.
const CORES: usize = 2;
const WARM_UP: Duration = Duration::from_millis(700);
const MEASURED: Duration = Duration::from_millis(2_500);
const ROUNDS: usize = 3;
const BODY: &[u8] =
    br#"{"type":"invoice.paid","timestamp":"2022-11-03T20:26:10.344522Z","data":{"id":"in_1"}}"#;
const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Tasks, latency of the server, and the least share of the bare loop's rate that is asked for.
const CASES: [(&str, usize, Duration, f64); 2] = [
    ("64 tasks, no latency", 64, Duration::ZERO, 0.70),
    ("1000 tasks, 100 ms each", 1_000, Duration::from_millis(100), 0.97),
];

fn main() {
    let mut short = 0;
    for (name, tasks, latency, least) in CASES {
        let mut ratios = Vec::new();
        for _ in 0..ROUNDS {
            let bare = in_runtime(bare_loop(tasks, latency));
            let (dispatched, connections) = in_runtime(dispatcher(tasks, latency));
            assert!(connections <= tasks as u64, "{connections} connections for {tasks} tasks");
            println!(
                "{name}: bare {:.0}/s at {:.1} us, dispatcher {:.0}/s at {:.1} us, {connections} connections",
                bare.rate, bare.cpu_us, dispatched.rate, dispatched.cpu_us
            );
            ratios.push(dispatched.rate / bare.rate);
        }
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ROUNDS / 2];
        println!("{name}: median ratio {median:.3}, at least {least} is asked for");
        short += usize::from(median < least);
    }
    assert_eq!(short, 0, "the dispatcher falls short of the bare loop");
}

fn in_runtime<T>(measured: impl Future<Output = T>) -> T {
    let mut builder = tokio::runtime::Builder::new_multi_thread();
    let runtime = builder.worker_threads(CORES).enable_all().build().unwrap();
    let result = runtime.block_on(measured);
    runtime.shutdown_background();
    result
}

/// What a loop achieved.
#[derive(Clone, Copy)]
struct Measured {
    /// Deliveries a second.
    rate: f64,
    /// Processor time of client and server together, in microseconds a delivery: it hardly depends on what else runs.
    cpu_us: f64,
}

/// How fast a counter rises once it is warm.
async fn measure(counter: &AtomicU64) -> Measured {
    tokio::time::sleep(WARM_UP).await;
    let (start, cpu_before, before) = (Instant::now(), cpu_s(), counter.load(Relaxed));
    tokio::time::sleep(MEASURED).await;
    let count = (counter.load(Relaxed) - before) as f64;
    Measured { rate: count / start.elapsed().as_secs_f64(), cpu_us: (cpu_s() - cpu_before) / count * 1e6 }
}

/// Processor time of this process so far, in seconds; not a number where the system does not say it in this way.
fn cpu_s() -> f64 {
    const TICKS_A_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).take(2);
    let ticks: Option<Vec<f64>> = fields.map(|field| field.parse().ok()).collect();
    ticks
        .filter(|ticks| ticks.len() == 2)
        .map_or(f64::NAN, |ticks| ticks.iter().sum::<f64>() / TICKS_A_SECOND)
}

/// Each task has a connection of its own and sends one request after the other; the server sleeps and says ok.
async fn bare_loop(tasks: usize, latency: Duration) -> Measured {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            stream.set_nodelay(true).unwrap();
            let service = service_fn(move |request: Request<Incoming>| async move {
                request.into_body().collect().await.unwrap();
                if !latency.is_zero() {
                    tokio::time::sleep(latency).await;
                }
                Ok::<_, Infallible>(Response::new(Full::new(Bytes::from_static(b"ok"))))
            });
            tokio::spawn(
                hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service),
            );
        }
    });
    let counter = Arc::new(AtomicU64::new(0));
    let mut clients = JoinSet::new();
    for _ in 0..tasks {
        clients.spawn(bare_client(address, Arc::clone(&counter)));
    }
    measure(&counter).await
}

async fn bare_client(address: SocketAddr, counter: Arc<AtomicU64>) {
    let stream = TcpStream::connect(address).await.unwrap();
    stream.set_nodelay(true).unwrap();
    let (mut sender, driver) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(driver);
    loop {
        let request = Request::post("/")
            .header("host", "127.0.0.1")
            .header("content-type", "application/json")
            .body(Full::new(Bytes::from_static(BODY)))
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        response.into_body().collect().await.unwrap();
        counter.fetch_add(1, Relaxed);
        sender.ready().await.unwrap();
    }
}

/// Enqueues a message for each that is delivered, so that the queue is never empty and never long.
#[derive(Debug)]
struct Feeder {
    queue: Arc<MemoryQueue>,
    delivered: AtomicU64,
    next: AtomicU64,
}

impl Feeder {
    fn feed(&self) {
        let id = MessageId(self.next.fetch_add(1, Relaxed).into());
        let message = Message {
            id,
            endpoint: EndpointId(0),
            priority: Priority::Normal,
            body: Bytes::from_static(BODY),
        };
        self.queue.enqueue_at(message, tokio::time::Instant::now());
    }
}

impl Observer for Feeder {
    fn attempt_finished(&self, _: &AttemptRecord<'_>) {
        self.delivered.fetch_add(1, Relaxed);
        self.feed();
    }
}

/// The whole way: queue, signature, pool, histograms, acknowledgement, against the sandbox.
async fn dispatcher(workers: usize, latency: Duration) -> (Measured, u64) {
    let law = LatencyLaw::constant(latency.as_secs_f64()).unwrap();
    let config = SandboxConfig { endpoints: vec![law], faults: Vec::new(), tls: false, seed: 1 };
    let sandbox = Sandbox::start(&config, "127.0.0.1:0".parse().unwrap()).unwrap();
    let queue = Arc::new(MemoryQueue::new(QueueSettings::default()));
    let (delivered, next) = (AtomicU64::new(0), AtomicU64::new(0));
    let feeder = Arc::new(Feeder { queue: Arc::clone(&queue), delivered, next });
    let settings = Settings {
        governor: GovernorPolicy::Off,
        pool: PoolSettings { per_host: None, ..PoolSettings::for_workers(workers) },
        observer: Some(Arc::clone(&feeder) as Arc<dyn Observer>),
        ..Settings::for_workers(workers)
    };
    let url = sandbox.urls().swap_remove(0);
    let endpoint = EndpointConfig { secret: Some(SECRET.to_owned()), ..EndpointConfig::new(url) };
    let dispatcher = Dispatcher::new(settings, &[endpoint], queue, Arc::new(SystemClock)).unwrap();
    (0..2 * workers).for_each(|_| feeder.feed());
    let shutdown = Shutdown::new();
    let (measured, ()) = tokio::join!(
        async {
            let measured = measure(&feeder.delivered).await;
            shutdown.drain();
            measured
        },
        dispatcher.run(&shutdown)
    );
    let counts = sandbox.counts();
    assert_eq!(counts[0].duplicates, 0);
    (measured, counts[0].connections)
}
