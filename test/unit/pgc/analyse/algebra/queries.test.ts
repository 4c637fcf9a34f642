import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { evaluate } from '../../../../../src/pgc/analyse/algebra/evaluate.js';
import { parseExpression } from '../../../../../src/pgc/analyse/algebra/expression.js';
import { groundsMax } from '../../../../../src/pgc/analyse/algebra/source.js';
import { openSampleTree, type SampleTree } from './sample-tree.js';

let sample: SampleTree;
beforeAll(async () => {
  sample = await openSampleTree();
});
afterAll(() => sample[Symbol.asyncDispose]());

const ask = (text: string, limit?: number) =>
  evaluate(parseExpression(text), sample.tree, limit === undefined ? {} : { limit });

/** `path:line symbol`, as people read it. */
async function places(text: string): Promise<string[]> {
  const { anchors, errors } = await ask(text);
  expect(errors).toEqual([]);
  return anchors.map(({ file_path, line, symbol }) => `${file_path}:${line} ${symbol}`.trim());
}

describe('a query', () => {
  test.each<[what: string, text: string, expected: string[]]>([
    [
      'symbols that the documentation speaks of',
      'O1 & O4',
      [
        'drivers/ring.c:12 ring_push',
        'drivers/ring.h:7 ring_push',
        'tools/check.py:4 check_all',
        'tools/report.ts:4 makeReport',
      ],
    ],
    [
      'of these, those of which only documents speak',
      'O1 & O4 - O4[doc]',
      ['drivers/ring.h:7 ring_push'],
    ],
    [
      'functions that nothing calls or holds, and that call nothing',
      'O1[function] - O3',
      [
        'drivers/device.c:23 device_unused',
        'drivers/ring.c:19 ring_reset',
        'drivers/ring.h:7 ring_push',
        'drivers/ring.h:8 ring_reset',
        'tools/report.ts:12 forgotten',
      ],
    ],
    [
      'who calls ring_push without a look at what it returns',
      'O3[calls, subject=ring_push, used=false]',
      ['drivers/device.c:11 device_ioctl'],
    ],
    [
      'ways in for others, that call on',
      'O2[rule~"^surface-"] ∩ O3[calls]',
      ['drivers/device.c:11 device_ioctl'],
    ],
    [
      'findings where nothing is asserted',
      'O1 & O2[severity!=info] − O6',
      ['drivers/device.c:6 device_name', 'tools/report.ts:4 makeReport'],
    ],
    [
      'weaknesses in Python and TypeScript, by their number',
      'O2[cwe=CWE-78, path=tools]',
      ['tools/check.py:4 check_all', 'tools/report.ts:4 makeReport'],
    ],
    [
      'exported functions that nothing documents and nothing calls',
      'O7[undocumented] - O3[called]',
      ['drivers/ring.c:19 ring_reset'],
    ],
    [
      'documents that are wrong, and say how to do something',
      'O7 & O5 + O7[unknown-name]',
      ['README.md:9 Build', 'drivers/device.c:4'],
    ],
    [
      'symbols of a folder that no other overlay has',
      'O1[path=drivers/*.h] & !(O2 + O3 + O4 + O5 + O6 + O7)',
      ['drivers/ring.h:3 ring', 'drivers/ring.h:8 ring_reset'],
    ],
    [
      'what is not a function',
      '!O1[function]',
      [
        'drivers/device.c:3 device_limit',
        'drivers/device.c:18 device_fops',
        'drivers/ring.h:1 RING_MAX',
        'drivers/ring.h:3 ring',
      ],
    ],
    [
      'who calls a function, in whichever shard',
      'O3[calls, subject=ring_push]',
      ['drivers/device.c:11 device_ioctl', 'tools/emit.c:3 emit_all'],
    ],
    [
      'what is called from there: nothing that is private to another file',
      'O3[called, subject=emit_all]',
      ['drivers/ring.c:12 ring_push'],
    ],
    ['files by a pattern', 'O1[path=**/*.h, kind=struct]', ['drivers/ring.h:3 ring']],
    ['files by a folder, whole names only', 'O1[path=driver]', []],
  ])('%s: %s', async (_, text, expected) => {
    expect(await places(text)).toEqual(expected);
  });
});

