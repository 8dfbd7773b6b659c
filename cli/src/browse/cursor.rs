//! Which row of a list is chosen, and which ones are shown.

/// The chosen row, and the first one that is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) at: usize,
    pub(super) top: usize,
}

impl Cursor {
    /// Goes so many rows on, or back.
    pub(super) fn go(&mut self, by: isize) {
        self.at = self.at.saturating_add_signed(by);
    }

    /// Goes to a row, and keeps it where the chosen one was on the screen.
    pub(super) fn put(&mut self, at: usize) {
        let offset = self.at.saturating_sub(self.top);
        *self = Self { at, top: at.saturating_sub(offset) };
    }

    /// Follows rows that were put before all others, or taken away there.
    pub(super) fn shift(&mut self, by: isize) {
        self.at = self.at.saturating_add_signed(by);
        self.top = self.top.saturating_add_signed(by);
    }

    /// Brings both into the list, and the chosen row onto the screen of so many rows.
    pub(super) fn fit(&mut self, rows: usize, height: usize) {
        self.at = self.at.min(rows.saturating_sub(1));
        let height = height.max(1);
        self.top = self.top.min(self.at).max((self.at + 1).saturating_sub(height));
        // Nothing is left free below the last row that rows above it could fill.
        self.top = self.top.min(rows.saturating_sub(height));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chosen_row_stays_on_the_screen() {
        let mut cursor = Cursor::default();
        cursor.go(-1);
        cursor.fit(100, 10);
        assert_eq!(cursor, Cursor { at: 0, top: 0 });
        cursor.go(15);
        cursor.fit(100, 10);
        assert_eq!(cursor, Cursor { at: 15, top: 6 });
        cursor.go(-5);
        cursor.fit(100, 10);
        assert_eq!(cursor, Cursor { at: 10, top: 6 });
        cursor.put(50);
        cursor.fit(100, 10);
        assert_eq!(cursor, Cursor { at: 50, top: 46 });
        cursor.go(1000);
        cursor.fit(100, 10);
        assert_eq!(cursor, Cursor { at: 99, top: 90 });
        cursor.fit(3, 10);
        assert_eq!(cursor, Cursor { at: 2, top: 0 });
        cursor.fit(0, 0);
        assert_eq!(cursor, Cursor { at: 0, top: 0 });
    }

    #[test]
    fn rows_that_come_before_move_nothing_on_the_screen() {
        let mut cursor = Cursor { at: 5, top: 2 };
        cursor.shift(100);
        assert_eq!(cursor, Cursor { at: 105, top: 102 });
        cursor.shift(-100);
        assert_eq!(cursor, Cursor { at: 5, top: 2 });
    }
}
