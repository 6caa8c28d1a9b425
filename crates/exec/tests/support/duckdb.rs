//! DuckDB files for tests, made by the library that this program is linked with.

use std::ffi::{CString, c_char, c_void};
use std::path::Path;
use std::ptr;

unsafe extern "C" {
    fn duckdb_open(path: *const c_char, database: *mut *mut c_void) -> u32;
    fn duckdb_close(database: *mut *mut c_void);
    fn duckdb_connect(database: *mut c_void, connection: *mut *mut c_void) -> u32;
    fn duckdb_disconnect(connection: *mut *mut c_void);
    fn duckdb_query(connection: *mut c_void, query: *const c_char, result: *mut Outcome) -> u32;
    fn duckdb_result_error(result: *mut Outcome) -> *const c_char;
    fn duckdb_destroy_result(result: *mut Outcome);
}

/// As large as a `duckdb_result`.
#[repr(C)]
struct Outcome([u64; 8]);

/// A file that is open for writing.
pub(crate) struct Writer {
    database: *mut c_void,
    connection: *mut c_void,
}

impl Writer {
    /// Opens a file, which is made if there is none.
    pub(crate) fn open(path: &Path) -> Writer {
        let path = CString::new(path.to_str().unwrap()).unwrap();
        let mut writer = Writer { database: ptr::null_mut(), connection: ptr::null_mut() };
        // SAFETY: the pointers are valid, and what is opened is closed when `writer` is dropped.
        unsafe {
            assert_eq!(duckdb_open(path.as_ptr(), &mut writer.database), 0, "{path:?}");
            assert_eq!(duckdb_connect(writer.database, &mut writer.connection), 0);
        }
        writer
    }

    /// Runs statements. Panics if one fails.
    pub(crate) fn run(&self, statements: &str) {
        let text = CString::new(statements).unwrap();
        let mut outcome = Outcome([0; 8]);
        // SAFETY: the connection is open, and the outcome is destroyed once.
        unsafe {
            if duckdb_query(self.connection, text.as_ptr(), &mut outcome) != 0 {
                let message = std::ffi::CStr::from_ptr(duckdb_result_error(&mut outcome));
                panic!("{}: {statements}", message.to_string_lossy());
            }
            duckdb_destroy_result(&mut outcome);
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // SAFETY: both are open, and closed once.
        unsafe {
            duckdb_disconnect(&mut self.connection);
            duckdb_close(&mut self.database);
        }
    }
}

/// Makes a file with a script.
pub(crate) fn make(path: &Path, script: &str) {
    Writer::open(path).run(script);
}
