// The package's own calls: what each gives, and with which code it fails.
import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

import { Cancellation, Store } from '../index.js'
import { folder, samples } from './scene.js'

const user = (text) => ({ type: 'message', message: { role: 'user', content: text } })
const assistant = (text) => ({
  type: 'message',
  message: { role: 'assistant', content: [{ type: 'text', text }], provider: 'anthropic', model: 'm' },
})

test('a session is begun, appended to, read and found again', async (t) => {
  const file = path.join(folder(t), 'sessions.leafline')
  const store = await Store.open(file)
  const session = await store.createSession({ family: 'pi', cwd: '/work' })
  const [question] = await session.append(user('Why is the build slow?'))
  const [answer, change] = session.appendSync([assistant('It links twice.'), { type: 'model_change', provider: 'p', modelId: 'm' }])

  const reader = await session.reader()
  const found = await reader.entry(answer)
  assert.equal(found.parentId, question)
  assert.equal(found.role, 'assistant')
  assert.equal(found.type, 'message')
  assert.equal(JSON.parse(found.line).message.content[0].text, 'It links twice.')
  assert.equal(reader.leafSync().id, change)
  const context = await reader.context()
  assert.deepEqual(context, reader.contextSync())
  assert.equal(context.messages.length, 2)
  assert.deepEqual(context.model, { provider: 'p', modelId: 'm' })
  assert.equal((await reader.request()).messages.length, 2)
  assert.deepEqual(reader.contextSync({ beforeAll: true }).messages, [])

  await session.branch(question)
  const [other] = session.appendSync(user('And the tests?'))
  session.labelSync(other, 'tests')
  await session.setName('Slow build')
  const tree = session.readerSync().treeSync()
  assert.equal(tree.branches, 2)
  assert.equal(tree.nodes.find((node) => node.id === other).label, 'tests')
  // A reader shows the session as it is.
  assert.deepEqual(reader.treeSync(), tree)

  const side = await session.extract(answer)
  assert.equal(side.readerSync().facts().entries, 2)
  await store.forkFrom(session.id, '/elsewhere')
  const listed = await store.sessions({ family: 'pi', cwd: '/work' })
  assert.deepEqual(listed.map((facts) => facts.id).sort(), [session.id, side.id].sort())
  assert.equal(listed.find((facts) => facts.id === session.id).title, 'Slow build')

  await store.close()
  const again = Store.openSync(file, { create: false })
  assert.equal(again.sessionsSync().length, 3)
  assert.equal(again.continueRecentSync({ family: 'pi', cwd: '/work' }).id, session.id)
  again.closeSync()
})

test('lines are kept byte for byte, and only once if they are to be', async (t) => {
  const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
  const session = store.createSessionSync({ family: 'pi', cwd: '/work' })
  const line = '{"type":"message", "id":"a1","parentId":null,"message":{"role":"user","content":"\\ud800 é"}}'
  assert.deepEqual(session.appendLinesSync(line), { added: 1, ignored: 0 })
  assert.deepEqual(await session.appendLines(Buffer.from(line), { ignoreRepeated: true }), { added: 0, ignored: 1 })
  const torn = Buffer.from([0x7b, 0xff, 0x0a])
  await session.appendLines(torn)
  const reader = session.readerSync()
  assert.equal(reader.entrySync('a1').line, line)
  assert.deepEqual(reader.lineBytesSync(2), torn)
  assert.equal(reader.lineBytesSync(3), null)
  const exported = await reader.export('exact')
  assert.ok(exported.toString('latin1').endsWith('{\xff\n'))
  // What serde's reader refuses, JavaScript's own takes.
  assert.equal(reader.contextSync().messages[0].content, '\ud800 é')
  store.closeSync()
})

