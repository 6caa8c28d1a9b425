//! Reads any bytes as a database: its schema, its values, and the answers to some queries. Nothing may change.
#![no_main]

mod support;

use libfuzzer_sys::fuzz_target;
use std::fs;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use tempfile::TempDir;
use xpr_exec::Executor;
use xpr_exec::database::{QueryLimits, ValueIndex, ValueLimits};
use xpr_exec::sqlite::{SqliteDatabase, SqliteRunner};

/// How many rows a query may read of a file that was damaged on purpose: enough to see the damage.
const STEPS: u64 = 100_000;

fuzz_target!(|bytes: &[u8]| {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    let folder = FOLDER.get_or_init(support::folder).path();
    let path = folder.join("music.db");
    fs::write(&path, bytes).expect("the file can be written");
    if let Ok(database) = SqliteDatabase::open(&path) {
        read(&database);
    }
    assert_eq!(fs::read(&path).expect("it is still there"), bytes);
    assert_eq!(fs::read_dir(folder).expect("the folder can be read").count(), 1, "a file appeared");
});

fn read(database: &SqliteDatabase) {
    let Ok(schema) = database.schema() else { return };
    let values =
        ValueIndex::read(database, &schema, ValueLimits::default(), &mut |_| ControlFlow::Continue(()));
    if let Ok(values) = values {
        let _ = values.candidates("which albums of nina simone are from 1965");
    }
    let limits = QueryLimits { steps: STEPS, ..QueryLimits::default() };
    let Ok(mut runner) = SqliteRunner::checked(database, schema.clone(), limits) else { return };
    for table in schema.tables.iter().take(4) {
        let name = table.name.replace('"', "\"\"");
        let _ = runner.execute(&format!("SELECT * FROM \"{name}\" ORDER BY 1 DESC"));
        let _ = runner.execute(&format!("SELECT count(*) FROM \"{name}\""));
    }
}
