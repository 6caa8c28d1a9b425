//! `SW.getProperty` and other functions on properties and lists.

use super::PropertyLookup;
use crate::knowledge_base::machine::{Machine, Result, RuntimeType, runtime_error, type_error};
use crate::knowledge_base::plan::{ListRef, StackEntry, StringRef};
use crate::knowledge_base::{ValueId, ValueTypeId};

impl<'a> Machine<'a> {
    /// Looks up a property once, for use with many subjects.
    pub(super) fn lookup(&self, name: StringRef) -> PropertyLookup<'a> {
        let property = self.named_property(name).map(|id| &self.world.properties[id as usize]);
        PropertyLookup { name, property }
    }

    /// Returns the error for a name that no property has.
    #[cold]
    pub(super) fn no_property<T>(&self, name: StringRef) -> Result<T> {
        runtime_error(format!("there is no property {}", self.display_string(name)))
    }

    /// Returns the objects of a subject. It is an error if the knowledge base does not have the property or the subject,
    /// or if the subject is not of the type of the property's subjects.
    #[inline(always)]
    pub(super) fn objects(&self, lookup: PropertyLookup<'a>, subject: ValueId) -> Result<&'a [ValueId]> {
        if let Some(property) = lookup.property
            && self.world.types.get(subject as usize) == Some(&property.subjects)
        {
            let (start, end) = property.range(subject);
            return Ok(&self.world.objects[start as usize..end as usize]);
        }
        self.local_objects(lookup, subject)
    }

    /// Returns the objects of a subject that may be a local value, or the error if there are none.
    #[cold]
    fn local_objects(&self, lookup: PropertyLookup<'a>, subject: ValueId) -> Result<&'a [ValueId]> {
        if !self.is_value(subject) {
            return type_error(format!("{} is not a value that has properties", self.describe(subject)));
        }
        let Some(known) = self.known_value(subject) else {
            return runtime_error(format!("there is no entity {}", self.describe(subject)));
        };
        let Some(property) = lookup.property else {
            return self.no_property(lookup.name);
        };
        let found = self.world.types[known as usize];
        if found == property.subjects {
            let (start, end) = property.range(known);
            return Ok(&self.world.objects[start as usize..end as usize]);
        }
        let (expected, found) = (self.type_name(property.subjects), self.type_name(found));
        let (name, subject) = (self.display_string(lookup.name), self.describe(subject));
        type_error(format!("{name} is a property of {expected}; {subject} is of type {found}"))
    }

    /// `SW.getProperty`: the objects of all subjects, each once.
    pub(super) fn get_property(&mut self, list: ListRef, name: StringRef) -> Result<StackEntry> {
        let lookup = self.lookup(name);
        // The objects of a single subject are already a list in the table.
        if list.len == 1
            && let Some(property) = lookup.property
            && property.is_distinct
            && let Some(known) = self.known_value(self.get(list, 0))
            && self.world.types[known as usize] == property.subjects
        {
            let (start, end) = property.range(known);
            if end > start {
                self.spend((end - start) as usize)?;
                return Ok(StackEntry::List(ListRef { start, len: end - start, of_world: true }));
            }
        }
        let start = self.state.elements.len();
        self.clear_marks();
        self.spend(list.len as usize)?;
        for index in 0..list.len {
            let objects = self.objects(lookup, self.get(list, index))?;
            self.spend(objects.len())?;
            self.reserve(objects.len())?;
            for &object in objects {
                let mark = &mut self.state.marks[object as usize];
                if *mark != self.state.epoch {
                    *mark = self.state.epoch;
                    self.state.elements.push(object);
                }
            }
        }
        let objects = self.list_from(start);
        if objects.len == 0 {
            return runtime_error(format!("nothing has the property {}", self.display_string(name)));
        }
        Ok(StackEntry::List(objects))
    }

    /// Returns an error if a reference is not of the type of the property's objects.
    pub(super) fn check_objects(&self, lookup: PropertyLookup<'a>, references: ListRef) -> Result<()> {
        for &reference in self.slice(references) {
            let Some(property) = lookup.property else {
                return self.no_property(lookup.name);
            };
            if self.type_of(reference)? != RuntimeType::Known(property.objects) {
                return self.wrong_object(lookup.name, property.objects, reference);
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong_object(&self, name: StringRef, expected: ValueTypeId, reference: ValueId) -> Result<()> {
        let expected = self.type_name(expected);
        let (name, reference) = (self.display_string(name), self.describe(reference));
        type_error(format!("values of {name} are of type {expected}; {reference} is not"))
    }

    /// `SW.domain`: all entities of the type of a property's subjects.
    pub(super) fn domain(&mut self, name: StringRef) -> Result<StackEntry> {
        let Some(property) = self.named_property(name) else {
            return self.no_property(name);
        };
        let subjects = self.world.properties[property as usize].subjects;
        let name = self.type_name(subjects);
        let ty = self.world.lookup.names.get(name).copied();
        let all = self.world.property("!type");
        match (ty, all) {
            (Some(ty), Some(all)) => {
                let list = self.list_of(ty)?;
                self.get_property(list, StringRef::Property(all))
            }
            (None, _) => runtime_error(format!("there is no entity {name}")),
            (_, None) => runtime_error("there is no property !type".into()),
        }
    }

    /// `SW.reverse`: the name of the inverse of a property, known or not.
    pub(super) fn reverse(&mut self, name: StringRef) -> Result<StackEntry> {
        if let Some(property) = self.named_property(name) {
            return Ok(StackEntry::String(StringRef::Property(property ^ 1)));
        }
        let Some(name) = self.string(name) else {
            return runtime_error("SW.reverse of a null string".into());
        };
        let reversed = match name.strip_prefix('!') {
            Some(rest) => rest.to_owned(),
            None => format!("!{name}"),
        };
        self.reserve(1 + reversed.len() / 16)?;
        self.state.strings.push(reversed.into());
        let reversed = StringRef::Other((self.plan.strings.len() + self.state.strings.len() - 1) as u32);
        // The inverse of an unknown name may be known: that of `!!type` is `!type`.
        Ok(StackEntry::String(self.named_property(reversed).map_or(reversed, StringRef::Property)))
    }

    /// `SW.ensureNumericProperty`: its argument, if that names a property with numeric values.
    pub(super) fn ensure_numeric_property(&self, name: StringRef) -> Result<StackEntry> {
        match self.named_property(name) {
            Some(property) => {
                let objects = self.world.properties[property as usize].objects;
                if self.world.type_names[objects as usize].is_numeric {
                    return Ok(StackEntry::String(name));
                }
                type_error(format!("the property {} is not numeric", self.display_string(name)))
            }
            None => self.no_property(name),
        }
    }

    /// `SW.ensureNumericEntity`: its argument, if the first element is numeric.
    pub(super) fn ensure_numeric_entity(&self, list: ListRef) -> Result<StackEntry> {
        if list.len == 0 {
            return runtime_error("SW.ensureNumericEntity of an empty list".into());
        }
        let first = self.get(list, 0);
        let is_numeric = match self.type_of(first)? {
            RuntimeType::Known(ty) => self.world.type_names[ty as usize].is_numeric,
            RuntimeType::Other(name) => name.ends_with("number") || matches!(name, "en.date" | "en.time"),
        };
        if is_numeric {
            return Ok(StackEntry::List(list));
        }
        type_error(format!("{} is not a number, a date or a time", self.describe(first)))
    }

    /// `SW.concat`: two different lists joined. All elements must have the same type.
    pub(super) fn concat(&mut self, left: ListRef, right: ListRef) -> Result<StackEntry> {
        let len = left.len as usize + right.len as usize;
        self.spend(len)?;
        self.reserve(len)?;
        if left.len > 0 && right.len > 0 {
            let first = self.get(left, 0);
            for (list, index) in (0..left.len).map(|i| (left, i)).chain((0..right.len).map(|i| (right, i))) {
                let value = self.get(list, index);
                if self.type_of(value)? != self.type_of(first)? {
                    let (first, value) = (self.describe(first), self.describe(value));
                    return type_error(format!("SW.concat of {first} and {value}, which differ in type"));
                }
            }
        }
        if self.lists_equal(left, right) {
            return runtime_error("SW.concat of two lists that are the same".into());
        }
        let start = self.state.elements.len();
        for list in [left, right] {
            self.append(list);
        }
        Ok(StackEntry::List(self.list_from(start)))
    }
}
