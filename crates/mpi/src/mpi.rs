//! The connection.

use std::ffi::{c_int, c_long};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use xpr_nn::Ranks;

unsafe extern "C" {
    safe fn xpr_mpi_begin(busy_nanoseconds: c_long) -> c_int;
    safe fn xpr_mpi_end();
    safe fn xpr_mpi_abort(code: c_int);
    safe fn xpr_mpi_rank() -> c_int;
    safe fn xpr_mpi_count() -> c_int;
    fn xpr_mpi_send(numbers: *const f32, count: c_int, to: c_int);
    fn xpr_mpi_receive(numbers: *mut f32, count: c_int, from: c_int);
    fn xpr_mpi_broadcast(numbers: *mut f32, count: c_int, from: c_int);
    fn xpr_mpi_counts(own: c_int, counts: *mut c_int);
    fn xpr_mpi_gather(own: *const u8, count: c_int, all: *mut u8, counts: *const c_int, starts: *const c_int);
}

/// The most numbers in a message. MPI counts with 32 bits.
const MOST: usize = 1 << 30;

/// The connection of a process with the others that `mpirun` started.
#[derive(Debug)]
pub struct Mpi {
    rank: usize,
    count: usize,
    /// MPI is called from one thread at a time.
    calls: Mutex<()>,
    nanoseconds: AtomicU64,
}

/// How long a rank waits without giving its core away: about as long as a part of a step. With more ranks than cores, another rank needs it.
const BUSY_NANOSECONDS: c_long = 3_000_000;
const BUSY_NANOSECONDS_IF_SHARED: c_long = 20_000;

/// Returns whether this machine has a core for each of its ranks.
fn has_own_core() -> bool {
    let ranks = std::env::var("OMPI_COMM_WORLD_LOCAL_SIZE").ok().and_then(|size| size.parse().ok());
    let cores = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    ranks.is_none_or(|ranks: usize| ranks <= cores.matches("processor\t").count())
}

/// Connects this process with the others. Returns nothing if MPI does not accept calls from several threads.
///
/// It must be called once at most.
pub fn connect() -> Option<Arc<Mpi>> {
    let busy = if has_own_core() { BUSY_NANOSECONDS } else { BUSY_NANOSECONDS_IF_SHARED };
    if xpr_mpi_begin(busy) == 0 {
        return None;
    }
    let (rank, count) = (xpr_mpi_rank() as usize, xpr_mpi_count() as usize);
    Some(Arc::new(Mpi { rank, count, calls: Mutex::new(()), nanoseconds: AtomicU64::new(0) }))
}

impl Mpi {
    /// Waits for all ranks, and disconnects. No other method may be called after it.
    pub fn disconnect(&self) {
        self.gather(&[]);
        xpr_mpi_end();
    }

    /// Ends all ranks with an exit code.
    pub fn abort(&self, code: u8) {
        xpr_mpi_abort(c_int::from(code));
    }

    /// Calls MPI, and measures the time.
    fn call(&self, call: impl FnOnce()) {
        let start = Instant::now();
        let _calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        call();
        self.nanoseconds.fetch_add(start.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}

impl Ranks for Mpi {
    fn rank(&self) -> usize {
        self.rank
    }

    fn count(&self) -> usize {
        self.count
    }

    fn send(&self, to: usize, numbers: &[f32]) {
        for part in numbers.chunks(MOST) {
            // SAFETY: the slice is valid until the call returns, which waits until it was sent.
            self.call(|| unsafe { xpr_mpi_send(part.as_ptr(), part.len() as c_int, to as c_int) });
        }
    }

    fn receive(&self, from: usize, numbers: &mut [f32]) {
        for part in numbers.chunks_mut(MOST) {
            // SAFETY: the slice is valid until the call returns, which waits until it was written.
            self.call(|| unsafe { xpr_mpi_receive(part.as_mut_ptr(), part.len() as c_int, from as c_int) });
        }
    }

    fn broadcast(&self, from: usize, numbers: &mut [f32]) {
        for part in numbers.chunks_mut(MOST) {
            // SAFETY: as for `receive`.
            self.call(|| unsafe { xpr_mpi_broadcast(part.as_mut_ptr(), part.len() as c_int, from as c_int) });
        }
    }

    fn gather(&self, own: &[u8]) -> Vec<Vec<u8>> {
        assert!(own.len() < MOST / self.count, "a rank sends {} bytes to each other", own.len());
        let mut counts = vec![0; self.count];
        // SAFETY: there is a count for each rank.
        self.call(|| unsafe { xpr_mpi_counts(own.len() as c_int, counts.as_mut_ptr()) });
        let starts: Vec<c_int> = counts
            .iter()
            .scan(0, |end, count| {
                let start = *end;
                *end += count;
                Some(start)
            })
            .collect();
        let mut all = vec![0; counts.iter().map(|count| *count as usize).sum()];
        if all.is_empty() {
            // OpenMPI refuses to gather nothing.
            return vec![vec![]; self.count];
        }
        // SAFETY: the bytes of each rank are at its start, and `all` is as long as all of them together.
        self.call(|| unsafe {
            let count = own.len() as c_int;
            xpr_mpi_gather(own.as_ptr(), count, all.as_mut_ptr(), counts.as_ptr(), starts.as_ptr());
        });
        let mut rest = all.as_slice();
        counts
            .iter()
            .map(|count| {
                let (bytes, after) = rest.split_at(*count as usize);
                rest = after;
                bytes.to_vec()
            })
            .collect()
    }

    fn time(&self) -> Duration {
        Duration::from_nanos(self.nanoseconds.load(Ordering::Relaxed))
    }
}