describe('an answer', () => {
  test('says what put each anchor there', async () => {
    const { anchors } = await ask('O2[surface-ioctl] & O3[slot]');
    expect(anchors).toEqual([
      {
        file_path: 'drivers/device.c',
        symbol: 'device_ioctl',
        line: 11,
        kind: 'function',
        items: [
          {
            overlay: 'O2',
            rule: 'surface-ioctl',
            file_path: 'drivers/device.c',
            line: 19,
            text: 'ioctl handler device_ioctl',
          },
          {
            overlay: 'O3',
            rule: 'slot',
            file_path: 'drivers/device.c',
            line: 19,
            text: 'is held by file_operations.unlocked_ioctl',
          },
        ],
      },
    ]);
  });

  test('tells only of the side of a union that holds it, and of each item once', async () => {
    const { anchors } = await ask('(O2 & O6) + O4[doc] + O4[doc]');
    const said = anchors.map(({ symbol, items }) => [
      symbol,
      items.map(({ overlay, rule }) => `${overlay} ${rule}`),
    ]);
    expect(said).toEqual([
      ['ring_push', ['O4 doc']],
      ['check_all', ['O2 shell-command', 'O6 precondition', 'O6 assertion', 'O4 doc']],
      ['makeReport', ['O4 doc']],
    ]);
  });

  test('what a complement holds is there as a symbol, and what no symbol bears as a file or a text', async () => {
    const { anchors } = await ask('!O3[path=drivers] & O4 + O5[target] + O7[unknown-option]');
    expect(anchors.map(({ symbol, line, kind, items }) => [symbol, line, kind, items[0]])).toEqual([
      ['', 22, 'file', expect.objectContaining({ overlay: 'O7', rule: 'unknown-option' })],
      ['ring_push', 7, 'function', expect.objectContaining({ overlay: 'O1', rule: 'function' })],
      ['all', 1, 'text', expect.objectContaining({ overlay: 'O5', rule: 'target' })],
      ['report', 3, 'text', expect.objectContaining({ overlay: 'O5', rule: 'target' })],
      ['check_all', 4, 'function', expect.objectContaining({ overlay: 'O1' })],
      ['makeReport', 4, 'function', expect.objectContaining({ overlay: 'O1' })],
    ]);
  });

  test('counts all, shows the first ones, and of each no more than a few items', async () => {
    const all = await ask('O1');
    const first = await ask('O1', 2);
    expect(first.count).toBe(all.count);
    expect(first.anchors).toEqual(all.anchors.slice(0, 2));
    expect((await ask('O1', 0)).anchors).toEqual([]);
    const { anchors } = await ask('O2 | O3 | O4 | O6 | O7');
    expect(Math.max(...anchors.map(({ items }) => items.length))).toBe(groundsMax);
  });

  test('notes a rule that no item has', async () => {
    const { count, warnings } = await ask('O6[asserts]');
    expect({ count, warnings }).toEqual({
      count: 0,
      warnings: [
        'O6 of this tree has no item of the rule asserts; it has these rules: assertion, bound, precondition',
      ],
    });
  });

  test('says that there is no history where there is no git', async () => {
    const { count, errors } = await ask('O3[author=torvalds]');
    expect(count).toBe(0);
    expect(errors).toEqual([
      expect.objectContaining({ code: 'OVERLAY_MISSING', agent: sample.tree.project }),
    ]);
  });

  test('says which overlays are not there', async () => {
    const { manifest } = sample.tree;
    const shards = manifest.shards.map((shard) =>
      shard.alias === 'rest'
        ? {
            ...shard,
            overlays: {
              ...shard.overlays,
              O2: { ...shard.overlays.O2!, state: 'missing' as const },
            },
          }
        : shard,
    );
    const tree = { ...sample.tree, manifest: { ...manifest, shards } };
    const { errors } = await evaluate(parseExpression('O1 - O2'), tree);
    expect(errors).toEqual([
      expect.objectContaining({
        code: 'OVERLAY_MISSING',
        text: 'overlay O2 is not built for rest',
        agent: 'rest',
      }),
    ]);
  });
});
