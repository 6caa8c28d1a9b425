//! The server: it listens, and hands connections to the routes.

use crate::access::{Access, AccessToken};
use crate::connections::{Connection, Connections, most_connections};
use crate::listeners::Listeners;
use crate::log_reads::LogReads;
use crate::rate::RateLimit;
use crate::served_run::ServedRun;
use crate::{api, guard};
use axum::Router;
use axum::extract::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use metrics_exporter_prometheus::{PrometheusBuilder, PrometheusHandle};
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tower::ServiceExt;

/// The bytes of the headers of a request.
const LARGEST_HEADERS: usize = 16 << 10;
/// How long a connection has to end after the server was told to end.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// How a server listens.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The address.
    pub listen: SocketAddr,
    /// The access token. It is needed if the address is not of this machine only.
    pub token: Option<AccessToken>,
    /// Names by which the server may be called, beside `localhost` and addresses.
    pub hosts: Vec<String>,
    /// The number of requests a second that each client can send, and twice as many at once; 0 for no limit.
    pub rate_limit: u32,
    /// The number of connections.
    pub connections: usize,
    /// Routes besides the server's own. Requests to them pass the same guard.
    pub more_routes: Router,
}

impl Default for ServerOptions {
    fn default() -> Self {
        ServerOptions {
            listen: SocketAddr::from(([127, 0, 0, 1], 8080)),
            token: None,
            hosts: vec![],
            rate_limit: 50,
            connections: 4096,
            more_routes: Router::new(),
        }
    }
}

/// The reason why a server cannot start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// Others could connect, and there is no token.
    #[error(
        "{0} is not an address of this machine only, so anybody who can reach it could ask; name an access token"
    )]
    NoToken(SocketAddr),
    /// There is nothing to serve, or two runs have the same name.
    #[error("{0}")]
    Runs(String),
    /// The address cannot be listened on.
    #[error("{address}: {source}{}", advice(source))]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
}

/// Returns what to do about an address that cannot be listened on.
fn advice(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::AddrInUse => "; another program listens there, so name another port with --listen",
        io::ErrorKind::AddrNotAvailable => "; this machine does not have the address",
        io::ErrorKind::PermissionDenied => {
            "; ports below 1024 are for the administrator, so name a larger one with --listen"
        }
        _ => "",
    }
}

/// What all requests share.
pub(crate) struct App {
    pub(crate) runs: Vec<Arc<ServedRun>>,
    pub(crate) access: Access,
    pub(crate) rate: RateLimit,
    pub(crate) connections: Arc<Connections>,
    pub(crate) metrics: PrometheusHandle,
    pub(crate) listeners: Arc<Listeners>,
    pub(crate) log_reads: LogReads,
    /// Becomes true when the server ends.
    pub(crate) ends: watch::Receiver<bool>,
}

/// The address of the client of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// A server that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    router: Router,
    connections: Arc<Connections>,
    metrics: PrometheusHandle,
    ends: watch::Sender<bool>,
}

impl Server {
    /// Listens for connections to some runs. The first is the one that is asked if a request names none. It must be called on a runtime
    /// of tokio.
    ///
    /// # Errors
    /// If the address cannot be listened on, a token is needed, or two runs have the same name.
    pub async fn bind(runs: Vec<Arc<ServedRun>>, options: ServerOptions) -> Result<Self, ServeError> {
        if !options.listen.ip().is_loopback() && options.token.is_none() {
            return Err(ServeError::NoToken(options.listen));
        }
        for (index, run) in runs.iter().enumerate() {
            if runs[..index].iter().any(|other| other.name() == run.name()) {
                let message =
                    format!("two runs have the name `{}`; give one another name: NAME=RUN", run.name());
                return Err(ServeError::Runs(message));
            }
        }
        if runs.is_empty() {
            return Err(ServeError::Runs("there is no run to serve".to_owned()));
        }
        let failed = |source| ServeError::Listen { address: options.listen, source };
        let listener = TcpListener::bind(options.listen).await.map_err(failed)?;
        let most = most_connections(options.connections);
        let connections = Connections::new(most);
        let metrics = recorder();
        let ends = watch::Sender::new(false);
        let app = Arc::new(App {
            runs,
            access: Access { hosts: options.hosts, token: options.token },
            rate: RateLimit::new(options.rate_limit),
            connections: Arc::clone(&connections),
            metrics: metrics.clone(),
            listeners: Listeners::new(most),
            log_reads: LogReads::default(),
            ends: ends.subscribe(),
        });
        let routes = api::routes().merge(options.more_routes.with_state(()));
        let router = guard::guarded(routes, &app).with_state(app);
        Ok(Server { listener, router, connections, metrics, ends })
    }

