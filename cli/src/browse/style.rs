//! How things look.

use anstyle::{AnsiColor, Effects};
use ratatui::style::{Color, Modifier, Style};

/// A style of the commands' output as the screen has it.
pub(super) fn of(style: anstyle::Style, colour: bool) -> Style {
    let mut of = Style::new();
    if !colour {
        return of;
    }
    if let Some(anstyle::Color::Ansi(foreground)) = style.get_fg_color() {
        of = of.fg(match foreground {
            AnsiColor::Red => Color::Red,
            AnsiColor::Green => Color::Green,
            AnsiColor::Yellow => Color::Yellow,
            AnsiColor::Cyan => Color::Cyan,
            _ => Color::Reset,
        });
    }
    let effects = style.get_effects();
    if effects.contains(Effects::BOLD) {
        of = of.add_modifier(Modifier::BOLD);
    }
    if effects.contains(Effects::DIMMED) {
        of = of.add_modifier(Modifier::DIM);
    }
    of
}

/// The chosen row.
pub(super) const CHOSEN: Style = Style::new().add_modifier(Modifier::REVERSED);

/// The first and the last row of the screen.
pub(super) const BAR: Style = Style::new().add_modifier(Modifier::REVERSED);

/// A word that was found.
pub(super) fn found(colour: bool) -> Style {
    if colour {
        Style::new().fg(Color::Black).bg(Color::Yellow).remove_modifier(Modifier::DIM)
    } else {
        Style::new().add_modifier(Modifier::UNDERLINED | Modifier::BOLD)
    }
}
