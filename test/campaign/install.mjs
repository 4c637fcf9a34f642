// The package as a user gets it: packed, then installed and used in an empty root that has Node with npm, a shell, git and
// certificates, and nothing else: no compiler, no Python, no make. Installing needs the network for the registry of npm alone; what
// follows has no network at all. Prints what was run, with seconds and megabytes.
//
//   npm run campaign:install -- [--node PATH/TO/bin/node] [--keep]
//
// Needs Linux with user namespaces and `ldd`. Exits with 1 when a claim does not hold.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';

const megabytesMax = 100;
const npm = path.resolve(
  spawnSync('npm', ['root', '-g'], { encoding: 'utf8' }).stdout.trim(),
  'npm',
);
const repository = path.resolve(import.meta.dirname, '../..');
const { values } = parseArgs({
  options: { node: { type: 'string', default: process.execPath }, keep: { type: 'boolean' } },
});
const work = mkdtempSync(path.join(tmpdir(), 'sigma-install-'));
const root = path.join(work, 'root');
const failures = [];

try {
  const tarball = pack();
  emptyRoot(tarball);
  say('# In the empty root');
  run('ls /bin /usr/bin', { network: false });
  for (const each of ['gcc', 'cc', 'make', 'python3', 'cmake'])
    claim(`there is no ${each}`, inside(`command -v ${each}`).status !== 0);
  run('node --version');
  const installed = run(
    `npm install --global --no-audit --no-fund --loglevel=error --fetch-retries=0 /${tarball}`,
    {
      network: true,
    },
  );
  claim('it installs', installed.status === 0);
  if (installed.status !== 0) throw new Error('it is not installed');
  sizes(tarball);
  say('# Without any network');
  claim('it says its version', run('sigma --version').status === 0);
  claim('nothing is broken', run('sigma doctor').status === 0);
  const up = run(
    `cd /project && (sigma up . --first-question auto > /tmp/up.log 2>&1 & echo $! > /tmp/up.pid)
    for i in $(seq 120); do grep -q '^ready ' /tmp/up.log && break; sleep 1; done
    sleep 5; sigma status | head -2; sigma callers listen --json > /tmp/callers.json; echo "callers: exit $?"
    kill -INT $(cat /tmp/up.pid); for i in $(seq 30); do kill -0 $(cat /tmp/up.pid) 2>/dev/null || break; sleep 1; done; cat /tmp/up.log`,
  );
  claim(
    '`sigma up .` is ready and answers',
    /^ready /m.test(up.stdout) && / visited: /.test(up.stdout),
  );
  claim('callers are answered', up.stdout.includes('callers: exit 0'));
  const setup = run(
    'cd /project && sigma setup --client all --yes && sigma setup --client all --remove --yes && git status --short',
  );
  claim('`sigma setup` writes and removes', setup.status === 0 && !/^\?\?| M /m.test(setup.stdout));
  claim(
    'the manual is where `man` looks',
    existsSync(path.join(root, 'usr/share/man/man1/sigma.1')),
  );
} finally {
  if (values.keep !== true) rmSync(work, { recursive: true, force: true });
  else say(`kept: ${work}`);
}
process.exitCode = failures.length === 0 ? 0 : 1;

function pack() {
  const args = ['pack', '--silent', '--pack-destination', work];
  const { stdout, status } = spawnSync('npm', args, { cwd: repository, encoding: 'utf8' });
  if (status !== 0) throw new Error('npm pack failed');
  return stdout.trim().split('\n').at(-1);
}

