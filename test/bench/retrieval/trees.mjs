// The trees that are asked about: this repository, and releases that Debian keeps the sources of. Those are fetched
// with a package list of the run's own, so that the machine's settings stay as they are.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { run, temporaryFolder } from '../kernel/process.mjs';

const fetchMsMax = 600_000;
const here = path.resolve(import.meta.dirname, '../../..');

/**
 * `release` of `source`: its archive by its digest, which stays the same however often Debian revises the
 * package. `without`: what is not asked about, relative to the root.
 */
const releases = {
  redis: {
    source: 'redis',
    release: '7.0.15',
    sha256: '4b1dc4ee6d622a09fff9c6777191209750fb5e5a725ef78ea012d6eef4c22982',
    without: ['deps', 'tests'],
  },
  django: {
    source: 'python-django',
    release: '3.2.25',
    sha256: '7ca38a78654aee72378594d63e51636c04b8e28574f5505dff630895b5472777',
    without: ['docs', 'tests', 'js_tests', 'extras', 'scripts', 'Django.egg-info'],
  },
  nginx: {
    source: 'nginx',
    release: '1.22.1',
    sha256: '9ebb333a9e82b952acd3e2b4aeb1d4ff6406f72491bab6cd9fe69f0dea737f31',
    without: [],
  },
  lua: {
    source: 'lua5.4',
    release: '5.4.4',
    sha256: '164c7849653b80ae67bec4b7473b884bf5cc8d2dca05653475ec2ed27b9ebf61',
    without: ['doc'],
  },
  curl: {
    source: 'curl',
    release: '7.88.1',
    sha256: 'cdb38b72e36bc5d33d5b8810f8018ece1baa29a8f215b4495e495ded82bbf3c7',
    only: ['include', 'lib', 'src'],
    // The manual as a C string, and what automake makes of Makefile.am.
    without: ['src/tool_hugehelp.c', 'lib/Makefile.in', 'src/Makefile.in'],
  },
  mercurial: {
    source: 'mercurial',
    release: '6.3.2',
    sha256: 'cfe6eeb5dd893ab32c0b79c1531aac420773e0fc837a35db3d4d92703df45a98',
    only: ['mercurial', 'hgext'],
    // Manuals, the pages of hgweb, others' libraries, and what mercurial/pure has in Python too.
    without: ['helptext', 'templates', 'thirdparty', 'cext'].map((each) => `mercurial/${each}`),
  },
  nodejs: {
    source: 'nodejs',
    release: '18.20.4+dfsg',
    sha256: '6ce58062c71eae37d9c5ac31eeaeff9c2d48561d21c2849179d056c9c1bd9ebc',
    only: ['lib'],
    without: [],
  },
  python: {
    source: 'python3.11',
    release: '3.11.2',
    sha256: '2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849',
    only: ['Lib'],
    without: [
      ...['test', 'idlelib', 'lib2to3', 'encodings', 'turtledemo', 'msilib', 'distutils'],
      ...['pydoc_data', 'tkinter', 'ensurepip'],
    ].map((folder) => `Lib/${folder}`),
  },
};

/** Of this repository: neither tests, which hold these very questions, nor what is generated. */
const ownParts = [
  ...['src', 'services', 'deploy', 'proto', 'README.md', 'CHANGELOG.md', 'LICENSE'],
  ...['package.json', 'tsconfig.json', 'eslint.config.js', '.dependency-cruiser.cjs', '.ci'],
];
const ownGenerated = ['src/wire/generated'];

function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || path.join(homedir(), '.cache');
  const folder = path.join(base, 'sigma-bus-bench', 'retrieval');
  mkdirSync(folder, { recursive: true });
  return folder;
}

/** The root of a tree, fetched when it is missing, and what it is. */
export async function treeOf(name) {
  if (name === 'self') return ownTree();
  const wanted = releases[name];
  const root = path.join(cacheFolder(), `${wanted.source}-${wanted.release}`);
  const is = `${wanted.source} ${wanted.release}, without ${wanted.without.join(', ') || 'nothing'}`;
  if (existsSync(root)) return { root, is };
  const archive = await archiveOf(wanted);
  // Renamed when whole: what a killed run left behind is never mistaken for a tree.
  const unpacking = temporaryFolder('unpacking', cacheFolder());
  execFileSync('tar', ['-xf', archive, '-C', unpacking, '--strip-components=1']);
  for (const entry of readdirSync(unpacking)) {
    if (wanted.only !== undefined && !wanted.only.includes(entry))
      rmSync(path.join(unpacking, entry), { recursive: true });
  }
  for (const folder of wanted.without) rmSync(path.join(unpacking, folder), { recursive: true });
  removeTranslations(unpacking);
  renameSync(unpacking, root);
  return { root, is };
}

/** Anew in every run: it is what is being worked on. */
function ownTree() {
  const root = path.join(cacheFolder(), 'sigma-bus');
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  for (const part of ownParts)
    cpSync(path.join(here, part), path.join(root, part), { recursive: true });
  for (const part of ownGenerated) rmSync(path.join(root, part), { recursive: true, force: true });
  return { root, is: `this repository, ${ownParts.slice(0, 4).join(', ')} and its root` };
}

/** Catalogues of messages, in all languages: neither code nor documents. */
function removeTranslations(root) {
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory() && entry.name === 'LC_MESSAGES')
      rmSync(path.join(entry.parentPath ?? entry.path, entry.name), { recursive: true });
  }
}

async function archiveOf({ source, release, sha256 }) {
  const folder = temporaryFolder('source');
  const options = privateApt(folder);
  const apt = (...args) =>
    run('apt-get', [...options, ...args], { timeoutMs: fetchMsMax, cwd: folder });
  process.stderr.write(`fetching the source of ${source} ${release}\n`);
  await apt('update');
  const fetched = await apt('source', '--download-only', '--tar-only', source);
  const file = readdirSync(folder).find((each) => each.startsWith(`${source}_${release}.orig.tar`));
  if (file === undefined)
    throw new Error(`Debian no longer has ${source} ${release}: ${fetched.stderr.slice(-300)}`);
  const archive = path.join(folder, file);
  const found = createHash('sha256').update(readFileSync(archive)).digest('hex');
  if (found !== sha256) throw new Error(`${file} has the digest ${found}, not ${sha256}`);
  return archive;
}

/** The machine's Debian sources, asked for source packages; state and lists below `folder`. */
function privateApt(folder) {
  const lists = path.join(folder, 'sources');
  for (const each of [lists, `${folder}/state/lists/partial`, `${folder}/cache/archives/partial`])
    mkdirSync(each, { recursive: true });
  const places = ['/etc/apt/sources.list', ...filesIn('/etc/apt/sources.list.d')];
  for (const [at, place] of places.filter(existsSync).entries()) {
    const text = readFileSync(place, 'utf8');
    if (!/\bdebian\b/.test(text)) continue;
    const isStanza = place.endsWith('.sources');
    const asked = isStanza
      ? text.replace(/^Types:.*$/gm, 'Types: deb-src')
      : text.replace(/^deb\s/gm, 'deb-src ');
    writeFileSync(path.join(lists, `${at}.${isStanza ? 'sources' : 'list'}`), asked);
  }
  return [
    `Dir::State=${folder}/state`,
    `Dir::Cache=${folder}/cache`,
    'Dir::Etc::SourceList=/dev/null',
    `Dir::Etc::SourceParts=${lists}`,
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
}

function filesIn(folder) {
  return existsSync(folder) ? readdirSync(folder).map((each) => path.join(folder, each)) : [];
}
