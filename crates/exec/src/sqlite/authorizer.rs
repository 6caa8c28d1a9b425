//! The function that SQLite asks whether a statement may do what it says.
//!
//! rusqlite has an authorizer too. It panics if a name is not UTF-8, and any bytes can be the name of a table in a file. This
//! one refuses such a name.

use rusqlite::{Connection, ffi};
use std::ffi::{CStr, c_char, c_int, c_void};

/// What a statement does.
#[derive(Debug)]
pub(super) enum Action<'a> {
    Select,
    /// Reads a column of a table. The column is empty if none of the table is used.
    Read {
        table: &'a str,
        column: &'a str,
    },
    Function(&'a str),
    Recursive,
    Pragma(&'a str),
    /// Attaches or detaches a database.
    OtherDatabase,
    /// Has a name that is not UTF-8.
    Unreadable,
    /// Anything else: all that is not reading.
    Other,
}

/// What a statement does, and in which database.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub(super) action: Action<'a>,
    pub(super) database: Option<&'a str>,
}

/// Asks `is_allowed` before every action of the connection's statements.
///
/// # Errors
/// If there is no memory for it.
pub(super) fn install<F>(connection: &Connection, is_allowed: F) -> rusqlite::Result<()>
where
    F: Fn(&Request<'_>) -> bool + 'static,
{
    let function = Box::into_raw(Box::new(is_allowed)).cast::<c_void>();
    // SAFETY: the function belongs to the connection from here on, which frees it when it is closed, or now if there is an
    // error. It is called with the type it has.
    unsafe {
        let database = connection.handle();
        let code =
            ffi::sqlite3_set_clientdata(database, c"xpr-authorizer".as_ptr(), function, Some(free::<F>));
        if code != ffi::SQLITE_OK {
            return Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None));
        }
        match ffi::sqlite3_set_authorizer(database, Some(call::<F>), function) {
            ffi::SQLITE_OK => Ok(()),
            code => Err(rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)),
        }
    }
}

unsafe extern "C" fn free<F>(function: *mut c_void) {
    // SAFETY: it was made by `install`, and SQLite calls this once.
    drop(unsafe { Box::from_raw(function.cast::<F>()) });
}

unsafe extern "C" fn call<F: Fn(&Request<'_>) -> bool>(
    function: *mut c_void,
    code: c_int,
    first: *const c_char,
    second: *const c_char,
    database: *const c_char,
    _: *const c_char,
) -> c_int {
    // SAFETY: the texts are null or end with a zero byte, and live until this returns. The function is that of `install`.
    let (is_allowed, texts) = unsafe {
        let text = |text: *const c_char| match text.is_null() {
            true => Ok(None),
            false => CStr::from_ptr(text).to_str().map(Some),
        };
        (&*function.cast::<F>(), [text(first), text(second), text(database)])
    };
    let request = match texts {
        [Ok(first), Ok(second), Ok(database)] => {
            Request { action: action(code, first.unwrap_or_default(), second.unwrap_or_default()), database }
        }
        _ => Request { action: Action::Unreadable, database: None },
    };
    if is_allowed(&request) { ffi::SQLITE_OK } else { ffi::SQLITE_DENY }
}

fn action<'a>(code: c_int, first: &'a str, second: &'a str) -> Action<'a> {
    match code {
        ffi::SQLITE_SELECT => Action::Select,
        ffi::SQLITE_READ => Action::Read { table: first, column: second },
        ffi::SQLITE_FUNCTION => Action::Function(second),
        ffi::SQLITE_RECURSIVE => Action::Recursive,
        ffi::SQLITE_PRAGMA => Action::Pragma(first),
        ffi::SQLITE_ATTACH | ffi::SQLITE_DETACH => Action::OtherDatabase,
        _ => Action::Other,
    }
}
