// `leafline/pi`: a session manager for pi whose sessions are in a store.
import os from 'node:os'
import path from 'node:path'
import crypto from 'node:crypto'
import { fileURLToPath } from 'node:url'

import { checkArgument } from '../arguments.js'
import { LazyList } from './lazy-list.js'
import { currentSystemMessage } from './system-message.js'
import { labelsOf, pathWithoutLabels, treeOf } from './tree.js'

export { projectContextEntry } from './projection.js'

/**
 * @typedef {import('leafline').Store} Store
 * @typedef {import('leafline').Session} Session
 * @typedef {import('leafline').SessionReader} SessionReader
 * @typedef {import('leafline').SessionFacts} SessionFacts
 * @typedef {import('leafline').PiOptions} PiOptions
 *
 * @typedef {{type: string, id: string, parentId: string | null, timestamp: string, [member: string]: any}} PiEntry
 */

/** Since this version compactions keep the system message, contexts are edited, and branches are chained without labels. */
const EDITED = [0, 87]

/** How much of a session is read at once when all of it is wanted: 8 MiB. */
const READ_BYTES = 8 << 20

/**
 * pi's session manager, as `createAgentSession({ sessionManager })` takes it, on a store.
 *
 * What it appends is on disk when the call returns, also before the first answer of the model. It reads the entries that are
 * asked for and no others, until `getEntries`, `getTree` or `createBranchedSession` is called, which need all of them. Other
 * managers and processes may append to the same session: their entries are seen, and each manager has its own leaf.
 */
export class PiSessionManager {
  /** @type {Store} */ #store
  /** @type {Session} */ #session
  /** @type {string} */ #cwd
  /** @type {string} */ #sessionDir
  /** @type {string} */ #sessionFile = ''
  /** @type {string | undefined} */ #version
  /** @type {boolean} */ #edited
  /** @type {any} */ #header
  /** @type {string | null} */ #leafId = null
  /** What was appended here, as the caller's own objects. @type {Map<string, PiEntry>} */ #appended = new Map()
  /** What was read, by ordinal; `null` is no entry. @type {Map<number, PiEntry | null>} */ #read = new Map()
  /** All entries, once they were asked for. @type {PiEntry[] | undefined} */ #all
  /** The ordinal after those. */ #next = 0
  /** The path to the leaf, with ordinals of what was not read. @type {{leaf: string, items: (number | PiEntry)[]} | undefined} */
  #path

  /**
   * @param {Store} store
   * @param {Session | undefined} session A new one if there is none.
   * @param {string} cwd
   * @param {PiOptions} options
   */
  constructor(store, session, cwd, options) {
    this.#store = store
    this.#version = options.version
    this.#edited = !options.version || isSince(options.version, EDITED)
    this.#cwd = this.#edited ? resolvePath(cwd) : cwd
    this.#sessionDir = options.sessionDir ? plainPath(options.sessionDir) : defaultSessionDir(this.#cwd)
    if (session) {
      this.#session = session
      this.#enter(session)
    } else {
      this.#session = this.#begin(options)
    }
  }

  /**
   * A new session. Nothing is stored until something is appended.
   * @param {Store} store
   * @param {string} cwd
   * @param {PiOptions} [options]
   */
  static create(store, cwd, options = {}) {
    checkGiven('create', store, options, { cwd })
    return new PiSessionManager(store, undefined, cwd, options)
  }

  /**
   * The session with an id, or the unique beginning of one, or that pi knows by the path of a file.
   * @param {Store} store
   * @param {string} session
   * @param {PiOptions} [options]
   */
  static open(store, session, options = {}) {
    checkGiven('open', store, options, { session })
    const found = store.sessionSync(idOf(session))
    const cwd = options.cwd ?? withReader(found, (reader) => reader.facts().cwd) ?? process.cwd()
    return new PiSessionManager(store, found, cwd, options)
  }

  /**
   * The session of a working directory with the latest message, or a new one.
   * @param {Store} store
   * @param {string} cwd
   * @param {PiOptions} [options]
   */
  static continueRecent(store, cwd, options = {}) {
    checkGiven('continueRecent', store, options, { cwd })
    const [newest] = store.sessionsSync({ family: 'pi', cwd: resolvePath(cwd), limit: 1 })
    return newest ? PiSessionManager.open(store, newest.id, { ...options, cwd }) : PiSessionManager.create(store, cwd, options)
  }

