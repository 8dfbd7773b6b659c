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

/** The errors of Leafline have a code that stays the same, such as `ENTRY_NOT_FOUND`. */
export interface LeaflineError extends Error {
  code: string
}

