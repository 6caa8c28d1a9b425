//! A thread that interrupts statements which are late.
//!
//! SQLite asks the [`Meter`] every few steps whether to go on. That does not help against a single step that never ends,
//! such as counting the rows of a damaged table whose pages contain each other. This thread looks at all connections from
//! time to time, and interrupts those whose statement should have ended. It costs the statements nothing.
//!
//! SQLite does not look at interrupts everywhere: a crafted schema can keep its parser busy for hours within one statement.
//! Nothing but the end of the process helps then. A library must not end the process that uses it, so it calls the
//! function of [`on_unresponsive`].

use super::guard::{Allowance, Meter, Metered};
use rusqlite::{Connection, InterruptHandle};
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// The time between two looks. A statement is interrupted at most this long after its deadline.
const INTERVAL: Duration = Duration::from_millis(25);
/// The number of interrupts after which SQLite does not react to them: those of five seconds. They are counted, because a
/// process that was suspended has no time to react.
const IGNORED_INTERRUPTS: u32 = 200;

struct Watched {
    /// Gone when the connection is.
    meter: Weak<Meter>,
    handle: InterruptHandle,
    database: PathBuf,
}

/// The connections to watch. The thread runs while there are any.
static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

static UNRESPONSIVE: OnceLock<fn(&Path)> = OnceLock::new();

/// Sets the function that is called if SQLite has exceeded its time and does not react to interrupts, with the path of the
/// database. A program can only end then. It is called on a thread of its own, again and again until SQLite reacts. The
/// first call of this function counts.
///
/// If it is never called, nothing ends such a statement before SQLite returns.
pub fn on_unresponsive(handler: fn(&Path)) {
    let _ = UNRESPONSIVE.set(handler);
}

/// A limit of the time that each use of a connection takes. A [`SqliteDatabase`](super::SqliteDatabase) has limits by itself.
pub struct TimeLimit {
    meter: Arc<Meter>,
    time: Duration,
}

/// A use of a connection, which is interrupted if this lives longer than its [`TimeLimit`].
#[must_use]
pub struct TimedUse<'l>(#[expect(dead_code, reason = "it ends when this is dropped")] Metered<'l>);

impl TimeLimit {
    /// Limits the time of a connection, as long as the returned value exists. `database` is for [`on_unresponsive`].
    pub fn new(connection: &Connection, database: &Path, time: Duration) -> TimeLimit {
        TimeLimit { meter: Meter::of(connection, database), time }
    }

    /// Begins a use. The one that began before has no limit any more.
    pub fn start(&self) -> TimedUse<'_> {
        // Only the time is looked at.
        TimedUse(self.meter.start(Allowance { steps: u64::MAX, time: self.time, memory: usize::MAX }))
    }
}

impl fmt::Debug for TimeLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TimeLimit").field("time", &self.time).finish_non_exhaustive()
    }
}

/// Interrupts the statements of a connection that exceed the deadlines of a meter, as long as the meter exists.
pub(super) fn watch(connection: &Connection, meter: &Arc<Meter>, database: &Path) {
    let handle = connection.get_interrupt_handle();
    let entry = Watched { meter: Arc::downgrade(meter), handle, database: database.to_owned() };
    let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
    watched.push(entry);
    if watched.len() == 1 {
        // Without the thread, the limits still hold for all statements that take steps.
        let _ = thread::Builder::new().name("watchdog".to_owned()).spawn(run);
    }
}

fn run() {
    loop {
        thread::sleep(INTERVAL);
        let mut watched = WATCHED.lock().unwrap_or_else(PoisonError::into_inner);
        watched.retain(|entry| {
            let Some(meter) = entry.meter.upgrade() else { return false };
            meter.if_late(|interrupts| {
                entry.handle.interrupt();
                if interrupts >= IGNORED_INTERRUPTS
                    && let Some(handler) = UNRESPONSIVE.get()
                {
                    handler(&entry.database);
                }
            });
            true
        });
        if watched.is_empty() {
            return;
        }
    }
}
