import { connect } from '@nats-io/transport-node';
import { expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.js';
import { noTrace } from '../../src/base/trace.js';
import { plainRecord } from '../../src/client/registration.js';
import { AgentsGateway } from '../../src/nats/micro/gateway.js';
import { askingOver } from '../../src/operations/asking.js';
import { shardMessages } from '../../src/pgc/serve/messages.js';
import { AskedAgents } from '../../services/asked-agents.js';
import { testBus } from '../support/bus.js';
import { eventually } from '../support/eventually.js';
import { startNats } from '../support/nats-server.js';
import { memoryHarness } from '../support/networks.js';

test('an agent of a bus is asked over NATS with the operation of its role, while it is there', async () => {
  const bus = testBus(memoryHarness());
  await bus.start();
  const server = await startNats();
  const nc = await connect({ servers: server.url });
  const tool = await connect({ servers: server.url });
  try {
    const shard = await bus.client('net-1', { role: 'pgc' });
    const { ask } = shardMessages;
    const none = { query_intent: { refined_query: '' }, metadata: { agents_asked: 1 } };
    shard.serve({
      [ask.type]: ({ body }) =>
        ask.answer.encode({
          ...none,
          prose: `asked: ${ask.request.decode(body).question}`,
        } as never),
    });
    await shard.register(plainRecord('net', ['pgc']));
    const writer = await bus.client('writer', { role: 'executor' });
    await writer.register(plainRecord('writer', []));
    const client = await bus.client('gateway');
    using port = await AskedAgents.open(askingOver(() => Promise.resolve(client)));
    await using _ = await AgentsGateway.open({
      ...{ connection: nc, bus: 'main', version: '1.2.3', port },
      ...{ clock: systemClock, trace: noTrace },
    });
    const known = async (): Promise<string[]> => {
      const found: string[] = [];
      for await (const msg of await tool.requestMany('$SRV.PING.agents', '', { strategy: 'stall' }))
        if (msg.data.length > 0)
          found.push(msg.json<{ metadata: { session: string } }>().metadata.session);
      return found;
    };
    // Work is not for strangers: the executor is not shown.
    await eventually(async () => expect(await known()).toEqual(['net-1']));
    const chunks: { type: string; data: string }[] = [];
    const options = { strategy: 'sentinel', maxWait: 20_000 } as const;
    const subject = 'agents.prompt.sigma.main.net-1';
    for await (const msg of await tool.requestMany(subject, 'Where is parse?', options))
      if (msg.data.length > 0) chunks.push(msg.json());
    expect(chunks[0]).toEqual({ type: 'status', data: 'ack' });
    expect(chunks[1]?.data).toContain('asked: Where is parse?');
    await shard.close();
    await eventually(async () => expect(await known().catch(() => [])).toEqual([]));
  } finally {
    await nc.close();
    await tool.close();
    await server[Symbol.asyncDispose]();
    await bus.close();
  }
});
