//! Markdown, as the model writes it, as HTML. HTML in it is text.

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use super::diff;
use super::html::{escape, is_link, open_link};

/// A longer text is shown as it is: nobody reads it, and its structure costs more than it says.
const LONGEST: usize = 1 << 20;

/// Deeper lists and quotations are shown as plain text: a browser nests 512 elements and no more.
const DEEPEST: usize = 32;

/// Appends a text of Markdown.
pub(super) fn write(text: &str, out: &mut String) {
    let options =
        Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    if text.len() > LONGEST || is_too_deep(text, options) {
        return plain(text, out);
    }
    let mut prose = Prose { out, links: Vec::new(), code: None, in_head: false };
    for event in Parser::new_ext(text, options) {
        prose.event(event);
    }
}

/// Appends a text as it is.
pub(super) fn plain(text: &str, out: &mut String) {
    out.push_str("<div class=\"plain\">");
    super::html::linked(text, out);
    out.push_str("</div>");
}

fn is_too_deep(text: &str, options: Options) -> bool {
    let mut depth = 0usize;
    Parser::new_ext(text, options).any(|event| {
        match event {
            Event::Start(_) => depth += 1,
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth > DEEPEST
    })
}

struct Prose<'o> {
    out: &'o mut String,
    /// Of each open link, whether it leads somewhere.
    links: Vec<bool>,
    /// The language and the text of a block of code.
    code: Option<(String, String)>,
    in_head: bool,
}

impl Prose<'_> {
    fn event(&mut self, event: Event<'_>) {
        if let Some((_, code)) = &mut self.code {
            match event {
                Event::Text(text) => return code.push_str(&text),
                Event::End(TagEnd::CodeBlock) => {
                    let (language, code) = self.code.take().unwrap_or_default();
                    return write_code(&code, &language, self.out);
                }
                _ => {}
            }
        }
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => {
                escape(&text, self.out)
            }
            Event::Code(code) | Event::InlineMath(code) | Event::DisplayMath(code) => {
                self.out.push_str("<code>");
                escape(&code, self.out);
                self.out.push_str("</code>");
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>"),
            Event::Rule => self.out.push_str("<hr>"),
            Event::TaskListMarker(done) => self.out.push_str(if done { "☑ " } else { "☐ " }),
            Event::FootnoteReference(name) => escape(&format!("[{name}]"), self.out),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. } => {
                let leads = is_link(&dest_url);
                if leads {
                    open_link(&dest_url, self.out);
                }
                self.links.push(leads);
            }
            Tag::TableHead => {
                self.in_head = true;
                self.out.push_str("<tr>");
            }
            Tag::TableCell => self.out.push_str(if self.in_head { "<th>" } else { "<td>" }),
            Tag::Table(_) => self.out.push_str("<div class=\"wide\"><table>"),
            Tag::List(Some(first)) => self.out.push_str(&format!("<ol start=\"{first}\">")),
            tag => {
                if let Some(name) = element(&tag.to_end()) {
                    self.out.push_str(&format!("<{name}>"));
                }
            }
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Link | TagEnd::Image => {
                if self.links.pop() == Some(true) {
                    self.out.push_str("</a>");
                }
            }
            TagEnd::TableHead => {
                self.in_head = false;
                self.out.push_str("</tr>");
            }
            TagEnd::TableCell => self.out.push_str(if self.in_head { "</th>" } else { "</td>" }),
            TagEnd::Table => self.out.push_str("</table></div>"),
            tag => {
                if let Some(name) = element(&tag) {
                    let is_inline = matches!(name, "em" | "strong" | "s");
                    self.out.push_str(&format!("</{name}>{}", if is_inline { "" } else { "\n" }));
                }
            }
        }
    }
}

/// The element of a tag; headings are below those of the page.
fn element(tag: &TagEnd) -> Option<&'static str> {
    Some(match tag {
        TagEnd::Paragraph => "p",
        TagEnd::Heading(level) => ["h3", "h4", "h5", "h6"][(*level as usize).clamp(1, 4) - 1],
        TagEnd::BlockQuote(_) => "blockquote",
        TagEnd::List(true) => "ol",
        TagEnd::List(false) => "ul",
        TagEnd::Item => "li",
        TagEnd::TableRow => "tr",
        TagEnd::Emphasis => "em",
        TagEnd::Strong => "strong",
        TagEnd::Strikethrough => "s",
        _ => return None,
    })
}

/// Appends a block of code.
pub(super) fn write_code(code: &str, language: &str, out: &mut String) {
    let word: String =
        language.chars().take_while(|letter| letter.is_ascii_alphanumeric()).take(16).collect();
    // A file of another language may have a diff in it.
    let may_be_diff = matches!(&*word, "" | "text" | "txt" | "console" | "output");
    if word == "diff" || word == "patch" || may_be_diff && diff::is_diff(code) {
        return diff::write(code, out);
    }
    out.push_str("<pre class=\"code\"");
    if !word.is_empty() {
        out.push_str(&format!(" data-language=\"{}\"", word.to_ascii_lowercase()));
    }
    out.push_str("><code>");
    escape(code.trim_end_matches('\n'), out);
    out.push_str("</code></pre>\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn html(text: &str) -> String {
        let mut out = String::new();
        write(text, &mut out);
        out
    }

    #[test]
    fn markdown_is_shown_as_what_it_says() {
        assert_eq!(
            html("# A\n\n**b** `c<d`"),
            "<h3>A</h3>\n<p><strong>b</strong> <code>c&lt;d</code></p>\n"
        );
        assert_eq!(
            html("```rust\nfn a() {}\n```"),
            "<pre class=\"code\" data-language=\"rust\"><code>fn a() {}</code></pre>\n"
        );
        assert!(
            html("| a | b |\n| - | - |\n| 1 | 2 |")
                .contains("<th>a</th><th>b</th></tr><tr><td>1</td>")
        );
        assert!(html("[a](https://b.c)").contains("rel=\"noreferrer noopener\""));
    }

    #[test]
    fn hostile_markdown_is_text() {
        for text in [
            "<script>alert(1)</script>",
            "a <img src=x onerror=alert(1)> b",
            "[a](javascript:alert(1))",
            "![a](data:image/svg+xml,<svg onload=alert(1)>)",
            "<https://x.y/\"onmouseover=\"alert(1)>",
            "```\"><script>\nx\n```",
            "[a]: javascript:alert(1)\n\n[a]",
            "&lt;script&gt; &#60;b&#62;",
        ] {
            let html = html(text);
            let tags =
                html.split('<').skip(1).map(|tag| tag.split(['>', ' ']).next().unwrap_or_default());
            for tag in tags {
                let tag = tag.trim_start_matches('/');
                assert!(["p", "a", "pre", "code", "div"].contains(&tag), "{text}: {html}");
            }
            assert!(!html.contains("href=\"javascript") && !html.contains("href=\"data"), "{html}");
            assert!(!html.contains(" onmouseover=\"") && !html.contains("<img"), "{html}");
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_plain() {
        let deep = "> ".repeat(5000) + "x";
        assert!(html(&deep).starts_with("<div class=\"plain\">"));
    }
}
