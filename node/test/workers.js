// A program whose workers append to one session, as it does itself: given a store, a session and how the workers are begun.
import { fork } from 'node:child_process'
import cluster from 'node:cluster'
import { once } from 'node:events'

import { Store } from '../index.js'

const [, program, file, id, kind] = process.argv
const store = await Store.open(file)
const session = await store.session(id)
const append = () => session.appendMessageSync({ role: 'user', content: `from ${process.pid}` })

if (process.send) {
  const ids = Array.from({ length: 10 }, append)
  await store.close()
  process.send(ids, () => process.exit())
} else {
  const ids = [append(), append()]
  const given = [file, id, kind]
  cluster.setupPrimary({ exec: program, args: given })
  const begin = () => (kind === 'cluster' ? cluster.fork() : fork(program, given))
  const workers = Array.from({ length: 3 }, begin)
  const answers = workers.map((worker) => once(worker, 'message'))
  for (let count = 0; count < 10; count++) {
    ids.push(append())
    await new Promise(setImmediate)
  }
  for (const answer of answers) ids.push(...(await answer)[0])
  ids.push(append())
  console.log(JSON.stringify(ids))
  process.exit()
}
