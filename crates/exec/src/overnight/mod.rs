//! The eight worlds of the Overnight benchmark, built from their rules.
//!
//! Each is fully determined: entities, then value lists, then properties entity by entity, every
//! choice drawn from Java's generator with seed 1. So they need no data file, and equal the
//! benchmark's own line by line.

mod random;
mod worlds;

use crate::KnowledgeBase;

/// The names of the eight worlds.
pub const WORLDS: [&str; 8] = [
    "basketball",
    "blocks",
    "calendar",
    "housing",
    "publications",
    "recipes",
    "restaurants",
    "socialnetwork",
];

/// Builds the world called `name`; none if it is not one of the eight.
pub fn world(name: &str) -> Option<KnowledgeBase> {
    worlds::build(name)
}
