//! The eight worlds of the Overnight benchmark, built from their rules.
//!
//! SEMPRE generates each world at random: first the entities and the lists of values, then the properties of each entity,
//! with `java.util.Random` and seed 1. The same draws in the same order give the same triples, line by line, so no data
//! file is needed.

mod java_random;
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

/// Builds the world called `name`. Returns `None` if the name is not in [`WORLDS`].
pub fn world(name: &str) -> Option<KnowledgeBase> {
    worlds::build(name)
}
