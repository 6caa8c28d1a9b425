//! Compilation of a form for one knowledge base: stack instructions on value numbers.

use super::{KnowledgeBase, PropertyId, ValueId, ValueTypeId};
use crate::KbValue;
use crate::value::{number_type, number_unit};
use xpr_lang::lambda_dcs::{Form, FormNode, Function, NodeId};

/// A string at run time. Almost all strings name properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum StringRef {
    /// The name of a property.
    Property(PropertyId),
    /// A keyword of a function.
    Keyword(Keyword),
    /// The index of another string: into [`Plan::strings`], or beyond its end into the strings made by the run.
    Other(u32),
}

/// An entry of the stack: what SEMPRE's Java code would hold there.
#[derive(Clone, Copy, Debug)]
pub(super) enum StackEntry {
    List(ListRef),
    Value(ValueId),
    String(StringRef),
    Boolean(bool),
    Integer(i32),
    /// The result of a superlative over an empty list.
    Null,
    /// A part of the form that has no value, such as a free variable: the index of its message in [`Plan::messages`].
    Invalid(u32),
}

/// A list of values: a range of the knowledge base's table of objects, or of the elements made by the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListRef {
    pub(super) start: u32,
    pub(super) len: u32,
    /// Whether the range is of the knowledge base's table.
    pub(super) of_world: bool,
}

macro_rules! keywords {
    ($($variant:ident = $text:literal,)*) => {
        /// A string with a meaning for some function, such as a comparator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Keyword {
            $($variant,)*
            Unknown,
        }

        impl Keyword {
            fn new(text: &str) -> Keyword {
                match text {
                    $($text => Keyword::$variant,)*
                    _ => Keyword::Unknown,
                }
            }

            pub(super) fn text(self) -> &'static str {
                match self {
                    $(Keyword::$variant => $text,)*
                    Keyword::Unknown => "",
                }
            }
        }
    };
}

keywords! {
    Equal = "=",
    NotEqual = "!=",
    Less = "<",
    LessEqual = "<=",
    Greater = ">",
    GreaterEqual = ">=",
    Min = "min",
    Max = "max",
    Sum = "sum",
    Average = "avg",
    Plus = "+",
    Minus = "-",
    Times = "*",
    Divide = "/",
}

/// A string that is both a keyword and the name of a property, or neither.
#[derive(Clone, Debug)]
pub(super) struct PlanString {
    /// `None` for Java's null.
    pub(super) text: Option<Box<str>>,
    pub(super) keyword: Keyword,
    pub(super) property: Option<PropertyId>,
}

/// The content of a value that is not in the knowledge base.
#[derive(Clone, Debug)]
pub(super) enum LocalContent {
    /// A literal of the program, or a string or boolean turned into a value.
    Value(KbValue),
    /// A computed number, with the unit of the given value.
    Number(f64, Option<ValueId>),
    /// The result of `listValue`: a list that is a value.
    ListValue(ListRef),
    // The rest are elements of `( list … )` that are not of SEMPRE's class `Value`: functions that use them fail.
    RawText(Option<Box<str>>),
    RawBoolean(bool),
    RawList(ListRef),
    RawNull,
}

/// A value of the program or of the run. It may equal a value of the knowledge base but print differently.
#[derive(Clone, Debug)]
pub(super) struct LocalValue {
    pub(super) content: LocalContent,
    /// The value of the knowledge base that a hash table finds for it.
    pub(super) known: Option<ValueId>,
    pub(super) ty: LocalType,
}

/// The type of a [`LocalValue`].
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LocalType {
    Known(ValueTypeId),
    /// A type that no value of the knowledge base has.
    Other(Box<str>),
    /// The type of the first element of a list, computed on demand.
    OfFirst,
    None,
}

/// An instruction of the stack machine.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    Push(StackEntry),
    /// Calls a function with this many arguments from the stack.
    Call(Function, u32),
    /// Fails with a message of [`Plan::messages`]: the form calls something that is not a function. It comes after the
    /// instructions for the arguments, whose errors take precedence.
    Fail(u32),
}

/// A form compiled for one knowledge base. It must not be run on another.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(super) instructions: Vec<Instruction>,
    pub(super) locals: Vec<LocalValue>,
    pub(super) strings: Vec<PlanString>,
    /// Elements of literal lists.
    pub(super) elements: Vec<ValueId>,
    /// Error messages for the parts of the form that cannot be run.
    pub(super) messages: Vec<Box<str>>,
}

impl KnowledgeBase {
    /// Compiles a form.
    pub fn compile(&self, form: &Form) -> Plan {
        let mut plan = Plan::default();
        self.compile_into(form, &mut plan);
        plan
    }

    /// Compiles a form into `plan`, whose buffers are reused.
    pub fn compile_into(&self, form: &Form, plan: &mut Plan) {
        plan.instructions.clear();
        plan.locals.clear();
        plan.strings.clear();
        plan.elements.clear();
        plan.messages.clear();
        if let Some(root) = form.root() {
            Compiler { world: self, form, plan }.node(root);
        }
    }
}

struct Compiler<'a> {
    world: &'a KnowledgeBase,
    form: &'a Form,
    plan: &'a mut Plan,
}