for (const family of ['pi', 'omp', 'opal', 'claude']) {
  for (const end of ['close', 'drop', 'kill']) {
    test(`what has an id is on disk: ${family}, ${end}`, async (t) => {
      const file = path.join(folder(t), 'sessions.leafline')
      const program = path.join(import.meta.dirname, 'acknowledging.js')
      const check = (store, { session, entry, branch }) => {
        assert.match(store.sessionSync(session).entrySync(entry).line, /Hello/)
        if (branch) assert.equal(store.sessionSync(branch).readerSync().facts().messages, 1)
        store.closeSync()
      }
      const child = spawn(process.execPath, [program, file, family, end], { stdio: ['pipe', 'pipe', 'inherit'] })
      const [line] = await once(child.stdout, 'data')
      const acknowledged = JSON.parse(line)
      check(Store.openSync(file, { create: false }), acknowledged)
      if (end === 'kill') child.kill('SIGKILL')
      else child.stdin.end()
      await once(child, 'close')
      check(Store.openSync(file, { create: false }), acknowledged)
    })
  }
}

test('entries of omp are kept whole on request', () => {
  const store = Store.inMemory()
  const content = 'x'.repeat(600000)
  const length = (session) => session.entrySync(session.appendMessageSync({ role: 'user', content })).line.length
  const { id } = store.createSessionSync({ family: 'omp', cwd: '/work' })
  assert.ok(length(store.sessionSync(id)) < content.length)
  assert.ok(length(store.sessionSync(id, { keepEverything: true })) > content.length)
  assert.ok(length(store.createSessionSync({ family: 'omp', cwd: '/work', keepEverything: true })) > content.length)
})

test('images of omp become blobs whenever the session is stored', () => {
  const store = Store.inMemory()
  const beginning = { family: 'omp', cwd: '/work' }
  const image = { type: 'image', mimeType: 'image/png', data: 'QUJD'.repeat(300) }
  const data = (session) => {
    const id = session.appendMessageSync({ role: 'user', content: [image] })
    return JSON.parse(session.entrySync(id).line).message.content[0].data
  }
  for (const session of [store.createSessionSync(beginning), store.createDeferredSessionSync(beginning)]) {
    assert.match(data(session), /^blob:sha256:/)
  }
  assert.equal(data(store.createSessionSync({ ...beginning, keepEverything: true })), image.data)
})

test('long sessions are read in pages', async () => {
  const store = Store.inMemory()
  const session = store.createSessionSync({ family: 'opal', cwd: '/work' })
  const ids = session.appendSync(Array.from({ length: 250 }, (_, place) => ({ role: 'user', content: `${place}` })))
  assert.equal(ids.length, 250)
  const reader = session.readerSync()
  const forwards = []
  let from = 0
  while (from !== undefined) {
    const page = await reader.entries(from, { entries: 40 })
    assert.ok(page.entries.length <= 40)
    forwards.push(...page.entries.map((entry) => entry.id))
    from = page.next
  }
  assert.deepEqual(forwards, ids)
  const backwards = []
  let page = reader.pathBackwardsSync(null, { entries: 40 })
  for (;;) {
    backwards.push(...page.entries.map((entry) => entry.id))
    if (page.next === undefined) break
    page = await reader.pathBackwardsFrom(page.next, { entries: 40 })
  }
  assert.deepEqual(backwards.reverse(), ids)
  const around = await reader.entriesAround(ids[100], 1, 1)
  assert.deepEqual(around.entries.map((entry) => entry.id), ids.slice(99, 102))
})

