//! Two visitors in one walk.

use super::{Container, Scalar, StringToken, Visitor};

/// Passes each part of the text to two visitors, the first one first.
pub(crate) struct Both<'v, A, B> {
    pub(crate) first: &'v mut A,
    pub(crate) second: &'v mut B,
}

impl<A: Visitor, B: Visitor> Visitor for Both<'_, A, B> {
    #[inline(always)]
    fn open(&mut self, container: Container, start: usize) {
        self.first.open(container, start);
        self.second.open(container, start);
    }

    #[inline(always)]
    fn close(&mut self, container: Container, end: usize) {
        self.first.close(container, end);
        self.second.close(container, end);
    }

    #[inline(always)]
    fn key(&mut self, token: StringToken) {
        self.first.key(token);
        self.second.key(token);
    }

    #[inline(always)]
    fn string(&mut self, token: StringToken) {
        self.first.string(token);
        self.second.string(token);
    }

    #[inline(always)]
    fn scalar(&mut self, scalar: Scalar, start: usize, end: usize) {
        self.first.scalar(scalar, start, end);
        self.second.scalar(scalar, start, end);
    }
}
