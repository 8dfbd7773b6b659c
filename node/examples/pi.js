// node examples/pi.js: pi keeps its sessions in a store.
import { createAgentSession, VERSION } from '@earendil-works/pi-coding-agent'
import { Store } from 'leafline'
import { PiSessionManager } from 'leafline/pi'

const store = await Store.open('sessions.leafline')
const sessionManager = PiSessionManager.continueRecent(store, process.cwd(), { version: VERSION })
const { session } = await createAgentSession({ sessionManager })
await session.prompt('Which job is slowest?')
