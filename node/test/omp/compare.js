// The real omp over its own storage of files and over ours, side by side: random operations of its session manager. Run by bun:
//
//   bun node/test/omp/compare.js SEED STEPS
//
// LEAFLINE_OMP is the folder of the package @oh-my-pi/pi-coding-agent. Prints a line for each difference, and fails if there is
// one. Both play in the same folder, one after the other, with the same clock and the same ids, so that their files must be the
// same byte for byte.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

// omp's own arguments are not these.
const [seed = 1, steps = 60] = process.argv.splice(2).map(Number)
const { SessionManager, dictate } = await import('../../../tests/omp-judge/omp.mjs')
const { FileSessionStorage } = await import(
  pathToFileURL(join(process.env.LEAFLINE_OMP, 'src', 'session', 'session-storage.ts')).href
)
const { Store } = await import('../../index.js')
const { LeaflineSessionStorage } = await import('../../omp/index.js')

/** Numbers from a seed: mulberry32. */
function random(seed) {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  return { below: (bound) => next() % bound, pick: (list) => list[next() % list.length] }
}

const SUPPRESSED = { suppressBreadcrumb: true }
const IMAGE = Buffer.from('a picture of an omp '.repeat(80)).toString('base64')
const usage = { input: 10, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 30, cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 } }

/** What is done, of the scene and of chance. Each is played with the same numbers on both sides. */
const operations = {
  user: ({ manager }, chance) => {
    const text = 'Warum? '.repeat(1 + chance.below(40))
    const content = chance.below(5) === 0 ? [{ type: 'text', text }, { type: 'image', data: IMAGE, mimeType: 'image/png' }] : text
    return manager.appendMessage({ role: 'user', content, timestamp: 1 })
  },
  assistant: ({ manager }, chance) =>
    manager.appendMessage({
      role: 'assistant',
      content: [{ type: 'text', text: `Because ${'é'.repeat(chance.below(30))}` }],
      api: 'anthropic-messages',
      provider: 'anthropic',
      model: 'claude-sonnet-4-5',
      usage,
      stopReason: 'stop',
      timestamp: 2,
    }),
  model: ({ manager }, chance) => manager.appendModelChange(chance.pick(['a/one', 'b/two']), chance.pick([undefined, 'default', 'plan'])),
  thinking: ({ manager }, chance) => manager.appendThinkingLevelChange(chance.pick(['low', 'high'])),
  mode: ({ manager }) => manager.appendModeChange('plan', { planFile: '/tmp/plan.md' }),
  custom: ({ manager }, chance) => manager.appendCustomEntry('state', { n: chance.below(9) }),
  reset: ({ manager }) => manager.resetLeaf() ?? null,
  label: ({ manager }, chance) => manager.appendLabelChange(entryOf(manager, chance), chance.pick([undefined, 'here', 'there'])),
  branch: ({ manager }, chance) => manager.branch(entryOf(manager, chance)) ?? null,
  summary: ({ manager }, chance) => manager.branchWithSummary(entryOf(manager, chance), 'Left a branch', { n: 1 }, true),
  compaction: ({ manager }, chance) => manager.appendCompaction('So far', 'Short', entryOf(manager, chance), 4000),
  title: ({ manager }, chance) => manager.setSessionName(chance.pick(['Tide clock', 'Wecker für später', 'x'.repeat(400)]), chance.pick(['auto', 'user'])),
  rewrite: ({ manager }) => manager.rewriteEntries(),
  flush: ({ manager }) => manager.flush(),
  flushSync: ({ manager }) => manager.flushSync() ?? null,
  onDisk: ({ manager }) => manager.ensureOnDisk(),
  fork: async ({ manager }) => (await manager.fork()) ?? null,
  branched: ({ manager }, chance) => manager.createBranchedSession(entryOf(manager, chance)) ?? null,
  begin: ({ manager }) => manager.newSession(),
  // Without another folder: omp moves the file itself, past its storage.
  move: ({ manager }, chance) => manager.moveTo(chance.pick(['/work/one', '/work/two']), dirname(manager.getSessionFile())),
  draft: ({ manager }, chance) => manager.saveDraft(chance.pick(['', 'What I was about to say', 'ü'.repeat(300)])),
  consume: ({ manager }) => manager.consumeDraft(),
  drop: async ({ manager, storage, folder }, chance) => {
    const files = storage.listFilesSync(folder, '*.jsonl').sort()
    const file = files.length > 0 ? chance.pick(files) : join(folder, 'nowhere.jsonl')
    // Of the session at hand omp would go on writing into nothing, in a folder.
    if (file === manager.getSessionFile()) return null
    return manager.dropSession(file)
  },
  reopen: async (scene) => {
    const file = scene.manager.getSessionFile()
    await scene.manager.close()
    scene.manager = await SessionManager.open(file, scene.folder, scene.storage, SUPPRESSED)
  },
  other: async (scene, chance) => {
    const files = scene.storage.listFilesSync(scene.folder, '*.jsonl').sort()
    if (files.length === 0) return null
    scene.manager = await SessionManager.open(chance.pick(files), scene.folder, scene.storage, SUPPRESSED)
  },
  // Two managers on one session: the second writes, and then the first goes on.
  second: async ({ manager, storage, folder }) => {
    const file = manager.getSessionFile()
    if (!storage.existsSync(file)) return null
    const second = await SessionManager.open(file, folder, storage, SUPPRESSED)
    const id = second.appendCustomEntry('from another one', {})
    await second.flush()
    await second.close()
    return id
  },
  list: async ({ folder, storage }) => {
    const sessions = await SessionManager.list('/work', folder, storage)
    return sessions.map(({ path, id, title, messageCount, firstMessage, size }) => ({ path, id, title, messageCount, firstMessage, size })).sort((a, b) => (a.path < b.path ? -1 : 1))
  },
  missing: ({ storage, folder }) => storage.readText(join(folder, 'nowhere.jsonl')),
  statMissing: ({ storage, folder }) => storage.statSync(join(folder, 'nowhere.jsonl')),
  unlinkMissing: ({ storage, folder }) => storage.unlink(join(folder, 'nowhere.jsonl')),
  slices: ({ manager, storage }, chance) => storage.readTextSlices(manager.getSessionFile(), chance.below(600), chance.below(600)),
}

