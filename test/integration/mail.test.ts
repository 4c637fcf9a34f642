import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { Client } from '../../src/client/client.js';
import { BusError } from '../../src/errors/bus-error.js';
import { ZeromqLink } from '../../src/transport/zeromq.js';
import { recordOf } from '../support/bus.js';
import { sigma, startSigma, type Ran, type Running } from '../support/sigma.js';
import { temporaryFolder } from '../support/temporary.js';

const folder = temporaryFolder();
const home = path.join(folder.path, 'home');
let broker: Running;
let worker: Client;

const run = (...args: string[]): Promise<Ran> => sigma(home, args);
const json = async (...args: string[]): Promise<any> => {
  const ran = await run(...args, '--json');
  expect([ran.code, ran.stderr]).toEqual([0, '']);
  return ran.json;
};

beforeAll(async () => {
  broker = startSigma(home, ['bus', '--log', 'warn']);
  expect((await run('status', '--wait', '20s')).code).toBe(0);
  worker = Client.connect({
    link: new ZeromqLink(`ipc://${path.join(home, 'run/bus.sock')}`),
    identity: { agent: 'worker', role: 'executor', isEphemeral: false },
    clock: systemClock,
    random: Math.random,
  });
  await worker.ready({ withinMs: 10_000 });
  await worker.register(recordOf('worker'));
});
afterAll(async () => {
  await worker.close();
  broker.process.kill('SIGTERM');
  expect(await broker.ended).toBe(0);
  folder.remove();
});