  /**
   * A new session with all entries of another one, for work in another directory.
   * @param {Store} store
   * @param {string} source
   * @param {string} targetCwd
   * @param {PiOptions} [options]
   */
  static forkFrom(store, source, targetCwd, options = {}) {
    checkGiven('forkFrom', store, options, { source, targetCwd })
    const forked = store.forkFromSync(idOf(source), resolvePath(targetCwd))
    return new PiSessionManager(store, forked, targetCwd, options)
  }

  /**
   * The sessions of a working directory, as pi's own list has them, the one with the latest message first.
   * @param {Store} store
   * @param {string} cwd
   * @param {PiOptions} [options]
   */
  static async list(store, cwd, options = {}) {
    checkGiven('list', store, options, { cwd })
    const all = await store.sessions({ family: 'pi', cwd: resolvePath(cwd) })
    return all.map((facts) => sessionInfo(store, facts, options))
  }

  /**
   * The sessions of all working directories.
   * @param {Store} store
   * @param {PiOptions} [options]
   */
  static async listAll(store, options = {}) {
    checkGiven('listAll', store, options)
    return (await store.sessions({ family: 'pi' })).map((facts) => sessionInfo(store, facts, options))
  }

  // What belongs to the session.

  /** Goes on in a session of the store that pi knows by a path; one that is not there is begun under that path.
   * @param {string} sessionFile */
  setSessionFile(sessionFile) {
    const file = resolvePath(sessionFile)
    try {
      this.#enter(this.#store.sessionSync(idOf(file)))
    } catch (error) {
      if (codeOf(error) !== 'SESSION_NOT_FOUND') throw error
      this.#begin({})
    }
    this.#sessionFile = file
  }

  /** @param {{id?: string, parentSession?: string}} [options] */
  newSession(options = {}) {
    this.#begin(options)
    return this.#sessionFile
  }

  isPersisted() {
    return true
  }

  getCwd() {
    return this.#cwd
  }

  getSessionDir() {
    return this.#sessionDir
  }

  usesDefaultSessionDir() {
    return this.#sessionDir === defaultSessionDir(this.#cwd)
  }

  getSessionId() {
    return this.#session.id
  }

  /** The path that pi would have the session at. No file is there. */
  getSessionFile() {
    return this.#sessionFile
  }

  getHeader() {
    return this.#header
  }

  getSessionName() {
    const name = this.#with((reader) => reader.facts().title)
    const exact = isLossy(name) ? this.getEntries().findLast((entry) => entry.type === 'session_info')?.name : name
    return exact?.trim() || undefined
  }

  // What is appended.

  /** @param {any} message */
  appendMessage(message) {
    return this.#append({ ...this.#entry('message'), message })
  }

  /** @param {string} thinkingLevel */
  appendThinkingLevelChange(thinkingLevel) {
    return this.#append({ ...this.#entry('thinking_level_change'), thinkingLevel })
  }

  /** @param {string} provider @param {string} modelId */
  appendModelChange(provider, modelId) {
    return this.#append({ ...this.#entry('model_change'), provider, modelId })
  }

