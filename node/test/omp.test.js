// The real omp over `leafline/omp`. Guards against a file that has other bytes than omp's own storage would have given it, an
// error that omp does not know, and a line that was acknowledged and is lost.
//
// `LEAFLINE_OMP_SEEDS=200 node --test test/omp.test.js` plays more of them.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import test from 'node:test'
import { promisify } from 'node:util'

import { installed } from '../../tests/judges/pins.mjs'
import { Store } from '../index.js'
import { LeaflineSessionStorage, SessionWriteConflictError } from '../omp/index.js'
import { titleLine } from '../omp/title-line.js'
import { crash, folder } from './scene.js'

const run = promisify(execFile)
const omp = process.env.LEAFLINE_OMP || installed('omp').package
const bun = path.join(omp, '../../.bin/bun')
const isThere = fs.existsSync(bun) && fs.existsSync(path.join(omp, 'package.json'))
const skip = isThere || process.env.LEAFLINE_REQUIRE_OMP ? false : 'omp is not installed'
const env = { ...process.env, LEAFLINE_OMP: omp }
const program = (name) => path.join(import.meta.dirname, 'omp', name)

const entry = (id) => `{"type":"custom","customType":"c","data":{},"id":"${id}","parentId":null}\n`
const header = '{"type":"session","version":3,"id":"s1","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}\n'

function storageOf(t) {
  const store = Store.inMemory()
  t.after(() => store.closeSync())
  return { store, storage: new LeaflineSessionStorage(store) }
}

test('a file is what was written, and a session of the store', async (t) => {
  const { store, storage } = storageOf(t)
  const file = '/sessions/a.jsonl'
  storage.writeTextSync(file, titleLine({ updatedAt: '2026-02-16T10:20:30.000Z' }) + header)
  const writer = storage.openWriter(file)
  writer.appendSync(entry('a1'))
  await storage.updateSessionTitle(file, { title: 'Tide clock', source: 'user', updatedAt: '2026-02-16T10:20:31.000Z' })
  const text = await storage.readText(file)
  assert.equal(text, titleLine({ title: 'Tide clock', source: 'user', updatedAt: '2026-02-16T10:20:31.000Z' }) + header + entry('a1'))
  assert.deepEqual(await storage.readTextSlices(file, 20, 12), [text.slice(0, 20), text.slice(-12)])
  assert.equal(storage.statSync(file).size, text.length)
  assert.equal(storage.sessionId(file), 's1')
  const [facts] = store.sessionsSync()
  assert.deepEqual([facts.id, facts.title, facts.entries], ['s1', 'Tide clock', 1])
  await writer.close()
  assert.throws(() => writer.appendSync('x\n'), /closed/)
})

test('an answer is found anywhere in a file', async (t) => {
  const { storage } = storageOf(t)
  const file = '/sessions/a.jsonl'
  const answer = '{"type" : "message","message":{"role" : "assistant","content":[]},"id":"m","parentId":null}'
  storage.writeTextSync(file, `${header}${entry('a1')}${answer.slice(0, -1)}\n${entry('a2')}`)
  assert.equal(await storage.hasAssistantTurn(file), false)
  storage.writeTextSync(file, `${header}${entry('a1')}${answer}\n${entry('a2')}`)
  assert.equal(await storage.hasAssistantTurn(file), true)
  await assert.rejects(storage.hasAssistantTurn('/sessions/none.jsonl'), { code: 'ENOENT' })
})

test('a title line has 256 bytes, whatever the title', () => {
  for (const title of [undefined, '', 'Tide', 'é'.repeat(500), '🙂'.repeat(90), '"'.repeat(200)]) {
    const line = titleLine({ title, source: 'auto', updatedAt: '2026-02-16T10:20:30.000Z' })
    assert.equal(Buffer.byteLength(line), 256)
    assert.ok((title ?? '').startsWith(JSON.parse(line).title))
  }
})

test('errors are those of files', async (t) => {
  const { storage } = storageOf(t)
  const missing = { code: 'ENOENT', path: '/sessions/none.jsonl' }
  await assert.rejects(storage.readText('/sessions/none.jsonl'), { ...missing, syscall: 'open' })
  await assert.rejects(storage.unlink('/sessions/none.jsonl'), { ...missing, syscall: 'unlink' })
  assert.throws(() => storage.statSync('/sessions/none.jsonl'), { ...missing, syscall: 'stat' })
  storage.writeTextSync('/sessions/a.jsonl', header)
  const conflict = { name: 'SessionWriteConflictError', expectedSize: null, actualSize: header.length, path: '/sessions/a.jsonl' }
  assert.throws(() => storage.writeTextSync('/sessions/a.jsonl', '', { expectedSize: null }), conflict)
  await assert.rejects(storage.writeTextAtomic('/sessions/b.jsonl', '', { expectedSize: 7 }), SessionWriteConflictError)
  await storage.writeTextAtomic('/sessions/a.jsonl', 'never', { commitGuard: () => false })
  assert.equal(await storage.readText('/sessions/a.jsonl'), header)
  assert.throws(() => storage.writeTextSync('/sessions/a.jsonl/b', ''), { code: 'ENOTDIR' })
})

test('a session is deleted on what it is, with what is beside it', async (t) => {
  const { store, storage } = storageOf(t)
  storage.writeTextSync('/sessions/a.jsonl', header)
  await storage.writeText('/sessions/a/draft.txt', 'a draft')
  assert.equal(await storage.deleteSessionWithArtifactsIf('/sessions/a.jsonl', (text) => text !== header), false)
  await assert.rejects(
    storage.deleteSessionWithArtifactsIf('/sessions/a.jsonl', () => {
      throw new TypeError('no')
    }),
    TypeError,
  )
  assert.equal(await storage.deleteSessionWithArtifactsIf('/sessions/a.jsonl', (text) => text === header), true)
  assert.deepEqual([storage.existsSync('/sessions/a/draft.txt'), store.sessionsSync().length], [false, 0])
})

test('omp writes and reads the same over its own storage and over ours', { skip }, async () => {
  const seeds = Number(process.env.LEAFLINE_OMP_SEEDS ?? 3)
  for (let seed = 1; seed <= seeds; seed++) {
    const { stdout } = await run(bun, [program('compare.js'), `${seed}`, '70'], { env, maxBuffer: 1 << 26 }).catch((failure) => {
      throw new Error(`${failure.stdout}\n${failure.stderr}`)
    })
    const said = JSON.parse(stdout.trim().split('\n').at(-1))
    assert.equal(said.differences, 0, stdout)
  }
})

test('nothing that omp was told is written is lost when it is killed', { skip }, async (t) => {
  const place = folder(t)
  const [store, sessions] = [path.join(place, 'store.leafline'), path.join(place, 'sessions')]
  for (const lines of [4, 60, 200]) {
    const printed = await crash(program('append.js'), [store, sessions], lines, { runner: bun, env })
    const said = printed.trim().split('\n').map((line) => JSON.parse(line))
    const { file } = said[0]
    const opened = Store.openSync(store)
    const text = await new LeaflineSessionStorage(opened).readText(file)
    const there = new Set(text.trim().split('\n').map((line) => JSON.parse(line).id))
    for (const { id } of said.slice(1)) assert.ok(there.has(id), `${id} is lost`)
    assert.ok(said.length >= lines)
    opened.closeSync()
  }
})
