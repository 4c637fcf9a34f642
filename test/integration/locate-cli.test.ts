import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TemporaryTree } from '../support/git-tree.js';
import { sigma, type Ran } from '../support/sigma.js';
import { Stack } from '../support/stack.js';

const files = {
  'drivers/card.c': `/* The card. */
int card_reset(int queue)
{
	pr_err("Queue %d is stuck\\n", queue);
	return queue;
}
`,
  'net/socket.c':
    '/* Sockets: bind and listen. */\nint socket_bind(int socket)\n{\n\treturn socket;\n}\n',
};
const log = 'The card stops\n[   12.345678] card 0000:00:14.3: Queue 5 is stuck\n';

let tree: TemporaryTree;
let home: TemporaryTree;
let inputs: TemporaryTree;

beforeAll(async () => {
  tree = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  inputs = await TemporaryTree.create({
    'report.txt': log,
    'plan.json': JSON.stringify({
      shards: ['drivers', 'net'].map((alias) => ({ alias, paths: [alias] })),
    }),
    binary: Buffer.alloc(1_000),
  });
  const plan = join(inputs.root, 'plan.json');
  await sigma(home.root, ['index', tree.root, '--jobs', '1', '--shards', plan]);
});

afterAll(async () => {
  for (const each of [tree, home, inputs]) await each[Symbol.asyncDispose]();
});

const repo = (args: string[], input = ''): Promise<Ran> =>
  sigma(home.root, ['locate', ...args, '--repo', tree.root], { input });
const rowsOf = ({ stdout }: Ran): any[] =>
  stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));

describe('sigma locate', () => {
  test('reads a file, or standard input, and gives files with their evidence', async () => {
    const [fromFile, fromInput] = await Promise.all([
      repo([join(inputs.root, 'report.txt'), '--json']),
      repo(['--json'], log),
    ]);
    expect([fromFile.code, fromInput.code]).toEqual([0, 0]);
    expect(fromFile.json.files).toEqual(fromInput.json.files);
    const [first] = fromFile.json.files;
    expect(first).toMatchObject({ path: 'drivers/card.c', agent: 'drivers' });
    expect(first.evidence).toContainEqual(
      expect.objectContaining({
        ...{ kind: 'string', text: 'card 0000:00:14.3: Queue 5 is stuck', line: 4 },
      }),
    );
    expect(fromFile.json).toMatchObject({ agents_asked: 2, warnings: [] });
    expect(fromFile.json.shards[0]).toEqual({ agent: 'drivers', score: first.score });
  });

  test('is readable without --json', async () => {
    const { code, stdout } = await repo(['-', '--limit', '1'], log);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^ 1\. drivers\/card\.c {2}\d+\.\d\d\n {4}.*string :4 /);
    expect(stdout).toContain('1 files');
  });

  test('says what is wrong with what it was given', async () => {
    const [empty, binary, absent, nowhere, both, none] = await Promise.all([
      repo(['--json'], ' \n'),
      repo([join(inputs.root, 'binary'), '--json']),
      repo([join(inputs.root, 'absent'), '--json']),
      sigma(home.root, ['locate', '--json'], { input: log }),
      repo(['report.txt', '--batch', 'x.jsonl', '--json']),
      repo(['--json'], 'zebra quokka'),
    ]);
    const told = (ran: Ran): unknown[] => [ran.code, ran.json.error?.code];
    expect(told(empty)).toEqual([2, 'REPORT_EMPTY']);
    expect(told(binary)).toEqual([2, 'REPORT_UNREADABLE']);
    expect(told(absent)).toEqual([2, 'USAGE']);
    // Without --repo it is the running lattice that is asked.
    expect(told(nowhere)).toEqual([3, 'NO_BROKER']);
    expect(told(both)).toEqual([2, 'USAGE']);
    expect([none.code, none.json.files]).toEqual([1, []]);
  });
});

