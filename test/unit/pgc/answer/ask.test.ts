import { BoundedMap } from '../../../../src/base/bounded-map.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../../src/base/clock.js';
import { overlaysMax } from '../../../../src/pgc/answer/searched.js';
import { analyse } from '../../../../src/pgc/search/question/question.js';
import type { Found } from '../../../../src/pgc/search/search.js';
import { Shard } from '../../../../src/pgc/serve/shard.js';
import { overlayNames, type Answer } from '../../../../src/pgc/shapes.js';
import { verify } from '../../../../src/pgc/answer/verify.js';
import { chainTree, type ChainTree } from '../../../support/chain-tree.js';
import { indexedTree } from '../../../support/indexed-tree.js';

let tree: ChainTree;
let drivers: Shard;

beforeAll(async () => {
  tree = await chainTree();
  drivers = tree.shards[0]!;
});
afterAll(async () => tree[Symbol.asyncDispose]());

const ask = (question: string, overlays: string[] = [], top_k = 5): Promise<Answer> =>
  drivers.ask({ question, overlays, top_k });
const codes = (answer: Answer): string[] => answer.errors.map((each) => each.code);
const foundBy = async ({ search }: Shard, text: string): Promise<Found[]> =>
  (await search.find(analyse(text), new Set(overlayNames), 20)).found;

test('an answer says what the symbol is, what it calls, and where that stands', async () => {
  const answer = await ask('How is the ring for received frames allocated?');
  expect(answer.evidence[0]).toMatchObject({
    id: 1,
    ...{ kind: 'function', name: 'nic_setup_rx_ring', container: '' },
    said: 'allocate the descriptor ring for received frames',
    why: [expect.stringMatching(/^words: .*ring/)],
  });
  // The definition comes first, and the lines that decide.
  expect(answer.evidence[0]?.excerpt[0]).toEqual({
    ...{ line: 10, text: 'int nic_setup_rx_ring(struct nic *nic)', decides: false },
  });
  expect(answer.evidence[0]?.excerpt).toContainEqual({
    ...{ line: 13, text: '\tnic->ring = dma_alloc_ring(nic->dev, 4096);', decides: true },
  });
  expect(answer.flow).toContainEqual({
    ...{ from: 'nic_setup_rx_ring', to: 'dma_alloc_ring', kind: 'call', agent: 'drivers' },
    ...{ site: 'drivers/nic/nic_main.c:13', evidence: 1, definition: '' },
    // Another shard defines it.
    certainty: 'possible',
  });
  for (const source of answer.evidence) {
    expect(await verify(source, tree.root)).toMatchObject({ status: 'valid' });
    expect(source.similarity).toBeGreaterThan(0);
    expect(source.similarity).toBeLessThan(1);
  }
});

test('a name in the question finds exactly that symbol first, with high similarity', async () => {
  const { evidence } = await ask('What does nic_open do?');
  expect(evidence[0]).toMatchObject({
    symbol: 'nic_open',
    line_start: 17,
    line_end: 22,
    content: expect.stringMatching(/brought up \*\/\nint nic_open/),
  });
  expect(evidence[0]?.similarity).toBeGreaterThan(0.5);
});

test('the steps of a function are seen though no word of the question is in them, those made nowhere else first', async () => {
  const names = Array.from({ length: 12 }, (_, at) => `step${'abcdefghijkl'[at]}`);
  const defined = (name: string) => `static int ${name}(int x)\n{\n\treturn x;\n}\n`;
  const source =
    ['clamp', ...names].map(defined).join('') +
    'int other(int x)\n{\n\treturn clamp(x) + clamp(0);\n}\n' +
    '/* Bottles what was pressed. */\nint bottle(int x)\n{\n\tx = clamp(x);\n\tx = strlen("juice");\n' +
    names.map((name) => `\tif (x > 3)\n\t\tx = ${name}(x);\n`).join('') +
    '\treturn x;\n}\n';
  await using tree = await indexedTree({ 'press/juice.c': source }, ['press']);
  const request = { question: 'How is the juice bottled?', overlays: [], top_k: 1 };
  const { evidence } = await tree.shards[0]!.ask(request);
  expect(evidence[0]).toMatchObject({ name: 'bottle' });
  const steps = evidence[0]?.excerpt
    .filter(({ decides }) => decides)
    .map(({ text }) => text.trim());
  expect(steps).toEqual([
    ...['x = strlen("juice");', ...names.slice(0, 10).map((name) => `x = ${name}(x);`)],
  ]);
});

