import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { chainAliases, chainRepository } from '../support/repository.js';
import { managerLayout } from '../../src/store/layouts.js';
import { eventually } from '../support/eventually.js';
import { sigma, startProcess, type Running } from '../support/sigma.js';
import { openTestStore } from '../support/store.js';

let repository: ReturnType<typeof chainRepository>;
const running: Running[] = [];
/** Ended with the group of tests that share one. */
const ups: Running[] = [];

beforeAll(() => {
  repository = chainRepository();
});
afterAll(() => repository.remove());

async function end(all: Running[]): Promise<void> {
  for (const each of all.splice(0)) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
}
afterEach(() => end(running));

async function up(): Promise<Running> {
  const its = startProcess(repository.home, ['up', repository.root, '--shards', repository.plan]);
  ups.push(its);
  await eventually(() => expect(its.output()).toMatch(/^ready tree: 4 shards/m), 50_000);
  return its;
}

/** Direct children of a process, by their command lines. */
function children(pid: number): { pid: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        const parent = /^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${name}/status`, 'utf8'))?.[1];
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return Number(parent) === pid ? [{ pid: Number(name), command }] : [];
      } catch {
        return [];
      }
    });
}

describe('up, as long as it runs', () => {
  let its: Running;
  beforeAll(async () => {
    its = await up();
  });
  afterAll(() => end(ups));

  test('starts everything and answers over the bus as the index does', async () => {
    const agents = await sigma(repository.home, ['agents', '--json']);
    expect(
      agents.json.agents
        .filter((agent: { role: string }) => agent.role === 'pgc')
        .map((agent: { alias: string; state: string }) => [agent.alias, agent.state])
        .sort(),
    ).toEqual(chainAliases.map((alias) => [alias, 'online']));
    expect(Object.keys(agents.json.agents[0])).toEqual(
      expect.arrayContaining([
        'id',
        'alias',
        'role',
        'model',
        'project',
        'scope',
        'overlays',
        'capabilities',
        'protocol_versions',
        'state',
        'last_seen_ms',
        'load',
      ]),
    );

    const viaBus = async (...args: string[]) =>
      (await sigma(repository.home, [...args, '--json'])).json;
    const direct = async (...args: string[]) =>
      (await sigma(repository.home, [...args, '--repo', repository.root, '--json'])).json;
    const timeless = (answer: object): unknown =>
      JSON.parse(
        JSON.stringify(answer, (key, value: unknown) =>
          key === 'elapsed_ms' || key === 'cached' ? undefined : value,
        ),
      );
    for (const args of [
      ['callers', 'nic_log'],
      ['callees', 'nic_open'],
      ['trace', 'nic_open', 'alloc_pages_near'],
      ['ask', 'How is the ring allocated?'],
      ['lattice', 'query', 'How does the nic driver allocate its ring?'],
      ['lattice', 'topology'],
      ['lattice', 'path', 'drivers', 'mm'],
    ]) {
      const [one, other] = await Promise.all([viaBus(...args), direct(...args)]);
      expect(timeless(one), args.join(' ')).toEqual(timeless(other));
    }
    const one = await viaBus('query', 'kernel', 'dma_alloc_mapped');
    expect(new Set(one.evidence.map((source: { agent: string }) => source.agent))).toEqual(
      new Set(['kernel']),
    );
    expect((await sigma(repository.home, ['query', 'nobody', 'x', '--json'])).json.error.code).toBe(
      'UNKNOWN_AGENT',
    );
  });

  test('a second broker of the same home or on the same socket is refused, and the first is not disturbed', async () => {
    const bus = `ipc://${path.join(repository.home, 'run/bus.sock')}`;
    const [second, other] = await Promise.all([
      sigma(repository.home, ['bus', '--json']),
      sigma(path.join(repository.home, 'other'), ['bus', '--bus', bus, '--json']),
    ]);
    expect([second.code, second.json.error.code]).toEqual([1, 'BROKER_RUNNING']);
    expect([other.code, other.json.error.code]).toEqual([1, 'BROKER_RUNNING']);
    expect((await sigma(repository.home, ['ask', 'nic_open', '--json'])).code).toBe(0);
  });

  test('a refreshed index is served without a restart', async () => {
    writeFileSync(
      path.join(repository.root, 'mm/new.c'),
      '/** brand_new_function - made a moment ago */\nint brand_new_function(void) { return 1; }\n',
    );
    await sigma(repository.home, ['index', repository.root]);
    await eventually(async () => {
      const { json } = await sigma(repository.home, ['callers', 'brand_new_function', '--json']);
      expect(json.definitions).toMatchObject([{ file_path: 'mm/new.c', line: 2, agent: 'mm' }]);
    }, 15_000);
  });

  test('a tree that is served already is not served twice', async () => {
    const second = await sigma(repository.home, ['up', repository.root]);
    expect([second.code, second.stderr]).toEqual([1, expect.stringContaining('ALREADY_SERVED')]);
    expect((await sigma(repository.home, ['ask', 'nic_open', '--json'])).code).toBe(0);
  }, 60_000);

  test('a child that dies is started again, and questions are answered again', async () => {
    const restarts = (): number => its.output().match(/starting it again/g)?.length ?? 0;
    for (const service of ['agent pgc', 'agent manager']) {
      const child = children(its.process.pid!).find((each) => each.command.includes(service));
      const before = restarts();
      process.kill(child!.pid, 'SIGKILL');
      await eventually(() => expect(restarts()).toBe(before + 1), 10_000);
      await eventually(async () => {
        const { json } = await sigma(repository.home, ['ask', 'nic_open', '--json']);
        expect(json.evidence?.length).toBeGreaterThan(0);
      }, 20_000);
    }
  }, 60_000);

  test('its critic is started, shown, and started again when it is killed', async () => {
    const shown = async (): Promise<void> => {
      expect((await sigma(repository.home, ['status'])).stdout).toContain('service critic');
      const { json } = await sigma(repository.home, ['agents', '--json']);
      const critics = json.agents.filter(({ role }: { role: string }) => role === 'critic');
      expect(critics).toMatchObject([{ alias: 'critic', state: 'online' }]);
    };
    const found = () =>
      children(its.process.pid!).find(({ command }) => command.includes('agent critic'));
    await eventually(shown, 20_000);
    for (const to of ['critic', 'mm']) {
      const { json } = await sigma(repository.home, ['send', to, 'hello', '--json']);
      expect(json.error.code, to).toBe('NO_MAILBOX');
    }
    const first = found()!.pid;
    process.kill(first, 'SIGKILL');
    await eventually(() => {
      expect(its.output()).toMatch(/critic ended .*starting it again/);
      expect([undefined, first]).not.toContain(found()?.pid);
    }, 20_000);
    await eventually(shown, 20_000);
    const file = path.join(repository.root, 'mm/notes.md');
    writeFileSync(file, '`drivers/nic/nic_main.c:900` opens the device.\n');
    const reviewed = ['critic', '--mode', 'chain-of-verification', '--artifact', file, '--json'];
    const { json } = await sigma(repository.home, reviewed);
    rmSync(file);
    expect(json.error).toBeUndefined();
    expect(json.reports[0].findings).toMatchObject([{ rule: 'CLAIM_CONTRADICTED', line_start: 1 }]);
  }, 90_000);

  test('two trees of the same name on one broker do not mix', async () => {
    const twin = chainRepository();
    try {
      writeFileSync(
        path.join(twin.root, 'mm/twin.c'),
        'int only_in_the_twin(void) { return 1; }\nint calls_it(void) { return only_in_the_twin(); }\n',
      );
      // Where the first tree has any function, the second has another one.
      const lines = Array.from(
        { length: 99 },
        (_, at) => `int twin_${at + 1}(void) { return twin_${at + 2}(); }\n`,
      );
      writeFileSync(path.join(twin.root, 'mm/pages.c'), lines.join(''));
      const second = startProcess(repository.home, ['up', twin.root, '--shards', twin.plan]);
      running.push(second);
      await eventually(() => expect(second.output()).toMatch(/^ready tree: 4 shards/m), 30_000);
      const { json } = await sigma(repository.home, ['callers', 'only_in_the_twin', '--json']);
      expect(json.callers).toMatchObject([{ symbol: 'calls_it', file_path: 'mm/twin.c', line: 2 }]);
      expect(
        (await sigma(repository.home, ['callers', 'nic_log', '--json'])).json.callers,
      ).toHaveLength(3);
      const one = await sigma(repository.home, ['symbol', 'alloc_pages_near', '--json']);
      const [{ file_path, line_start, lines: text }] = one.json.pieces;
      expect([file_path, text[0].text]).toEqual([
        'mm/pages.c',
        expect.stringContaining('alloc_pages_near'),
      ]);
      const twins = await sigma(repository.home, ['explore', `twin_${line_start}`, '--json']);
      expect(twins.json.pieces[0].lines[0].text).toBe(lines[line_start - 1]?.trimEnd());
      const more = await sigma(repository.home, ['explore', '--more', twins.json.more, '--json']);
      expect(more.json.pieces[0].lines[0].text).toMatch(/^int twin_\d+\(void\)/);
      const asked = await sigma(repository.home, ['ask', 'only_in_the_twin', '--json']);
      const verified = await sigma(repository.home, ['verify', '--json'], {
        input: JSON.stringify(asked.json.evidence),
      });
      const statuses = verified.json.results.map((verdict: { status: string }) => verdict.status);
      expect(new Set(statuses)).toEqual(new Set(['valid']));
    } finally {
      await end(running);
      twin.remove();
    }
  }, 60_000);

  test('ends cleanly', async () => {
    its.process.kill('SIGINT');
    expect(await its.ended).toBe(0);
    expect(existsSync(path.join(repository.home, 'run/bus.sock'))).toBe(false);
    expect((await sigma(repository.home, ['status', '--json'])).json.error.code).toBe('NO_BROKER');
  });
});