describe('sigma locate over the running lattice', () => {
  let stack: Stack;
  beforeAll(async () => {
    const plan = join(inputs.root, 'plan.json');
    stack = await Stack.open(home.root, ['manager'], { root: tree.root, plan });
  });
  afterAll(() => stack[Symbol.asyncDispose]());
  const bus = (args: string[], input = ''): Promise<Ran> =>
    sigma(home.root, ['locate', ...args], { input });

  test('answers as the index alone does, with the evidence', async () => {
    const [remote, local] = await Promise.all([bus(['--json'], log), repo(['--json'], log)]);
    expect([remote.code, local.code]).toEqual([0, 0]);
    const { elapsed_ms, ...answer } = remote.json;
    expect(elapsed_ms).toBeGreaterThan(0);
    expect(answer).toEqual({ ...local.json, elapsed_ms: undefined });
    expect(answer.files[0].evidence.map((each: any) => each.kind)).toContain('string');
    expect(answer).toMatchObject({ agents_asked: 2, errors: [] });
  });

  test('answers a batch in its order, and what holds nothing with an error', async () => {
    const titles = ['card stuck', ' ', 'bind a socket', 'zebra', 'reset', 'listen', 'queue'];
    const lines = titles.map((title, id) => JSON.stringify({ id, title, description: '' }));
    const [remote, local] = await Promise.all([
      bus(['--batch', '-'], lines.join('\n')),
      repo(['--batch', '-'], lines.join('\n')),
    ]);
    const timeless = (ran: Ran): object[] =>
      rowsOf(ran).map((row) => ({ ...row, elapsed_ms: undefined }));
    expect(timeless(remote)).toEqual(timeless(local));
    expect(rowsOf(remote).map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(rowsOf(remote)[1].error.code).toBe('REPORT_EMPTY');
    expect([remote.code, local.code]).toEqual([1, 1]);
  });

  test('says when nothing is about the report, and reads a megabyte', async () => {
    const words = `${log}${'the card and its queue are stuck again\n'.repeat(30_000)}`;
    const [none, long] = await Promise.all([
      bus(['--json'], 'zebra quokka'),
      bus(['--json'], words),
    ]);
    expect([none.code, none.json.error.code]).toEqual([1, 'NOT_FOUND']);
    expect([long.code, long.json.files[0].path]).toEqual([0, 'drivers/card.c']);
    expect(long.json.warnings).toEqual([expect.stringContaining('characters were read')]);
  });
});

describe('sigma locate --batch', () => {
  test('answers line by line in order, and goes on behind a bad line', async () => {
    const lines = [
      JSON.stringify({ id: 'a', title: 'card stuck', description: log, other: 1 }),
      'no json',
      JSON.stringify({ id: 7, title: 3 }),
      '',
      JSON.stringify({ id: 'e', title: ' ' }),
      JSON.stringify({ title: 'without an id' }),
      JSON.stringify({ id: 2, title: 'bind a socket', description: null }),
    ];
    const ran = await repo(['--batch', '-'], lines.join('\n'));
    const rows = rowsOf(ran);
    expect(ran.code).toBe(1);
    expect(rows.map((row) => row.id)).toEqual(['a', undefined, 7, 'e', undefined, 2]);
    expect(rows.map((row) => row.error?.code)).toEqual([
      ...[undefined, 'REPORT_MALFORMED', 'REPORT_MALFORMED', 'REPORT_EMPTY', 'REPORT_MALFORMED'],
      undefined,
    ]);
    expect(Object.keys(rows[1].error)).toEqual(['code', 'text', 'retryable']);
    expect(Object.keys(rows[0])).toEqual(['id', 'files', 'shards', 'agents_asked', 'elapsed_ms']);
    expect(Object.keys(rows[0].files[0])).toEqual(['path', 'score', 'agent']);
    expect([rows[0].files[0].path, rows[5].files[0].path]).toEqual(Object.keys(files));
  });

  test('with --json is one document', async () => {
    const input = `${JSON.stringify({ id: 1, title: 'card' })}\nno json\n`;
    const ran = await repo(['--batch', '-', '--json'], input);
    expect([ran.code, ran.json.answers.length]).toEqual([1, 2]);
    expect(ran.json.answers[1].error.code).toBe('REPORT_MALFORMED');
    const none = await repo(['--batch', '-', '--json'], '');
    expect([none.code, none.json]).toEqual([0, { answers: [] }]);
  });

  test('all is well where every line is', async () => {
    const ran = await repo(['--batch', '-'], `${JSON.stringify({ id: 1, title: 'card' })}\r\n`);
    expect([ran.code, rowsOf(ran).length]).toEqual([0, 1]);
  });

  test('a file of lines that is not there is a slip', async () => {
    const ran = await repo(['--batch', join(inputs.root, 'absent'), '--json']);
    expect([ran.code, ran.json.error.code]).toEqual([2, 'USAGE']);
  });
});
