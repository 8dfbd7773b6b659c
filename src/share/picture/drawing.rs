//! A drawing in SVG: texts, bars and lines, without a script or a style of their own.

use std::fmt::Write;

use super::super::html::escape;

/// The width of each drawing; a page or a window may show it smaller.
pub(super) const WIDTH: f64 = 720.0;

/// A part of a picture.
#[derive(Debug, Default)]
pub(in crate::share) struct Drawing {
    /// What it shows, for those who do not see it.
    pub(super) title: String,
    pub(super) height: f64,
    body: String,
}

/// Where a text is written from.
#[derive(Debug, Clone, Copy)]
pub(super) enum Anchor {
    Start,
    End,
}

impl Drawing {
    /// An empty one under its title.
    pub(super) fn new(title: &str, remark: &str) -> Self {
        let mut drawing = Self { title: title.to_owned(), height: 34.0, body: String::new() };
        drawing.text((0.0, 16.0), Anchor::Start, "head", title);
        drawing.text((WIDTH, 16.0), Anchor::End, "faint", remark);
        drawing
    }

    pub(super) fn text(&mut self, (x, y): (f64, f64), anchor: Anchor, class: &str, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "",
            Anchor::End => " text-anchor=\"end\"",
        };
        let text = in_xml(text);
        self.put(format_args!(
            "<text class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\"{anchor}>{text}</text>\n"
        ));
    }

    /// A bar, and what it says when it is pointed at.
    pub(super) fn bar(
        &mut self,
        (x, y): (f64, f64),
        (width, height): (f64, f64),
        class: &str,
        says: &str,
    ) {
        let says = if says.is_empty() {
            String::new()
        } else {
            format!("<title>{}</title>", in_xml(says))
        };
        self.put(format_args!(
            "<rect class=\"{class}\" x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{height:.1}\">{says}</rect>\n"
        ));
    }

    /// A line through points that a path of SVG names.
    pub(super) fn path(&mut self, class: &str, path: &str, says: &str) {
        let says = in_xml(says);
        self.put(format_args!(
            "<path class=\"{class}\" d=\"{path}\"><title>{says}</title></path>\n"
        ));
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), class: &str, says: &str) {
        let says = in_xml(says);
        self.put(format_args!(
            "<circle class=\"{class}\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"><title>{says}</title></circle>\n"
        ));
    }

    fn put(&mut self, markup: std::fmt::Arguments<'_>) {
        // A string takes whatever is written.
        let _ = self.body.write_fmt(markup);
    }

    /// As an element of a page of HTML.
    pub(in crate::share) fn in_page(&self) -> String {
        format!(
            "<svg class=\"picture\" viewBox=\"0 0 {WIDTH} {:.0}\" role=\"img\" aria-label=\"{}\">\n{}</svg>\n",
            self.height,
            in_xml(&self.title),
            self.body
        )
    }

    /// As a group of a larger drawing, so far down.
    pub(super) fn at(&self, x: f64, y: f64) -> String {
        format!("<g transform=\"translate({x:.0} {y:.0})\">\n{}</g>\n", self.body)
    }
}

/// A text in XML and in HTML. Of characters that XML cannot have, U+FFFD remains.
pub(super) fn in_xml(text: &str) -> String {
    let allowed = |character: char| match character {
        '\t' | '\n' | '\r' => ' ',
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
        other => other,
    };
    let text: String = text.chars().map(allowed).collect();
    let mut out = String::new();
    escape(&text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_text_in_xml() {
        assert_eq!(
            in_xml("<a&\"'\u{0}\u{1}\u{ffff}\n"),
            "&lt;a&amp;&quot;&#39;\u{fffd}\u{fffd}\u{fffd} "
        );
    }
}
