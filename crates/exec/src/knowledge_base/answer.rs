//! Answers: sorted and printed as SEMPRE does.

use super::ValueId;
use super::builder::java_order;
use super::machine::{Machine, Result, fault};
use super::plan::{Foreign, List, Local, LocalType, Object};
use crate::value::write_number;
use crate::{Fault, Value};
use xpr_lang::lambda_dcs::write_leaf;

impl Machine<'_> {
    /// Appends the answer of the last run.
    pub(super) fn write_answer(&self, out: &mut String) -> Result<()> {
        let limit = out.len() + self.limits.output;
        match self.run.answer {
            Some(answer) => self.write_object(out, answer, limit),
            None => Ok(()),
        }
    }

    /// Nulls can be in a list but not in an answer.
    pub(super) fn check_elements(&self, list: List) -> Result<()> {
        for &id in self.slice(list) {
            match self.local(id).map(|local| &local.content) {
                Some(Foreign::RawNull | Foreign::RawText(None)) => {
                    return fault("there is a null in the answer".into());
                }
                Some(Foreign::RawList(list)) => self.check_elements(*list)?,
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn list_value(&mut self, object: Object) -> Result<Object> {
        let list = match object {
            Object::List(list) => {
                self.check_elements(list)?;
                self.sorted(list)?
            }
            Object::Value(id) => match self.local(id) {
                Some(Local { content: Foreign::ListValue(_), .. }) => return Ok(object),
                _ => self.list_of(id)?,
            },
            Object::Text(text) => match self.text(text) {
                Some(string) => {
                    let value = Value::Text(Some(string.to_owned()));
                    let value = self.add_local(Foreign::Value(value), LocalType::None)?;
                    self.list_of(value)?
                }
                None => return fault("SW.listValue of a null string".into()),
            },
            Object::Boolean(value) => {
                let ty = LocalType::Known(self.world.boolean);
                let value = self.add_local(Foreign::Value(Value::Boolean(value)), ty)?;
                self.list_of(value)?
            }
            Object::Integer(count) => {
                let value = Value::number(count, Some("count"));
                let ty = self.world.local_type("count_number");
                let value = self.add_local(Foreign::Value(value), ty)?;
                self.list_of(value)?
            }
            Object::Null => return fault("SW.listValue of the superlative of nothing".into()),
            Object::Form(oddity) => return fault(self.plan.oddities[oddity as usize].to_string()),
        };
        Ok(Object::Value(self.add_local(Foreign::ListValue(list), LocalType::OfFirst)?))
    }

    /// The list, sorted by printed form.
    fn sorted(&mut self, list: List) -> Result<List> {
        let len = list.len as usize;
        self.spend(2 * len)?;
        self.reserve(len)?;
        let start = self.run.elements.len();
        self.append(list);
        let own = self.world.values.len() as ValueId;
        let words = self.world.values.len().div_ceil(64);
        let run = &mut *self.run;
        let elements = &mut run.elements[start..];
        if elements.iter().all(|&id| id < own) {
            // Few enough values that a set of ranks, read in order, beats sorting.
            if words <= 2 * len && len > 4 {
                run.ranks.resize(words, 0);
                let mut is_set = true;
                for &id in elements.iter() {
                    let rank = self.world.ranks[id as usize];
                    let word = &mut run.ranks[rank as usize / 64];
                    is_set &= *word >> (rank % 64) & 1 == 0;
                    *word |= 1 << (rank % 64);
                }
                let mut place = 0;
                for (index, word) in run.ranks.iter_mut().enumerate() {
                    let mut bits = std::mem::take(word);
                    while bits != 0 && is_set {
                        let rank = index * 64 + bits.trailing_zeros() as usize;
                        elements[place] = self.world.by_rank[rank];
                        place += 1;
                        bits &= bits - 1;
                    }
                }
                if is_set {
                    return Ok(self.list_from(start));
                }
            }
            elements.sort_by_key(|&id| self.world.ranks[id as usize]);
            return Ok(self.list_from(start));
        }
        let mut printed = Vec::with_capacity(len);
        let mut total = 0;
        for index in start..start + len {
            let id = self.run.elements[index];
            let mut text = String::new();
            self.write_value(&mut text, id, self.limits.output)?;
            total += text.len();
            if total > self.limits.output {
                return Err(Fault::Limit("output"));
            }
            printed.push((text, id));
        }
        printed.sort_by(|left, right| java_order(&left.0, &right.0));
        for (place, (_, id)) in self.run.elements[start..].iter_mut().zip(printed) {
            *place = id;
        }
        Ok(self.list_from(start))
    }

    /// A value as messages show it, shortened if need be.
    #[cold]
    pub(super) fn shown(&self, id: ValueId) -> String {
        let mut text = String::new();
        // Cut off rather than written out: a list can be long.
        let _ = self.write_value(&mut text, id, 200);
        if text.chars().count() > 100 {
            text = text.chars().take(99).chain(['…']).collect();
        }
        text
    }

    fn write_object(&self, out: &mut String, object: Object, limit: usize) -> Result<()> {
        match object {
            Object::List(list) => self.write_list(out, list, limit),
            Object::Value(id) => self.write_value(out, id, limit),
            Object::Text(text) => {
                out.push_str("(string ");
                write_leaf(out, self.text(text));
                out.push(')');
                Ok(())
            }
            Object::Boolean(value) => {
                Value::Boolean(value).write(out);
                Ok(())
            }
            Object::Integer(value) => {
                Value::number(value, None).write(out);
                Ok(())
            }
            Object::Null | Object::Form(_) => Ok(()),
        }
    }

    fn write_list(&self, out: &mut String, list: List, limit: usize) -> Result<()> {
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
            None => out.push_str(self.world.printed(id)),
            Some(Foreign::Value(value)) => value.write(out),
            Some(Foreign::Number(value, unit)) => {
                out.push_str("(number ");
                write_number(out, *value);
                if let Some(unit) = unit.and_then(|unit| self.unit(unit)) {
                    out.push(' ');
                    write_leaf(out, Some(&unit));
                }
                out.push(')');
            }
            Some(Foreign::ListValue(list) | Foreign::RawList(list)) => self.write_list(out, *list, limit)?,
            Some(Foreign::RawText(text)) => {
                out.push_str("(string ");
                write_leaf(out, text.as_deref());
                out.push(')');
            }
            Some(Foreign::RawBoolean(value)) => Value::Boolean(*value).write(out),
            Some(Foreign::RawNull) => out.push_str("null"),
        }
        Ok(())
    }
}
