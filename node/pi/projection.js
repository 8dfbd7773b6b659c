// What an entry gives to a context, as pi's `projectContextEntry` has it (pi 1.x).

/**
 * The messages of an entry, as its last edit in the context changes them; none for entries that are not part of contexts.
 * A session manager does the same for all entries of a context at once: `buildSessionProjection`.
 * @param {import('./index.js').PiEntry} entry
 * @param {import('./index.js').PiEntry} [edit]
 * @returns {any[]}
 */
export function projectContextEntry(entry, edit) {
  const messages = messagesOf(entry)
  if (!edit) return messages
  const { replacement } = edit
  if (replacement === null) return []
  return messages.map((message) => {
    if (!['user', 'assistant', 'toolResult', 'custom'].includes(message.role)) return message
    const inBlocks = message.role === 'assistant' || message.role === 'toolResult'
    const isText = inBlocks && typeof replacement.content === 'string'
    return { ...message, content: isText ? [{ type: 'text', text: replacement.content }] : replacement.content }
  })
}

/** @param {import('./index.js').PiEntry} entry @returns {any[]} */
function messagesOf(entry) {
  const timestamp = new Date(entry.timestamp).getTime()
  switch (entry.type) {
    case 'message': {
      const { message } = entry
      if (message.content != null) return [message]
      if (message.role === 'system') return [{ ...message, content: '' }]
      const hasBlocks = ['user', 'assistant', 'toolResult'].includes(message.role)
      return [hasBlocks ? { ...message, content: [] } : message]
    }
    case 'custom_message': {
      const { customType, content, display, details } = entry
      return [{ role: 'custom', customType, content: content ?? [], display, details, timestamp }]
    }
    case 'branch_summary': {
      const { summary, fromId } = entry
      return summary ? [{ role: 'branchSummary', summary, fromId, timestamp }] : []
    }
    case 'compaction': {
      const { summary, tokensBefore, systemMessage } = entry
      const message = { role: 'compactionSummary', summary, tokensBefore, timestamp }
      return systemMessage ? [systemMessage, message] : [message]
    }
    default:
      return []
  }
}
