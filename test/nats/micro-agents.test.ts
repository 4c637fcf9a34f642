import { connect, type NatsConnection } from '@nats-io/transport-node';
import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { noTrace } from '../../src/base/trace.js';
import { BusError } from '../../src/errors/bus-error.js';
import { bridgeForeignAgents } from '../../src/nats/micro/bridge.js';
import { ForeignAgents } from '../../src/nats/micro/foreign-agents.js';
import { AgentsGateway, type AgentsPort } from '../../src/nats/micro/gateway.js';
import { bridgeLimits, gatewayLimits } from '../../src/nats/micro/limits.js';
import { inboxOf } from '../../src/nats/subjects.js';
import { askingOver } from '../../src/operations/asking.js';
import { queryAgent } from '../../src/operations/ask.js';
import { dated } from '../../src/operations/dated.js';
import { textOf } from '../../src/operations/operation.js';
import type { AgentView } from '../../src/wire/messages.js';
import type { TransportHarness } from '../contract/transport.js';
import { testBus } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { memoryHarness } from '../support/networks.js';

const stranger = fileURLToPath(new URL('support/stranger.mjs', import.meta.url));
const never = new AbortController().signal;

let server: NatsServer;
let ours: NatsConnection;
const strangers: ChildProcess[] = [];

beforeAll(async () => {
  server = await startNats();
});
afterAll(() => server[Symbol.asyncDispose]());

beforeEach(async () => {
  ours = await connect({ servers: server.url });
});
afterEach(async () => {
  for (const each of strangers.splice(0)) {
    const ended = new Promise((resolve) => each.once('close', resolve));
    if (each.exitCode === null && each.signalCode === null && each.kill('SIGKILL')) await ended;
  }
  await ours.close();
});

