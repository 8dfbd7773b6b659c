// Checks the arguments of calls by the types that index.d.ts declares.
import * as module from './native.js'
import { aliases, classes, records } from './signatures.js'

/** @type {Record<string, any>} */
const native = module

/**
 * A type is a list of alternatives.
 * @typedef {string | {array: Type} | {record: string} | {class: string}} Alternative
 * @typedef {Alternative[]} Type
 * @typedef {{name: string, type: Type, optional?: boolean}} Declared
 */

/** What the alternatives are called, and what they accept. @type {Record<string, [string, (value: any) => boolean]>} */
const plain = {
  any: ['anything', () => true],
  null: ['null', (value) => value === null],
  string: ['a string', (value) => typeof value === 'string'],
  boolean: ['true or false', (value) => typeof value === 'boolean'],
  number: ['a whole number from 0 to 2^53 - 1', (value) => Number.isSafeInteger(value) && value >= 0],
  Time: ['a time in milliseconds since 1970', Number.isSafeInteger],
  object: ['an object', (value) => typeof value === 'object' && value !== null],
  function: ['a function', (value) => typeof value === 'function'],
  Buffer: ['a Buffer', (value) => value instanceof Uint8Array],
}

/** Bytes of a text that an error shows. */
const SHOWN = 60

/** @param {unknown} value */
function shown(value) {
  switch (typeof value) {
    case 'string':
      return `the string ${JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value)}`
    case 'number':
      return `the number ${Object.is(value, -0) ? '-0' : value}`
    case 'bigint':
      return `the bigint ${value}n`
    case 'boolean':
    case 'undefined':
      return `${value}`
    case 'object': {
      if (value === null) return 'null'
      const name = value.constructor?.name
      return Array.isArray(value) ? 'an array' : name && name !== 'Object' ? `an object of ${name}` : 'an object'
    }
    default:
      return `a ${typeof value}`
  }
}

/** @param {Type} type @returns {Type} */
const resolved = (type) => type.flatMap((part) => (typeof part === 'string' && aliases[part] ? resolved(aliases[part]) : [part]))

/** @param {Alternative} part @returns {string} */
function named(part) {
  if (typeof part === 'string') return plain[part]?.[0] ?? part
  if ('array' in part) return `an array, each member ${list(resolved(part.array))}`
  return 'record' in part ? 'an object with options' : `a ${part.class}`
}

/** @param {Type} type */
function list(type) {
  const words = type.filter((part) => part !== 'null').map(named)
  return words.length > 1 ? `${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : words.join()
}

/** @param {string} call @param {string} problem */
function wrong(call, problem) {
  return Object.assign(new TypeError(`${call}: ${problem}`), { code: 'INVALID_ARGUMENT' })
}

/** @param {Alternative} part @param {any} value */
function accepts(part, value) {
  if (typeof part === 'string') return plain[part] ? plain[part][1](value) : `'${value}'` === part
  if ('array' in part) return Array.isArray(value)
  if ('class' in part) return value instanceof native[part.class]
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns the value as the native module takes it: of options only those that are given, and none that is null.
 * @param {string} call @param {string} place @param {Declared} declared @param {any} value @returns {any}
 */
function check(call, place, { type, optional }, value) {
  if (optional && value === undefined) return undefined
  const parts = resolved(type)
  const part = parts.find((part) => accepts(part, value))
  if (part === undefined) {
    if (optional && value === null) return undefined
    throw wrong(call, `${place} must be ${list(parts)}, got ${shown(value)}`)
  }
  if (typeof part === 'string' || 'class' in part) return value
  if ('array' in part) {
    const declared = { name: '', type: part.array }
    return value.map((/** @type {any} */ item, /** @type {number} */ index) => check(call, `${place}[${index}]`, declared, item))
  }
  /** @type {Declared[]} */
  const members = records[part.record]
  for (const key of Object.keys(value)) {
    if (!members.some(({ name }) => name === key)) {
      throw wrong(call, `${place} has no ${JSON.stringify(key)}; it has ${members.map(({ name }) => name).join(', ')}`)
    }
  }
  const given = members.map((member) => [member.name, check(call, `${place}.${member.name}`, member, value[member.name])])
  return Object.fromEntries(given.filter(([, member]) => member !== undefined))
}

/**
 * A function that checks its arguments first. Where the call gives a promise, that is rejected.
 * @param {string} call @param {Declared[]} parameters @param {boolean} isAsync @param {Function} inner
 */
function checked(call, parameters, isAsync, inner) {
  /** @this {any} @param {any[]} given */
  return function (...given) {
    try {
      given = parameters.map((declared, place) => check(call, declared.name, declared, given[place]))
    } catch (error) {
      if (isAsync) return Promise.reject(error)
      throw error
    }
    return inner.call(this, given, new.target)
  }
}

/** A class whose calls check their arguments, in the place of the native one. @param {string} name */
function checkedClass(name) {
  const inner = native[name]
  const { parameters, methods } = classes[name]
  const construct = (/** @type {any[]} */ given, /** @type {any} */ target) => Reflect.construct(inner, given, target)
  const type = checked(`new ${name}`, parameters, false, construct)
  Object.defineProperty(type, 'name', { value: name })
  // Objects that the native module makes are of this class, too.
  type.prototype = inner.prototype
  Object.defineProperty(type.prototype, 'constructor', { value: type, writable: true, configurable: true })
  for (const { name: method, isStatic, isAsync, parameters } of methods) {
    const [from, to] = isStatic ? [inner, type] : [inner.prototype, type.prototype]
    const own = from[method]
    const value = checked(`${name}.${method}`, parameters, isAsync, function (/** @type {any[]} */ given) {
      // @ts-ignore: the object of the call
      return own.apply(isStatic ? inner : this, given)
    })
    Object.defineProperty(value, 'name', { value: method })
    Object.defineProperty(to, method, { value, writable: true, configurable: true })
  }
  return type
}

/** The classes of the package. @type {Record<string, any>} */
export const checkedClasses = Object.fromEntries(Object.keys(classes).map((name) => [name, checkedClass(name)]))

/**
 * Checks an argument of a call that is written in JavaScript.
 * @param {string} call @param {string} name @param {Alternative} type @param {any} value
 */
export function checkArgument(call, name, type, value) {
  check(call, name, { name, type: [type] }, value)
}
