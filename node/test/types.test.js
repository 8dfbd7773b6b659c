// Compiles a program against the package's types, as a user's compiler does.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'

const program = path.join(import.meta.dirname, 'types.ts')

test('the types are whole', () => {
  const tsc = path.join(import.meta.dirname, '../node_modules/typescript/bin/tsc')
  // Without `--types node`: the package brings the types that its own need.
  const strict = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2023']
  execFileSync(process.execPath, [tsc, ...strict, program], { stdio: ['ignore', 'inherit', 'inherit'] })
})

test('the compiled program uses every type and call', () => {
  const declared = fs.readFileSync(path.join(import.meta.dirname, '../index.d.ts'), 'utf8').replace(/\/\*.*?\*\//gs, '')
  const types = declared.matchAll(/^export (?:declare )?(?:class|interface|type) (\w+)/gm)
  const calls = declared.matchAll(/^  (?:get |static )?(\w+)\(/gm)
  const names = [...types, ...calls].map(([, name]) => name).filter((name) => name !== 'constructor')
  const used = new Set(fs.readFileSync(program, 'utf8').match(/\w+/g))
  assert.ok(names.length > 100)
  assert.deepEqual(names.filter((name) => !used.has(name)), [])
})