impl Compiler<'_> {
    fn node(&mut self, id: NodeId) {
        let entry = match self.form.node(id) {
            FormNode::Call { function, arguments } => {
                let arguments = self.form.children(arguments);
                for &argument in arguments {
                    self.node(argument);
                }
                let name = match self.form.node(function) {
                    FormNode::Name { id, .. } => self.form.atom(id),
                    _ => None,
                };
                let instruction = match name.and_then(Function::from_name) {
                    Some(function) => Instruction::Call(function, arguments.len() as u32),
                    None => Instruction::Fail(self.message(match name {
                        Some(name) => format!("there is no function {name}"),
                        None => "only a name can be called".to_owned(),
                    })),
                };
                self.plan.instructions.push(instruction);
                return;
            }
            FormNode::Text(atom) => StackEntry::String(self.string(self.form.atom(atom))),
            FormNode::Boolean(value) => StackEntry::Boolean(value),
            FormNode::List(values) => StackEntry::List(self.list(self.form.children(values))),
            FormNode::Variable(name) => {
                let name = self.form.atom(name).unwrap_or("\\0");
                StackEntry::Invalid(self.message(format!("the variable {name} is not bound")))
            }
            FormNode::Lambda { .. } => {
                StackEntry::Invalid(self.message("a lambda is not applied to anything".into()))
            }
            FormNode::Apply { .. } => {
                StackEntry::Invalid(self.message("something that is not a lambda is applied".into()))
            }
            FormNode::Unsupported { keyword, .. } => {
                let keyword = self.form.atom(keyword).unwrap_or_default();
                StackEntry::Invalid(self.message(format!("`{keyword}` forms cannot be run here")))
            }
            FormNode::Name { .. }
            | FormNode::Number { .. }
            | FormNode::Date { .. }
            | FormNode::Time { .. }
            | FormNode::Url(_) => StackEntry::Value(self.value(id)),
        };
        self.plan.instructions.push(Instruction::Push(entry));
    }

    /// Adds a message and returns its index.
    fn message(&mut self, message: String) -> u32 {
        self.plan.messages.push(message.into());
        self.plan.messages.len() as u32 - 1
    }

    fn string(&mut self, text: Option<&str>) -> StringRef {
        let keyword = text.map_or(Keyword::Unknown, Keyword::new);
        let property = text.and_then(|text| self.world.property(text));
        match property {
            Some(property) if keyword == Keyword::Unknown => StringRef::Property(property),
            None if keyword != Keyword::Unknown => StringRef::Keyword(keyword),
            _ => {
                self.plan.strings.push(PlanString { text: text.map(Into::into), keyword, property });
                StringRef::Other(self.plan.strings.len() as u32 - 1)
            }
        }
    }

    /// Returns the value at a node: the one in the knowledge base if there is one that prints the same, else a new
    /// local value.
    fn value(&mut self, id: NodeId) -> ValueId {
        let node = self.form.node(id);
        let known = match node {
            FormNode::Name { id, .. } => {
                self.form.atom(id).and_then(|name| self.world.lookup.names.get(name)).copied()
            }
            FormNode::Number { value, unit } => self.world.find_number(value, number_unit(self.form, unit)),
            FormNode::Date { year, month, day } => self.world.lookup.dates.get(&(year, month, day)).copied(),
            FormNode::Time { hour, minute } => self.world.lookup.times.get(&(hour, minute)).copied(),
            _ => None,
        };
        match (node, known) {
            (FormNode::Name { description: Some(_), .. }, _) | (_, None) => {}
            (_, Some(known)) => return known,
        }
        let value = KbValue::from_form(self.form, id).unwrap_or_else(|| KbValue::name("null"));
        self.local(LocalContent::Value(value), known)
    }

    /// Adds a local value and returns its number.
    fn local(&mut self, content: LocalContent, known: Option<ValueId>) -> ValueId {
        let ty = match &content {
            LocalContent::Value(value) => match value.type_name() {
                Some(name) => self.world.local_type(&name),
                None => LocalType::None,
            },
            _ => LocalType::None,
        };
        self.plan.locals.push(LocalValue { content, known, ty });
        self.world.values.len() as ValueId + self.plan.locals.len() as ValueId - 1
    }

    /// Compiles a literal list. Its strings and booleans are not of SEMPRE's class `Value`.
    fn list(&mut self, nodes: &[NodeId]) -> ListRef {
        let elements: Vec<ValueId> = nodes
            .iter()
            .map(|&id| match self.form.node(id) {
                FormNode::Text(atom) => {
                    self.local(LocalContent::RawText(self.form.atom(atom).map(Into::into)), None)
                }
                FormNode::Boolean(value) => self.local(LocalContent::RawBoolean(value), None),
                FormNode::List(values) => {
                    let list = self.list(self.form.children(values));
                    self.local(LocalContent::RawList(list), None)
                }
                _ => self.value(id),
            })
            .collect();
        let start = self.plan.elements.len() as u32;
        self.plan.elements.extend(elements);
        ListRef { start, len: nodes.len() as u32, of_world: false }
    }
}

impl KnowledgeBase {
    /// Returns the type with this name.
    pub(super) fn local_type(&self, name: &str) -> LocalType {
        match self.type_ids.get(name) {
            Some(&id) => LocalType::Known(id),
            None => LocalType::Other(name.into()),
        }
    }

    /// Returns the type of numbers without a unit.
    pub(super) fn unitless_type(&self) -> LocalType {
        debug_assert_eq!(&*self.type_names[self.unitless as usize].name, number_type(None));
        LocalType::Known(self.unitless)
    }
}