test('a question about users lists the callers with their call sites', async () => {
  const { flow, evidence } = await ask('Who calls nic_log?', ['O3']);
  expect(flow[0]).toMatchObject({ to: 'nic_log' });
  const edge = flow.find(({ from }) => from === 'nic_open');
  expect(edge).toMatchObject({ site: 'drivers/nic/nic_main.c:20', certainty: 'exact' });
  const site = evidence.find(({ id }) => id === edge?.evidence);
  expect(site).toMatchObject({ kind: 'call', name: 'nic_log', container: 'nic_open' });
  expect(site?.excerpt.filter(({ decides }) => decides)).toMatchObject([{ line: 20 }]);
});

test.each([
  [1, 1, false],
  [2, 1, true],
  [3, 2, true],
  [5, 3, true],
])(
  'who asks for callers gets them first, of %i pieces of evidence %i, and what they call behind them: %s',
  async (topK, calls, isTold) => {
    const { evidence, flow } = await ask('Who calls nic_log?', [], topK);
    expect(evidence.slice(0, calls).map(({ overlay }) => overlay)).toEqual(Array(calls).fill('O3'));
    const definition = evidence.findIndex(({ text }) => text.startsWith('function:nic_log'));
    expect(definition).toBe(isTold ? calls : -1);
    expect(flow[0]).toMatchObject({ to: 'nic_log', evidence: 1 });
  },
);

test.each([
  'What is nic_log used for?',
  'What does nic_setup_rx_ring call?',
  'Which functions does nic_setup_rx_ring call?',
])('who asks for something else of a function is told first what it is: %s', async (question) => {
  const { evidence, flow } = await ask(question);
  expect(evidence[0]).toMatchObject({ overlay: 'O1' });
  expect(evidence[0]).toMatchObject({ kind: 'function', name: expect.stringMatching(/^nic_/) });
  const lines = evidence.filter(({ overlay }) => overlay === 'O3').map((each) => each.text);
  expect(lines).toEqual([...new Set(lines)]);
  if (question.includes('call'))
    expect(flow).toContainEqual(expect.objectContaining({ from: 'nic_setup_rx_ring' }));
});

test.each(['nic_setup_rx_ring call chain', 'Show the call path through nic_setup_rx_ring.'])(
  'a chain is the calls that lead to a function and on from it, from above: %s',
  async (question) => {
    for (const overlays of [[], ['O3']]) {
      const { evidence, flow } = await ask(question, overlays, 10);
      expect(flow.map(({ from, to }) => `${from} ${to}`)).toEqual([
        'nic_open nic_setup_rx_ring',
        'nic_setup_rx_ring nic_log',
        'nic_setup_rx_ring dma_alloc_ring',
        'nic_log print_line',
      ]);
      expect(evidence).toHaveLength(overlays.length === 0 ? 5 : 4);
      for (const each of evidence) expect(each.similarity).toBeGreaterThan(0.9);
    }
    const { flow } = await ask(question, ['O3'], 3);
    expect(flow.map(({ from, evidence }) => [from, evidence > 0])).toEqual([
      ['nic_open', true],
      ['nic_setup_rx_ring', true],
      ['nic_setup_rx_ring', false],
      ['nic_log', false],
    ]);
  },
);

test('what calls nothing of the code base is told as that, and nothing else is', async () => {
  await using tree = await indexedTree(
    {
      'io/a.c':
        'int plain_sum(int a)\n{\n\treturn a;\n}\nint other_sum(int b)\n{\n\treturn plain_sum(b);\n}\n',
    },
    ['io'],
  );
  const request = { question: 'What does plain_sum call?', overlays: [], top_k: 5 };
  const { evidence, unsure } = await tree.shards[0]!.ask(request);
  expect(evidence.map(({ name }) => name)).toEqual(['plain_sum']);
  expect(unsure).toMatchObject([
    { text: 'plain_sum is not known to call anything of the code base' },
  ]);
});

test('callers that nobody named are not asked for', async () => {
  const { evidence } = await ask('Who uses the descriptor ring for received frames?');
  expect(evidence[0]).toMatchObject({ overlay: 'O1', symbol: 'nic_setup_rx_ring' });
});

