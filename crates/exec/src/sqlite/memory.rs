//! A limit of the memory of one query.
//!
//! SQLite's heap limit is one for the whole process: a greedy query would make harmless ones on other threads fail. So
//! SQLite gets an allocator that counts bytes per thread, and a [`Budget`] limits what the current thread can allocate in
//! addition. When the budget is used up, allocations fail. SQLite is built to survive that: the statement fails and the
//! connection remains usable.
//!
//! A connection can be freed on another thread than the one that allocated it, so the count of a thread has no meaning by
//! itself; only its growth during a run does.

use super::files;
use rusqlite::ffi;
use std::alloc::{Layout, alloc, dealloc, realloc};
use std::cell::Cell;
use std::ffi::{c_int, c_void};
use std::sync::OnceLock;

thread_local! {
    static USED: Cell<i64> = const { Cell::new(0) };
    static CEILING: Cell<i64> = const { Cell::new(i64::MAX) };
    static REFUSED: Cell<bool> = const { Cell::new(false) };
}

/// A limit of what SQLite can allocate on this thread, until it is dropped.
pub(super) struct Budget {
    /// The ceiling before this budget.
    outer: i64,
}

impl Budget {
    /// Allows `bytes` from now on. A budget within another one cannot extend it.
    pub(super) fn new(bytes: usize) -> Budget {
        let outer = CEILING.get();
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        CEILING.set(USED.get().saturating_add(bytes).min(outer));
        REFUSED.set(false);
        Budget { outer }
    }

    /// Returns whether an allocation failed since the budget began.
    pub(super) fn exceeded(&self) -> bool {
        REFUSED.get()
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        CEILING.set(self.outer);
    }
}

/// Gives SQLite the allocator that limits the memory of queries, the access to files that cannot write, and no time zone. Returns false if SQLite was in use already,
/// which is too late.
///
/// [`SqliteDatabase::open`](super::SqliteDatabase::open) does this by itself. A program that uses SQLite in other ways before that
/// must call this first.
pub fn prepare_engine() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let methods = ffi::sqlite3_mem_methods {
            xMalloc: Some(allocate),
            xFree: Some(free),
            xRealloc: Some(resize),
            xSize: Some(size),
            xRoundup: Some(round_up),
            xInit: Some(start),
            xShutdown: Some(stop),
            pAppData: std::ptr::null_mut(),
        };
        // SAFETY: the arguments are those that these two options take, and SQLite copies the methods. It refuses both
        // if it is initialised already. Its statistics are off because they take a lock for every allocation.
        let is_configured = unsafe {
            ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) == ffi::SQLITE_OK
                && ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0 as c_int) == ffi::SQLITE_OK
        };
        // Answers do not depend on the time zone of the machine: the modifiers `localtime` and `utc` of date functions fail. SQLite
        // has no other way to say so.
        // SAFETY: this is the argument of this option.
        let has_no_zone =
            || unsafe { ffi::sqlite3_test_control(ffi::SQLITE_TESTCTRL_LOCALTIME_FAULT, 1 as c_int) };
        is_configured && files::register() && has_no_zone() == ffi::SQLITE_OK
    })
}

/// The bytes before each block, which hold its size. They are as many as the alignment, so that the block is aligned.
const HEADER: usize = 16;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEADER)?, HEADER).ok()
}

/// Adds `bytes` to the count of this thread. Returns false, and adds nothing, if that exceeds the budget.
fn grow(bytes: i64) -> bool {
    let used = USED.get().saturating_add(bytes);
    if bytes > 0 && used > CEILING.get() {
        REFUSED.set(true);
        return false;
    }
    USED.set(used);
    true
}

unsafe extern "C" fn allocate(bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return std::ptr::null_mut() };
    let Some(layout) = layout(bytes) else { return std::ptr::null_mut() };
    if !grow(bytes as i64) {
        return std::ptr::null_mut();
    }
    // SAFETY: the layout is not empty and includes the header.
    unsafe {
        let block = alloc(layout);
        if block.is_null() {
            grow(-(bytes as i64));
            return std::ptr::null_mut();
        }
        block.cast::<usize>().write(bytes);
        block.add(HEADER).cast()
    }
}

/// Returns the size of a block.
///
/// # Safety
/// `block` was allocated by [`allocate`] or [`resize`] and not freed.
unsafe fn size_of_block(block: *mut c_void) -> usize {
    // SAFETY: such a block has its size in the header before it.
    unsafe { block.cast::<u8>().sub(HEADER).cast::<usize>().read() }
}

unsafe extern "C" fn free(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: SQLite frees only blocks it allocated, and only once. The layout is the one of the allocation.
    unsafe {
        let bytes = size_of_block(block);
        grow(-(bytes as i64));
        if let Some(layout) = layout(bytes) {
            dealloc(block.cast::<u8>().sub(HEADER), layout);
        }
    }
}

unsafe extern "C" fn resize(block: *mut c_void, bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return std::ptr::null_mut() };
    // SAFETY: SQLite resizes only blocks it allocated. The old layout is the one of the allocation, and the new size was
    // checked to be valid.
    unsafe {
        let before = size_of_block(block);
        let (Some(old), Some(new)) = (layout(before), layout(bytes)) else { return std::ptr::null_mut() };
        let growth = bytes as i64 - before as i64;
        if !grow(growth) {
            return std::ptr::null_mut();
        }
        let moved = realloc(block.cast::<u8>().sub(HEADER), old, new.size());
        if moved.is_null() {
            grow(-growth);
            return std::ptr::null_mut();
        }
        moved.cast::<usize>().write(bytes);
        moved.add(HEADER).cast()
    }
}

unsafe extern "C" fn size(block: *mut c_void) -> c_int {
    if block.is_null() {
        return 0;
    }
    // SAFETY: SQLite passes only blocks it allocated.
    c_int::try_from(unsafe { size_of_block(block) }).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    bytes.saturating_add(7) & !7
}

unsafe extern "C" fn start(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn stop(_: *mut c_void) {}
