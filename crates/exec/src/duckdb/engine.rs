//! DuckDB by its C interface, as far as the child process needs it.
//!
//! A [`Connection`] owns a database in memory, to which a file is attached. An [`Answer`] is read chunk by chunk; `cells.rs` reads
//! the cells of a chunk.

use super::wire::{Failure, FailureKind};
use libduckdb_sys as ffi;
use std::ffi::{CStr, CString, c_char};
use std::ptr;

/// A connection to a database in memory.
pub(super) struct Connection {
    database: ffi::duckdb_database,
    connection: ffi::duckdb_connection,
}

impl Connection {
    /// Opens a database in memory with settings.
    pub(super) fn open(settings: &[(&str, &str)]) -> Result<Connection, Failure> {
        let settings: Vec<(CString, CString)> = settings
            .iter()
            .map(|(name, value)| Ok((c_text(name)?, c_text(value)?)))
            .collect::<Result<_, Failure>>()?;
        let mut opened = Connection { database: ptr::null_mut(), connection: ptr::null_mut() };
        // SAFETY: all pointers are to values that live until the calls return, and the configuration is destroyed once. What was
        // opened is closed when `opened` is dropped, where null pointers are allowed.
        unsafe {
            let mut config = ptr::null_mut();
            if ffi::duckdb_create_config(&mut config) != ffi::DuckDBSuccess {
                return Err(runtime("no memory for the settings"));
            }
            for (name, value) in &settings {
                if ffi::duckdb_set_config(config, name.as_ptr(), value.as_ptr()) != ffi::DuckDBSuccess {
                    ffi::duckdb_destroy_config(&mut config);
                    return Err(runtime(format!("DuckDB has no setting {}", name.to_string_lossy())));
                }
            }
            let mut message = ptr::null_mut();
            let state =
                ffi::duckdb_open_ext(c":memory:".as_ptr(), &mut opened.database, config, &mut message);
            ffi::duckdb_destroy_config(&mut config);
            if state != ffi::DuckDBSuccess {
                return Err(failure(&owned_text(message)));
            }
            if ffi::duckdb_connect(opened.database, &mut opened.connection) != ffi::DuckDBSuccess {
                return Err(runtime("no connection"));
            }
        }
        Ok(opened)
    }

    /// Runs statements of this program, and drops their answer.
    pub(super) fn execute(&self, statements: &str) -> Result<(), Failure> {
        let statements = c_text(statements)?;
        // SAFETY: the connection is open, the text ends with a NUL, and the result is destroyed once, also after an error.
        unsafe {
            let mut result = std::mem::zeroed();
            let state = ffi::duckdb_query(self.connection, statements.as_ptr(), &mut result);
            let outcome = match state == ffi::DuckDBSuccess {
                true => Ok(()),
                false => Err(failure(&borrowed_text(ffi::duckdb_result_error(&mut result)))),
            };
            ffi::duckdb_destroy_result(&mut result);
            outcome
        }
    }

    /// Prepares one `SELECT` without parameters.
    pub(super) fn prepare(&self, query: &str) -> Result<Prepared<'_>, Failure> {
        self.prepare_as(ffi::duckdb_statement_type_DUCKDB_STATEMENT_TYPE_SELECT, query)
    }

    /// Prepares the statement that returns the plan of a query which can be prepared.
    pub(super) fn prepare_plan(&self, query: &str) -> Result<Prepared<'_>, Failure> {
        let plan = format!("EXPLAIN (FORMAT JSON) {query}");
        self.prepare(query)?;
        self.prepare_as(ffi::duckdb_statement_type_DUCKDB_STATEMENT_TYPE_EXPLAIN, &plan)
    }

    fn prepare_as(&self, kind: ffi::duckdb_statement_type, query: &str) -> Result<Prepared<'_>, Failure> {
        let query = c_text(query)?;
        let mut prepared = Prepared { statement: ptr::null_mut(), _connection: self };
        // SAFETY: the connection is open and the text ends with a NUL. What was extracted is destroyed once, and the statement
        // when `prepared` is dropped.
        unsafe {
            let mut extracted = ptr::null_mut();
            let count = ffi::duckdb_extract_statements(self.connection, query.as_ptr(), &mut extracted);
            let outcome = match count {
                0 => Err(failure(&borrowed_text(ffi::duckdb_extract_statements_error(extracted)))),
                1 => {
                    let state = ffi::duckdb_prepare_extracted_statement(
                        self.connection,
                        extracted,
                        0,
                        &mut prepared.statement,
                    );
                    match state == ffi::DuckDBSuccess {
                        true => Ok(()),
                        false => Err(failure(&borrowed_text(ffi::duckdb_prepare_error(prepared.statement)))),
                    }
                }
                _ => Err(runtime("refused: more than one statement")),
            };
            ffi::duckdb_destroy_extracted(&mut extracted);
            outcome?;
            if ffi::duckdb_prepared_statement_type(prepared.statement) != kind {
                return Err(runtime("refused: a statement that does more than read"));
            }
            if ffi::duckdb_nparams(prepared.statement) != 0 {
                return Err(runtime("refused: a query with parameters"));
            }
        }
        Ok(prepared)
    }
}

