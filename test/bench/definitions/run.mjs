// Definitions that the miners find, beside universal-ctags over the same files.
//
//   npm run bench:definitions -- [--only go,rust] [--files N] [--disagreements N]
//
// The sources come from Debian and npm; what is missing is installed. Neither side is the truth: recall is
// the share of ctags' definitions that the miner has (same name, and the line is in ours), precision the
// share of the miner's whose name ctags has in that file, as whatever.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { table } from '../kernel/figures.mjs';
import { Miner } from '../../../dist/src/pgc/mine/mine.js';
import { languageIn, languageOf } from '../../../dist/src/pgc/source/language.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    files: { type: 'string', default: '10000' },
    disagreements: { type: 'string', default: '0' },
  },
});

const notOurs = new Set(['local', 'parameter', 'tparam', 'macroparam', 'label', 'header']);

/**
 * `kinds`: what ctags calls the things that the miner has as symbols; fields, locals and the like are none.
 * `outermost`: kinds that count only in lines that are not indented: ctags gives locals the same kind.
 * `calls`: kinds and names of what ctags takes for definitions and that are calls of macros.
 */
const trees = [
  {
    name: 'typescript',
    npm: ['rxjs@7.8.1', 'effect@3.10.0'],
    folders: ['node_modules/rxjs/src', 'node_modules/effect/src'],
    ctags: 'TypeScript',
    kinds: ['function', 'class', 'interface', 'enum', 'method', 'alias', 'namespace', 'generator'],
    outermost: ['constant', 'variable'],
  },
  {
    name: 'python',
    debian: 'python3-sympy',
    folders: ['/usr/lib/python3/dist-packages/sympy'],
    ctags: 'Python',
    kinds: ['class', 'function', 'member'],
  },
  {
    name: 'go',
    debian: 'golang-1.19-src',
    folders: ['/usr/share/go-1.19/src'],
    ctags: 'Go',
    kinds: ['func', 'type', 'struct', 'interface', 'const', 'var', 'methodSpec', 'talias'],
  },
  {
    name: 'rust',
    debian: 'rust-src',
    folders: ['/usr/lib/rustlib/src/rust/library', '/usr/src/rustc-1.63.0/library'],
    ctags: 'Rust',
    kinds: [
      'function',
      'struct',
      'enum',
      'interface',
      'method',
      'macro',
      'constant',
      'variable',
      'module',
      'typedef',
      'enumerator',
    ],
  },
  {
    name: 'java',
    debian: 'openjdk-17-source',
    archive: '/usr/lib/jvm/openjdk-17/lib/src.zip',
    folders: ['java.base/java', 'java.base/javax'],
    ctags: 'Java',
    kinds: [
      'class',
      'interface',
      'enum',
      'enumConstant',
      'method',
      'annotation',
      'field',
      'package',
    ],
  },
  {
    name: 'cpp',
    debian: 'libboost1.74-dev',
    folders: ['/usr/include/boost/asio', '/usr/include/boost/beast'],
    ctags: 'C++',
    kinds: [
      'function',
      'class',
      'struct',
      'union',
      'enum',
      'enumerator',
      'macro',
      'typedef',
      'alias',
      'namespace',
      'prototype',
    ],
    calls: { kinds: ['function', 'prototype'], name: /^[A-Z][A-Z0-9]*_[A-Z0-9_]+$/ },
  },
];

const scratch = path.join('/tmp', 'sigma-bench-definitions');
mkdirSync(scratch, { recursive: true });
const wanted =
  options.only === '' ? trees : trees.filter(({ name }) => options.only.split(',').includes(name));
const rows = [];
const reasons = [];
for (const tree of wanted) {
  const files = filesOf(tree).slice(0, Number(options.files));
  const { row, missed, more } = await compared(tree, files);
  rows.push(row);
  reasons.push(`${tree.name}: missed ${listed(missed)}; more than ctags ${listed(more)}`);
}
const head = [
  'LANGUAGE',
  'FILES',
  'LINES',
  'ERRORS',
  'CTAGS',
  'OURS',
  'RECALL',
  'PRECISION',
  'LINES/S',
];
process.stdout.write(`${table([head, ...rows])}\n${reasons.join('\n')}\n`);

/** `{ macro: 2, function: 30 }` → `30 function, 2 macro`. */
function listed(counts) {
  const pairs = [...counts].sort((a, b) => b[1] - a[1]).map(([kind, count]) => `${count} ${kind}`);
  return pairs.join(', ') || 'nothing';
}

function filesOf(tree) {
  if (tree.debian !== undefined) installDebian(tree.debian);
  if (tree.npm !== undefined) installNpm(tree.npm);
  const base = tree.archive === undefined ? scratch : unpacked(tree);
  const present = tree.folders
    .map((folder) => path.resolve(base, folder))
    .filter((each) => existsSync(each));
  // Debian has the sources of Rust in one place and a link to them in the other.
  const folders = [...new Set(present.map((each) => realpathSync(each)))];
  if (folders.length === 0)
    throw new Error(`${tree.name}: none of ${tree.folders.join(', ')} is there`);
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => path.join(entry.parentPath ?? entry.path, entry.name)),
    )
    .filter((file) => languageOf(file) !== undefined && !/\.d\.ts$|testdata/.test(file))
    .filter((file) => languageIn(languageOf(file), file, readFileSync(file)) === tree.name)
    .sort();
}

