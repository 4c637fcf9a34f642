// Brings a checkout into a runnable state: installs what the lock file names, generates the protobuf
// code, compiles. Does nothing when all of that is already current. Needs Node and nothing else.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const generated = path.join(root, 'src/wire/generated');
const tables = path.join(root, 'src/attention/tables');
const dist = path.join(root, 'dist');
/** By its path: what reads the imports for the layers needs the earlier one, in the same folder of programs. */
const compiler = 'node_modules/typescript-native/bin/tsc';
const stampFile = path.join(dist, '.stamp');
const flags = new Set(process.argv.slice(2));

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19))
  fail(`Sigma Bus needs Node 20.19 or newer; this is ${process.version}.`);

installIfNeeded();
const stamp = digestOfSources();
const isCurrent =
  existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp && existsSync(generated);
if (flags.has('--generate')) generate();
else if (flags.has('--force') || !isCurrent) await build();

function installIfNeeded() {
  const marker = path.join(root, 'node_modules/.package-lock.json');
  const lock = path.join(root, 'package-lock.json');
  const wanted = createHash('sha256').update(readFileSync(lock)).digest('hex');
  const seen = path.join(root, 'node_modules/.sigma-lock');
  if (existsSync(marker)) {
    if (existsSync(seen) && readFileSync(seen, 'utf8') === wanted) return;
    // Installed by hand (npm ci, npm install): believe npm's own check of the tree.
    if (run('npm', ['ls', '--silent', '--depth=0'], { quiet: true }))
      return writeFileSync(seen, wanted);
  }
  say('installing packages');
  if (!run('npm', ['ci', '--no-audit', '--no-fund', '--loglevel=error']))
    fail('npm ci failed; its output is above.');
  writeFileSync(seen, wanted);
}

function generate() {
  mkdirSync(generated, { recursive: true });
  const protos = readdirSync(path.join(root, 'proto'))
    .filter((name) => name.endsWith('.proto'))
    .sort();
  const js = path.join(generated, 'proto.js');
  const inputs = protos.map((name) => path.join('proto', name));
  const options = [
    '-t',
    'static-module',
    '-w',
    'es6',
    '--es6',
    '--keep-case',
    '--no-service',
    '--no-delimited',
    '--no-verify',
    '--force-number',
    '--dependency',
    'protobufjs/minimal.js',
  ];
  if (!runBin('pbjs', [...options, '-o', js, ...inputs])) fail('pbjs failed');
  // protobufjs is CommonJS and assigns its exports at run time, so Node sees only the default export.
  writeFileSync(
    js,
    readFileSync(js, 'utf8').replace('import * as $protobuf from', 'import $protobuf from'),
  );
  if (!runBin('pbts', ['-o', path.join(generated, 'proto.d.ts'), js])) fail('pbts failed');
}

/** Compiled aside and swapped in whole, so that a failed build leaves the last good one running. */
async function build() {
  say('compiling');
  generate();
  const stamp = digestOfSources();
  const next = path.join(root, 'dist.next');
  rmSync(next, { recursive: true, force: true });
  if (!runNode(compiler, ['-p', 'tsconfig.json', '--outDir', next]))
    fail('tsc failed; its output is above.');
  // As late as this: the packages may have just been installed.
  const { minifySync } = await import('rolldown/utils');
  const { bundle } = await import('./bundle.mjs');
  const { page } = await import('./page.mjs');
  // Without remarks and long names it is a quarter, and every process reads it when it starts.
  const codecs = minifySync('proto.js', readFileSync(path.join(generated, 'proto.js'), 'utf8'));
  if (codecs.errors.length > 0) fail(`proto.js cannot be shortened: ${codecs.errors[0].message}`);
  mkdirSync(path.join(next, 'src/wire/generated'), { recursive: true });
  writeFileSync(path.join(next, 'src/wire/generated/proto.js'), codecs.code);
  for (const file of readAtRun()) cpSync(path.join(root, file), path.join(next, file));
  await readPolicy(next);
  await copyGrammars(next);
  await bundle(root, next);
  await page(root, next);
  writeFileSync(path.join(next, '.stamp'), stamp);
  for (const program of ['sigma', 'ps-critic'])
    chmodSync(path.join(root, `services/cli/${program}.mjs`), 0o755);
  writeManual(next);
  rmSync(dist, { recursive: true, force: true });
  renameSync(next, dist);
}

