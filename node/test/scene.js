// Where the tests work.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'

import { installed } from '../../tests/judges/pins.mjs'

/** The repository's sample sessions. */
export const samples = path.join(import.meta.dirname, '../../import/samples')

/** A folder that is deleted when the test ends. */
export function folder(t) {
  const place = fs.mkdtempSync(path.join(os.tmpdir(), 'leafline-node-'))
  t.after(() => fs.rmSync(place, { recursive: true, force: true }))
  return place
}

/** Whole numbers below a bound, the same ones for the same seed (xorshift). */
export function randomFrom(seed) {
  let state = (seed * 2654435761) >>> 0 || 1
  return (bound) => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % bound
  }
}

/** Runs a program until it has printed some lines, kills it, and gives what it had printed. */
export async function crash(program, given, lines = 25, { runner = process.execPath, env = process.env } = {}) {
  const child = spawn(runner, [program, ...given], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let printed = ''
  child.stdout.on('data', (data) => {
    printed += data
    if (printed.split('\n').length > lines) child.kill('SIGKILL')
  })
  await once(child, 'close')
  // A line that was cut was not acknowledged.
  return printed.slice(0, printed.lastIndexOf('\n') + 1)
}

const bunFile = path.join(installed('omp').folder, 'node_modules/.bin/bun')

/** Bun, if it is installed. */
export const bun = process.env.LEAFLINE_BUN ?? (fs.existsSync(bunFile) ? bunFile : undefined)

/** A message as pi has it. */
export function message(role, text) {
  const base = { role, content: role === 'user' ? text : [{ type: 'text', text }], timestamp: 1771237230000 }
  return role === 'assistant'
    ? { ...base, provider: 'anthropic', model: 'claude', api: 'a', stopReason: 'stop', usage: { input: 1, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 2, cost: { total: 0 } } }
    : base
}

/** What a message of a context says. */
export function textOf({ content, role }) {
  return typeof content === 'string' ? content : content === undefined ? role : content.map((block) => block.text).join()
}
