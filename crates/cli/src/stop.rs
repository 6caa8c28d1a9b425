//! Requests to stop training at a checkpoint.
//!
//! Schedulers warn a job before they end it: Slurm with a signal of the job's choice, Kubernetes and most others with `SIGTERM`. Training then takes
//! its step to the end, writes a checkpoint, and ends with [`EXIT_CODE`], which says that the same command goes on.

use crate::printer;
use anyhow::{Context, Result};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock};
use std::thread::sleep;
use std::time::Duration;

/// The exit code of a command that stopped as it was told to, and that the same command continues: `EX_TEMPFAIL` of `sysexits.h`.
pub(crate) const EXIT_CODE: u8 = 75;

/// The time for a step and its checkpoint. Kubernetes ends a process 30 seconds after it asked.
const GRACE: Duration = Duration::from_secs(20);

static REQUESTED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

/// The result of a command that stopped as it was told to.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Stopped(pub(crate) String);

/// Asks for a stop.
pub(crate) fn request() {
    REQUESTED.store(true, Ordering::SeqCst);
}

/// Returns whether a stop was asked for.
pub(crate) fn is_requested() -> bool {
    REQUESTED.load(Ordering::SeqCst)
}

/// Takes the signals of schedulers as requests to stop: `SIGUSR1` and `SIGTERM`.
pub(crate) fn on_signals() -> Result<()> {
    on_warning()?;
    #[cfg(unix)]
    {
        let signal = signal_hook::consts::SIGTERM;
        signal_hook::flag::register(signal, Arc::clone(&REQUESTED)).context("handling signals")?;
    }
    Ok(())
}

/// Makes the limit of the length of files (`ulimit -f`) an error of the write that exceeds it. Its signal would end the program without
/// a message, and leave a temporary file.
pub(crate) fn not_on_long_files() -> Result<()> {
    #[cfg(unix)]
    {
        let signal = signal_hook::consts::SIGXFSZ;
        signal_hook::flag::register(signal, Arc::default()).context("handling signals")?;
    }
    Ok(())
}

/// Takes `SIGUSR1` as a request to stop.
pub(crate) fn on_warning() -> Result<()> {
    #[cfg(unix)]
    {
        let signal = signal_hook::consts::SIGUSR1;
        signal_hook::flag::register(signal, Arc::clone(&REQUESTED)).context("handling signals")?;
    }
    Ok(())
}

/// Ends a rank of a training when `mpirun` tells it to, because another rank died or the job was cancelled.
pub(crate) fn end_with_other_ranks() -> Result<()> {
    let is_told = Arc::new(AtomicBool::new(false));
    #[cfg(unix)]
    signal_hook::flag::register(signal_hook::consts::SIGTERM, Arc::clone(&is_told))
        .context("handling signals")?;
    let wait = move || {
        while !is_told.load(Ordering::SeqCst) {
            sleep(Duration::from_millis(20));
        }
        let _ = writeln!(
            printer::stderr(),
            "error: told to end, because another rank died or the job was cancelled; --resume goes on from the last checkpoint, \
             with any number of ranks"
        );
        std::process::exit(2);
    };
    std::thread::Builder::new().name("other ranks".to_owned()).spawn(wait).context("starting a thread")?;
    Ok(())
}

/// Ends this process some time after a stop was asked for, should nothing else have ended it. What takes so long has no checkpoint, such as an
/// evaluation, and is done again.
pub(crate) fn end_when_overdue() -> Result<()> {
    let wait = || {
        while !is_requested() {
            sleep(Duration::from_millis(100));
        }
        sleep(GRACE);
        let _ = writeln!(printer::stderr(), "stopped as it was told to; the last checkpoint is older");
        std::process::exit(i32::from(EXIT_CODE));
    };
    std::thread::Builder::new().name("stop".to_owned()).spawn(wait).context("starting a thread")?;
    Ok(())
}
