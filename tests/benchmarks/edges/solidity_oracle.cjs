// Calls of Solidity as its compiler resolves them: `node solidity_oracle.cjs SOLC ROOT FILE... > oracle.jsonl`.
//
// SOLC is the module of the compiler (`npm install solc`, of the version that the files want). Files are relative to
// ROOT; imports are read from there, with REMAPPINGS (`a=b,c=d` in the environment). `language_oracle.py` judges by it.
const fs = require("fs")
const path = require("path")
const solc = require(process.argv[2])
const root = process.argv[3]
const read = (name) => fs.readFileSync(path.join(root, name), "utf8")
const remappings = (process.env.REMAPPINGS || "").split(",").filter(Boolean)
const sources = Object.fromEntries(process.argv.slice(4).map((name) => [name, { content: read(name) }]))
const input = {
  language: "Solidity",
  sources,
  settings: { remappings, outputSelection: { "*": { "": ["ast"] } }, ...(process.env.EVM ? { evmVersion: process.env.EVM } : {}) },
}
const findImports = (name) => {
  try {
    return { contents: read(name) }
  } catch (error) {
    return { error: String(error) }
  }
}
const output = JSON.parse(solc.compile(JSON.stringify(input), { import: findImports }))
const failed = (output.errors || []).filter((each) => each.severity === "error")
if (failed.length) process.stderr.write(failed.slice(0, 5).map((each) => each.formattedMessage).join("\n") + "\n")

const texts = {}
const lineOf = (file, at) => {
  const data = (texts[file] ??= Buffer.from(read(file)))
  let line = 1
  for (let i = 0; i < at; i++) if (data[i] === 10) line++
  return line
}
const nodes = new Map()
const walk = (node, file, visit, parent) => {
  if (Array.isArray(node)) return node.forEach((each) => walk(each, file, visit, parent))
  if (!node || typeof node !== "object") return
  if (node.nodeType) visit(node, file, parent)
  for (const [key, value] of Object.entries(node)) if (key !== "typeDescriptions") walk(value, file, visit, node.nodeType ? node : parent)
}
for (const [file, { ast }] of Object.entries(output.sources || {})) walk(ast, file, (node) => nodes.set(node.id, { node, file }))

const KINDS = new Set(["FunctionDefinition", "ModifierDefinition", "EventDefinition", "ErrorDefinition", "ContractDefinition", "StructDefinition"])
const emit = (file, node, name, end, id) => {
  const found = nodes.get(id)
  if (found && !KINDS.has(found.node.nodeType)) return // a getter, or a function that a variable holds
  let targets = []
  if (found) {
    targets = [[found.file, lineOf(found.file, Number((found.node.nameLocation || found.node.src).split(":")[0]))]]
  }
  process.stdout.write(JSON.stringify({ path: file, line: lineOf(file, end), name, targets }) + "\n")
}
const endOf = (node) => { const [at, length] = node.src.split(":").map(Number); return at + length - 1 }
for (const [file, { ast }] of Object.entries(output.sources || {})) {
  walk(ast, file, (node) => {
    if (node.nodeType === "FunctionCall") {
      let called = node.expression
      while (called.nodeType === "FunctionCallOptions") called = called.expression
      if (node.kind === "typeConversion") { if (called.name && !called.typeName) emit(file, node, called.name, endOf(called), -1) } // calls nothing
      else if (called.nodeType === "Identifier") emit(file, node, called.name, endOf(called), called.referencedDeclaration)
      else if (called.nodeType === "MemberAccess") emit(file, node, called.memberName, endOf(called), called.referencedDeclaration ?? -1)
      else if (called.nodeType === "NewExpression" && called.typeName.nodeType === "UserDefinedTypeName")
        emit(file, node, (called.typeName.pathNode || called.typeName).name.split(".").pop(), endOf(called), called.typeName.referencedDeclaration)
    } else if (node.nodeType === "ModifierInvocation") {
      emit(file, node, node.modifierName.name.split(".").pop(), endOf(node.modifierName), node.modifierName.referencedDeclaration)
    }
  })
}
