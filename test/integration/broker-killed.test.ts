import { readSecret } from '../../src/config/keys.js';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { asBusError } from '../../src/errors/bus-error.js';
import { latticeMessages, latticeService } from '../../src/pgc/serve/messages.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { eventually } from '../support/eventually.js';
import { sigma, startProcess, startSigma, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

const shardCount = 10;
const aliases = Array.from({ length: shardCount }, (_, at) => `part${at}`);
const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
const address = `ipc://${path.join(home, 'run/bus.sock')}`;
const root = path.join(folder.path, 'tree');
const running: Running[] = [];

/** Ten shards, each calling the next. */
beforeAll(async () => {
  for (const [at, alias] of aliases.entries()) {
    mkdirSync(path.join(root, alias), { recursive: true });
    const next = `link_${(at + 1) % shardCount}`;
    writeFileSync(
      path.join(root, alias, 'link.c'),
      `int ${next}(int value);\n/** link_${at} - hands the value to the next part of the ring */\nint link_${at}(int value)\n{\n\treturn ${next}(value);\n}\n`,
    );
  }
  const plan = path.join(folder.path, 'plan.json');
  writeFileSync(
    plan,
    JSON.stringify({ shards: aliases.map((alias) => ({ alias, paths: [alias] })) }),
  );
  expect((await sigma(home, ['index', root, '--shards', plan])).code).toBe(0);
});
afterAll(async () => {
  for (const each of running.splice(0)) {
    each.process.kill('SIGTERM');
    await each.ended;
  }
  folder.remove();
});

function start(...args: string[]): Running {
  const its = startSigma(home, [...args, '--log', 'warn']);
  running.push(its);
  return its;
}

test('a killed broker: questions fail with a retryable code, say what is missing or succeed, and everybody is back within five seconds', async () => {
  const first = startProcess(home, ['bus', '--log', 'warn']);
  start('agent', 'pgc', root);
  start('agent', 'manager');
  await using client = Client.connect({
    link: new ZeromqLink(address),
    identity: { agent: 'asker', role: 'client', isEphemeral: true },
    secretOf: () => readSecret(home, 'client'),
    clock: systemClock,
    random: Math.random,
  });
  await client.ready({ withinMs: 20_000 });
  const leaver = Client.connect({
    link: new ZeromqLink(address),
    identity: { agent: 'leaver', role: 'pgc', isEphemeral: false },
    secretOf: () => readSecret(home, 'pgc'),
    clock: systemClock,
    random: Math.random,
  });
  await leaver.ready({ withinMs: 5_000 });
  await leaver.register({
    alias: 'leaver',
    model: '',
    project: 'other',
    scope: [],
    overlays: {},
    capabilities: [],
    protocol_versions: ['1'],
  });
  const online = async (): Promise<string[]> =>
    (await client.agents({ role: 'pgc' }))
      .filter((agent) => agent.state === 'online')
      .map((agent) => agent.record.alias)
      .sort();
  /** The callers found; undefined where the answer says that somebody did not contribute. */
  const ask = async (isIdempotent: boolean): Promise<number | undefined> => {
    const request = latticeMessages.callers.request.encode({ symbol: 'link_3' });
    const reply = await client.request(
      `service:${latticeService}`,
      latticeMessages.callers.type,
      request,
      { deadlineMs: 15_000, isIdempotent },
    );
    const { callers, errors } = latticeMessages.callers.answer.decode(reply.body);
    return errors.length > 0 ? undefined : callers.length;
  };
  await eventually(async () => expect(await online()).toEqual(['leaver', ...aliases]), 20_000);
  await eventually(async () => expect(await ask(true)).toBe(1), 20_000);

  const outcomes = { answered: 0, partial: 0, wrong: 0, failed: new Map<string, boolean>() };
  let isAsking = true;
  const askers = Array.from({ length: 8 }, async (_, at) => {
    while (isAsking) {
      try {
        const found = await ask(at % 2 === 0);
        if (found === undefined) outcomes.partial += 1;
        else if (found === 1) outcomes.answered += 1;
        else outcomes.wrong += 1;
      } catch (error) {
        const { code, retryable } = asBusError(error);
        outcomes.failed.set(code, retryable);
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    }
  });
  await eventually(() => expect(outcomes.answered).toBeGreaterThan(50));

  first.process.kill('SIGKILL');
  await first.ended;
  await leaver.close();
  // While it is down nothing pretends otherwise.
  await eventually(() => expect(client.state).toBe('connecting'));
  await expect(ask(false)).rejects.toMatchObject({ code: 'NO_BROKER', retryable: true });
  const down = await sigma(home, ['agents', '--json']);
  expect([down.code, down.json.error.code]).toEqual([3, 'NO_BROKER']);

  const restartedMs = performance.now();
  start('bus');
  await client.ready({ withinMs: 10_000 });
  await eventually(async () => expect(await online()).toEqual(aliases), 10_000);
  const backMs = performance.now() - restartedMs;
  const states = new Map((await client.agents()).map((agent) => [agent.record.alias, agent.state]));
  expect(states.get('leaver')).toBe('offline');
  expect(states.get('manager')).toBe('online');

  const answeredBefore = outcomes.answered;
  await eventually(() => expect(outcomes.answered).toBeGreaterThan(answeredBefore + 50));
  isAsking = false;
  await Promise.all(askers);
  expect(outcomes.wrong).toBe(0);
  expect([...outcomes.failed.values()].every(Boolean), [...outcomes.failed.keys()].join()).toBe(
    true,
  );
  process.stdout.write(
    `all ${shardCount} agents registered again ${Math.round(backMs)} ms after the restart began; ${outcomes.answered} answers, ${outcomes.partial} that say what is missing; failures seen: ${[...outcomes.failed.keys()].join(', ')}\n`,
  );
}, 90_000);
