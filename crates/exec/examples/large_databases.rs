//! Makes two large databases with questions, to see how `xpr` does with them: one of a hundred tables, one of a million rows.
//!
//! ```sh
//! cargo run --release -p xpr-exec --example large_databases -- large
//! xpr init --db sqlite:large/tables.db --labeled large/tables.tsv --out large/tables
//! xpr bench train large/tables/xpr.toml
//! ```
#![allow(clippy::print_stdout, reason = "it is a program")]

use rusqlite::Connection;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

const THINGS: [&str; 10] =
    ["album", "bridge", "castle", "dealer", "engine", "forest", "garden", "harbor", "island", "journal"];
const TRAITS: [&str; 10] =
    ["red", "blue", "small", "large", "northern", "southern", "modern", "ancient", "public", "private"];

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::args().nth(1).ok_or("expected a folder to write to")?;
    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    let (database, questions) = a_hundred_tables();
    make(&folder.join("tables.db"), &database)?;
    std::fs::write(folder.join("tables.tsv"), questions)?;
    let (database, questions) = a_million_rows();
    make(&folder.join("rows.db"), &database)?;
    std::fs::write(folder.join("rows.tsv"), questions)?;
    println!("wrote tables.db, rows.db and their questions to {}", folder.display());
    Ok(())
}

fn make(path: &Path, sql: &str) -> Result<(), Box<dyn Error>> {
    if path.exists() {
        std::fs::remove_file(path)?;
    }
    Connection::open(path)?.execute_batch(&format!("BEGIN; {sql} COMMIT;"))?;
    Ok(())
}

/// Tables such as `red_album`, each with a key to the one before; a few questions about each.
fn a_hundred_tables() -> (String, String) {
    let (mut sql, mut questions) = (String::new(), String::new());
    let mut before: Option<String> = None;
    for (number, (kind, thing)) in
        TRAITS.iter().flat_map(|kind| THINGS.map(|thing| (kind, thing))).enumerate()
    {
        let table = format!("{kind}_{thing}");
        let key = before
            .as_ref()
            .map_or(String::new(), |before| format!(", {before}_id INTEGER REFERENCES {before}(id)"));
        let link = if before.is_some() { ", i" } else { "" };
        let _ = write!(
            sql,
            "CREATE TABLE {table} (id INTEGER PRIMARY KEY, name TEXT, year INTEGER, price REAL, weight REAL, rating INTEGER{key});
             WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 40)
             INSERT INTO {table} SELECT i, '{kind} {thing} ' || i, 1900 + i * 7 % 120, i * 13 % 90, i * 31 % 70, i % 5{link} FROM n;"
        );
        let place = 1 + number % 40;
        let _ = writeln!(questions, "how many {kind} {thing}s are there\tSELECT count(*) FROM {table}");
        let _ = writeln!(
            questions,
            "what is the weight of {kind} {thing} {place}\tSELECT weight FROM {table} WHERE name = '{kind} {thing} {place}'"
        );
        let _ = writeln!(
            questions,
            "which {kind} {thing} has the highest price\tSELECT name FROM {table} ORDER BY price DESC LIMIT 1"
        );
        if let Some(before) = &before {
            let of = before.replace('_', " ");
            let _ = writeln!(
                questions,
                "which {of} does {kind} {thing} {place} belong to\tSELECT {before}.name FROM {before} JOIN {table} \
                 ON {table}.{before}_id = {before}.id WHERE {table}.name = '{kind} {thing} {place}'"
            );
        }
        before = Some(table);
    }
    (sql, questions)
}

/// Orders of customers, and questions about some of them.
fn a_million_rows() -> (String, String) {
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
