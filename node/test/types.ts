// What a program in TypeScript sees of the package: compiled by types.test.js, never run. It uses every call.
import {
  Cancellation,
  ClaudeTranscripts,
  Session,
  SessionReader,
  Store,
  StoreStorage,
  type AppendedLines,
  type AppendOptions,
  type BesideTotals,
  type ClaudeKey,
  type ClaudeSession,
  type ClaudeSummary,
  type Content,
  type Context,
  type ContextOptions,
  type Entry,
  type ExportedFile,
  type ExportMode,
  type ExportTotals,
  type Family,
  type FileStat,
  type FolderOptions,
  type ImportedFile,
  type ImportOptions,
  type ImportProgress,
  type ImportTotals,
  type IndexUpdate,
  type LeaflineError,
  type LeftOut,
  type NewSession,
  type Page,
  type PageSize,
  type PiOptions,
  type SearchHit,
  type SearchOptions,
  type SessionFacts,
  type SessionFilter,
  type SessionOptions,
  type StorageWriter,
  type StoreOptions,
  type Time,
  type Tree,
  type TreeNode,
  type WriteConflict,
} from 'leafline'
import { ClaudeSessionStore, type SessionStoreEntry } from 'leafline/claude'
import { LeaflineSessionStorage, SessionWriteConflictError } from 'leafline/omp'
import { PiSessionManager, projectContextEntry, type PiEntry } from 'leafline/pi'

export async function stores(): Promise<SessionFacts[]> {
  const options: StoreOptions = { create: false, readOnly: true, pageCacheBytes: 1, lineCacheBytes: 1 }
  const store = await Store.open('sessions.leafline', options)
  const others: Store[] = [Store.inMemory(), Store.openSync(store.path)]
  const time: Time = Date.now()
  const family: Family = 'pi'
  const filter: SessionFilter = { family, cwd: '/', below: '/', since: time, until: time, text: 'x', withoutAgents: true, order: 'size', limit: 1 }
  // @ts-expect-error: there is no such option.
  store.sessionsSync({ sinse: 1 })
  // @ts-expect-error: the adapters take a store.
  new ClaudeSessionStore('sessions.leafline')
  const kept: SessionOptions = { keepEverything: true }
  const beginning: NewSession = { family, cwd: '/', id: 'a', parentSession: 'b', title: 'c', keepEverything: true }
  const sessions: Session[] = [
    store.sessionSync('a', kept),
    await store.session('a', kept),
    store.createSessionSync(beginning),
    await store.createSession(beginning),
    store.createDeferredSessionSync(beginning, '0.87.1'),
    store.continueRecentSync(beginning),
    await store.continueRecent(beginning),
    store.forkFromSync('a', '/'),
    await store.forkFrom('a', '/'),
  ]
  const reader: SessionReader = await store.reader('a')
  const removed: number = await store.remove(sessions.map(({ id }) => id))
  const search: SearchOptions = { session: 'a', sessions: filter, roles: ['user'], since: time, until: time, limit: removed, noUpdate: true }
  const hits: SearchHit[] = await store.search('moon', search)
  const update: IndexUpdate = await store.updateSearchIndex()
  reader.close()
  others[0]?.closeSync()
  await store.close()
  return [...store.sessionsSync(filter), ...(await store.sessions()), ...(await store.agentsOf(hits[0]?.session ?? String(update.entries)))]
}

export async function files(store: Store): Promise<void> {
  const cancellation = new Cancellation()
  const options: ImportOptions = { family: 'omp', blobs: 'blobs', replace: true, restore: true }
  const tell = ({ files, bytes, readBytes, file }: ImportProgress): void => {
    const done: ImportedFile | undefined = file
    if (done?.status === 'failed' || files + bytes < readBytes) cancellation.cancel()
  }
  const totals: ImportTotals = await store.importFiles(['sessions'], options, tell, cancellation)
  const beside: BesideTotals = totals.beside
  const leftOut: LeftOut[] = totals.leftOut
  await store.syncFiles([String(beside.taken), ...leftOut.map(({ reason }) => reason)])
  const mode: ExportMode = 'portable'
  const bytes: number = await store.exportFile('a', 'a.jsonl', mode, 'blobs')
  const folder: FolderOptions = { mode, blobs: 'blobs', replace: !cancellation.isCancelled, sessions: ['a'] }
  const exported: ExportTotals = await store.exportFolder('out', folder, (file: ExportedFile) => file.outcome === 'kept', cancellation)
  const blob: Buffer | null = await store.blob(await store.putBlob(Buffer.from('a picture')))
  if (exported.bytes < bytes || blob === null) throw new Error()
}

export async function writing(session: Session): Promise<string[]> {
  const family: Family = session.family
  const message = { role: 'user', content: family }
  const options: AppendOptions = { ignoreRepeated: true }
  const added: AppendedLines[] = [session.appendLinesSync('{}\n', options), await session.appendLines(Buffer.from('{}\n'))]
  const ids: string[] = [
    ...session.appendSync({ type: 'message', message }),
    ...(await session.append([{ type: 'message', message }])),
    session.appendMessageSync(message),
    await session.appendMessage(message),
    session.branchWithSummarySync(null, 'text'),
    await session.branchWithSummary(String(added.length), 'text'),
    session.labelSync('a', 'label'),
    await session.label('a'),
  ]
  session.branchSync('a')
  await session.branch('a')
  session.resetLeafSync()
  await session.resetLeaf()
  session.setNameSync('name')
  await session.setName('name')
  const others: Session[] = [session.extractSync('a'), await session.extract('a')]
  const entries: Entry[] = [session.entrySync('a'), await session.entry('a')]
  session.flushSync()
  others.forEach((other) => other.close())
  return session.hasEntrySync('a') ? ids : entries.map(({ line }) => line)
}

