//! A thread that interrupts statements which are late.
//!
//! SQLite asks the [`Meter`] every few steps whether to go on. That does not help against a single step that never ends,
//! such as counting the rows of a damaged table whose pages contain each other. This thread looks at all connections from
//! time to time, and interrupts those whose statement should have ended. It costs the statements nothing.

use super::guard::Meter;
use rusqlite::{Connection, InterruptHandle};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::thread;
use std::time::Duration;

/// The time between two looks. A statement is interrupted at most this long after its deadline.
const INTERVAL: Duration = Duration::from_millis(25);

struct Watched {
    /// Gone when the connection is.
    meter: Weak<Meter>,
    handle: InterruptHandle,
}

/// The connections to watch. The thread runs while there are any.
static WATCHED: Mutex<Vec<Watched>> = Mutex::new(Vec::new());

/// Interrupts the statements of a connection that exceed the deadlines of a meter, as long as the meter exists.
pub(super) fn watch(connection: &Connection, meter: &Arc<Meter>) {
    let entry = Watched { meter: Arc::downgrade(meter), handle: connection.get_interrupt_handle() };
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
            meter.if_late(|| entry.handle.interrupt());
            true
        });
        if watched.is_empty() {
            return;
        }
    }
}
