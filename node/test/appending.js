// Appends for ever, and prints each id once it is stored.
import fs from 'node:fs'

import { Store } from '../index.js'
import { PiSessionManager } from '../pi/index.js'

const manager = PiSessionManager.create(Store.openSync(process.argv[2]), '/work')
fs.writeSync(1, `${manager.getSessionId()}\n`)
for (let count = 0; ; count++) {
  fs.writeSync(1, `${manager.appendMessage({ role: 'user', content: `${count} `.repeat(100) })}\n`)
}