test('files are imported and exported, with progress', async (t) => {
  const place = folder(t)
  const store = await Store.open(path.join(place, 'sessions.leafline'))
  const seen = []
  const totals = await store.importFiles([samples], { blobs: path.join(samples, 'blobs') }, (progress) => seen.push(progress))
  assert.equal(totals.imported, 18)
  assert.equal(seen.filter((progress) => progress.file?.status === 'imported').length, 18)
  assert.equal(seen[0].files, 18)
  assert.ok(seen.every((progress) => progress.bytes === seen[0].bytes))
  assert.equal((await store.syncFiles([samples])).unchanged, 18)

  const written = []
  const exported = await store.exportFolder(path.join(place, 'out'), { mode: 'exact' }, (file) => written.push(file))
  assert.equal(exported.written, 18)
  assert.deepEqual(written.map((file) => file.outcome), Array(18).fill('written'))
  const one = written.find((file) => file.session.startsWith('019c6605'))
  const source = fs.readFileSync(seen.find((progress) => progress.file?.session === one.session).file.path)
  assert.deepEqual(fs.readFileSync(one.path), source)
  assert.equal(await store.exportFile('019c6605', path.join(place, 'one.jsonl'), 'exact'), source.length)

  const blobs = fs.readdirSync(path.join(place, 'out', 'omp', 'blobs')).sort()
  const [blob] = blobs
  assert.deepEqual(blobs, [blob, `${blob}.png`])
  const picture = fs.readFileSync(path.join(samples, 'blobs', blob))
  assert.deepEqual(fs.readFileSync(path.join(place, 'out', 'omp', 'blobs', blob)), picture)
  assert.deepEqual(await store.blob(blob), picture)
  assert.equal(await store.putBlob(picture), blob)
  assert.equal(await store.blob('0'.repeat(64)), null)

  const hits = await store.search('"fake timers"', { roles: ['user'] })
  assert.deepEqual(hits.map((hit) => [hit.session.slice(0, 8), hit.entry, hit.role]), [['019c6605', '588262d5', 'user']])
  assert.match(hits[0].snippet, /fake timers/)
  assert.equal(await store.remove(['019c6605']), 1)
  await store.close()
})

test('an import counts the files that it leaves out', async (t) => {
  const place = folder(t)
  for (const name of ['a', 'b']) fs.writeFileSync(path.join(place, `rollout-${name}.jsonl.zst`), '')
  const store = await Store.open(path.join(place, 'sessions.leafline'))
  const seen = []
  const totals = await store.importFiles([place], null, ({ file }) => file && seen.push(file.status))
  const expected = [{ reason: 'compressed with Zstandard (rollout-*.jsonl.zst)', files: 2 }]
  assert.deepEqual(totals.leftOut, expected)
  assert.equal(totals.files, 0)
  assert.deepEqual(seen, ['left_out', 'left_out'])
  assert.deepEqual((await store.syncFiles([place])).leftOut, expected)
  await store.close()
})

test('a named path that cannot be read is an error once the others are stored', async (t) => {
  const place = folder(t)
  const file = path.join(place, 's.jsonl')
  fs.writeFileSync(file, '{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}\n')
  const store = await Store.open(path.join(place, 'sessions.leafline'))
  const rejected = { code: 'IMPORT_UNREADABLE', message: /nope/ }
  await assert.rejects(store.importFiles([path.join(place, 'nope'), file]), rejected)
  await assert.rejects(store.syncFiles([path.join(place, 'nope'), file]), rejected)
  assert.deepEqual((await store.sessions()).map(({ id }) => id), ['s'])
  await store.close()
})

test('a reader says that lines were changed since', async (t) => {
  const place = folder(t)
  const file = path.join(place, 's.jsonl')
  const header = '{"type":"session","version":3,"id":"s","timestamp":"2026-02-16T10:20:30.000Z","cwd":"/work"}\n'
  const line = (text) => `${JSON.stringify({ ...user(text), id: 'a1', parentId: null })}\n`
  fs.writeFileSync(file, header + line('as it was'))
  const store = await Store.open(path.join(place, 'sessions.leafline'))
  await store.importFiles([file])
  const session = await store.session('s')
  const reader = await session.reader()
  assert.match(reader.lineSync(1).line, /as it was/)
  fs.writeFileSync(file, header + line('changed'))
  await store.importFiles([file], { replace: true })
  const changed = { code: 'SESSION_REWRITTEN', message: /changed/ }
  assert.throws(() => reader.lineSync(1), changed)
  await assert.rejects(reader.context(), changed)
  assert.match((await store.session('s')).readerSync().lineSync(1).line, /changed/)
  await store.close()
})

test('relative paths are of the directory in which they are given', async (t) => {
  const place = fs.realpathSync(folder(t))
  const [one, other] = ['one', 'other'].map((name) => path.join(place, name))
  for (const project of [one, other]) fs.mkdirSync(project)
  const before = process.cwd()
  t.after(() => process.chdir(before))
  process.chdir(one)
  const store = await Store.open('s.leafline')
  const relative = { family: 'pi', cwd: '.' }
  const first = await store.continueRecent(relative)
  await first.append(user('moon'))
  process.chdir(other)
  assert.equal((await store.search('moon')).length, 1)
  assert.notEqual((await store.continueRecent(relative)).id, first.id)
  assert.deepEqual((await store.sessions({ cwd: `${one}/` })).map(({ id }) => id), [first.id])
  assert.deepEqual((await store.sessions({ cwd: '.' })).map(({ cwd }) => cwd), [other])
  await store.close()
  assert.deepEqual(fs.readdirSync(other), [])
})

