//! Answers, sorted and printed as SEMPRE does.

use super::ValueId;
use super::builder::java_order;
use super::machine::{Machine, Result, runtime_error};
use super::plan::{ListRef, LocalContent, LocalType, LocalValue, StackEntry};
use crate::value::{write_number, write_quantity, write_string};
use crate::{Fault, KbValue};

impl Machine<'_> {
    /// Appends the answer of the last run to `out`.
    pub(super) fn write_answer(&self, out: &mut String) -> Result<()> {
        let limit = out.len() + self.limits.output;
        match self.state.answer {
            Some(answer) => self.write_entry(out, answer, limit),
            None => Ok(()),
        }
    }

    /// Returns an error if there is a null in a list: it may be there during a run, but not in an answer.
    pub(super) fn check_elements(&self, list: ListRef) -> Result<()> {
        for &id in self.slice(list) {
            match self.local(id).map(|local| &local.content) {
                Some(LocalContent::RawNull | LocalContent::RawText(None)) => {
                    return runtime_error("there is a null in the answer".into());
                }
                Some(LocalContent::RawList(list)) => self.check_elements(*list)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// `SW.listValue`: turns what the program computed into a sorted list that is a value.
    pub(super) fn list_value(&mut self, entry: StackEntry) -> Result<StackEntry> {
        let list = match entry {
            StackEntry::List(list) => {
                self.check_elements(list)?;
                self.sorted(list)?
            }
            StackEntry::Value(id) => match self.local(id) {
                Some(LocalValue { content: LocalContent::ListValue(_), .. }) => return Ok(entry),
                _ => self.list_of(id)?,
            },
            StackEntry::String(string) => match self.string(string) {
                Some(text) => {
                    let value = KbValue::Text(Some(text.to_owned()));
                    let value = self.add_local(LocalContent::Value(value), LocalType::None)?;
                    self.list_of(value)?
                }
                None => return runtime_error("SW.listValue of a null string".into()),
            },
            StackEntry::Boolean(value) => {
                let ty = LocalType::Known(self.world.boolean);
                let value = self.add_local(LocalContent::Value(KbValue::Boolean(value)), ty)?;
                self.list_of(value)?
            }
            StackEntry::Integer(count) => {
                let value = KbValue::number(count, Some("count"));
                let ty = self.world.local_type("count_number");
                let value = self.add_local(LocalContent::Value(value), ty)?;
                self.list_of(value)?
            }
            StackEntry::Null => {
                return runtime_error("SW.listValue of a superlative over an empty list".into());
            }
            StackEntry::Invalid(message) => return self.invalid(message),
        };
        Ok(StackEntry::Value(self.add_local(LocalContent::ListValue(list), LocalType::OfFirst)?))
    }

    /// Returns a copy of the list, sorted by printed form.
    fn sorted(&mut self, list: ListRef) -> Result<ListRef> {
        let len = list.len as usize;
        self.spend(2 * len)?;
        self.reserve(len)?;
        let start = self.state.elements.len();
        self.append(list);
        let world = self.world;
        if self.state.elements[start..].iter().all(|&id| (id as usize) < world.values.len()) {
            if !self.sort_by_rank_set(start) {
                self.state.elements[start..].sort_by_key(|&id| world.ranks[id as usize]);
            }
        } else {
            self.sort_by_printing(start)?;
        }
        Ok(self.list_from(start))
    }

    /// Sorts the elements from `start` on, all of the knowledge base, by adding their ranks to a bit set and reading it
    /// in order. That is faster than sorting if the set is small compared to the list. Returns false, with the
    /// elements unchanged, if it is not, or if an element occurs twice.
    fn sort_by_rank_set(&mut self, start: usize) -> bool {
        let words = self.world.values.len().div_ceil(64);
        let state = &mut *self.state;
        let elements = &mut state.elements[start..];
        if words > 2 * elements.len() || elements.len() <= 4 {
            return false;
        }
        state.ranks.resize(words, 0);
        let mut is_distinct = true;
        for &id in elements.iter() {
            let rank = self.world.ranks[id as usize];
            let word = &mut state.ranks[rank as usize / 64];
            is_distinct &= *word >> (rank % 64) & 1 == 0;
            *word |= 1 << (rank % 64);
        }
        let mut position = 0;
        for (index, word) in state.ranks.iter_mut().enumerate() {
            let mut bits = std::mem::take(word);
            while bits != 0 && is_distinct {
                let rank = index * 64 + bits.trailing_zeros() as usize;
                elements[position] = self.world.by_rank[rank];
                position += 1;
                bits &= bits - 1;
            }
        }
        is_distinct
    }

    /// Sorts the elements from `start` on by printing each of them.
    fn sort_by_printing(&mut self, start: usize) -> Result<()> {
        let mut printed = Vec::with_capacity(self.state.elements.len() - start);
        let mut total = 0;
        for &id in &self.state.elements[start..] {
            let mut text = String::new();
            self.write_value(&mut text, id, self.limits.output)?;
            total += text.len();
            if total > self.limits.output {
                return Err(Fault::Limit("output"));
            }
            printed.push((text, id));
        }
        printed.sort_by(|left, right| java_order(&left.0, &right.0));
        for (element, (_, id)) in self.state.elements[start..].iter_mut().zip(printed) {
            *element = id;
        }
        Ok(())
    }

    /// Returns a value as messages show it, cut off if it is long.
    #[cold]
    pub(super) fn describe(&self, id: ValueId) -> String {
        let mut text = String::new();
        // Exceeding the limit is fine: the text is cut off below.
        let _ = self.write_value(&mut text, id, 200);
        if text.chars().count() > 100 {
            text = text.chars().take(99).chain(['…']).collect();
        }
        text
    }

    fn write_entry(&self, out: &mut String, entry: StackEntry, limit: usize) -> Result<()> {
        match entry {
            StackEntry::List(list) => self.write_list(out, list, limit),
            StackEntry::Value(id) => self.write_value(out, id, limit),
            StackEntry::String(string) => {
                write_string(out, self.string(string));
                Ok(())
            }
            StackEntry::Boolean(value) => {
                KbValue::Boolean(value).write(out);
                Ok(())
            }
            StackEntry::Integer(value) => {
                KbValue::number(value, None).write(out);
                Ok(())
            }
            StackEntry::Null | StackEntry::Invalid(_) => Ok(()),
        }
    }

    fn write_list(&self, out: &mut String, list: ListRef, limit: usize) -> Result<()> {
        out.push_str("(list");
        for &id in self.slice(list) {
            out.push(' ');
            self.write_value(out, id, limit)?;
        }
        out.push(')');
        Ok(())
    }

    fn write_value(&self, out: &mut String, id: ValueId, limit: usize) -> Result<()> {
        if out.len() > limit {
            return Err(Fault::Limit("output"));
        }
        match self.local(id).map(|local| &local.content) {
            None => out.push_str(self.world.printed.get(id)),
            Some(LocalContent::Value(value)) => value.write(out),
            Some(LocalContent::Number(value, unit)) => {
                let unit = unit.and_then(|unit| self.unit(unit));
                write_quantity(out, *value, unit.as_deref(), write_number);
            }
            Some(LocalContent::ListValue(list) | LocalContent::RawList(list)) => {
                self.write_list(out, *list, limit)?;
            }
            Some(LocalContent::RawText(text)) => write_string(out, text.as_deref()),
            Some(LocalContent::RawBoolean(value)) => KbValue::Boolean(*value).write(out),
            Some(LocalContent::RawNull) => out.push_str("null"),
        }
        Ok(())
    }
}