/** What it prints, line by line. */
function strange(...args: string[]): {
  child: ChildProcess;
  lines: unknown[];
  ended: Promise<void>;
} {
  const child = spawn(process.execPath, [stranger, server.url, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  strangers.push(child);
  const lines: unknown[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(JSON.parse(line)));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return { child, lines, ended };
}

async function serving(name: string, options: object = {}): Promise<ReturnType<typeof strange>> {
  const its = strange('serve', name, JSON.stringify(options));
  await eventually(() => expect(its.lines.length).toBeGreaterThan(0));
  return its;
}

async function asking(name: string, text: string): Promise<unknown[]> {
  const { lines, ended } = strange('ask', name, text);
  await ended;
  return lines;
}

// --- our agents for others

function view(id: string, role = 'pgc', state: AgentView['state'] = 'online'): AgentView {
  const none = { scope: [], overlays: {}, capabilities: [], protocol_versions: [], model: '' };
  const record = { id, role, alias: `${id}-alias`, project: 'linux', ...none };
  return { record, state, last_seen_ms: 0, load: 0, of_home: false };
}

/** Agents that a test holds, which answer as it says. */
class Port implements AgentsPort {
  views: AgentView[] = [];
  signals: AbortSignal[] = [];
  #changed: () => void = () => undefined;
  answer: (text: string) => AsyncIterable<string> = async function* (text) {
    yield 'You asked: ';
    await systemClock.turn();
    yield* [text, '?'];
  };

  agents(): AgentView[] {
    return this.views;
  }
  onChange(changed: () => void): Disposable {
    this.#changed = changed;
    return { [Symbol.dispose]: () => undefined };
  }
  describe({ record }: AgentView): string | undefined {
    return record.role === 'mute' ? undefined : `An agent of role ${record.role}.`;
  }
  ask(agent: string, text: string, signal: AbortSignal): AsyncIterable<string> {
    this.signals.push(signal);
    return this.answer(`${agent} ${text}`);
  }
  set(...views: AgentView[]): void {
    this.views = views;
    this.#changed();
  }
}

function gateway(port: Port, heartbeatMs = 200): Promise<AgentsGateway> {
  return AgentsGateway.open({
    ...{ connection: ours, bus: 'main', version: '1.2.3', port, heartbeatMs },
    ...{ clock: systemClock, trace: noTrace },
  });
}

interface Info {
  id: string;
  metadata: Record<string, string>;
  endpoints: { name: string; subject: string; metadata: Record<string, string> }[];
}

async function infos(tool: NatsConnection): Promise<Info[]> {
  const found: Info[] = [];
  const options = { strategy: 'stall', maxWait: 2_000 } as const;
  for await (const msg of await tool.requestMany('$SRV.INFO.agents', '', options))
    if (msg.data.length > 0) found.push(msg.json());
  return found;
}

test('others find our agents, and ask them by the document alone', async () => {
  const port = new Port();
  port.views = [view('net'), view('mm'), view('deaf', 'mute'), view('gone', 'pgc', 'offline')];
  port.views.push(view('foreign-x', 'foreign'));
  await using _ = await gateway(port);
  const tool = await connect({ servers: server.url });
  try {
    const found = await infos(tool);
    expect(found.map(({ metadata }) => metadata.session).sort()).toEqual(['mm', 'net']);
    expect(found.find(({ metadata }) => metadata.session === 'net')).toMatchObject({
      metadata: {
        ...{ agent: 'sigma', owner: 'main', protocol_version: '0.3', sigma_bus: 'main' },
        ...{ role: 'pgc', alias: 'net-alias', project: 'linux' },
      },
      description: 'An agent of role pgc.',
      endpoints: [
        {
          ...{ name: 'prompt', subject: 'agents.prompt.sigma.main.net', queue_group: 'agents' },
          metadata: { max_payload: '262144B', attachments_ok: 'false' },
        },
        { name: 'status', subject: 'agents.status.sigma.main.net', queue_group: 'agents' },
      ],
    });
    const ack = { said: { type: 'status', data: 'ack' } };
    const said = (data: string): object => ({ said: { type: 'response', data } });
    const answer = [ack, said('You asked: '), said('net where?'), said('?'), {}];
    expect(await asking('net', 'where?')).toEqual(answer);
    expect(await asking('net', '{"prompt":"where?"}')).toEqual(answer);
    const refused = { code: '400', said: { error: 'malformed_payload', retryable: false } };
    expect(await asking('net', '{"text":"where?"}')).toMatchObject([refused, {}]);
  } finally {
    await tool.close();
  }
});

test('our agents beat, tell their status, and come and go', async () => {
  const port = new Port();
  port.views = [view('net')];
  const tool = await connect({ servers: server.url });
  const beats: { instance_id: string; session: string }[] = [];
  tool.subscribe('agents.hb.*.*.*', { callback: (_, msg) => void beats.push(msg.json()) });
  await tool.flush();
  const its = await gateway(port);
  try {
    await eventually(() => expect(beats.length).toBeGreaterThan(2));
    const [info] = await infos(tool);
    const status = (await tool.request('agents.status.sigma.main.net')).json();
    const beat = { agent: 'sigma', owner: 'main', session: 'net', interval_s: 0.2 };
    for (const each of [status, beats[0]])
      expect(each).toEqual({ ...beat, instance_id: info?.id, ts: expect.any(String) as string });
    port.set(view('mm'));
    await eventually(async () =>
      expect((await infos(tool)).map(({ metadata }) => metadata.session)).toEqual(['mm']),
    );
    await expect(tool.request('agents.prompt.sigma.main.net', 'x')).rejects.toThrow();
    // Another description: another instance.
    const [before] = await infos(tool);
    port.set(view('mm', 'critic'));
    await eventually(async () => {
      const [after] = await infos(tool);
      expect(after?.metadata.role).toBe('critic');
      expect(after?.id).not.toBe(before?.id);
    });
  } finally {
    await its[Symbol.asyncDispose]();
    await tool.close();
  }
});

test('an answer that fails or never ends is ended with an error, and its work is told to stop', async () => {
  const port = new Port();
  port.views = [view('net')];
  await using _ = await gateway(port);
  port.answer = async function* () {
    yield 'begun';
    await Promise.resolve();
    throw new BusError('AGENT_OFFLINE', { agent: 'net' });
  };
  const failed = await asking('net', 'x');
  expect(failed.slice(1)).toMatchObject([
    { said: { data: 'begun' } },
    { code: '500', said: { error: 'agent_offline', retryable: true } },
    {},
  ]);
  let isEnded = false;
  port.answer = async function* () {
    try {
      while (true) {
        await systemClock.turn();
        yield 'z'.repeat(gatewayLimits.chunkCharsMax * 2);
      }
    } finally {
      isEnded = true;
    }
  };
  const endless = await asking('net', 'x');
  expect(isEnded).toBe(true);
  expect(endless.slice(-2)).toMatchObject([{ code: '400', said: { error: 'too_large' } }, {}]);
  const sent = endless.length - 3;
  expect(sent * gatewayLimits.chunkCharsMax).toBe(gatewayLimits.answerBytesMax);
});

// --- agents of others for us

function foreign(options: { discoverMs?: number; silenceMs?: number } = {}): ForeignAgents {
  const inboxes = inboxOf('gateway');
  const its = { connection: ours, bus: 'main', inboxes, clock: systemClock, trace: noTrace };
  return new ForeignAgents({ ...its, ...options });
}

async function answerOf(agents: ForeignAgents, name: string, text: string): Promise<string> {
  let all = '';
  for await (const part of agents.ask(name, text, never)) all += part;
  return all;
}

const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'none',
    (error: unknown) => (error as { code: string }).code,
  );

test('foreign agents are found, asked, and gone when they beat no more; ours are not foreign', async () => {
  const port = new Port();
  port.views = [view('net')];
  await using _ = await gateway(port);
  await serving('early', { interval: 1 });
  await using agents = foreign();
  await eventually(() =>
    expect(agents.list().map(({ name }) => name)).toEqual(['foreign-stranger_tests_early']),
  );
  // This one is known by its heartbeat first.
  const late = await serving('late', { interval: 1 });
  const both = ['foreign-stranger_tests_early', 'foreign-stranger_tests_late'];
  await eventually(() => expect(agents.list().map(({ name }) => name)).toEqual(both));
  expect(agents.list()[1]).toMatchObject({
    ...{ agent: 'stranger', owner: 'tests', session: 'late', description: 'A stranger.' },
    ...{ subject: 'agents.prompt.stranger.tests.late', bytesMax: 1024 },
  });
  expect(await answerOf(agents, both[1] ?? '', '{"a":1}')).toBe('You said: {"a":1}!');
  await eventually(() => expect(late.lines.at(-1)).toEqual({ asked: '{"a":1}' }));
  let changes = 0;
  using _watching = agents.onChange(() => (changes += 1));
  late.child.kill('SIGKILL');
  await eventually(() => expect(agents.list().map(({ name }) => name)).toEqual([both[0]]));
  expect(changes).toBeGreaterThan(0);
  expect(await codeOf(answerOf(agents, both[1] ?? '', 'x'))).toBe('UNKNOWN_AGENT');
});

test('an answer of a foreign agent that is none has a code', async () => {
  const its = await serving('odd', { interval: 60 });
  await using agents = foreign({ silenceMs: 500 });
  await eventually(() => expect(agents.list()).toHaveLength(1));
  const name = agents.list()[0]?.name ?? '';
  const codes = {
    ...{ fail: 'AGENT_FAILED', 'ask back': 'AGENT_FAILED', mumble: 'AGENT_FAILED' },
    ...{ flood: 'TOO_LARGE', 'be silent': 'DEADLINE_EXCEEDED', ['x'.repeat(1024)]: 'TOO_LARGE' },
  };
  for (const [text, code] of Object.entries(codes))
    expect([text, await codeOf(answerOf(agents, name, text))]).toEqual([text, code]);
  await expect(answerOf(agents, name, 'fail')).rejects.toThrow('429 too many of you');
  await expect(answerOf(agents, name, 'ask back')).rejects.toThrow('May I?');
  const over = new AbortController();
  const cancelled = codeOf(agents.ask(name, 'be silent', over.signal).next());
  over.abort();
  expect(await cancelled).toBe('CANCELLED');
  its.child.kill('SIGKILL');
  await its.ended;
  expect(await codeOf(answerOf(agents, name, 'x'))).toBe('AGENT_OFFLINE');
});

test('when the servers were away, both sides find each other again', async () => {
  const first = await startNats();
  const options = { servers: first.url, reconnectTimeWait: 100, maxReconnectAttempts: -1 };
  const away = await connect(options);
  const theirs = await connect(options);
  const port = new Port();
  port.views = [view('net')];
  const its = { clock: systemClock, trace: noTrace, bus: 'main', connection: away, port };
  const gate = await AgentsGateway.open({ ...its, version: '1.2.3', heartbeatMs: 200 });
  // To this one they are foreign.
  const agents = new ForeignAgents({
    ...{ ...its, bus: 'other', inboxes: inboxOf('gateway'), connection: theirs },
  });
  try {
    const name = 'foreign-sigma_main_net';
    const isThere = (): void => expect(agents.list().map((each) => each.name)).toEqual([name]);
    await eventually(isThere);
    // Until it was heard once, it counts as there for as long as the protocol says.
    for await (const _ of theirs.subscribe('agents.hb.>', { max: 1 })) await first.kill();
    await eventually(() => expect(agents.list()).toEqual([]));
    // One that comes meanwhile is shown, too.
    port.set(view('net'), view('mm'));
    await first.start();
    await eventually(() => expect(agents.list()).toHaveLength(2));
    expect(await answerOf(agents, name, 'there?')).toBe('You asked: net there??');
  } finally {
    await agents[Symbol.asyncDispose]();
    await gate[Symbol.asyncDispose]();
    await away.close();
    await theirs.close();
    await first[Symbol.asyncDispose]();
  }
});

test('an agent of another version, or whose subject is not of the protocol, is not seen', async () => {
  await serving('old', { version: '0.2', interval: 1 });
  await serving('sly', { prompt: 'sigma.main.in', interval: 1 });
  await serving('wild', { prompt: 'agents.>', interval: 1 });
  await serving('signed', { promptMetadata: { min_sender_trust: 'signed' }, interval: 1 });
  await serving('of-us', { metadata: { sigma_bus: 'main' }, interval: 1 });
  await serving('good', { interval: 1 });
  await using agents = foreign({ discoverMs: 300 });
  await eventually(() => expect(agents.list()).toHaveLength(1));
  // All have answered by the second question.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  expect(agents.list().map(({ session }) => session)).toEqual(['good']);
});

// --- both ends of it on a bus

test('a foreign agent is on our bus: listed, asked by query_agent, and offline when it is gone', async () => {
  // Of all others the gateway alone may take such a name.
  const secret = Buffer.from('a secret of the gateway');
  const keys: TransportHarness['keys'] = {
    proofFor: ({ role }) => (role === 'foreign' ? secret : 'none'),
    secretOf: () => secret,
  };
  const bus = testBus({ ...memoryHarness(), keys });
  await bus.start();
  const its = await serving('pal', { interval: 1 });
  const agents = foreign();
  const bridge = bridgeForeignAgents({
    ...{ foreign: agents, clock: systemClock, trace: noTrace },
    open: (agent) => bus.client(agent, { role: 'foreign' }),
  });
  try {
    const client = await bus.client('asker');
    const listed = async (): Promise<AgentView[]> => client.agents({ role: 'foreign' });
    await eventually(async () => expect(await listed()).toHaveLength(1));
    expect((await listed())[0]).toMatchObject({
      state: 'online',
      record: {
        ...{ id: 'foreign-stranger_tests_pal', role: 'foreign' },
        capabilities: ['foreign', 'agent:stranger', 'owner:tests', 'session:pal', 'no_mail'],
      },
    });
    const asked = (question: string): Promise<string> =>
      textOf(
        dated(queryAgent),
        { agent: 'foreign-stranger_tests_pal', question },
        { bus: askingOver(() => Promise.resolve(client)), signal: never, tell: () => undefined },
      );
    const text = await asked('Where is it?');
    expect(text).toContain('You said: Where is it?!');
    expect(text).toContain('No line of code proves these words');
    expect(await asked('long')).toContain(
      `note: the answer was cut after ${bridgeLimits.answerCharsMax} characters`,
    );
    await expect(asked('fail')).rejects.toThrow('429 too many of you');
    its.child.kill('SIGKILL');
    await eventually(async () =>
      expect((await listed()).map(({ state }) => state)).toEqual(['offline']),
    );
  } finally {
    await bridge[Symbol.asyncDispose]();
    await agents[Symbol.asyncDispose]();
    await bus.close();
  }
});
