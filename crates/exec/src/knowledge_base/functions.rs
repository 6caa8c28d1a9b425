//! The functions of SEMPRE's Overnight world, corner for corner.
//!
//! What looks arbitrary below is SEMPRE's. The rule for order is that arguments are evaluated left
//! to right and a function's checks happen as its Java source has them, because an empty list must
//! hide exactly the errors it hides there.

use super::machine::{Machine, Result, Type, fault, type_fault};
use super::plan::{Foreign, List, Local, LocalType, Object, Text, Word};
use super::{Property, TypeId, ValueId};
use crate::Value;
use xpr_lang::lambda_dcs::Function;

/// A property by its name, if there is one.
#[derive(Clone, Copy)]
struct Lookup<'a> {
    text: Text,
    property: Option<&'a Property>,
}

impl<'a> Machine<'a> {
    pub(super) fn call(&mut self, function: Function, base: usize) -> Result<Object> {
        use Object as O;
        let arguments: &[Object] = &self.run.stack[base..];
        match (function, arguments) {
            (Function::ListValue, &[object]) => self.list_value(object),
            (Function::GetProperty, &[O::List(list), O::Text(property)]) => self.get_property(list, property),
            (Function::GetProperty, &[O::Value(value), O::Text(property)]) => {
                let list = self.list_of(value)?;
                self.get_property(list, property)
            }
            (Function::Singleton, &[O::Value(value)]) => Ok(O::List(self.list_of(value)?)),
            (Function::Singleton, &[O::Null]) => {
                let null = self.add_local(Foreign::RawNull, LocalType::None)?;
                Ok(O::List(self.list_of(null)?))
            }
            (Function::Filter, &[O::List(list), O::Text(property)]) => self.filter_unary(list, property),
            (Function::Filter, &[O::List(list), O::Text(property), O::Text(compare), O::Value(value)]) => {
                let references = self.list_of(value)?;
                self.filter(list, property, compare, references)
            }
            (
                Function::Filter,
                &[O::List(list), O::Text(property), O::Text(compare), O::List(references)],
            ) => self.filter(list, property, compare, references),
            (Function::Reverse, &[O::Text(text)]) => self.reverse(text),
            (Function::Domain, &[O::Text(property)]) => self.domain(property),
            (Function::EnsureNumericProperty, &[O::Text(property)]) => self.ensure_numeric_property(property),
            (Function::EnsureNumericEntity, &[O::Value(value)]) => {
                let list = self.list_of(value)?;
                self.ensure_numeric_entity(list)
            }
            (Function::EnsureNumericEntity, &[O::List(list)]) => self.ensure_numeric_entity(list),
            (Function::Concat, &[O::Value(left), O::Value(right)]) => {
                let (left, right) = (self.list_of(left)?, self.list_of(right)?);
                self.concat(left, right)
            }
            (Function::Concat, &[O::List(left), O::List(right)]) => self.concat(left, right),
            (Function::Superlative, &[O::List(list), O::Text(mode), O::Text(property)]) => {
                self.superlative(list, mode, property)
            }
            (Function::CountSuperlative, &[O::List(list), O::Text(mode), O::Text(property)])
            | (Function::CountSuperlative, &[O::List(list), O::Text(mode), O::Text(property), O::Null]) => {
                self.count_superlative(list, mode, property, None)
            }
            (
                Function::CountSuperlative,
                &[O::List(list), O::Text(mode), O::Text(property), O::List(restrictors)],
            ) => self.count_superlative(list, mode, property, Some(restrictors)),
            (
                Function::CountComparative,
                &[O::List(list), O::Text(property), O::Text(compare), O::Value(threshold)],
            )
            | (
                Function::CountComparative,
                &[O::List(list), O::Text(property), O::Text(compare), O::Value(threshold), O::Null],
            ) => self.count_comparative(list, property, compare, threshold, None),
            (
                Function::CountComparative,
                &[
                    O::List(list),
                    O::Text(property),
                    O::Text(compare),
                    O::Value(threshold),
                    O::List(restrictors),
                ],
            ) => self.count_comparative(list, property, compare, threshold, Some(restrictors)),
            (Function::Aggregate, &[O::Text(mode), O::List(list)]) => self.aggregate(mode, list),
            (Function::Sum, &[O::List(list)]) => self.sum(list),
            (Function::ArithOp, &[O::Text(op), O::Value(left), O::Value(right)]) => {
                let (left, right) = (self.list_of(left)?, self.list_of(right)?);
                self.arithmetic(op, left, right)
            }
            (Function::ArithOp, &[O::Text(op), O::List(left), O::List(right)]) => {
                self.arithmetic(op, left, right)
            }
            (Function::Size, &[O::List(list)]) => Ok(O::Integer(list.len as i32)),
            (Function::SizeOfDb, &[]) => Ok(O::Integer(i32::try_from(self.world.pairs).unwrap_or(i32::MAX))),
            _ => self.no_such_call(function, base),
        }
    }

