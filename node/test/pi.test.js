// pi's own session manager on its files and ours on a store, side by side: the same entries, contexts and errors.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { mock, test } from 'node:test'

import { Store } from '../index.js'
import { PiSessionManager } from '../pi/index.js'
import { crash, folder, randomFrom } from './scene.js'

const modules = path.join(import.meta.dirname, '../../tests/interop/node_modules')
const programs = [
  { version: '0.73.1', place: process.env.LEAFLINE_PI ?? path.join(modules, '@mariozechner/pi-coding-agent') },
  { version: '0.87.1', place: process.env.LEAFLINE_PI_0_87 ?? path.join(modules, '@earendil-works/pi-coding-agent') },
]
const sequences = Number(process.env.LEAFLINE_SEQUENCES ?? 40)

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

  test(`pi ${version} takes the manager for a session`, { skip }, async (t) => {
    const home = folder(t)
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
    assert.equal(session.messages.map(textOf).slice(-2).join(), 'Hello,Good morning')
    assert.equal(session.sessionName ?? again.getSessionName(), 'Greeting')
    const stats = session.getSessionStats()
    assert.deepEqual([stats.userMessages, stats.assistantMessages], [1, 1])
    session.dispose?.()
    const [listed] = await PiSessionManager.list(store, home)
    assert.deepEqual([listed.id, listed.name, listed.firstMessage], [id, 'Greeting', 'Hello'])
    assert.equal(listed.allMessagesText, 'Hello Good morning')
    store.closeSync()
  })
}

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

test('only what is looked at is read of a long branch', (t) => {
  const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
  const first = PiSessionManager.create(store, '/work')
  const ids = Array.from({ length: 1000 }, (_, place) => first.appendCustomEntry('count', place))
  const manager = PiSessionManager.open(store, first.getSessionId())
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

function message(role, text) {
  const base = { role, content: role === 'user' ? text : [{ type: 'text', text }], timestamp: 1771237230000 }
  return role === 'assistant'
    ? { ...base, provider: 'anthropic', model: 'claude', api: 'a', stopReason: 'stop', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } } }
    : base
}

function textOf({ content, role }) {
  return typeof content === 'string' ? content : content === undefined ? role : content.map((block) => block.text).join()
}

/** The two managers, and what they did. */
class Pair {
  constructor(store, how, theirs, ours) {
    Object.assign(this, how, { store, theirs, ours, random: randomFrom(how.seed), done: [] })
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
    const newer = this.version === '0.87.1'
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
    const results = [this.theirs, this.ours].map((manager) => {
      const ids = manager.getEntries().map((entry) => entry.id)
      const given = args((place) => ids[place] ?? 'nothing')
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

  /** The same of both, with ids by the place of their entries. */
  equal([theirs, ours], what) {
    const plain = (manager, value) => {
      const ids = new Map(manager.getEntries().map((entry, place) => [entry.id, `entry ${place}`]))
      const header = manager.getHeader()
      ids.set(header.id, 'session')
      let text = JSON.stringify(value, (_, member) => (typeof member === 'string' ? (ids.get(member) ?? member) : member)) ?? ''
      for (const [id, place] of ids) text = text.replaceAll(id, place)
      // Sessions that were left have other ids too.
      return text.replace(/[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{22}/g, 'left').replace(/Entry [0-9a-f]{8} not/g, 'Entry of another session not')
    }
    assert.equal(plain(this.ours, ours), plain(this.theirs, theirs), `${what}, seed ${this.seed}, after ${this.done.join(', ')}`)
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
    if (this.version === '0.87.1') {
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
    this.equal([fs.readFileSync(file, 'utf8'), lines.map((line) => `${line}\n`).join('')], 'the file')
  }
}
