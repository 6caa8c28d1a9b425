//! A form, compiled for one knowledge base: stack operations on numbers.

use super::{KnowledgeBase, PropertyId, TypeId, ValueId};
use crate::Value;
use crate::value::{number_type, number_unit};
use xpr_lang::lambda_dcs::{Form, FormNode, Function, NodeId};

/// A string at run time. Almost all of them name properties.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Text {
    /// The name of a property.
    Property(PropertyId),
    /// A word that functions know.
    Word(Word),
    /// Another string: one of the plan's, or beyond them one of the run's.
    Other(u32),
}

/// An object on the stack: what Java would hold there.
#[derive(Clone, Copy, Debug)]
pub(super) enum Object {
    List(List),
    Value(ValueId),
    Text(Text),
    Boolean(bool),
    Integer(i32),
    /// What superlatives of nothing give.
    Null,
    /// A part of the form that is not a value: a variable, a lambda.
    Form(u32),
}

/// A list of values: a range of the knowledge base's objects or of the run's own elements.
#[derive(Clone, Copy, Debug)]
pub(super) struct List {
    pub(super) start: u32,
    pub(super) len: u32,
    pub(super) of_world: bool,
}

macro_rules! words {
    ($($variant:ident = $text:literal,)*) => {
        /// A word that functions know, such as a comparator.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Word {
            $($variant,)*
            Unknown,
        }

        impl Word {
            fn new(text: &str) -> Word {
                match text {
                    $($text => Word::$variant,)*
                    _ => Word::Unknown,
                }
            }

            pub(super) fn text(self) -> &'static str {
                match self {
                    $(Word::$variant => $text,)*
                    Word::Unknown => "",
                }
            }
        }
    };
}

words! {
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

/// A string that is neither only the name of a property nor only a word.
#[derive(Clone, Debug)]
pub(super) struct PlanText {
    /// None for SEMPRE's null.
    pub(super) text: Option<Box<str>>,
    pub(super) word: Word,
    pub(super) property: Option<PropertyId>,
}

/// What a value that is not the knowledge base's own is.
#[derive(Clone, Debug)]
pub(super) enum Foreign {
    /// A literal of the program, or a string or truth value turned into a value.
    Value(Value),
    /// A computed number, its unit that of another value.
    Number(f64, Option<ValueId>),
    /// The result of `listValue`: a value that is a list.
    ListValue(List),
    /// The rest are elements of `( list … )` that are not values to Java: touching them is an error.
    RawText(Option<Box<str>>),
    RawBoolean(bool),
    RawList(List),
    RawNull,
}

/// A value that is not the knowledge base's own, or not in every respect.
#[derive(Clone, Debug)]
pub(super) struct Local {
    pub(super) content: Foreign,
    /// The value of the knowledge base that it is when looked up.
    pub(super) known: Option<ValueId>,
    pub(super) ty: LocalType,
}

/// The type of such a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum LocalType {
    Known(TypeId),
    /// One that no value of the knowledge base has.
    Other(Box<str>),
    /// That of the first element of a list, which is looked at when asked for.
    OfFirst,
    None,
}

/// One step.
#[derive(Clone, Copy, Debug)]
pub(super) enum Op {
    Push(Object),
    Call(Function, u32),
    /// Calls something that is not a function: an error once the arguments are there.
    CallOther(u32),
}

/// A form, compiled for one knowledge base.
///
/// A plan made for one knowledge base means nothing to another.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    pub(super) ops: Vec<Op>,
    pub(super) locals: Vec<Local>,
    pub(super) texts: Vec<PlanText>,
    /// Elements of literal lists.
    pub(super) elements: Vec<ValueId>,
    /// What stands in the form where something that can be run should, for messages.
    pub(super) oddities: Vec<Box<str>>,
}

impl KnowledgeBase {
    /// Compiles a form.
    pub fn compile(&self, form: &Form) -> Plan {
        let mut plan = Plan::default();
        self.compile_into(form, &mut plan);
        plan
    }