export async function reading(session: Session): Promise<Buffer> {
  const reader: SessionReader = session.readerSync() ?? (await session.reader())
  const facts: SessionFacts = reader.facts()
  const size: PageSize = { entries: 10, bytes: 1 << 20 }
  const entries: (Entry | null)[] = [
    reader.headerSync(),
    await reader.header(),
    reader.entrySync('a'),
    await reader.entry(reader.findEntryIdSync('a')),
    reader.lineSync(0),
    reader.leafSync(),
    await reader.leaf(),
    ...reader.pathSync('a'),
    ...(await reader.path()),
    ...reader.childrenSync(null),
    ...(await reader.children('a')),
  ]
  const pages: Page[] = [
    reader.entriesSync(0, size),
    await reader.entries(0),
    reader.pathBackwardsSync('a', size),
    await reader.pathBackwards(),
    reader.pathBackwardsFromSync(1, size),
    await reader.pathBackwardsFrom(1),
    await reader.entriesAround('a', 1, 1, size),
  ]
  const tree: Tree = reader.treeSync() ?? (await reader.tree())
  const nodes: TreeNode[] = tree.nodes
  const options: ContextOptions = { leaf: 'a', beforeAll: false, program: 'omp', asOf: '14', full: true }
  const contexts: Context[] = [
    reader.contextSync(options),
    await reader.context(),
    reader.requestSync(options),
    await reader.request(),
    reader.contextEntriesSync(options),
  ]
  const ordinals: number[] = reader.historySync(options)
  const lines: (string | null)[] = [...reader.linesAtSync(ordinals), ...reader.linesFromSync(0, 100), reader.labelSync('a')]
  const bytes: Buffer | null = reader.lineBytesSync(facts.lines)
  if (lines.length + contexts.length + nodes.length + pages.length < entries.length) return bytes ?? Buffer.from(reader.allMessagesTextSync())
  return reader.export('exact')
}

export async function storage(store: Store): Promise<void> {
  const storage = new StoreStorage(store)
  const content: Content = Buffer.from('text')
  const conflicts: (WriteConflict | null)[] = [storage.writeSync('/a', content, null), await storage.write('/a', 'text', 4)]
  const slices: [Buffer, Buffer] = await storage.readSlices('/a', 1, 1)
  const stat: FileStat = storage.statSync('/a')
  storage.ensureSync('/')
  await storage.writeStart('/a', slices[0])
  await storage.rename('/a', '/b')
  await storage.delete(storage.sessionIdSync('/b') ?? '/b')
  await storage.deleteFolder(storage.listSync('/', '*')[0] ?? '/')
  storage.deleteIfSync('/a', (bytes) => bytes.length === stat.size)
  const writer: StorageWriter = storage.openWriterSync('/a', storage.existsSync('/a'))
  writer.writeLineSync(conflicts.length > 1 ? storage.readSync('/a') : await storage.read('/a'))
  writer.flushSync()
  writer.closeSync()
  new LeaflineSessionStorage(store).openWriter('/work/session.jsonl', { flags: 'a' }).appendSync('{}\n')
}

export async function claude(store: Store): Promise<void> {
  const transcripts = new ClaudeTranscripts(store)
  const key: ClaudeKey = { projectKey: 'a', sessionId: 'b', subpath: 'c' }
  await transcripts.append(key, '{}\n')
  const sessions: ClaudeSession[] = await transcripts.listSessions('a')
  const summary: ClaudeSummary | null = await transcripts.summary(key, 'form')
  if (summary && !summary.isCurrent) summary.setData(summary.pageSync(100).join() + (summary.data ?? ''))
  await transcripts.keepSummaries('form', summary ? [summary] : [])
  await transcripts.delete(key)
  const loaded: unknown[] | null = await transcripts.load(key)
  const keys: string[] = await transcripts.listSubkeys('a', sessions[0]?.sessionId ?? String(loaded?.length))
  const entries: SessionStoreEntry[] = keys.map((type) => ({ type }))
  await new ClaudeSessionStore(store).append(key, entries)
}

export function pi(store: Store): PiEntry | undefined {
  const options: PiOptions = { version: '0.87.1', sessionDir: '/', cwd: '/', id: 'a', parentSession: 'b' }
  const manager = PiSessionManager.create(store, '/work', options)
  manager.appendMessage({ role: 'user', content: 'Hello' })
  return projectContextEntry.length > 0 ? manager.getLeafEntry() : undefined
}

export function codeOf(error: unknown): string | undefined {
  if (error instanceof SessionWriteConflictError) return String(error.actualSize)
  const known = error as LeaflineError
  return error instanceof Error ? known.code : undefined
}
