//! The ranks of a training that `mpirun` started.

use crate::printer;
use crate::stop::{self, Stopped};
use anyhow::Result;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;
use xpr_learn::ExperimentError;
use xpr_nn::Ranks;

/// What `mpirun` tells a process about the number of processes.
const COUNT: &str = "OMPI_COMM_WORLD_SIZE";

/// The connection with the other ranks, if `mpirun` started several.
pub(crate) struct Connection {
    #[cfg(feature = "mpi")]
    mpi: Option<Arc<xpr_mpi::Mpi>>,
}

impl Connection {
    /// Connects with the other ranks. Only rank 0 writes messages from now on.
    ///
    /// # Errors
    /// If this binary was built without MPI.
    pub(crate) fn open() -> Result<Self> {
        let count = std::env::var(COUNT).ok().and_then(|count| count.parse::<usize>().ok()).unwrap_or(1);
        #[cfg(feature = "mpi")]
        {
            use anyhow::Context;
            let mpi = match count {
                0 | 1 => None,
                _ => Some(xpr_mpi::connect().context("this MPI does not accept calls from several threads")?),
            };
            if mpi.as_ref().is_some_and(|mpi| mpi.rank() > 0) {
                printer::mute();
            }
            Ok(Connection { mpi })
        }
        #[cfg(not(feature = "mpi"))]
        match count {
            0 | 1 => Ok(Connection {}),
            _ => anyhow::bail!(
                "mpirun started {count} processes, and this xpr was built without MPI; build it with \
                 `cargo build --release --features mpi`"
            ),
        }
    }

    /// Returns the ranks, if there are several.
    pub(crate) fn ranks(&self) -> Option<Arc<dyn Ranks>> {
        #[cfg(feature = "mpi")]
        return self.mpi.clone().map(|mpi| mpi as Arc<dyn Ranks>);
        #[cfg(not(feature = "mpi"))]
        None
    }

    /// Returns whether this process writes files and results: rank 0 does.
    pub(crate) fn is_first(&self) -> bool {
        self.ranks().is_none_or(|ranks| ranks.rank() == 0)
    }

    /// Disconnects, after all ranks have come to an end. An error of this rank ends all of them, with a message.
    pub(crate) fn close(&self, result: &Result<()>) {
        let Some(ranks) = self.ranks() else { return };
        let is_stopped = |error: &anyhow::Error| {
            let error_of_experiment = error.downcast_ref::<ExperimentError>();
            error.is::<Stopped>() || matches!(error_of_experiment, Some(ExperimentError::Stopped { .. }))
        };
        if let Err(error) = result {
            let (rank, is_stopped) = (ranks.rank(), is_stopped(error));
            if rank > 0 {
                // Rank 0 speaks for all and ends all, after it wrote its checkpoint. It does so unless the error is of this rank alone.
                std::thread::sleep(Duration::from_secs(if is_stopped { 20 } else { 2 }));
            }
            printer::unmute();
            let _ = match is_stopped {
                true => writeln!(printer::stderr(), "{error}"),
                false => {
                    writeln!(printer::stderr(), "error: rank {rank} of {}: {error:#}", ranks.count())
                }
            };
            #[cfg(feature = "mpi")]
            if let Some(mpi) = &self.mpi {
                mpi.abort(if is_stopped { stop::EXIT_CODE } else { 2 });
            }
        }
        #[cfg(feature = "mpi")]
        if let Some(mpi) = &self.mpi {
            mpi.disconnect();
        }
    }
}
