//! `SW.filter`: the entities whose values of a property pass a comparison.

use super::PropertyLookup;
use crate::KbValue;
use crate::knowledge_base::ValueId;
use crate::knowledge_base::machine::{Machine, Result, runtime_error, type_error};
use crate::knowledge_base::plan::{Keyword, ListRef, LocalContent, LocalValue, StackEntry, StringRef};

impl<'a> Machine<'a> {
    /// `SW.filter` with a unary property: the entities that have it.
    pub(super) fn filter_unary(&mut self, list: ListRef, name: StringRef) -> Result<StackEntry> {
        let lookup = self.lookup(name);
        let Some(property) = lookup.property else {
            return self.no_property(name);
        };
        if property.objects != self.world.boolean {
            return type_error(format!(
                "{} is not a unary property: it has values",
                self.display_string(name)
            ));
        }
        self.retain_entities(list, lookup, |machine, objects| {
            Ok(objects.iter().any(|&object| machine.world.values[object as usize] == KbValue::Boolean(true)))
        })
    }

    /// `SW.filter` with a comparison: the entities of `list` whose values of the property compare with the references.
    pub(super) fn filter(
        &mut self,
        list: ListRef,
        name: StringRef,
        compare: StringRef,
        references: ListRef,
    ) -> Result<StackEntry> {
        let lookup = self.lookup(name);
        self.spend(references.len as usize)?;
        self.check_objects(lookup, references)?;
        match self.keyword(compare) {
            keyword @ (Keyword::Equal | Keyword::NotEqual) => {
                let wanted = keyword == Keyword::Equal;
                // The usual case: there is one reference, and the knowledge base has it.
                if references.len == 1 && (self.get(references, 0) as usize) < self.world.values.len() {
                    let reference = self.get(references, 0);
                    return self.retain_entities(list, lookup, |_, objects| {
                        Ok(objects.contains(&reference) == wanted)
                    });
                }
                self.mark_equals(references);
                self.retain_entities(list, lookup, |machine, objects| {
                    let meet = objects
                        .iter()
                        .any(|&object| machine.state.marks[object as usize] == machine.state.epoch);
                    Ok(meet == wanted)
                })
            }
            Keyword::Less => {
                self.filter_order(list, lookup, references, false, |value, reference| value < reference)
            }
            Keyword::LessEqual => {
                self.filter_order(list, lookup, references, false, |value, reference| value <= reference)
            }
            Keyword::Greater => {
                self.filter_order(list, lookup, references, true, |value, reference| value > reference)
            }
            Keyword::GreaterEqual => {
                self.filter_order(list, lookup, references, true, |value, reference| value >= reference)
            }
            _ => self.retain_entities(list, lookup, |machine, _| match machine.string(compare) {
                Some(_) => Ok(false),
                None => runtime_error("SW.filter with a null comparator".into()),
            }),
        }
    }

    /// Marks the values of the knowledge base that equal a reference, and no others.
    pub(super) fn mark_equals(&mut self, references: ListRef) {
        self.clear_marks();
        for index in 0..references.len {
            let reference = self.get(references, index);
            let equal = match self.known_value(reference) {
                Some(known) => Some(known),
                // The hash table does not find −0, which equals 0.
                None => match self.to_value(reference) {
                    Some(KbValue::Number { value: 0.0, unit }) => {
                        self.world.find_number(0.0, unit.as_deref())
                    }
                    _ => None,
                },
            };
            if let Some(equal) = equal {
                self.state.marks[equal as usize] = self.state.epoch;
            }
        }
    }

    /// Keeps the entities whose greatest value compares with the least reference, or whose least value with the
    /// greatest reference if `greatest` is false.
    fn filter_order(
        &mut self,
        list: ListRef,
        lookup: PropertyLookup<'a>,
        references: ListRef,
        greatest: bool,
        compare: impl Fn(f64, f64) -> bool,
    ) -> Result<StackEntry> {
        // Computed when the first entity needs it: a reference that cannot be compared is no error if none does.
        let mut reference = None;
        self.retain_entities(list, lookup, |machine, objects| {
            let value = machine.degree(objects, greatest)?;
            let reference = match reference {
                Some(degree) => degree,
                None => *reference.insert(machine.degree(machine.slice(references), !greatest)?),
            };
            Ok(compare(value, reference))
        })
    }

    /// Returns the greatest or least degree of some values; NaN if there are none.
    #[inline(always)]
    pub(super) fn degree(&self, values: &[ValueId], greatest: bool) -> Result<f64> {
        let mut best = f64::NAN;
        for &value in values {
            let degree = match self.world.degrees.get(value as usize) {
                Some(&degree) if !degree.is_nan() => degree,
                _ => self.degree_of(value)?,
            };
            if best.is_nan() || (if greatest { degree > best } else { degree < best }) {
                best = degree;
            }
        }
        Ok(best)
    }

    /// Returns the entities of `list` whose objects pass `test`. Values that are not entities are dropped.
    #[inline]
    fn retain_entities(
        &mut self,
        list: ListRef,
        lookup: PropertyLookup<'a>,
        mut test: impl FnMut(&Self, &[ValueId]) -> Result<bool>,
    ) -> Result<StackEntry> {
        self.reserve(list.len as usize)?;
        let start = self.state.elements.len();
        self.spend(list.len as usize)?;
        for index in 0..list.len {
            let entity = self.get(list, index);
            match self.world.is_name.get(entity as usize) {
                Some(true) => {}
                Some(false) => continue,
                None if self.is_name(entity) => {}
                None => {
                    let is_null =
                        matches!(self.local(entity), Some(LocalValue { content: LocalContent::RawNull, .. }));
                    if is_null || self.is_value(entity) {
                        continue;
                    }
                    return type_error(format!("{} is not a value", self.describe(entity)));
                }
            }
            let objects = self.objects(lookup, entity)?;
            self.spend_on(objects)?;
            if test(self, objects)? {
                self.state.elements.push(entity);
            }
        }
        Ok(StackEntry::List(self.list_from(start)))
    }
}
