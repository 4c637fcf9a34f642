import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Examined } from '../../../../src/critic/mode.js';
import { chainOfVerification } from '../../../../src/critic/modes/chain-of-verification.js';
import type { ContextVector } from '../../../../src/critic/shapes.js';
import type { TreeGround } from '../../../../src/critic/artifact/tree-ground.js';
import { TemporaryTree } from '../../../support/git-tree.js';
import { AnalysedTree } from '../../../support/ground.js';

const context: ContextVector = {
  ...{ criticality: 'C2', phase: 'PH-VALID', target_type: 'TGT-ARCH', maturity: 'MAT-DRAFT' },
  ...{ team: 'TEAM-MULTI', enforcement: 'ENF-PORT', platform: 'PLAT-GENERIC' },
  token_budget: 'TOK-FULL',
};

/** Enough of its names for a document to be one about this tree. */
const about =
  '`openQueue`, `closeQueue`, `drainQueue`, `pushItem`, `takeItem`, `retryMax`, `QueueError`, `Lane`.';

let ground: TreeGround;
let analysed: AnalysedTree;

beforeAll(async () => {
  const tree = await TemporaryTree.create({
    'src/queue.js': [
      "const { LANE_LIMIT } = require('./lane.js');",
      'class QueueError extends Error {}',
      'class Lane {',
      '  sweep(count) { return count; }',
      '}',
      'function Hub() {}',
      'inherits(Hub, Lane);',
      'function openQueue(name, options) {',
      '  const retryMax = Number(options.retryMax) || 5;',
      "  const order = { kinds: ['first'], isLive: options.isLive };",
      '  return pushItem(name, retryMax, order);',
      '}',
      'function pushItem(name, item) {',
      "  if (!item) throw new QueueError('the queue has no such item');",
      "  hub.emit('pushed', name);",
      '  return null;',
      '}',
      'function closeQueue(name) {',
      '  return drainQueue(name);',
      '}',
      'class Depot {',
      '  hold(count) { return count; }',
      '}',
      'function drainQueue(name) { return takeItem(name, LANE_LIMIT); }',
      'function takeItem(name) { return name; }',
      'const lanes = { openQueue, closeQueue };',
      'module.exports = { lanes, openQueue, closeQueue, drainQueue, pushItem, takeItem, QueueError, Lane, Hub };',
      '',
    ].join('\n'),
    'src/lanes.state.js': '// What is kept.\n',
    'src/made.js': [
      "exports.may = ['Lane.freeze', 'order.freeze'];",
      'exports.make = (gen) => gen("throw util.ModeError(1)");',
      '',
    ].join('\n'),
    'src/lane.js': 'exports.LANE_LIMIT = 0x40;\n',
    'src/ring.h': [
      'struct ring_buffer {',
      '\tint ring_head;',
      '\tint ring_tail;',
      '};',
      '#define RING_SLOTS 8',
      'int ring_push(struct ring_buffer *ring, int item);',
      '',
    ].join('\n'),
    'src/ring.c': [
      '#include "ring.h"',
      'int ring_push(struct ring_buffer *ring, int item)',
      '{',
      '\tif (!ring)',
      '\t\treturn -EINVAL;',
      '\tif (item < 0)',
      '\t\treturn -ENOMEM;',
      '\treturn 0;',
      '}',
      'struct ring_buffer *ring_open(int size)',
      '{',
      '\treturn NULL;',
      '}',
      'void ring_close(struct ring_buffer *ring)',
      '{',
      '}',
      '',
    ].join('\n'),
    'package.json': JSON.stringify({
      ...{ name: 'queue-kit', scripts: { 'bench:lane': 'true' } },
      engines: { node: '^20.1.0 || >=22.0.0' },
      ...{ dependencies: { fastq: '1' }, devDependencies: { tap: '1' } },
    }),
  });
  analysed = await AnalysedTree.of(tree);
  ground = await analysed.ground();
});

afterAll(() => analysed[Symbol.asyncDispose]());

function examine(text: string, path = 'design.md'): Promise<Examined> {
  return chainOfVerification.examine({
    ...{ artifact: { path, text: `${about}\n\n${text}\n`, digest: '' }, context, iteration: 1 },
    ...{ before: [], ground, rules: [], isSinglePass: false },
    ...{ signal: new AbortController().signal, partial: () => undefined },
  });
}

