//! One module a command.

pub(crate) mod bench;
pub(crate) mod data;
pub(crate) mod demo;
pub(crate) mod exec;

use anyhow::{Context, Result};
use std::fs;
use std::path::Path;
use xpr_exec::{Builder, KnowledgeBase, overnight};

/// Builds one of the eight worlds.
fn native_world(name: &str) -> Result<KnowledgeBase> {
    overnight::world(name)
        .with_context(|| format!("there is no world `{name}`; there are {}", overnight::WORLDS.join(", ")))
}

/// Loads a knowledge base from a triples file.
fn load_triples(path: &Path) -> Result<KnowledgeBase> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    Builder::read(&text).with_context(|| path.display().to_string())
}
