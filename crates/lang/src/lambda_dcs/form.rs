//! Logical forms: the tree of any text that SEMPRE accepts, with its lambdas applied.

use super::function::{CLASS, SHORT_CLASS};
use super::{reader, reduce};
use crate::SyntaxError;
use std::fmt;

#[cfg(test)]
mod tests;

/// Identifies a node of one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(pub(super) u32);

/// Identifies a word of one form's text. Like SEMPRE's words it can be null (`\0`); see [`Form::atom`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atom {
    pub(super) start: u32,
    pub(super) len: u32,
}

impl Atom {
    pub(super) const NULL: Atom = Atom { start: u32::MAX, len: 0 };
}

/// Identifies consecutive nodes of one form; see [`Form::children`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Children {
    pub(super) start: u32,
    pub(super) len: u32,
}

/// The content of a node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FormNode {
    /// An entity, a type or a function: `en.person.alice`, `( name en.person.alice description )`.
    Name {
        /// The identifier.
        id: Atom,
        /// A description, which is printed but is not part of the identity.
        description: Option<Atom>,
    },
    /// `( string start_time )`
    Text(Atom),
    /// `( number 3 en.inch )`
    Number {
        /// The number.
        value: f64,
        /// The unit, if there is one.
        unit: Option<Atom>,
    },
    /// `( boolean true )`
    Boolean(bool),
    /// `( date 2015 1 2 )`, with −1 for an unknown field.
    Date {
        /// The year.
        year: i32,
        /// The month.
        month: i32,
        /// The day.
        day: i32,
    },
    /// `( time 10 0 )`
    Time {
        /// The hour.
        hour: i32,
        /// The minute.
        minute: i32,
    },
    /// `( url … )`
    Url(Atom),
    /// `( list ( number 1 ) ( number 2 ) )`
    List(Children),
    /// `( call function argument … )`
    Call {
        /// The function, usually a name.
        function: NodeId,
        /// The arguments.
        arguments: Children,
    },
    /// `( var x )`. After reduction, `x` is a variable that no applied lambda binds.
    Variable(Atom),
    /// `( lambda x body )`. After reduction, this is a lambda that is not applied.
    Lambda {
        /// The bound variable.
        variable: Atom,
        /// The body.
        body: NodeId,
    },
    /// `( function argument )`. After reduction, the function is not a lambda.
    Apply {
        /// The function.
        function: NodeId,
        /// The argument.
        argument: NodeId,
    },
    /// A form of general lambda-DCS that Overnight cannot run: `( and … )`, `( argmax … )`.
    Unsupported {
        /// The first word.
        keyword: Atom,
        /// The forms after it.
        arguments: Children,
    },
}

/// A logical form with its lambdas applied.
///
/// Nodes live in one arena and share the text they were read from. [`Form::parse_into`] reuses the
/// buffers of an old form, so it allocates nothing once they are large enough.
#[derive(Clone, Default)]
pub struct Form {
    /// The source, followed by the words that differ from their spelling in the source.
    pub(super) text: String,
    pub(super) nodes: Vec<FormNode>,
    pub(super) children: Vec<NodeId>,
    pub(super) root: Option<NodeId>,
    /// A buffer of the reader: the words and brackets of the source.
    pub(super) tape: Vec<reader::TapeToken>,
    /// A buffer of the reader and of reduction: children of nodes that are not complete.
    pub(super) pending: Vec<NodeId>,
}

impl Form {
    /// Reads the first form of `text`. Like SEMPRE, it ignores the rest of the text.
    ///
    /// # Errors
    /// Errors if the text is malformed, or exceeds a limit of this module.
    pub fn parse(text: &str) -> Result<Form, SyntaxError> {
        let mut form = Form::default();
        form.parse_into(text)?;
        Ok(form)
    }

    /// Does what [`Form::parse`] does, but reuses the buffers of this form. After an error, the form is
    /// empty.
    ///
    /// # Errors
    /// Errors in the same cases as [`Form::parse`].
    pub fn parse_into(&mut self, text: &str) -> Result<(), SyntaxError> {
        self.root = None;
        let root = reader::read(self, text)?;
        self.root = Some(reduce::reduce(self, root)?);
        Ok(())
    }

    /// Returns a form that is called: a name is abbreviated.
    pub(super) fn as_function(&mut self, node: NodeId) -> NodeId {
        let FormNode::Name { id, description } = self.node(node) else { return node };
        let id = self.function_name(id);
        self.push(FormNode::Name { id, description })
    }

    /// Expands `SW.` at the start of a name to the class it abbreviates.
    pub(super) fn full_name(&mut self, atom: Atom) -> Atom {
        self.replace_prefix(atom, SHORT_CLASS, CLASS)
    }

    /// Abbreviates the class of a function, which is the canonical spelling.
    pub(super) fn function_name(&mut self, atom: Atom) -> Atom {
        self.replace_prefix(atom, CLASS, SHORT_CLASS)
    }

    fn replace_prefix(&mut self, atom: Atom, old: &str, new: &str) -> Atom {
        match self.atom(atom).and_then(|word| word.strip_prefix(old)) {
            Some(rest) => {
                let rest = rest.to_owned();
                self.append(new, &rest)
            }
            None => atom,
        }
    }

    /// Appends a word that the source does not contain.
    pub(super) fn append(&mut self, first: &str, second: &str) -> Atom {
        let start = self.text.len() as u32;
        self.text.push_str(first);
        self.text.push_str(second);
        Atom { start, len: self.text.len() as u32 - start }
    }

    /// Returns the root; none if the form is empty.
    pub fn root(&self) -> Option<NodeId> {
        self.root
    }

    /// Returns the content of a node.
    pub fn node(&self, id: NodeId) -> FormNode {
        self.nodes[id.0 as usize]
    }

    /// Returns the nodes that `children` identifies.
    pub fn children(&self, children: Children) -> &[NodeId] {
        &self.children[children.start as usize..][..children.len as usize]
    }

    /// Returns the text of a word; none if the word is null.
    pub fn atom(&self, atom: Atom) -> Option<&str> {
        (atom != Atom::NULL).then(|| &self.text[atom.start as usize..][..atom.len as usize])
    }

    pub(super) fn push(&mut self, node: FormNode) -> NodeId {
        self.nodes.push(node);
        NodeId(self.nodes.len() as u32 - 1)
    }
}

impl fmt::Debug for Form {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Form({self})")
    }
}

/// Two forms are equal if their canonical texts are equal.
impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.to_string() == other.to_string()
    }
}
