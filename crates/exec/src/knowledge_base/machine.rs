//! The stack machine that runs plans.

use super::AnswerKind;
use super::plan::{
    Instruction, Keyword, ListRef, LocalContent, LocalType, LocalValue, Plan, StackEntry, StringRef,
};
use super::{KnowledgeBase, PropertyId, ValueId, ValueTypeId};
use crate::{Fault, KbValue, Limits};

/// The state of a run. It stays after the run, so that the answer can be printed.
#[derive(Debug, Default)]
pub(super) struct MachineState {
    pub(super) stack: Vec<StackEntry>,
    pub(super) elements: Vec<ValueId>,
    pub(super) locals: Vec<LocalValue>,
    pub(super) strings: Vec<Box<str>>,
    /// Steps left.
    steps: u64,
    /// A value of the knowledge base is marked if its entry here equals `epoch`, so that all marks can be cleared at once.
    pub(super) marks: Vec<u32>,
    pub(super) epoch: u32,
    pub(super) answer: Option<StackEntry>,
    /// A bit set of ranks, used for sorting; all zero between uses.
    pub(super) ranks: Vec<u64>,
}

impl MachineState {
    /// Returns the state before the first run on `world`.
    pub(super) fn new(world: &KnowledgeBase) -> Self {
        MachineState { marks: vec![0; world.value_count()], ..MachineState::default() }
    }
}

/// The type of a value at run time.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum RuntimeType<'a> {
    Known(ValueTypeId),
    /// A type that no value of the knowledge base has.
    Other(&'a str),
}

/// A plan on its way through a run. The functions it calls are in `functions`.
pub(super) struct Machine<'a> {
    pub(super) world: &'a KnowledgeBase,
    pub(super) plan: &'a Plan,
    pub(super) limits: Limits,
    pub(super) state: &'a mut MachineState,
}

/// The number of objects of a subject up to which reading them costs no steps beyond the one for the subject.
const FREE_OBJECTS: usize = 8;

pub(super) type Result<T> = std::result::Result<T, Fault>;

#[cold]
pub(super) fn type_error<T>(message: String) -> Result<T> {
    Err(Fault::Type(message))
}

#[cold]
pub(super) fn runtime_error<T>(message: String) -> Result<T> {
    Err(Fault::Runtime(message))
}

impl<'a> Machine<'a> {
    /// Runs the plan.
    pub(super) fn run(&mut self) -> Result<AnswerKind> {
        let state = &mut *self.state;
        state.stack.clear();
        state.elements.clear();
        state.locals.clear();
        state.strings.clear();
        state.answer = None;
        state.steps = self.limits.steps;
        state.elements.extend_from_slice(&self.plan.elements);
        for instruction in &self.plan.instructions {
            match *instruction {
                Instruction::Push(entry) => self.state.stack.push(entry),
                Instruction::Call(function, arguments) => {
                    let base = self.state.stack.len() - arguments as usize;
                    let result = self.call(function, base)?;
                    self.state.stack.truncate(base);
                    self.state.stack.push(result);
                }
                Instruction::Fail(message) => return self.invalid(message),
            }
        }
        let answer = match self.state.stack.pop() {
            Some(StackEntry::Invalid(message)) => return self.invalid(message),
            Some(StackEntry::Null) => return runtime_error("the program has no value".into()),
            Some(StackEntry::String(string)) if self.string(string).is_none() => {
                return runtime_error("the value of the program is a null string".into());
            }
            Some(StackEntry::List(list)) => {
                self.check_elements(list)?;
                StackEntry::List(list)
            }
            Some(entry) => entry,
            None => return runtime_error("the program is empty".into()),
        };
        self.state.answer = Some(answer);
        let is_empty = match answer {
            StackEntry::List(list) => list.len == 0,
            StackEntry::Value(id) => self
                .local(id)
                .is_some_and(|local| matches!(local.content, LocalContent::ListValue(list) if list.len == 0)),
            _ => false,
        };
        Ok(if is_empty { AnswerKind::Empty } else { AnswerKind::NonEmpty })
    }

    /// Returns the error for a part of the form that cannot be run.
    #[cold]
    pub(super) fn invalid<T>(&self, message: u32) -> Result<T> {
        runtime_error(self.plan.messages[message as usize].to_string())
    }

    // Limits.

    /// Uses up `steps` of the step limit.
    #[inline]
    pub(super) fn spend(&mut self, steps: usize) -> Result<()> {
        match self.state.steps.checked_sub(steps as u64) {
            Some(rest) => {
                self.state.steps = rest;
                Ok(())
            }
            None => Err(Fault::Limit("steps")),
        }
    }

    /// Uses up steps for the objects of one subject. A few objects are free, as the subject has been paid for.
    #[inline]
    pub(super) fn spend_on(&mut self, objects: &[ValueId]) -> Result<()> {
        if objects.len() > FREE_OBJECTS { self.spend(objects.len()) } else { Ok(()) }
    }

