// A list whose items are read when they are looked at.

/** Items that are read at once. */
const BLOCK = 64

export class LazyList {
  /**
   * An array in which numbers stand for what was not read yet. It is one for `Array.isArray`, for loops and for every method:
   * only what is looked at is read, a block at a time in the direction in which it is looked at.
   * @template T
   * @param {(number | T)[]} items
   * @param {(numbers: number[]) => (T | null)[]} load
   * @returns {T[]}
   */
  static of(items, load) {
    let last = -1
    /** @param {number} place */
    const fill = (place) => {
      const backwards = place < last
      last = place
      if (typeof items[place] !== 'number') return
      const [from, to] = backwards ? [Math.max(0, place + 1 - BLOCK), place + 1] : [place, place + BLOCK]
      const places = []
      for (let at = from; at < Math.min(to, items.length); at++) {
        if (typeof items[at] === 'number') places.push(at)
      }
      const loaded = load(places.map((at) => /** @type {number} */ (items[at])))
      places.forEach((at, index) => {
        items[at] = /** @type {T} */ (loaded[index])
      })
    }
    /** @param {string | symbol} key */
    const look = (key) => {
      const place = typeof key === 'string' ? Number(key) : NaN
      if (Number.isInteger(place) && place >= 0 && place < items.length) fill(place)
    }
    return /** @type {T[]} */ (
      new Proxy(items, {
        get(target, key) {
          look(key)
          return Reflect.get(target, key)
        },
        getOwnPropertyDescriptor(target, key) {
          look(key)
          return Reflect.getOwnPropertyDescriptor(target, key)
        },
      })
    )
  }
}
