import { randomBytes } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { noTrace } from '../../src/base/trace.js';
import { Blobs, type BlobsParts } from '../../src/client/blobs.js';
import type { Client } from '../../src/client/client.js';
import { blobRangeCodec } from '../../src/wire/messages.js';
import { recordOf, testBus, type TestBus } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import type { TransportHarness } from './transport.js';

const mib = 1024 * 1024;

/** Progress, blobs and fan-in: what agents share beyond one reply, whatever carries it. */
export function blobsContract(name: string, open: () => TransportHarness): void {
  describe(`blobs contract: ${name}`, () => {
    let bus: TestBus;
    const openBus = async (): Promise<void> => {
      bus = testBus(open());
      await bus.start();
    };
    afterEach(async () => {
      await bus.close();
    });

    const blobsOf = (client: Client, more: Partial<BlobsParts> = {}): Blobs =>
      new Blobs({
        client,
        agent: client.identity.agent,
        clock: systemClock,
        random: Math.random,
        trace: noTrace,
        ...more,
      });
    const registered = async (agent: string): Promise<Client> => {
      const client = await bus.client(agent);
      await client.register(recordOf(agent));
      return client;
    };
    const deadlineMs = 20_000;

    test('a reply that is larger than a frame arrives all the same', async () => {
      await openBus();
      const large = randomBytes(9 * mib);
      (await bus.client('worker')).serve({ all: () => large });
      const asker = await bus.client('asker');
      const reply = await asker.request('agent:worker', 'all', Buffer.alloc(0), { deadlineMs });
      expect([reply.type, reply.body.equals(large)]).toEqual(['all.reply', true]);
    });

    test('partial replies arrive in order before the last one', async () => {
      await openBus();
      (await bus.client('worker')).serve({
        count: (request) => {
          for (const each of ['1', '2', '3']) request.progress(Buffer.from(each));
          return Buffer.from('done');
        },
      });
      const parts: string[] = [];
      const reply = await (
        await bus.client('asker')
      ).request('agent:worker', 'count', Buffer.alloc(0), {
        onPartial: (part) => parts.push(part.toString()),
      });
      expect([...parts, reply.body.toString()]).toEqual(['1', '2', '3', 'done']);
    });

    test.each([0, 1, 256 * 1024, mib, mib + 1, 10 * mib])(
      'a blob of %i bytes arrives as it was offered',
      async (bytes) => {
        await openBus();
        const content = randomBytes(bytes);
        const owner = blobsOf(await registered('owner'));
        const reader = blobsOf(await bus.client('reader'));
        const ref = await owner.offer(content);
        expect(ref).toMatchObject({ bytes, owner: 'owner' });
        expect((await reader.fetch(ref, { deadlineMs })).equals(content)).toBe(true);
      },
    );

    test('the oldest offers are forgotten at the limit', async () => {
      await openBus();
      const owner = blobsOf(await registered('owner'), { limits: { offeredBytesMax: 2_500 } });
      const first = await owner.offer(randomBytes(1_000));
      const second = await owner.offer(randomBytes(1_000));
      const third = await owner.offer(randomBytes(1_000));
      const reader = blobsOf(await bus.client('reader'));
      await expect(reader.fetch(first, { deadlineMs })).rejects.toMatchObject({
        code: 'BLOB_MISSING',
      });
      for (const ref of [second, third])
        expect(await reader.fetch(ref, { deadlineMs })).toHaveLength(ref.bytes);
      await expect(owner.offer(randomBytes(3_000))).rejects.toMatchObject({ code: 'TOO_LARGE' });
    });

    test('content that is not what its name says is refused', async () => {
      await openBus();
      const owner = blobsOf(await registered('owner'));
      const content = randomBytes(5_000);
      const changed = await owner.offer(content);
      content.fill(0);
      const reader = blobsOf(await bus.client('reader'));
      await expect(reader.fetch(changed, { deadlineMs })).rejects.toMatchObject({
        code: 'BLOB_CORRUPT',
      });
      owner.withdraw(changed.sha256);
      await expect(reader.fetch(changed, { deadlineMs })).rejects.toMatchObject({
        code: 'BLOB_MISSING',
      });
    });

    test('an owner that sends more than was asked for is refused', async () => {
      await openBus();
      const liar = await registered('liar');
      liar.serve({
        'blob.get': (request) => {
          request.progress(Buffer.alloc(blobRangeCodec.decode(request.body).length + 1));
          return Buffer.alloc(0);
        },
      });
      const ref = { sha256: 'a'.repeat(64), bytes: 100, owner: 'liar' };
      await expect(
        blobsOf(await bus.client('reader')).fetch(ref, { deadlineMs }),
      ).rejects.toMatchObject({ code: 'BLOB_CORRUPT' });
    });

    test('an owner nobody knows, a reference that is none, and too large a blob fail at once', async () => {
      await openBus();
      const reader = blobsOf(await bus.client('reader'), { limits: { bytesMax: 1_000 } });
      const ref = { sha256: 'a'.repeat(64), bytes: 100, owner: 'nobody' };
      await expect(reader.fetch(ref, { deadlineMs })).rejects.toMatchObject({
        code: 'UNKNOWN_AGENT',
      });
      await expect(
        reader.fetch({ ...ref, sha256: '../../etc/passwd' }, { deadlineMs }),
      ).rejects.toMatchObject({ code: 'MALFORMED_PAYLOAD' });
      await expect(reader.fetch({ ...ref, bytes: 1_001 }, { deadlineMs })).rejects.toMatchObject({
        code: 'TOO_LARGE',
      });
    });

    test('a fetch goes on where it broke off when its owner comes back', async () => {
      await openBus();
      const content = randomBytes(3 * mib);
      const asked: number[] = [];
      const owner = await registered('owner');
      const ref = await blobsOf(owner).offer(content);
      owner.serve({
        'blob.get': async (request) => {
          const { offset } = blobRangeCodec.decode(request.body);
          asked.push(offset);
          if (offset < mib) return content.subarray(0, mib);
          // Half of this range gets out.
          request.progress(content.subarray(mib, mib + 1_000));
          await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
          return Buffer.alloc(0);
        },
      });
      const fetching = blobsOf(await bus.client('reader')).fetch(ref, { deadlineMs });
      await eventually(() => expect(asked).toEqual([0, mib]));
      await owner.close();
      const again = await bus.client('owner');
      await blobsOf(again).offer(content);
      const askedAgain: number[] = [];
      again.serve({
        'blob.get': ({ body }) => {
          const { offset, length } = blobRangeCodec.decode(body);
          askedAgain.push(offset);
          return content.subarray(offset, offset + length);
        },
      });
      expect((await fetching).equals(content)).toBe(true);
      expect(askedAgain[0]).toBe(mib + 1_000);
    });

    test('a fetch can be cancelled, and ends at its deadline', async () => {
      await openBus();
      (await registered('owner')).serve({ 'blob.get': () => new Promise<Buffer>(() => undefined) });
      const reader = blobsOf(await bus.client('reader'), { limits: { fetchesMax: 1 } });
      const ref = { sha256: 'a'.repeat(64), bytes: 100, owner: 'owner' };
      const abort = new AbortController();
      const cancelled = reader.fetch(ref, { deadlineMs, signal: abort.signal });
      const late = reader.fetch(ref, { deadlineMs: 100 });
      await expect(late).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED' });
      abort.abort();
      await expect(cancelled).rejects.toMatchObject({ code: 'CANCELLED' });
    });
  });
}
