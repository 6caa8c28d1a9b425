//! Makes the program find the library of DuckDB that it is linked with, wherever that is.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is_bundled = env::var_os("CARGO_FEATURE_DUCKDB_BUNDLED").is_some();
    let is_unix = env::var_os("CARGO_CFG_UNIX").is_some();
    if env::var_os("CARGO_FEATURE_DUCKDB").is_none() || is_bundled || !is_unix {
        return;
    }
    println!("cargo::rerun-if-env-changed=DUCKDB_LIB_DIR");
    if let Ok(folder) = env::var("DUCKDB_LIB_DIR") {
        println!("cargo::rustc-link-arg=-Wl,-rpath,{folder}");
    }
}
