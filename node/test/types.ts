// What a program in TypeScript sees of the package: compiled by arguments.test.js, never run.
import { Store, type SessionFacts } from 'leafline'
import { ClaudeSessionStore } from 'leafline/claude'
import { LeaflineSessionStorage } from 'leafline/omp'
import { PiSessionManager } from 'leafline/pi'

export async function use(): Promise<SessionFacts[]> {
  const store = await Store.open('sessions.leafline', { create: false })
  // @ts-expect-error: there is no such option.
  store.sessionsSync({ sinse: 1 })
  // @ts-expect-error: the adapters take a store.
  new ClaudeSessionStore('sessions.leafline')
  new LeaflineSessionStorage(store).existsSync('/work/session.jsonl')
  PiSessionManager.create(store, '/work', { version: '0.87.1' }).appendSessionInfo('name')
  return store.sessions({ family: 'pi', since: Date.now(), limit: 1 })
}