describe('what a document about the tree states, and is not so', () => {
  test.each([
    ['Call `flushEverything()` first.', 'flushEverything is not in the code'],
    ['The `lenient` option is read.', 'lenient is not in the code'],
    ['- `lenient`: read more.', 'lenient is not in the code'],
    ['If the `opts.keepItems` is set, they stay.', 'keepItems is not in the code'],
    ['The method `.item` takes one.', 'nothing there defines or calls it'],
    ['Then `openQueue(name, options, done)` runs.', 'takes 2'],
    ['Then `> lanes.openQueue(name, options, done) -> Promise`.', 'takes 2'],
    ['Short for `openQueue(name, { isLax: true })`.', 'isLax'],
    ['It emits the `swept` event.', 'emits swept'],
    ['`sweep()` is a method of `Depot`.', 'Depot has no sweep'],
    ['`Hub` inherits from `QueueError`.', 'inherits from Lane'],
    ['`lanes.takeItem` is there.', 'lanes has no takeItem'],
    ['`pushItem()` throws a `RangeError`.', 'does not name RangeError'],
    ['`pushItem` returns `false`.', 'returns null'],
    ['It throws with "the queue is out of order".', 'prints nothing like it'],
    ['Two functions, `openQueue`, `closeQueue` and `pushItem`, are there.', '3 are named'],
    ['`closeQueue` calls `takeItem`.', 'does not call'],
    ['### `opts.retryMax`\n\nDefault: `7`', 'retryMax is 5'],
    ['- `retryMax`: how often. (default=7)', 'retryMax is 5'],
    ["### `opts.kinds`\n\nDefault: ['last']", "kinds is ['first']"],
    ['`LANE_LIMIT` is 0x80.', 'LANE_LIMIT is 0x40'],
    ['`Lane.thaw` makes it go on.', 'thaw'],
    ['It has `npm run bench:queue`.', 'no script bench:queue'],
    ['It runs on Node.js `^18.0.0 || >=20.0.0`.', 'package.json says'],
    ['The queues come from `p-queue`.', 'no dependency'],
    ['The tests are run by Mocha.', 'no dependency'],
    ["It has `require('queue-kit/src/rings')`.", 'no src/rings'],
  ])('%s', async (text, reason) => {
    const { findings } = await examine(text);
    expect(findings.map((each) => each.text).join('\n')).toContain(reason);
  });

  test.each([
    ['    int ring_push(struct ring_buffer *ring, int item, int flags);', 'ring_push takes 2'],
    ['    void ring_push(struct ring_buffer *ring, int item);', 'returns int'],
    ['    int ring_push(struct ring_view *ring, int item);', 'takes no ring_view'],
    ['    int ring_shove(struct ring_buffer *ring, int item);', 'ring_shove is not in the code'],
    ['    struct ring_buffer {\n        int ring_size;\n    };', 'has no ring_size'],
    ['    #define RING_SLOTS 9', 'RING_SLOTS is 8'],
  ])('in a block of code: %s', async (code, reason) => {
    const { findings } = await examine(`So::\n\n${code}\n\nThat is all.`, 'design.rst');
    expect(findings.map((each) => each.text).join('\n')).toContain(reason);
  });

  test('codes of errors and fields of structures in prose', async () => {
    const text = [
      'ring_push() is there. -EAGAIN means that it is full.',
      '``struct ring_buffer`` has five fields.',
      '``ring_open()`` returns ``-EINVAL``.',
    ].join('\n\n');
    const { findings } = await examine(text, 'design.rst');
    expect(findings.map(({ line_start }) => line_start)).toEqual([3, 5, 7]);
  });
});

describe('what is so, or is of something else', () => {
  test.each([
    'A right is named whole, as `Lane.freeze` is and `order.freeze` is.',
    '`pushItem()` throws a `util.ModeError`.',
    '<p>One queue<br/>or two queues</p> of `Lane`.',
    'It has `npm run bench:lane` and `npm run bench:…`.',
    'What others run is read: `conftest.py`, `pom.xml`, `lane.rs`, `vite.config.ts`.',
    'Then `openQueue(name, options)` runs, or `openQueue(name)`.',
    'It emits the `pushed` event, and the `error` event.',
    '`sweep()` is a method of `Lane`, and `Hub` inherits from `Lane`.',
    '`lanes.openQueue` is there.',
    '`lanes.state` is a module of its own.',
    '`pushItem()` throws a `QueueError`.',
    '`pushItem` returns `null`.',
    'It throws with "the queue has no such item".',
    'Two functions, `openQueue` and `closeQueue`, are there.',
    '`closeQueue` leads to `takeItem` in the end: it calls `drainQueue`.',
    '### `opts.retryMax`\n\nDefault: `5`',
    '`LANE_LIMIT` is 0x40.',
    'It runs on Node.js `^20.1.0 || >=22.0.0`.',
    'The queues come from `fastq`, and `queue-kit` uses `queue-kit`.',
    "It has `require('queue-kit/src/lane')`.",
    'Hosts pass it to `startHost()`, `stopHost()` and `restartHost()`.',
    'Code such as `myOwnHelper()` may call it.',
    'You can turn it off by setting `retryMax: 1`.',
    'The helpers are called `openX`.',
    'At some point it was used; in the future `neverSeenYet()` comes.',
  ])('%s', async (text) => {
    const { findings } = await examine(text);
    expect(findings.map((each) => each.text)).toEqual([]);
  });
});
