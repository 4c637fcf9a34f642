import { expect, test } from 'vitest';
import { classify } from '../../../src/attention/classify/classify.js';
import { loadPolicy } from '../../../src/attention/policy/policy-file.js';
import type { Inspector } from '../../../src/attention/shapes.js';

/** What is gone for good, and what git or a tool brings back. */

const policy = loadPolicy();
const tracked = new Set(['src/a.ts', 'data/kept.csv', '.venv/.nox/a']);
const there = new Set([...tracked, 'old.db', 'notes.txt', 'out/a.ts', 'out/b/c', 'empty']);
const folders = new Set(['', 'src', 'data', 'out', 'out/b', 'hollow']);
const inspector: Inspector = {
  read: (path) => Promise.resolve(path === 'empty' ? '' : there.has(path) ? 'x' : undefined),
  exists: (path) => Promise.resolve(there.has(path)),
  look: (path) => {
    const kind = folders.has(path) ? 'folder' : there.has(path) ? 'file' : 'nothing';
    return Promise.resolve({ kind, path: path.replace(/^node_modules\/own/, 'packages/own') });
  },
  list: (path) =>
    Promise.resolve([...there].filter((each) => each.startsWith(path === '' ? '' : `${path}/`))),
  isTracked: (path) => Promise.resolve(tracked.has(path)),
};

async function severities(text: string): Promise<string[]> {
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const argv = ['sh', '-c', text];
  const action = { runner: 'command', argv, cwd: '', env: {}, stdin: '', ...promises };
  return (await classify(action, { policy, inspector })).findings.map(({ severity }) => severity);
}

test.each<[string, string[]]>([
  ['rm src/a.ts', []],
  ['rm notes.txt', ['Gate']],
  ['rm src/a.ts notes.txt', ['Gate']],
  ['rm src/*.ts', ['Gate']],
  ['rm -rf src', ['Gate']],
  ['rm -rf node_modules sub/__pycache__', []],
  ['rm -rf .venv/.nox/a', []],
  ['rm -rf dist', ['Gate']],
  ['rm -rf ../node_modules', ['Gate', 'Gate']],
  ['cp a.db old.db', ['Gate']],
  ['cp a.txt notes.txt', ['Advisory']],
  ['cp -n a.txt notes.txt', []],
  ['cp a.ts src/a.ts', []],
  ['echo x > notes.txt', ['Advisory']],
  ['echo x >> notes.txt', []],
  [': > notes.txt', ['Gate']],
  [': > new.db', []],
  ['cp /dev/null notes.txt', ['Gate']],
  ["sed -i 's/a/b/' notes.txt", ['Advisory']],
  ["sed -n -i 's/a/b/' notes.txt", ['Gate']],
  ['tee notes.txt < src/a.ts', ['Advisory']],
  ['tee -a notes.txt < src/a.ts', []],
  ['mv src/a.ts notes.txt', ['Advisory']],
  ['mv notes.txt new.txt', []],
  ['mv notes.txt out/', []],
  ['cp src/a.ts no*.txt', ['Gate']],
  ['echo x > no*.txt', ['Gate']],
  ['cp x/a.ts out', ['Advisory']],
  ['cp x/a.ts y/b.ts out', ['Advisory']],
  ['cp x/old.db .', ['Gate']],
  ['cp -t . x/a x/old.db', ['Gate']],
  ['mv x/notes.txt .', ['Advisory']],
  ['cp x/a.ts hollow', []],
  ['cp x/*.ts hollow', []],
  ['cp x/*.ts new/', []],
  ['cp x/*.ts out', ['Gate']],
  ['cp -r x/. out', ['Gate']],
  ['cp -r x/b out', ['Gate']],
  ['cp -rT x out', ['Gate']],
  ['cp -n x/*.ts out', []],
  ['cp empty notes.txt', ['Gate']],
  ['cat /dev/null > notes.txt', ['Gate']],
  ['cat < /dev/null > notes.txt', ['Gate']],
  ["printf '' > notes.txt", ['Gate']],
  ['echo -n > notes.txt', ['Gate']],
  ['> notes.txt', ['Gate']],
  ['head -c0 src/a.ts > notes.txt', ['Gate']],
  ['grep nothing src/a.ts > notes.txt', ['Gate']],
  ['sort src/a.ts > new.txt', []],
  ['sort notes.txt > src/a.ts', []],
  ['tee notes.txt < /dev/null', ['Gate']],
  ["sed -i '1,$d' notes.txt", ['Gate']],
  ['truncate -s 0 notes.txt', ['Gate']],
  ['rm -rf node_modules/own/src', ['Gate']],
])('%s: %j', async (text, found) => {
  expect(await severities(text)).toEqual(found);
});

test('of so many files is asked whether git has them, and the others are taken as not', async () => {
  let asked = 0;
  const all: Inspector = {
    read: () => Promise.resolve('x'),
    isTracked: () => Promise.resolve((asked += 1) > 0),
  };
  const text = Array.from({ length: 100 }, (_, at) => `cp a f${at}.txt`).join('\n');
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const argv = ['sh', '-c', text];
  const action = { runner: 'command', argv, cwd: '', env: {}, stdin: '', ...promises };
  const { level } = await classify(action, { policy, inspector: all });
  expect([asked, level]).toEqual([64, 'Elevated']);
});
