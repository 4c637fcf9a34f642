// The index that scip-python (Pyright) makes of a tree: where each name that it could resolve is defined.
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import protobuf from 'protobufjs';
import { cacheFolder, outputOf } from '../sources.mjs';

const version = '0.6.6';
const definitionRole = 1;
// The fields of SCIP that are read here.
const schema = `syntax = "proto3";
message Index { repeated Document documents = 2; }
message Document { string relative_path = 1; repeated Occurrence occurrences = 2; }
message Occurrence { repeated int32 range = 1; string symbol = 2; int32 symbol_roles = 3; }`;

/** `files`: by path the symbols at each place `line:column`. `definitions`: the places of each symbol. */
export async function scipOf(root) {
  const index = protobuf.parse(schema).root.lookupType('Index');
  const { documents } = index.decode(readFileSync(await indexFile(root)));
  const files = new Map();
  const names = new Map();
  /** Names under which something is imported. */
  const aliases = new Set();
  /** Symbol -> places `path line:column`. */
  const definitions = new Map();
  for (const { relativePath: file, occurrences } of documents) {
    const symbols = new Map();
    const written = new Map();
    const text = readFileSync(path.join(root, file), 'utf8');
    for (const [, alias] of text.matchAll(/\bas\s+(\w+)/g)) aliases.add(alias);
    const lines = text.split('\n');
    for (const { range, symbol: own, symbolRoles } of occurrences) {
      // Local symbols are numbered in each file.
      const symbol = own.startsWith('local ') ? `${file} ${own}` : own;
      const at = `${range[0]}:${range[1]}`;
      const line = lines[range[0]] ?? '';
      if (range.length === 3) written.set(at, line.slice(range[1], range[2]));
      const isOwn = (symbolRoles & definitionRole) !== 0 || line[range[1] - 1] === '.';
      if (isOwn && isBuiltin(symbol, written.get(at))) continue;
      push(symbols, at, symbol);
      if ((symbolRoles & definitionRole) !== 0) push(definitions, symbol, `${file} ${at}`);
    }
    files.set(file, symbols);
    names.set(file, written);
  }
  const whole = joined(files, definitions);
  for (const [file, symbols] of whole)
    for (const [at, list] of symbols) {
      const written = names.get(file).get(at) ?? '';
      const meant = (symbol) => meantBy(symbol, written, { definitions, aliases });
      symbols.set(at, list.flatMap(meant));
    }
  return { files: whole, definitions };
}

/** A member that has the name of a builtin bears the symbol of that one: what it is cannot be said. */
function isBuiltin(symbol, written) {
  return ['#', '.', '().'].some((end) => symbol.endsWith(` builtins/${written}${end}`));
}

/** What a module has from another one by `*` bears the symbol of any name of that one: none is better. */
function meantBy(symbol, written, { definitions, aliases }) {
  const [, module, name] = /^(.+`\/)(\w+)(?:#|\.|\(\)\.)$/.exec(symbol) ?? [];
  const isName = /^\w+$/.test(written);
  if (name === undefined || name === written || !isName || aliases.has(written)) return [symbol];
  const own = ['#', '.', '().'].map((end) => `${module}${written}${end}`);
  return own.filter((each) => definitions.has(each)).slice(0, 1);
}

/**
 * A module has the name by which it was found: that of a file begins at the root of the tree (`src.a.b`), that of an
 * import in a folder of sources at this folder (`a.b`). They are one where a single module of the tree fits.
 */
function joined(files, definitions) {
  const paths = new Set(files.keys());
  const modules = new Set([...definitions.keys()].flatMap((symbol) => moduleOf(symbol) ?? []));
  const known = new Map();
  const wholeOf = (module) => {
    if (!known.has(module)) {
      const fitting = [...modules].filter((each) => isBelowRoot(each, module, paths));
      known.set(module, fitting.length === 1 ? fitting[0] : module);
    }
    return known.get(module);
  };
  const named = (symbol) => {
    const module = definitions.has(symbol) ? undefined : moduleOf(symbol);
    if (module === undefined || modules.has(module)) return symbol;
    return symbol.replace(`\`${module}\``, `\`${wholeOf(module)}\``);
  };
  const renamed = (symbols) =>
    new Map([...symbols].map(([at, list]) => [at, [...new Set(list.map(named))]]));
  return new Map([...files].map(([file, symbols]) => [file, renamed(symbols)]));
}

/** Of a library; what it read under the name of another module, or by `*`, has a name that nothing defines. */
export function isElsewhere(symbol) {
  return !symbol.includes(' local ') && !symbol.startsWith('scip-python python x 1 ');
}

/** Of a symbol of the tree. */
function moduleOf(symbol) {
  return /^scip-python python x 1 `([^`]+)`\//.exec(symbol)?.[1];
}

/** A folder in which imports begin is no package. */
function isBelowRoot(whole, module, paths) {
  if (!whole.endsWith(`.${module}`)) return false;
  const root = whole.slice(0, -module.length - 1).replaceAll('.', '/');
  return !paths.has(`${root}/__init__.py`);
}

async function indexFile(root) {
  const commit = (await outputOf('git', ['rev-parse', 'HEAD'], root)).trim().slice(0, 12);
  const file = path.join(cacheFolder('scip-python'), `${path.basename(root)}-${commit}.scip`);
  if (existsSync(file)) return file;
  const part = `${file}.part`;
  // Without it scip-python asks pip; nothing but the tree and the standard library is looked at.
  const environment = path.join(cacheFolder('scip-python'), 'environment.json');
  writeFileSync(environment, '[]');
  const about = ['--cwd', root, '--project-name', 'x', '--project-version', '1'];
  const options = ['--output', part, '--environment', environment, '--quiet'];
  await outputOf(await program(), ['index', ...about, ...options], root);
  renameSync(part, file);
  return file;
}

async function program() {
  const folder = cacheFolder('bin', `scip-python-${version}`);
  const binary = path.join(folder, 'node_modules/.bin/scip-python');
  if (!existsSync(binary))
    await outputOf(
      'npm',
      ['install', '--prefix', folder, '--no-save', `@sourcegraph/scip-python@${version}`],
      folder,
    );
  return binary;
}

function push(map, key, value) {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else if (!list.includes(value)) list.push(value);
}