    /// Returns an error if `more` elements would exceed the limit.
    pub(super) fn reserve(&self, more: usize) -> Result<()> {
        if self.state.elements.len() + self.state.locals.len() + more > self.limits.elements {
            return Err(Fault::Limit("elements"));
        }
        Ok(())
    }

    // Values.

    /// Returns the local value `id`, or `None` if the value is in the knowledge base.
    #[inline]
    pub(super) fn local(&self, id: ValueId) -> Option<&LocalValue> {
        let index = (id as usize).checked_sub(self.world.values.len())?;
        let in_plan = self.plan.locals.len();
        Some(if index < in_plan { &self.plan.locals[index] } else { &self.state.locals[index - in_plan] })
    }

    /// Adds a local value and returns its number.
    pub(super) fn add_local(&mut self, content: LocalContent, ty: LocalType) -> Result<ValueId> {
        self.reserve(1)?;
        let known = match &content {
            LocalContent::Number(value, None) => self.world.find_number(*value, None),
            LocalContent::Number(value, Some(unit)) => match self.unit(*unit) {
                Some(unit) => self.world.find_number(*value, Some(&unit)),
                None => self.world.find_number(*value, None),
            },
            _ => None,
        };
        self.state.locals.push(LocalValue { content, known, ty });
        Ok((self.world.values.len() + self.plan.locals.len() + self.state.locals.len() - 1) as ValueId)
    }

    /// Returns an element of a list.
    #[inline]
    pub(super) fn get(&self, list: ListRef, index: u32) -> ValueId {
        let index = (list.start + index) as usize;
        if list.of_world { self.world.objects[index] } else { self.state.elements[index] }
    }

    pub(super) fn slice(&self, list: ListRef) -> &[ValueId] {
        let elements = if list.of_world { &self.world.objects } else { &self.state.elements };
        &elements[list.start as usize..][..list.len as usize]
    }

    /// Returns the list of the elements added since `start`.
    pub(super) fn list_from(&self, start: usize) -> ListRef {
        ListRef { start: start as u32, len: (self.state.elements.len() - start) as u32, of_world: false }
    }

    /// Appends the elements of a list to those of the run.
    pub(super) fn append(&mut self, list: ListRef) {
        let range = list.start as usize..(list.start + list.len) as usize;
        if list.of_world {
            self.state.elements.extend_from_slice(&self.world.objects[range]);
        } else {
            self.state.elements.extend_from_within(range);
        }
    }

    /// Makes a list with one element.
    pub(super) fn list_of(&mut self, value: ValueId) -> Result<ListRef> {
        self.reserve(1)?;
        let start = self.state.elements.len();
        self.state.elements.push(value);
        Ok(self.list_from(start))
    }

    /// Returns the value of the knowledge base that a hash table finds for `id`.
    #[inline]
    pub(super) fn known_value(&self, id: ValueId) -> Option<ValueId> {
        if (id as usize) < self.world.values.len() { Some(id) } else { self.local(id)?.known }
    }

    /// Returns whether an element is of SEMPRE's class `Value`. Functions fail on elements that are not.
    pub(super) fn is_value(&self, id: ValueId) -> bool {
        self.local(id).is_none_or(|local| {
            matches!(
                local.content,
                LocalContent::Value(_) | LocalContent::Number(..) | LocalContent::ListValue(_)
            )
        })
    }

    pub(super) fn is_name(&self, id: ValueId) -> bool {
        match self.local(id) {
            None => self.world.is_name[id as usize],
            Some(local) => matches!(local.content, LocalContent::Value(KbValue::Name { .. })),
        }
    }

    /// Returns the number without its unit, or `None` for other values.
    pub(super) fn number(&self, id: ValueId) -> Option<f64> {
        let value = match self.local(id) {
            None => &self.world.values[id as usize],
            Some(LocalValue { content: LocalContent::Number(value, _), .. }) => return Some(*value),
            Some(LocalValue { content: LocalContent::Value(value), .. }) => value,
            Some(_) => return None,
        };
        match value {
            KbValue::Number { value, .. } => Some(*value),
            _ => None,
        }
    }

    /// Returns the unit of a number.
    pub(super) fn unit(&self, id: ValueId) -> Option<String> {
        let value = match self.local(id) {
            None => &self.world.values[id as usize],
            Some(LocalValue { content: LocalContent::Number(_, unit), .. }) => return self.unit((*unit)?),
            Some(LocalValue { content: LocalContent::Value(value), .. }) => value,
            Some(_) => return None,
        };
        match value {
            KbValue::Number { unit, .. } => unit.clone(),
            _ => None,
        }
    }

