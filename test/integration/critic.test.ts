import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Client } from '../../src/client/client.js';
import type { Config } from '../../src/config/config.js';
import { criticMessages, critiqueProgress } from '../../src/critic/review/messages.js';
import { openStore } from '../../src/critic/serve/open-critic.js';
import type { CritiqueRequest } from '../../src/critic/shapes.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { RemoteCritic } from '../../src/remote/critic.js';
import { Desk } from '../support/desk.js';
import { eventually } from '../support/eventually.js';
import { ModelServer } from '../support/model-server.js';
import { chainAliases, chainRepository } from '../support/repository.js';
import { asked } from '../support/reviews.js';
import { sigma, startProcess, startSigma, type Ran, type Running } from '../support/sigma.js';

/** One tree, one home; first nobody serves it, then a broker, its agents and a critic do. */
let repository: ReturnType<typeof chainRepository>;
let server: ModelServer;
const running = new Map<string, Running>();

const page = `# The network driver

\`nic_open\` calls \`nic_setup_rx_ring\`.

\`drivers/nic/nic_main.c:900\` opens the device.

- TODO: say who tests it
`;

beforeAll(async () => {
  repository = chainRepository();
  const { home, root, plan } = repository;
  mkdirSync(path.join(root, 'docs'));
  writeFileSync(path.join(root, 'docs/driver.md'), page);
  expect((await sigma(home, ['index', root, '--shards', plan])).code).toBe(0);
  server = await ModelServer.open();
}, 60_000);

afterAll(async () => {
  for (const name of [...running.keys()].reverse()) await stop(name);
  await server[Symbol.asyncDispose]();
  repository.remove();
});

const critic = (...args: string[]): Promise<Ran> =>
  sigma(repository.home, ['critic', ...args], { cwd: repository.root });
const verify = (...args: string[]): Promise<Ran> =>
  critic('--mode', 'chain-of-verification', '--artifact', 'docs/driver.md', ...args);

function start(name: string, ...args: string[]): Running {
  // Those two are killed.
  const started = name === 'bus' || name === 'critic' ? startProcess : startSigma;
  const its = started(repository.home, [...args, '--log', 'info']);
  running.set(name, its);
  return its;
}

async function stop(name: string, signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
  const its = running.get(name);
  running.delete(name);
  its?.process.kill(signal);
  await its?.ended;
}

async function startCritic(): Promise<Running> {
  const its = start('critic', 'agent', 'critic');
  await eventually(() => expect(its.output()).toContain('"serving"'), 20_000);
  return its;
}