test('of two static functions of one name each has its own callers', async () => {
  const source = (user: string): string =>
    `/* Resets the ${user} [0]. */\nstatic int reset_lane(int lane)\n{\n\treturn lane;\n}\n` +
    `int ${user}_start(void)\n{\n\treturn reset_lane(1);\n}\n`;
  await using two = await indexedTree(
    { 'io/left.c': source('left'), 'io/right.c': source('right') },
    ['io'],
  );
  const request = { question: 'Who calls reset_lane?', overlays: [], top_k: 10 };
  const { flow, evidence } = await two.shards[0]!.ask(request);
  const callers = flow.filter(({ to }) => to === 'reset_lane');
  expect(
    callers
      .map(({ from, definition }) => [from, definition])
      .sort(([one], [other]) => (one! < other! ? -1 : 1)),
  ).toEqual([
    ['left_start', 'io/left.c:2'],
    ['right_start', 'io/right.c:2'],
  ]);
  expect(callers.every(({ certainty }) => certainty === 'exact')).toBe(true);
  // What looks like the number of a source is text like any other.
  expect(evidence.map(({ said }) => said)).toContain('Resets the left [0]');
});

describe('what the graph knows is asked in words', () => {
  const files = {
    'notify/go.mod': 'module example.org/mail\n',
    'notify/stage.go': `package notify

// Stage does one step.
type Stage interface {
	Exec(n int) int
}

// Mute drops alerts.
type Mute struct{}

func (m Mute) Exec(n int) int { return n }

// Wait lets time pass.
type Wait struct{}

func (w Wait) Exec(n int) int { return n + 1 }

// Log has a method of the same name, and is no stage.
type Log struct{}

func (l Log) Exec() {}

func run(s Stage) int { return s.Exec(1) }

func runAll() int { return run(Mute{}) }

func muted() int { return Mute{}.Exec(2) }
`,
    'notify/stage_test.go': `package notify

func testMute() int { return Mute{}.Exec(3) }
`,
    'notify/fake_test.go': `package notify

type fake struct{}

func (f fake) Exec(n int) int { return 0 }
`,
  };
  const asked = async (question: string): Promise<Answer> => {
    await using tree = await indexedTree(files, ['notify']);
    return await tree.shards[0]!.ask({ question, overlays: [], top_k: 5 });
  };

  test('who implements an interface', async () => {
    const { evidence, next, unsure, confidence } = await asked('Which types implement Stage?');
    expect(confidence).toBe('high');
    expect(evidence.map(({ name, why }) => [name, why[0]])).toEqual([
      ['Mute', 'implements Stage'],
      ['Wait', 'implements Stage'],
      ['fake', 'implements Stage'],
      ['Stage', 'the question names it'],
    ]);
    expect(next[0]).toMatchObject({ operation: 'implementations' });
    expect(unsure).toEqual([]);
  });

  test('what breaks if a method changes: its callers, tests last, and those through an interface', async () => {
    const { flow, evidence } = await asked('What breaks if Mute.Exec changes?');
    expect(flow.map(({ from, certainty }) => [from, certainty])).toEqual([
      ['run', 'dispatch'],
      ['muted', 'exact'],
      ['testMute', 'exact'],
    ]);
    expect(evidence.at(-1)).toMatchObject({ name: 'Exec', container: 'Mute' });
  });

  test('who calls what another shard defines', async () => {
    await using tree = await indexedTree(
      {
        'wire/go.mod': 'module example.org/wire\n',
        'app/go.mod': 'module example.org/app\n',
        'wire/wire.go': 'package wire\n\nfunc EncodeFrame() int { return 1 }\n',
        'app/app.go':
          'package app\n\nimport "example.org/wire"\n\n' +
          'func send() int { return wire.EncodeFrame() }\n',
      },
      ['wire', 'app'],
    );
    const request = { question: 'Who calls EncodeFrame?', overlays: [], top_k: 5 };
    const { flow } = await tree.shards
      .find(({ index }) => index.info.alias === 'app')!
      .ask(request);
    expect(flow).toMatchObject([{ from: 'send', to: 'EncodeFrame', certainty: 'exact' }]);
  });

  test('where another shard has the interface, the real one comes before its stand-in', async () => {
    await using tree = await indexedTree(
      {
        'step/go.mod': 'module example.org/step\n',
        'run/go.mod': 'module example.org/run\n',
        'step/step.go': 'package step\n\ntype Stage interface {\n\tExec(n int) int\n}\n',
        'run/a_test.go':
          'package run\n\ntype fake struct{}\n\nfunc (f fake) Exec(n int) int { return 0 }\n',
        'run/run.go':
          'package run\n\nimport "example.org/step"\n\ntype Mute struct{}\n\n' +
          'func (m Mute) Exec(n int) int { return n }\n\n' +
          'func perform(s step.Stage) int { return s.Exec(1) }\n',
      },
      ['step', 'run'],
    );
    const request = { question: 'What does perform() call?', overlays: [], top_k: 5 };
    const { flow } = await tree.shards
      .find(({ index }) => index.info.alias === 'run')!
      .ask(request);
    expect(flow[0]).toMatchObject({
      ...{ to: 'Exec', certainty: 'dispatch', definition: 'run/run.go:7' },
    });
  });

  test('a report that speaks of callers by the way is no question for them', () => {
    const asked = 'Who calls Mute.Exec?';
    expect(analyse(asked).asks).toBe('callers');
    expect(analyse(`It hangs.\n${asked}`).asks).toBeUndefined();
    expect(analyse(`${'It hangs. '.repeat(30)}${asked}`).asks).toBeUndefined();
  });

  test('that nothing calls it is said', async () => {
    const { evidence, unsure } = await asked('Who calls testMute?');
    expect(evidence[0]).toMatchObject({ name: 'testMute', kind: 'function' });
    expect(unsure.map(({ text }) => text).join()).toContain('is called nowhere in notify');
  });

  test('who implements a method that is only declared', async () => {
    const { evidence } = await asked('Which types implement Exec?');
    expect(evidence.map(({ container, why }) => [container, why[0]])).toEqual([
      ['Mute', 'implements Exec'],
      ['Wait', 'implements Exec'],
      ['fake', 'implements Exec'],
      ['Stage', 'the question names it'],
    ]);
  });

  test('an answer that lacks the line of a caller is not kept', async () => {
    await using tree = await indexedTree(files, ['notify']);
    const { index, overlays, excerpts } = tree.shards[0]!;
    let isReadable = false;
    const shard = new Shard(
      index,
      overlays,
      {
        lines: (file, from, to) =>
          isReadable || !file.path.endsWith('_test.go')
            ? excerpts.lines(file, from, to)
            : undefined,
      },
      systemClock,
    );
    const request = { question: 'What breaks if Mute.Exec changes?', overlays: [], top_k: 5 };
    const shown = async (): Promise<string[]> =>
      (await shard.ask(request)).flow.flatMap(({ from, evidence }) => (evidence > 0 ? from : []));
    expect(await shown()).toEqual(['run', 'muted']);
    isReadable = true;
    expect(await shown()).toContain('testMute');
  });

  test('what a field is set to is not said to be called there', async () => {
    await using c = await indexedTree(
      {
        'dev/dev.c': `struct ops { int (*start)(void); };
static int dev_start(void) { return 0; }
static struct ops dev_ops = { .start = dev_start };
`,
      },
      ['dev'],
    );
    const question = 'Who calls dev_start?';
    const { flow, evidence } = await c.shards[0]!.ask({ question, overlays: [], top_k: 5 });
    expect(flow.map(({ from, kind }) => [from, kind])).toEqual([['ops.start', 'slot']]);
    expect(evidence.map(({ text }) => text)).toContain('ops.start holds or passes on dev_start');
  });

  test('a name of several definitions: what is not shown is said', async () => {
    const { unsure } = await asked('Who calls Exec?');
    expect(unsure.map(({ text }) => text).join()).toContain('the name means 2 further definitions');
  });
});