describe('messages from the command line', () => {
  test('are stored, shown without being taken, and taken in order', async () => {
    const first = await json('send', 'worker', 'one');
    const second = await json('send', 'worker', 'two');
    expect(second.seq).toBeGreaterThan(first.seq);
    const inbox = await json('inbox', '--as', 'operator', '--all');
    expect(inbox.messages).toMatchObject([
      { seq: first.seq, from: 'operator', mailbox: 'agent:worker', state: 'waiting' },
      { seq: second.seq },
    ]);
    const bodies: string[] = [];
    for (let at = 0; at < 2; at += 1) {
      const { view, body } = await worker.take({ deadlineMs: 5_000 });
      bodies.push(Buffer.from(body).toString());
      worker.settle([view.seq]);
    }
    expect(bodies).toEqual(['one', 'two']);
    expect((await json('inbox', '--all')).depth).toBe(0);
  });

  test('reach the operator, who takes them one by one', async () => {
    await json('send', 'operator', 'older', '--as', 'ann');
    await json('send', 'operator', 'newer', '--as', 'bob');
    expect((await json('receive', '--from', 'bob')).message).toMatchObject({ body: 'newer' });
    expect((await json('check')).messages).toMatchObject([{ from: 'ann', body: 'older' }]);
    expect((await json('check')).messages).toEqual([]);
    const empty = await run('receive', '--wait', '100ms', '--json');
    expect([empty.code, empty.json.error.code]).toEqual([1, 'INBOX_EMPTY']);
  });

  test('can wait for their answer', async () => {
    await using _receiving = await worker.receive((message) =>
      worker.reply(message, 'answer', Buffer.from('42')).then(() => undefined),
    );
    const sent = await json('send', 'worker', 'what?', '--reply', '10s');
    expect(sent.reply).toEqual({ from: 'worker', body: '42', encoding: 'utf8' });
  });

  test('can wait for an answer of several parts, and are named where none comes in time', async () => {
    {
      await using _receiving = await worker.receive(async (message) => {
        await worker.reply(message, 'answer', Buffer.from('forty-'), 1);
        await worker.reply(message, 'answer', Buffer.from('two'));
      });
      expect((await json('send', 'worker', 'what?', '--reply', '10s')).reply.body).toBe(
        'forty-two',
      );
    }
    const late = await run('send', 'worker', 'and now?', '--reply', '100ms', '--json');
    expect([late.code, late.json.error.code]).toEqual([1, 'INBOX_EMPTY']);
    const { view } = await worker.take({ deadlineMs: 5_000 });
    expect(view.id).toBe(late.json.id);
    worker.settle([view.seq]);
  });

  test('one whose sender is interrupted is there, and is called by its id', async () => {
    const args = ['send', 'worker', 'wait for it', '--reply', '1m', '--id', 'cut-short'];
    const sending = startSigma(home, args);
    const { view } = await worker.take({ deadlineMs: 10_000 });
    worker.settle([view.seq]);
    sending.process.kill('SIGINT');
    expect(await sending.ended).toBe(130);
    expect(sending.output()).toContain('cut-short');
  });

  test('whose names hold control characters are refused, and reasons are shown without them', async () => {
    const refused = await run('send', 'operator', 'x', '--type', 'x\u001b]0;y', '--json');
    expect([refused.code, refused.json.error.code]).toEqual([2, 'INVALID_NAME']);
    const receiving = await worker.receive(() => {
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'a\u001b]0;owned\u0007\nb' });
    });
    const { seq } = await json('send', 'worker', 'x');
    let dead: any[] = [];
    while (dead.length === 0) dead = (await json('dead', 'list')).messages;
    await receiving[Symbol.asyncDispose]();
    // oxlint-disable-next-line no-control-regex
    expect((await run('dead', 'list')).stdout.replaceAll('\n', '')).not.toMatch(/[\u0000-\u001f]/);
    await json('dead', 'purge', String(seq));
  });

  test('sent twice under one id are stored once', async () => {
    const ids = [];
    for (let at = 0; at < 2; at += 1)
      ids.push(await json('send', 'operator', 'once', '--id', 'fixed-1', '--as', 'ann'));
    expect(ids[0]).toEqual(ids[1]);
    expect((await json('check', '--all')).messages).toHaveLength(1);
  });

  test('from standard input keep every byte', async () => {
    const sent = await sigma(home, ['send', 'operator', '-'], { input: 'läuft\n\n' });
    expect(sent.code).toBe(0);
    expect((await json('check')).messages).toMatchObject([{ body: 'läuft\n\n' }]);
    const bytes = Buffer.from([0xef, 0xbb, 0xbf, 0x68, 0x69, 0xff, 0xfe, 0]);
    expect((await sigma(home, ['send', 'operator', '-'], { input: bytes })).code).toBe(0);
    expect((await json('check')).messages).toMatchObject([
      { body: bytes.toString('base64'), encoding: 'base64' },
    ]);
  });

  test('that nobody can handle become dead letters, which are shown, requeued and purged', async () => {
    const receiving = await worker.receive(() => {
      throw new BusError('MALFORMED_PAYLOAD', { detail: 'no idea what this is' });
    });
    const { seq } = await json('send', 'worker', 'riddle');
    let dead: any[] = [];
    while (dead.length === 0) dead = (await json('dead', 'list')).messages;
    await receiving[Symbol.asyncDispose]();
    expect(dead).toMatchObject([{ seq, mailbox: 'agent:worker', from: 'operator' }]);
    expect((await json('dead', 'show', String(seq))).message.body).toBe('riddle');
    expect((await run('dead', 'list')).stdout).toContain('no idea what this is');
    expect((await json('dead', 'requeue', String(seq))).count).toBe(1);
    expect((await json('dead', 'list')).messages).toEqual([]);
    const { view } = await worker.take({ deadlineMs: 5_000 });
    expect(view.seq).toBe(seq);
    worker.settle([seq]);
    await json('send', 'operator', 'short-lived', '--ttl', '1ms');
    while ((await json('dead', 'list')).messages.length === 0);
    expect((await json('dead', 'purge', '--all')).count).toBe(1);
    const again = await run('dead', 'purge', String(seq), '--json');
    expect([again.code, again.json.error.code]).toEqual([1, 'NO_SUCH_MESSAGE']);
  });

  test.each([
    [['send', 'nobody', 'x'], 3, 'UNKNOWN_AGENT'],
    [['send', 'service:none', 'x'], 3, 'NO_RESPONDER'],
    [['send', '../etc', 'x'], 2, 'INVALID_NAME'],
    [['send', 'worker', 'x', '--as', 'worker'], 1, 'UNAUTHORISED'],
    [['receive', '--as', 'worker'], 1, 'UNAUTHORISED'],
    [['receive', '--from', 'nobody'], 3, 'UNKNOWN_AGENT'],
    [['dead', 'show', '999999'], 1, 'NO_SUCH_MESSAGE'],
  ])('sigma %j is refused', async (args, exit, code) => {
    const ran = await run(...args, '--json');
    expect([ran.code, ran.json.error.code]).toEqual([exit, code]);
  });
});
