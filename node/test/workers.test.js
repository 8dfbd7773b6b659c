// Workers of `cluster` and `child_process`: new processes, which inherit no store and open their own.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import path from 'node:path'
import { test } from 'node:test'

import { Store } from '../index.js'
import { folder } from './scene.js'

for (const kind of ['cluster', 'child_process']) {
  test(`workers of ${kind} and their parent append to one session`, async (t) => {
    const file = path.join(folder(t), 'sessions.leafline')
    const store = await Store.open(file)
    const { id } = await store.createSession({ family: 'pi', cwd: '/work' })
    const program = path.join(import.meta.dirname, 'workers.js')
    const run = spawnSync(process.execPath, [program, file, id, kind], { encoding: 'utf8', timeout: 60_000 })
    assert.equal(run.status, 0, run.stderr)
    const acknowledged = JSON.parse(run.stdout)
    assert.equal(acknowledged.length, 43)
    const reader = (await store.session(id)).readerSync()
    const there = reader.treeSync().nodes.map((node) => node.id)
    assert.deepEqual([...acknowledged].sort(), there.sort())
    await store.close()
  })
}