test.each([
  ['What depends on Store.put?', 'callers'],
  ['What does Store.put depend on?', 'callees'],
  ['Which functions does Store.put call?', 'callees'],
  ['Which types implement Store?', 'implementations'],
  ['kfree call chain', 'chain'],
  ['What is the call hierarchy of Store.put?', 'chain'],
  ['Why is the call graph walked?', undefined],
  ['What is Store.put?', undefined],
])('%s asks for %s', (question, asked) => {
  expect(analyse(question).asks).toBe(asked);
});

test('an answer that lacks an excerpt is not kept', async () => {
  let isReadable = false;
  const shard = new Shard(
    drivers.index,
    drivers.overlays,
    {
      lines: (file, from, to) => (isReadable ? drivers.excerpts.lines(file, from, to) : undefined),
    },
    systemClock,
  );
  const request = { question: 'What does nic_open do?', overlays: [], top_k: 5 };
  expect((await shard.ask(request)).evidence).toEqual([]);
  isReadable = true;
  const whole = await shard.ask(request);
  expect(whole.metadata.cached).toBe(false);
  expect(whole.evidence.length).toBeGreaterThan(0);
  expect(await shard.ask(request)).toMatchObject({
    question: request.question,
    metadata: { cached: true },
  });
});

test('overlays beyond the limit are cut with a warning', async () => {
  const many = Array.from({ length: overlaysMax + 4 }, (_, at) => (at === 0 ? 'O1' : `X${at}`));
  const answer = await ask('allocate the descriptor ring', many);
  expect(answer.errors).toHaveLength(overlaysMax - 1);
  expect(answer.overlay_warnings).toEqual([
    `Only the first ${overlaysMax} of ${overlaysMax + 4} overlays were looked at.`,
  ]);
});

