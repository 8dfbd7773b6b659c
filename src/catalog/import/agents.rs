//! Whether a session is an agent's, once its lines are known.

use crate::store::session_record::SessionRecord;

/// Clears the mark of an agent's session, which its first lines may have suggested: an agent's file has no message
/// outside a sidechain, and only all lines show that. A session that is certainly an agent's stays one.
pub(crate) fn settle(record: &mut SessionRecord, is_certain: bool) {
    if record.agent.is_some() && !is_certain && record.last_message.is_some() {
        record.agent = None;
        record.parent_session = None;
    }
}