/** Programs with the libraries that they need, and what npm and git read. */
function emptyRoot(tarball) {
  for (const folder of [
    'bin',
    'usr/bin',
    'usr/lib',
    'dev',
    'proc',
    'tmp',
    'root',
    'etc',
    'project',
  ])
    mkdirSync(path.join(root, folder), { recursive: true });
  copy(values.node, 'usr/bin/node');
  cpSync(npm, path.join(root, 'usr/lib/npm'), { recursive: true, dereference: true });
  writeFileSync(
    path.join(root, 'usr/bin/npm'),
    '#!/bin/sh\nexec node /usr/lib/npm/bin/npm-cli.js "$@"\n',
    { mode: 0o755 },
  );
  for (const name of [
    'sh',
    'env',
    'git',
    'ls',
    'cat',
    'head',
    'grep',
    'sleep',
    'seq',
    'uname',
    'readlink',
  ]) {
    const file = spawnSync('sh', ['-c', `command -v ${name}`], { encoding: 'utf8' }).stdout.trim();
    copy(file, `usr/bin/${name}`);
  }
  cpSync(path.join(root, 'usr/bin/sh'), path.join(root, 'bin/sh'));
  for (const file of [
    '/etc/resolv.conf',
    '/etc/hosts',
    '/etc/nsswitch.conf',
    '/etc/ssl/certs/ca-certificates.crt',
  ])
    if (existsSync(file)) cpSync(file, path.join(root, file), { dereference: true });
  // Names are looked up by libraries that no program names.
  for (const name of ['libnss_dns.so.2', 'libnss_files.so.2', 'libresolv.so.2'])
    for (const folder of ['/lib/x86_64-linux-gnu', '/lib/aarch64-linux-gnu', '/lib64'])
      if (existsSync(path.join(folder, name)))
        copy(path.join(folder, name), path.join(folder, name));
  writeFileSync(path.join(root, 'etc/passwd'), 'root:x:0:0:root:/root:/bin/sh\n');
  cpSync(path.join(work, tarball), path.join(root, tarball));
  const project = path.join(root, 'project');
  const clone = spawnSync('git', [
    'clone',
    '-q',
    '--depth',
    '1',
    `file://${repository}`,
    path.join(work, 'clone'),
  ]);
  if (clone.status !== 0) throw new Error('git clone failed');
  for (const part of ['src', 'services', '.git'])
    cpSync(path.join(work, 'clone', part), path.join(project, part), { recursive: true });
  spawnSync('git', ['-C', project, 'rm', '-q', '-r', '--cached', '.']);
  spawnSync('git', ['-C', project, 'add', 'src', 'services']);
  const author = ['-c', 'user.name=a', '-c', 'user.email=a@b'];
  spawnSync('git', ['-C', project, ...author, 'commit', '-q', '-m', 'a project']);
}

function copy(file, to) {
  const its = path.join(root, to);
  mkdirSync(path.dirname(its), { recursive: true });
  cpSync(realpathSync(file), its);
  const { stdout } = spawnSync('ldd', [realpathSync(file)], { encoding: 'utf8' });
  for (const [, library] of stdout.matchAll(/(\/\S+\.so\S*) \(0x/g)) {
    const place = path.join(root, library);
    if (existsSync(place)) continue;
    mkdirSync(path.dirname(place), { recursive: true });
    cpSync(realpathSync(library), place);
  }
}

function inside(script, network = false) {
  const mounts = `mount --rbind /dev ${root}/dev && mount -t proc proc ${root}/proc`;
  const env =
    'env -i PATH=/usr/bin:/bin HOME=/root LANG=C.UTF-8 NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt';
  const args = [
    '--user',
    '--map-root-user',
    '--mount',
    '--pid',
    '--fork',
    ...(network ? [] : ['--net']),
  ];
  const whole = `${mounts} && exec chroot ${root} /usr/bin/${env} /bin/sh -c "$1"`;
  return spawnSync('unshare', [...args, 'sh', '-c', whole, 'sh', script], { encoding: 'utf8' });
}

function run(script, { network = false } = {}) {
  const startMs = performance.now();
  const { status, stdout, stderr } = inside(script, network);
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  say(`$ ${script}\n${stdout}${stderr}(exit ${status}, ${seconds} s)\n`);
  return { status, stdout };
}

/** Of the package, of what was installed, and of its ten largest parts. */
function sizes(tarball) {
  const folder = path.join(root, 'usr/lib/node_modules/sigma-bus');
  const parts = [
    ...childrenOf(path.join(folder, 'node_modules')),
    ...childrenOf(path.join(folder, 'dist')).filter(([name]) => name !== 'src'),
    ...['pgc/mine/grammars', 'pgc/format/vectors', 'secrets', 'attention'].map((part) =>
      partOf(part, folder),
    ),
    ...['proto', 'deploy'].map((part) => [part, sizeOf(path.join(folder, part))]),
  ].sort(([, one], [, other]) => other - one);
  const whole = sizeOf(folder);
  say(`package ${megabytes(sizeOf(path.join(root, tarball)))}, installed ${megabytes(whole)}\n`);
  for (const [name, bytes] of parts.slice(0, 10)) say(`| ${name} | ${megabytes(bytes)} |`);
  say('');
  claim(`what is installed has at most ${megabytesMax} MB`, whole <= megabytesMax * 1e6);
}

function partOf(part, folder) {
  return [part, sizeOf(path.join(folder, 'dist/src', part))];
}

function childrenOf(folder) {
  return readdirSync(folder).map((name) => [name, sizeOf(path.join(folder, name))]);
}

function sizeOf(file) {
  const its = lstatSync(file);
  if (!its.isDirectory()) return its.size;
  return readdirSync(file).reduce((sum, name) => sum + sizeOf(path.join(file, name)), 0);
}

function megabytes(bytes) {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

function claim(text, holds) {
  say(`${holds ? 'holds' : 'FAILS'}: ${text}`);
  if (!holds) failures.push(text);
}

function say(text) {
  process.stdout.write(`${text}\n`);
}
