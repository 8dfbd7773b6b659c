// pi's own session manager on its files and ours on a store, side by side: the same entries, contexts and errors.
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import crypto from 'node:crypto'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { mock, test } from 'node:test'
import { promisify } from 'node:util'

import { installed } from '../../tests/judges/pins.mjs'
import { Store } from '../index.js'
import { PiSessionManager, projectContextEntry } from '../pi/index.js'
import { bun, crash, folder, message, randomFrom, textOf } from './scene.js'

const programs = [
  { version: '0.73.1', place: process.env.LEAFLINE_PI ?? installed('pi-0.73').package },
  { version: '0.87.1', place: process.env.LEAFLINE_PI_0_87 ?? installed('pi-0.87').package },
  { version: '1.6.0', place: process.env.LEAFLINE_PI_1_6 ?? installed('pi-1.6').package },
]
const sequences = Number(process.env.LEAFLINE_SEQUENCES ?? 12)

for (const { version, place } of programs) {
  const isInstalled = fs.existsSync(place)
  if (!isInstalled && process.env.LEAFLINE_REQUIRE_PI) throw new Error(`pi ${version} is not installed: ${place}`)
  const skip = isInstalled ? false : `pi ${version} is not installed`

  test(`pi ${version} does the same on its files as on a store`, { skip }, async (t) => {
    const { SessionManager } = await import(pathToFileURL(path.join(place, 'dist/core/session-manager.js')).href)
    mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 1, 16, 10, 20, 30) })
    t.after(() => mock.timers.reset())
    const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
    for (let seed = 1; seed <= sequences; seed++) {
      const dir = folder(t)
      const theirs = SessionManager.create('/work', dir)
      const ours = PiSessionManager.create(store, '/work', { version, sessionDir: dir })
      const pair = new Pair(store, { SessionManager, version, dir, seed }, theirs, ours)
      pair.play(60)
    }
    store.closeSync()
  })

  test(`pi ${version}: two managers on one session keep both's entries`, { skip }, async (t) => {
    const { SessionManager } = await import(pathToFileURL(path.join(place, 'dist/core/session-manager.js')).href)
    const dir = folder(t)
    const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
    const first = PiSessionManager.create(store, '/work', { version, sessionDir: dir })
    const question = first.appendMessage(message('user', 'one'))
    first.appendMessage(message('assistant', 'two'))
    const second = PiSessionManager.open(store, first.getSessionFile(), { version, sessionDir: dir })
    const [a, b] = [first.appendMessage(message('user', 'three')), second.appendMessage(message('user', 'four'))]
    const c = first.appendMessage(message('assistant', 'five'))
    // Each has its own leaf, and both see all entries.
    assert.deepEqual([first.getLeafId(), second.getLeafId()], [c, b])
    assert.deepEqual(first.getEntries(), second.getEntries())
    assert.equal(second.getEntry(a).message.content, 'three')
    assert.deepEqual(first.buildSessionContext().messages.map(textOf), ['one', 'two', 'three', 'five'])
    assert.deepEqual(second.buildSessionContext().messages.map(textOf), ['one', 'two', 'four'])
    second.branch(question)
    // pi itself reads the session as its file.
    const file = path.join(dir, 'exported.jsonl')
    await store.exportFile(first.getSessionId(), file)
    const theirs = SessionManager.open(file)
    assert.deepEqual(theirs.getEntries(), first.getEntries())
    assert.equal(theirs.getLeafId(), c)
    store.closeSync()
  })

  // Since 0.87 pi needs Node 22: on an older one, Bun runs it.
  const runtime = version !== '0.73.1' && Number(process.versions.node.split('.')[0]) < 22 ? bun : process.execPath
  const skipSession = skip || (runtime ? false : 'neither Node 22 nor Bun is installed')

  test(`pi ${version} takes the manager for a session`, { skip: skipSession }, async (t) => {
    const program = path.join(import.meta.dirname, 'pi-session.js')
    const { stdout } = await promisify(execFile)(runtime, [program, version, place, folder(t)])
    assert.equal(stdout, 'as it should be\n')
  })
}

