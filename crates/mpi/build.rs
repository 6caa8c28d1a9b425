//! Compiles the calls of MPI, and links its library.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/calls.c");
    println!("cargo::rerun-if-env-changed=MPICC");
    println!("cargo::rerun-if-env-changed=PATH");
    if env::var_os("CARGO_FEATURE_LINK").is_none() {
        return;
    }
    let mpicc = env::var("MPICC").unwrap_or_else(|_| "mpicc".to_owned());
    let show = |what: &str| {
        let output = Command::new(&mpicc).arg(format!("--showme:{what}")).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let (Some(include), Some(folders), Some(libraries)) = (show("incdirs"), show("libdirs"), show("libs"))
    else {
        println!(
            "cargo::error=the feature `mpi` needs OpenMPI and its compiler `mpicc`; install Debian's package libopenmpi-dev"
        );
        return;
    };
    cc::Build::new().file("src/calls.c").includes(include.split_whitespace()).compile("xpr_mpi_calls");
    for folder in folders.split_whitespace() {
        println!("cargo::rustc-link-search=native={folder}");
    }
    for library in libraries.split_whitespace().filter(|library| library.starts_with("mpi")) {
        println!("cargo::rustc-link-lib=dylib={library}");
    }
}
