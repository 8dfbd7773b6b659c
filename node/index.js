// The native module, whose calls check their arguments.
import { checkCalls } from './arguments.js'

checkCalls()

export * from './native.js'
