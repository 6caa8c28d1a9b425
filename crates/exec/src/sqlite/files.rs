//! Access to files that cannot create, change or delete one.
//!
//! SQLite writes also when it only reads: it creates a write-ahead log and its index, and deletes journals that look
//! abandoned. [`READ_ONLY`] is SQLite's own access to files without that. Files are opened for reading if they exist, and
//! nothing is deleted. It holds whatever another program does to the files at that moment, which a look at the folder
//! before opening the database could not promise.
//!
//! It has no clock either, so that the answer to a query depends on the database only: `date('now')` is NULL.

use rusqlite::ffi;
use std::ffi::{CStr, c_char, c_int};

/// The name under which SQLite knows this access to files, for the parameter `vfs` of a database's URI.
pub(super) const READ_ONLY: &str = "xpr-read-only";
const NAME: &CStr = c"xpr-read-only";

/// Makes [`READ_ONLY`] known to SQLite. Returns whether that succeeded.
pub(super) fn register() -> bool {
    // SAFETY: SQLite's own methods live as long as the process, and so does the copy, which is never freed. The copy
    // differs in its name and in some methods with the required signatures.
    unsafe {
        let original = ffi::sqlite3_vfs_find(std::ptr::null());
        if original.is_null() {
            return false;
        }
        let mut methods = *original;
        methods.pNext = std::ptr::null_mut();
        methods.zName = NAME.as_ptr();
        methods.xOpen = Some(open_existing);
        methods.xDelete = Some(refuse_to_delete);
        methods.xCurrentTime = Some(no_time);
        methods.xCurrentTimeInt64 = Some(no_whole_time);
        ffi::sqlite3_vfs_register(Box::leak(Box::new(methods)), 0) == ffi::SQLITE_OK
    }
}

/// Opens a file for reading, if it exists.
unsafe extern "C" fn open_existing(
    _: *mut ffi::sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_used: *mut c_int,
) -> c_int {
    // SAFETY: the arguments are those that SQLite gave, except for the flags and the methods, which are the original
    // ones. A file that is not opened has no methods.
    unsafe {
        (*file).pMethods = std::ptr::null();
        let original = ffi::sqlite3_vfs_find(std::ptr::null());
        // A file without a name would be a temporary one. Those are in memory (`temp_store`).
        if name.is_null() || original.is_null() {
            return ffi::SQLITE_CANTOPEN;
        }
        let creates = ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE | ffi::SQLITE_OPEN_EXCLUSIVE;
        let flags = (flags & !creates) | ffi::SQLITE_OPEN_READONLY;
        match (*original).xOpen {
            Some(open) => open(original, name, file, flags, flags_used),
            None => ffi::SQLITE_CANTOPEN,
        }
    }
}

unsafe extern "C" fn refuse_to_delete(_: *mut ffi::sqlite3_vfs, _: *const c_char, _: c_int) -> c_int {
    ffi::SQLITE_IOERR_DELETE
}

unsafe extern "C" fn no_time(_: *mut ffi::sqlite3_vfs, _: *mut f64) -> c_int {
    ffi::SQLITE_ERROR
}

unsafe extern "C" fn no_whole_time(_: *mut ffi::sqlite3_vfs, _: *mut ffi::sqlite3_int64) -> c_int {
    ffi::SQLITE_ERROR
}
