//! Filling the slots of a pattern with names and values of a database.

use super::pattern::{Names, Pattern, PatternAction, Piece, Slot};
use crate::task::Task;
use std::collections::HashMap;
use xpr_data::Example;
use xpr_exec::Executor;
use xpr_exec::database::{AnswerCell, answer_cells};
use xpr_lang::english::{plural, singular};
use xpr_lang::sql::{Column, ColumnId, Literal, Schema, Table, TableId, quoted};
use xpr_lang::{Action, ItemId, Outcome, Program};
use xpr_nn::Random;
use xpr_parser::Question;

/// The number of values of a column that are known.
const CELLS: usize = 200;
/// The length of the longest value that a question says.
const LONGEST_CELL: usize = 40;
/// The share of columns whose question leaves out the words of their table.
const SHORT: f64 = 0.6;

/// A value of a column: what questions and what programs call it.
#[derive(Clone, Debug, PartialEq)]
struct Cell {
    text: String,
    symbol: String,
}

/// What fills a slot.
#[derive(Clone, Debug, PartialEq)]
enum Filling {
    Name(ItemId),
    Value(Cell),
}

/// Fills patterns with names and values of one database.
pub(super) struct Filler<'t> {
    task: &'t Task,
    names: Names<'t>,
    executor: Box<dyn Executor + 't>,
    cells: HashMap<ItemId, Vec<Cell>>,
}

/// Draws one number after another.
struct Draws {
    random: Random,
    position: u64,
}

impl Draws {
    fn one_of<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        self.position += 1;
        let index = (!all.is_empty()).then(|| self.random.below(self.position, all.len()))?;
        Some(all[index].clone())
    }

    fn is_below(&mut self, share: f64) -> bool {
        self.position += 1;
        self.random.uniform(self.position) < share
    }
}

impl<'t> Filler<'t> {
    pub(super) fn new(task: &'t Task, executor: Box<dyn Executor + 't>) -> Self {
        Filler { task, names: Names::new(task.world().environment()), executor, cells: HashMap::new() }
    }

    /// Returns a question and its program in the form of a pattern. There is none if nothing that was drawn fits, if the program makes no
    /// sense, or if it finds nothing.
    pub(super) fn fill(&mut self, pattern: &Pattern, random: Random) -> Option<Example> {
        let draws = &mut Draws { random, position: 0 };
        let fillings = self.fillings(pattern, draws)?;
        let utterance = self.utterance(pattern, &fillings, draws);
        let question = self.task.question(&utterance);
        let program = self.program(pattern, &fillings, &question)?;
        let text = self.task.text(&program, &question);
        let outcome = self.executor.execute(&text);
        self.task.finds_something(&text, &outcome).then_some(Example { utterance, program: text })
    }

    fn fillings(&mut self, pattern: &Pattern, draws: &mut Draws) -> Option<Vec<Filling>> {
        let names = self.draw_names(pattern, draws)?;
        let mut fillings: Vec<Option<Filling>> = names.iter().map(|name| name.map(Filling::Name)).collect();
        for (index, slot) in pattern.slots.iter().enumerate() {
            let Slot::Value { column } = *slot else { continue };
            let cells = self.cells(names[column]?);
            let unused = |cell: &&Cell| !fillings.contains(&Some(Filling::Value((*cell).clone())));
            let cells: Vec<Cell> = cells.iter().filter(unused).cloned().collect();
            fillings[index] = Some(Filling::Value(draws.one_of(&cells)?));
        }
        fillings.into_iter().collect()
    }

