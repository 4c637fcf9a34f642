// Definitions that the miners find, beside universal-ctags over the same files.
//
//   npm run bench:definitions -- [--only go,rust] [--files N] [--disagreements N]
//
// The sources come from Debian and npm; what is missing is installed. Neither side is the truth: recall is
// the share of ctags' definitions that the miner has, precision the share of the miner's that ctags has.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { table } from '../kernel/figures.mjs';
import { Miner } from '../../../dist/src/pgc/miners/mine.js';
import { languageIn, languageOf } from '../../../dist/src/pgc/miners/language.js';

const { values: options } = parseArgs({
  options: {
    only: { type: 'string', default: '' },
    files: { type: 'string', default: '2000' },
    disagreements: { type: 'string', default: '0' },
  },
});

/** `kinds`: what ctags calls the things that the miner has as symbols; fields, locals and the like are none. */
const trees = [
  {
    name: 'typescript',
    npm: ['rxjs@7.8.1', 'effect@3.10.0'],
    folders: ['node_modules/rxjs/src', 'node_modules/effect/src'],
    ctags: 'TypeScript',
    kinds: ['function', 'class', 'interface', 'enum', 'method', 'alias', 'namespace', 'generator'],
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
  },
];

const scratch = path.join('/tmp', 'sigma-bench-definitions');
mkdirSync(scratch, { recursive: true });
const wanted =
  options.only === '' ? trees : trees.filter(({ name }) => options.only.split(',').includes(name));
const rows = [];
for (const tree of wanted) {
  const files = filesOf(tree).slice(0, Number(options.files));
  rows.push(await compared(tree, files));
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
process.stdout.write(`${table([head, ...rows])}\n`);

function filesOf(tree) {
  if (tree.debian !== undefined) installDebian(tree.debian);
  if (tree.npm !== undefined) installNpm(tree.npm);
  const base = tree.archive === undefined ? scratch : unpacked(tree);
  const folders = tree.folders
    .map((folder) => path.resolve(base, folder))
    .filter((each) => existsSync(each));
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
    const tags = theirs.get(file) ?? [];
    const named = new Set(tags.map(({ name }) => name));
    for (const tag of tags) {
      const isFound = (mine.get(tag.name) ?? []).some(
        ({ line_start, line_end }) => line_start <= tag.line && tag.line <= line_end,
      );
      found += Number(isFound);
      if (!isFound) disagreements.push(`- ${file}:${tag.line} ${tag.kind} ${tag.name}`);
    }
    for (const symbol of facts.symbols) {
      ours += 1;
      agreed += Number(named.has(symbol.name));
      if (!named.has(symbol.name))
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
  const total = [...theirs.values()].reduce((sum, tags) => sum + tags.length, 0);
  return [
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
}

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
    const { path: file, name, line, kind } = JSON.parse(row);
    if (
      name === undefined ||
      !tree.kinds.includes(kind) ||
      /^__anon|^anon|^_$|^\$/.test(name) ||
      name.includes(' ')
    )
      continue;
    byFile.set(file, [...(byFile.get(file) ?? []), { name, line, kind }]);
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