    /// Why no form of `function` takes these arguments.
    #[cold]
    fn no_such_call(&self, function: Function, base: usize) -> Result<Object> {
        let arguments = &self.run.stack[base..];
        let name = function.name();
        for argument in arguments {
            if let Object::Form(oddity) = argument {
                return fault(self.plan.oddities[*oddity as usize].to_string());
            }
        }
        if arguments.iter().any(|argument| matches!(argument, Object::Null)) {
            return fault(format!("{name} of the superlative of nothing"));
        }
        let kinds: Vec<&str> = arguments
            .iter()
            .map(|argument| match argument {
                Object::List(_) => "a list",
                Object::Value(id) if self.number(*id).is_some() => "a number",
                Object::Value(id) if self.is_name(*id) => "an entity",
                Object::Value(_) => "a value",
                Object::Text(_) => "a string",
                Object::Boolean(_) => "a truth value",
                Object::Integer(_) => "a count",
                Object::Null | Object::Form(_) => "nothing",
            })
            .collect();
        let kinds = if kinds.is_empty() { "no arguments".to_owned() } else { kinds.join(", ") };
        type_fault(format!("{name} does not take {kinds}"))
    }

    fn domain(&mut self, text: Text) -> Result<Object> {
        let Some(property) = self.property_of(text) else {
            return fault(format!("there is no property {}", self.quoted(text)));
        };
        let subjects = self.world.properties[property as usize].subjects;
        let name = self.known_type_name(subjects);
        let ty = self.world.names.get(name).copied();
        let all = self.world.property("!type");
        match (ty, all) {
            (Some(ty), Some(all)) => {
                let list = self.list_of(ty)?;
                self.get_property(list, Text::Property(all))
            }
            (None, _) => fault(format!("there is no entity {name}")),
            (_, None) => fault("there is no property !type".into()),
        }
    }

    fn reverse(&mut self, text: Text) -> Result<Object> {
        if let Some(property) = self.property_of(text) {
            return Ok(Object::Text(Text::Property(property ^ 1)));
        }
        let Some(name) = self.text(text) else {
            return fault("SW.reverse of a null string".into());
        };
        let reversed = match name.strip_prefix('!') {
            Some(rest) => rest.to_owned(),
            None => format!("!{name}"),
        };
        self.reserve(1 + reversed.len() / 16)?;
        self.run.texts.push(reversed.into());
        let text = Text::Other((self.plan.texts.len() + self.run.texts.len() - 1) as u32);
        // What was unknown may be known backwards.
        Ok(Object::Text(self.property_of(text).map_or(text, Text::Property)))
    }

    fn concat(&mut self, left: List, right: List) -> Result<Object> {
        let len = left.len as usize + right.len as usize;
        self.spend(len)?;
        self.reserve(len)?;
        if left.len > 0 && right.len > 0 {
            let first = self.get(left, 0);
            for (list, index) in (0..left.len).map(|i| (left, i)).chain((0..right.len).map(|i| (right, i))) {
                let value = self.get(list, index);
                if self.type_of(value)? != self.type_of(first)? {
                    let (first, value) = (self.shown(first), self.shown(value));
                    return type_fault(format!("SW.concat of {first} and {value}, which differ in type"));
                }
            }
        }
        if self.lists_equal(left, right) {
            return fault("SW.concat of two lists that are the same".into());
        }
        let start = self.run.elements.len();
        for list in [left, right] {
            self.append(list);
        }
        Ok(Object::List(self.list_from(start)))
    }

