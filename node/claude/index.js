// `leafline/claude`: the `SessionStore` of Claude's agent kit, on a store.
import { checkArgument } from '../arguments.js'
import { ClaudeTranscripts } from '../index.js'

/**
 * @typedef {import('leafline').Store} Store
 * @typedef {import('leafline').ClaudeSummary} ClaudeSummary
 * @typedef {{projectKey: string, sessionId: string, subpath?: string}} SessionKey
 * @typedef {{type: string, uuid?: string, timestamp?: string, [member: string]: unknown}} SessionStoreEntry
 * @typedef {{sessionId: string, mtime: number, data: Record<string, unknown>}} SessionSummaryEntry
 * @typedef {(prev: SessionSummaryEntry | undefined, key: SessionKey, entries: any[], options?: {mtime?: number}) =>
 *   SessionSummaryEntry} FoldSessionSummary
 */

/** The name under which summaries of this kit are kept: the Python kit has a form of its own. */
const FORM = '@anthropic-ai/claude-agent-sdk'

/** Bytes of entries that are folded at a time: 1 MiB. */
const FOLD_BYTES = 1 << 20

/** Summaries that are kept in one commit. */
const KEPT_AT_ONCE = 256

/** A key without what later kits may add. @param {SessionKey} key @returns {SessionKey} */
const plain = ({ projectKey, sessionId, subpath }) => ({ projectKey, sessionId, subpath })

/**
 * What `query({ options: { sessionStore } })` of `@anthropic-ai/claude-agent-sdk` mirrors sessions to and resumes them from.
 *
 * An entry that is appended twice, by its `uuid`, is there once. What was appended is on disk when the promise is fulfilled.
 */
export class ClaudeSessionStore {
  /** @type {ClaudeTranscripts} */ #transcripts
  /** The last append to each transcript, so that the next one comes after it. @type {Map<string, Promise<void>>} */
  #appends = new Map()

  /**
   * With the kit's own `foldSessionSummary`, the store keeps a summary of each session, and lists of sessions read no
   * transcripts; it is folded of the entries that came since, when a list is asked for.
   * @param {Store} store
   * @param {{foldSessionSummary?: FoldSessionSummary}} [kit]
   */
  constructor(store, { foldSessionSummary } = {}) {
    checkArgument('new ClaudeSessionStore', 'store', { class: 'Store' }, store)
    this.#transcripts = new ClaudeTranscripts(store)
    /** @type {((projectKey: string) => Promise<SessionSummaryEntry[]>) | undefined} */
    this.listSessionSummaries = foldSessionSummary && ((projectKey) => this.#summaries(projectKey, foldSessionSummary))
  }

  /** @param {SessionKey} key @param {SessionStoreEntry[]} entries @returns {Promise<void>} */
  append(key, entries) {
    if (entries.length === 0) return Promise.resolve()
    // Now: the caller may change the entries afterwards.
    const lines = entries.map((entry) => JSON.stringify(entry)).join('\n')
    const name = JSON.stringify([key.projectKey, key.sessionId, key.subpath || null])
    const before = this.#appends.get(name) ?? Promise.resolve()
    const append = before.catch(() => {}).then(() => this.#transcripts.append(plain(key), lines))
    this.#appends.set(name, append)
    const forget = () => {
      if (this.#appends.get(name) === append) this.#appends.delete(name)
    }
    append.then(forget, forget)
    return append
  }

  /** @param {SessionKey} key @returns {Promise<SessionStoreEntry[] | null>} */
  load(key) {
    return this.#transcripts.load(plain(key))
  }

  /** @param {string} projectKey @returns {Promise<{sessionId: string, mtime: number}[]>} */
  listSessions(projectKey) {
    return this.#transcripts.listSessions(projectKey)
  }

  /** @param {SessionKey} key @returns {Promise<void>} */
  delete(key) {
    return this.#transcripts.delete(plain(key))
  }

  /** @param {{projectKey: string, sessionId: string}} key @returns {Promise<string[]>} */
  listSubkeys({ projectKey, sessionId }) {
    return this.#transcripts.listSubkeys(projectKey, sessionId)
  }

  /** @param {string} projectKey @param {FoldSessionSummary} fold */
  async #summaries(projectKey, fold) {
    const folded = []
    /** @type {ClaudeSummary[]} */
    let changed = []
    for (const { sessionId, mtime } of await this.#transcripts.listSessions(projectKey)) {
      const key = { projectKey, sessionId }
      const summary = await this.#transcripts.summary(key, FORM)
      if (!summary) continue
      const kept = summary.data === null ? undefined : JSON.parse(summary.data)
      /** @type {SessionSummaryEntry | undefined} */
      let entry = kept && { sessionId, mtime, data: kept }
      if (!summary.isCurrent) {
        for (let page = summary.pageSync(FOLD_BYTES); page.length > 0; page = summary.pageSync(FOLD_BYTES)) {
          entry = fold(entry, key, page.map((text) => JSON.parse(text)), { mtime })
        }
        if (entry) {
          summary.setData(JSON.stringify(entry.data))
          changed.push(summary)
        }
        if (changed.length >= KEPT_AT_ONCE) {
          await this.#transcripts.keepSummaries(FORM, changed)
          changed = []
        }
      }
      if (entry) folded.push({ ...entry, sessionId, mtime })
    }
    if (changed.length > 0) await this.#transcripts.keepSummaries(FORM, changed)
    return folded
  }
}
