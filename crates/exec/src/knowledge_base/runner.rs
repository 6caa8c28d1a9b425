//! Running plans: the functions of SEMPRE's Overnight world, corner for corner.
//!
//! What looks arbitrary below is SEMPRE's. The rule for order is that arguments are evaluated left
//! to right and a function's checks happen as its Java source has them, because an empty list must
//! hide exactly the errors it hides there.

use super::builder::java_order;
use super::plan::{Foreign, List, Local, LocalType, Object, Op, Plan, Text, Word};
use super::{KnowledgeBase, PropertyId, TypeId, ValueId};
use crate::value::write_number;
use crate::{Executor, Fault, Limits, Outcome, Value};
use xpr_lang::lambda_dcs::{Form, Function, write_leaf};

/// Whether a run that came to a value found something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It did.
    Something,
    /// Its value is the empty list.
    Nothing,
}

/// Runs programs on a knowledge base, one after the other, in the same buffers.
#[derive(Debug)]
pub struct Runner<'w> {
    world: &'w KnowledgeBase,
    limits: Limits,
    form: Form,
    plan: Plan,
    run: Run,
}

/// The state of a run, kept afterwards for its answer to be printed.
#[derive(Debug, Default)]
struct Run {
    stack: Vec<Object>,
    elements: Vec<ValueId>,
    locals: Vec<Local>,
    texts: Vec<Box<str>>,
    steps: u64,
    /// For each value of the knowledge base, when it was last marked.
    marks: Vec<u32>,
    now: u32,
    answer: Option<Object>,
    /// A set of ranks, for sorting; empty between uses.
    ranks: Vec<u64>,
}

impl<'w> Runner<'w> {
    /// A runner on `world`.
    pub fn new(world: &'w KnowledgeBase, limits: Limits) -> Self {
        let run = Run { marks: vec![0; world.values()], ..Run::default() };
        Runner { world, limits, form: Form::default(), plan: Plan::default(), run }
    }

    /// Runs a plan made for this world.
    ///
    /// # Errors
    /// If it does not come to a value.
    pub fn run(&mut self, plan: &Plan) -> Result<Verdict> {
        Machine { world: self.world, plan, limits: self.limits, run: &mut self.run }.run()
    }

    /// Appends the value that the last run of `plan` came to, as SEMPRE prints it.
    ///
    /// # Errors
    /// If it is too long; what was written by then stays.
    pub fn write_answer(&mut self, plan: &Plan, out: &mut String) -> Result<()> {
        let machine = Machine { world: self.world, plan, limits: self.limits, run: &mut self.run };
        let limit = out.len() + machine.limits.output;
        match machine.run.answer {
            Some(answer) => machine.write_object(out, answer, limit),
            None => Ok(()),
        }
    }

    /// Runs a form and appends its denotation.
    ///
    /// # Errors
    /// If it does not come to a value.
    pub fn run_form(&mut self, form: &Form, out: &mut String) -> Result<Verdict> {
        let mut plan = std::mem::take(&mut self.plan);
        self.world.compile_into(form, &mut plan);
        let start = out.len();
        let result = self.run(&plan).and_then(|verdict| self.write_answer(&plan, out).map(|()| verdict));
        if result.is_err() {
            out.truncate(start);
        }
        self.plan = plan;
        result
    }
}

impl Executor for Runner<'_> {
    fn execute(&mut self, program: &str) -> Outcome {
        let mut form = std::mem::take(&mut self.form);
        let outcome = match form.parse_into(program) {
            Err(error) => Outcome::RuntimeError(error.to_string()),
            Ok(()) => {
                let mut denotation = String::new();
                match self.run_form(&form, &mut denotation) {
                    Ok(Verdict::Something) => Outcome::Value(denotation),
                    Ok(Verdict::Nothing) => Outcome::Empty,
                    Err(fault) => fault.into(),
                }
            }
        };
        self.form = form;
        outcome
    }
}

/// A type at run time.
#[derive(Clone, Copy, PartialEq)]
enum Type<'a> {
    Known(TypeId),
    Other(&'a str),
}

struct Machine<'a> {
    world: &'a KnowledgeBase,
    plan: &'a Plan,
    limits: Limits,
    run: &'a mut Run,
}

type Result<T> = std::result::Result<T, Fault>;