    /// Returns the address.
    ///
    /// # Errors
    /// If the system does not tell.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `end` is ready. Requests that are being answered then are answered.
    pub async fn serve(self, end: impl Future<Output = ()>) {
        let Server { listener, router, connections, metrics, ends } = self;
        let mut end = std::pin::pin!(end);
        let mut tidy = tokio::time::interval(Duration::from_secs(1));
        loop {
            tokio::select! {
                () = &mut end => break,
                _ = tidy.tick() => {
                    connections.close_waiting(Instant::now(), false);
                    // What is measured is kept one by one until then, and nobody may ever look at the page of metrics.
                    metrics.run_upkeep();
                }
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => {
                        // Without a place, the connection is closed.
                        if let Some(connection) = connections.open(Instant::now()) {
                            let served = serve_connection(stream, peer.ip(), router.clone(), connection, ends.subscribe());
                            tokio::spawn(served);
                        }
                    }
                    Err(error) => {
                        // Too many open files, or a client that went away.
                        tracing::warn!(%error, "accepting a connection");
                        connections.close_waiting(Instant::now(), true);
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                },
            }
        }
        drop(listener);
        ends.send_replace(true);
        drop(router);
        let deadline = Instant::now() + LAST_WORDS;
        while connections.count() > 0 && Instant::now() < deadline {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Serves the requests of a connection, one after another.
async fn serve_connection(
    stream: TcpStream,
    peer: IpAddr,
    router: Router,
    connection: Connection,
    mut ends: watch::Receiver<bool>,
) {
    // Small answers are sent at once.
    let _ = stream.set_nodelay(true);
    let connection = Arc::new(connection);
    let of_requests = Arc::clone(&connection);
    let service = service_fn(move |request: hyper::Request<Incoming>| {
        let mut request: Request = request.map(axum::body::Body::new);
        request.extensions_mut().insert(Peer(peer));
        request.extensions_mut().insert(Arc::clone(&of_requests));
        router.clone().oneshot(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(crate::connections::PATIENCE)
        .max_buf_size(LARGEST_HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut served = std::pin::pin!(served);
    tokio::select! {
        _ = &mut served => {}
        () = connection.closed() => {}
        () = ended(&mut ends) => {
            served.as_mut().graceful_shutdown();
            let _ = tokio::time::timeout(LAST_WORDS, served).await;
        }
    }
}

/// Waits until the server ends.
pub(crate) async fn ended(ends: &mut watch::Receiver<bool>) {
    let _ = ends.wait_for(|ends| *ends).await;
}

/// Says what each metric is.
fn describe_metrics() {
    use metrics::{describe_counter, describe_gauge, describe_histogram};
    describe_counter!("xpr_requests_total", "Requests, by the status of their responses.");
    describe_histogram!(
        "xpr_request_seconds",
        "Time from the headers of a request to those of its response."
    );
    describe_counter!("xpr_questions_total", "Questions that were answered, by whether the parser was sure.");
    describe_counter!("xpr_questions_refused_total", "Questions that were refused because too many waited.");
    describe_histogram!(
        "xpr_answer_seconds",
        "Time from a question's arrival until its answer is found, without writing the log."
    );
    describe_histogram!("xpr_batch_questions", "Questions that were searched together.");
    describe_counter!("xpr_feedback_total", "What people said about answers, by verdict.");
    describe_counter!(
        "xpr_parsers_opened_total",
        "Parsers that were promoted, and data that changed, while the server ran."
    );
    describe_gauge!("xpr_connections", "Open connections.");
    describe_gauge!("xpr_questions_waiting", "Questions that wait for a thread.");
}

/// Returns what is told to Prometheus. There is one for the whole process.
fn recorder() -> PrometheusHandle {
    static RECORDER: OnceLock<PrometheusHandle> = OnceLock::new();
    let install = || {
        let seconds = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0];
        let batches = [1.0, 2.0, 4.0, 8.0, 16.0];
        use metrics_exporter_prometheus::Matcher;
        let builder = PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &seconds)
            .and_then(|builder| {
                builder.set_buckets_for_metric(Matcher::Suffix("_questions".to_owned()), &batches)
            });
        // The lists above are not empty, which is the only error.
        let recorder = builder.unwrap_or_default().build_recorder();
        let handle = recorder.handle();
        // Another recorder of the process gets what is measured, and the page of metrics is empty.
        let _ = metrics::set_global_recorder(recorder);
        describe_metrics();
        handle
    };
    RECORDER.get_or_init(install).clone()
}