/** As a client of the bus would, with all that the command line does not offer. */
async function review(
  client: Client,
  request: CritiqueRequest,
  onDone: (done: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Awaited<ReturnType<typeof criticMessages.critique.answer.decode>>> {
  const { type, request: codec, answer } = criticMessages.critique;
  const reply = await client.request('service:critic', type, codec.encode(request), {
    deadlineMs: 60_000,
    isIdempotent: true,
    onPartial: (part) => onDone(critiqueProgress.decode(part).done),
    ...(signal !== undefined && { signal }),
  });
  return answer.decode(reply.body);
}

const rulesOf = ({ json }: Ran): string[] =>
  json.reports.flatMap(({ findings }: any) => findings.map(({ rule }: any) => rule));
const codesOf = ({ json }: Ran): string[] => json.flags.map(({ code }: any) => code);

describe('without a broker', () => {
  test('an artifact is held against the built index of its tree, wherever it is asked from', async () => {
    const told = await verify('--json');
    // A claim is wrong.
    expect(told.code, told.stderr).toBe(1);
    const [finding] = told.json.reports[0].findings;
    expect(finding).toMatchObject({ rule: 'CLAIM_CONTRADICTED', line_start: 5, by: 'rules' });
    const text = readFileSync(path.join(repository.root, 'drivers/nic/nic_main.c'), 'utf8');
    const { file_path, line_start, content } = finding.evidence[0];
    expect(file_path).toBe('drivers/nic/nic_main.c');
    expect(
      text
        .split('\n')
        .slice(line_start - 1)
        .join('\n')
        .startsWith(content),
    ).toBe(true);
    expect(codesOf(told)).not.toContain('GROUND_MISSING');
    const { home, root } = repository;
    const link = path.join(path.dirname(root), 'linked');
    symlinkSync(root, link);
    const args = ['critic', '--mode', 'chain-of-verification', '--json', '--artifact'];
    for (const file of [path.join(root, 'docs/driver.md'), path.join(link, 'docs/driver.md')]) {
      const other = await sigma(home, [...args, file], { cwd: path.dirname(root) });
      expect(other.json.artifact).toBe('docs/driver.md');
      expect(rulesOf(other)).toEqual(['CLAIM_CONTRADICTED']);
    }
    const named = await sigma(home, [...args, path.join(root, 'docs/driver.md'), '--repo', link]);
    expect(rulesOf(named)).toEqual(['CLAIM_CONTRADICTED']);
  }, 60_000);

  test('what has no index is reviewed, and says so', async () => {
    const file = path.join(path.dirname(repository.root), 'alone.md');
    writeFileSync(file, page);
    const told = await critic('--artifact', file, '--mode', 'self-refine', '--json');
    expect(codesOf(told)).toContain('GROUND_MISSING');
    expect(rulesOf(told)).toContain('PLACEHOLDER');
  });

  test('one id is one review, also in the next process; with another text it is another', async () => {
    const first = await verify('--id', 'here', '--json');
    const again = await verify('--id', 'here', '--json');
    expect(again.json).toEqual(first.json);
    const file = path.join(repository.root, 'docs/driver.md');
    writeFileSync(file, `${page}\nMore.\n`);
    const changed = await verify('--id', 'here', '--json');
    writeFileSync(file, page);
    expect([changed.code, changed.json.error.code]).toEqual([1, 'REVIEW_CHANGED']);
  }, 30_000);

  test('rules of governance are known by their place, however they are named', async () => {
    const { root, home } = repository;
    mkdirSync(path.join(root, '.claude/rules'), { recursive: true });
    const rules = path.join(root, '.claude/rules/pages.md');
    writeFileSync(
      rules,
      '# Rules\n\n```rules\n- id: DOC-1\n  level: HARD\n  text: Every page names its owner.\n  pattern: "^Owner:"\n```\n',
    );
    const modes = ['constitutional', 'llm-as-judge'];
    const told = await sigma(
      home,
      [
        ...['critic', '--mode', modes.join(','), '--artifact', '../docs/driver.md'],
        ...['--criticality', 'C3', '--rules', rules, '--json'],
      ],
      { cwd: path.join(root, 'drivers') },
    );
    expect(told.json).toMatchObject({ verdict: 'ABORTED', needs_person: true });
    expect(told.json.reports).toMatchObject([
      { mode: 'constitutional', abort: 'GOVERNANCE_VIOLATION' },
      { mode: 'llm-as-judge', status: 'skipped', reason: 'GOVERNANCE_VIOLATION' },
    ]);
    expect(told.code).toBe(1);
  });

  test('a person decides here, and the chart has every iteration', async () => {
    for (const [at, score] of ['2', '3'].entries()) {
      const told = await critic(
        ...['--mode', 'llm-as-judge', '--artifact', 'docs/driver.md', '--iteration', score],
        ...['--json', '--id', `scored-${at}`],
      );
      expect(told.json.reports[0].status).toBe('complete');
    }
    const shown = await critic('history', 'docs/driver.md');
    const { tracking } = (await critic('history', 'docs/driver.md', '--json')).json;
    const shownLast = tracking.iterations.at(-1).critique;
    expect(shown.stdout).toMatch(/^ITERATION +SCORE/m);
    expect(shown.stdout).toMatch(/^ {3}3 .*\| +not scored$/m);
    const judged = ['ratify', 'docs/driver.md', '--judgement', 'accept', '--json'];
    const old = await critic(...judged, '--critique', 'another');
    expect(old.json.error.code).toBe('RATIFY_OLD');
    const ratified = await critic(...[...judged, '--text', 'good enough', '--critique', shownLast]);
    expect(ratified.json).toMatchObject({ state: 'ratified', needs_person: false });
    expect(ratified.json.ratifications).toMatchObject([
      { judgement: 'accept', by: userInfo().username, text: 'good enough' },
    ]);
    const twice = await critic('ratify', 'docs/driver.md', '--judgement', 'refuse', '--json');
    expect(twice.json.error.code).toBe('RATIFY_STATE');
  }, 30_000);
});

describe('over the bus', () => {
  beforeAll(async () => {
    const { home, root } = repository;
    start('bus', 'bus');
    start('pgc', 'agent', 'pgc', root);
    start('manager', 'agent', 'manager');
    await startCritic();
    await eventually(async () => {
      const { json } = await sigma(home, ['agents', '--json']);
      const shards = json.agents.filter(
        ({ role, state }: any) => role === 'pgc' && state === 'online',
      );
      expect(shards).toHaveLength(chainAliases.length);
    }, 30_000);
  }, 60_000);

  test('the same is found with the running lattice as its ground', async () => {
    const told = await verify('--json');
    expect(codesOf(told)).not.toContain('GROUND_MISSING');
    expect(told.json.reports[0].findings).toMatchObject([
      { rule: 'CLAIM_CONTRADICTED', line_start: 5 },
    ]);
    const evidence = told.json.reports[0].findings[0].evidence[0];
    expect(evidence.file_path).toBe('drivers/nic/nic_main.c');
    // What was decided before it served is known to it, and a new critique is a new question.
    const history = await critic('history', 'docs/driver.md', '--json');
    expect(history.json.ratifications).toHaveLength(1);
    expect(history.json.tracking.iterations.length).toBeGreaterThan(3);
  }, 30_000);

  test('only trees of the lattice are opened, whatever a caller names', async () => {
    await using desk = await Desk.open(repository.home, 'caller', 'client');
    const { client } = desk;
    const request = asked({ id: 'elsewhere', modes: ['chain-of-verification'], root: '/etc' });
    const critique = await review(client, request);
    expect(critique.flags.map(({ code }) => code)).toContain('GROUND_MISSING');
  });

  test('an operator ratifies; any other agent is refused, and nothing is decided', async () => {
    await using desk = await Desk.open(repository.home, 'somebody', 'client');
    const { type, request } = criticMessages.ratify;
    const body = request.encode({
      ...{ artifact: 'docs/driver.md', judgement: 'accept', text: '', by: 'operator' },
      critique: '',
    });
    await expect(
      desk.client.request('service:critic', type, body, { deadlineMs: 10_000 }),
    ).rejects.toMatchObject({ code: 'RATIFY_NOT_YOURS' });
    await critic('--artifact', 'docs/driver.md', '--mode', 'llm-as-judge');
    const before = await critic('history', 'docs/driver.md', '--json');
    expect(before.json).toMatchObject({ state: 'escalated', needs_person: true });
    const told = await critic(
      ...['ratify', 'docs/driver.md', '--judgement', 'refuse', '--as', 'mara', '--json'],
    );
    expect(told.json.state).toBe('refused');
    expect(told.json.ratifications.at(-1).by).toMatch(/^mara \(cli-/);
  }, 30_000);

  test('an id is one review over the bus, too', async () => {
    const first = await verify('--id', 'bus', '--json');
    expect((await verify('--id', 'bus', '--json')).json).toEqual(first.json);
    const other = await critic(
      ...['--mode', 'steelman', '--artifact', 'docs/driver.md', '--id', 'bus', '--json'],
    );
    expect([other.code, other.json.error.code]).toEqual([1, 'REVIEW_CHANGED']);
  }, 30_000);

  test.each<[string, Partial<CritiqueRequest>, string]>([
    ['an id that is no name', { id: '../x' }, 'REVIEW_INVALID'],
    ['no artifact', { artifact: { path: '', text: '' } }, 'REVIEW_INVALID'],
    ['iteration 0', { iteration: 0 }, 'REVIEW_INVALID'],
    ['a threshold of 2', { threshold: 2 }, 'REVIEW_INVALID'],
    ['a mode that is none', { modes: ['blue-team' as never] }, 'REVIEW_INVALID'],
    ['a large text', { artifact: { path: 'a', text: 'x'.repeat(256 * 1024 + 1) } }, 'TOO_LARGE'],
  ])('%s is refused by the critic itself', async (_, more, code) => {
    await using desk = await Desk.open(repository.home, 'wrong', 'client');
    await expect(review(desk.client, asked(more))).rejects.toMatchObject({ code });
  });

  test('a second critic of one home, and a review without the bus, are told who holds it', async () => {
    const bus = `ipc://${path.join(repository.home, 'run/nobody.sock')}`;
    // Both wait for it for a while.
    const [second, told] = await Promise.all([
      sigma(repository.home, ['agent', 'critic', '--json']),
      verify('--bus', bus, '--json'),
    ]);
    expect([second.code, second.json.error.code]).toEqual([1, 'STORE_LOCKED']);
    expect([told.code, told.json.error.code]).toEqual([1, 'CRITIC_ELSEWHERE']);
  }, 60_000);

  test('a critic that begins while a review holds the store waits for it', async () => {
    await stop('critic');
    const store = await openStore({ home: repository.home } as Config);
    const its = start('critic', 'agent', 'critic');
    await eventually(() => expect(its.output()).toContain('holds the store'), 20_000);
    await store[Symbol.asyncDispose]();
    await eventually(() => expect(its.output()).toContain('"serving"'), 20_000);
  }, 60_000);
});

const isRetryable = (error: unknown): boolean => asBusError(error).retryable;

const four = ['self-refine', 'steelman', 'inversion', 'llm-as-judge'] as const;
/** What a critic logged of a review: each mode that was over, and how often it was. */
const endedIn = (log: string, id: string): string[] =>
  log
    .split('\n')
    .filter((line) => line.includes(`"review":"${id}"`) && line.includes('mode is over'))
    .map((line) => (JSON.parse(line) as { mode: string }).mode);

describe('with a model that takes its time', () => {
  beforeAll(async () => {
    await stop('critic');
    const model = { url: server.url, model: 'm', requestMs: 50_000 };
    const settings = { model, critic: { concurrency: 1, waiting: 1 } };
    writeFileSync(path.join(repository.home, 'config.json'), JSON.stringify(settings));
    await server.play([{ match: 'slow', answer: { hangs: 'before' } }]);
    await startCritic();
  }, 30_000);

  const slow = (id: string): CritiqueRequest =>
    asked({
      id,
      artifact: { path: `${id}.md`, text: '# Plan\n\nIt is slow.\n' },
      modes: [...four],
    });
  const answered = { sections: [], findings: [], scores: [] };

  test('so many are under way and wait; one more is refused, and listed are those under way', async () => {
    await using desk = await Desk.open(repository.home, 'many', 'client');
    const { client } = desk;
    const over = new AbortController();
    const waited = (id: string): Promise<unknown> =>
      review(client, slow(id), undefined, over.signal).catch(() => undefined);
    const first = waited('busy-1');
    await eventually(async () => expect(await server.requests()).toHaveLength(1), 20_000);
    const second = waited('busy-2');
    await eventually(async () => {
      const { json } = await critic('list', '--json');
      const states = json.artifacts.map(({ artifact, state }: any) => `${artifact} ${state}`);
      expect(states).toEqual(
        expect.arrayContaining(['busy-1.md critiquing', 'busy-2.md critiquing']),
      );
    }, 20_000);
    await expect(review(client, slow('busy-3'))).rejects.toMatchObject({ code: 'REVIEW_BUSY' });
    over.abort();
    await Promise.all([first, second]);
    // Nobody waits for them any more.
    await eventually(async () => {
      const { json } = await critic('list', '--json');
      expect(json.artifacts.filter(({ state }: any) => state === 'critiquing')).toEqual([]);
    }, 20_000);
  }, 60_000);

  test('a broker that is killed under a review does not take it along', async () => {
    await server.play([
      { times: 1, answer: { text: JSON.stringify(answered) } },
      { answer: { delayMs: 1_500, text: JSON.stringify(answered) } },
    ]);
    await using desk = await Desk.open(repository.home, 'patient', 'client');
    let isKilled = false;
    const under = review(desk.client, slow('broker'), (done) => {
      if (done < 1 || isKilled) return;
      isKilled = true;
      running.get('bus')!.process.kill('SIGKILL');
    });
    under.catch(() => undefined);
    await eventually(() => expect(isKilled).toBe(true), 30_000);
    await running.get('bus')!.ended;
    const log = running.get('critic')!;
    // The map keeps the order in which they end.
    running.set('bus', startSigma(repository.home, ['bus']));
    const outcome = await under.catch(isRetryable);
    // Whoever asks again may be faster than the critic is back: RemoteCritic waits for it.
    const critique =
      outcome === true ? await new RemoteCritic(desk.client).critique(slow('broker')) : outcome;
    expect(critique).toMatchObject({ id: 'broker' });
    const { reports } = critique as Awaited<ReturnType<typeof review>>;
    expect(reports.map(({ mode }) => mode)).toEqual([...four]);
    expect(reports.filter(({ status }) => status === 'skipped')).toEqual([]);
    expect(endedIn(log.output(), 'broker')).toEqual([...four]);
  }, 90_000);

  test('a critic that is killed in the middle goes on by itself, and no mode that ended runs twice', async () => {
    await server.play([{ answer: { delayMs: 300, text: JSON.stringify(answered) } }]);
    await using desk = await Desk.open(repository.home, 'loyal', 'client');
    const first = running.get('critic')!;
    let killed = 0;
    const lost = review(desk.client, slow('killed'), (done) => {
      if (done === 2 && killed === 0) {
        killed = done;
        first.process.kill('SIGKILL');
      }
    }).catch(isRetryable);
    await first.ended;
    running.delete('critic');
    const second = await startCritic();
    // Nobody asked yet.
    await eventually(() => {
      const both = [...endedIn(first.output(), 'killed'), ...endedIn(second.output(), 'killed')];
      expect(both).toEqual([...four]);
    }, 30_000);
    expect(killed).toBe(2);
    const critique = await review(desk.client, slow('killed'));
    expect(critique.reports.map(({ mode }) => mode)).toEqual([...four]);
    await lost;
    const { json } = await critic('history', 'killed.md', '--json');
    expect(json.tracking.iterations).toHaveLength(1);
  }, 90_000);
});
