//! The machine that runs plans: its stack, its lists, and what it knows about values.

use super::Verdict;
use super::plan::{Foreign, List, Local, LocalType, Object, Op, Plan, Text, Word};
use super::{KnowledgeBase, PropertyId, TypeId, ValueId};
use crate::{Fault, Limits, Value};

/// The state of a run, kept afterwards for its answer to be printed.
#[derive(Debug, Default)]
pub(super) struct Run {
    pub(super) stack: Vec<Object>,
    pub(super) elements: Vec<ValueId>,
    pub(super) locals: Vec<Local>,
    pub(super) texts: Vec<Box<str>>,
    steps: u64,
    /// For each value of the knowledge base, when it was last marked.
    pub(super) marks: Vec<u32>,
    pub(super) now: u32,
    pub(super) answer: Option<Object>,
    /// A set of ranks, for sorting; empty between uses.
    pub(super) ranks: Vec<u64>,
}

impl Run {
    /// The state before the first run on `world`.
    pub(super) fn new(world: &KnowledgeBase) -> Self {
        Run { marks: vec![0; world.values()], ..Run::default() }
    }
}

/// A type at run time.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Type<'a> {
    Known(TypeId),
    Other(&'a str),
}

pub(super) struct Machine<'a> {
    pub(super) world: &'a KnowledgeBase,
    pub(super) plan: &'a Plan,
    pub(super) limits: Limits,
    pub(super) run: &'a mut Run,
}

pub(super) type Result<T> = std::result::Result<T, Fault>;

#[cold]
pub(super) fn type_fault<T>(message: String) -> Result<T> {
    Err(Fault::Type(message))
}

#[cold]
pub(super) fn fault<T>(message: String) -> Result<T> {
    Err(Fault::Runtime(message))
}

impl<'a> Machine<'a> {
    pub(super) fn run(&mut self) -> Result<Verdict> {
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
            Object::Value(id) => self
                .local(id)
                .is_some_and(|local| matches!(local.content, Foreign::ListValue(list) if list.len == 0)),
            _ => false,
        };
        Ok(if is_empty { Verdict::Nothing } else { Verdict::Something })
    }

    // Steps and space.

    #[inline]
    pub(super) fn spend(&mut self, steps: usize) -> Result<()> {
        match self.run.steps.checked_sub(steps as u64) {
            Some(rest) => {
                self.run.steps = rest;
                Ok(())
            }
            None => Err(Fault::Limit("steps")),
        }
    }

    /// Pays for looking at the objects of a subject; a handful is part of looking at the subject.
    #[inline]
    pub(super) fn spend_on(&mut self, objects: &[ValueId]) -> Result<()> {
        if objects.len() > 8 { self.spend(objects.len()) } else { Ok(()) }
    }

    /// Makes sure that `more` elements may be added.
    pub(super) fn reserve(&self, more: usize) -> Result<()> {
        if self.run.elements.len() + self.run.locals.len() + more > self.limits.elements {
            return Err(Fault::Limit("elements"));
        }
        Ok(())
    }

    // Values.

    /// The value `id`, if it is not the knowledge base's own.
    #[inline]
    pub(super) fn local(&self, id: ValueId) -> Option<&Local> {
        let index = (id as usize).checked_sub(self.world.values.len())?;
        let own = self.plan.locals.len();
        Some(if index < own { &self.plan.locals[index] } else { &self.run.locals[index - own] })
    }

    pub(super) fn add_local(&mut self, content: Foreign, ty: LocalType) -> Result<ValueId> {
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
    pub(super) fn get(&self, list: List, index: u32) -> ValueId {
        let index = (list.start + index) as usize;
        if list.of_world { self.world.objects[index] } else { self.run.elements[index] }
    }

    pub(super) fn slice(&self, list: List) -> &[ValueId] {
        let elements = if list.of_world { &self.world.objects } else { &self.run.elements };
        &elements[list.start as usize..][..list.len as usize]
    }

    /// The elements added since `start`.
    pub(super) fn list_from(&self, start: usize) -> List {
        List { start: start as u32, len: (self.run.elements.len() - start) as u32, of_world: false }
    }

    /// Adds the elements of a list.
    pub(super) fn append(&mut self, list: List) {
        let range = list.start as usize..(list.start + list.len) as usize;
        if list.of_world {
            self.run.elements.extend_from_slice(&self.world.objects[range]);
        } else {
            self.run.elements.extend_from_within(range);
        }
    }

    pub(super) fn list_of(&mut self, value: ValueId) -> Result<List> {
        self.reserve(1)?;
        let start = self.run.elements.len();
        self.run.elements.push(value);
        Ok(self.list_from(start))
    }

    /// The value of the knowledge base that a hash table finds for `id`.
    #[inline]
    pub(super) fn known(&self, id: ValueId) -> Option<ValueId> {
        if (id as usize) < self.world.values.len() { Some(id) } else { self.local(id)?.known }
    }

    /// Elements that are not values to Java make every function fail that looks at them.
    pub(super) fn is_value(&self, id: ValueId) -> bool {
        self.local(id).is_none_or(|local| {
            matches!(local.content, Foreign::Value(_) | Foreign::Number(..) | Foreign::ListValue(_))
        })
    }

    pub(super) fn is_name(&self, id: ValueId) -> bool {
        match self.local(id) {
            None => self.world.is_name[id as usize],
            Some(local) => matches!(local.content, Foreign::Value(Value::Name { .. })),
        }
    }

    pub(super) fn number(&self, id: ValueId) -> Option<f64> {
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
    pub(super) fn unit(&self, id: ValueId) -> Option<String> {
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

    #[cold]
    pub(super) fn degree_of(&self, id: ValueId) -> Result<f64> {
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

    pub(super) fn type_of(&self, id: ValueId) -> Result<Type<'_>> {
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

    pub(super) fn known_type_name(&self, ty: TypeId) -> &'a str {
        &self.world.type_names[ty as usize].name
    }

    /// Java's `equals`.
    pub(super) fn equal(&self, left: ValueId, right: ValueId) -> bool {
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

    pub(super) fn lists_equal(&self, left: List, right: List) -> bool {
        left.len == right.len
            && (0..left.len).all(|index| self.equal(self.get(left, index), self.get(right, index)))
    }

    /// A value by itself; none if it is a list or not a value to Java.
    pub(super) fn owned(&self, id: ValueId) -> Option<Value> {
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

    pub(super) fn text(&self, text: Text) -> Option<&str> {
        match text {
            Text::Property(property) => Some(&self.world.properties[property as usize].name),
            Text::Word(word) => Some(word.text()),
            Text::Other(index) => match self.plan.texts.get(index as usize) {
                Some(text) => text.text.as_deref(),
                None => Some(&self.run.texts[index as usize - self.plan.texts.len()]),
            },
        }
    }

    pub(super) fn word(&self, text: Text) -> Word {
        match text {
            Text::Word(word) => word,
            Text::Other(index) => self.plan.texts.get(index as usize).map_or(Word::Unknown, |text| text.word),
            Text::Property(_) => Word::Unknown,
        }
    }

    pub(super) fn property_of(&self, text: Text) -> Option<PropertyId> {
        match text {
            Text::Property(property) => Some(property),
            Text::Word(_) => None,
            Text::Other(index) => match self.plan.texts.get(index as usize) {
                Some(text) => text.property,
                None => self.world.property(&self.run.texts[index as usize - self.plan.texts.len()]),
            },
        }
    }

    pub(super) fn quoted(&self, text: Text) -> &str {
        self.text(text).unwrap_or("\\0")
    }
}
