// Arguments that cannot be used: each is an error that names the call, the place, what it may be, and what it was.
import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ClaudeSessionStore } from '../claude/index.js'
import { SessionReader, Store } from '../index.js'
import { LeaflineSessionStorage } from '../omp/index.js'
import { PiSessionManager } from '../pi/index.js'

const count = 'a whole number from 0 to 2^53 - 1'
const time = 'a time in milliseconds since 1970'
const families = "'pi', 'omp', 'claude', 'opal' or 'codex'"
const filter = 'family, cwd, below, since, until, text, withoutAgents, order, limit'

const store = Store.inMemory()
const session = store.createSessionSync({ family: 'opal', cwd: '/work' })
const reader = session.readerSync()

const wrong = [
  [() => store.sessionsSync({ since: '2026-01-01' }), `Store.sessionsSync: filter.since must be ${time}, got the string "2026-01-01"`],
  [() => store.sessionsSync({ until: new Date(0) }), `Store.sessionsSync: filter.until must be ${time}, got an object of Date`],
  [() => store.sessionsSync({ limit: -1 }), `Store.sessionsSync: filter.limit must be ${count}, got the number -1`],
  [() => store.sessionsSync({ limit: 1.5 }), `Store.sessionsSync: filter.limit must be ${count}, got the number 1.5`],
  [() => store.sessionsSync({ limit: NaN }), `Store.sessionsSync: filter.limit must be ${count}, got the number NaN`],
  [() => store.sessionsSync({ limit: 2 ** 53 }), `Store.sessionsSync: filter.limit must be ${count}, got the number 9007199254740992`],
  [() => store.sessionsSync({ limit: 10n }), `Store.sessionsSync: filter.limit must be ${count}, got the bigint 10n`],
  [() => store.sessionsSync({ sinse: 1 }), `Store.sessionsSync: filter has no "sinse"; it has ${filter}`],
  [() => store.sessionsSync('pi'), 'Store.sessionsSync: filter must be an object with options, got the string "pi"'],
  [() => store.sessions({ order: 'size ' }), `Store.sessions: filter.order must be 'modified', 'created', 'title' or 'size', got the string "size "`],
  [() => store.search('x', { sessions: { limt: 1 } }), `Store.search: options.sessions has no "limt"; it has ${filter}`],
  [() => store.search('x', { roles: 'user' }), 'Store.search: options.roles must be an array, each member a string, got the string "user"'],
  [() => store.search('x', { roles: ['user', 1] }), 'Store.search: options.roles[1] must be a string, got the number 1'],
  [() => store.createSession({ cwd: '/work' }), `Store.createSession: beginning.family must be ${families}, got undefined`],
  [() => store.createSession(null), 'Store.createSession: beginning must be an object with options, got null'],
  [() => store.createSessionSync({ family: 'emacs', cwd: '/' }), `Store.createSessionSync: beginning.family must be ${families}, got the string "emacs"`],
  [() => store.createSessionSync({ family: 'pi', cwd: '/', immediate: true }), 'Store.createSessionSync: beginning has no "immediate"; it has family, cwd, id, parentSession, title, keepEverything'],
  [() => store.session(5), 'Store.session: id must be a string, got the number 5'],
  [() => store.importFiles('files'), 'Store.importFiles: paths must be an array, each member a string, got the string "files"'],
  [() => store.importFiles([], null, 5), 'Store.importFiles: onProgress must be a function, got the number 5'],
  [() => store.importFiles([], null, null, {}), 'Store.importFiles: cancellation must be a Cancellation, got an object'],
  [() => store.exportFolder('out', { mode: 'exact', replace: 'no' }), 'Store.exportFolder: options.replace must be true or false, got the string "no"'],
  [() => Store.open('store', { readonly: true }), 'Store.open: options has no "readonly"; it has pageCacheBytes, lineCacheBytes, create, readOnly'],
  [() => Store.openSync(), 'Store.openSync: path must be a string, got undefined'],
  [() => session.appendLinesSync(5), 'Session.appendLinesSync: lines must be a Buffer or a string, got the number 5'],
  [() => session.append('text'), 'Session.append: entries must be an object or an array, each member an object, got the string "text"'],
  [() => session.labelSync('entry', Symbol('x')), 'Session.labelSync: label must be a string, got a symbol'],
  [() => reader.entriesSync('0'), `SessionReader.entriesSync: from must be ${count}, got the string "0"`],
  [() => reader.entriesAround('id', 1, -1), `SessionReader.entriesAround: after must be ${count}, got the number -1`],
  [() => reader.linesAtSync([0, null]), `SessionReader.linesAtSync: ordinals[1] must be ${count}, got null`],
  [() => reader.contextSync({ asof: '0.87.1' }), 'SessionReader.contextSync: options has no "asof"; it has leaf, beforeAll, program, asOf, full'],
  [() => new ClaudeSessionStore('store'), 'new ClaudeSessionStore: store must be a Store, got the string "store"'],
  [() => new LeaflineSessionStorage({}), 'new LeaflineSessionStorage: store must be a Store, got an object'],
  [() => PiSessionManager.create(store), 'PiSessionManager.create: cwd must be a string, got undefined'],
  [() => PiSessionManager.create(store, '/work', { verson: '1' }), 'PiSessionManager.create: options has no "verson"; it has version, sessionDir, cwd, id, parentSession'],
]

for (const [call, message] of wrong) {
  test(message, async () => {
    const isSync = /Sync|new |PiSessionManager/.test(message.split(':')[0])
    const rejected = (async () => call())()
    await assert.rejects(rejected, { name: 'TypeError', code: 'INVALID_ARGUMENT', message })
    // A call that gives a promise throws nothing.
    if (!isSync) await assert.rejects(call())
  })
}

test('what is absent may be null or undefined, and numbers may be as large as they can', async () => {
  const options = { limit: Number.MAX_SAFE_INTEGER, since: -1, until: null, text: undefined }
  assert.equal(store.sessionsSync(options).length, 1)
  assert.deepEqual(await store.sessions(null), await store.sessions(undefined))
  assert.deepEqual(reader.entriesSync(Number.MAX_SAFE_INTEGER, { entries: 2 ** 32, bytes: 2 ** 53 - 1 }), { entries: [] })
  const ids = session.appendSync([{ role: 'user', content: 'moon' }, { role: 'user', content: 'moon' }])
  const page = await session.readerSync().entriesAround(ids[0], 2 ** 53 - 1, 2 ** 53 - 1, { entries: 2 ** 53 - 1 })
  assert.deepEqual(page.entries.map((entry) => entry.id), ids)
  const hits = await store.search('moon', { limit: 2 ** 53 - 1 })
  assert.equal(hits.length, 2)
  assert.deepEqual(await store.search('moon', { limit: 0 }), [])
})

test('objects of the native module are of the classes', () => {
  assert.ok(store instanceof Store && reader instanceof SessionReader)
  assert.equal(store.constructor, Store)
  assert.equal(Store.name, 'Store')
})
