import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { classify } from '../../../src/attention/classify/classify.js';
import { FolderInspector } from '../../../src/attention/inspector.js';
import { loadPolicy } from '../../../src/attention/policy/policy-file.js';
import { mergePolicies, parseOperatorPolicy } from '../../../src/attention/policy/policy.js';

/** Links of a real tree: where a command writes is where they lead. */

const policy = loadPolicy();
let base = '';
let inspector: FolderInspector;

beforeAll(async () => {
  base = await mkdtemp(path.join(tmpdir(), 'links-'));
  const root = path.join(base, 'root');
  for (const folder of ['out', 'root/.husky', 'root/sub/deep'])
    await mkdir(path.join(base, folder), { recursive: true });
  await writeFile(path.join(root, 'a'), 'x');
  await symlink(path.join(base, 'out'), path.join(root, 'away'));
  await symlink('../nowhere', path.join(root, 'dangling'));
  await symlink('sub/deep', path.join(root, 'within'));
  await writeFile(path.join(root, 'sub/deep/go.sh'), 'true\n');
  await symlink('sub/deep/go.sh', path.join(root, 'go.sh'));
  await symlink('.husky', path.join(root, 'hooks'));
  inspector = await FolderInspector.open(root, () => Promise.resolve(true));
});
afterAll(() => rm(base, { recursive: true, force: true }));

test.each<[string, string[]]>([
  ['echo x > away/b', ['outside-root', 'overwrites-outside']],
  ['echo x >> away/b', ['outside-root']],
  ['echo x > away', ['outside-root', 'overwrites-outside']],
  ['echo x > dangling', ['outside-root', 'overwrites-outside']],
  ['cd away && touch b', ['outside-root']],
  ['mkdir -p away/b/c', ['outside-root']],
  ['cp a away', ['outside-root', 'overwrites-outside']],
  ['echo x > away/../b', ['hidden-target']],
  ['echo x > within/../b', ['hidden-target']],
  ['echo x > within/b', []],
  ['echo x > sub/deep/../b', []],
  ['echo x > hooks/pre-commit', ['startup-file']],
  ['ln -s away/b c', ['links-out']],
  ['ln -s ../deep sub/c', []],
  ['ln -s ../../deep sub/c', ['links-out']],
  ['ln -s ../a within', ['links-out']],
  ['cp -a away c', ['links-out']],
  ['mv a away', ['outside-root', 'overwrites-outside', 'moves-out']],
])('%s: %j', async (text, rules) => {
  expect(await rulesOf(text)).toEqual(rules);
});

test.each<[string, string[]]>([
  ['sh go.sh', []],
  ['cp a go.sh && sh go.sh', ['written-file']],
  ['cp a sub/deep/go.sh && sh go.sh', ['written-file']],
  ['cp a within/go.sh && sh go.sh', ['written-file']],
  ['cp a within/other.sh && sh go.sh', []],
])(
  'a file that the action writes is not the one that was allowed, by whatever name: %s: %j',
  async (text, rules) => {
    const own = parseOperatorPolicy('allow: [{ command: [sh, go.sh], why: ours }]', 'own.yaml');
    expect(await rulesOf(text, mergePolicies(policy, own))).toEqual(rules);
  },
);

async function rulesOf(text: string, its = policy): Promise<string[]> {
  const promises = { read_only: false, idempotency_key: '', data: [], scope: [] };
  const argv = ['sh', '-c', text];
  const action = { runner: 'command', argv, cwd: '', env: {}, stdin: '', ...promises };
  const { root } = inspector;
  const { findings } = await classify(action, { policy: its, inspector, root });
  return findings.map(({ rule }) => rule);
}
