// The kit's own store in memory and ours on a store, side by side, directly and through the kit's functions.
import assert from 'node:assert/strict'
import fs from 'node:fs'
import path from 'node:path'
import { randomUUID } from 'node:crypto'
import { pathToFileURL } from 'node:url'
import { test } from 'node:test'

import { installed } from '../../tests/judges/pins.mjs'
import { ClaudeSessionStore } from '../claude/index.js'
import { Store } from '../index.js'
import { folder, randomFrom } from './scene.js'

const place = installed('claude-kit').package
const isInstalled = fs.existsSync(place)
if (!isInstalled && process.env.LEAFLINE_REQUIRE_NODE_PACKAGE) throw new Error(`the kit is not installed: ${place}`)
const kit = isInstalled ? await import(pathToFileURL(path.join(place, 'sdk.mjs')).href) : {}
const skip = isInstalled ? false : 'the kit is not installed'
const sequences = Number(process.env.LEAFLINE_SEQUENCES ?? 20)

function opened(t) {
  const store = Store.openSync(path.join(folder(t), 'sessions.leafline'))
  t.after(() => store.closeSync())
  return { store, sessions: new ClaudeSessionStore(store, kit) }
}

/** A record as Claude Code writes it. */
function record(random, parentUuid, sessionId) {
  const uuid = randomUUID()
  const text = `${['é', '\ud800', 'words'][random(3)]} ${random(1000)}`
  const timestamp = new Date(Date.UTC(2026, 1, 16) + random(1e9)).toISOString()
  const kinds = [
    { type: 'user', message: { role: 'user', content: text } },
    { type: 'assistant', message: { role: 'assistant', content: [{ type: 'text', text }] } },
    { type: 'custom-title', customTitle: text, uuid: undefined },
    { type: 'tag', tag: text, uuid: undefined },
    { type: 'summary', summary: text, leafUuid: randomUUID(), uuid: undefined },
    { type: 'something new', deep: { list: [1, 1.5, null, { a: [] }], 2: 'two', 1: 'one' } },
  ]
  const whole = { parentUuid, isSidechain: false, cwd: '/work', sessionId, version: '2.1.330', gitBranch: 'main', uuid, timestamp, ...kinds[random(kinds.length)] }
  return JSON.parse(JSON.stringify(whole))
}

test('random operations give what the store in memory gives', { skip }, async (t) => {
  const { sessions } = opened(t)
  for (let seed = 1; seed <= sequences; seed++) {
    const random = randomFrom(seed)
    const memory = new kit.InMemorySessionStore()
    const projectKey = `-work-${seed}`
    const ids = Array.from({ length: 3 }, () => randomUUID())
    const subpaths = [undefined, 'subagents/agent-a1b2c3', 'subagents/workflows/w1/agent-d4']
    const all = []
    for (let count = 0; count < 25; count++) {
      const key = { projectKey, sessionId: ids[random(3)], subpath: subpaths[random(3)] }
      const operation = random(10)
      if (operation === 0) {
        await Promise.all([memory.delete(key), sessions.delete(key)])
      } else if (operation === 1 && all.length > 0) {
        // A batch that is tried again: ours has each record once, which the one in memory does not see to. Records without a uuid
        // are known by those around them.
        const [again, entries] = all[random(all.length)]
        const had = (await memory.load(again)) ?? []
        const uuids = new Set(had.map((entry) => entry.uuid).filter(Boolean))
        const isThere = entries.some((entry) => uuids.has(entry.uuid))
        const fresh = entries.filter((entry) => (isThere ? entry.uuid && !uuids.has(entry.uuid) : true))
        if (fresh.length > 0) await memory.append(again, fresh)
        await sessions.append(again, entries)
      } else {
        const entries = Array.from({ length: random(4) }, () => record(random, null, key.sessionId))
        all.push([key, entries])
        await sessions.append(key, entries)
        // No entries begin nothing here; the one in memory begins a session with them.
        if (entries.length > 0) await memory.append(key, entries)
      }
      assert.deepEqual(await sessions.load(key), await memory.load(key), `seed ${seed}, ${count}`)
      const subkeys = await Promise.all([sessions, memory].map((one) => one.listSubkeys(key)))
      assert.deepEqual(...subkeys.map((list) => list.sort()), `seed ${seed}, ${count}`)
      const listed = await Promise.all([sessions, memory].map((one) => one.listSessions(projectKey)))
      assert.deepEqual(...listed.map((list) => list.map((session) => session.sessionId).sort()), `seed ${seed}, ${count}`)
    }
    const [ours, theirs] = await Promise.all([sessions, memory].map((one) => one.listSessionSummaries(projectKey)))
    const plain = (list) => list.map(({ sessionId, data }) => [sessionId, data]).sort()
    assert.deepEqual(plain(ours), plain(theirs), `seed ${seed}`)
    // Once more: what was kept of them.
    assert.deepEqual(await sessions.listSessionSummaries(projectKey), ours)
    const times = new Map((await sessions.listSessions(projectKey)).map((session) => [session.sessionId, session.mtime]))
    for (const { sessionId, mtime } of ours) assert.equal(mtime, times.get(sessionId))
  }
})

