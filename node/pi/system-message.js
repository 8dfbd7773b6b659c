// The system message that a compaction keeps.

/** @param {any} content */
function textOf(content) {
  if (typeof content === 'string') return content
  return content.filter((/** @type {any} */ block) => block.type === 'text').map((/** @type {any} */ block) => block.text).join('\n')
}

/**
 * The system messages of a context as one: texts one after the other, sections and tools as the later ones change them.
 * `undefined` if there is nothing in them.
 * @param {any[]} messages
 */
export function currentSystemMessage(messages) {
  const all = messages.filter((message) => message.role === 'system')
  const sections = new Map()
  const tools = new Map()
  for (const message of all) {
    for (const [name, value] of Object.entries(message.sections ?? {})) {
      if (value === null) sections.delete(name)
      else sections.set(name, value)
    }
    for (const { name } of message.toolsRemoved ?? []) tools.delete(name)
    for (const tool of message.toolsAdded ?? []) tools.set(tool.name, tool)
  }
  const timestamp = all.find((message) => message.timestamp != null)?.timestamp
  if (timestamp === undefined && tools.size === 0) return undefined
  return {
    role: 'system',
    content: all.map((message) => textOf(message.content)).filter((text) => text.length > 0).join('\n\n'),
    ...(sections.size > 0 ? { sections: Object.fromEntries(sections) } : {}),
    ...(tools.size > 0 ? { toolsAdded: [...tools.values()] } : {}),
    timestamp: timestamp ?? 0,
  }
}
