import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { locate, type LocateLimits } from '../../../src/lattice/route/locate.js';
import { Lattice } from '../../../src/lattice/lattice.js';
import { rankedShards } from '../../../src/pgc/search/locate/routing.js';
import { indexFolder } from '../../../src/pgc/build/index-folder.js';
import { Locator, openTree, type LocateAnswer } from '../../../src/pgc/search/locate/locate.js';
import { parseReport } from '../../../src/pgc/search/locate/report.js';
import { Seeking } from '../../../src/pgc/search/locate/seeking.js';
import { vocabularyOf, VocabularyWords } from '../../../src/pgc/search/locate/vocabulary.js';
import { WordsFile } from '../../../src/pgc/format/word-lists/words-file.js';
import { placeOf, readManifest } from '../../../src/pgc/plan/manifest.js';
import { shardMessages, type MessageType } from '../../../src/pgc/serve/messages.js';
import { openShards } from '../../../src/pgc/serve/open-shards.js';
import type { ShardPort } from '../../../src/pgc/shapes.js';
import type { Shard } from '../../../src/pgc/serve/shard.js';
import { join } from 'node:path';
import { TemporaryTree } from '../../support/git-tree.js';

const subjects = ['queue', 'socket', 'light', 'clock', 'sound', 'page', 'disk', 'radio'];

function driver(subject: string, others: readonly string[]): string {
  const calls = others.map((each) => `\t${each}_notify(dev);`).join('\n');
  return `/* The ${subject} of the card: ${others.join(' and ')} come later. */
static int ${subject}_reset(struct card *dev)
{
	dev_err(dev, "${subject} %d is stuck\\n", dev->number);
${calls}
	return 0;
}
int ${subject}_notify(struct card *dev)
{
	return ${subject}_reset(dev);
}
`;
}

const files = Object.fromEntries(
  subjects.flatMap((subject, at) => {
    const others = [1, 3].map((step) => subjects[(at + step) % subjects.length]!);
    return [
      [`${subject}/${subject}-core.c`, driver(subject, others)],
      [`${subject}/core.c`, `int ${subject}_start(void)\n{\n\treturn ${at};\n}\n`],
      [`${subject}/Kconfig`, `config ${subject.toUpperCase()}\n\tbool "The ${subject}"\n`],
      [`${subject}/Makefile`, `obj-$(CONFIG_${subject.toUpperCase()}) += ${subject}-core.o\n`],
      [`${subject}/notes.md`, `# ${subject}\n\nWhen the ${subject} is stuck, restart the card.\n`],
    ];
  }),
);

const reports = {
  words: 'The radio is stuck after a while\nThe card must be restarted, and the sound stops too.',
  frames: 'hang\n[ 1.000000] disk_reset+0x12/0x30 [disk]\n page_notify+0x1/0x2\n',
  'a static function and a file':
    'socket_reset() in socket/socket-core.c:12 never ends with CONFIG_LIGHT',
  'a trace with files':
    'crash\nTraceback (most recent call last):\n  File "light/core.c", line 2, in light_start\n',
  'a log':
    'no sound\n[ 2.000000] sound-core 0000:00:14.3: sound 5 is stuck\n[ 3.0] clock 7 is stuck',
};
const limits: LocateLimits = { clock: systemClock, deadlineMs: 20_000 };

let tree: TemporaryTree;
let home: TemporaryTree;
let shards: Shard[];
let local: Locator;

beforeAll(async () => {
  tree = await TemporaryTree.create(files);
  home = await TemporaryTree.create();
  const plan = subjects.map((alias) => ({ alias, paths: [alias] }));
  await indexFolder({ root: tree.root, home: home.root, jobs: 0, shards: { shards: plan } });
  ({ shards } = await openShards(tree.root, home.root));
  local = await Locator.open(tree.root, home.root);
});