    /// Draws a table or column for each slot of a name. Tables that the pattern joins are joined by a key.
    fn draw_names(&self, pattern: &Pattern, draws: &mut Draws) -> Option<Vec<Option<ItemId>>> {
        let Names { columns, tables, keys, .. } = &self.names;
        let mut names: Vec<Option<ItemId>> = vec![None; pattern.slots.len()];
        let table_of = |item: ItemId| columns.iter().find(|column| column.0 == item).map(|column| column.1);
        let table_slot = |slot: usize| match pattern.slots[slot] {
            Slot::Column { table, .. } => Some(table),
            _ => None,
        };
        let mut open: Vec<(usize, usize)> = pattern.keys.clone();
        while !open.is_empty() {
            // Keys of tables that are drawn come first.
            let known = |&(from, to): &(usize, usize)| {
                [from, to]
                    .iter()
                    .filter(|&&slot| table_slot(slot).is_some_and(|table| names[table].is_some()))
                    .count()
            };
            let next =
                (0..open.len()).max_by_key(|&index| (known(&open[index]), std::cmp::Reverse(index)))?;
            let slots = open.remove(next);
            let places = [(slots.0, table_slot(slots.0)?), (slots.1, table_slot(slots.1)?)];
            let fits = |(slot, table): (usize, usize), column: ItemId| {
                let of = table_of(column);
                let is_table = match names[table] {
                    Some(drawn) => Some(drawn) == of,
                    None => !names.contains(&of),
                };
                is_table && names[slot].is_none_or(|drawn| drawn == column)
            };
            let possible: Vec<(ItemId, ItemId)> = keys
                .iter()
                .copied()
                .filter(|&(from, to)| {
                    fits(places[0], from)
                        && fits(places[1], to)
                        && (places[0].1 == places[1].1) == (table_of(from) == table_of(to))
                })
                .collect();
            let (from, to) = draws.one_of(&possible)?;
            for ((slot, table), column) in places.into_iter().zip([from, to]) {
                (names[slot], names[table]) = (Some(column), table_of(column));
            }
        }
        for (index, slot) in pattern.slots.iter().enumerate() {
            if names[index].is_some() {
                continue;
            }
            let possible: Vec<ItemId> = match *slot {
                Slot::Table => {
                    tables.iter().copied().filter(|table| !names.contains(&Some(*table))).collect()
                }
                Slot::Column { table, kind, role } => columns
                    .iter()
                    .filter(|column| Some(column.1) == names[table] && (column.2, column.3) == (kind, role))
                    .map(|column| column.0)
                    .filter(|column| !names.contains(&Some(*column)))
                    .collect(),
                Slot::Value { .. } => continue,
            };
            names[index] = Some(draws.one_of(&possible)?);
        }
        Some(names)
    }

    /// Returns values of a column that a question can say.
    fn cells(&mut self, column: ItemId) -> &[Cell] {
        let Filler { task, names, executor, cells } = self;
        cells.entry(column).or_insert_with(|| {
            let table = names.columns.iter().find(|known| known.0 == column).map(|known| known.1);
            let Some(table) = table else { return vec![] };
            let query = task.world().schema().and_then(|schema| {
                let (table, column) = in_sql(schema, names.symbol(table), names.symbol(column))?;
                Some(format!("SELECT DISTINCT {column} FROM {table} LIMIT {CELLS}"))
            });
            let Some(query) = query else { return vec![] };
            let Outcome::Value(answer) = executor.execute(&query) else { return vec![] };
            let cell = |cell: AnswerCell| match cell {
                AnswerCell::Text(text) => {
                    let symbol = Literal::text(&text).to_string();
                    Some(Cell { text, symbol })
                }
                AnswerCell::Number(text) => Some(Cell { symbol: text.clone(), text }),
                AnswerCell::Null | AnswerCell::Bytes(_) => None,
            };
            let is_sayable = |cell: &Cell| {
                let is_plain = !cell.text.chars().any(|c| c.is_control() || c == '"');
                is_plain && !cell.text.trim().is_empty() && cell.text.chars().count() <= LONGEST_CELL
            };
            answer_cells(&answer)
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(cell)
                .filter(is_sayable)
                .collect()
        })
    }

