//! The ranks of a training that `mpirun` started.

use std::sync::Arc;
use xpr_nn::Ranks;

/// What `mpirun` tells a process about the number of processes.
const COUNT: &str = "OMPI_COMM_WORLD_SIZE";

/// The connection with the other ranks, if `mpirun` started several.
pub(crate) struct Connection {
    #[cfg(feature = "mpi")]
    mpi: Option<Arc<xpr_mpi::Mpi>>,
}

impl Connection {
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
}

/// Returns the number of processes that `mpirun` started.
fn started() -> usize {
    std::env::var(COUNT).ok().and_then(|count| count.parse().ok()).unwrap_or(1)
}

#[cfg(not(feature = "mpi"))]
impl Connection {
    /// Returns the connection of a process that is alone.
    ///
    /// # Errors
    /// If `mpirun` started several: this binary was built without MPI.
    pub(crate) fn open() -> anyhow::Result<Self> {
        match started() {
            0 | 1 => Ok(Connection {}),
            count => anyhow::bail!(
                "mpirun started {count} processes, and this xpr was built without MPI; build it with \
                 `cargo build --release --features mpi`"
            ),
        }
    }

    /// Does nothing.
    pub(crate) fn close(&self, _: &anyhow::Result<()>) {}
}

#[cfg(feature = "mpi")]
mod with_mpi {
    use super::{Connection, started};
    use crate::printer;
    use crate::stop::{self, Stopped};
    use anyhow::{Context, Result};
    use std::io::Write;
    use std::time::Duration;
    use xpr_learn::ExperimentError;
    use xpr_nn::Ranks;

    impl Connection {
        /// Connects with the other ranks. Only rank 0 writes messages from now on.
        ///
        /// # Errors
        /// If the MPI of this machine cannot be used.
        pub(crate) fn open() -> Result<Self> {
            if started() <= 1 {
                return Ok(Connection { mpi: None });
            }
            let mpi = xpr_mpi::connect().context("this MPI does not accept calls from several threads")?;
            if mpi.rank() > 0 {
                printer::mute();
            }
            Ok(Connection { mpi: Some(mpi) })
        }

        /// Disconnects, after all ranks have come to an end. An error of this rank ends all of them, with a message.
        pub(crate) fn close(&self, result: &Result<()>) {
            let Some(mpi) = &self.mpi else { return };
            let Err(error) = result else { return mpi.disconnect() };
            let of_experiment = error.downcast_ref::<ExperimentError>();
            let is_stopped =
                error.is::<Stopped>() || matches!(of_experiment, Some(ExperimentError::Stopped { .. }));
            let rank = mpi.rank();
            if rank > 0 {
                // Rank 0 speaks for all and ends all, after it wrote its checkpoint. It does so unless the error is of this rank alone.
                std::thread::sleep(Duration::from_secs(if is_stopped { 20 } else { 2 }));
            }
            printer::unmute();
            let _ = match is_stopped {
                true => writeln!(printer::stderr(), "{error}"),
                false => writeln!(printer::stderr(), "error: rank {rank} of {}: {error:#}", mpi.count()),
            };
            mpi.abort(if is_stopped { stop::EXIT_CODE } else { 2 });
        }
    }
}
