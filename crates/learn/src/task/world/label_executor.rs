//! Runs the queries of labels, for every command alike.

use xpr_exec::Executor;
use xpr_exec::database::{Database, DatabaseError, QueryLimits};
use xpr_lang::Outcome;
use xpr_lang::sql::Sql;

/// An executor of labeled queries, which people write less strictly than a parser does.
///
/// A query that the database refuses is run in its canonical text, if the language can read it. Most text-to-SQL datasets write text in double
/// quotes. For the language these are text unless there is such a column; the guard of the database always takes them for names.
pub(in crate::task) struct LabelExecutor<'w> {
    runner: Box<dyn Executor>,
    language: &'w Sql,
}

impl<'w> LabelExecutor<'w> {
    /// Creates an executor with limits for queries that somebody waits for.
    pub(in crate::task) fn new(database: &dyn Database, language: &'w Sql) -> Result<Self, DatabaseError> {
        let runner = database.runner(language.schema(), QueryLimits::interactive())?;
        Ok(LabelExecutor { runner, language })
    }

    /// Runs a query with `run`; in its canonical text, if the database refuses it.
    fn run(&mut self, program: &str, run: fn(&mut dyn Executor, &str) -> Outcome) -> Outcome {
        let outcome = run(&mut *self.runner, program);
        match outcome {
            Outcome::RuntimeError(_) | Outcome::TypeError(_) => match self.language.parse(program) {
                Ok(query) => run(&mut *self.runner, &self.language.text(&query)),
                Err(_) => outcome,
            },
            outcome => outcome,
        }
    }
}

impl Executor for LabelExecutor<'_> {
    fn execute(&mut self, program: &str) -> Outcome {
        self.run(program, |runner, program| runner.execute(program))
    }

    fn full_answer(&mut self, program: &str) -> Outcome {
        self.run(program, |runner, program| runner.full_answer(program))
    }

    fn column_names(&mut self, program: &str) -> Option<Vec<String>> {
        self.runner.column_names(program).or_else(|| {
            let query = self.language.parse(program).ok()?;
            self.runner.column_names(&self.language.text(&query))
        })
    }
}
