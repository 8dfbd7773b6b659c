// `leafline/omp`: the storage of omp's session manager on a store.
import fs from 'node:fs/promises'
import path from 'node:path'

import { checkArgument } from '../arguments.js'
import { StoreStorage } from '../index.js'
import { titleLine } from './title-line.js'

/**
 * @typedef {import('leafline').Store} Store
 * @typedef {import('leafline').StorageWriter} StorageWriter
 * @typedef {import('./title-line.js').TitleUpdate} TitleUpdate
 *
 * @typedef {{size: number, mtimeMs: number, mtime: Date}} Stat
 * @typedef {{expectedSize?: number | null}} WriteOptions
 * @typedef {WriteOptions & {commitGuard?: () => boolean}} AtomicOptions
 * @typedef {{flags?: 'a' | 'w', onError?: (error: Error) => void}} OpenOptions
 */

/** The session changed after a writer had loaded it. */
class OwnConflictError extends Error {
  /**
   * @param {string} file
   * @param {number | null} expectedSize
   * @param {number | null} actualSize
   */
  constructor(file, expectedSize, actualSize) {
    const size = (/** @type {number | null} */ bytes) => (bytes === null ? 'missing' : `${bytes} bytes`)
    const sizes = `expected ${size(expectedSize)}, found ${size(actualSize)}`
    super(`Session file changed before rewrite: ${file} (${sizes}).`)
    this.name = 'SessionWriteConflictError'
    this.path = file
    this.expectedSize = expectedSize
    this.actualSize = actualSize
  }
}

// omp's own class, where this runs in omp: who catches it may ask for that one.
const host = ['@oh-my-pi/pi-coding-agent', 'session/session-storage'].join('/')
const omp = await import(host).catch(() => ({}))

/** @type {typeof OwnConflictError} */
export const SessionWriteConflictError = omp.SessionWriteConflictError ?? OwnConflictError

/** The bytes that a session's path has behind that of its artifacts. */
const ENDING = '.jsonl'.length

/**
 * An error of the store as the file system would have it: a missing file is `ENOENT`, which omp looks for.
 * @param {unknown} error
 * @param {string} call
 * @param {string} file
 */
function asOfFiles(error, call, file) {
  const code = /** @type {{code?: string}} */ (error).code
  const known = { FILE_NOT_FOUND: ['ENOENT', -2, 'no such file or directory'], IS_FOLDER: ['EISDIR', -21, 'illegal operation on a directory'], NOT_A_FOLDER: ['ENOTDIR', -20, 'not a directory'] }
  const named = known[/** @type {keyof typeof known} */ (code)]
  if (!named) return error
  const [name, errno, words] = named
  const failure = new Error(`${name}: ${words}, ${call} '${file}'`, { cause: error })
  return Object.assign(failure, { code: name, errno, syscall: call, path: file })
}

const decoder = new TextDecoder()

/** @param {Uint8Array} bytes */
const decoded = (bytes) => decoder.decode(bytes)

/** A length as the store takes it; 0 for a value that is not a length. @param {number} length */
const bytes = (length) => (length > 0 ? Math.min(Math.trunc(length), Number.MAX_SAFE_INTEGER) : 0)

/** @param {unknown} error */
const toError = (error) => (error instanceof Error ? error : new Error(String(error)))

/**
 * omp's `SessionStorage` on a store: `SessionManager.create(cwd, dir, new LeaflineSessionStorage(store))`.
 *
 * omp names its files as before, and reads the bytes that it wrote. Each session is one of the store at once; a line that is
 * appended is on disk when the call returns, also after a loss of power. Drafts and other files beside sessions are kept in the
 * store as well. What omp writes past its storage stays in the file system: artifacts of tools, and the bytes of images.
 */
export class LeaflineSessionStorage {
  /** @type {StoreStorage} */ #files

  /** @param {Store} store */
  constructor(store) {
    checkArgument('new LeaflineSessionStorage', 'store', { class: 'Store' }, store)
    this.#files = new StoreStorage(store)
  }

  /**
   * The id in the store of the session that a file is; null for a file that is no session.
   * @param {string} file
   */
  sessionId(file) {
    return this.#run('open', file, () => this.#files.sessionIdSync(file))
  }