  /** @param {string} kind @param {string} provider @param {string} model @param {any} usage @param {string} [note] */
  appendUsage(kind, provider, model, usage, note) {
    return this.getEntry(this.#append({ ...this.#entry('usage'), kind, provider, model, usage, ...(note ? { note } : {}) }))
  }

  /**
   * @param {string} summary @param {string | undefined} firstKeptEntryId @param {number} tokensBefore
   * @param {any} [details] @param {boolean} [fromHook] @param {any} [usage]
   */
  appendCompaction(summary, firstKeptEntryId, tokensBefore, details, fromHook, usage) {
    if (!this.#edited) {
      return this.#append({ ...this.#entry('compaction'), summary, firstKeptEntryId, tokensBefore, details, fromHook })
    }
    const system = currentSystemMessage(this.buildSessionProjection().messages)
    const entry = this.#entry('compaction')
    const timestamp = new Date(entry.timestamp).getTime()
    return this.#append({
      ...entry,
      summary,
      firstKeptEntryId: firstKeptEntryId ?? entry.id,
      tokensBefore,
      details,
      usage,
      fromHook,
      ...(system ? { systemMessage: { ...system, timestamp } } : {}),
    })
  }

  /** @param {string} customType @param {any} [data] */
  appendCustomEntry(customType, data) {
    const { type, ...place } = this.#entry('custom')
    return this.#append({ type, customType, data, ...place })
  }

  /** @param {string} customType @param {any} content @param {boolean} display @param {any} [details] */
  appendCustomMessageEntry(customType, content, display, details) {
    const { type, ...place } = this.#entry('custom_message')
    return this.#append({ type, customType, content, display, details, ...place })
  }

  /** @param {string} name */
  appendSessionInfo(name) {
    const plain = this.#edited ? name.replace(/[\r\n]+/g, ' ').trim() : name.trim()
    return this.#append({ ...this.#entry('session_info'), name: plain })
  }

  /** @param {string} targetId @param {string | undefined} label */
  appendLabelChange(targetId, label) {
    this.#mustHave(targetId)
    return this.#append({ ...this.#entry('label'), targetId, label })
  }

  /** @param {string} targetId @param {{content: any} | null} replacement */
  appendContextEdit(targetId, replacement) {
    const given = replacement?.content
    if (replacement !== null && typeof given !== 'string' && !Array.isArray(given)) {
      throw new Error('Context edit replacement must be null or contain string/array content')
    }
    const target = this.getEntry(targetId)
    if (!target) throw notFound(targetId)
    if (!this.getBranch().some((entry) => entry.id === targetId)) {
      throw new Error(`Entry ${targetId} is not on the active branch`)
    }
    const role = target.type === 'message' ? target.message.role : target.type === 'custom_message' ? 'custom' : undefined
    if (!['user', 'assistant', 'toolResult', 'custom'].includes(role) || (role === 'custom' && target.type === 'message')) {
      throw new Error(`Entry ${targetId} does not contribute editable model content`)
    }
    const inBlocks = (role === 'assistant' || role === 'toolResult') && typeof given === 'string'
    const kept = inBlocks ? { content: [{ type: 'text', text: given }] } : replacement
    return this.#append({ ...this.#entry('context_edit'), targetId, replacement: kept })
  }

  // What is read.

  getLeafId() {
    return this.#leafId
  }

  getLeafEntry() {
    return this.#leafId ? this.getEntry(this.#leafId) : undefined
  }

  /** @param {string} id @returns {PiEntry | undefined} */
  getEntry(id) {
    const appended = this.#appended.get(id)
    if (appended) return appended
    if (typeof id !== 'string' || !this.#session.hasEntrySync(id)) return undefined
    return this.#with((reader) => {
      const { ordinal, line } = reader.entrySync(id)
      return this.#take(ordinal, line) ?? undefined
    })
  }

  /** @param {string | null} parentId @returns {PiEntry[]} */
  getChildren(parentId) {
    return this.#with((reader) => {
      const isEntry = parentId !== null && this.#session.hasEntrySync(parentId)
      const children = reader.childrenSync(isEntry ? parentId : null)
      const entries = children.map(({ ordinal, line }) => this.#take(ordinal, line))
      // Roots are also those whose parents are not there, under the names of these.
      return /** @type {PiEntry[]} */ (entries.filter((entry) => entry?.parentId === parentId))
    })
  }

  /** @param {string} id @returns {string | undefined} */
  getLabel(id) {
    const label = this.#with((reader) => reader.labelSync(id))
    return (isLossy(label) ? labelsOf(this.getEntries()).get(id)?.label : label) ?? undefined
  }

  /** @param {string} [fromId] @returns {PiEntry[]} */
  getBranch(fromId) {
    const start = fromId ?? this.#leafId
    return start && this.#session.hasEntrySync(start) ? this.#list(this.#pathTo(start)) : []
  }

  /** @returns {PiEntry[]} */
  buildContextEntries() {
    return this.buildSessionProjection().entries.map((entry) => entry.sourceEntry)
  }

  /**
   * The context by entries: which messages each of them gives.
   * @returns {{entries: {sourceEntry: PiEntry, messages: any[]}[], messages: any[], thinkingLevel: string, model: any}}
   */
  buildSessionProjection() {
    const leaf = this.#leafId
    if (leaf === null) return { entries: [], messages: [], thinkingLevel: 'off', model: null }
    return this.#with((reader) => {
      const { ordinals, messages, ...settings } = reader.contextEntriesSync({ leaf, asOf: this.#version })
      const places = reader.historySync({ leaf })
      /** @type {Map<number, any[]>} */
      const byPlace = new Map(places.map((place) => [place, []]))
      ordinals.forEach((place, index) => byPlace.get(place)?.push(messages[index]))
      const sources = this.#load(reader, places)
      const edited = new Set(sources.filter((entry) => entry?.type === 'context_edit').map((entry) => entry?.targetId))
      const entries = []
      for (const [index, sourceEntry] of sources.entries()) {
        if (!sourceEntry || (this.#edited && isDropped(sourceEntry, places[index], sources[0], places[0]))) continue
        const made = byPlace.get(places[index]) ?? []
        const isPlain = sourceEntry.type === 'message' && made.length === 1 && !edited.has(sourceEntry.id)
        // pi compares messages by identity with those that it has appended.
        const isSame = isPlain && sourceEntry.message.content != null
        entries.push({ sourceEntry, messages: isSame ? [sourceEntry.message] : made })
      }
      const { thinkingLevel, model } = /** @type {any} */ (settings)
      return { entries, messages: entries.flatMap((entry) => entry.messages), thinkingLevel, model }
    })
  }

  buildSessionContext() {
    const { messages, thinkingLevel, model } = this.buildSessionProjection()
    return { messages, thinkingLevel, model }
  }

  /** How many entries the session has, without reading them (pi 1.x). */
  getEntryCount() {
    return this.#with((reader) => reader.facts().entries)
  }

  /** All entries. Once called, they stay in memory. @returns {PiEntry[]} */
  getEntries() {
    const all = (this.#all ??= [])
    this.#with((reader) => {
      for (;;) {
        const lines = reader.linesFromSync(this.#next, READ_BYTES)
        if (lines.length === 0) return
        for (const line of lines) {
          const entry = this.#take(this.#next++, line)
          if (entry) all.push(entry)
        }
      }
    })
    return all.slice()
  }

  getTree() {
    return treeOf(this.getEntries())
  }

  // Where the next entry goes.

  /** @param {string} branchFromId */
  branch(branchFromId) {
    this.#mustHave(branchFromId)
    this.#leafId = branchFromId
  }

  resetLeaf() {
    this.#leafId = null
  }

  /** @param {string | null} branchFromId @param {string} summary @param {any} [details] @param {boolean} [fromHook] @param {any} [usage] */
  branchWithSummary(branchFromId, summary, details, fromHook, usage) {
    if (branchFromId !== null) this.#mustHave(branchFromId)
    const left = this.#edited ? this.#leafId : branchFromId
    this.#leafId = branchFromId
    const entry = { ...this.#entry('branch_summary'), fromId: left ?? 'root', summary, details }
    return this.#append(this.#edited ? { ...entry, usage, fromHook } : { ...entry, fromHook })
  }

  /** Goes on in a new session with the path to an entry, and returns the path of its file.
   * @param {string} leafId */
  createBranchedSession(leafId) {
    const path = [...this.getBranch(leafId)]
    if (path.length === 0) throw notFound(leafId)
    const kept = pathWithoutLabels(path, this.#edited)
    const labels = labelsOf(this.getEntries())
    const ids = new Set(kept.map((entry) => entry.id))
    let parentId = kept.at(-1)?.id || null
    const lines = [...kept]
    for (const [targetId, { label, timestamp }] of labels) {
      if (!kept.some((entry) => entry.id === targetId)) continue
      const id = freshId((id) => ids.has(id))
      ids.add(id)
      lines.push({ type: 'label', id, parentId, timestamp, targetId, label })
      parentId = id
    }
    this.#begin({ parentSession: this.#sessionFile })
    if (lines.length > 0) {
      this.#session.appendLinesSync(lines.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
      this.#leafId = lines[lines.length - 1].id
    }
    return this.#sessionFile
  }

  // Inside.

  /** Begins a session, in memory until something is appended. @param {{id?: string, parentSession?: string}} options */
  #begin({ id, parentSession }) {
    if (this.#edited && id !== undefined && !/^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?$/.test(id)) {
      throw new Error(
        "Session id must be non-empty, contain only alphanumeric characters, '-', '_', and '.', and start and end with an alphanumeric character",
      )
    }
    return this.#enter(this.#store.createDeferredSessionSync({ family: 'pi', cwd: this.#cwd, id, parentSession }, this.#version))
  }

  /** @param {Session} session */
  #enter(session) {
    this.#session = session
    this.#appended = new Map()
    this.#read = new Map()
    this.#all = undefined
    this.#next = 0
    this.#path = undefined
    this.#with((reader) => {
      const header = reader.headerSync()
      this.#header = header && parsed(header.line)
      this.#leafId = reader.leafSync()?.id ?? null
    })
    this.#sessionFile = fileOf(this.#sessionDir, this.#header?.timestamp, session.id)
    return session
  }

  /** @template T @param {(reader: SessionReader) => T} read @returns {T} */
  #with(read) {
    return withReader(this.#session, read)
  }

  /** @param {string} id */
  #mustHave(id) {
    if (!this.#session.hasEntrySync(id)) throw notFound(id)
  }

  /** The beginning of every entry. @param {string} type @returns {PiEntry} */
  #entry(type) {
    return { type, id: freshId((id) => this.#appended.has(id)), parentId: this.#leafId, timestamp: new Date().toISOString() }
  }

  /** Returns the entry's id. @param {PiEntry} entry */
  #append(entry) {
    // The append finds out itself whether the id is taken. To ask first would be a read, and a read takes in what was appended.
    while (this.#session.appendLinesSync(`${JSON.stringify(entry)}\n`, { ignoreRepeated: true }).added === 0) {
      const { id } = entry
      entry.id = freshId((id) => this.#session.hasEntrySync(id))
      if (entry.firstKeptEntryId === id) entry.firstKeptEntryId = entry.id
    }
    this.#appended.set(entry.id, entry)
    if (this.#path?.leaf === entry.parentId) {
      this.#path.leaf = entry.id
      this.#path.items.push(entry)
    }
    this.#leafId = entry.id
    return entry.id
  }

  /** The entry of a line that was read; `null` if pi would skip it. @param {number} ordinal @param {string} line */
  #take(ordinal, line) {
    const known = this.#read.get(ordinal)
    if (known !== undefined) return known
    const value = parsed(line)
    const entry = value && typeof value === 'object' && value.type !== 'session' ? value : null
    const taken = (entry && this.#appended.get(entry.id)) ?? entry
    this.#read.set(ordinal, taken)
    return taken
  }

  /** @param {SessionReader} reader @param {number[]} ordinals */
  #load(reader, ordinals) {
    const missing = ordinals.filter((ordinal) => !this.#read.has(ordinal))
    const lines = reader.linesAtSync(missing)
    missing.forEach((ordinal, index) => this.#take(ordinal, lines[index] ?? ''))
    return ordinals.map((ordinal) => this.#read.get(ordinal) ?? null)
  }

  /** The path to an entry, by ordinals where it was not read. @param {string} id @returns {(number | PiEntry)[]} */
  #pathTo(id) {
    if (this.#path?.leaf === id) return this.#path.items
    const items = this.#with((reader) => reader.historySync({ leaf: id, full: true }))
    if (id === this.#leafId) this.#path = { leaf: id, items }
    return items
  }

  /** @param {(number | PiEntry)[]} items @returns {PiEntry[]} */
  #list(items) {
    const known = items.map((item) => (typeof item === 'number' ? (this.#read.get(item) ?? item) : item))
    if (!known.some((item) => typeof item === 'number')) return /** @type {PiEntry[]} */ (known)
    return LazyList.of(known, (ordinals) => this.#with((reader) => this.#load(reader, ordinals)))
  }
}

/** Checks what a call of `PiSessionManager` is given.
 * @param {string} call @param {Store} store @param {PiOptions} options @param {Record<string, string>} [texts] */
function checkGiven(call, store, options, texts = {}) {
  const name = `PiSessionManager.${call}`
  checkArgument(name, 'store', { class: 'Store' }, store)
  for (const [place, text] of Object.entries(texts)) checkArgument(name, place, 'string', text)
  checkArgument(name, 'options', { record: 'PiOptions' }, options)
}

/** Whether pi leaves an entry out that a compaction keeps: the compaction has the system message itself.
 * @param {PiEntry} entry @param {number} place @param {PiEntry | null} first @param {number} compaction */
function isDropped(entry, place, first, compaction) {
  return first?.type === 'compaction' && place < compaction && entry.type === 'message' && entry.message.role === 'system'
}

/** @param {Store} store @param {SessionFacts} facts @param {PiOptions} options */
function sessionInfo(store, facts, { sessionDir }) {
  const dir = sessionDir ?? defaultSessionDir(facts.cwd ?? '')
  const created = facts.created === undefined ? undefined : new Date(facts.created)
  return {
    path: fileOf(dir, created?.toISOString(), facts.id),
    id: facts.id,
    cwd: facts.cwd ?? '',
    name: facts.title,
    parentSessionPath: facts.parentSession,
    created: created ?? new Date(NaN),
    modified: new Date(facts.modified ?? facts.created ?? NaN),
    messageCount: facts.messages,
    firstMessage: facts.firstPrompt ?? '(no messages)',
    /** It is read from the store when it is asked for. */
    get allMessagesText() {
      const session = store.sessionSync(facts.id)
      return withReader(session, (reader) => reader.allMessagesTextSync())
    },
  }
}

/** @template T @param {Session} session @param {(reader: SessionReader) => T} read @returns {T} */
function withReader(session, read) {
  const reader = session.readerSync()
  try {
    return read(reader)
  } finally {
    reader.close()
  }
}

/** Whether a text from the store may have had half a surrogate pair, which its index does not keep.
 * @param {string | null | undefined} text */
function isLossy(text) {
  return text?.includes('\ufffd') ?? false
}

/** @param {string} line @returns {any} */
function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    // pi skips such a line.
    return undefined
  }
}

/** Eight hex digits that nothing has, as pi makes them. @param {(id: string) => boolean} isTaken */
function freshId(isTaken) {
  for (let attempt = 0; attempt < 100; attempt++) {
    const id = crypto.randomUUID().slice(0, 8)
    if (!isTaken(id)) return id
  }
  return crypto.randomUUID()
}

/** @param {string} id */
function notFound(id) {
  return new Error(`Entry ${id} not found`)
}

/** @param {unknown} error */
function codeOf(error) {
  return /** @type {{code?: string}} */ (error).code
}

/** @param {string} dir @param {string | undefined} timestamp @param {string} id */
function fileOf(dir, timestamp, id) {
  return path.join(dir, `${(timestamp ?? '').replace(/[:.]/g, '-')}_${id}.jsonl`)
}

/** The id in the name of a session's file, or what was given. @param {string} session */
function idOf(session) {
  const name = path.basename(session)
  return name.endsWith('.jsonl') ? name.slice(name.indexOf('_') + 1, -'.jsonl'.length) : session
}

/** @param {string} given */
function plainPath(given) {
  if (given === '~') return os.homedir()
  if (given.startsWith('~/')) return path.join(os.homedir(), given.slice(2))
  return given.startsWith('file://') ? fileURLToPath(given) : given
}

/** @param {string} given */
function resolvePath(given) {
  return path.resolve(plainPath(given))
}

/** @param {string} cwd */
function defaultSessionDir(cwd) {
  const agentDir = process.env.PI_CODING_AGENT_DIR
  const base = agentDir ? resolvePath(agentDir) : path.join(os.homedir(), '.pi', 'agent')
  return path.join(base, 'sessions', `--${cwd.replace(/^[/\\]/, '').replace(/[/\\:]/g, '-')}--`)
}

/** @param {string} version @param {number[]} than */
function isSince(version, than) {
  const parts = version.split('.').map(Number)
  const at = parts.findIndex((part, place) => part !== (than[place] ?? 0))
  return at < 0 || parts[at] > (than[at] ?? 0)
}
