// What pi's sessions cost through a store and from their files: `node bench/pi.js FOLDER`, after `npm run build`.
//
// FOLDER has 100MB.jsonl and 1GB.jsonl, made by `cargo run --release -p leafline-generate -- --bytes 1GB FOLDER/1GB.jsonl`.
// Each case is a process of its own, so that its memory is its own.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

import { installed } from '../../tests/judges/pins.mjs'
import { Store } from '../index.js'
import { PiSessionManager } from '../pi/index.js'

const places = {
  '0.73.1': process.env.LEAFLINE_PI ?? installed('pi-0.73').package,
  '0.87.1': process.env.LEAFLINE_PI_0_87 ?? installed('pi-0.87').package,
}
const [, , folder, one, ...given] = process.argv
const cases = { store: openFromStore, file: openFromFile, 'append-store': appendToStore, 'append-file': appendToFile }

async function all() {
  for (const size of ['100MB', '1GB']) {
    const file = path.join(folder, `${size}.jsonl`)
    const store = await Store.open(path.join(folder, `${size}.leafline`))
    await store.importFiles([file])
    await store.close()
    for (const version of Object.keys(places)) {
      for (const way of ['store', 'file']) {
        const runs = Array.from({ length: 3 }, () => run(way, [size, version]))
        if (runs.some((each) => each.failed)) console.log(`open ${size}, pi ${version}, ${way}: ${runs[0].failed}`)
        else console.log(`open ${size}, pi ${version}, ${way}: ${middle(runs, 'ms')} ms, ${middle(runs, 'megabytes')} MB, ${runs[0].messages} messages`)
      }
    }
  }
  for (const way of ['append-store', 'append-file']) {
    const runs = Array.from({ length: 3 }, () => run(way, []))
    console.log(`${way}: median ${middle(runs, 'median')} us, 99 % within ${middle(runs, 'most')} us`)
  }
}

function run(way, args) {
  try {
    const options = ['--expose-gc', '--max-old-space-size=12000', import.meta.filename, folder, way, ...args]
    return JSON.parse(execFileSync(process.execPath, options, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }))
  } catch (error) {
    return { failed: `failed: ${error.stderr?.split('\n').find((line) => /Error|FATAL/.test(line)) ?? error.message}` }
  }
}

function middle(runs, member) {
  return runs.map((each) => each[member]).sort((a, b) => a - b)[1]
}

/** What `createAgentSession` asks of a manager when it opens a session. */
async function opened(manager, began) {
  const context = manager.buildSessionContext()
  manager.getBranch().some((entry) => entry.type === 'thinking_level_change')
  const ms = Math.round((performance.now() - began) * 10) / 10
  // The most that was needed at once, in this process.
  return { ms, messages: context.messages.length, megabytes: Math.round(process.resourceUsage().maxRSS / 1000) }
}

async function openFromStore(size, version) {
  const began = performance.now()
  const store = Store.openSync(path.join(folder, `${size}.leafline`))
  const [facts] = store.sessionsSync({ limit: 1 })
  return opened(PiSessionManager.open(store, facts.id, { version }), began)
}

async function openFromFile(size, version) {
  const { SessionManager } = await import(pathToFileURL(path.join(places[version], 'dist/core/session-manager.js')).href)
  const began = performance.now()
  return opened(SessionManager.open(path.join(folder, `${size}.jsonl`)), began)
}

const message = { role: 'assistant', content: [{ type: 'text', text: 'as long as an answer often is. '.repeat(20) }] }

function timed(append) {
  const times = []
  for (let count = 0; count < 1000; count++) {
    const began = performance.now()
    append()
    times.push((performance.now() - began) * 1000)
  }
  times.sort((a, b) => a - b)
  return { median: Math.round(times[500]), most: Math.round(times[990]) }
}

async function appendToStore() {
  const place = fs.mkdtempSync(path.join(folder, 'append-'))
  const manager = PiSessionManager.create(Store.openSync(path.join(place, 'sessions.leafline')), '/work')
  manager.appendMessage(message)
  const times = timed(() => manager.appendMessage(message))
  fs.rmSync(place, { recursive: true })
  return times
}

/** pi's own append, and then the `fsync` that it does not do. */
async function appendToFile() {
  const { SessionManager } = await import(pathToFileURL(path.join(places['0.73.1'], 'dist/core/session-manager.js')).href)
  const place = fs.mkdtempSync(path.join(folder, 'append-'))
  const manager = SessionManager.create('/work', place)
  manager.appendMessage(message)
  const file = fs.openSync(manager.getSessionFile(), 'r+')
  const times = timed(() => {
    manager.appendMessage(message)
    fs.fsyncSync(file)
  })
  fs.rmSync(place, { recursive: true })
  return times
}

if (one) console.log(JSON.stringify(await cases[one](...given)))
else await all()