#[cold]
fn type_fault<T>(message: String) -> Result<T> {
    Err(Fault::Type(message))
}

#[cold]
fn fault<T>(message: String) -> Result<T> {
    Err(Fault::Runtime(message))
}

/// What the least or the greatest of some degrees is, or that something has none.
#[derive(Clone, Copy)]
struct Degree(f64);

impl<'a> Machine<'a> {
    fn run(&mut self) -> Result<Verdict> {
        let run = &mut *self.run;
        run.stack.clear();
        run.elements.clear();
        run.locals.clear();
        run.texts.clear();
        run.answer = None;
        run.steps = self.limits.steps;
        run.elements.extend_from_slice(&self.plan.elements);
        for op in &self.plan.ops {
            match *op {
                Op::Push(object) => self.run.stack.push(object),
                Op::Call(function, arguments) => {
                    let base = self.run.stack.len() - arguments as usize;
                    let result = self.call(function, base)?;
                    self.run.stack.truncate(base);
                    self.run.stack.push(result);
                }
                Op::CallOther(oddity) => return fault(self.plan.oddities[oddity as usize].to_string()),
            }
        }
        let answer = match self.run.stack.pop() {
            Some(Object::Form(oddity)) => return fault(self.plan.oddities[oddity as usize].to_string()),
            Some(Object::Null) => return fault("the program comes to nothing at all".into()),
            Some(Object::Text(text)) if self.text(text).is_none() => {
                return fault("the program comes to a null string".into());
            }
            Some(Object::List(list)) => {
                self.check_elements(list)?;
                Object::List(list)
            }
            Some(object) => object,
            None => return fault("the program is empty".into()),
        };
        self.run.answer = Some(answer);
        let is_empty = match answer {
            Object::List(list) => list.len == 0,
            Object::Value(id) => {
                self.local(id).is_some_and(|local| matches!(local.content, Foreign::ListValue(list) if list.len == 0))
            }
            _ => false,
        };
        Ok(if is_empty { Verdict::Nothing } else { Verdict::Something })
    }

    // Steps and space.

    #[inline]
    fn spend(&mut self, steps: usize) -> Result<()> {
        match self.run.steps.checked_sub(steps as u64) {
            Some(rest) => {
                self.run.steps = rest;
                Ok(())
            }
            None => Err(Fault::Limit("steps")),
        }
    }

    /// Makes sure that `more` elements may be added.
    fn reserve(&self, more: usize) -> Result<()> {
        if self.run.elements.len() + self.run.locals.len() + more > self.limits.elements {
            return Err(Fault::Limit("elements"));
        }
        Ok(())
    }

    // Values.

    /// The value `id`, if it is not the knowledge base's own.
    #[inline]
    fn local(&self, id: ValueId) -> Option<&Local> {
        let index = (id as usize).checked_sub(self.world.values.len())?;
        let own = self.plan.locals.len();
        Some(if index < own { &self.plan.locals[index] } else { &self.run.locals[index - own] })
    }

    fn add_local(&mut self, content: Foreign, ty: LocalType) -> Result<ValueId> {
        self.reserve(1)?;
        let known = match &content {
            Foreign::Number(value, None) => self.world.find_number(*value, None),
            Foreign::Number(value, Some(unit)) => match self.unit(*unit) {
                Some(unit) => self.world.find_number(*value, Some(&unit)),
                None => self.world.find_number(*value, None),
            },
            _ => None,
        };
        self.run.locals.push(Local { content, known, ty });
        Ok((self.world.values.len() + self.plan.locals.len() + self.run.locals.len() - 1) as ValueId)
    }

    #[inline]
    fn get(&self, list: List, index: u32) -> ValueId {
        let index = (list.start + index) as usize;
        if list.of_world { self.world.objects[index] } else { self.run.elements[index] }
    }

    fn slice(&self, list: List) -> &[ValueId] {
        let elements = if list.of_world { &self.world.objects } else { &self.run.elements };
        &elements[list.start as usize..][..list.len as usize]
    }

    /// The elements added since `start`.
    fn list_from(&self, start: usize) -> List {
        List { start: start as u32, len: (self.run.elements.len() - start) as u32, of_world: false }
    }

    fn list_of(&mut self, value: ValueId) -> Result<List> {
        self.reserve(1)?;
        let start = self.run.elements.len();
        self.run.elements.push(value);
        Ok(self.list_from(start))
    }