test('imports and exports end when they are cancelled', async (t) => {
  const place = folder(t)
  const store = await Store.open(path.join(place, 'sessions.leafline'))
  const cancellation = new Cancellation()
  cancellation.cancel()
  assert.equal((await store.importFiles([samples], null, null, cancellation)).imported, 0)
  await store.importFiles([samples])
  assert.equal((await store.exportFolder(path.join(place, 'out'), null, null, cancellation)).sessions, 0)
  await store.close()
})

test('a program may end in the middle of an import', async (t) => {
  const file = path.join(folder(t), 'sessions.leafline')
  const program = path.join(import.meta.dirname, 'leaving.js')
  const ended = spawnSync(process.execPath, [program, file, samples], { timeout: 600_000 })
  assert.equal(ended.status, 7, `${ended.stderr}`)
  const store = await Store.open(file, { create: false })
  assert.ok((await store.sessions()).length > 0)
  await store.close()
})

test('errors have a code, whether they are thrown or reject a promise', async (t) => {
  const place = folder(t)
  const coded = (code) => (error) => error instanceof Error && error.code === code && error.message.length > 0
  assert.throws(() => Store.openSync(path.join(place, 'none'), { create: false }), coded('STORE_NOT_FOUND'))
  await assert.rejects(Store.open(path.join(place, 'none'), { create: false }), coded('STORE_NOT_FOUND'))
  fs.writeFileSync(path.join(place, 'text'), 'not a store, and long enough to be looked at\n'.repeat(200))
  await assert.rejects(Store.open(path.join(place, 'text')), coded('NOT_A_STORE'))
  const store = Store.openSync(path.join(place, 'sessions.leafline'))
  await assert.rejects(store.session('nobody'), coded('SESSION_NOT_FOUND'))
  assert.throws(() => store.createSessionSync({ family: 'emacs', cwd: '/' }), coded('INVALID_ARGUMENT'))
  assert.throws(() => store.createSessionSync({ family: 'codex', cwd: '/' }), coded('WRONG_FAMILY'))
  const session = store.createSessionSync({ family: 'pi', cwd: '/work' })
  assert.throws(() => session.entrySync('none'), coded('ENTRY_NOT_FOUND'))
  await assert.rejects(session.branch('none'), coded('ENTRY_NOT_FOUND'))
  assert.throws(() => session.appendSync({ role: 'user' }), coded('INVALID_ENTRY'))
  const circle = {}
  circle.circle = circle
  assert.throws(() => session.appendSync(circle), coded('INVALID_ARGUMENT'))
  assert.throws(() => session.appendSync(undefined), coded('INVALID_ARGUMENT'))
  assert.throws(() => session.readerSync().lineSync(-1), coded('INVALID_ARGUMENT'))
  await assert.rejects(store.search(' - '), coded('NO_WORDS'))
  const reader = session.readerSync()
  store.closeSync()
  assert.throws(() => session.appendSync(user('late')), coded('CLOSED'))
  assert.throws(() => reader.facts(), coded('CLOSED'))
  await assert.rejects(store.sessions(), coded('CLOSED'))
  store.closeSync()
})

test('asynchronous calls leave the event loop free', async (t) => {
  const store = await Store.open(path.join(folder(t), 'sessions.leafline'))
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  const session = await store.createSession({ family: 'pi', cwd: '/work' })
  const lines = Array.from({ length: 60000 }, (_, place) =>
    JSON.stringify({ ...user(`${place} `.repeat(50)), id: `e${place}`, parentId: place ? `e${place - 1}` : null }))
  turns = 0
  await session.appendLines(lines.join('\n'))
  clearInterval(timer)
  assert.ok(turns > 0, `the event loop turned ${turns} times`)
  await store.close()
})
