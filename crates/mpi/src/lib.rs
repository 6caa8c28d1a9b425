//! Training over several processes, connected by MPI.
//!
//! `connect` returns the connection of a process that `mpirun` started. It is the [`Ranks`](xpr_nn::Ranks) of training, which says what is
//! exchanged and when. MPI ends all processes if one of them dies or an exchange fails, so no operation returns an error.
//!
//! The ten calls that training needs are in `calls.c`, because MPI is an interface of C headers: a binding to all of it would need `libclang` to be built.
//!
//! *Architecture invariant:* without the feature `link` there is nothing here, and nothing of MPI is needed to build the workspace.

#[cfg(feature = "link")]
mod mpi;

#[cfg(feature = "link")]
pub use mpi::{Mpi, connect};
