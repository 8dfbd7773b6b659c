//! The containers that are open at a byte of the line, and what was read of them.

use std::ops::Range;

/// A value, as far as it is needed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    /// The bytes between a string's quotes.
    Text(Range<usize>),
    Null,
    True,
    Other,
}

/// The members that name a record and its place.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Spans {
    pub(super) record_type: Option<Value>,
    pub(super) uuid: Option<Value>,
    pub(super) parent_uuid: Option<Value>,
    pub(super) id: Option<Value>,
    pub(super) parent_id: Option<Value>,
    pub(super) timestamp: Option<Value>,
    pub(super) session_id: Option<Value>,
    pub(super) is_sidechain: Option<Value>,
}

impl Spans {
    fn member(&mut self, name: &[u8]) -> Option<&mut Option<Value>> {
        Some(match name {
            b"type" => &mut self.record_type,
            b"uuid" => &mut self.uuid,
            b"parentUuid" => &mut self.parent_uuid,
            b"id" => &mut self.id,
            b"parentId" => &mut self.parent_id,
            b"timestamp" => &mut self.timestamp,
            b"sessionId" => &mut self.session_id,
            b"isSidechain" => &mut self.is_sidechain,
            _ => return None,
        })
    }

    /// Whether an object with these members is an entry of a session, wherever it is: blocks of a message, and what
    /// `progress` records contain, have no parent.
    pub(super) fn are_of_an_entry(&self) -> bool {
        let is_text = |value: &Option<Value>| matches!(value, Some(Value::Text(_)));
        is_text(&self.record_type)
            && (is_text(&self.uuid) && self.parent_uuid.is_some()
                || is_text(&self.id) && self.parent_id.is_some())
    }
}

/// An open container.
#[derive(Debug)]
pub(super) struct Frame {
    /// Where it was opened.
    pub(super) start: usize,
    pub(super) is_object: bool,
    /// Whether a value can come here: after a colon, or in an array after its bracket or a comma.
    pub(super) expects_value: bool,
    /// The last string, which is a name if a colon comes next; then the name whose value comes next.
    last_string: Option<Range<usize>>,
    /// Boxed, as hardly any container has such members and a line can have very many open containers.
    spans: Option<Box<Spans>>,
}

impl Frame {
    pub(super) fn new(start: usize, is_object: bool) -> Self {
        Self { start, is_object, expects_value: !is_object, last_string: None, spans: None }
    }

    /// Takes a string, by the bytes between its quotes.
    pub(super) fn string(&mut self, line: &[u8], span: Range<usize>) {
        if self.expects_value {
            self.value(line, Value::Text(span));
        } else {
            self.last_string = Some(span);
        }
    }

    /// Takes any value.
    pub(super) fn value(&mut self, line: &[u8], value: Value) {
        if !std::mem::replace(&mut self.expects_value, false) || !self.is_object {
            return;
        }
        let Some(name) = self.last_string.take() else { return };
        let mut none = Spans::default();
        if none.member(&line[name.clone()]).is_none() {
            return;
        }
        let spans = self.spans.get_or_insert_default();
        if let Some(member) = spans.member(&line[name]) {
            *member = Some(value);
        }
    }

    pub(super) fn colon(&mut self) {
        self.expects_value = self.is_object;
    }

    pub(super) fn comma(&mut self) {
        self.last_string = None;
        self.expects_value = !self.is_object;
    }

    pub(super) fn spans(self) -> Spans {
        self.spans.map(|spans| *spans).unwrap_or_default()
    }
}
