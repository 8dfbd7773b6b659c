//! The beginning and the end of a session's bytes, without what is between them.

use super::export::current_bytes;
use super::view::View;
use crate::error::Result;
use crate::store::ordinal::Ordinal;

/// The first bytes of a session, as it is exported: so many, or all if there are fewer.
pub(crate) fn head(view: View<'_>, bytes: u64) -> Result<Vec<u8>> {
    let most = usize::try_from(bytes).unwrap_or(usize::MAX);
    let mut head = Vec::new();
    if view.record().rewritten {
        current_bytes(view, &mut |piece| {
            head.extend_from_slice(piece);
            Ok(head.len() < most)
        })?;
    } else {
        let mut next = Some(Ordinal::FIRST);
        while let Some(ordinal) = next.filter(|next| next.is_within(view.record().lines))
            && head.len() < most
        {
            head.extend_from_slice(view.entry(ordinal)?.line());
            next = ordinal.next();
        }
    }
    head.truncate(most);
    Ok(head)
}

/// The last bytes of a session, as it is exported: so many, or all if there are fewer.
pub(crate) fn tail(view: View<'_>, bytes: u64) -> Result<Vec<u8>> {
    let most = usize::try_from(bytes).unwrap_or(usize::MAX);
    if view.record().rewritten {
        let mut tail = Vec::new();
        current_bytes(view, &mut |piece| {
            tail.extend_from_slice(piece);
            tail.drain(..tail.len().saturating_sub(most));
            Ok(true)
        })?;
        return Ok(tail);
    }
    let (mut lines, mut length) = (Vec::new(), 0);
    let mut next = Ordinal::last_of(view.record().lines);
    while let Some(ordinal) = next.filter(|_| length < most) {
        let line = view.entry(ordinal)?.line().to_vec();
        length += line.len();
        lines.push(line);
        next = ordinal.previous();
    }
    lines.reverse();
    let mut tail = lines.concat();
    tail.drain(..length.saturating_sub(most));
    Ok(tail)
}
