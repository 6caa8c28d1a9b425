//! `xpr serve`: answers over HTTP.

use super::use_threads;
use crate::arguments::ServeArguments;
use crate::printer;
use anyhow::{Context, Result, anyhow, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use xpr_log::LogError;
use xpr_run::{Config, RunFile, RunFolder};
use xpr_serve::{
    AccessToken, LogPlace, OpenError, RunOptions, ServedRun, Server, ServerOptions, require_resources,
};

/// How long the end of the server waits for what is being read.
const LAST_READS: Duration = Duration::from_secs(2);

pub(crate) fn run(arguments: &ServeArguments, out: &mut dyn Write) -> Result<()> {
    write_events(arguments);
    use_threads(arguments.pool.threads)?;
    let mut options = ServerOptions {
        listen: arguments.listen,
        token: token(arguments)?,
        hosts: arguments.host.clone(),
        rate_limit: arguments.rate_limit,
        connections: arguments.connections as usize,
        ..ServerOptions::default()
    };
    if options.token.is_none() && !options.listen.ip().is_loopback() {
        bail!(
            "{} can be reached from other machines, so clients need a token: write one to a file, for example with \
             `openssl rand -hex 16`, and name it with --token-file",
            options.listen
        );
    }
    let run_options = RunOptions {
        beam: usize::from(arguments.search.beam),
        min_confidence: arguments.min_confidence,
        log: if arguments.no_log { LogPlace::Nowhere } else { LogPlace::BesideRun },
        threads: arguments.pool.threads,
        queue: usize::from(arguments.queue),
    };
    let mut runs = Vec::new();
    for text in &arguments.runs {
        let (name, folder) = named_run(text)?;
        let run = ServedRun::open(&name, &folder, run_options.clone()).map_err(with_advice);
        runs.push(Arc::new(run.with_context(|| folder.display().to_string())?));
    }
    options.more_routes = xpr_mcp::http_routes(&runs, arguments.allow_feedback);
    require_resources().context("starting the threads of the server")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .context("starting the threads of the server")?;
    let served = runtime.block_on(async {
        let names: Vec<String> = runs.iter().map(|run| run.name().to_owned()).collect();
        let server = Server::bind(runs, options).await?;
        let address = server.address().context("reading the address")?;
        writeln!(out, "Asking about {} at http://{address}/ (Ctrl-C ends)", names.join(", "))?;
        out.flush()?;
        server.serve(end_signal()).await;
        Ok(writeln!(out, "Ended.")?)
    });
    // Reading a large log for somebody who went away does not hold up the end.
    runtime.shutdown_timeout(LAST_READS);
    served
}

fn with_advice(error: OpenError) -> anyhow::Error {
    match &error {
        OpenError::Log(LogError::File { .. } | LogError::Database { .. }) => anyhow!(
            "{error}; questions are logged beside the run, so its folder must be writable, or there is no log with --no-log"
        ),
        _ => error.into(),
    }
}

/// Returns the name and the folder of a run: `NAME=RUN`, or a folder that is named after its data.
fn named_run(text: &str) -> Result<(String, PathBuf)> {
    if let Some((name, folder)) = text.split_once('=')
        && !name.is_empty()
        && !name.contains(['/', '\\'])
    {
        return Ok((name.to_owned(), PathBuf::from(folder)));
    }
    let folder = Path::new(text);
    let file = RunFolder::open(folder)?.path(RunFile::Config);
    let config = Config::read(Some(&file), &[])?.config;
    Ok((config.data.short_name().to_owned(), folder.to_owned()))
}

fn token(arguments: &ServeArguments) -> Result<Option<AccessToken>> {
    let token = match (&arguments.token_file, &arguments.token) {
        (Some(file), _) => {
            let text = xpr_data::read_utf8(file).map_err(anyhow::Error::from);
            let token = text.and_then(|text| Ok(AccessToken::new(&text)?));
            token.with_context(|| file.display().to_string())?
        }
        (None, Some(token)) => AccessToken::new(token).context("XPR_TOKEN")?,
        (None, None) => return Ok(None),
    };
    Ok(Some(token))
}

/// Writes what happens to standard error, as text or as lines of JSON.
fn write_events(arguments: &ServeArguments) {
    use tracing_subscriber::filter::{LevelFilter, Targets};
    use tracing_subscriber::layer::SubscriberExt;
    use tracing_subscriber::util::SubscriberInitExt;
    let level = if arguments.verbose { LevelFilter::DEBUG } else { LevelFilter::INFO };
    let events = tracing_subscriber::fmt().with_max_level(level).with_target(false).with_ansi(false);
    let events = events.with_writer(printer::stderr);
    // The library of the Model Context Protocol writes lines for each request, and warnings about what clients get wrong.
    let own = Targets::new().with_default(LevelFilter::WARN).with_target("xpr", level);
    let own = own.with_target("rmcp", LevelFilter::OFF);
    // Only one can be installed, and this is the only place that does.
    match arguments.json_logs {
        true => events.json().finish().with(own).init(),
        false => events.finish().with(own).init(),
    }
}

/// Waits for Ctrl-C, or for the signal by which a service is ended.
async fn end_signal() {
    let interrupted = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminated) = signal(SignalKind::terminate()) {
            tokio::select! {
                _ = interrupted => {}
                _ = terminated.recv() => {}
            }
            return;
        }
    }
    let _ = interrupted.await;
}
