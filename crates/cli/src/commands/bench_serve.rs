//! `xpr bench serve`: how a server answers many clients at once.

use super::{open_run, use_threads, write_json};
use crate::arguments::BenchServeArguments;
use anyhow::{Context, Result, bail};
use serde::Serialize;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};
use xpr_data::unlabeled;
use xpr_learn::TrainedRun;
use xpr_learn::experiment::QuestionAnswerer;
use xpr_serve::{LogPlace, RunOptions, ServedRun, Server, ServerOptions};

/// The number of requests of a lone client. The first of them are not counted: caches and buffers are empty before them.
const LONE: usize = 220;
const NOT_COUNTED: usize = 20;
/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(60);

/// The output of `--json`.
#[derive(Serialize)]
struct ServerSpeed {
    clients: usize,
    beam: usize,
    /// The median time of a request when there is no other.
    lone_ms_median: f64,
    /// The median time of a request of one of many clients.
    ms_median: f64,
    /// The time within which 99 of 100 of them are answered.
    ms_99: f64,
    /// `ms_99` divided by `lone_ms_median`.
    ms_99_of_lone: f64,
    /// Requests a second of all clients together.
    per_second: f64,
    /// Answers a second of as many threads that call the library.
    direct_per_second: f64,
    /// `per_second` divided by `direct_per_second`.
    share_of_direct: f64,
    /// Processor time for each answer of the server, with that of the clients, if the system tells. Other processes do not change it.
    processor_ms: Option<f64>,
    /// And without a server.
    direct_processor_ms: Option<f64>,
    requests: usize,
    /// Memory of the process after a tenth of the requests, in megabytes, if the system tells.
    megabytes_early: Option<f64>,
    /// And after all of them.
    megabytes_late: Option<f64>,
    silent: usize,
    /// The median time of a request beside connections that say nothing.
    beside_silent_ms_median: f64,
}

pub(crate) fn run(arguments: &BenchServeArguments, out: &mut dyn Write) -> Result<()> {
    let questions: Vec<String> = unlabeled::read(&arguments.questions)?.into_iter().map(|q| q.text).collect();
    if questions.is_empty() {
        bail!("{}: there is no question", arguments.questions.display());
    }
    use_threads(0)?;
    let run = open_run(&arguments.trained, &[])?;
    let (clients, beam) = (usize::from(arguments.clients), usize::from(arguments.search.beam));
    let requests = arguments.requests as usize;
    let folder = tempfile::tempdir().context("a temporary folder for the log")?;
    let log = if arguments.no_log { LogPlace::Nowhere } else { LogPlace::File(folder.path().join("log")) };
    let options = RunOptions { beam, min_confidence: Some(0.0), log, ..RunOptions::default() };
    let served = ServedRun::open("bench", &arguments.trained.run, options)?;
    xpr_serve::require_resources()?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let listen = ServerOptions {
        listen: SocketAddr::from(([127, 0, 0, 1], 0)),
        rate_limit: 0,
        ..ServerOptions::default()
    };
    let server = runtime.block_on(Server::bind(vec![Arc::new(served)], listen))?;
    let address = server.address()?;
    let serving = runtime.spawn(server.serve(async {
        let _ = ended.await;
    }));

    let lone = quantiles(lone_times(address, &questions, LONE)?.split_off(NOT_COUNTED));
    let loaded = under_load(address, &questions, clients, requests)?;
    let direct_requests = requests.min(20_000);
    let before = processor_ms();
    let direct_per_second = directly(&run, &questions, clients, beam, direct_requests)?;
    let direct_processor_ms = spent_since(before, direct_requests);
    let silent = silent_connections(address, arguments.silent as usize);
    let beside_silent = quantiles(lone_times(address, &questions, LONE)?.split_off(NOT_COUNTED));
    let speed = ServerSpeed {
        clients,
        beam,
        lone_ms_median: lone(0.5),
        ms_median: (loaded.quantile)(0.5),
        ms_99: (loaded.quantile)(0.99),
        ms_99_of_lone: (loaded.quantile)(0.99) / lone(0.5),
        per_second: loaded.per_second,
        direct_per_second,
        share_of_direct: loaded.per_second / direct_per_second,
        requests,
        megabytes_early: loaded.megabytes_early,
        megabytes_late: loaded.megabytes_late,
        processor_ms: loaded.processor_ms,
        direct_processor_ms,
        silent: silent.len(),
        beside_silent_ms_median: beside_silent(0.5),
    };
    drop(silent);
    let _ = end.send(());
    runtime.block_on(serving)?;
    if arguments.output.json {
        return write_json(out, &speed);
    }
    write_text(out, &speed)
}

fn write_text(out: &mut dyn Write, speed: &ServerSpeed) -> Result<()> {
    let ServerSpeed { clients, beam, requests, silent, .. } = speed;
    writeln!(out, "A lone client:    {:.1} ms for an answer (beam {beam})", speed.lone_ms_median)?;
    writeln!(
        out,
        "{clients} clients:       {:.1} ms, 99 % within {:.1} ms ({:.1} times that of a lone client), {:.0} answers a second ({requests} requests)",
        speed.ms_median, speed.ms_99, speed.ms_99_of_lone, speed.per_second
    )?;
    writeln!(
        out,
        "Without a server: {:.0} answers a second on {clients} threads; the server reaches {:.2} of that",
        speed.direct_per_second, speed.share_of_direct
    )?;
    if let (Some(served), Some(direct)) = (speed.processor_ms, speed.direct_processor_ms) {
        writeln!(
            out,
            "Processor time:   {served:.2} ms for an answer with server and clients, {direct:.2} ms without"
        )?;
    }
    if let (Some(early), Some(late)) = (speed.megabytes_early, speed.megabytes_late) {
        writeln!(
            out,
            "Memory:           {early:.0} MB after a tenth of the requests, {late:.0} MB at the end"
        )?;
    }
    Ok(writeln!(
        out,
        "Beside {silent} connections that say nothing or do not end their requests: {:.1} ms for an answer",
        speed.beside_silent_ms_median
    )?)
}

