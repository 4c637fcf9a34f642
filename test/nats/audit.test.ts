import { cpSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Scope } from '../../src/base/scope.js';
import { plainRecord } from '../../src/client/registration.js';
import { loadConfig } from '../../src/config/config.js';
import { auditBackwards, AuditStream } from '../../src/nats/audit-stream.js';
import { connectNats } from '../../src/nats/connect.js';
import type { AuditLine } from '../../src/observe/audit-line.js';
import { auditPieces, tailAudit } from '../../src/observe/audit-reader.js';
import { openClient } from '../../src/remote/open-client.js';
import { eventually } from '../support/eventually.js';
import { startNats, type NatsServer } from '../support/nats-server.js';
import { sigma, startSigma, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
const at = (name: string): string => path.join(folder.path, name);
const keys = at('keys');
const scope = new Scope();
let server: NatsServer;

const environmentOf = (agent: string) => ({
  ...{ SIGMA_IDENTITY: at(`${agent}.json`), SIGMA_BUS: server.url },
});

/** A machine of its own for this broker. */
function lead(agent: string): Running {
  mkdirSync(at(agent), { mode: 0o700 });
  cpSync(path.join(keys, 'bus'), path.join(at(agent), 'bus'), { recursive: true });
  const running = startSigma(at(agent), ['bus', '--log', 'warn'], environmentOf(agent));
  scope.defer(async () => {
    running.process.kill('SIGTERM');
    await running.ended;
  });
  return running;
}

/** Has a client post this to itself. */
async function posted(text: string): Promise<void> {
  const config = loadConfig({
    SIGMA_HOME: at('ann'),
    SIGMA_LOG: 'silent',
    ...environmentOf('ann'),
  });
  const client = openClient(config, { agent: 'ann', role: 'client', isEphemeral: false });
  try {
    await client.ready({ withinMs: 25_000 });
    await client.register(plainRecord('ann', ['client']));
    await client.post('agent:ann', text, Buffer.from(text));
  } finally {
    await client.close();
  }
}

/** What `sigma audit` prints for this agent of what was posted. */
async function told(agent: string, home: string, ...args: string[]) {
  const wanted = ['audit', '--json', '--to', 'ann', ...args];
  const command = startSigma(home, wanted, environmentOf(agent));
  const code = await command.ended;
  const { entries, error } = JSON.parse(command.output()) as {
    entries?: AuditLine[];
    error?: { code: string };
  };
  return { code, error, entries: entries?.map(({ host, type, what }) => [host, type, what]) };
}

describe('the audit log on NATS', () => {
  beforeAll(async () => {
    mkdirSync(keys, { mode: 0o700 });
    const users = ['keys', 'nats', '--out', at('sigma-agents.conf')];
    expect((await sigma(keys, users)).code).toBe(0);
    server = scope.own(
      await startNats(
        `include "../${path.basename(folder.path)}/sigma-agents.conf"\nauthorization { users: $sigma_agents }`,
      ),
    );
    for (const [agent, role] of Object.entries({
      ...{ 'bus-1': 'broker', 'bus-2': 'broker', chief: 'operator', ann: 'client', pgc: 'pgc' },
    })) {
      const args = ['--role', role, '--bus', server.url, '--out', at(`${agent}.json`)];
      expect((await sigma(keys, ['keys', 'add', agent, ...args])).code).toBe(0);
    }
    expect((await sigma(keys, users)).code).toBe(0);
    server.reload();
    await eventually(async () => expect((await told('chief', at('chief'))).code).toBe(0));
  });
  afterAll(async () => {
    await scope[Symbol.asyncDispose]();
    folder.remove();
  });

  test('is of all brokers that led, in order, for operators and brokers', async () => {
    const one = lead('bus-1');
    await posted('first');
    await posted('second');
    one.process.kill('SIGTERM');
    await one.ended;
    lead('bus-2');
    await posted('third');
    const own = ['first', 'second'].map((type) => ['bus-1', type, 'stored']);
    const all = [...own, ['bus-2', 'third', 'stored']];
    await eventually(async () => {
      expect((await told('chief', at('chief'))).entries).toEqual(all);
    });
    expect((await told('chief', at('chief'), '--limit', '2')).entries).toEqual(all.slice(1));
    expect((await told('chief', at('chief'), '--type', 'first')).entries).toEqual(all.slice(0, 1));
    expect((await told('bus-1', at('bus-1'))).entries).toEqual(all);
    expect((await told('bus-1', at('bus-1'), '--local')).entries).toEqual(
      own.map(([, ...rest]) => [undefined, ...rest]),
    );
    const text = startSigma(at('chief'), ['audit', '--to', 'ann'], environmentOf('chief'));
    expect(await text.ended).toBe(0);
    expect(text.output()).toMatch(/LED BY\n.* stored +.* bus-1\n/);
  });

  test.each(['ann', 'pgc'])('is not for %s', async (agent) => {
    expect(await told(agent, at('other'))).toMatchObject({ error: { code: 'NATS_REFUSED' } });
  });

  test('has a mark where servers that were away have missed lines', async () => {
    await using plain = await startNats();
    const access = { servers: [plain.address], isTls: false, bus: 'main', text: plain.url };
    const whose = { ...access, agent: 'bus-1' };
    const connection = await connectNats(whose, { isLasting: true });
    const said: string[] = [];
    const parts = { access: whose, connection, clock: systemClock, bytesMax: 32 * 1024 };
    const stream = new AuditStream({ ...parts, trace: (_, what) => void said.push(what) });
    const line = (type: string, bytes = 0): string =>
      `${JSON.stringify({ at: new Date().toISOString(), what: 'stored', type, body: 'x'.repeat(bytes) })}\n`;
    const lines = async (): Promise<unknown[]> => {
      const found = await tailAudit(auditPieces(auditBackwards(connection, 'main')), {}, 1_000);
      return found.map(({ host, what, type, count }) => [host, what, type ?? count]);
    };
    try {
      stream.append(`${line('a')}${line('b')}`, 2);
      const first = ['a', 'b'].map((type) => ['bus-1', 'stored', type]);
      await eventually(async () => expect(await lines()).toEqual(first));
      await plain.kill();
      // Some of them are more than may wait.
      for (let at = 0; at < 40; at += 1) stream.append(line('c', 1_024), 1);
      await plain.start();
      await eventually(async () => {
        stream.append(line('d'), 1);
        expect((await lines()).at(-1)).toEqual(['bus-1', 'stored', 'd']);
      });
      const all = await lines();
      const kept = all.filter((each) => (each as string[])[2] === 'c').length;
      expect(kept).toBeGreaterThan(20);
      expect(kept).toBeLessThan(32);
      const marked = all.findIndex((each) => (each as string[])[1] === 'lost');
      expect(all[marked]).toEqual(['bus-1', 'lost', 40 - kept]);
      expect(all.slice(0, marked)).toHaveLength(2 + kept);
      await stream[Symbol.asyncDispose]();
      expect(said).toEqual([
        'the audit log is not appended on the bus',
        'the audit log is on the bus again',
        'the audit log on the bus has gaps, its file does not',
      ]);
    } finally {
      await stream[Symbol.asyncDispose]();
      await connection.close();
    }
  });
});
