import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Trace } from '../../src/base/trace.js';
import { defaultLimits, type BrokerLimits } from '../../src/broker/limits.js';
import { makeFrame, encodeFrame, Command, decodeFrames, type Frame } from '../../src/wire/frame.js';
import {
  agentRecordCodec,
  challengeCodec,
  decodeFailure,
  goodbyeCodec,
  helloCodec,
  offerCodec,
  proofCodec,
  type Hello,
  type PresenceEvent,
} from '../../src/wire/messages.js';
import { proofOf } from '../../src/wire/proof.js';
import { operatorSecret, recordOf, testBus, type TestBus } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import type { TransportHarness } from './transport.js';

/** What broker and client promise each other, whatever carries them. */
export function busContract(
  name: string,
  open: () => TransportHarness,
  /** Every agent has a secret of its own, so that those of roles do not count. */
  hasAgentSecrets = false,
): void {
  describe(`bus contract: ${name}`, () => {
    let bus: TestBus;
    const openBus = async (limits: Partial<BrokerLimits> = {}, trace?: Trace): Promise<TestBus> => {
      bus = testBus(open(), limits, trace);
      await bus.start();
      return bus;
    };
    beforeEach(() => {
      bus = undefined as never;
    });
    afterEach(async () => {
      await (bus as TestBus | undefined)?.close();
    });

    const echo = (body: Buffer): Buffer => Buffer.concat([Buffer.from('echo '), body]);
    const startEcho = async (agent: string, alias = agent): Promise<void> => {
      const worker = await bus.client(agent);
      worker.serve({ echo: ({ body }) => echo(body) });
      await worker.register(recordOf(alias));
      await worker.offer(['test.echo']);
    };

    test('a request is answered by agent id, by alias and by service', async () => {
      await openBus();
      await startEcho('worker-1', 'mm');
      const asker = await bus.client('asker');
      for (const to of ['agent:worker-1', 'agent:mm', 'service:test.echo']) {
        const reply = await asker.request(to, 'echo', Buffer.from(to));
        expect([reply.from, reply.body.toString()]).toEqual(['worker-1', `echo ${to}`]);
      }
    });

    test('five hundred requests at once are each answered once, with their own answer', async () => {
      await openBus();
      await startEcho('worker-1');
      const asker = await bus.client('asker');
      const numbers = Array.from({ length: 500 }, (_, at) => String(at));
      // More than the worker serves at once would be refused BROKER_BUSY, so keep within its limit.
      const answers: string[] = [];
      for (let at = 0; at < numbers.length; at += 200) {
        const window = numbers
          .slice(at, at + 200)
          .map((each) => asker.request('agent:worker-1', 'echo', Buffer.from(each)));
        answers.push(...(await Promise.all(window)).map((reply) => reply.body.toString()));
      }
      expect(answers).toEqual(numbers.map((each) => `echo ${each}`));
    });

    test('a service that several offer is shared among them', async () => {
      await openBus();
      await startEcho('worker-1');
      await startEcho('worker-2');
      const asker = await bus.client('asker');
      const from = new Set<string>();
      for (let at = 0; at < 4; at += 1)
        from.add((await asker.request('service:test.echo', 'echo', Buffer.from('x'))).from);
      expect(from).toEqual(new Set(['worker-1', 'worker-2']));
    });

    test('nobody there is said at once, with the code that tells why', async () => {
      await openBus();
      await startEcho('worker-1', 'mm');
      await startEcho('worker-2', 'twin');
      await startEcho('worker-3', 'twin');
      const gone = await bus.client('gone');
      await gone.register(recordOf('absent'));
      await gone.close();
      const asker = await bus.client('asker');
      const codes = [
        ['service:nobody', 'NO_RESPONDER'],
        ['agent:nobody', 'UNKNOWN_AGENT'],
        ['agent:gone', 'AGENT_OFFLINE'],
        ['agent:absent', 'AGENT_OFFLINE'],
        ['agent:twin', 'AMBIGUOUS_ALIAS'],
        ['agent:../etc', 'INVALID_NAME'],
        ['nonsense', 'INVALID_NAME'],
      ] as const;
      for (const [to, code] of codes) {
        const started = performance.now();
        await expect(
          asker.request(to, 'echo', Buffer.alloc(0), { deadlineMs: 5_000 }),
        ).rejects.toMatchObject({ code });
        expect(performance.now() - started).toBeLessThan(4_000);
      }
      await expect(asker.request('agent:worker-1', 'sing', Buffer.alloc(0))).rejects.toMatchObject({
        code: 'UNKNOWN_TYPE',
      });
    });

    test('a deadline ends a request at both ends', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      let aborted = false;
      worker.serve({
        // An answer at the very deadline may still come in time; this one never answers.
        sleep: ({ signal }) =>
          new Promise<Buffer>(() => signal.addEventListener('abort', () => (aborted = true))),
      });
      const asker = await bus.client('asker');
      await expect(
        asker.request('agent:worker-1', 'sleep', Buffer.alloc(0), { deadlineMs: 100 }),
      ).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', retryable: true });
      await eventually(() => expect(aborted).toBe(true));
      await eventually(async () => expect((await asker.status()).requests_open).toBe(0));
    });

    test('a request can be cancelled', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      const events: string[] = [];
      worker.serve({
        sleep: ({ signal }) =>
          new Promise<Buffer>(() => {
            events.push('begun');
            signal.addEventListener('abort', () => events.push('told to stop'));
          }),
      });
      const asker = await bus.client('asker');
      const abort = new AbortController();
      const asking = asker.request('agent:worker-1', 'sleep', Buffer.alloc(0), {
        signal: abort.signal,
        deadlineMs: 60_000,
      });
      await eventually(() => expect(events).toEqual(['begun']));
      abort.abort();
      await expect(asking).rejects.toMatchObject({ code: 'CANCELLED' });
      await eventually(() => expect(events).toEqual(['begun', 'told to stop']));
      expect((await asker.status()).requests_open).toBe(0);
    });

    test('what a handler throws reaches the requester with its code', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      worker.serve({
        fail: () => {
          throw new Error('disk on fire');
        },
      });
      const asker = await bus.client('asker');
      await expect(asker.request('agent:worker-1', 'fail', Buffer.alloc(0))).rejects.toMatchObject({
        code: 'INTERNAL',
        retryable: false,
      });
    });

    test('a responder that leaves fails its open requests at once', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      let asked = 0;
      worker.serve({
        sleep: () => {
          asked += 1;
          return new Promise<Buffer>(() => undefined);
        },
      });
      const asker = await bus.client('asker');
      const asking = asker.request('agent:worker-1', 'sleep', Buffer.alloc(0), {
        deadlineMs: 20_000,
      });
      const outcome = expect(asking).rejects.toMatchObject({
        code: 'RESPONDER_LOST',
        retryable: true,
      });
      await eventually(() => expect(asked).toBe(1));
      await worker.close();
      await outcome;
    });

    test('what may be delivered twice is asked again of whoever comes back', async () => {
      await openBus();
      const first = await bus.client('worker-2');
      let asked = 0;
      first.serve({
        sleep: () => {
          asked += 1;
          return new Promise<Buffer>(() => undefined);
        },
      });
      await first.offer(['sleeping']);
      const asker = await bus.client('asker');
      const asking = asker.request('service:sleeping', 'sleep', Buffer.alloc(0), {
        ...{ deadlineMs: 20_000, isIdempotent: true },
      });
      await eventually(() => expect(asked).toBe(1));
      await first.close();
      const second = bus.dial('worker-2');
      second.serve({ sleep: () => Buffer.from('awake') });
      await second.ready({ withinMs: 5_000 });
      await second.offer(['sleeping']);
      expect((await asking).body.toString()).toBe('awake');
    });

    test('what may not be delivered twice is not asked again, whoever comes back', async () => {
      await openBus();
      const first = await bus.client('worker-3');
      let asked = 0;
      first.serve({
        sleep: () => {
          asked += 1;
          return new Promise<Buffer>(() => undefined);
        },
      });
      const asker = await bus.client('asker');
      const asking = asker.request('agent:worker-3', 'sleep', Buffer.alloc(0), {
        deadlineMs: 20_000,
      });
      const outcome = expect(asking).rejects.toMatchObject({ code: 'RESPONDER_LOST' });
      await eventually(() => expect(asked).toBe(1));
      await first.close();
      const second = bus.dial('worker-3');
      second.serve({ sleep: () => Buffer.from('awake') });
      await outcome;
    });

    test('who no longer wants an answer does not wait for a lost agent', async () => {
      await openBus();
      const worker = await bus.client('worker-4');
      let asked = 0;
      worker.serve({
        sleep: () => {
          asked += 1;
          return new Promise<Buffer>(() => undefined);
        },
      });
      const asker = await bus.client('asker');
      const enough = new AbortController();
      const asking = asker.request('agent:worker-4', 'sleep', Buffer.alloc(0), {
        ...{ deadlineMs: 20_000, isIdempotent: true, signal: enough.signal },
      });
      const outcome = expect(asking).rejects.toMatchObject({ code: 'CANCELLED' });
      await eventually(() => expect(asked).toBe(1));
      await worker.close();
      enough.abort();
      await outcome;
    });

    test('one request more than a session may have open is refused BROKER_BUSY', async () => {
      await openBus({ requestsPerSessionMax: 3 });
      const worker = await bus.client('worker-1');
      worker.serve({ sleep: () => new Promise<Buffer>(() => undefined) });
      const asker = await bus.client('asker');
      const asking = Array.from({ length: 4 }, () =>
        asker
          .request('agent:worker-1', 'sleep', Buffer.alloc(0), { deadlineMs: 500 })
          .catch((error: unknown) => (error as { code: string }).code),
      );
      expect((await Promise.all(asking)).sort()).toEqual([
        'BROKER_BUSY',
        'DEADLINE_EXCEEDED',
        'DEADLINE_EXCEEDED',
        'DEADLINE_EXCEEDED',
      ]);
    });

    test('agents are listed whether or not they are there, ephemeral ones only while they are', async () => {
      await openBus();
      await startEcho('worker-1', 'mm');
      const passing = await bus.client('passing', { isEphemeral: true });
      await passing.register(recordOf('guest'));
      const asker = await bus.client('asker');
      const listed = async () =>
        (await asker.agents()).map(({ record, state }) => [record.id, record.alias, state]);
      expect(await listed()).toEqual([
        ['passing', 'guest', 'online'],
        ['worker-1', 'mm', 'online'],
      ]);
      const offline = await bus.client('worker-2');
      await offline.register(recordOf('net'));
      await offline.close();
      await passing.close();
      await eventually(async () =>
        expect(await listed()).toEqual([
          ['worker-1', 'mm', 'online'],
          ['worker-2', 'net', 'offline'],
        ]),
      );
    });

    // Two hundred identities with keys of their own would say nothing more about paging.
    test.skipIf(hasAgentSecrets)(
      'more agents than a page holds are all listed, once each',
      async () => {
        await openBus();
        const asker = await bus.client('asker');
        const ids = Array.from({ length: 210 }, (_, at) => `agent-${String(at).padStart(3, '0')}`);
        for (const id of ids)
          await (await bus.client(id, { isEphemeral: true })).register(recordOf('x'));
        expect((await asker.agents()).map(({ record }) => record.id)).toEqual(ids);
      },
    );

    test('a record that is too large, or an alias that is no name, is refused and changes nothing', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      await worker.register(recordOf('mm'));
      await expect(
        worker.register({ ...recordOf('mm'), scope: ['x'.repeat(5_000)] }),
      ).rejects.toMatchObject({ code: 'TOO_LARGE' });
      await expect(worker.register(recordOf('Not A Name'))).rejects.toMatchObject({
        code: 'INVALID_NAME',
      });
      expect((await worker.agents()).map(({ record }) => [record.alias, record.scope])).toEqual([
        ['mm', ['mm']],
      ]);
    });

    test('who sends large bodies is named in the log, once in a while, and served', async () => {
      const told: unknown[] = [];
      await openBus({ bodyBytesSoft: 1_000, largeLogMs: 60_000 }, (_level, what, fields) => {
        if (what.startsWith('a large message')) told.push(fields);
      });
      const worker = await bus.client('worker-1');
      worker.serve({ size: ({ body }) => Buffer.from(String(body.length)) });
      await worker.offer(['test.size']);
      for (const agent of ['one', 'other']) {
        const asker = await bus.client(agent);
        for (const bytes of [1_000, 1_001, 2_000]) {
          const { body } = await asker.request('service:test.size', 'size', Buffer.alloc(bytes));
          expect(body.toString()).toBe(String(bytes));
        }
      }
      expect(told).toEqual([
        { agent: 'one', bytes: 1_001, limit: 1_000 },
        { agent: 'other', bytes: 1_001, limit: 1_000 },
      ]);
    });

    test('presence tells who joined, changed and left', async () => {
      await openBus();
      const watcher = await bus.client('watcher');
      const events: string[] = [];
      watcher.onPresence((event: PresenceEvent) =>
        events.push(`${event.agent.record.id} ${event.change} ${event.agent.state}`),
      );
      // Subscriptions travel apart from requests: repeat until the first one is seen.
      await eventually(async () => {
        await (await bus.client('probe', { isEphemeral: true })).register(recordOf('probe'));
        expect(events.some((event) => event.startsWith('probe updated'))).toBe(true);
      });
      const worker = await bus.client('worker-1');
      await worker.register(recordOf('mm'));
      await worker.close();
      await eventually(() => {
        const its = events.filter((event) => event.startsWith('worker-1'));
        expect(its).toEqual(['worker-1 updated online', 'worker-1 left offline']);
      });
    });

    test('an agent that falls silent is lost, its services with it', async () => {
      await openBus();
      const watcher = await bus.client('watcher');
      const events: string[] = [];
      watcher.onPresence((event: PresenceEvent) =>
        events.push(`${event.agent.record.id} ${event.change}`),
      );
      const { say, heard } = await rawClient(bus);
      await say(hello({ agent: 'mute', heartbeat_ms: 200 }));
      await say(
        makeFrame(
          Command.REGISTER,
          { id: 'r' },
          agentRecordCodec.encode({ ...recordOf('mute'), id: '', role: '' }),
        ),
      );
      await say(
        makeFrame(Command.OFFER, { id: 'o' }, offerCodec.encode({ services: ['test.mute'] })),
      );
      await eventually(() =>
        expect(heard.filter((frame) => frame.command === Command.ACCEPT)).toHaveLength(2),
      );
      const services = async (): Promise<string[]> =>
        (await watcher.status()).services.map(({ name: its }) => its);
      expect(await services()).toEqual(['test.mute']);
      await eventually(async () => expect(await services()).toEqual([]));
      await expect(
        watcher.request('service:test.mute', 'x', Buffer.alloc(0)),
      ).rejects.toMatchObject({ code: 'NO_RESPONDER' });
      await eventually(() => expect(events).toContain('mute lost'));
      await say(makeFrame(Command.PING, { id: '2' }));
      await eventually(() => expect(heard.at(-1)?.command).toBe(Command.RESET));
    });

    test('after a crash of the broker every agent is registered again, and the absent one is listed offline', async () => {
      await openBus();
      await startEcho('worker-1', 'mm');
      await startEcho('worker-2', 'net');
      const leaver = await bus.client('leaver');
      await leaver.register(recordOf('fs'));
      const asker = await bus.client('asker');
      await leaver.close();
      await bus.crash();
      await eventually(() => expect(asker.state).toBe('connecting'));
      await expect(asker.request('agent:mm', 'echo', Buffer.alloc(0))).rejects.toMatchObject({
        code: 'NO_BROKER',
        retryable: true,
      });
      await bus.start();
      await asker.ready({ withinMs: 5_000 });
      await eventually(async () => {
        expect((await asker.agents()).map(({ record, state }) => [record.alias, state])).toEqual([
          ['fs', 'offline'],
          ['mm', 'online'],
          ['net', 'online'],
        ]);
      });
      expect(
        (await asker.request('service:test.echo', 'echo', Buffer.from('x'))).body.toString(),
      ).toBe('echo x');
    });

    test('a request under way in a crash fails with BROKER_LOST, or is asked again when that is harmless', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      let asked = 0;
      worker.serve({
        slow: async () => {
          asked += 1;
          if (asked <= 2) await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
          return Buffer.from('done');
        },
      });
      await worker.register(recordOf('mm'));
      const asker = await bus.client('asker');
      const fragile = expect(
        asker.request('agent:mm', 'slow', Buffer.alloc(0), { deadlineMs: 20_000 }),
      ).rejects.toMatchObject({ code: 'BROKER_LOST', retryable: true });
      const robust = asker
        .request('agent:worker-1', 'slow', Buffer.alloc(0), {
          deadlineMs: 20_000,
          isIdempotent: true,
        })
        // At once: it may fail before anybody waits for it.
        .catch((error: unknown) => error);
      await eventually(() => expect(asked).toBe(2));
      await bus.crash();
      await fragile;
      await bus.start();
      await worker.ready({ withinMs: 5_000 });
      const answer = await robust;
      // The asker may be back before the worker is: then nobody is there yet, which is said and retryable.
      if (answer instanceof Error)
        expect(answer).toMatchObject({ code: 'AGENT_OFFLINE', retryable: true });
      else expect((answer as { body: Buffer }).body.toString()).toBe('done');
    });

    test('a newer process takes over an agent, the older one is told and stays closed', async () => {
      await openBus();
      const older = await bus.client('worker-1');
      await new Promise((resolve) => setTimeout(resolve, 5));
      const newer = await bus.client('worker-1');
      await eventually(() => expect(older.state).toBe('closed'));
      await expect(older.status()).rejects.toMatchObject({ code: 'SUPERSEDED' });
      expect(newer.state).toBe('live');
    });

    test.skipIf(hasAgentSecrets)('a role with a secret must prove itself', async () => {
      await openBus();
      const operator = await bus.client('operator-1', { role: 'operator', secret: operatorSecret });
      expect(operator.state).toBe('live');
      for (const secret of [undefined, Buffer.from('guessed')]) {
        const stranger = bus.dial('operator-1', {
          role: 'operator',
          ...(secret === undefined ? {} : { secret }),
        });
        await expect(stranger.ready({ withinMs: 5_000 })).rejects.toMatchObject({
          code: 'UNAUTHORISED',
        });
      }
      // Who cannot prove a name does not displace its owner either.
      expect(operator.state).toBe('live');
      expect((await operator.status()).sessions).toBe(1);
    });

    test('a plain role cannot take the name of a proven one, there or away', async () => {
      await openBus();
      const boss = await bus.client('boss', { role: 'operator', secret: operatorSecret });
      await boss.register(recordOf('boss'));
      const steal = async (): Promise<void> => {
        const { say, heard } = await rawClient(bus);
        await say(hello({ agent: 'boss', role: 'client', incarnation: Date.now() + 5_000 }));
        await eventually(() => expect(heard).toHaveLength(1));
        expect(decodeFailure(heard[0]!.body).code).toBe('UNAUTHORISED');
      };
      await steal();
      expect(boss.state).toBe('live');
      await boss.close();
      await steal();
      const back = await bus.client('boss', { role: 'operator', secret: operatorSecret });
      expect(back.state).toBe('live');
      // Nor what such a role is called, though nobody of it was ever here.
      const { say, heard } = await rawClient(bus);
      await say(hello({ agent: 'operator', role: 'client' }));
      await eventually(() => expect(heard).toHaveLength(1));
      expect(decodeFailure(heard[0]!.body).code).toBe('UNAUTHORISED');
    });

    test('an incarnation of the far future is refused', async () => {
      await openBus();
      const { say, heard } = await rawClient(bus);
      await say(hello({ agent: 'prophet', incarnation: 2 ** 52 }));
      await eventually(() => expect(heard).toHaveLength(1));
      expect(decodeFailure(heard[0]!.body).code).toBe('MALFORMED_PAYLOAD');
    });

    test.skipIf(hasAgentSecrets)(
      'a greeting that was repeated too early spoils no proof',
      async () => {
        await openBus();
        const incarnation = Date.now();
        const slow = await rawClient(bus);
        const greeting = hello({ agent: 'boss', role: 'operator', incarnation });
        await slow.say(greeting);
        await slow.say(greeting);
        await eventually(() => expect(slow.heard).toHaveLength(2));
        const { nonce } = challengeCodec.decode(slow.heard[0]!.body);
        const hmac = proofOf(operatorSecret, nonce, 'boss', incarnation);
        await slow.say(makeFrame(Command.PROOF, { id: 'p' }, proofCodec.encode({ hmac })));
        await eventually(() => expect(slow.heard.at(-1)?.command).toBe(Command.WELCOME));
      },
    );

    test.skipIf(hasAgentSecrets)('a proof is good for one session only', async () => {
      await openBus();
      const incarnation = Date.now();
      const first = await rawClient(bus);
      await first.say(hello({ agent: 'boss', role: 'operator', incarnation }));
      await eventually(() => expect(first.heard.at(-1)?.command).toBe(Command.CHALLENGE));
      const { nonce } = challengeCodec.decode(first.heard[0]!.body);
      const proof = makeFrame(
        Command.PROOF,
        { id: 'p' },
        proofCodec.encode({ hmac: proofOf(operatorSecret, nonce, 'boss', incarnation) }),
      );
      await first.say(proof);
      await eventually(() => expect(first.heard.at(-1)?.command).toBe(Command.WELCOME));
      const second = await rawClient(bus);
      await second.say(hello({ agent: 'boss', role: 'operator', incarnation }));
      await eventually(() => expect(second.heard.at(-1)?.command).toBe(Command.CHALLENGE));
      await second.say(proof);
      await eventually(() => expect(second.heard.at(-1)?.command).toBe(Command.REJECT));
      await first.say(makeFrame(Command.PING, { id: 'still here' }));
      await eventually(() => expect(first.heard.at(-1)?.command).toBe(Command.PONG));
    });

    test.skipIf(hasAgentSecrets)(
      'a key that is made after the client started still proves its role',
      async () => {
        await openBus();
        const keys: Buffer[] = [];
        const late = bus.dial('late', { role: 'operator', secretOf: () => keys[0] });
        keys.push(operatorSecret);
        await late.ready({ withinMs: 5_000 });
        expect(late.state).toBe('live');
      },
    );

    test('more than the link takes is refused, and the client lives on', async () => {
      // As the product has it: no sign of life overtakes 16 MiB, which a busy machine carries for long.
      await openBus({ heartbeatMsMin: defaultLimits.heartbeatMs });
      const worker = await bus.client('worker-1');
      worker.serve({ take: () => Buffer.from('taken') });
      const asker = await bus.client('asker');
      const large = Buffer.alloc(4 * 1024 * 1024 - 4_096);
      const outcomes = await Promise.all(
        Array.from({ length: 12 }, () =>
          asker.request('agent:worker-1', 'take', large).then(
            () => 'taken',
            (error: unknown) => (error as { code: string }).code,
          ),
        ),
      );
      expect(outcomes).toContain('BROKER_BUSY');
      expect(outcomes).toContain('taken');
      expect(
        (await asker.request('agent:worker-1', 'take', Buffer.from('small'))).body.toString(),
      ).toBe('taken');
    });

    test('a part of tiny frames without end is cut off', async () => {
      await openBus();
      const { say, heard, raw } = await rawClient(bus);
      await say(hello({ agent: 'flooder' }));
      await eventually(() => expect(heard.at(-1)?.command).toBe(Command.WELCOME));
      const ping = encodeFrame(makeFrame(Command.PING, {}));
      await raw(Buffer.concat(Array.from({ length: 5_000 }, () => ping)));
      await eventually(() => expect(heard.at(-1)?.command).toBe(Command.RESET));
      expect(heard.filter((frame) => frame.command === Command.PONG)).toHaveLength(256);
    });

    test('a reply that nobody asked for is refused and reaches nobody', async () => {
      await openBus();
      const victim = await bus.client('victim');
      const { say, heard } = await rawClient(bus);
      const greeting = hello({ agent: 'forger' });
      await say(greeting);
      await say(
        makeFrame(
          Command.SEND,
          { id: '2', to: 'agent:victim', correlation: 'guess', type: 'x.reply' },
          Buffer.from('lie'),
        ),
      );
      await eventually(() => expect(heard.map((frame) => frame.command)).toContain(Command.REJECT));
      const rejected = heard.find((frame) => frame.command === Command.REJECT)!;
      expect([rejected.envelope.correlation, decodeFailure(rejected.body).code]).toEqual([
        '2',
        'UNKNOWN_REQUEST',
      ]);
      expect(victim.state).toBe('live');
    });

    test('the broker stamps who sent a message, and refuses one that claims another sender', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      const senders: string[] = [];
      worker.serve({
        note: ({ from }) => {
          senders.push(from);
          return Buffer.alloc(0);
        },
      });
      const { say, heard } = await rawClient(bus);
      await say(hello({ agent: 'liar' }));
      const note = { to: 'agent:worker-1', type: 'note' };
      await say(makeFrame(Command.SEND, { ...note, id: '2', from: 'manager' }));
      await say(makeFrame(Command.SEND, { ...note, id: '3' }));
      await eventually(() => expect(senders).toEqual(['liar']));
      const rejected = heard.find((frame) => frame.command === Command.REJECT)!;
      expect([rejected.envelope.correlation, decodeFailure(rejected.body).code]).toEqual([
        '2',
        'UNAUTHORISED',
      ]);
    });

    test('corrupt frames are counted and answered, and their sender is served on', async () => {
      await openBus();
      await startEcho('worker-1');
      const { say, heard, raw } = await rawClient(bus);
      await raw(Buffer.from('this is not a frame at all, but long enough to be one'));
      await eventually(() => expect(heard.map((frame) => frame.command)).toEqual([Command.RESET]));
      const greeting = hello({ agent: 'clumsy' });
      await say(greeting);
      const damaged = encodeFrame(
        makeFrame(
          Command.SEND,
          { id: '2', to: 'agent:worker-1', type: 'echo' },
          Buffer.from('hello'),
        ),
      );
      damaged[damaged.length - 1]! ^= 1;
      await raw(damaged);
      await eventually(() => {
        const rejected = heard.find((frame) => frame.command === Command.REJECT);
        expect(
          rejected && [rejected.envelope.correlation, decodeFailure(rejected.body).code],
        ).toEqual(['2', 'FRAME_CORRUPT']);
      });
      await say(makeFrame(Command.PING, { id: '3' }));
      await eventually(() => expect(heard.at(-1)?.command).toBe(Command.PONG));
      const asker = await bus.client('asker');
      expect((await asker.status()).frames_corrupt).toBe(2);
    });

    test('a greeting that cannot be is refused with its code', async () => {
      await openBus({ sessionsMax: 2 });
      const base = {
        agent: 'a',
        role: 'tester',
        incarnation: 1,
        protocol_min: 1,
        protocol_max: 1,
        heartbeat_ms: 5_000,
        ephemeral: true,
        held: [],
        person: '',
        key: Buffer.alloc(0),
      };
      const cases = [
        [{ ...base, agent: '../../etc/passwd' }, 'INVALID_NAME'],
        [{ ...base, role: '' }, 'INVALID_NAME'],
        [{ ...base, protocol_min: 2, protocol_max: 9 }, 'VERSION'],
      ] as const;
      for (const [hello, code] of cases) {
        const { say, heard } = await rawClient(bus);
        await say(makeFrame(Command.HELLO, { id: '1' }, helloCodec.encode(hello)));
        await eventually(() =>
          expect(heard.map((frame) => decodeFailure(frame.body).code)).toEqual([code]),
        );
      }
      await bus.client('one');
      await bus.client('two');
      const third = await rawClient(bus);
      await third.say(makeFrame(Command.HELLO, { id: '1' }, helloCodec.encode(base)));
      await eventually(() =>
        expect(third.heard.map((frame) => decodeFailure(frame.body).code)).toEqual([
          'SESSIONS_FULL',
        ]),
      );
    });

    test('a draining broker lets open requests end, refuses new ones, then says goodbye', async () => {
      await openBus();
      const worker = await bus.client('worker-1');
      let finish: (body: Buffer) => void = () => undefined;
      worker.serve({ slow: () => new Promise<Buffer>((resolve) => (finish = resolve)) });
      const asker = await bus.client('asker');
      const asking = asker.request('agent:worker-1', 'slow', Buffer.alloc(0), {
        deadlineMs: 10_000,
      });
      await eventually(async () => expect((await asker.status()).requests_open).toBe(1));
      const listening = await rawClient(bus);
      await listening.say(hello({ agent: 'listener' }));
      await eventually(() => expect(listening.heard.at(-1)?.command).toBe(Command.WELCOME));
      const stopping = bus.stop();
      await expect(asker.request('agent:worker-1', 'slow', Buffer.alloc(0))).rejects.toMatchObject({
        code: 'BROKER_DRAINING',
        retryable: true,
      });
      finish(Buffer.from('in time'));
      expect((await asking).body.toString()).toBe('in time');
      await stopping;
      await eventually(() => expect(asker.state).not.toBe('live'));
      await eventually(() => expect(listening.heard.at(-1)?.command).toBe(Command.GOODBYE));
      expect(goodbyeCodec.decode(listening.heard.at(-1)!.body).reason).toBe('draining');
    });
  });
}

