// Begins a session with one message, says what it got, and ends as it is told: by itself, or when it is killed.
import fs from 'node:fs'

import { Store } from '../index.js'

const [, , file, family, end] = process.argv
const store = Store.openSync(file)
const session = store.createSessionSync({ family, cwd: '/work' })
const entry = session.appendMessageSync({ role: 'user', content: 'Hello' })
const branch = family === 'opal' ? null : session.extractSync(entry).id
const acknowledged = JSON.stringify({ session: session.id, entry, branch })
if (end === 'close') store.closeSync()
fs.writeSync(1, acknowledged)
process.stdin.resume()