    /// Returns the text of the question.
    fn utterance(&self, pattern: &Pattern, fillings: &[Filling], draws: &mut Draws) -> String {
        let mut text = String::new();
        for piece in &pattern.question {
            let (slot, is_plural) = match piece {
                Piece::Text(words) => {
                    text.push_str(words);
                    continue;
                }
                Piece::Slot(slot, is_plural) => (*slot, *is_plural),
            };
            match (&fillings[slot], pattern.slots[slot]) {
                (Filling::Value(cell), _) => text.push_str(&cell.text),
                (Filling::Name(item), Slot::Column { table, .. }) => {
                    let short = match &fillings[table] {
                        Filling::Name(table) if draws.is_below(SHORT) => {
                            self.names.short_phrase(*item, *table)
                        }
                        _ => None,
                    };
                    let phrase = short.unwrap_or_else(|| self.names.phrase(*item));
                    match is_plural {
                        true => text.push_str(&plural(&singular(phrase))),
                        false => text.push_str(phrase),
                    }
                }
                (Filling::Name(item), _) => {
                    let noun = singular(self.names.phrase(*item));
                    text.push_str(&if is_plural { plural(&noun) } else { noun });
                }
            }
        }
        text
    }

    /// Returns the program, if the question has its values and every action of it makes sense.
    fn program(&self, pattern: &Pattern, fillings: &[Filling], question: &Question) -> Option<Program> {
        let environment = self.task.environment(question);
        let grammar = question.grammar();
        let action = |action: &PatternAction| {
            let symbol = match action {
                PatternAction::Rule(rule) => {
                    return grammar.signatures().rule_ids().nth(*rule as usize).map(Action::Rule);
                }
                PatternAction::Constant(symbol) => symbol.as_str(),
                PatternAction::Slot((slot,)) => match fillings.get(*slot)? {
                    Filling::Name(item) => self.names.symbol(*item),
                    Filling::Value(cell) => cell.symbol.as_str(),
                },
            };
            environment.find(symbol).map(Action::Item)
        };
        let actions: Vec<Action> = pattern.actions.iter().map(action).collect::<Option<_>>()?;
        let program = Program::from_actions(grammar, &actions).ok()?;
        let makes_sense = environment.sense().is_none_or(|sense| {
            let is_next =
                |index: usize| sense.next_action(grammar, &actions[..index]).makes_sense(actions[index]);
            (0..actions.len()).all(is_next) && sense.meaning(&program).is_some()
        });
        makes_sense.then_some(program)
    }
}

/// Returns the names of the table and the column of two symbols, as the engine of their database writes them.
fn in_sql(schema: &Schema, table: &str, column: &str) -> Option<(String, String)> {
    let is_called = |candidate: &Table| {
        let name = quoted(&candidate.name);
        let namespace = candidate.namespace.as_deref().map(quoted);
        name == table || namespace.is_some_and(|namespace| format!("{namespace}.{name}") == table)
    };
    let id = TableId(schema.tables.iter().position(is_called)? as u32);
    let is_symbol = |candidate: &Column| format!("{table}.{}", quoted(&candidate.name)) == column;
    let index = schema.table(id).columns.iter().position(is_symbol)? as u32;
    Some((schema.table_in_sql(id), schema.column_in_sql(ColumnId { table: id, column: index })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use xpr_lang::sql::{ColumnType, Dialect};

    #[test]
    fn names_are_written_for_the_engine() {
        let table = |namespace: &str, name: &str| Table {
            name: name.to_owned(),
            namespace: Some(namespace.to_owned()),
            comment: None,
            columns: vec![Column { name: "FullName".to_owned(), ty: ColumnType::Text, comment: None }],
            primary_key: vec![],
            foreign_keys: vec![],
        };
        let schema = Schema {
            tables: vec![table("public", "Customer"), table("hr", "staff"), table("hr", "Customer")],
            dialect: Dialect::Postgres,
        };
        for (table, column, expected) in [
            ("Customer", "Customer.FullName", ["\"Customer\"", "\"FullName\""]),
            ("staff", "staff.FullName", ["hr.staff", "\"FullName\""]),
            ("hr.Customer", "hr.Customer.FullName", ["hr.\"Customer\"", "\"FullName\""]),
        ] {
            let names = in_sql(&schema, table, column).unwrap();
            assert_eq!([names.0.as_str(), names.1.as_str()], expected);
        }
        assert_eq!(in_sql(&schema, "staff", "staff.name"), None);
    }
}