const newest = programs.at(-1)
test('an entry gives a context what pi has it give', { skip: fs.existsSync(newest.place) ? false : 'pi is not installed' }, async () => {
  const theirs = await import(pathToFileURL(path.join(newest.place, 'dist/core/session-manager.js')).href)
  const place = { id: 'a', parentId: null, timestamp: '2026-02-16T10:20:30.000Z' }
  const messages = ['system', 'user', 'assistant', 'toolResult', 'bashExecution'].flatMap((role) =>
    [null, 'text', [{ type: 'text', text: 'x' }]].map((content) => ({ type: 'message', ...place, message: { role, content } })))
  const entries = [
    ...messages,
    { type: 'custom_message', ...place, customType: 'c', content: 'x', display: true, details: { a: 1 } },
    { type: 'custom_message', ...place, customType: 'c', display: false },
    { type: 'branch_summary', ...place, summary: 's', fromId: 'r' },
    { type: 'branch_summary', ...place, summary: '', fromId: 'r' },
    { type: 'compaction', ...place, summary: 's', tokensBefore: 3 },
    { type: 'compaction', ...place, summary: 's', tokensBefore: 3, systemMessage: { role: 'system', content: 'x' } },
    { type: 'custom', ...place, customType: 'c' },
  ]
  for (const entry of entries) {
    for (const replacement of [undefined, null, { content: 'short' }, { content: [] }]) {
      const edit = replacement === undefined ? undefined : { type: 'context_edit', ...place, targetId: 'a', replacement }
      const told = `${JSON.stringify(entry)} ${JSON.stringify(edit)}`
      assert.equal(JSON.stringify(projectContextEntry(entry, edit)), JSON.stringify(theirs.projectContextEntry(entry, edit)), told)
    }
  }
})

test('a failed append leaves a manager as it was', (t) => {
  const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
  const manager = PiSessionManager.create(store, '/work')
  const first = manager.appendMessage(message('user', 'one'))
  assert.throws(() => manager.appendCustomEntry('mine', 1n), TypeError)
  assert.throws(() => manager.appendMessage({ role: 'user', get content() { throw new Error('no content') } }), /no content/)
  assert.deepEqual([manager.getLeafId(), manager.getEntryCount()], [first, 1])
  const second = manager.appendMessage(message('assistant', 'two'))
  assert.equal(manager.getEntry(second).parentId, first)
  assert.deepEqual(manager.getEntries().map((entry) => entry.id), [first, second])
  assert.deepEqual(manager.getBranch().map((entry) => entry.id), [first, second])
  store.closeSync()
})

test('what is appended is there after a kill', async (t) => {
  const file = path.join(folder(t), 'sessions.leafline')
  const printed = await crash(path.join(import.meta.dirname, 'appending.js'), [file])
  const acknowledged = printed.trim().split('\n')
  const [session, ...ids] = acknowledged
  assert.ok(ids.length >= 20, `${ids.length} were appended`)
  const store = Store.openSync(file, { create: false })
  const manager = PiSessionManager.open(store, session)
  const kept = manager.getEntries().map((entry) => entry.id)
  // One more may have been stored before it could be told.
  assert.deepEqual(kept.slice(0, ids.length), ids)
  assert.ok(kept.length <= ids.length + 1)
  assert.deepEqual(manager.getBranch().map((entry) => entry.id), kept)
  store.closeSync()
})

test('a session is stored with its first entry, whatever that is', (t) => {
  for (const version of ['0.87.1', '1.6.0', undefined]) {
    for (const append of [
      (manager) => manager.appendModelChange('anthropic', 'claude'),
      (manager) => manager.appendMessage(message('user', 'one')),
    ]) {
      const file = path.join(folder(t), 'sessions.leafline')
      const store = Store.openSync(file)
      const manager = PiSessionManager.create(store, '/work', { version })
      assert.equal(store.sessionsSync().length, 0)
      const id = append(manager)
      store.closeSync()
      const again = Store.openSync(file, { create: false })
      const kept = PiSessionManager.open(again, manager.getSessionId(), { version }).getEntries()
      assert.deepEqual(kept.map((entry) => entry.id), [id])
      again.closeSync()
    }
  }
})

test('an id that the session has is not given again', (t) => {
  const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
  const first = PiSessionManager.create(store, '/work')
  const taken = first.appendMessage(message('user', 'one'))
  const manager = PiSessionManager.open(store, first.getSessionId())
  const { randomUUID } = crypto
  let calls = 0
  mock.method(crypto, 'randomUUID', () => (calls++ ? randomUUID() : `${taken}-0000-4000-8000-000000000000`))
  t.after(() => mock.restoreAll())
  const id = manager.appendCompaction('short', undefined, 10)
  assert.ok(calls >= 2)
  assert.notEqual(id, taken)
  assert.deepEqual(manager.getEntries().map((entry) => entry.id), [taken, id])
  assert.equal(manager.getEntry(id).firstKeptEntryId, id)
  store.closeSync()
})