function hello(fields: Partial<Hello> & { agent: string }): Frame {
  const whole = {
    role: 'tester',
    incarnation: 1,
    protocol_min: 1,
    protocol_max: 1,
    heartbeat_ms: 5_000,
    ephemeral: true,
    held: [],
    person: '',
    key: Buffer.alloc(0),
    ...fields,
  };
  return makeFrame(Command.HELLO, { id: '1' }, helloCodec.encode(whole));
}

/** A peer that speaks frames by hand. */
async function rawClient(bus: TestBus, as = 'anyone') {
  const { keys } = bus.harness;
  const link = bus.harness.dial(as);
  let greeting: Hello | undefined;
  const heard: Frame[] = [];
  let isUp = false;
  link.open({
    onUp: () => (isUp = true),
    onDown: () => undefined,
    onPart: (part) => {
      for (const decoded of decodeFrames(Buffer.from(part))) if (decoded.ok) hear(decoded.frame);
    },
    onPublication: () => undefined,
  });
  await eventually(() => expect(isUp).toBe(true));
  const raw = async (bytes: Buffer): Promise<void> => {
    expect(await link.send(bytes)).toBe('sent');
  };
  /** Where everybody must prove who they are, it does, without being told to. */
  const hear = (frame: Frame): void => {
    if (keys === undefined || frame.command !== Command.CHALLENGE) return void heard.push(frame);
    const { agent = '', role, incarnation = 0 } = greeting ?? {};
    const { nonce } = challengeCodec.decode(frame.body);
    const hmac = proofOf(keys.secretOf(agent, role), nonce, agent, incarnation);
    void say(makeFrame(Command.PROOF, {}, proofCodec.encode({ hmac })));
  };
  const say = async (frame: Frame): Promise<void> => {
    if (frame.command === Command.HELLO) greeting = helloCodec.decode(frame.body);
    const before = heard.length;
    await raw(encodeFrame(frame));
    // What follows is said by somebody who has been let in.
    if (keys !== undefined && frame.command === Command.HELLO)
      await eventually(() => expect(heard.length).toBeGreaterThan(before));
  };
  return { heard, raw, say };
}
