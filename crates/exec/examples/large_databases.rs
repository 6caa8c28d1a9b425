//! Writes two large databases with questions, to measure `xpr` on them: one with a hundred tables, one with a million
//! rows.
//!
//! ```sh
//! cargo run --release -p xpr-exec --example large_databases -- large
//! xpr init --db sqlite:large/tables.db --labeled large/tables.tsv --out large/tables
//! xpr bench train large/tables/xpr.toml
//! ```
#![allow(clippy::print_stdout, reason = "this is a command-line program")]

use rusqlite::Connection;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

const NOUNS: [&str; 10] =
    ["album", "bridge", "castle", "dealer", "engine", "forest", "garden", "harbor", "island", "journal"];
const ADJECTIVES: [&str; 10] =
    ["red", "blue", "small", "large", "northern", "southern", "modern", "ancient", "public", "private"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a folder to write to")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let (database, questions) = hundred_tables();
    write_database(&folder.join("tables.db"), &database)?;
    std::fs::write(folder.join("tables.tsv"), questions)?;
    let (database, questions) = million_rows();
    write_database(&folder.join("rows.db"), &database)?;
    std::fs::write(folder.join("rows.tsv"), questions)?;
    println!("wrote tables.db, rows.db and their questions to {}", folder.display());
    Ok(())
}

/// Writes the database of a script, in place of an earlier one.
fn write_database(path: &Path, sql: &str) -> Result<(), Box<dyn Error>> {
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    Connection::open(path)?.execute_batch(&format!("BEGIN; {sql} COMMIT;"))?;
    Ok(())
}

/// Returns a script for tables such as `red_album`, each with a foreign key to the previous one, and a few questions about
/// each.
fn hundred_tables() -> (String, String) {
    let (mut sql, mut questions) = (String::new(), String::new());
    let mut previous: Option<String> = None;
    for (number, (adjective, noun)) in
        ADJECTIVES.iter().flat_map(|adjective| NOUNS.map(|noun| (adjective, noun))).enumerate()
    {
        let table = format!("{adjective}_{noun}");
        let key = previous
            .as_ref()
            .map_or(String::new(), |previous| format!(", {previous}_id INTEGER REFERENCES {previous}(id)"));
        let key_value = if previous.is_some() { ", i" } else { "" };
        let _ = write!(
            sql,
            "CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, year INTEGER, price REAL, weight REAL, rating INTEGER{key});
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
             INSERT INTO {table} SELECT i, '{adjective} {noun} ' || i, 1900 + i * 7 % 120, i * 13 % 90, i * 31 % 70, i % 5{key_value} FROM n;"
        );
        let row = format!("{adjective} {noun} {}", 1 + number % 40);
        let _ = writeln!(questions, "how many {adjective} {noun}s are there\tSELECT count(*) FROM {table}");
        let _ = writeln!(
            questions,
            "what is the weight of {row}\tSELECT weight FROM {table} WHERE name = '{row}'"
        );
        let _ = writeln!(
            questions,
            "which {adjective} {noun} has the highest price\tSELECT name FROM {table} ORDER BY price DESC LIMIT 1"
        );
        if let Some(previous) = &previous {
            let phrase = previous.replace('_', " ");
            let _ = writeln!(
                questions,
                "which {phrase} does {row} belong to\tSELECT {previous}.name FROM {previous} JOIN {table} \
                 ON {table}.{previous}_id = {previous}.id WHERE {table}.name = '{row}'"
            );
        }
        previous = Some(table);
    }
    (sql, questions)
}

/// Returns a script for the purchases of customers, and questions about some of them.
fn million_rows() -> (String, String) {
    let sql = "
        CREATE TABLE customer (id INTEGER PRIMARY KEY, name TEXT, city TEXT);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 50000)
        INSERT INTO customer SELECT i, 'customer ' || i, 'city ' || (i % 500) FROM n;
        CREATE TABLE purchase (id INTEGER PRIMARY KEY, customer_id INTEGER REFERENCES customer(id), product TEXT, price REAL, year INTEGER);
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000)
        INSERT INTO purchase SELECT i, 1 + i * 7919 % 50000, 'product ' || (i % 3000), i * 31 % 1000 / 10.0, 1990 + i % 35 FROM n;
    ";
    let mut questions = String::new();
    for number in 1..=100 {
        let (city, product, year) = (number * 37 % 500, number * 41 % 3000, 1990 + number % 35);
        let _ = writeln!(
            questions,
            "how many customers live in city {city}\tSELECT count(*) FROM customer WHERE city = 'city {city}'"
        );
        let _ = writeln!(
            questions,
            "how often was product {product} bought\tSELECT count(*) FROM purchase WHERE product = 'product {product}'"
        );
        let _ = writeln!(
            questions,
            "what was the highest price paid for product {product} in {year}\tSELECT max(price) FROM purchase \
             WHERE product = 'product {product}' AND year = {year}"
        );
        let _ = writeln!(
            questions,
            "how much did customer {number} pay\tSELECT sum(price) FROM purchase JOIN customer \
             ON purchase.customer_id = customer.id WHERE customer.name = 'customer {number}'"
        );
    }
    (sql.to_owned(), questions)
}