test('only the wanted overlays are consulted', async () => {
  const overlaysOf = (answer: Answer): string[] => [
    ...new Set(answer.evidence.map((each) => each.overlay)),
  ];
  expect(overlaysOf(await ask('allocate the descriptor ring', ['O1']))).toEqual(['O1']);
  expect(overlaysOf(await ask('allocate the descriptor ring', ['O3']))).toEqual(['O3']);
});

test('an overlay that does not exist is an error', async () => {
  const unknown = await ask('allocate the descriptor ring', ['O9']);
  expect(codes(unknown)).toEqual(['UNKNOWN_OVERLAY']);
  expect(unknown.evidence).toEqual([]);
});

test('what nothing answers has no evidence and says NOT_FOUND', async () => {
  const answer = await ask('Which bank pays the mortgage interest?');
  expect(answer.evidence).toEqual([]);
  expect(codes(answer)).toEqual(['NOT_FOUND']);
  expect(answer.clauses).toEqual([expect.objectContaining({ status: 'not_found', evidence: [] })]);
});

test('what shares a word with the question, and no more, answers nothing', async () => {
  const question =
    'Which bank pays the mortgage interest when the interface of a branch is opened?';
  const [best] = await foundBy(drivers, question);
  expect(best).toMatchObject({ exact: 0 });
  expect(best!.known).toBeLessThan(0.6);
  const answer = await ask(question);
  expect(answer.evidence).toEqual([]);
  expect(codes(answer)).toEqual(['NOT_FOUND']);
  expect(answer.clauses).toEqual([expect.objectContaining({ status: 'not_found', evidence: [] })]);
});

test('what a question names is told, however little of the question it is', async () => {
  const question =
    'Does nic_open pay the mortgage interest that Zurich banks ask of foreign widows and orphans abroad every winter?';
  const [best] = await foundBy(drivers, question);
  expect(best!.exact).toBeGreaterThan(0);
  expect(best!.known).toBeLessThan(0.6);
  const answer = await ask(question);
  expect(answer.evidence[0]).toMatchObject({ symbol: 'nic_open' });
  expect(codes(answer)).toEqual([]);
});

test('what is found by its words and by its name is found once', async () => {
  const found = await foundBy(drivers, 'Does nic_open call nic_setup_rx_ring?');
  const symbols = found.flatMap((each) => (each.kind === 'symbol' ? [each.document] : []));
  expect(symbols.length).toBeGreaterThan(2);
  expect(symbols).toEqual([...new Set(symbols)]);
});

test('what was asked before changes nothing', async () => {
  const { index, overlays, excerpts } = drivers;
  const used = new Shard(index, overlays, excerpts);
  const questions = ['Who calls nic_log?', 'Where is the descriptor ring allocated?', 'nic_reset'];
  for (const question of questions) {
    const found = await foundBy(used, question);
    expect(found.length).toBeGreaterThan(0);
    expect(found).toEqual(await foundBy(new Shard(index, overlays, excerpts), question));
  }
});

test('a question in another script has no answer and says why', async () => {
  const answer = await ask('Где выделяется кольцо дескрипторов?');
  expect(codes(answer)).toEqual(['NOT_FOUND']);
  expect(answer.overlay_warnings).toEqual(['No word of the question stands anywhere in drivers.']);
});

test('an empty question is an answer with its code, not an exception', async () => {
  expect(codes(await ask('   '))).toEqual(['EMPTY_QUESTION']);
});

test('top_k bounds the evidence, twenty at most', async () => {
  expect((await ask('nic ring log open reset', [], 2)).evidence).toHaveLength(2);
  expect((await ask('nic ring log open reset', [], 500)).metadata.top_k).toBe(20);
});

