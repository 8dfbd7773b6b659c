/// <reference types="node" />
/* Made by `npm run build` of the comments in src/. */

/** The families of session formats. */
export type Family = 'pi' | 'omp' | 'claude' | 'opal' | 'codex'

/** The forms of an export: as its program would have it today; as close to the imported bytes as possible; the imported
 * bytes; with all images inline; with references to images, which go to a folder of blobs. */
export type ExportMode = 'current' | 'exact' | 'original' | 'portable' | 'refs'

/** What a program would send to the model, and the settings in force: for pi `messages`, `thinkingLevel` and `model`; for
 * omp also `models`, `injectedTtsrRules`, `mode` and `modeData`; for the others `messages` and `model`. */
export interface Context {
  messages: any[]
  thinkingLevel?: string
  model?: any
  [setting: string]: any
}

/** Milliseconds since 1970. Other numbers that are given to a method are counts: whole and not negative. */
export type Time = number

/** Text or bytes. */
export type Content = string | Buffer

/** How `leafline/pi` begins or opens a session. */
export interface PiOptions {
  /** The version of pi that takes the manager, such as its `VERSION`: "0.87.1", "1.6.0". What pi writes and how it builds a
   * context depends on it. Without it, the newest rules that are known. */
  version?: string
  /** The folder that pi is told its sessions are in. No file is made there. */
  sessionDir?: string
  /** For a session that is opened: another working directory than its own. */
  cwd?: string
  /** For a session that is begun: its id. */
  id?: string
  /** For a session that is begun: the lineage in its header. */
  parentSession?: string
}

/** The errors of Leafline have a code that stays the same, such as `ENTRY_NOT_FOUND`. An argument that cannot be used is
 * a `TypeError` with the code `INVALID_ARGUMENT`. */
export interface LeaflineError extends Error {
  code: string
}