  /**
   * @template T
   * @param {string} call
   * @param {string} file
   * @param {() => T} act
   * @returns {T}
   */
  #run(call, file, act) {
    try {
      return act()
    } catch (error) {
      throw asOfFiles(error, call, file)
    }
  }

  /**
   * @template T
   * @param {string} call
   * @param {string} file
   * @param {() => Promise<T>} act
   * @returns {Promise<T>}
   */
  async #wait(call, file, act) {
    try {
      return await act()
    } catch (error) {
      throw asOfFiles(error, call, file)
    }
  }

  /** @param {string} dir */
  ensureDirSync(dir) {
    this.#run('mkdir', dir, () => this.#files.ensureSync(dir))
  }

  /** @param {string} file */
  existsSync(file) {
    return this.#files.existsSync(file)
  }

  /** @param {string} file */
  async exists(file) {
    return this.#files.existsSync(file)
  }

  /**
   * @param {string} file
   * @param {string} content
   * @param {WriteOptions} [options]
   */
  writeTextSync(file, content, options) {
    const expected = options?.expectedSize
    const conflict = this.#run('open', file, () => this.#files.writeSync(file, content, expected))
    if (conflict) throw new SessionWriteConflictError(file, expected ?? null, conflict.actualSize)
  }

  /**
   * @param {string} file
   * @param {string} content
   */
  async writeText(file, content) {
    await this.#wait('open', file, () => this.#files.write(file, content))
  }

  /**
   * @param {string} file
   * @param {string} content
   * @param {AtomicOptions} [options]
   */
  async writeTextAtomic(file, content, options) {
    // Between the guard and the write nothing else may run here.
    if (options?.commitGuard && !options.commitGuard()) return
    this.writeTextSync(file, content, options)
  }

  /**
   * @param {string} file
   * @param {TitleUpdate} update
   */
  async updateSessionTitle(file, update) {
    await this.#wait('open', file, () => this.#files.writeStart(file, titleLine(update)))
  }

  /**
   * @param {string} file
   * @returns {Stat}
   */
  statSync(file) {
    const { size, modified } = this.#run('stat', file, () => this.#files.statSync(file))
    return { size, mtimeMs: modified, mtime: new Date(modified) }
  }

  /**
   * @param {string} dir
   * @param {string} pattern
   */
  listFilesSync(dir, pattern) {
    return this.#files.listSync(dir, pattern)
  }

  /** @param {string} file */
  async readText(file) {
    const bytes = await this.#wait('open', file, () => this.#files.read(file))
    return decoded(bytes)
  }

  /**
   * @param {string} file
   * @param {number} prefixBytes
   * @param {number} suffixBytes
   * @returns {Promise<[string, string]>}
   */
  async readTextSlices(file, prefixBytes, suffixBytes) {
    const read = () => this.#files.readSlices(file, bytes(prefixBytes), bytes(suffixBytes))
    const [head, tail] = await this.#wait('open', file, read)
    return [decoded(head), decoded(tail)]
  }

  /**
   * Whether a line is a message of the assistant's (omp 18.3). Lines that are not whole JSON do not count.
   * @param {string} file
   */
  async hasAssistantTurn(file) {
    return (await this.readText(file)).split('\n').some(isAssistantMessage)
  }

  /**
   * @param {string} file
   * @param {string} next
   */
  async rename(file, next) {
    await this.#wait('rename', file, () => this.#files.rename(file, next))
  }

  /** @param {string} file */
  async unlink(file) {
    await this.#wait('unlink', file, () => this.#files.delete(file))
  }

  /** @param {string} sessionPath */
  async deleteSessionWithArtifacts(sessionPath) {
    await this.unlink(sessionPath)
    await this.#deleteArtifacts(sessionPath)
  }

  /**
   * What is decided on cannot change before it is deleted, so an append of another process is never deleted with it.
   * @param {string} sessionPath
   * @param {(content: string) => boolean} shouldDelete
   */
  async deleteSessionWithArtifactsIf(sessionPath, shouldDelete) {
    /** @type {{error: unknown} | undefined} */
    let thrown
    const decide = (/** @type {Buffer} */ content) => {
      try {
        return shouldDelete(decoded(content))
      } catch (error) {
        thrown = { error }
        return false
      }
    }
    const deleted = this.#run('open', sessionPath, () => this.#files.deleteIfSync(sessionPath, decide))
    if (thrown) throw thrown.error
    if (deleted) await this.#deleteArtifacts(sessionPath)
    return deleted
  }

  /**
   * Runs a change of a session. Each change of a file is one of the store's transactions, over all processes, so there is no
   * lock to hold meanwhile.
   * @template T
   * @param {string} _sessionPath
   * @param {() => T} operation
   * @returns {T}
   */
  withSessionFileLockSync(_sessionPath, operation) {
    return operation()
  }

  /** @param {string} sessionPath */
  async #deleteArtifacts(sessionPath) {
    const folder = path.resolve(sessionPath).slice(0, -ENDING)
    try {
      await this.#files.deleteFolder(folder)
      await fs.rm(folder, { recursive: true, force: true })
    } catch (error) {
      const { message } = toError(error)
      throw new Error(`Session file deleted but failed to remove artifacts directory ${folder}: ${message}`, { cause: error })
    }
  }

  /**
   * @param {string} file
   * @param {OpenOptions} [options]
   */
  openWriter(file, options) {
    const truncate = options?.flags === 'w'
    const writer = this.#run('open', file, () => this.#files.openWriterSync(file, truncate))
    return new SessionStorageWriter(file, writer, options?.onError)
  }

  /** Nothing is left to be written: every call has written what it was given when it returned. */
  async drain() {}
}

/** Appends lines to a file. The first error is kept, and told once. */
class SessionStorageWriter {
  /** @type {string} */ #file
  /** @type {StorageWriter} */ #writer
  /** @type {((error: Error) => void) | undefined} */ #onError
  /** @type {Error | undefined} */ #error
  #closed = false

  /**
   * @param {string} file
   * @param {StorageWriter} writer
   * @param {((error: Error) => void) | undefined} onError
   */
  constructor(file, writer, onError) {
    this.#file = file
    this.#writer = writer
    this.#onError = onError
  }

  /** @param {string} line */
  appendSync(line) {
    if (this.#closed) throw new Error('Writer closed')
    if (this.#error) throw this.#error
    try {
      this.#writer.writeLineSync(line)
    } catch (error) {
      this.#error = toError(asOfFiles(error, 'write', this.#file))
      this.#onError?.(this.#error)
      throw this.#error
    }
  }

  /** @param {string} line */
  async append(line) {
    this.appendSync(line)
  }

  async flush() {
    this.flushSync()
  }

  flushSync() {
    if (this.#error) throw this.#error
  }

  isOpen() {
    return !this.#closed
  }

  async close() {
    if (this.#closed) return
    this.#closed = true
    try {
      this.#writer.closeSync()
    } catch (error) {
      throw this.#error ?? error
    }
  }

  getError() {
    return this.#error
  }
}

/** @param {string} line */
function isAssistantMessage(line) {
  if (!line.startsWith('{')) return false
  try {
    const record = JSON.parse(line)
    return record.type === 'message' && record.message?.role === 'assistant'
  } catch {
    return false
  }
}
