import { expect, test } from 'vitest';
import { handOverType, HostedShard } from '../../src/pgc/serve/hosted-shard.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import { testBus } from '../support/bus.js';
import { memoryHarness } from '../support/networks.js';

test('while a shard is handed over what was begun is answered, and nothing else is begun', async () => {
  const bus = testBus(memoryHarness());
  try {
    await bus.start();
    const begun: (() => void)[] = [];
    const card = (): Promise<Buffer> =>
      new Promise((resolve) => begun.push(() => resolve(Buffer.from('card'))));
    const hosted = new HostedShard(await bus.client('shard-1'), {
      card,
      use: () => Promise.reject(new Error('no question is asked')),
      stateOf: () => '',
    });
    const asker = await bus.client('asker');
    const ask = (type: string, onPartial?: () => void): Promise<{ body: Buffer }> =>
      asker.request('agent:shard-1', type, Buffer.alloc(0), {
        ...{ deadlineMs: 20_000, ...(onPartial && { onPartial }) },
      });
    const first = ask(shardMessages.card.type);
    const handedOver = { isOver: false };
    let isTold: () => void = () => undefined;
    const told = new Promise<void>((resolve) => (isTold = resolve));
    const handing = ask(handOverType, isTold).then(() => (handedOver.isOver = true));
    await told;
    const second = ask(shardMessages.card.type).catch(
      (error: unknown) => (error as { code: string }).code,
    );
    // What is asked later has come later: by its sign of life, the second card was asked for.
    await new Promise<void>((resolve) => void ask(handOverType, resolve).catch(() => undefined));
    expect([begun.length, handedOver.isOver]).toEqual([1, false]);
    begun[0]?.();
    expect((await first).body.toString()).toBe('card');
    await hosted.close();
    expect(await second).toBe('RESPONDER_LOST');
    expect(begun).toHaveLength(1);
    await handing.catch(() => undefined);
  } finally {
    await bus.close();
  }
});
