// Appends to a session of omp's over a store until it is killed, and says what was acknowledged. Run by bun:
//
//   bun node/test/omp/append.js STORE FOLDER
import { join } from 'node:path'

const [place, folder] = process.argv.splice(2)
const { SessionManager } = await import('../../../tests/omp-judge/omp.mjs')
const { Store } = await import('../../index.js')
const { LeaflineSessionStorage } = await import('../../omp/index.js')

const manager = SessionManager.create('/work', folder, new LeaflineSessionStorage(Store.openSync(place)))
const say = (value) => process.stdout.write(`${JSON.stringify(value)}\n`)
manager.appendMessage({ role: 'assistant', content: [{ type: 'text', text: 'Hello' }], provider: 'p', model: 'm', timestamp: 1 })
say({ file: manager.getSessionFile() })
for (let number = 0; ; number++) {
  say({ id: manager.appendMessage({ role: 'user', content: `${number}`, timestamp: 2 }) })
  if (number % 50 === 49) await manager.setSessionName(`Title ${number}`, 'user')
  if (number % 90 === 89) await manager.rewriteEntries()
  // The pipe is written between the turns.
  if (number % 5 === 0) await Bun.sleep(0)
}
