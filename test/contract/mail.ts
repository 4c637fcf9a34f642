import { afterEach, describe, expect, test } from 'vitest';
import type { BrokerLimits } from '../../src/broker/limits.js';
import { Later, type Message } from '../../src/client/inbox.js';
import { BusError } from '../../src/errors/bus-error.js';
import { operatorSecret, recordOf, testBus, type TestBus } from '../support/bus.js';
import { noMail } from '../../src/wire/messages.js';
import { eventually } from '../support/eventually.js';
import type { TransportHarness } from './transport.js';

const text = (each: { body: Buffer }): string => each.body.toString();

/** Durable messages: what was accepted is handled, in order, whatever ends in between. */
export function mailContract(name: string, open: () => TransportHarness): void {
  describe(`mail contract: ${name}`, () => {
    let bus: TestBus | undefined;
    const openBus = async (limits: Partial<BrokerLimits> = {}): Promise<TestBus> => {
      bus = testBus(open(), { retryBackoff: { baseMs: 1, capMs: 20 }, ...limits });
      await bus.start();
      return bus;
    };
    afterEach(async () => {
      await bus?.close();
      bus = undefined;
    });
    const registered = async (agent: string) => {
      const client = await bus!.client(agent);
      await client.register(recordOf(agent));
      return client;
    };
    const operator = () => bus!.client('boss', { role: 'operator', secret: operatorSecret });

    test('a message waits for a recipient that is not there', async () => {
      const at = await openBus();
      await (await registered('worker')).close();
      const sender = await at.client('sender');
      const { seq } = await sender.post('agent:worker', 'work', Buffer.from('one'));
      expect(seq).toBeGreaterThan(0);
      const worker = await at.client('worker');
      const got: Message[] = [];
      await worker.receive((message) => void got.push(message));
      await eventually(() => expect(got.map(text)).toEqual(['one']));
      expect(got[0]).toMatchObject({ seq, from: 'sender', type: 'work', attempt: 1 });
      await eventually(async () => expect((await sender.status()).messages).toBe(0));
    });

    test('what was accepted outlives a crash of the broker, and its order too', async () => {
      const at = await openBus();
      await (await registered('worker')).close();
      const sender = await at.client('sender');
      const numbers = Array.from({ length: 300 }, (_, at) => String(at));
      await Promise.all(numbers.map((each) => sender.post('agent:worker', 'n', Buffer.from(each))));
      await at.crash();
      await at.start();
      const worker = await at.client('worker');
      const got: string[] = [];
      await worker.receive((message) => void got.push(text(message)));
      await eventually(() => expect(got).toEqual(numbers));
    });

    test('a message sent twice under one id is stored once, also over a restart and after it was settled', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const send = () => sender.post('agent:worker', 'x', Buffer.from('once'), { id: 'm-1' });
      const first = await send();
      expect((await send()).seq).toBe(first.seq);
      const got: string[] = [];
      await worker.receive((message) => void got.push(text(message)));
      await eventually(async () => expect((await sender.status()).settled).toBe(1));
      await at.crash();
      await at.start();
      await sender.ready({ withinMs: 5_000 });
      expect((await send()).seq).toBe(first.seq);
      expect((await sender.status()).duplicates).toBe(1);
      expect(got).toEqual(['once']);
    });

    test('a handler that fails gets the message again with the next attempt number, and those behind it after it', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const seen: string[] = [];
      await worker.receive((message) => {
        seen.push(`${text(message)}#${message.attempt}`);
        if (text(message) === 'b' && message.attempt < 3) throw new Error('not today');
      });
      await Promise.all(
        ['a', 'b', 'c', 'd'].map((each) => sender.post('agent:worker', 'x', Buffer.from(each))),
      );
      await eventually(() => expect(seen).toEqual(['a#1', 'b#1', 'b#2', 'b#3', 'c#1', 'd#1']));
    });

    test('different order keys do not wait for each other', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const seen: string[] = [];
      let release = (): void => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      await worker.receive(async (message) => {
        if (text(message) === 'slow') await gate;
        seen.push(text(message));
      });
      await sender.post('agent:worker', 'x', Buffer.from('slow'), { orderKey: 'one' });
      await sender.post('agent:worker', 'x', Buffer.from('behind'), { orderKey: 'one' });
      await sender.post('agent:worker', 'x', Buffer.from('free'), { orderKey: 'two' });
      await eventually(() => expect(seen).toEqual(['free']));
      release();
      await eventually(() => expect(seen).toEqual(['free', 'slow', 'behind']));
    });

    test('too many failures make a dead letter, which can be seen, requeued and purged', async () => {
      const at = await openBus({ attemptsMax: 3 });
      const worker = await registered('worker');
      const sender = await at.client('sender');
      let isWell = false;
      const seen: string[] = [];
      await worker.receive((message) => {
        seen.push(text(message));
        if (!isWell) throw new Error('poison');
      });
      await sender.post('agent:worker', 'x', Buffer.from('bad'));
      const boss = await operator();
      await eventually(async () =>
        expect((await boss.mail.dead({ mailbox: '*' })).messages).toMatchObject([
          { from: 'sender', mailbox: 'agent:worker', attempts: 3, state: 'dead' },
        ]),
      );
      const [dead] = (await boss.mail.dead({ mailbox: '*' })).messages;
      expect(dead?.reason).toContain('poison');
      expect(text((await boss.mail.message({ seq: dead!.seq })) as never)).toBe('bad');
      await at.crash();
      await at.start();
      await boss.ready({ withinMs: 5_000 });
      expect((await boss.status()).dead_letters).toBe(1);
      isWell = true;
      expect(await boss.mail.requeue('*')).toBe(1);
      await eventually(async () => expect((await boss.status()).messages).toBe(0));
      expect(seen).toEqual(['bad', 'bad', 'bad', 'bad']);
      await expect(boss.mail.requeue('*', [dead!.seq])).rejects.toMatchObject({
        code: 'NO_SUCH_MESSAGE',
      });
    });

    test('an error that trying again does not help makes a dead letter at once, and the next is handled', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const seen: string[] = [];
      await worker.receive((message) => {
        seen.push(text(message));
        if (text(message) === 'bad') throw new BusError('MALFORMED_PAYLOAD', { detail: 'x' });
      });
      await sender.post('agent:worker', 'x', Buffer.from('bad'));
      await sender.post('agent:worker', 'x', Buffer.from('good'));
      await eventually(() => expect(seen).toEqual(['bad', 'good']));
      await eventually(async () => expect((await sender.status()).dead_letters).toBe(1));
      const boss = await operator();
      expect(await boss.mail.purgeDead('agent:worker')).toBe(1);
      expect((await boss.status()).dead_letters).toBe(0);
    });

    test('a handler can put a message off', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const runs: { attempt: number; atMs: number }[] = [];
      await worker.receive(({ attempt }) => {
        runs.push({ attempt, atMs: performance.now() });
        if (attempt === 1) throw new Later(400);
      });
      await sender.post('agent:worker', 'x', Buffer.from('later'));
      await eventually(() => expect(runs.map(({ attempt }) => attempt)).toEqual([1, 2]));
      // Timers may be early by a millisecond or two, never by hundreds.
      expect(runs[1]!.atMs - runs[0]!.atMs).toBeGreaterThan(390);
    });

    test('a delayed message comes after its time, over a restart, and does not hold up others', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const postedMs = performance.now();
      await sender.post('agent:worker', 'x', Buffer.from('late'), { delayMs: 1_500 });
      await sender.post('agent:worker', 'x', Buffer.from('now'));
      const seen: string[] = [];
      await worker.receive((message) => void seen.push(text(message)));
      await eventually(() => expect(seen).toEqual(['now']));
      await at.crash();
      await at.start();
      await eventually(() => expect(seen).toEqual(['now', 'late']));
      expect(performance.now() - postedMs).toBeGreaterThan(1_490);
    });

    test('a message that nobody takes in its time becomes a dead letter', async () => {
      const at = await openBus();
      await registered('worker');
      const sender = await at.client('sender');
      await sender.post('agent:worker', 'x', Buffer.from('stale'), { ttlMs: 100 });
      const boss = await operator();
      await eventually(async () =>
        expect((await boss.mail.dead({ mailbox: '*' })).messages).toMatchObject([
          { reason: 'EXPIRED' },
        ]),
      );
    });

    test('a full mailbox refuses, and takes again when there is room', async () => {
      const at = await openBus({ mailboxMessagesMax: 2 });
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const post = () => sender.post('agent:worker', 'x', Buffer.from('x'));
      await Promise.all([post(), post()]);
      await expect(post()).rejects.toMatchObject({ code: 'INBOX_FULL', retryable: true });
      await worker.receive(() => undefined);
      await eventually(async () => expect((await sender.status()).messages).toBe(0));
      await post();
    });

    test('who is not known has no mailbox, and who leaves without a trace neither', async () => {
      const at = await openBus();
      await at.client('guest', { isEphemeral: true });
      const sender = await at.client('sender');
      const cases = [
        ['agent:nobody', 'UNKNOWN_AGENT'],
        ['agent:guest', 'NO_MAILBOX'],
        ['service:nothing', 'NO_RESPONDER'],
        ['reply:sender', 'UNKNOWN_REQUEST'],
        ['topic:a.b', 'INVALID_NAME'],
      ] as const;
      for (const [to, code] of cases)
        await expect(sender.post(to, 'x', Buffer.from('x'))).rejects.toMatchObject({ code });
    });

    test('an agent that reads no mail gets none, and what was taken for it before is told', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      await sender.post('agent:worker', 'x', Buffer.from('early'));
      await worker.register({ ...recordOf('worker'), capabilities: [noMail] });
      await expect(sender.post('agent:worker', 'x', Buffer.from('late'))).rejects.toMatchObject({
        ...{ code: 'NO_MAILBOX', retryable: false },
      });
      const boss = await operator();
      expect((await boss.mail.dead({ mailbox: '*' })).messages).toMatchObject([
        { mailbox: 'agent:worker', reason: 'NO_MAILBOX' },
      ]);
      await worker.close();
      await at.crash();
      await at.start();
      await sender.ready({ withinMs: 5_000 });
      const late = sender.post('agent:worker', 'x', Buffer.from('later'));
      await expect(late).rejects.toMatchObject({ code: 'NO_MAILBOX' });
    });

    test('a durable request is answered after its requester has left, and collected by its next process', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const asker = await registered('asker');
      const { id } = await asker.post('agent:worker', 'sum', Buffer.from('1+1'), {
        wantsReply: true,
      });
      await asker.close();
      await worker.receive(async (message) => {
        await worker.reply(message, 'sum.reply', Buffer.from('2'));
      });
      await eventually(async () =>
        expect((await worker.mail.mailboxes()).map((each) => each.mailbox)).toEqual([
          'reply:asker',
        ]),
      );
      const again = await at.client('asker');
      const reply = await again.collect(id, { deadlineMs: 5_000 });
      expect([reply.from, text(reply), reply.isMore]).toEqual(['worker', '2', false]);
      await eventually(async () => expect((await worker.status()).messages).toBe(0));
    });

    test('whoever waits for a durable reply gets it when it comes', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const asker = await registered('asker');
      await expect(asker.collect('never', { deadlineMs: 50 })).rejects.toMatchObject({
        code: 'INBOX_EMPTY',
      });
      const { id } = await asker.post('agent:worker', 'x', Buffer.from('q'), { wantsReply: true });
      const collecting = asker.collect(id, { deadlineMs: 5_000 });
      await worker.receive((message) =>
        worker.reply(message, 'x.reply', Buffer.from('a')).then(() => undefined),
      );
      expect(text(await collecting)).toBe('a');
      expect(at).toBeDefined();
    });

    test('the messages of a service are shared among those who offer it, each given once', async () => {
      const at = await openBus();
      const seen: string[] = [];
      for (const agent of ['one', 'two']) {
        const worker = await registered(agent);
        await worker.offer(['work.pool']);
        await worker.receive(
          async (message) => {
            await new Promise((resolve) => setTimeout(resolve, 1));
            seen.push(`${agent}:${text(message)}`);
          },
          { mailbox: 'service:work.pool', messages: 1 },
        );
      }
      const sender = await at.client('sender');
      const numbers = Array.from({ length: 20 }, (_, at) => String(at));
      await Promise.all(
        numbers.map((each) =>
          sender.post('service:work.pool', 'x', Buffer.from(each), { orderKey: each }),
        ),
      );
      await eventually(() => expect(seen).toHaveLength(20));
      expect(new Set(seen.map((each) => each.split(':')[1]))).toEqual(new Set(numbers));
      expect(new Set(seen.map((each) => each.split(':')[0]))).toEqual(new Set(['one', 'two']));
    });

    test('a receiver that is stuck holds up nobody else', async () => {
      const at = await openBus();
      const stuck = await registered('stuck');
      const brisk = await registered('brisk');
      const sender = await at.client('sender');
      await stuck.receive(() => new Promise(() => undefined));
      const seen: string[] = [];
      await brisk.receive((message) => void seen.push(text(message)));
      const numbers = Array.from({ length: 200 }, (_, at) => String(at));
      await Promise.all(
        numbers.flatMap((each) => [
          sender.post('agent:stuck', 'x', Buffer.from(each)),
          sender.post('agent:brisk', 'x', Buffer.from(each)),
        ]),
      );
      await eventually(() => expect(seen).toEqual(numbers));
    });

    test('no more than the credit is unsettled at once', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      await worker.receive(() => new Promise(() => undefined), { messages: 5 });
      for (let at = 0; at < 20; at += 1)
        await sender.post('agent:worker', 'x', Buffer.from('x'), { orderKey: String(at) });
      await eventually(async () => expect((await sender.status()).leases).toBe(5));
    });

    test('what an agent works on stays its own when the broker is killed', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const attempts: number[] = [];
      let release = (): void => undefined;
      const gate = new Promise<void>((resolve) => (release = resolve));
      await worker.receive(async (message) => {
        attempts.push(message.attempt);
        await gate;
      });
      await sender.post('agent:worker', 'x', Buffer.from('long'));
      await eventually(() => expect(attempts).toEqual([1]));
      await at.crash();
      await at.start();
      await eventually(async () => expect((await sender.status()).leases).toBe(1));
      release();
      await eventually(async () => expect((await sender.status()).messages).toBe(0));
      expect(attempts).toEqual([1]);
    });

    test('a lease that is not renewed is lost, though its holder is there, and the message delivered again', async () => {
      const at = await openBus({ leaseMs: 300 });
      const worker = await registered('worker');
      const sender = await at.client('sender');
      await sender.post('agent:worker', 'x', Buffer.from('x'));
      // Taken by hand: nobody says that it is worked on.
      const { view } = await worker.take({ deadlineMs: 1_000 });
      const boss = await operator();
      const seen = async () => (await boss.mail.message({ seq: view.seq })).view;
      expect(await seen()).toMatchObject({ state: 'leased', attempts: 0 });
      await eventually(async () =>
        expect(await seen()).toMatchObject({
          state: 'waiting',
          attempts: 1,
          reason: 'LEASE_EXPIRED',
        }),
      );
      const again = await worker.take({ deadlineMs: 1_000 });
      expect([again.view.seq, again.view.attempts]).toEqual([view.seq, 1]);
    });

    test('a wait for a message that was given up takes none', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const abort = new AbortController();
      const given = worker.take({ deadlineMs: 5_000, signal: abort.signal });
      // The broker has it by then: what one session says is handled in order.
      await worker.status();
      abort.abort();
      await expect(given).rejects.toMatchObject({ code: 'CANCELLED' });
      await expect(worker.take({ deadlineMs: 5_000, signal: abort.signal })).rejects.toMatchObject({
        code: 'CANCELLED',
      });
      const { seq } = await sender.post('agent:worker', 'x', Buffer.from('x'));
      expect((await sender.status()).leases).toBe(0);
      expect((await worker.take({ deadlineMs: 1_000 })).view).toMatchObject({ seq, attempts: 0 });
    });

    test('only whoever was asked may answer, and nobody is called like somebody else', async () => {
      const at = await openBus();
      await registered('dora');
      const carl = await registered('carl');
      const eve = await at.client('eve', { role: 'client' });
      const { id } = await carl.post('agent:dora', 'x', Buffer.alloc(0), { wantsReply: true });
      await expect(
        eve.post('reply:carl', 'x', Buffer.from('forged'), { correlation: id }),
      ).rejects.toMatchObject({ code: 'UNAUTHORISED' });
      for (const alias of ['dora', 'carl', 'operator'])
        await expect(eve.register(recordOf(alias))).rejects.toMatchObject({ code: 'ALIAS_TAKEN' });
      await eve.register(recordOf('eve'));
      // Nor by its id, later, who is known by its alias; but whoever proves an id has been given it.
      if (at.harness.keys !== undefined) return;
      await (await at.client('net-1')).register(recordOf('net'));
      const refused = at.dial('net', { role: 'client' });
      await expect(refused.ready({ withinMs: 5_000 })).rejects.toMatchObject({
        code: 'UNAUTHORISED',
      });
    });

    test('an answer may be answered', async () => {
      await openBus();
      const [anna, ben] = [await registered('anna'), await registered('ben')];
      const { id } = await anna.post('agent:ben', 'x', Buffer.alloc(0), { wantsReply: true });
      const options = { correlation: id, wantsReply: true };
      const reply = await ben.post('reply:anna', 'x', Buffer.alloc(0), options);
      await anna.post('reply:ben', 'x', Buffer.from('fine'), { correlation: reply.id });
      const { body } = await ben.collect(reply.id, { deadlineMs: 1_000 });
      expect(body.toString()).toBe('fine');
    });

    test('an agent that was stored stays, though a guest of its name came and went', async () => {
      const at = await openBus();
      await (await registered('worker')).close();
      const guest = await at.client('worker', { isEphemeral: true });
      await guest.register(recordOf('worker'));
      await guest.close();
      const sender = await at.client('sender');
      await eventually(async () =>
        expect((await sender.agents()).map(({ record, state }) => [record.id, state])).toEqual([
          ['worker', 'offline'],
        ]),
      );
      await sender.post('agent:worker', 'x', Buffer.alloc(0));
    });

    test('a dead letter cannot be taken back by its sender', async () => {
      const at = await openBus();
      await registered('worker');
      const sender = await at.client('sender');
      const { id } = await sender.post('agent:worker', 'x', Buffer.alloc(0), { ttlMs: 1 });
      await eventually(async () => expect((await sender.status()).dead_letters).toBe(1));
      await expect(sender.cancel(id)).rejects.toMatchObject({ code: 'UNKNOWN_REQUEST' });
      expect((await sender.status()).dead_letters).toBe(1);
    });

    test.each([{ correlation: 'x'.repeat(201) }, { id: 'a\u001b[2J' }, { orderKey: 'a\nb' }])(
      'a message that is called %j is refused',
      async (options) => {
        await openBus();
        const worker = await registered('worker');
        await expect(
          worker.post('agent:worker', 'x', Buffer.alloc(0), options),
        ).rejects.toMatchObject({ code: 'INVALID_NAME' });
      },
    );

    test('a lease ends with its session, and the message is delivered again as the next attempt', async () => {
      const at = await openBus();
      await (await registered('worker')).close();
      const sender = await at.client('sender');
      await sender.post('agent:worker', 'x', Buffer.from('x'));
      const first = await at.client('worker');
      await first.receive(() => new Promise(() => undefined));
      await eventually(async () => expect((await sender.status()).leases).toBe(1));
      await first.close();
      const second = await at.client('worker');
      const attempts: number[] = [];
      await second.receive((message) => void attempts.push(message.attempt));
      await eventually(() => expect(attempts).toEqual([2]));
    });

    test('a message that waits can be taken back, one that is worked on is told so', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const waiting = await sender.post('agent:worker', 'x', Buffer.from('waiting'));
      await sender.cancel(waiting.id);
      expect((await sender.status()).messages).toBe(0);
      await expect(sender.cancel('unknown')).rejects.toMatchObject({ code: 'UNKNOWN_REQUEST' });
      let aborted = false;
      await worker.receive(
        (message) =>
          new Promise((resolve) =>
            message.signal.addEventListener('abort', () => {
              aborted = true;
              resolve();
            }),
          ),
      );
      const running = await sender.post('agent:worker', 'x', Buffer.from('running'));
      await eventually(async () => expect((await sender.status()).leases).toBe(1));
      await sender.cancel(running.id);
      await eventually(() => expect(aborted).toBe(true));
    });

    test('an operator looks into any mailbox, another agent only into its own', async () => {
      const at = await openBus();
      await registered('worker');
      const sender = await at.client('sender');
      await sender.post('agent:worker', 'secret', Buffer.from('for worker only'));
      const stranger = await at.client('stranger');
      const refused = { code: 'UNAUTHORISED' };
      await expect(stranger.mail.inbox({ mailbox: 'agent:worker' })).rejects.toMatchObject(refused);
      await expect(stranger.mail.inbox({ mailbox: '*' })).rejects.toMatchObject(refused);
      await expect(stranger.mail.purgeInbox('*')).rejects.toMatchObject(refused);
      await expect(stranger.mail.message({ seq: 1 })).rejects.toMatchObject({
        code: 'NO_SUCH_MESSAGE',
      });
      await expect(
        stranger.receive(() => undefined, { mailbox: 'agent:worker' }),
      ).rejects.toMatchObject(refused);
      await expect(
        stranger.post('agent:worker', 'x', Buffer.from('x'), { from: 'sender' }),
      ).rejects.toMatchObject(refused);
      const boss = await operator();
      expect((await boss.mail.inbox({ mailbox: '*' })).messages).toMatchObject([
        { mailbox: 'agent:worker', from: 'sender', state: 'waiting' },
      ]);
      expect((await boss.status()).refused.UNAUTHORISED).toBeGreaterThanOrEqual(5);
    });

    test('messages are taken one by one, the oldest first unless told otherwise, from whom is wanted', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const [one, two] = [await at.client('one'), await at.client('two')];
      for (const each of ['a', 'b', 'c']) await one.post('agent:worker', 'x', Buffer.from(each));
      await two.post('agent:worker', 'x', Buffer.from('d'));
      const take = async (want: object) => {
        const { view, body } = await worker.take({ deadlineMs: 0, ...want });
        worker.settle([view.seq]);
        return Buffer.from(body).toString();
      };
      expect(await take({ from: 'two' })).toBe('d');
      expect(await take({ lifo: true })).toBe('c');
      expect(await take({})).toBe('a');
      expect(await take({})).toBe('b');
      await expect(take({})).rejects.toMatchObject({ code: 'INBOX_EMPTY' });
    });

    test('whoever waits for a message gets it when it comes, and hears when its sender is gone', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const taking = worker.take({ deadlineMs: 5_000 });
      await sender.post('agent:worker', 'x', Buffer.from('late'));
      expect(text((await taking) as never)).toBe('late');
      const waiting = worker.take({ deadlineMs: 5_000, from: 'sender' });
      const lost = expect(waiting).rejects.toMatchObject({ code: 'RESPONDER_LOST' });
      await eventually(async () => expect((await worker.status()).messages).toBe(1));
      await sender.close();
      await lost;
      await expect(worker.take({ deadlineMs: 5_000, from: 'nobody' })).rejects.toMatchObject({
        code: 'UNKNOWN_AGENT',
      });
    });

    test('a message that was taken and not settled is given out again when its taker is gone', async () => {
      const at = await openBus();
      const worker = await registered('worker');
      const sender = await at.client('sender');
      await sender.post('agent:worker', 'x', Buffer.from('x'));
      await worker.take({ deadlineMs: 0 });
      await expect(worker.take({ deadlineMs: 0 })).rejects.toMatchObject({ code: 'INBOX_EMPTY' });
      await worker.close();
      const again = await at.client('worker');
      expect((await again.take({ deadlineMs: 5_000 })).view.attempts).toBe(1);
    });

    test('an inbox is paged in the order of acceptance', async () => {
      const at = await openBus();
      await registered('worker');
      const sender = await at.client('sender');
      for (let at = 0; at < 7; at += 1)
        await sender.post('agent:worker', 'x', Buffer.from(String(at)));
      const boss = await operator();
      const pages: number[] = [];
      let after = 0;
      do {
        const page = await boss.mail.inbox({ mailbox: 'agent:worker', after, limit: 3 });
        pages.push(page.messages.length);
        expect(page.depth).toBe(7);
        after = page.next;
      } while (after > 0);
      expect(pages).toEqual([3, 3, 1]);
    });

    test('bodies that memory does not hold are read from disk, in order', async () => {
      const at = await openBus({ frameCacheBytesMax: 0 });
      const worker = await registered('worker');
      const sender = await at.client('sender');
      const numbers = Array.from({ length: 600 }, (_, at) => String(at));
      await Promise.all(numbers.map((each) => sender.post('agent:worker', 'n', Buffer.from(each))));
      const got: string[] = [];
      await worker.receive((message) => void got.push(text(message)));
      await eventually(() => expect(got).toEqual(numbers));
    });
  });
}
