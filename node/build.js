// Puts the native part and its types where the package expects them, for tests: what cargo builds, or a library and the folder
// of its types that are named. `napi build`, which releases use, always builds for a named target, and so compiles everything
// once more.
//
//     node build.js [LIBRARY TYPES]
import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'

import { generateTypeDef, parseTriple, writeJsBinding } from '@napi-rs/cli'

const here = import.meta.dirname
const { name, version, napi } = JSON.parse(fs.readFileSync(path.join(here, 'package.json'), 'utf8'))
const host = /host: (.*)/.exec(execFileSync('rustc', ['-vV'], { encoding: 'utf8' }))[1]

/** What cargo has built: the library, and where build.rs had its types written. */
function build() {
  const args = ['build', '--locked', '--package', 'leafline-node', '--message-format=json-render-diagnostics']
  const built = execFileSync('cargo', args, { cwd: here, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 1 << 28 })
  const messages = built.trim().split('\n').map((line) => JSON.parse(line))
  const ours = (reason) => messages.find((message) => message.reason === reason && message.package_id.includes('leafline-node'))
  const library = messages
    .find((message) => message.reason === 'compiler-artifact' && message.target.name === 'leafline_node')
    .filenames.find((file) => /\.(so|dylib|dll)$/.test(file))
  return [library, path.join(ours('build-script-executed').out_dir, 'types')]
}

const [library, types] = process.argv.length > 2 ? process.argv.slice(2) : build()
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
  jsBinding: 'native.js',
  esm: true,
  binaryName: napi.binaryName,
  packageName: napi.packageName ?? name,
  version,
  outputDir: here,
})
await import('./signatures-of.js')
