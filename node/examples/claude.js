// node examples/claude.js: Claude's agent kit keeps its sessions in a store.
import { foldSessionSummary, query } from '@anthropic-ai/claude-agent-sdk'
import { Store } from 'leafline'
import { ClaudeSessionStore } from 'leafline/claude'

const store = await Store.open('sessions.leafline')
const sessionStore = new ClaudeSessionStore(store, { foldSessionSummary })
for await (const message of query({ prompt: 'Which job is slowest?', options: { sessionStore } })) console.log(message.type)
await store.close()