test('only what is looked at is read of a long branch', (t) => {
  const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
  const ids = Array.from({ length: 1000 }, (_, place) => `e${place}`)
  const lines = ids.map((id, place) =>
    JSON.stringify({ type: 'custom', customType: 'count', data: place, id, parentId: place ? ids[place - 1] : null, timestamp: '2026-02-16T10:20:30.000Z' }))
  const session = store.createSessionSync({ family: 'pi', cwd: '/work' })
  session.appendLinesSync(lines.join('\n'))
  const manager = PiSessionManager.open(store, session.id)
  const branch = manager.getBranch()
  assert.ok(Array.isArray(branch))
  assert.equal(branch.length, 1000)
  assert.equal(branch.at(-1).id, ids[999])
  assert.equal(branch[999].data, 999)
  assert.ok(branch.some((entry) => entry.data === 0))
  assert.deepEqual([...branch].map((entry) => entry.id), ids)
  assert.deepEqual(manager.getBranch().slice(-2), branch.slice(-2))
  assert.deepEqual(branch.filter((entry) => entry.data % 500 === 0).map((entry) => entry.data), [0, 500])
  const added = manager.appendCustomEntry('count', 1000)
  assert.equal(manager.getBranch().at(-1), manager.getEntry(added))
  store.closeSync()
})

/** The id of the entry at a place. */
class Place {
  constructor(place) {
    this.place = place
  }
}

/** The two managers, and what they did. */
class Pair {
  constructor(store, how, theirs, ours) {
    Object.assign(this, how, { store, theirs, ours, random: randomFrom(how.seed), done: [], names: [new Map(), new Map()] })
  }

  play(operations) {
    for (let count = 0; count < operations; count++) {
      mock.timers.tick(this.random(3000))
      this.step()
      this.compare()
    }
    this.compareFile()
  }

  pick(list) {
    return list[this.random(list.length)]
  }

  /** An entry's place, or one that no entry has. */
  place() {
    const count = this.theirs.getEntries().length
    return this.random(12) === 0 || count === 0 ? 'none' : this.random(count)
  }

  step() {
    const text = `${this.pick(['é', 'words', '\ud800', '"\\', ''])} ${this.random(1000)}`
    const place = this.place()
    const details = this.pick([undefined, { count: this.random(9) }])
    const role = this.pick(['user', 'assistant', 'toolResult'])
    const newer = this.version !== '0.73.1'
    const operations = [
      ['appendMessage', () => [message(role, text)], 6],
      ['appendThinkingLevelChange', () => [this.pick(['off', 'high'])]],
      ['appendModelChange', () => ['anthropic', `model-${this.random(3)}`]],
      ['appendCustomEntry', () => ['mine', details]],
      ['appendCustomMessageEntry', () => ['mine', this.pick([text, [{ type: 'text', text }]]), true, details]],
      ['appendSessionInfo', () => [this.pick([` ${text} `, '', 'two\nlines'])]],
      ['appendLabelChange', (id) => [id(place), this.pick([text, undefined, ''])], 2],
      ['appendCompaction', (id) => [text, this.random(8) || !newer ? id(place) : undefined, 1000, details, this.pick([undefined, true])]],
      ['branch', (id) => [id(place)], 2],
      ['branchWithSummary', (id) => [this.random(5) ? id(place) : null, this.pick([text, '']), details, this.pick([undefined, true])]],
      ['resetLeaf', () => []],
      ['createBranchedSession', (id) => [id(place)]],
      ['reopen', () => []],
    ]
    if (newer) {
      const system = { role: 'system', content: text, sections: { rules: this.pick([text, null]) }, toolsAdded: [{ name: `t${this.random(2)}` }], timestamp: 1 }
      operations.push(
        ['appendUsage', () => ['title', 'anthropic', 'small', { input: 1 }, this.pick([undefined, text])]],
        ['appendContextEdit', (id) => [id(place), this.pick([null, { content: text }, { content: [] }, { content: 7 }, {}])], 3],
        ['appendMessage', () => [this.random(2) ? system : { role: 'user' }]],
      )
    }
    const weighted = operations.flatMap((operation) => Array(operation[2] ?? 1).fill(operation))
    const [name, args] = this.pick(weighted)
    this.done.push(name)
    // The same arguments for both, but for ids.
    const drawn = args((place) => new Place(place))
    const results = [this.theirs, this.ours].map((manager) => {
      const entries = manager.getEntries()
      const given = drawn.map((argument) => (argument instanceof Place ? (entries[argument.place]?.id ?? 'nothing') : argument))
      try {
        return name === 'reopen' ? this.reopen(manager) : { value: manager[name](...given) }
      } catch (error) {
        return { error: error.message }
      }
    })
    this.equal(results, 'what was returned')
  }