/// Interrupts the query of a connection from another thread.
pub(super) struct Interrupter(ffi::duckdb_connection);

// SAFETY: DuckDB allows to interrupt a connection from any thread.
unsafe impl Send for Interrupter {}

impl Interrupter {
    /// # Safety
    /// The connection must be open as long as the interrupter is used.
    pub(super) unsafe fn new(connection: &Connection) -> Interrupter {
        Interrupter(connection.connection)
    }

    pub(super) fn interrupt(&self) {
        // SAFETY: the connection is open.
        unsafe { ffi::duckdb_interrupt(self.0) }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // SAFETY: both are open or null, and closed once.
        unsafe {
            ffi::duckdb_disconnect(&mut self.connection);
            ffi::duckdb_close(&mut self.database);
        }
    }
}

/// A query that can run.
pub(super) struct Prepared<'c> {
    statement: ffi::duckdb_prepared_statement,
    _connection: &'c Connection,
}

impl Prepared<'_> {
    /// Returns the names of the columns of the answer.
    pub(super) fn column_names(&self) -> Vec<String> {
        // SAFETY: the statement is prepared, and the names are copied and freed.
        unsafe {
            let count = ffi::duckdb_prepared_statement_column_count(self.statement);
            let name = |column| {
                let name = ffi::duckdb_prepared_statement_column_name(self.statement, column);
                owned_text(name.cast_mut())
            };
            (0..count).map(name).collect()
        }
    }

    /// Runs the query until there is an answer to read.
    pub(super) fn run(&self) -> Result<Answer<'_>, Failure> {
        let mut answer = Answer { result: None, _prepared: self };
        // SAFETY: the statement is prepared. The pending result is destroyed once; the result when `answer` is dropped.
        unsafe {
            let mut pending = ptr::null_mut();
            let mut message = None;
            if ffi::duckdb_pending_prepared_streaming(self.statement, &mut pending) != ffi::DuckDBSuccess {
                message = Some(borrowed_text(ffi::duckdb_pending_error(pending)));
            } else {
                let mut result = std::mem::zeroed();
                if ffi::duckdb_execute_pending(pending, &mut result) != ffi::DuckDBSuccess {
                    message = Some(borrowed_text(ffi::duckdb_result_error(&mut result)));
                }
                answer.result = Some(result);
            }
            ffi::duckdb_destroy_pending(&mut pending);
            match message {
                None => Ok(answer),
                Some(message) => Err(failure(&message)),
            }
        }
    }
}

impl Drop for Prepared<'_> {
    fn drop(&mut self) {
        // SAFETY: it is prepared or null, and destroyed once.
        unsafe { ffi::duckdb_destroy_prepare(&mut self.statement) }
    }
}

/// The answer of a query, while it is read.
pub(super) struct Answer<'p> {
    result: Option<ffi::duckdb_result>,
    _prepared: &'p Prepared<'p>,
}

impl Answer<'_> {
    /// Returns the types of the columns.
    pub(super) fn column_types(&mut self) -> Vec<LogicalType> {
        let Some(result) = &mut self.result else { return vec![] };
        // SAFETY: the result is valid, and each type is destroyed once.
        unsafe {
            let count = ffi::duckdb_column_count(result);
            (0..count).map(|column| LogicalType(ffi::duckdb_column_logical_type(result, column))).collect()
        }
    }

    /// Returns the next rows; `None` if there are no more.
    pub(super) fn next_chunk(&mut self) -> Result<Option<Chunk<'_>>, Failure> {
        let Some(result) = &mut self.result else { return Ok(None) };
        // SAFETY: the result is valid; the chunk is destroyed once.
        unsafe {
            let chunk = ffi::duckdb_fetch_chunk(*result);
            if !chunk.is_null() {
                return Ok(Some(Chunk { chunk, _answer: std::marker::PhantomData }));
            }
            let message = ffi::duckdb_result_error(result);
            if message.is_null() { Ok(None) } else { Err(failure(&borrowed_text(message))) }
        }
    }
}