    /// The value of the knowledge base that a hash table finds for `id`.
    #[inline]
    fn known(&self, id: ValueId) -> Option<ValueId> {
        if (id as usize) < self.world.values.len() { Some(id) } else { self.local(id)?.known }
    }

    /// Elements that are not values to Java make every function fail that looks at them.
    fn is_value(&self, id: ValueId) -> bool {
        self.local(id).is_none_or(|local| {
            matches!(local.content, Foreign::Value(_) | Foreign::Number(..) | Foreign::ListValue(_))
        })
    }

    fn is_name(&self, id: ValueId) -> bool {
        match self.local(id) {
            None => self.world.is_name[id as usize],
            Some(local) => matches!(local.content, Foreign::Value(Value::Name { .. })),
        }
    }

    fn number(&self, id: ValueId) -> Option<f64> {
        let value = match self.local(id) {
            None => &self.world.values[id as usize],
            Some(Local { content: Foreign::Number(value, _), .. }) => return Some(*value),
            Some(Local { content: Foreign::Value(value), .. }) => value,
            Some(_) => return None,
        };
        match value {
            Value::Number { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// The unit of a number.
    fn unit(&self, id: ValueId) -> Option<String> {
        let value = match self.local(id) {
            None => &self.world.values[id as usize],
            Some(Local { content: Foreign::Number(_, unit), .. }) => return self.unit((*unit)?),
            Some(Local { content: Foreign::Value(value), .. }) => value,
            Some(_) => return None,
        };
        match value {
            Value::Number { unit, .. } => unit.clone(),
            _ => None,
        }
    }

    fn degree_of(&self, id: ValueId) -> Result<f64> {
        let degree = match self.local(id) {
            None if self.world.has_degree[id as usize] => return Ok(self.world.degrees[id as usize]),
            None => None,
            Some(Local { content: Foreign::Number(value, _), .. }) => Some(*value),
            Some(Local { content: Foreign::Value(value), .. }) => value.degree(),
            Some(_) => None,
        };
        match degree {
            Some(degree) => Ok(degree),
            None => type_fault(format!("{} cannot be compared by size", self.shown(id))),
        }
    }

    fn type_of(&self, id: ValueId) -> Result<Type<'_>> {
        match self.local(id) {
            None => Ok(Type::Known(self.world.types[id as usize])),
            Some(local) => match &local.ty {
                LocalType::Known(ty) => Ok(Type::Known(*ty)),
                LocalType::Other(name) => Ok(Type::Other(name)),
                LocalType::OfFirst => match local.content {
                    Foreign::ListValue(list) if list.len > 0 => self.type_of(self.get(list, 0)),
                    _ => type_fault("an empty list has no type".into()),
                },
                LocalType::None => type_fault(format!("{} has no type", self.shown(id))),
            },
        }
    }

    fn known_type_name(&self, ty: TypeId) -> &'a str {
        &self.world.type_names[ty as usize].name
    }

    /// Java's `equals`.
    fn equal(&self, left: ValueId, right: ValueId) -> bool {
        if left == right {
            return true;
        }
        let (left_local, right_local) = (self.local(left), self.local(right));
        if left_local.is_none() && right_local.is_none() {
            return false;
        }
        let list = |local: Option<&Local>| match local {
            Some(Local { content: Foreign::ListValue(list), .. }) => Some(*list),
            _ => None,
        };
        match (list(left_local), list(right_local)) {
            (Some(left), Some(right)) => self.lists_equal(left, right),
            (None, None) => match (self.owned(left), self.owned(right)) {
                (Some(left), Some(right)) => left.equals(&right),
                _ => false,
            },
            _ => false,
        }
    }

    fn lists_equal(&self, left: List, right: List) -> bool {
        left.len == right.len && (0..left.len).all(|index| self.equal(self.get(left, index), self.get(right, index)))
    }

    /// A value by itself; none if it is a list or not a value to Java.
    fn owned(&self, id: ValueId) -> Option<Value> {
        match self.local(id) {
            None => Some(self.world.values[id as usize].clone()),
            Some(Local { content: Foreign::Value(value), .. }) => Some(value.clone()),
            Some(Local { content: Foreign::Number(value, unit), .. }) => {
                Some(Value::Number { value: *value, unit: unit.and_then(|unit| self.unit(unit)) })
            }
            Some(_) => None,
        }
    }

    // Strings.

    fn text(&self, text: Text) -> Option<&str> {
        match text {
            Text::Property(property) => Some(&self.world.properties[property as usize].name),
            Text::Other(index) => match self.plan.texts.get(index as usize) {
                Some(text) => text.text.as_deref(),
                None => Some(&self.run.texts[index as usize - self.plan.texts.len()]),
            },
        }
    }

    fn word(&self, text: Text) -> Word {
        match text {
            Text::Other(index) => self.plan.texts.get(index as usize).map_or(Word::Unknown, |text| text.word),
            Text::Property(_) => Word::Unknown,
        }
    }

    fn property_of(&self, text: Text) -> Option<PropertyId> {
        match text {
            Text::Property(property) => Some(property),
            Text::Other(index) => match self.plan.texts.get(index as usize) {
                Some(text) => text.property,
                None => self.world.property(&self.run.texts[index as usize - self.plan.texts.len()]),
            },
        }
    }

    fn quoted(&self, text: Text) -> &str {
        self.text(text).unwrap_or("\\0")
    }

    // Functions.

    fn call(&mut self, function: Function, base: usize) -> Result<Object> {
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
            (Function::Filter, &[O::List(list), O::Text(property), O::Text(compare), O::List(references)]) => {
                self.filter(list, property, compare, references)
            }
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
                &[O::List(list), O::Text(property), O::Text(compare), O::Value(threshold), O::List(restrictors)],
            ) => self.count_comparative(list, property, compare, threshold, Some(restrictors)),
            (Function::Aggregate, &[O::Text(mode), O::List(list)]) => self.aggregate(mode, list),
            (Function::Sum, &[O::List(list)]) => self.sum(list),
            (Function::ArithOp, &[O::Text(op), O::Value(left), O::Value(right)]) => {
                let (left, right) = (self.list_of(left)?, self.list_of(right)?);
                self.arithmetic(op, left, right)
            }
            (Function::ArithOp, &[O::Text(op), O::List(left), O::List(right)]) => self.arithmetic(op, left, right),
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

    fn append(&mut self, list: List) {
        let range = list.start as usize..(list.start + list.len) as usize;
        if list.of_world {
            self.run.elements.extend_from_slice(&self.world.objects[range]);
        } else {
            self.run.elements.extend_from_within(range);
        }
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

    /// Looks a subject's property up: both must be known, and the subject of the property's type.
    #[inline]
    fn objects(&self, subject: ValueId, text: Text) -> Result<(u32, u32)> {
        if let (Some(known), Some(property)) = (self.known(subject), self.property_of(text)) {
            let property = &self.world.properties[property as usize];
            if self.world.types[known as usize] == property.subjects {
                return Ok(property.range(known));
            }
        }
        self.no_objects(subject, text)
    }

    #[cold]
    fn no_objects(&self, subject: ValueId, text: Text) -> Result<(u32, u32)> {
        if !self.is_value(subject) {
            return type_fault(format!("{} is not a value that has properties", self.shown(subject)));
        }
        let Some(known) = self.known(subject) else {
            return fault(format!("there is no entity {}", self.shown(subject)));
        };
        let Some(property) = self.property_of(text) else {
            return fault(format!("there is no property {}", self.quoted(text)));
        };
        let expected = self.known_type_name(self.world.properties[property as usize].subjects);
        let found = self.known_type_name(self.world.types[known as usize]);
        let subject = self.shown(subject);
        type_fault(format!("{} is a property of {expected}; {subject} is of type {found}", self.quoted(text)))
    }

    fn get_property(&mut self, list: List, text: Text) -> Result<Object> {
        // The objects of one subject are already a list.
        if list.len == 1 {
            let (start, end) = self.objects(self.get(list, 0), text)?;
            let is_distinct =
                self.property_of(text).is_some_and(|property| self.world.properties[property as usize].is_distinct);
            if is_distinct && end > start {
                self.spend((end - start) as usize)?;
                return Ok(Object::List(List { start, len: end - start, of_world: true }));
            }
        }
        let start = self.run.elements.len();
        self.next_marks();
        self.spend(list.len as usize)?;
        for index in 0..list.len {
            let (first, behind) = self.objects(self.get(list, index), text)?;
            self.spend((behind - first) as usize)?;
            self.reserve((behind - first) as usize)?;
            for &object in &self.world.objects[first as usize..behind as usize] {
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
    fn check_objects(&self, text: Text, references: List) -> Result<()> {
        let property = self.property_of(text);
        for &reference in self.slice(references) {
            let Some(property) = property else {
                return fault(format!("there is no property {}", self.quoted(text)));
            };
            let expected = self.world.properties[property as usize].objects;
            let found = self.type_of(reference)?;
            if found != Type::Known(expected) {
                return self.wrong_object(text, expected, reference);
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
        let Some(property) = self.property_of(text) else {
            return fault(format!("there is no property {}", self.quoted(text)));
        };
        if self.world.properties[property as usize].objects != self.world.boolean {
            return type_fault(format!("{} does not hold or not hold: it has values", self.quoted(text)));
        }
        self.keep(list, text, |machine, (start, end)| {
            Ok(machine.world.objects[start as usize..end as usize]
                .iter()
                .any(|&object| machine.world.values[object as usize] == Value::Boolean(true)))
        })
    }

    fn filter(&mut self, list: List, text: Text, compare: Text, references: List) -> Result<Object> {
        self.spend(references.len as usize)?;
        self.check_objects(text, references)?;
        match self.word(compare) {
            word @ (Word::Equal | Word::NotEqual) => {
                let wanted = word == Word::Equal;
                // Mostly there is one reference, and it is the knowledge base's own.
                if references.len == 1 && (self.get(references, 0) as usize) < self.world.values.len() {
                    let reference = self.get(references, 0);
                    return self.keep(list, text, |machine, (start, end)| {
                        let objects = &machine.world.objects[start as usize..end as usize];
                        Ok(objects.contains(&reference) == wanted)
                    });
                }
                self.mark_equals(references);
                self.keep(list, text, |machine, (start, end)| {
                    let objects = &machine.world.objects[start as usize..end as usize];
                    let meet =
                        objects.iter().any(|&object| machine.run.marks[object as usize] == machine.run.now);
                    Ok(meet == wanted)
                })
            }
            Word::Less => self.filter_order(list, text, references, false, |value, reference| value < reference),
            Word::LessEqual => {
                self.filter_order(list, text, references, false, |value, reference| value <= reference)
            }
            Word::Greater => self.filter_order(list, text, references, true, |value, reference| value > reference),
            Word::GreaterEqual => {
                self.filter_order(list, text, references, true, |value, reference| value >= reference)
            }
            _ => self.keep(list, text, |machine, _| match machine.text(compare) {
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
        text: Text,
        references: List,
        greatest: bool,
        compare: impl Fn(f64, f64) -> bool,
    ) -> Result<Object> {
        // Asked for once, but only if an entity asks: what has no degree is no error before.
        let mut reference = None;
        self.keep(list, text, |machine, (start, end)| {
            let value = machine.degree(start, end, greatest)?;
            let reference = match reference {
                Some(degree) => degree,
                None => {
                    let mut degree = Degree(f64::NAN);
                    for &id in machine.slice(references) {
                        degree = degree.and(machine.degree_of(id)?, !greatest);
                    }
                    *reference.insert(degree)
                }
            };
            Ok(compare(value.0, reference.0))
        })
    }

    /// The greatest or least degree of a run of objects; NaN if there are none.
    #[inline]
    fn degree(&self, start: u32, end: u32, greatest: bool) -> Result<Degree> {
        let mut degree = Degree(f64::NAN);
        for &object in &self.world.objects[start as usize..end as usize] {
            if !self.world.has_degree[object as usize] {
                return type_fault(format!("{} cannot be compared by size", self.shown(object)));
            }
            degree = degree.and(self.world.degrees[object as usize], greatest);
        }
        Ok(degree)
    }

    /// The entities of `list` for whose objects `test` holds. Other values are passed over.
    #[inline]
    fn keep(
        &mut self,
        list: List,
        text: Text,
        mut test: impl FnMut(&Self, (u32, u32)) -> Result<bool>,
    ) -> Result<Object> {
        self.reserve(list.len as usize)?;
        let start = self.run.elements.len();
        let mut looked_at = list.len as usize;
        for index in 0..list.len {
            let entity = self.get(list, index);
            if !self.is_value(entity) && !matches!(self.local(entity), Some(Local { content: Foreign::RawNull, .. })) {
                return type_fault(format!("{} is not a value", self.shown(entity)));
            }
            if !self.is_name(entity) {
                continue;
            }
            let range = self.objects(entity, text)?;
            looked_at += (range.1 - range.0) as usize;
            if test(self, range)? {
                self.run.elements.push(entity);
            }
        }
        self.spend(looked_at)?;
        Ok(Object::List(self.list_from(start)))
    }

    fn superlative(&mut self, list: List, mode: Text, text: Text) -> Result<Object> {
        let greatest = self.word(mode) == Word::Max;
        self.best(list, text, greatest, |machine, (start, end)| Ok(machine.degree(start, end, greatest)?.0))
    }

    fn count_superlative(
        &mut self,
        list: List,
        mode: Text,
        text: Text,
        restrictors: Option<List>,
    ) -> Result<Object> {
        self.check_counted(text, restrictors)?;
        let greatest = self.word(mode) == Word::Max;
        let restricted = restrictors.is_some();
        self.best(list, text, greatest, |machine, range| Ok(machine.count(range, restricted)))
    }

    /// The entities with the greatest or least degree; nothing at all if there are no entities.
    #[inline]
    fn best(
        &mut self,
        list: List,
        text: Text,
        greatest: bool,
        degree: impl Fn(&Self, (u32, u32)) -> Result<f64>,
    ) -> Result<Object> {
        self.reserve(list.len as usize)?;
        let start = self.run.elements.len();
        let mut looked_at = list.len as usize;
        let mut best = f64::NAN;
        for index in 0..list.len {
            let entity = self.get(list, index);
            let range = self.objects(entity, text)?;
            looked_at += (range.1 - range.0) as usize;
            let degree = degree(self, range)?;
            // An undefined best is never displaced: NaN compares with nothing.
            if index == 0 || (if greatest { degree > best } else { degree < best }) {
                self.run.elements.truncate(start);
                self.run.elements.push(entity);
                best = degree;
            } else if degree == best {
                self.run.elements.push(entity);
            }
        }
        self.spend(looked_at)?;
        Ok(if list.len == 0 { Object::Null } else { Object::List(self.list_from(start)) })
    }

    /// What both counting functions check; marks the restrictors.
    fn check_counted(&mut self, text: Text, restrictors: Option<List>) -> Result<()> {
        if let Some(restrictors) = restrictors {
            self.spend(restrictors.len as usize)?;
            self.check_objects(text, restrictors)?;
        }
        let Some(property) = self.property_of(text) else {
            return fault(format!("there is no property {}", self.quoted(text)));
        };
        let objects = self.world.properties[property as usize].objects;
        if self.world.type_names[objects as usize].is_uncountable {
            return type_fault(format!("values of {} are numeric, and not counted", self.quoted(text)));
        }
        if let Some(restrictors) = restrictors {
            self.mark_equals(restrictors);
        }
        Ok(())
    }

    /// How many objects there are, or how many that are marked.
    #[inline]
    fn count(&self, (start, end): (u32, u32), restricted: bool) -> f64 {
        if !restricted {
            return f64::from(end - start);
        }
        let objects = &self.world.objects[start as usize..end as usize];
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
        self.check_counted(text, restrictors)?;
        let restricted = restrictors.is_some();
        let word = self.word(compare);
        self.reserve(list.len as usize)?;
        let start = self.run.elements.len();
        let mut looked_at = list.len as usize;
        for index in 0..list.len {
            let entity = self.get(list, index);
            let range = self.objects(entity, text)?;
            looked_at += (range.1 - range.0) as usize;
            let count = self.count(range, restricted);
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
        self.spend(looked_at)?;
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
                    return type_fault(format!("arithmetic of {} and {}", self.shown(left), self.shown(right)));
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

    // Answers.

    /// Nulls can be in a list but not in an answer.
    fn check_elements(&self, list: List) -> Result<()> {
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

    fn list_value(&mut self, object: Object) -> Result<Object> {
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
    fn shown(&self, id: ValueId) -> String {
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

impl Degree {
    /// The greatest or least so far, and one more.
    #[inline]
    fn and(self, degree: f64, greatest: bool) -> Degree {
        let replaces = self.0.is_nan() || (if greatest { degree > self.0 } else { degree < self.0 });
        if replaces { Degree(degree) } else { self }
    }
}
