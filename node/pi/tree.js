// pi's tree of all entries, and the path that a branched session gets.

/** @typedef {import('./index.js').PiEntry} PiEntry */

/**
 * The labels that are set, in the order in which they were first set after they were last cleared.
 * @param {PiEntry[]} entries
 * @returns {Map<string, {label: string, timestamp: string}>}
 */
export function labelsOf(entries) {
  const labels = new Map()
  for (const { type, targetId, label, timestamp } of entries) {
    if (type !== 'label') continue
    if (label) labels.set(targetId, { label, timestamp })
    else labels.delete(targetId)
  }
  return labels
}

/** @typedef {{entry: PiEntry, children: TreeNode[], label?: string, labelTimestamp?: string}} TreeNode */

/**
 * Roots in the order of the file, children by time.
 * @param {PiEntry[]} entries
 * @returns {TreeNode[]}
 */
export function treeOf(entries) {
  const labels = labelsOf(entries)
  /** @type {Map<string, TreeNode>} */
  const nodes = new Map()
  for (const entry of entries) {
    const label = labels.get(entry.id)
    nodes.set(entry.id, { entry, children: [], label: label?.label, labelTimestamp: label?.timestamp })
  }
  const roots = []
  for (const { id, parentId } of entries) {
    const node = /** @type {TreeNode} */ (nodes.get(id))
    const parent = parentId === null || parentId === id ? undefined : nodes.get(parentId)
    if (parent) parent.children.push(node)
    else roots.push(node)
  }
  for (const { children } of nodes.values()) {
    children.sort((a, b) => Date.parse(a.entry.timestamp) - Date.parse(b.entry.timestamp))
  }
  return roots
}

/**
 * The entries of a path that are not labels. With `chained` each follows the one before it, and a compaction that kept from a
 * label on keeps from the entry after it; otherwise their parents stay as they are.
 * @param {PiEntry[]} path
 * @param {boolean} chained
 */
export function pathWithoutLabels(path, chained) {
  if (!chained) return path.filter((entry) => entry.type !== 'label')
  /** @type {PiEntry[]} */
  const kept = []
  /** @type {Map<string, string>} */
  const followers = new Map()
  /** @type {string[]} */
  let labels = []
  for (const entry of path) {
    if (entry.type === 'label') {
      labels.push(entry.id)
      continue
    }
    for (const label of labels) followers.set(label, entry.id)
    labels = []
    /** @type {PiEntry} */
    const copy = { ...entry, parentId: kept.at(-1)?.id ?? null }
    if (entry.type === 'compaction') {
      const first = entry.firstKeptEntryId
      copy.firstKeptEntryId = first === entry.id ? first : (followers.get(first) ?? first)
    }
    kept.push(copy)
  }
  return kept
}