test('the second answer comes from the cache with its evidence, other overlays do not', async () => {
  const first = await ask('How does the interface come up?');
  const second = await ask('How does the interface come up?');
  const other = await ask('How does the interface come up?', ['O1']);
  expect([first, second, other].map((each) => each.metadata.cached)).toEqual([false, true, false]);
  expect(second.evidence).toEqual(first.evidence);
  expect(second.metadata.question_hash).toMatch(/^[0-9a-f]{64}$/);
});

test('the cache forgets the answer that was not used for longest', async () => {
  const cache = new BoundedMap<string, Answer>(2);
  const answer = await ask('What does nic_open do?');
  cache.set('a', answer);
  cache.set('b', answer);
  cache.use('a');
  cache.set('c', answer);
  expect(['a', 'b', 'c'].filter((key) => cache.get(key) !== undefined)).toEqual(['a', 'c']);
});

test('lines that show a credential are not quoted, nor is what is said of them', async () => {
  const source = `/* Signs in to the depot. */
int depot_sign_in(void)
{
	const char *user = "ann";
	const char *password = "Tr0ub4dorAndThree";
	return login(user, password);
}
/* The depot opens with api_key = "AKIAIOSFODNN7EXAMPLE". */
int depot_open(void) { return 1; }
`;
  await using depot = await indexedTree({ 'io/depot.c': source }, ['io']);
  const request = {
    question: 'How does one sign in to the depot?',
    overlays: [],
    top_k: 5,
  };
  const answer = await depot.shards[0]!.ask(request);
  const told = answer.evidence.find(({ symbol }) => symbol === 'depot_sign_in')!;
  expect(told.content).toContain('"ann"');
  expect(await verify(told, depot.root)).toMatchObject({ status: 'valid' });
  expect(JSON.stringify(answer)).not.toMatch(/Tr0ub4dor|AKIAIOSF/);
});

test('a few words are answered file by file, a long question by what answers best', async () => {
  const gate = (name: string): string =>
    `/* Opens the gate of the lock. */\nint ${name}(int gate)\n{\n\treturn gate;\n}\n`;
  await using canal = await indexedTree(
    {
      'locks/a.c': gate('open_gate_of_lock') + gate('open_gate_slowly') + gate('open_lock_gate'),
      'locks/b.c': '/* Shuts the gate. */\nint shut_gate(int gate)\n{\n\treturn !gate;\n}\n',
    },
    ['locks'],
  );
  const filesOf = async (question: string): Promise<string[]> => {
    const { evidence } = await canal.shards[0]!.ask({ question, overlays: ['O1'], top_k: 10 });
    return evidence.map(({ file_path }) => file_path);
  };
  expect((await filesOf('open gate of the lock')).slice(0, 2)).toEqual(['locks/a.c', 'locks/b.c']);
  const long = 'Open the gate of the lock, and the gate of the lock, and open the lock gate slowly';
  expect((await filesOf(long)).slice(0, 3)).toEqual(['locks/a.c', 'locks/a.c', 'locks/a.c']);
});

test('a test that stands in a file of the code is found among tests, and not among the code', async () => {
  const source = `pub fn weigh_cargo(tons: u32) -> u32 { tons }

pub fn stow_cargo(tons: u32) -> u32 { weigh_cargo(tons) }

#[cfg(test)]
mod checks {
    #[test]
    fn cargo_is_weighed() { assert_eq!(super::weigh_cargo(1), 1); }
}
`;
  await using hold = await indexedTree({ 'src/hold.rs': source }, ['src']);
  const shown = async (question: string, roles: string[]): Promise<string[]> => {
    const { evidence } = await hold.shards[0]!.ask({ question, overlays: [], top_k: 5, roles });
    return evidence.map(({ kind, name, container }) => (kind === 'call' ? container : name));
  };
  expect(await shown('Where is cargo weighed?', ['test'])).toEqual(['cargo_is_weighed']);
  expect(await shown('Where is cargo weighed?', ['source'])).not.toContain('cargo_is_weighed');
  expect(await shown('Who calls weigh_cargo?', ['source'])).toContain('stow_cargo');
  expect(await shown('Who calls weigh_cargo?', ['source'])).not.toContain('cargo_is_weighed');
  expect(await shown('Who calls weigh_cargo?', ['test'])).toContain('cargo_is_weighed');
});