describe('up over a damaged store of its manager', () => {
  let its: Running;
  const store = (): string => path.join(repository.home, 'manager/store');
  beforeAll(async () => {
    rmSync(store(), { recursive: true, force: true });
    mkdirSync(store(), { recursive: true });
    writeFileSync(path.join(store(), 'CURRENT'), 'no such manifest');
    its = await up();
  });
  afterAll(async () => {
    await end(ups);
    rmSync(store(), { recursive: true });
  });

  test('a manager whose store is damaged answers without a journal and says so; one that is locked is refused', async () => {
    expect((await sigma(repository.home, ['ask', 'nic_open', '--json'])).code).toBe(0);
    const { json } = await sigma(repository.home, ['status', '--json']);
    expect(json.troubles).toEqual([{ agent: 'manager', code: 'JOURNAL_UNAVAILABLE' }]);
    expect((await sigma(repository.home, ['status'])).stdout).toContain('JOURNAL_UNAVAILABLE');
    expect(its.output()).toMatch(/"code":"JOURNAL_UNAVAILABLE"/);
    const other = path.join(repository.home, 'other');
    const place = path.join(other, 'manager/store');
    await using owner = await openTestStore(place, managerLayout);
    expect(owner.state).toBe('serving');
    const second = await sigma(other, ['agent', 'manager', '--json']);
    expect([second.code, second.json.error.code]).toEqual([1, 'STORE_LOCKED']);
  });

  test('nothing outlives a supervisor that was killed', async () => {
    const pids = children(its.process.pid!).map((each) => each.pid);
    expect(pids.length).toBe(5);
    its.process.kill('SIGKILL');
    await its.ended;
    await eventually(
      () => expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]),
      15_000,
    );
  }, 60_000);
});