    fn ensure_numeric_property(&self, text: Text) -> Result<Object> {
        match self.property_of(text) {
            Some(property) => {
                let objects = self.world.properties[property as usize].objects;
                if self.world.type_names[objects as usize].is_numeric {
                    return Ok(Object::Text(text));
                }
                type_fault(format!("the property {} is not numeric", self.quoted(text)))
            }
            None => fault(format!("there is no property {}", self.quoted(text))),
        }
    }

    fn ensure_numeric_entity(&self, list: List) -> Result<Object> {
        if list.len == 0 {
            return fault("SW.ensureNumericEntity of an empty list".into());
        }
        let first = self.get(list, 0);
        let is_numeric = match self.type_of(first)? {
            Type::Known(ty) => self.world.type_names[ty as usize].is_numeric,
            Type::Other(name) => name.ends_with("number") || matches!(name, "en.date" | "en.time"),
        };
        if is_numeric {
            return Ok(Object::List(list));
        }
        type_fault(format!("{} is not a number, a date or a time", self.shown(first)))
    }

    /// A property, found once for all the subjects it will be asked of.
    fn lookup(&self, text: Text) -> Lookup<'a> {
        Lookup { text, property: self.property_of(text).map(|id| &self.world.properties[id as usize]) }
    }

    /// The objects of a subject. Both must be known, and the subject of the property's type.
    #[inline(always)]
    fn objects(&self, lookup: Lookup<'a>, subject: ValueId) -> Result<&'a [ValueId]> {
        if let Some(property) = lookup.property
            && self.world.types.get(subject as usize) == Some(&property.subjects)
        {
            let (start, end) = property.range(subject);
            return Ok(&self.world.objects[start as usize..end as usize]);
        }
        self.foreign_objects(lookup, subject)
    }

    /// The same for a value that the program brought along, and why there are none.
    #[cold]
    fn foreign_objects(&self, lookup: Lookup<'a>, subject: ValueId) -> Result<&'a [ValueId]> {
        if !self.is_value(subject) {
            return type_fault(format!("{} is not a value that has properties", self.shown(subject)));
        }
        let Some(known) = self.known(subject) else {
            return fault(format!("there is no entity {}", self.shown(subject)));
        };
        let Some(property) = lookup.property else {
            return fault(format!("there is no property {}", self.quoted(lookup.text)));
        };
        let found = self.world.types[known as usize];
        if found == property.subjects {
            let (start, end) = property.range(known);
            return Ok(&self.world.objects[start as usize..end as usize]);
        }
        let (expected, found) = (self.known_type_name(property.subjects), self.known_type_name(found));
        let (text, subject) = (self.quoted(lookup.text), self.shown(subject));
        type_fault(format!("{text} is a property of {expected}; {subject} is of type {found}"))
    }

    fn get_property(&mut self, list: List, text: Text) -> Result<Object> {
        let lookup = self.lookup(text);
        // The objects of one subject are already a list.
        if list.len == 1
            && let Some(property) = lookup.property
            && property.is_distinct
            && let Some(known) = self.known(self.get(list, 0))
            && self.world.types[known as usize] == property.subjects
        {
            let (start, end) = property.range(known);
            if end > start {
                self.spend((end - start) as usize)?;
                return Ok(Object::List(List { start, len: end - start, of_world: true }));
            }
        }
        let start = self.run.elements.len();
        self.next_marks();
        self.spend(list.len as usize)?;
        for index in 0..list.len {
            let objects = self.objects(lookup, self.get(list, index))?;
            self.spend(objects.len())?;
            self.reserve(objects.len())?;
            for &object in objects {
                let mark = &mut self.run.marks[object as usize];
                if *mark != self.run.now {
                    *mark = self.run.now;
                    self.run.elements.push(object);
                }
            }
        }
        let objects = self.list_from(start);
        if objects.len == 0 {
            return fault(format!("nothing has the property {}", self.quoted(text)));
        }
        Ok(Object::List(objects))
    }

    /// Forgets all marks.
    fn next_marks(&mut self) {
        self.run.now = self.run.now.wrapping_add(1);
        if self.run.now == 0 {
            self.run.marks.fill(0);
            self.run.now = 1;
        }
    }

    /// That each reference is of the type of the property's objects.
    fn check_objects(&self, lookup: Lookup<'a>, references: List) -> Result<()> {
        for &reference in self.slice(references) {
            let Some(property) = lookup.property else {
                return fault(format!("there is no property {}", self.quoted(lookup.text)));
            };
            if self.type_of(reference)? != Type::Known(property.objects) {
                return self.wrong_object(lookup.text, property.objects, reference);
            }
        }
        Ok(())
    }

    #[cold]
    fn wrong_object(&self, text: Text, expected: TypeId, reference: ValueId) -> Result<()> {
        let expected = self.known_type_name(expected);
        let (text, reference) = (self.quoted(text), self.shown(reference));
        type_fault(format!("values of {text} are of type {expected}; {reference} is not"))
    }

    fn filter_unary(&mut self, list: List, text: Text) -> Result<Object> {
        let lookup = self.lookup(text);
        let Some(property) = lookup.property else {
            return fault(format!("there is no property {}", self.quoted(text)));
        };
        if property.objects != self.world.boolean {
            return type_fault(format!("{} does not hold or not hold: it has values", self.quoted(text)));
        }
        self.keep(list, lookup, |machine, objects| {
            Ok(objects.iter().any(|&object| machine.world.values[object as usize] == Value::Boolean(true)))
        })
    }

    fn filter(&mut self, list: List, text: Text, compare: Text, references: List) -> Result<Object> {
        let lookup = self.lookup(text);
        self.spend(references.len as usize)?;
        self.check_objects(lookup, references)?;
        match self.word(compare) {
            word @ (Word::Equal | Word::NotEqual) => {
                let wanted = word == Word::Equal;
                // Mostly there is one reference, and it is the knowledge base's own.
                if references.len == 1 && (self.get(references, 0) as usize) < self.world.values.len() {
                    let reference = self.get(references, 0);
                    return self.keep(list, lookup, |_, objects| Ok(objects.contains(&reference) == wanted));
                }
                self.mark_equals(references);
                self.keep(list, lookup, |machine, objects| {
                    let meet =
                        objects.iter().any(|&object| machine.run.marks[object as usize] == machine.run.now);
                    Ok(meet == wanted)
                })
            }
            Word::Less => {
                self.filter_order(list, lookup, references, false, |value, reference| value < reference)
            }
            Word::LessEqual => {
                self.filter_order(list, lookup, references, false, |value, reference| value <= reference)
            }
            Word::Greater => {
                self.filter_order(list, lookup, references, true, |value, reference| value > reference)
            }
            Word::GreaterEqual => {
                self.filter_order(list, lookup, references, true, |value, reference| value >= reference)
            }
            _ => self.keep(list, lookup, |machine, _| match machine.text(compare) {
                Some(_) => Ok(false),
                None => fault("SW.filter with a null comparator".into()),
            }),
        }
    }

    /// Marks the values of the knowledge base that equal a reference.
    fn mark_equals(&mut self, references: List) {
        self.next_marks();
        for index in 0..references.len {
            let reference = self.get(references, index);
            let equal = match self.known(reference) {
                Some(known) => Some(known),
                // A hash table would not find −0, but it equals 0.
                None => match self.owned(reference) {
                    Some(Value::Number { value: 0.0, unit }) => self.world.find_number(0.0, unit.as_deref()),
                    _ => None,
                },
            };
            if let Some(equal) = equal {
                self.run.marks[equal as usize] = self.run.now;
            }
        }
    }

    /// Compares the greatest value of each entity with the least reference, or the other way round.
    fn filter_order(
        &mut self,
        list: List,
        lookup: Lookup<'a>,
        references: List,
        greatest: bool,
        compare: impl Fn(f64, f64) -> bool,
    ) -> Result<Object> {
        // Asked for once, but only if an entity asks: what has no degree is no error before.
        let mut reference = None;
        self.keep(list, lookup, |machine, objects| {
            let value = machine.degree(objects, greatest)?;
            let reference = match reference {
                Some(degree) => degree,
                None => *reference.insert(machine.degree(machine.slice(references), !greatest)?),
            };
            Ok(compare(value, reference))
        })
    }

    /// The greatest or least degree of some values; NaN if there are none.
    #[inline(always)]
    fn degree(&self, values: &[ValueId], greatest: bool) -> Result<f64> {
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

    /// The entities of `list` for whose objects `test` holds. Other values are passed over.
    #[inline]
    fn keep(
        &mut self,
        list: List,
        lookup: Lookup<'a>,
        mut test: impl FnMut(&Self, &[ValueId]) -> Result<bool>,
    ) -> Result<Object> {
        self.reserve(list.len as usize)?;
        let start = self.run.elements.len();
        self.spend(list.len as usize)?;
        for index in 0..list.len {
            let entity = self.get(list, index);
            match self.world.is_name.get(entity as usize) {
                Some(true) => {}
                Some(false) => continue,
                None if self.is_name(entity) => {}
                None => {
                    let is_null = matches!(self.local(entity), Some(Local { content: Foreign::RawNull, .. }));
                    if is_null || self.is_value(entity) {
                        continue;
                    }
                    return type_fault(format!("{} is not a value", self.shown(entity)));
                }
            }
            let objects = self.objects(lookup, entity)?;
            self.spend_on(objects)?;
            if test(self, objects)? {
                self.run.elements.push(entity);
            }
        }
        Ok(Object::List(self.list_from(start)))
    }

    fn superlative(&mut self, list: List, mode: Text, text: Text) -> Result<Object> {
        let greatest = self.word(mode) == Word::Max;
        let lookup = self.lookup(text);
        self.best(list, lookup, greatest, |machine, objects| machine.degree(objects, greatest))
    }

    fn count_superlative(
        &mut self,
        list: List,
        mode: Text,
        text: Text,
        restrictors: Option<List>,
    ) -> Result<Object> {
        let lookup = self.lookup(text);
        self.check_counted(lookup, restrictors)?;
        let greatest = self.word(mode) == Word::Max;
        let restricted = restrictors.is_some();
        self.best(list, lookup, greatest, |machine, objects| Ok(machine.count(objects, restricted)))
    }

    /// The entities with the greatest or least degree; nothing at all if there are no entities.
    #[inline]
    fn best(
        &mut self,
        list: List,
        lookup: Lookup<'a>,
        greatest: bool,
        degree: impl Fn(&Self, &[ValueId]) -> Result<f64>,
    ) -> Result<Object> {
        self.reserve(list.len as usize)?;
        let start = self.run.elements.len();
        self.spend(list.len as usize)?;
        let mut best = f64::NAN;
        for index in 0..list.len {
            let entity = self.get(list, index);
            let objects = self.objects(lookup, entity)?;
            self.spend_on(objects)?;
            let degree = degree(self, objects)?;
            // An undefined best is never displaced: NaN compares with nothing.
            if index == 0 || (if greatest { degree > best } else { degree < best }) {
                self.run.elements.truncate(start);
                self.run.elements.push(entity);
                best = degree;
            } else if degree == best {
                self.run.elements.push(entity);
            }
        }
        Ok(if list.len == 0 { Object::Null } else { Object::List(self.list_from(start)) })
    }

    /// What both counting functions check; marks the restrictors.
    fn check_counted(&mut self, lookup: Lookup<'a>, restrictors: Option<List>) -> Result<()> {
        if let Some(restrictors) = restrictors {
            self.spend(restrictors.len as usize)?;
            self.check_objects(lookup, restrictors)?;
        }
        let Some(property) = lookup.property else {
            return fault(format!("there is no property {}", self.quoted(lookup.text)));
        };
        if self.world.type_names[property.objects as usize].is_uncountable {
            return type_fault(format!(
                "values of {} are numeric, and not counted",
                self.quoted(lookup.text)
            ));
        }
        if let Some(restrictors) = restrictors {
            self.mark_equals(restrictors);
        }
        Ok(())
    }

    /// How many objects there are, or how many that are marked.
    #[inline]
    fn count(&self, objects: &[ValueId], restricted: bool) -> f64 {
        if !restricted {
            return objects.len() as f64;
        }
        objects.iter().filter(|&&object| self.run.marks[object as usize] == self.run.now).count() as f64
    }

    fn count_comparative(
        &mut self,
        list: List,
        text: Text,
        compare: Text,
        threshold: ValueId,
        restrictors: Option<List>,
    ) -> Result<Object> {
        let Some(threshold) = self.number(threshold) else {
            return type_fault(format!("SW.countComparative with {} for a number", self.shown(threshold)));
        };
        let lookup = self.lookup(text);
        self.check_counted(lookup, restrictors)?;
        let restricted = restrictors.is_some();
        let word = self.word(compare);
        self.reserve(list.len as usize)?;
        let start = self.run.elements.len();
        self.spend(list.len as usize)?;
        for index in 0..list.len {
            let entity = self.get(list, index);
            let objects = self.objects(lookup, entity)?;
            self.spend_on(objects)?;
            let count = self.count(objects, restricted);
            let holds = match word {
                Word::Equal => count == threshold,
                Word::Less => count < threshold,
                Word::Greater => count > threshold,
                Word::LessEqual => count <= threshold,
                Word::GreaterEqual => count >= threshold,
                _ => return fault(format!("SW.countComparative does not know {}", self.quoted(compare))),
            };
            if holds {
                self.run.elements.push(entity);
            }
        }
        Ok(Object::List(self.list_from(start)))
    }

    fn sum(&mut self, list: List) -> Result<Object> {
        let sum = self.total(list)?;
        let ty = self.world.unitless_type();
        let sum = self.add_local(Foreign::Number(sum, None), ty)?;
        Ok(Object::List(self.list_of(sum)?))
    }

    /// The sum of a list of numbers.
    fn total(&mut self, list: List) -> Result<f64> {
        self.spend(list.len as usize)?;
        let mut sum = 0.0;
        for &id in self.slice(list) {
            match self.number(id) {
                Some(value) => sum += value,
                None => return type_fault(format!("only numbers add up, and {} is not one", self.shown(id))),
            }
        }
        Ok(sum)
    }

    fn aggregate(&mut self, mode: Text, list: List) -> Result<Object> {
        if list.len == 0 {
            return fault(format!("SW.aggregate {} of an empty list", self.quoted(mode)));
        }
        let sum = self.total(list)?;
        let result = match self.word(mode) {
            Word::Average => sum / f64::from(list.len),
            Word::Sum => sum,
            _ => return fault(format!("SW.aggregate does not know {}", self.quoted(mode))),
        };
        let first = self.get(list, 0);
        let ty = match self.local(first) {
            None => LocalType::Known(self.world.types[first as usize]),
            Some(local) => local.ty.clone(),
        };
        let result = self.add_local(Foreign::Number(result, Some(first)), ty)?;
        Ok(Object::List(self.list_of(result)?))
    }

    fn arithmetic(&mut self, op: Text, left: List, right: List) -> Result<Object> {
        let len = left.len as usize * right.len as usize;
        self.spend(len)?;
        self.reserve(2 * len)?;
        let ty = self.world.unitless_type();
        let first = (self.world.values.len() + self.plan.locals.len() + self.run.locals.len()) as ValueId;
        for left_index in 0..left.len {
            for right_index in 0..right.len {
                let (left, right) = (self.get(left, left_index), self.get(right, right_index));
                let (Some(x), Some(y)) = (self.number(left), self.number(right)) else {
                    return type_fault(format!(
                        "arithmetic of {} and {}",
                        self.shown(left),
                        self.shown(right)
                    ));
                };
                let result = match self.word(op) {
                    Word::Plus => x + y,
                    Word::Minus => x - y,
                    Word::Times => x * y,
                    Word::Divide => x / y,
                    _ => return fault(format!("SW.arithOp does not know {}", self.quoted(op))),
                };
                self.add_local(Foreign::Number(result, None), ty.clone())?;
            }
        }
        let start = self.run.elements.len();
        self.run.elements.extend((first..).take(len));
        Ok(Object::List(self.list_from(start)))
    }
}
