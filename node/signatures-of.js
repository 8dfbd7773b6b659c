// Reads index.d.ts, which the build makes, and writes what its types say of arguments into signatures.js, and index.js, which
// exports classes that check them.
//
//     node signatures-of.js
import fs from 'node:fs'
import path from 'node:path'

import ts from 'typescript'

const here = import.meta.dirname
const file = path.join(here, 'index.d.ts')
const source = ts.createSourceFile(file, fs.readFileSync(file, 'utf8'), ts.ScriptTarget.Latest, true)

/** @type {Record<string, any>} */
const [aliases, records, classes] = [{}, {}, {}]
const declared = new Map(source.statements.map((statement) => [statement.name?.text, statement]))

/** A type as a list of alternatives. */
function alternatives(type) {
  if (ts.isParenthesizedTypeNode(type)) return alternatives(type.type)
  if (ts.isUnionTypeNode(type)) return type.types.flatMap(alternatives).filter((part) => part !== 'undefined')
  if (ts.isArrayTypeNode(type)) return [{ array: alternatives(type.elementType) }]
  if (ts.isFunctionTypeNode(type)) return ['function']
  if (!ts.isTypeReferenceNode(type)) return [type.getText()]
  const name = type.typeName.getText()
  if (name === 'Array') return [{ array: alternatives(type.typeArguments[0]) }]
  const statement = declared.get(name)
  if (statement && ts.isInterfaceDeclaration(statement)) return [{ record: name }]
  if (statement && ts.isClassDeclaration(statement)) return [{ class: name }]
  return [name]
}

const parameter = ({ name, type, questionToken }) => {
  const optional = !!questionToken || (ts.isUnionTypeNode(type) && type.types.some((part) => part.getText() === 'undefined'))
  return { name: name.getText(), type: alternatives(type), ...(optional ? { optional } : {}) }
}

for (const statement of source.statements) {
  const name = statement.name.text
  if (ts.isTypeAliasDeclaration(statement)) {
    const type = alternatives(statement.type)
    // A name for a number says which numbers.
    if (type.join() !== 'number') aliases[name] = type
  } else if (ts.isInterfaceDeclaration(statement)) {
    records[name] = statement.members.filter(ts.isPropertySignature).map(parameter)
  } else if (ts.isClassDeclaration(statement)) {
    const methods = statement.members.filter(ts.isMethodDeclaration).map((method) => ({
      name: method.name.getText(),
      isStatic: !!method.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.StaticKeyword),
      isAsync: method.type.getText().startsWith('Promise<'),
      parameters: method.parameters.map(parameter),
    }))
    classes[name] = { parameters: statement.members.find(ts.isConstructorDeclaration)?.parameters.map(parameter) ?? [], methods }
  }
}

const made = '// Made of index.d.ts by signatures-of.js.\n'
const tables = Object.entries({ aliases, records, classes })
const texts = tables.map(([name, value]) => `/** @type {any} */\nexport const ${name} = ${JSON.stringify(value)}\n`)
fs.writeFileSync(path.join(here, 'signatures.js'), made + texts.join(''))
const exported = `export const { ${Object.keys(classes).join(', ')} } = checkedClasses\n`
fs.writeFileSync(path.join(here, 'index.js'), `${made}import { checkedClasses } from './arguments.js'\n\n${exported}`)
