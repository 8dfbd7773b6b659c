// The line of fixed width with which omp's files begin: it has the title, and is rewritten in place.

/** Its bytes, with the line feed. */
const BYTES = 256

/**
 * @typedef {object} TitleUpdate
 * @property {string} [title]
 * @property {'auto' | 'user'} [source]
 * @property {string} updatedAt
 */

/**
 * @param {TitleUpdate} update
 * @param {string} title
 * @param {string} pad
 */
function lineOf(update, title, pad) {
  const { source, updatedAt } = update
  return `${JSON.stringify({ type: 'title', v: 1, title, ...(source ? { source } : {}), updatedAt, pad })}\n`
}

/**
 * The line for a title, which is cut at a character where it is too long.
 * @param {TitleUpdate} update
 * @returns {string}
 */
export function titleLine(update) {
  const lengthOf = (/** @type {string} */ title) => Buffer.byteLength(lineOf(update, title, ''))
  let title = update.title ?? ''
  if (lengthOf(title) > BYTES) {
    const characters = [...title]
    let [fits, tooMany] = [0, characters.length]
    while (tooMany - fits > 1) {
      const middle = (fits + tooMany) >>> 1
      if (lengthOf(characters.slice(0, middle).join('')) <= BYTES) fits = middle
      else tooMany = middle
    }
    title = characters.slice(0, fits).join('')
  }
  const pad = BYTES - lengthOf(title)
  if (pad < 0) throw new Error('the title line has no room for its time')
  return lineOf(update, title, ' '.repeat(pad))
}
