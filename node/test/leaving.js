// Leaves in the middle of an import, from its callback: given a store and a folder of sessions.
import { Store } from '../index.js'

const [, , file, folder] = process.argv
const store = await Store.open(file)
await store.importFiles([folder], null, ({ file }) => {
  if (file) process.exit(7)
})
