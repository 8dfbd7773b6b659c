//! From text to [`Document`], in one walk.

use crate::ecma::arrange::arrange;
use crate::ecma::dialect::{Dialect, ECMASCRIPT};
use crate::ecma::document::{Child, Document, Name, Node, NodeKind};
use crate::grammar::{self, Container, Malformed, Scalar, StringToken, Visitor};

pub(super) fn build<'a>(
    text: &'a str,
    dialect: &'static Dialect,
) -> Result<Document<'a>, Malformed> {
    let mut builder = Builder::new(text, dialect, Memory::default());
    grammar::walk(text, &mut Vec::new(), &mut builder)?;
    Ok(builder.document)
}

/// What a document was built in, for the next one.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    nodes: Vec<Node>,
    children: Vec<Child>,
    open: Vec<Open>,
    pending: Vec<Child>,
}

/// Builds the document of one value of a text from the parts of that value, in order.
pub(crate) struct Builder<'a> {
    document: Document<'a>,
    open: Vec<Open>,
    /// The children found so far of all open containers, those of the innermost last.
    pending: Vec<Child>,
    name: Name,
}

/// A container whose end has not been reached.
#[derive(Debug)]
struct Open {
    node: usize,
    name: Name,
    first_pending: usize,
}

impl<'a> Builder<'a> {
    pub(super) fn new(text: &'a str, dialect: &'static Dialect, memory: Memory) -> Self {
        let Memory { nodes, children, open, pending } = memory;
        let document = Document { text, dialect, nodes, children, root: 0 };
        let mut builder = Self { document, open, pending, name: Name::Absent };
        builder.clear();
        builder
    }

    /// For a value that will be written as ECMAScript writes it.
    pub(crate) fn of_ecmascript(text: &'a str, memory: Memory) -> Self {
        Self::new(text, &ECMASCRIPT, memory)
    }

    /// Forgets what was built.
    pub(crate) fn clear(&mut self) {
        self.document.nodes.clear();
        self.document.children.clear();
        self.open.clear();
        self.pending.clear();
        self.name = Name::Absent;
    }

    /// What was built; `None` before the first part.
    pub(crate) fn document(&mut self) -> Option<&mut Document<'a>> {
        Some(&mut self.document).filter(|document| !document.nodes.is_empty())
    }

    /// The memory, for another value.
    pub(crate) fn into_memory(self) -> Memory {
        let Document { nodes, children, .. } = self.document;
        Memory { nodes, children, open: self.open, pending: self.pending }
    }

    fn push(&mut self, start: usize, end: usize, kind: NodeKind) -> usize {
        let node = self.document.nodes.len();
        self.document.nodes.push(Node { start, end, kind });
        node
    }

    fn value(&mut self, start: usize, end: usize, kind: NodeKind) {
        let node = self.push(start, end, kind);
        let name = std::mem::replace(&mut self.name, Name::Absent);
        self.pending.push(Child { name, node });
    }
}

impl Visitor for Builder<'_> {
    fn open(&mut self, _: Container, start: usize) {
        let node = self.push(start, start, NodeKind::Literal);
        self.open.push(Open {
            node,
            name: std::mem::replace(&mut self.name, Name::Absent),
            first_pending: self.pending.len(),
        });
    }

    fn close(&mut self, container: Container, end: usize) {
        let open = self.open.pop().expect("the grammar closes only what it has opened");
        if container == Container::Object {
            let Document { text, dialect, .. } = self.document;
            arrange(dialect.order, text, &mut self.pending, open.first_pending);
        }
        let children = &mut self.document.children;
        let first = children.len();
        children.extend(self.pending.drain(open.first_pending..));
        let last = children.len();
        let node = &mut self.document.nodes[open.node];
        node.end = end;
        node.kind = match container {
            Container::Object => NodeKind::Object(first, last),
            Container::Array => NodeKind::Array(first, last),
        };
        self.pending.push(Child { name: open.name, node: open.node });
    }

    fn key(&mut self, token: StringToken) {
        self.name = Name::Written(token);
    }

    fn string(&mut self, token: StringToken) {
        self.value(token.start - 1, token.end + 1, NodeKind::String(token));
    }

    fn scalar(&mut self, scalar: Scalar, start: usize, end: usize) {
        let kind = match scalar {
            Scalar::Number => NodeKind::Number,
            Scalar::Literal => NodeKind::Literal,
        };
        self.value(start, end, kind);
    }
}