test('up that is stopped while it starts ends with 130 and leaves nothing behind', async () => {
  const its = startProcess(repository.home, ['up', repository.root, '--shards', repository.plan]);
  await eventually(() => expect(children(its.process.pid!).length).toBeGreaterThan(0));
  const pids = children(its.process.pid!).map((each) => each.pid);
  its.process.kill('SIGTERM');
  expect(await its.ended).toBe(130);
  await eventually(() => expect(pids.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]));
});

// Two of them are five seconds without a broker before they say so: they wait together.
test.concurrent.each([[['agent', 'manager']], [['agent', 'pgc']], [['agent', 'executor']]])(
  'sigma %j without a broker ends when it is told to',
  async (args) => {
    const whole = args[1] === 'pgc' ? [...args, repository.root] : args;
    const its = startProcess(repository.home, [...whole, '--log', 'info']);
    await eventually(() => expect(its.output()).toMatch(/not registered yet|serving/), 25_000);
    its.process.kill('SIGTERM');
    expect(await its.ended).toBe(0);
  },
  30_000,
);

test('up in the background comes back when it is ready and ends when it is told to', async () => {
  const its = await sigma(repository.home, ['up', repository.root, '--detach']);
  expect(its.stdout).toMatch(/^ready tree: 4 shards/m);
  const pid = Number(/kill (\d+)/.exec(its.stdout)?.[1]);
  expect((await sigma(repository.home, ['ask', 'nic_open', '--json'])).code).toBe(0);
  process.kill(pid, 'SIGTERM');
  await eventually(() => expect(existsSync(`/proc/${pid}`)).toBe(false), 15_000);
}, 60_000);
