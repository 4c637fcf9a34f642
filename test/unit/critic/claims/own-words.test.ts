import { afterAll, beforeAll, expect, test } from 'vitest';
import { chainOfVerification } from '../../../../src/critic/modes/chain-of-verification.js';
import type { TreeGround } from '../../../../src/critic/artifact/tree-ground.js';
import { inputOf } from '../../../support/critic.js';
import { groundIn } from '../../../support/ground.js';
import { indexedTree, type IndexedTree } from '../../../support/indexed-tree.js';

/** What stands in documents of real projects and is true, though the tree has something like it. */

let tree: IndexedTree;
let ground: TreeGround;

beforeAll(async () => {
  tree = await indexedTree(
    {
      'src/orchestration.ts': 'export function orchestrate(): void {}\n',
      'src/attention/policy.ts': 'export const policy = 1;\n',
      'src/ring.c': 'int ring(int size)\n{\n  return size;\n}\n',
      'src/limits.ts': 'export const sessionsMax = 4_096;\n',
      'src/http.ts': 'export const http = { sessionsMax: 64 };\n',
      'src/catalogue.ts':
        "export const advice = 'allow it (`kernel.userns_clone=1`, `kernel.userns_limit=0`).';\n",
      'src/config.c':
        '#define CONFIG_A 1\n#define CONFIG_B 2\n#define CONFIG_C 3\n#define CONFIG_D 4\n',
      'src/main.ts': "export const flags = ['--force-write', '--dry-run', '--as-of', '--into'];\n",
      'deploy/storekit-host@.service': '[Service]\nExecStart=storekit\n',
      'package.json': '{ "name": "storekit", "bin": { "storekit": "src/main.ts" } }\n',
    },
    ['src', 'deploy'],
  );
  ground = await groundIn(tree);
});
afterAll(() => tree[Symbol.asyncDispose]());

async function contradicted(sentence: string): Promise<string[]> {
  const text = `# Store\n\nIt is built from \`src/limits.ts\` and \`src/main.ts\`.\n\n${sentence}\n`;
  const { findings } = await chainOfVerification.examine(inputOf(text, { ground }));
  return findings.map((each) => each.text);
}

test.each([
  [
    'a file of its users, like one of the tree in another language',
    '`--into FILE` reads the phases of an ORCHESTRATION.yaml.',
  ],
  [
    'a file of its users, like a folder of the tree',
    'A policy of yours, `attention.yaml` in the home, makes it stricter.',
  ],
  ['an instance of a unit', 'It runs as `storekit-host@PATH.service`.'],
  [
    'a copy that is made',
    'Copy the unit to `storekit-host-1@.service` and `storekit-host-2@.service`.',
  ],
  [
    'an option of another program',
    '| Claude | `claude mcp add storekit -- storekit mcp` (for all: `--scope project` before the name) |',
  ],
  [
    'one of several values of a name',
    'With `sessionsMax` of 64 it takes less, with `sessionsMax` of 1 000 more.',
  ],
  [
    'a setting that a text of the program names',
    'Where it is forbidden (`kernel.userns_clone=0`) it says so.',
  ],
  ['a path of another tree', 'Kept: `arch/alpha/pci.c#one`, `fs/open.c#two`, `src/sys.c#three`.'],
  ['an option of a build', '`CONFIG_HOST_GOV` is enabled in most.'],
  ['a file and its line', 'See `ring.c:1` for what it returns.'],
])('%s is not contradicted', async (_, sentence) => {
  expect(await contradicted(sentence)).toEqual([]);
});

test.each([
  ['a file of the same kind', 'It is told in `orchestratoin.ts`.'],
  ['an option of its own command', '`storekit --dry-runn` only looks.'],
])('%s is', async (_, sentence) => {
  expect(await contradicted(sentence)).toHaveLength(1);
});

test('words of rules that are named bind nobody', async () => {
  const named = 'Lines with MUST, SHOULD or MAY are read by `src/limit.ts`.';
  const bound = 'Callers MUST read `src/limit.ts`.';
  const ends = async (sentence: string): Promise<string> => {
    const { abort } = await chainOfVerification.examine(
      inputOf(`# Store\n\n${sentence}\n`, { ground }),
    );
    return abort;
  };
  expect(await ends(named)).toBe('');
  expect(await ends(bound)).toBe('HARD_RULE_CONTRADICTED');
});