/// Returns a function that returns the quantiles of times in milliseconds.
fn quantiles(mut times: Vec<f64>) -> impl Fn(f64) -> f64 {
    times.sort_by(f64::total_cmp);
    move |share| times[((times.len() - 1) as f64 * share).round() as usize]
}

/// A client that keeps its connection.
struct Client {
    reader: BufReader<TcpStream>,
}

impl Client {
    fn connect(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Client { reader: BufReader::new(stream) })
    }

    /// Asks a question, reads the answer, and returns the milliseconds that it took.
    fn ask(&mut self, question: &str) -> Result<f64> {
        let start = Instant::now();
        let body = serde_json::json!({ "question": question }).to_string();
        let request = format!(
            "POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        self.reader.get_mut().write_all(request.as_bytes())?;
        let mut line = String::new();
        self.reader.read_line(&mut line)?;
        let is_right = line.starts_with("HTTP/1.1 200");
        let mut length = 0;
        loop {
            let mut header = String::new();
            self.reader.read_line(&mut header)?;
            match header.trim_end().split_once(':') {
                Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                    length = value.trim().parse()?;
                }
                Some(_) => {}
                None => break,
            }
        }
        let mut answer = vec![0; length];
        self.reader.read_exact(&mut answer)?;
        match is_right {
            true => Ok(1000.0 * start.elapsed().as_secs_f64()),
            false => bail!("the server answered {}: {}", line.trim_end(), String::from_utf8_lossy(&answer)),
        }
    }
}

/// Returns the times of the requests of a lone client.
fn lone_times(address: SocketAddr, questions: &[String], count: usize) -> Result<Vec<f64>> {
    let mut client = Client::connect(address)?;
    questions.iter().cycle().take(count).map(|question| client.ask(question)).collect()
}

/// What many clients measured.
struct Loaded<Q> {
    quantile: Q,
    per_second: f64,
    processor_ms: Option<f64>,
    megabytes_early: Option<f64>,
    megabytes_late: Option<f64>,
}

/// Asks questions with many clients at once.
fn under_load(
    address: SocketAddr,
    questions: &[String],
    clients: usize,
    requests: usize,
) -> Result<Loaded<impl Fn(f64) -> f64 + use<>>> {
    let next = AtomicUsize::new(0);
    let mut early = None;
    let before = processor_ms();
    let start = Instant::now();
    let all: Vec<Result<Vec<f64>>> = thread::scope(|scope| {
        let client = || -> Result<Vec<f64>> {
            let mut client = Client::connect(address)?;
            let mut times = Vec::new();
            loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= requests {
                    return Ok(times);
                }
                times.push(client.ask(&questions[number % questions.len()])?);
            }
        };
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        while next.load(Relaxed) < requests / 10 && !threads.iter().any(|thread| thread.is_finished()) {
            thread::sleep(Duration::from_millis(5));
        }
        early = megabytes();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|_| bail!("a client panicked")))
            .collect()
    });
    let per_second = requests as f64 / start.elapsed().as_secs_f64();
    let times: Vec<Vec<f64>> = all.into_iter().collect::<Result<_>>()?;
    Ok(Loaded {
        quantile: quantiles(times.concat()),
        per_second,
        processor_ms: spent_since(before, requests),
        megabytes_early: early,
        megabytes_late: megabytes(),
    })
}

/// Returns how many questions a second threads answer that call the library.
fn directly(
    run: &TrainedRun,
    questions: &[String],
    threads: usize,
    beam: usize,
    requests: usize,
) -> Result<f64> {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    thread::scope(|scope| {
        let answer = || -> Result<()> {
            let mut answerer = QuestionAnswerer::new(run, Some(0.0))?.listing_alternatives();
            loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= requests {
                    return Ok(());
                }
                answerer.answer(&questions[number % questions.len()], beam);
            }
        };
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(answer)).collect();
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().unwrap_or_else(|_| bail!("a thread panicked")))
    })?;
    Ok(requests as f64 / start.elapsed().as_secs_f64())
}

/// Opens connections that say nothing, or begin a request and do not end it.
fn silent_connections(address: SocketAddr, count: usize) -> Vec<TcpStream> {
    let open = |number: usize| {
        let mut stream = TcpStream::connect(address).ok()?;
        if number.is_multiple_of(2) {
            let half = b"POST /v1/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{";
            stream.write_all(half).ok()?;
        }
        Some(stream)
    };
    (0..count).filter_map(open).collect()
}

/// Returns the memory of this process, if the system tells.
fn megabytes() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches("kB").trim().parse::<f64>().ok()? / 1000.0)
}

/// Returns the processor time of this process in milliseconds, if the system tells.
fn processor_ms() -> Option<f64> {
    /// The clock of `/proc` has a hundred ticks a second on all machines.
    const TICK_MS: f64 = 10.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the process, in parentheses, may have blanks. After it, user and system time are fields 12 and 13.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let (user, system): (f64, f64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(TICK_MS * (user + system))
}

/// Returns the processor time for each of some answers since a moment.
fn spent_since(before: Option<f64>, answers: usize) -> Option<f64> {
    Some((processor_ms()? - before?) / answers as f64)
}
