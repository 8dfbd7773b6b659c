//! Files that the user mentioned, and omp read.

use super::super::object::{self, is_truthy};
use super::super::words;
use super::Output;
use crate::scan::Raw;

/// Passes on the files of a `fileMention`: those of text for the model alone, those with images as the user's.
pub(super) fn convert<E>(message: Raw<'_>, out: &mut Output<'_, '_, E>) -> Result<(), E> {
    let [files, time] = message.members(["files", "timestamp"]);
    let files = || files.into_iter().flat_map(Raw::elements);
    let has_image = |file: &Raw<'_>| is_truthy(file.member("image"));
    let images = || files().filter(has_image).filter_map(|file| file.member("image"));
    let texts = in_words(files().filter(|file| !has_image(file)));
    let with_images = in_words(files().filter(has_image));
    for (role, text) in [("developer", texts), ("user", with_images)] {
        let Some(text) = text else { continue };
        let block = object::text_block(&text);
        let images = images().filter(|_| role == "user").map(|image| image.as_str().as_bytes());
        let content = object::list(std::iter::once(&block[..]).chain(images));
        out.made(role, |made| {
            made.json("content", &content).text("attribution", b"user").member("timestamp", time)
        })?;
    }
    Ok(())
}

/// The files with their text; `None` without any.
fn in_words<'a>(files: impl Iterator<Item = Raw<'a>>) -> Option<Vec<u8>> {
    let mut text: Option<Vec<u8>> = None;
    for file in files {
        let [path, content] = file.members(["path", "content"]);
        let text = match &mut text {
            Some(text) => {
                text.push(b'\n');
                text
            }
            None => text.insert(Vec::new()),
        };
        text.extend_from_slice(b"<file path=\"");
        words::push(path, text);
        text.extend_from_slice(b"\">\n");
        if is_truthy(content) {
            words::push(content, text);
            text.push(b'\n');
        }
        text.extend_from_slice(b"</file>");
    }
    text
}