    /// Returns the number by which a value is compared.
    #[cold]
    pub(super) fn degree_of(&self, id: ValueId) -> Result<f64> {
        let degree = match self.local(id) {
            None if self.world.has_degree[id as usize] => return Ok(self.world.degrees[id as usize]),
            None => None,
            Some(LocalValue { content: LocalContent::Number(value, _), .. }) => Some(*value),
            Some(LocalValue { content: LocalContent::Value(value), .. }) => value.degree(),
            Some(_) => None,
        };
        match degree {
            Some(degree) => Ok(degree),
            None => type_error(format!("{} cannot be compared by size", self.describe(id))),
        }
    }

    pub(super) fn type_of(&self, id: ValueId) -> Result<RuntimeType<'_>> {
        match self.local(id) {
            None => Ok(RuntimeType::Known(self.world.types[id as usize])),
            Some(local) => match &local.ty {
                LocalType::Known(ty) => Ok(RuntimeType::Known(*ty)),
                LocalType::Other(name) => Ok(RuntimeType::Other(name)),
                LocalType::OfFirst => match local.content {
                    LocalContent::ListValue(list) if list.len > 0 => self.type_of(self.get(list, 0)),
                    _ => type_error("an empty list has no type".into()),
                },
                LocalType::None => type_error(format!("{} has no type", self.describe(id))),
            },
        }
    }

    pub(super) fn type_name(&self, ty: ValueTypeId) -> &'a str {
        &self.world.type_names[ty as usize].name
    }

    /// Returns whether two values are equal as SEMPRE's Java code compares them.
    pub(super) fn equal(&self, left: ValueId, right: ValueId) -> bool {
        if left == right {
            return true;
        }
        let (left_local, right_local) = (self.local(left), self.local(right));
        if left_local.is_none() && right_local.is_none() {
            return false;
        }
        let list = |local: Option<&LocalValue>| match local {
            Some(LocalValue { content: LocalContent::ListValue(list), .. }) => Some(*list),
            _ => None,
        };
        match (list(left_local), list(right_local)) {
            (Some(left), Some(right)) => self.lists_equal(left, right),
            (None, None) => match (self.to_value(left), self.to_value(right)) {
                (Some(left), Some(right)) => left.equals(&right),
                _ => false,
            },
            _ => false,
        }
    }

    pub(super) fn lists_equal(&self, left: ListRef, right: ListRef) -> bool {
        left.len == right.len
            && (0..left.len).all(|index| self.equal(self.get(left, index), self.get(right, index)))
    }

    /// Returns a copy of the value; `None` if it is a list or not of SEMPRE's class `Value`.
    pub(super) fn to_value(&self, id: ValueId) -> Option<KbValue> {
        match self.local(id) {
            None => Some(self.world.values[id as usize].clone()),
            Some(LocalValue { content: LocalContent::Value(value), .. }) => Some(value.clone()),
            Some(LocalValue { content: LocalContent::Number(value, unit), .. }) => {
                Some(KbValue::Number { value: *value, unit: unit.and_then(|unit| self.unit(unit)) })
            }
            Some(_) => None,
        }
    }

    // Marks.

    /// Removes the marks of all values.
    pub(super) fn clear_marks(&mut self) {
        self.state.epoch = self.state.epoch.wrapping_add(1);
        if self.state.epoch == 0 {
            self.state.marks.fill(0);
            self.state.epoch = 1;
        }
    }

    // Strings.

    /// Returns the characters of a string; `None` for null.
    pub(super) fn string(&self, string: StringRef) -> Option<&str> {
        match string {
            StringRef::Property(property) => Some(&self.world.properties[property as usize].name),
            StringRef::Keyword(keyword) => Some(keyword.text()),
            StringRef::Other(index) => match self.plan.strings.get(index as usize) {
                Some(string) => string.text.as_deref(),
                None => Some(&self.state.strings[index as usize - self.plan.strings.len()]),
            },
        }
    }

    /// Returns the keyword that a string is.
    pub(super) fn keyword(&self, string: StringRef) -> Keyword {
        match string {
            StringRef::Keyword(keyword) => keyword,
            StringRef::Other(index) => {
                self.plan.strings.get(index as usize).map_or(Keyword::Unknown, |string| string.keyword)
            }
            StringRef::Property(_) => Keyword::Unknown,
        }
    }

    /// Returns the property that a string names.
    pub(super) fn named_property(&self, string: StringRef) -> Option<PropertyId> {
        match string {
            StringRef::Property(property) => Some(property),
            StringRef::Keyword(_) => None,
            StringRef::Other(index) => match self.plan.strings.get(index as usize) {
                Some(string) => string.property,
                None => self.world.property(&self.state.strings[index as usize - self.plan.strings.len()]),
            },
        }
    }

    /// Returns a string as messages show it: null as `\0`, the way forms write it.
    pub(super) fn display_string(&self, string: StringRef) -> &str {
        self.string(string).unwrap_or("\\0")
    }
}