    /// Compiles a form into an old plan's buffers.
    pub fn compile_into(&self, form: &Form, plan: &mut Plan) {
        plan.ops.clear();
        plan.locals.clear();
        plan.texts.clear();
        plan.elements.clear();
        plan.oddities.clear();
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
        let object = match self.form.node(id) {
            FormNode::Call { function, arguments } => {
                let arguments = self.form.children(arguments);
                for &argument in arguments {
                    self.node(argument);
                }
                let name = match self.form.node(function) {
                    FormNode::Name { id, .. } => self.form.atom(id),
                    _ => None,
                };
                let op = match name.and_then(Function::from_name) {
                    Some(function) => Op::Call(function, arguments.len() as u32),
                    None => Op::CallOther(self.oddity(match name {
                        Some(name) => format!("there is no function {name}"),
                        None => "only a name can be called".to_owned(),
                    })),
                };
                self.plan.ops.push(op);
                return;
            }
            FormNode::Text(atom) => Object::Text(self.text(self.form.atom(atom))),
            FormNode::Boolean(value) => Object::Boolean(value),
            FormNode::List(values) => Object::List(self.list(self.form.children(values))),
            FormNode::Variable(name) => {
                let name = self.form.atom(name).unwrap_or("\\0");
                Object::Form(self.oddity(format!("the variable {name} stands for nothing")))
            }
            FormNode::Lambda { .. } => {
                Object::Form(self.oddity("a lambda is not applied to anything".into()))
            }
            FormNode::Apply { .. } => {
                Object::Form(self.oddity("something that is not a lambda is applied".into()))
            }
            FormNode::Unsupported { keyword, .. } => {
                let keyword = self.form.atom(keyword).unwrap_or_default();
                Object::Form(self.oddity(format!("`{keyword}` forms cannot be run here")))
            }
            FormNode::Name { .. }
            | FormNode::Number { .. }
            | FormNode::Date { .. }
            | FormNode::Time { .. }
            | FormNode::Url(_) => Object::Value(self.value(id)),
        };
        self.plan.ops.push(Op::Push(object));
    }

    fn oddity(&mut self, message: String) -> u32 {
        self.plan.oddities.push(message.into());
        self.plan.oddities.len() as u32 - 1
    }

    fn text(&mut self, text: Option<&str>) -> Text {
        let word = text.map_or(Word::Unknown, Word::new);
        let property = text.and_then(|text| self.world.property(text));
        match property {
            Some(property) if word == Word::Unknown => Text::Property(property),
            None if word != Word::Unknown => Text::Word(word),
            _ => {
                self.plan.texts.push(PlanText { text: text.map(Into::into), word, property });
                Text::Other(self.plan.texts.len() as u32 - 1)
            }
        }
    }

    /// The value at a node: the knowledge base's own if it has it and prints it alike.
    fn value(&mut self, id: NodeId) -> ValueId {
        let node = self.form.node(id);
        let known = match node {
            FormNode::Name { id, .. } => {
                self.form.atom(id).and_then(|name| self.world.names.get(name)).copied()
            }
            FormNode::Number { value, unit } => self.world.find_number(value, number_unit(self.form, unit)),
            FormNode::Date { year, month, day } => self.world.dates.get(&(year, month, day)).copied(),
            FormNode::Time { hour, minute } => self.world.times.get(&(hour, minute)).copied(),
            _ => None,
        };
        match (node, known) {
            (FormNode::Name { description: Some(_), .. }, _) | (_, None) => {}
            (_, Some(known)) => return known,
        }
        let value = Value::from_form(self.form, id).unwrap_or_else(|| Value::name("null"));
        self.local(Foreign::Value(value), known)
    }

    fn local(&mut self, content: Foreign, known: Option<ValueId>) -> ValueId {
        let ty = match &content {
            Foreign::Value(value) => match value.type_name() {
                Some(name) => self.world.local_type(&name),
                None => LocalType::None,
            },
            _ => LocalType::None,
        };
        self.plan.locals.push(Local { content, known, ty });
        self.world.values.len() as ValueId + self.plan.locals.len() as ValueId - 1
    }

    /// A literal list. To Java, strings and truth values in it are not values.
    fn list(&mut self, nodes: &[NodeId]) -> List {
        let elements: Vec<ValueId> = nodes
            .iter()
            .map(|&id| match self.form.node(id) {
                FormNode::Text(atom) => {
                    self.local(Foreign::RawText(self.form.atom(atom).map(Into::into)), None)
                }
                FormNode::Boolean(value) => self.local(Foreign::RawBoolean(value), None),
                FormNode::List(values) => {
                    let list = self.list(self.form.children(values));
                    self.local(Foreign::RawList(list), None)
                }
                _ => self.value(id),
            })
            .collect();
        let start = self.plan.elements.len() as u32;
        self.plan.elements.extend(elements);
        List { start, len: nodes.len() as u32, of_world: false }
    }
}

impl KnowledgeBase {
    pub(super) fn local_type(&self, name: &str) -> LocalType {
        match self.type_ids.get(name) {
            Some(&id) => LocalType::Known(id),
            None => LocalType::Other(name.into()),
        }
    }

    /// The type of numbers without a unit.
    pub(super) fn unitless_type(&self) -> LocalType {
        debug_assert_eq!(&*self.type_names[self.unitless as usize].name, number_type(None));
        LocalType::Known(self.unitless)
    }
}