test("the kit's own functions work on it", { skip }, async (t) => {
  const { store, sessions } = opened(t)
  const memory = new kit.InMemorySessionStore()
  const random = randomFrom(7)
  const dir = folder(t)
  const sessionId = randomUUID()
  const projectKey = dir.replace(/[^a-zA-Z0-9]/g, '-')
  let parent = null
  const entries = Array.from({ length: 12 }, (_, place) => {
    const entry = { ...record(random, parent, sessionId), cwd: dir, type: place % 2 ? 'assistant' : 'user', uuid: randomUUID() }
    entry.message = place % 2 ? { role: 'assistant', content: [{ type: 'text', text: `answer ${place}` }] } : { role: 'user', content: `question ${place}` }
    parent = entry.uuid
    return entry
  })
  for (const one of [sessions, memory]) {
    await one.append({ projectKey, sessionId }, entries)
    await kit.renameSession(sessionId, 'A better name', { dir, sessionStore: one })
    await kit.tagSession(sessionId, 'kept', { dir, sessionStore: one })
  }
  const both = (ask) => Promise.all([sessions, memory].map(ask))
  const [ours, theirs] = await both((sessionStore) => kit.getSessionMessages(sessionId, { dir, sessionStore }))
  assert.equal(ours.length, 12)
  assert.deepEqual(ours, theirs)
  const lists = await both((sessionStore) => kit.listSessions({ dir, sessionStore }))
  const plain = (list) => list.map(({ lastModified, fileSize, ...rest }) => rest)
  assert.equal(lists[0][0].customTitle, 'A better name')
  assert.deepEqual(plain(lists[0]), plain(lists[1]))
  // It is a session of Claude Code like others.
  const [facts] = await store.sessions()
  assert.deepEqual([facts.family, facts.title, facts.messages], ['claude', 'A better name', 12])
  const { sessionId: forked } = await kit.forkSession(sessionId, { dir, sessionStore: sessions })
  assert.equal((await kit.getSessionMessages(forked, { dir, sessionStore: sessions })).length, 12)
  await kit.deleteSession(sessionId, { dir, sessionStore: sessions })
  assert.equal(await sessions.load({ projectKey, sessionId }), null)
})

test('appends that are not waited for keep their order', { skip }, async (t) => {
  const { sessions } = opened(t)
  const key = { projectKey: '-work', sessionId: randomUUID() }
  const entries = Array.from({ length: 40 }, (_, place) => ({ type: 'x', uuid: randomUUID(), place }))
  const appends = entries.map((entry) => {
    const append = sessions.append(key, [entry])
    entry.place = -1
    return append
  })
  await Promise.all(appends)
  assert.deepEqual((await sessions.load(key)).map((entry) => entry.place), entries.map((_, place) => place))
})

test('what cannot be appended is an error, and costs nothing else', { skip }, async (t) => {
  const { sessions } = opened(t)
  const key = { projectKey: '-work', sessionId: randomUUID() }
  const entry = { type: 'x', uuid: randomUUID() }
  await assert.rejects(sessions.append({ projectKey: '', sessionId: 's' }, [entry]), { code: 'INVALID_KEY' })
  await assert.rejects(sessions.append(key, [/** @type {any} */ ('text')]), { code: 'INVALID_ENTRY' })
  await sessions.append(key, [entry])
  // An empty subpath is none.
  assert.deepEqual(await sessions.load({ ...key, subpath: '' }), [entry])
  assert.equal(new ClaudeSessionStore(Store.inMemory()).listSessionSummaries, undefined)
})
