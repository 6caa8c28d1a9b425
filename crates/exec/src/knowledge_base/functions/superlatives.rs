//! Superlatives, and comparisons by the number of values of a property.

use super::PropertyLookup;
use crate::knowledge_base::ValueId;
use crate::knowledge_base::machine::{Machine, Result, runtime_error, type_error};
use crate::knowledge_base::plan::{Keyword, ListRef, StackEntry, StringRef};

impl<'a> Machine<'a> {
    /// `SW.superlative`: the entities whose value of a property is greatest or least.
    pub(super) fn superlative(
        &mut self,
        list: ListRef,
        mode: StringRef,
        name: StringRef,
    ) -> Result<StackEntry> {
        let greatest = self.keyword(mode) == Keyword::Max;
        let lookup = self.lookup(name);
        self.best(list, lookup, greatest, |machine, objects| machine.degree(objects, greatest))
    }

    /// `SW.countSuperlative`: the entities with the most or fewest values of a property, counting only the restrictors
    /// if there are any.
    pub(super) fn count_superlative(
        &mut self,
        list: ListRef,
        mode: StringRef,
        name: StringRef,
        restrictors: Option<ListRef>,
    ) -> Result<StackEntry> {
        let lookup = self.lookup(name);
        self.check_counted(lookup, restrictors)?;
        let greatest = self.keyword(mode) == Keyword::Max;
        let restricted = restrictors.is_some();
        self.best(list, lookup, greatest, |machine, objects| Ok(machine.count(objects, restricted)))
    }

    /// Returns the entities with the greatest or least degree; null if `list` is empty.
    #[inline]
    fn best(
        &mut self,
        list: ListRef,
        lookup: PropertyLookup<'a>,
        greatest: bool,
        degree: impl Fn(&Self, &[ValueId]) -> Result<f64>,
    ) -> Result<StackEntry> {
        self.reserve(list.len as usize)?;
        let start = self.state.elements.len();
        self.spend(list.len as usize)?;
        let mut best = f64::NAN;
        for index in 0..list.len {
            let entity = self.get(list, index);
            let objects = self.objects(lookup, entity)?;
            self.spend_on(objects)?;
            let degree = degree(self, objects)?;
            // If the first degree is NaN it stays the best one, as no comparison with NaN holds.
            if index == 0 || (if greatest { degree > best } else { degree < best }) {
                self.state.elements.truncate(start);
                self.state.elements.push(entity);
                best = degree;
            } else if degree == best {
                self.state.elements.push(entity);
            }
        }
        Ok(if list.len == 0 { StackEntry::Null } else { StackEntry::List(self.list_from(start)) })
    }

    /// Does the checks of both counting functions, and marks the restrictors.
    fn check_counted(&mut self, lookup: PropertyLookup<'a>, restrictors: Option<ListRef>) -> Result<()> {
        if let Some(restrictors) = restrictors {
            self.spend(restrictors.len as usize)?;
            self.check_objects(lookup, restrictors)?;
        }
        let Some(property) = lookup.property else {
            return self.no_property(lookup.name);
        };
        if self.world.type_names[property.objects as usize].is_uncountable {
            return type_error(format!(
                "values of {} are numeric and cannot be counted",
                self.display_string(lookup.name)
            ));
        }
        if let Some(restrictors) = restrictors {
            self.mark_equals(restrictors);
        }
        Ok(())
    }

    /// Returns the number of objects; if `restricted`, of those that are marked.
    #[inline]
    fn count(&self, objects: &[ValueId], restricted: bool) -> f64 {
        if !restricted {
            return objects.len() as f64;
        }
        objects.iter().filter(|&&object| self.state.marks[object as usize] == self.state.epoch).count() as f64
    }

    /// `SW.countComparative`: the entities whose number of values of a property compares with a threshold, counting only
    /// the restrictors if there are any.
    pub(super) fn count_comparative(
        &mut self,
        list: ListRef,
        name: StringRef,
        compare: StringRef,
        threshold: ValueId,
        restrictors: Option<ListRef>,
    ) -> Result<StackEntry> {
        let Some(threshold) = self.number(threshold) else {
            return type_error(format!(
                "SW.countComparative compares with a number, and {} is not one",
                self.describe(threshold)
            ));
        };
        let lookup = self.lookup(name);
        self.check_counted(lookup, restrictors)?;
        let restricted = restrictors.is_some();
        let keyword = self.keyword(compare);
        self.reserve(list.len as usize)?;
        let start = self.state.elements.len();
        self.spend(list.len as usize)?;
        for index in 0..list.len {
            let entity = self.get(list, index);
            let objects = self.objects(lookup, entity)?;
            self.spend_on(objects)?;
            let count = self.count(objects, restricted);
            let holds = match keyword {
                Keyword::Equal => count == threshold,
                Keyword::Less => count < threshold,
                Keyword::Greater => count > threshold,
                Keyword::LessEqual => count <= threshold,
                Keyword::GreaterEqual => count >= threshold,
                _ => {
                    return runtime_error(format!(
                        "SW.countComparative does not know {}",
                        self.display_string(compare)
                    ));
                }
            };
            if holds {
                self.state.elements.push(entity);
            }
        }
        Ok(StackEntry::List(self.list_from(start)))
    }
}