  /** Both again, from what is stored, if pi has stored anything. */
  reopen(manager) {
    const file = this.theirs.getSessionFile()
    if (!fs.existsSync(file)) return {}
    if (manager === this.theirs) this.opened = this.SessionManager.open(file)
    else {
      this.ours = PiSessionManager.open(this.store, this.ours.getSessionFile(), { version: this.version, sessionDir: this.dir })
      this.theirs = this.opened
    }
    return {}
  }

  /** The same of both, with ids by the order in which they came up. */
  equal([theirs, ours], what) {
    const plain = (names, manager, value) => {
      const header = manager.getHeader()
      for (const id of [header.id, ...manager.getEntries().map((entry) => entry.id)]) {
        if (!names.has(id)) names.set(id, `name ${names.size}`)
      }
      let text = JSON.stringify(value) ?? ''
      for (const id of text.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{8}/g) ?? []) {
        if (names.has(id)) text = text.replaceAll(id, names.get(id))
      }
      // The store's clock is the system's.
      text = text.replaceAll(`"timestamp":"${header.timestamp}","cwd"`, '"timestamp":"began","cwd"')
      return text.replace(/[-0-9]{10}T[-0-9]{12}Z_/g, 'time_')
    }
    assert.equal(plain(this.names[1], this.ours, ours), plain(this.names[0], this.theirs, theirs), `${what}, seed ${this.seed}, after ${this.done.join(', ')}`)
  }

  both(what, read) {
    this.equal([read(this.theirs), read(this.ours)], what)
  }

  compare() {
    this.both('getEntries', (manager) => manager.getEntries())
    this.both('getLeafId', (manager) => manager.getLeafId())
    this.both('getLeafEntry', (manager) => manager.getLeafEntry())
    this.both('getBranch', (manager) => manager.getBranch())
    this.both('buildSessionContext', (manager) => manager.buildSessionContext())
    this.both('getSessionName', (manager) => manager.getSessionName())
    this.both('getHeader', (manager) => manager.getHeader())
    this.both('getSessionFile', (manager) => [manager.getSessionFile(), manager.getSessionDir(), manager.getCwd(), manager.isPersisted()])
    const place = this.place()
    const idOf = (manager) => manager.getEntries()[place]?.id ?? 'nothing'
    this.both('getEntry', (manager) => manager.getEntry(idOf(manager)))
    this.both('getLabel', (manager) => manager.getLabel(idOf(manager)))
    this.both('getChildren', (manager) => [manager.getChildren(idOf(manager)), manager.getChildren(null)])
    this.both('getBranch from there', (manager) => manager.getBranch(idOf(manager)))
    if (this.random(4) === 0) this.both('getTree', (manager) => manager.getTree())
    if (this.version === '1.6.0') this.both('getEntryCount', (manager) => manager.getEntryCount())
    if (this.version !== '0.73.1') {
      this.both('buildContextEntries', (manager) => manager.buildContextEntries())
      this.both('buildSessionProjection', (manager) => manager.buildSessionProjection())
    }
  }

  compareFile() {
    const file = this.theirs.getSessionFile()
    if (!fs.existsSync(file)) return
    const reader = this.store.sessionSync(this.ours.getSessionId()).readerSync()
    const lines = reader.linesFromSync(0, Number.MAX_SAFE_INTEGER)
    reader.close()
    const began = (manager, text) => text.replace(manager.getHeader().timestamp, 'began')
    const ours = lines.map((line) => `${line}\n`).join('')
    this.equal([began(this.theirs, fs.readFileSync(file, 'utf8')), began(this.ours, ours)], 'the file')
  }
}