impl Drop for Answer<'_> {
    fn drop(&mut self) {
        if let Some(result) = &mut self.result {
            // SAFETY: the result was initialised, and is destroyed once.
            unsafe { ffi::duckdb_destroy_result(result) }
        }
    }
}

/// Some rows of an answer.
pub(super) struct Chunk<'a> {
    chunk: ffi::duckdb_data_chunk,
    _answer: std::marker::PhantomData<&'a ()>,
}

impl Chunk<'_> {
    pub(super) fn rows(&self) -> usize {
        // SAFETY: the chunk is valid.
        unsafe { ffi::duckdb_data_chunk_get_size(self.chunk) as usize }
    }

    /// Returns the cells of a column, which must exist.
    pub(super) fn vector(&self, column: usize) -> ffi::duckdb_vector {
        // SAFETY: the chunk is valid, and the vector is not used after it.
        unsafe { ffi::duckdb_data_chunk_get_vector(self.chunk, column as u64) }
    }
}

impl Drop for Chunk<'_> {
    fn drop(&mut self) {
        // SAFETY: the chunk is valid, and destroyed once.
        unsafe { ffi::duckdb_destroy_data_chunk(&mut self.chunk) }
    }
}

/// A type as DuckDB describes it.
pub(super) struct LogicalType(pub(super) ffi::duckdb_logical_type);

impl Drop for LogicalType {
    fn drop(&mut self) {
        // SAFETY: it is valid or null, and destroyed once.
        unsafe { ffi::duckdb_destroy_logical_type(&mut self.0) }
    }
}

fn c_text(text: &str) -> Result<CString, Failure> {
    CString::new(text).map_err(|_| runtime("refused: a NUL character"))
}

/// Copies a text of DuckDB.
///
/// # Safety
/// It is null or ends with a NUL.
unsafe fn borrowed_text(text: *const c_char) -> String {
    if text.is_null() {
        return "DuckDB does not say why".to_owned();
    }
    // SAFETY: the caller promises that it ends with a NUL.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// Copies a text that DuckDB allocated, and frees it.
///
/// # Safety
/// It is null or ends with a NUL, and nothing else frees it.
pub(super) unsafe fn owned_text(text: *mut c_char) -> String {
    // SAFETY: the caller promises both.
    unsafe {
        let copy = borrowed_text(text);
        ffi::duckdb_free(text.cast());
        copy
    }
}

fn runtime(message: impl Into<String>) -> Failure {
    Failure { kind: FailureKind::Runtime, message: message.into() }
}

/// Returns the failure that a message of DuckDB speaks of, which begins with its kind.
fn failure(message: &str) -> Failure {
    let first = message.lines().next().unwrap_or_default();
    let begins = |kinds: &[&str]| kinds.iter().any(|kind| first.starts_with(kind));
    let is_of_types = begins(&["Conversion Error", "Mismatch Type Error", "Type Error"])
        || begins(&["Binder Error"])
            && ["No function matches", "Cannot compare", "Could not choose", "Cannot mix"]
                .iter()
                .any(|part| first.contains(part));
    let kind = match () {
        () if is_of_types => FailureKind::Type,
        () if begins(&["Out of Memory Error"]) || first.contains("bad_alloc") => FailureKind::Memory,
        () if begins(&["INTERRUPT"]) => FailureKind::Time,
        () => FailureKind::Runtime,
    };
    let message =
        match message.lines().skip(1).find(|line| REASONS.iter().any(|reason| line.starts_with(reason))) {
            Some(reason) => format!("{first}: {reason}"),
            None => first.to_owned(),
        };
    Failure { kind, message }
}

/// How the line begins that says what is wrong with a CSV file. The first line says where.
const REASONS: [&str; 6] = [
    "Error when converting",
    "Expected Number of Columns",
    "Invalid unicode",
    "It was not possible",
    "Maximum line size",
    "Value with unterminated quote",
];