afterAll(async () => {
  await tree[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
});

/** A shard as it is reached over the bus: each message encoded and decoded on both ways. */
function remote(shard: Shard, change: Partial<Shard> = {}): ShardPort {
  const its = { ...change };
  const over =
    <Q extends object, A extends object>(
      { request, answer }: MessageType<Q, A>,
      run: (asked: Q) => Promise<A>,
    ) =>
    async (asked: Q): Promise<A> =>
      answer.decode(answer.encode(await run(request.decode(request.encode(asked)))));
  const vocabulary = over(shardMessages.vocabulary, () => shard.vocabulary());
  const words = {
    vocabulary: () => vocabulary({}),
    rankFiles: over(shardMessages.locate, (asked) => shard.rankFiles(asked)),
    readFiles: over(shardMessages.read, (asked) => shard.readFiles(asked)),
  };
  return {
    agent: shard.agent,
    card: () => shard.card(),
    ask: (request) => shard.ask(request),
    weigh: (request) => shard.weigh(request),
    seek: (request) => shard.seek(request),
    hop: (request) => shard.hop(request),
    definitions: (symbols) => shard.definitions(symbols),
    callers: (symbols) => shard.callers(symbols),
    references: (symbols) => shard.references(symbols),
    implementations: (symbols) => shard.implementations(symbols),
    citeCalls: (callee, sites) => shard.citeCalls(callee, sites),
    expand: (anchors) => shard.expand(anchors),
    sources: (symbols) => shard.sources(symbols),
    ...words,
    ...its,
  };
}

async function latticeOf(change: Record<string, Partial<Shard>> = {}): Promise<Lattice> {
  const ports = shards.map((shard) => remote(shard, change[shard.agent]));
  return new Lattice(ports, await Promise.all(shards.map((shard) => shard.card())));
}

function plain({ files: found, shards: of, warnings }: LocateAnswer): object {
  return { found, of, warnings };
}

describe('a report that shards are asked about one by one', () => {
  test.each(Object.entries(reports))(
    'has the files, scores and evidence of one index: %s',
    async (_, text) => {
      const [title = '', ...rest] = text.split('\n');
      const report = { title, description: rest.join('\n') };
      const alone = await local.locate(report, { limit: 50 });
      const answer = await locate(await latticeOf(), { text, limit: 50 }, limits);
      expect(alone.files.length).toBeGreaterThan(0);
      expect(alone.files[0]?.evidence.length).toBeGreaterThan(0);
      expect(plain(answer)).toEqual(plain(alone));
      expect(answer).toMatchObject({ agents_asked: subjects.length, errors: [] });
    },
  );

  test('keeps the scores of the files of those that are asked when others are not', async () => {
    const lattice = await latticeOf();
    for (const text of Object.values(reports)) {
      const all = await locate(lattice, { text, limit: 50, isBrief: true }, limits);
      const few = await locate(
        lattice,
        { text, limit: 50, isBrief: true },
        { ...limits, askedMax: 3 },
      );
      const asked = new Set(few.files.map(({ agent }) => agent));
      expect(few.agents_asked).toBe(3);
      expect(asked.size).toBeLessThanOrEqual(3);
      expect(few.files).toEqual(all.files.filter(({ agent }) => asked.has(agent)));
      expect(few.files[0]).toEqual(all.files[0]);
    }
  });

  test('is about nothing where nobody knows a word', async () => {
    const answer = await locate(await latticeOf(), { text: 'zebra quokka', limit: 5 }, limits);
    expect(answer).toMatchObject({ files: [], shards: [], errors: [] });
  });

  test('that holds no word is refused', async () => {
    const asked = locate(await latticeOf(), { text: ' \n', limit: 5 }, limits);
    await expect(asked).rejects.toMatchObject({ code: 'REPORT_EMPTY' });
  });
});

describe('the shard that comes first', () => {
  const first = async (title: string, description = ''): Promise<string | undefined> => {
    const { index, modules } = await openTree(tree.root, home.root);
    const seeking = new Seeking(index, modules, parseReport({ title, description }), new Set());
    return index.shards[rankedShards(index, seeking)[0] ?? -1]?.agent;
  };

  test.each([
    ['a frame, of a static function', 'it hangs', ' disk_reset+0x12/0x30\n', 'disk'],
    ['a path', 'wrong in light/core.c', '', 'light'],
    ['a file', 'wrong in clock-core.c', '', 'clock'],
    ['an option', 'broken with CONFIG_PAGE', '', 'page'],
    ['a module', 'it hangs', '[ 1.000000] socket_core 0000:00:14.3: link is down', 'socket'],
    ['words', 'the notes of the radio', '', 'radio'],
  ])('is chosen by %s', async (_, title, description, agent) => {
    expect(await first(title, description)).toBe(agent);
  });
});

describe('a shard that does not answer', () => {
  const text = reports.words;
  const failing = (code: 'AGENT_OFFLINE' | 'STORE_UNAVAILABLE') => (): Promise<never> =>
    Promise.reject(new BusError(code, { agent: 'radio' }));
  const never = (): Promise<never> => new Promise(() => undefined);
  const soon: LocateLimits = { ...limits, deadlineMs: 400 };

  test.each([
    ['its vocabulary', { vocabulary: failing('AGENT_OFFLINE') }, 'AGENT_OFFLINE', limits],
    ['its files', { rankFiles: failing('STORE_UNAVAILABLE') }, 'STORE_UNAVAILABLE', limits],
    ['its vocabulary in time', { vocabulary: never }, 'DEADLINE_EXCEEDED', soon],
    ['its files in time', { rankFiles: never }, 'DEADLINE_EXCEEDED', soon],
  ])('with %s is named, and the others answer', async (_, change, code, within) => {
    const lattice = await latticeOf({ radio: change });
    // What the others have to be read for is read before.
    await locate(await latticeOf(), { text, limit: 50 }, limits);
    const answer = await locate(lattice, { text, limit: 50 }, within);
    expect(answer.errors).toEqual([expect.objectContaining({ agent: 'radio', code })]);
    expect(answer.files.length).toBeGreaterThan(0);
    expect(answer.files.map(({ agent }) => agent)).not.toContain('radio');
  });

  test('when its files are to be read leaves them where their words put them', async () => {
    const lattice = await latticeOf({ radio: { readFiles: failing('AGENT_OFFLINE') } });
    const answer = await locate(lattice, { text, limit: 50 }, limits);
    expect(answer.errors).toEqual([expect.objectContaining({ agent: 'radio' })]);
    expect(answer.files.map(({ agent }) => agent)).toContain('radio');
  });

  test('is not waited for again by the next report', async () => {
    let asked = 0;
    const vocabulary = (): Promise<never> => {
      asked += 1;
      return never();
    };
    const lattice = await latticeOf({ radio: { vocabulary } });
    await locate(lattice, { text, limit: 50 }, soon);
    const answer = await locate(lattice, { text, limit: 50 }, limits);
    expect(answer.errors).toEqual([expect.objectContaining({ agent: 'radio' })]);
    expect(asked).toBe(1);
  });

  test('and nobody else does either: that is an error of the whole', async () => {
    const offline = { rankFiles: failing('AGENT_OFFLINE') };
    const lattice = await latticeOf(Object.fromEntries(subjects.map((each) => [each, offline])));
    const asked = locate(lattice, { text, limit: 50 }, limits);
    await expect(asked).rejects.toMatchObject({ code: 'AGENT_FAILED' });
  });

  test('that was never there is named too', async () => {
    const cards = await Promise.all(shards.slice(1).map((shard) => shard.card()));
    const lattice = new Lattice(
      shards.map((shard) => remote(shard)),
      cards,
    );
    const answer = await locate(lattice, { text, limit: 50 }, limits);
    expect(answer.errors).toEqual([expect.objectContaining({ agent: shards[0]!.agent })]);
  });
});

test('who has changed meanwhile is asked anew what it holds', async () => {
  let version = 'old';
  const shard = shards.find(({ agent }) => agent === 'radio')!;
  const vocabulary = async (): ReturnType<Shard['vocabulary']> => {
    const whole = await shard.vocabulary();
    const told = version === 'old' ? { ...whole, version } : whole;
    version = 'new';
    return told;
  };
  const answer = await locate(
    await latticeOf({ radio: { vocabulary } }),
    { text: reports.words, limit: 50 },
    limits,
  );
  expect(answer.errors).toEqual([]);
  expect(answer.files.map(({ agent }) => agent)).toContain('radio');
});

test('nobody is asked any further when nobody waits', async () => {
  const cancel = new AbortController();
  let read = 0;
  const rankFiles = (): Promise<never> => {
    cancel.abort(new BusError('CANCELLED'));
    return new Promise(() => undefined);
  };
  const readFiles = (): Promise<never> => {
    read += 1;
    return new Promise(() => undefined);
  };
  const all = Object.fromEntries(subjects.map((each) => [each, { rankFiles, readFiles }]));
  const asked = locate(
    await latticeOf(all),
    { text: reports.words, limit: 50 },
    { ...limits, signal: cancel.signal },
  );
  await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
  expect(read).toBe(0);
});

describe('a vocabulary', () => {
  const fileOf = async (alias: string): Promise<WordsFile> => {
    const place = placeOf(tree.root, home.root);
    const { shards: all } = await readManifest(place, tree.root);
    return WordsFile.open(join(place.segments, all.find((each) => each.alias === alias)!.words));
  };

  test('that has no room for all words leaves out the rarest, and says how many', async () => {
    const file = await fileOf('disk');
    const whole = file.counts(1_000, 1_000).words;
    const cut = file.counts(5, 1_000).words;
    expect(whole.leftOut).toBe(0);
    expect(cut.leftOut).toBeGreaterThan(0);
    expect(cut.counts.length).toBeLessThan(whole.counts.length);
  });

  test.each([
    ['paths', { path_blocks: new Uint8Array(8) }],
    ['counts', { word_counts: new Uint8Array(3) }],
    ['buckets', { name_buckets: new Uint8Array(4) }],
    ['recipes', { steps: Buffer.from('[{"file":1}]') }],
    ['standings', { standings: new Uint8Array(1) }],
  ])('with broken %s is refused', async (_, broken) => {
    const whole = vocabularyOf(await fileOf('disk'));
    expect(() => new VocabularyWords({ ...whole, ...broken })).toThrow(
      expect.objectContaining({ code: 'MALFORMED_PAYLOAD' }),
    );
  });
});