/** The ones that are usual. */
const USUAL = ['user', 'assistant', 'user', 'assistant', 'custom', 'model', 'label', 'branch', 'title']

function entryOf(manager, chance) {
  const entries = manager.getEntries()
  return entries.length === 0 || chance.below(12) === 0 ? 'nowhere' : chance.pick(entries).id
}

/** Everything that the storage has below the folder. */
async function filesOf(storage, folder, sessions) {
  const files = {}
  for (const below of [folder, ...sessions]) {
    for (const file of storage.listFilesSync(below, '*').sort()) files[file] = await storage.readText(file)
  }
  return files
}

async function play(storage, folder) {
  const chance = random(seed)
  const transcript = []
  let ids = 0
  let sessions = 0
  let now = 1_771_300_000_000
  Bun.randomUUIDv7 = () => `00000000-0000-7000-8000-${String(++sessions).padStart(12, '0')}`
  const scene = { storage, folder }
  const known = new Set()
  const act = async (name, action) => {
    now += 1000
    const fresh = Array.from({ length: 400 }, () => (++ids).toString(16).padStart(8, '0'))
    let said
    try {
      said = { gave: (await dictate({ now, ids: fresh }, action)) ?? null }
    } catch (error) {
      const { name, message, code } = error
      said = { threw: { name, message, code } }
    }
    const { manager } = scene
    const file = manager?.getSessionFile()
    if (file) known.add(file.slice(0, -'.jsonl'.length))
    transcript.push({
      name,
      said,
      file,
      context: manager && JSON.stringify(manager.buildSessionContext()),
      files: await filesOf(storage, folder, known),
    })
  }
  await act('create', () => void (scene.manager = SessionManager.create('/work', folder, storage)))
  for (let step = 0; step < steps; step++) {
    const name = chance.below(3) > 0 ? chance.pick(USUAL) : chance.pick(Object.keys(operations))
    await act(name, () => operations[name](scene, chance))
  }
  await act('close', () => scene.manager.close())
  return transcript
}

const home = mkdtempSync(join(tmpdir(), 'leafline-compare-'))
try {
  const folder = join(home, 'sessions')
  mkdirSync(folder)
  const ofFiles = await play(new FileSessionStorage(), folder)
  rmSync(folder, { recursive: true })
  mkdirSync(folder)
  const store = Store.openSync(join(home, 'store.leafline'))
  const ofStore = await play(new LeaflineSessionStorage(store), folder)
  store.closeSync()
  let differences = 0
  for (const [place, expected] of ofFiles.entries()) {
    const [one, other] = [expected, ofStore[place]].map((step) => JSON.stringify(step))
    if (one === other) continue
    const at = [...one].findIndex((sign, index) => sign !== other[index])
    console.log(`seed ${seed}, step ${place} (${expected.name}), character ${at}:`)
    console.log(`  files: ${one.slice(Math.max(0, at - 200), at + 300)}`)
    console.log(`  store: ${other.slice(Math.max(0, at - 200), at + 300)}`)
    differences++
    break
  }
  const written = Object.keys(ofFiles.at(-1).files).length
  const failed = ofFiles.filter((step) => step.said.threw).length
  console.log(JSON.stringify({ seed, steps, files: written, failed, differences }))
  process.exitCode = differences > 0 ? 1 : 0
} finally {
  rmSync(home, { recursive: true, force: true })
}