async function compared(tree, files) {
  const theirs = ctags(tree, files);
  const miner = new Miner();
  let [lines, bytes, errors, ours, found, agreed] = [0, 0, 0, 0, 0, 0];
  const disagreements = [];
  const missed = new Map();
  const more = new Map();
  const count = (counts, kind) => void counts.set(kind, (counts.get(kind) ?? 0) + 1);
  let minedMs = 0;
  for (const file of files) {
    const source = readFileSync(file);
    const beganMs = performance.now();
    const facts = await miner.mine(tree.name, source);
    minedMs += performance.now() - beganMs;
    lines += facts.lines;
    bytes += facts.bytes;
    errors += facts.error_bytes;
    const mine = new Map();
    for (const each of facts.symbols) mine.set(each.name, [...(mine.get(each.name) ?? []), each]);
    const { tags, names } = theirs.get(file) ?? { tags: [], names: new Set() };
    for (const tag of tags) {
      const isFound = (mine.get(tag.name) ?? []).some(
        ({ line_start, line_end }) => line_start <= tag.line && tag.line <= line_end,
      );
      found += Number(isFound);
      if (isFound) continue;
      count(missed, tag.kind);
      disagreements.push(`- ${file}:${tag.line} ${tag.kind} ${tag.name}`);
    }
    for (const symbol of facts.symbols) {
      ours += 1;
      agreed += Number(names.has(symbol.name));
      if (names.has(symbol.name)) continue;
      count(more, symbol.kind);
      disagreements.push(`+ ${file}:${symbol.line_start} ${symbol.kind} ${symbol.name}`);
    }
  }
  await miner[Symbol.asyncDispose]();
  const shown = Number(options.disagreements);
  const every = Math.max(1, Math.floor(disagreements.length / Math.max(1, shown)));
  if (shown > 0)
    process.stdout.write(
      `${disagreements
        .filter((_, at) => at % every === 0)
        .slice(0, shown)
        .join('\n')}\n`,
    );
  const total = [...theirs.values()].reduce((sum, { tags }) => sum + tags.length, 0);
  const row = [
    tree.name,
    String(files.length),
    String(lines),
    `${((100 * errors) / bytes).toFixed(2)} %`,
    String(total),
    String(ours),
    (found / total).toFixed(4),
    (agreed / ours).toFixed(4),
    String(Math.round((lines / minedMs) * 1_000)),
  ];
  return { row, missed, more };
}

/** Per file: the definitions that we should have, and all names but those of locals. */
function ctags(tree, files) {
  const printed = execFileSync(
    'ctags',
    [
      '--output-format=json',
      '--fields=+nK',
      '--sort=no',
      `--language-force=${tree.ctags}`,
      `--kinds-${tree.ctags}=*`,
      '-f',
      '-',
      '-L',
      '-',
    ],
    { input: files.join('\n'), maxBuffer: 1024 ** 3, encoding: 'utf8' },
  );
  const byFile = new Map();
  for (const row of printed.split('\n')) {
    if (row === '') continue;
    const { path: file, name: given, line, kind, pattern } = JSON.parse(row);
    if (given === undefined || notOurs.has(kind)) continue;
    // `operator ==` is `operator==` to us.
    const name = given.replace(/^(operator) (?=\W)/, '$1');
    const found = byFile.get(file) ?? { tags: [], names: new Set() };
    byFile.set(file, found);
    found.names.add(name);
    const isOutermost = tree.outermost?.includes(kind) && /^\/\^\S/.test(pattern);
    if (!tree.kinds.includes(kind) && !isOutermost) continue;
    if (/^__anon|^anon|^_$|^\$/.test(name) || name.includes(' ')) continue;
    if (tree.calls?.kinds.includes(kind) && tree.calls.name.test(name)) continue;
    found.tags.push({ name, line, kind });
  }
  return byFile;
}

function installDebian(name) {
  if (spawnSync('dpkg', ['-s', name], { stdio: 'ignore' }).status === 0) return;
  process.stderr.write(`installing ${name} with apt\n`);
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const install = () =>
    spawnSync('apt-get', ['install', '-y', '--no-install-recommends', name], {
      stdio: 'ignore',
      env,
    });
  if (install().status === 0) return;
  spawnSync('apt-get', ['update'], { stdio: 'ignore', env });
  if (install().status !== 0) throw new Error(`apt could not install ${name}`);
}

function installNpm(packages) {
  if (existsSync(path.join(scratch, 'node_modules', packages[0].replace(/@[^@]*$/, '')))) return;
  process.stderr.write(`fetching ${packages.join(' ')} from npm\n`);
  execFileSync(
    'npm',
    ['install', '--no-save', '--ignore-scripts', '--prefix', scratch, ...packages],
    { stdio: 'ignore' },
  );
}

function unpacked({ name, archive }) {
  const target = path.join(scratch, name);
  if (!existsSync(target)) execFileSync('unzip', ['-q', archive, '-d', target]);
  return target;
}