/** npm puts it where `man` looks. */
function writeManual(next) {
  const program = `import { main } from ${JSON.stringify(pathToFileURL(path.join(next, 'bundle/main.js')).href)};
    await main(['node', 'sigma', 'manual']);`;
  const args = ['--input-type=module', '--eval', program];
  const { status, stdout } = spawnSync(process.execPath, args, {
    ...{ cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  if (status !== 0) fail('the manual page could not be made');
  mkdirSync(path.join(next, 'man'));
  writeFileSync(path.join(next, 'man/sigma.1'), stdout);
}

/** Beside the tables what they say: to read so much YAML takes every manager and executor a third of a second. */
async function readPolicy(next) {
  const folder = path.join(next, path.relative(root, tables));
  const reader = path.join(folder, '../policy/policy-file.js');
  const { readTables } = await import(pathToFileURL(reader).href);
  writeFileSync(path.join(folder, 'policy.json'), JSON.stringify(readTables(tables)));
}

/** The few of all languages that we read, and what runs them. */
async function copyGrammars(next) {
  const folder = path.join(next, 'src/pgc/mine/grammars');
  const { grammarLanguages } = await import(
    pathToFileURL(path.join(next, 'src/pgc/format/facts.js')).href
  );
  const packages = path.join(root, 'node_modules');
  mkdirSync(folder, { recursive: true });
  const runtime = 'web-tree-sitter.wasm';
  cpSync(path.join(packages, 'web-tree-sitter', runtime), path.join(folder, runtime));
  for (const language of grammarLanguages) {
    const name = `tree-sitter-${language}.wasm`;
    cpSync(path.join(packages, '@repomix/tree-sitter-wasms/out', name), path.join(folder, name));
  }
}

/** Files that programs read at run time: policies, and instructions for models. */
function readAtRun() {
  const files = readdirSync(path.join(root, 'src'), { recursive: true });
  return files
    .filter((name) => isReadAtRun(path.join('src', name)))
    .map((name) => path.join('src', name));
}

function isReadAtRun(file) {
  return (
    /\.(yaml|bin)$/.test(file) ||
    /^src\/(secrets\/(rules\.json|LICENCES\.txt)|(model\/texts|prompt\/personas)\/[^/]+\.md)$/.test(
      file.split(path.sep).join('/'),
    )
  );
}

function digestOfSources() {
  const hash = createHash('sha256');
  const add = (file) =>
    hash.update(path.relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      const full = path.join(folder, entry.name);
      if (full === generated) continue;
      if (entry.isDirectory()) walk(full);
      else if (
        /\.(tsx?|json|proto|mjs|css|html|svg)$/.test(entry.name) ||
        isReadAtRun(path.relative(root, full))
      )
        add(full);
    }
  };
  for (const folder of ['src', 'services', 'proto']) walk(path.join(root, folder));
  for (const file of [
    'tsconfig.json',
    'package-lock.json',
    'deploy/setup.mjs',
    'deploy/bundle.mjs',
    'deploy/page.mjs',
  ])
    add(path.join(root, file));
  return hash.digest('hex');
}

function runBin(name, args) {
  return runNode(path.join('node_modules/.bin', name), args);
}

function runNode(script, args) {
  return run(process.execPath, [path.join(root, script), ...args]);
}

function run(command, args, { quiet = false } = {}) {
  const stdio = quiet ? 'ignore' : ['ignore', process.stderr, process.stderr];
  return spawnSync(command, args, { cwd: root, stdio, shell: false }).status === 0;
}

function say(text) {
  process.stderr.write(`sigma-bus: ${text}\n`);
}

function fail(text) {
  say(text);
  process.exit(1);
}
