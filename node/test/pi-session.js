// Lets pi make a session of a manager: given its version, its place, and a folder.
import assert from 'node:assert/strict'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

import { Store } from '../index.js'
import { PiSessionManager } from '../pi/index.js'
import { message, textOf } from './scene.js'

const [, , version, place, home] = process.argv
const { createAgentSession } = await import(pathToFileURL(path.join(place, 'dist/index.js')).href)
const store = Store.openSync(path.join(home, 'sessions.leafline'))
const manager = PiSessionManager.create(store, home, { version })
manager.appendThinkingLevelChange('high')
manager.appendMessage(message('user', 'Hello'))
manager.appendMessage(message('assistant', 'Good morning'))
manager.appendSessionInfo('Greeting')
const id = manager.getSessionId()
const again = PiSessionManager.open(store, id, { version })
const { session } = await createAgentSession({ cwd: home, agentDir: path.join(home, 'agent'), sessionManager: again })
assert.equal(session.sessionId, id)
assert.equal(session.messages.filter(({ role }) => role !== 'system').map(textOf).join(), 'Hello,Good morning')
assert.equal(again.getSessionName(), 'Greeting')
const stats = session.getSessionStats()
assert.deepEqual([stats.userMessages, stats.assistantMessages], [1, 1])
session.dispose()
const [listed] = await PiSessionManager.list(store, home)
assert.deepEqual([listed.id, listed.name, listed.firstMessage], [id, 'Greeting', 'Hello'])
assert.match(listed.allMessagesText, /^Hello\s+Good morning/)
store.closeSync()
console.log('as it should be')
process.exit()
