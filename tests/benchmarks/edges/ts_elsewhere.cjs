// What the covered files of a TypeScript or JavaScript repository import, and derive from, in files of the repository that
// its gold does not cover: declaration files, package.json, folders called build. Prints rows of the edge benchmark.
//
//   zcat gold/NAME.jsonl.gz | head -1 | node ts_elsewhere.cjs CHECKOUT | gzip -n > gold/NAME.elsewhere.jsonl.gz
//
// needs typescript 5.9. The packages of CHECKOUT, which is at the commit of the gold, are linked into its node_modules as
// an installation does. Which file a module is, and where a base is declared, TypeScript says. A module that is resolved to
// nothing, or to a file that git does not know, is left out.
const ts = require(process.env.TYPESCRIPT || 'typescript')
const { execFileSync } = require('child_process')
const fs = require('fs'), path = require('path')
const root = fs.realpathSync(process.argv[2])
const covered = JSON.parse(fs.readFileSync(0, 'utf8')).meta.files
const isCovered = new Set(covered)
const known = new Set(execFileSync('git', ['-C', root, 'ls-tree', '-r', '-z', '--name-only', 'HEAD'], { maxBuffer: 1 << 28 }).toString().split('\0').filter(Boolean))
for (const file of known) {
  if (path.basename(file) !== 'package.json' || !fs.existsSync(path.join(root, file))) continue
  let name
  try { name = JSON.parse(fs.readFileSync(path.join(root, file), 'utf8')).name } catch { continue }
  const link = name && path.join(root, 'node_modules', name)
  if (!link || path.dirname(file) === '.' || fs.existsSync(link)) continue
  fs.mkdirSync(path.dirname(link), { recursive: true })
  fs.symlinkSync(path.join(root, path.dirname(file)), link)
}
let options = {}
const config = ts.findConfigFile(root, ts.sys.fileExists)
if (config) options = ts.parseJsonConfigFileContent(ts.readConfigFile(config, ts.sys.readFile).config, ts.sys, path.dirname(config)).options
options = { ...options, allowJs: true, noEmit: true, skipLibCheck: true, resolveJsonModule: true, types: [] }
for (const key of ['composite', 'incremental', 'outFile', 'tsBuildInfoFile', 'rootDir', 'isolatedDeclarations', 'noLib']) delete options[key]
if (options.module === undefined) { options.module = ts.ModuleKind.CommonJS; options.moduleResolution = ts.ModuleResolutionKind.Node10 }
const program = ts.createProgram(covered.map(file => path.join(root, file)), options)
const checker = program.getTypeChecker()
const rows = new Set()
// the path of a file of the repository that is not covered, or ''
const elsewhere = file => {
  const at = fs.existsSync(file) ? path.relative(root, fs.realpathSync(file)).split(path.sep).join('/') : ''
  return known.has(at) && !isCovered.has(at) ? at : ''
}
// A declaration file beside the file that it declares: either is right, and the gold has it if that file is covered.
const declared = at => at.endsWith('.d.ts') ? ['.js', '.jsx', '.mjs'].map(end => at.slice(0, -5) + end).find(file => known.has(file)) : undefined
const add = (kind, src, at, name) => {
  const beside = declared(at)
  if (beside && isCovered.has(beside)) return
  rows.add(JSON.stringify({ kind, src, dst: `${at}:${name}`, ...(beside ? { alt: [`${beside}:${name}`] } : {}), by: ['tsc'], cat: 'elsewhere' }))
}
const imported = (source, file, module) => {
  const found = ts.resolveModuleName(module, file.fileName, options, ts.sys).resolvedModule
  const at = found ? elsewhere(found.resolvedFileName) : ''
  if (at) add('imports', `${source}:<module>`, at, '<module>')
}
const based = (source, node, expression) => {
  let symbol = checker.getSymbolAtLocation(expression)
  if (symbol && symbol.flags & ts.SymbolFlags.Alias) symbol = checker.getAliasedSymbol(symbol)
  for (const each of (symbol && symbol.declarations) || []) {
    const at = (ts.isClassDeclaration(each) || ts.isInterfaceDeclaration(each)) && each.name ? elsewhere(each.getSourceFile().fileName) : ''
    if (at && node.name) add('extends', `${source}:${node.name.text}`, at, each.name.text)
  }
}
for (const source of covered) {
  const file = program.getSourceFile(path.join(root, source))
  if (!file) continue
  const visit = node => {
    const specifier = (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier
      || ts.isExternalModuleReference(node) && node.expression
      || ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument) && node.argument.literal
      || ts.isCallExpression(node) && node.arguments.length > 0 && (node.expression.kind === ts.SyntaxKind.ImportKeyword
        || ts.isIdentifier(node.expression) && node.expression.text === 'require') && node.arguments[0]
    if (specifier && ts.isStringLiteralLike(specifier)) imported(source, file, specifier.text)
    if ((ts.isClassLike(node) || ts.isInterfaceDeclaration(node)) && node.parent === file)
      for (const clause of node.heritageClauses || []) for (const type of clause.types) based(source, node, type.expression)
    ts.forEachChild(node, visit)
  }
  visit(file)
}
for (const row of [...rows].sort()) process.stdout.write(row + '\n')
