// Builds the native part with what `cargo test` has compiled, for tests. `napi build`, which releases use, always builds for a
// named target, and so compiles everything once more.
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { generateTypeDef, parseTriple, writeJsBinding } from '@napi-rs/cli'

const here = import.meta.dirname
const { name, version, napi } = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'))

function cargo(args, options = {}) {
  return execFileSync('cargo', args, { cwd: here, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28, ...options })
}

const { target_directory: target } = JSON.parse(cargo(['metadata', '--format-version', '1', '--no-deps']))
const host = /host: (.*)/.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }))[1]
const types = path.join(target, 'napi-types')
// The macros write the types when the crate is compiled, and not when it was compiled before.
const env = { ...process.env, NAPI_TYPE_DEF_TMP_FOLDER: types, NAPI_FORCE_BUILD_LEAFLINE_NODE: fs.existsSync(types) ? '' : '1' }
fs.mkdirSync(types, { recursive: true })
const built = cargo(['build', '--locked', '--package', 'leafline-node', '--message-format=json-render-diagnostics'], { env })
const artifacts = built.trim().split('\n').map((line) => JSON.parse(line)).filter((message) => message.reason === 'compiler-artifact')
const library = artifacts.find((message) => message.target.name === 'leafline_node').filenames.find((file) => /\.(so|dylib|dll)$/.test(file))

const { platformArchABI } = parseTriple(host)
const module = path.join(here, `${napi.binaryName}.${platformArchABI}.node`)
// Under another name first: a program that has the old one open keeps it.
fs.copyFileSync(library, `${module}.new`)
fs.renameSync(`${module}.new`, module)
const { exports, dts } = await generateTypeDef({ typeDefDir: types, cwd: here, configDtsHeaderFile: napi.dtsHeaderFile })
fs.writeFileSync(path.join(here, 'index.d.ts'), dts)
await writeJsBinding({
  platform: true,
  idents: exports,
  jsBinding: 'index.js',
  esm: true,
  binaryName: napi.binaryName,
  packageName: napi.packageName ?? name,
  version,
  outputDir: here,
})
