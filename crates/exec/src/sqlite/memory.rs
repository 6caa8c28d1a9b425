//! How much memory one query may use.
//!
//! SQLite's own heap limit holds for the whole process: one greedy query would make innocent ones on other threads
//! fail. So SQLite is given an allocator that counts for each thread, and a [`Budget`] bounds what the thread it
//! lives on may take on top of what it has. When the budget is spent SQLite is told that there is no memory, which it
//! is built to survive: the statement fails, the connection goes on.
//!
//! A connection may be freed on another thread than it grew on, so a thread's count means nothing by itself; only its
//! growth during a run does.

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

/// While it lives, SQLite may use this much more on this thread.
pub(super) struct Budget {
    outer: i64,
}

impl Budget {
    /// Allows `bytes` from now on; a budget within another can only be tighter.
    pub(super) fn new(bytes: usize) -> Budget {
        let outer = CEILING.get();
        let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
        CEILING.set(USED.get().saturating_add(bytes).min(outer));
        REFUSED.set(false);
        Budget { outer }
    }

    /// Whether more was asked for than there is.
    pub(super) fn exceeded(&self) -> bool {
        REFUSED.get()
    }
}

impl Drop for Budget {
    fn drop(&mut self) {
        CEILING.set(self.outer);
    }
}

/// Gives SQLite the allocator that lets queries be limited. Has to come before anything else is asked of SQLite, so a program that
/// uses SQLite itself before it opens a [`Database`](super::Database) calls this first; says whether it came in time.
pub fn prepare_engine() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(|| {
        let methods = ffi::sqlite3_mem_methods {
            xMalloc: Some(take),
            xFree: Some(give_back),
            xRealloc: Some(resize),
            xSize: Some(size),
            xRoundup: Some(round_up),
            xInit: Some(start),
            xShutdown: Some(stop),
            pAppData: std::ptr::null_mut(),
        };
        // SAFETY: the arguments are those that these two options take, and SQLite copies the methods. It refuses
        // both if it is running already. Its own statistics are off because they would lock at every allocation.
        unsafe {
            ffi::sqlite3_config(ffi::SQLITE_CONFIG_MALLOC, &raw const methods) == ffi::SQLITE_OK
                && ffi::sqlite3_config(ffi::SQLITE_CONFIG_MEMSTATUS, 0 as c_int) == ffi::SQLITE_OK
        }
    })
}

/// Before each block: its size. As long as the alignment, so that what follows is aligned too.
const HEADER: usize = 16;

fn layout(bytes: usize) -> Option<Layout> {
    Layout::from_size_align(bytes.checked_add(HEADER)?, HEADER).ok()
}

/// Notes `bytes` more, unless that is more than allowed.
fn grow(bytes: i64) -> bool {
    let used = USED.get().saturating_add(bytes);
    if bytes > 0 && used > CEILING.get() {
        REFUSED.set(true);
        return false;
    }
    USED.set(used);
    true
}

unsafe extern "C" fn take(bytes: c_int) -> *mut c_void {
    let Ok(bytes) = usize::try_from(bytes) else { return std::ptr::null_mut() };
    let Some(layout) = layout(bytes) else { return std::ptr::null_mut() };
    if !grow(bytes as i64) {
        return std::ptr::null_mut();
    }
    // SAFETY: the layout is not empty, and the block has room for the header in front.
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

/// The size of a block.
///
/// # Safety
/// `block` was given out by [`take`] or [`resize`] and not given back.
unsafe fn size_of_block(block: *mut c_void) -> usize {
    // SAFETY: such a block has its size in the header in front of it.
    unsafe { block.cast::<u8>().sub(HEADER).cast::<usize>().read() }
}

unsafe extern "C" fn give_back(block: *mut c_void) {
    if block.is_null() {
        return;
    }
    // SAFETY: SQLite gives back what it was given, once; the layout is the one it was allocated with.
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
    // SAFETY: SQLite resizes only what it was given; the old layout is the one it was allocated with, and the new
    // size was checked to be a layout too.
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
    // SAFETY: SQLite asks about blocks it was given.
    c_int::try_from(unsafe { size_of_block(block) }).unwrap_or(c_int::MAX)
}

unsafe extern "C" fn round_up(bytes: c_int) -> c_int {
    bytes.saturating_add(7) & !7
}

unsafe extern "C" fn start(_: *mut c_void) -> c_int {
    ffi::SQLITE_OK
}

unsafe extern "C" fn stop(_: *mut c_void) {}
