// node examples/tour.js: a session is begun, branched, read and found.
import { Store } from 'leafline'

const store = await Store.open(process.argv[2] ?? 'sessions.leafline')
const session = await store.createSession({ family: 'pi', cwd: '/work/tide-clock' })
const [question] = await session.append({ type: 'message', message: { role: 'user', content: 'Which job is slowest?' } })
await session.append({
  type: 'message',
  message: { role: 'assistant', content: [{ type: 'text', text: '`moon-phase`, at 41 ms.' }], provider: 'anthropic', model: 'claude-opus-4-5' },
})
await session.branch(question)
await session.appendMessage({ role: 'user', content: 'Try it under load.' })

const reader = await session.reader()
const { messages } = await reader.context()
for (const { role, content } of messages) console.log(`${role}: ${content}`)
const { branches, nodes } = await reader.tree()
console.log(`${nodes.length} entries, ${branches} branches`)
for (const hit of await store.search('moon')) console.log(`${hit.role}: ${hit.snippet}`)
try {
  await reader.entry('none')
} catch (error) {
  console.log(error.code)
}
await store.close()
