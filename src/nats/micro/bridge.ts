import type { Clock } from '../../base/clock.js';
import { foreignRole } from '../../base/prover.js';
import type { Trace } from '../../base/trace.js';
import type { Client } from '../../client/client.js';
import { plainRecord } from '../../client/registration.js';
import { shardMessages } from '../../pgc/serve/messages.js';
import type { Answer } from '../../pgc/shapes.js';
import { noMail } from '../../wire/messages.js';
import type { ForeignAgents } from './foreign-agents.js';
import type { ForeignAgent } from './foreign-info.js';
import { Kept } from './kept.js';
import { bridgeLimits } from './limits.js';

type BridgedClient = Pick<Client, 'register' | 'serve' | 'close'>;

interface BridgeParts {
  foreign: ForeignAgents;
  /** A live client of our bus with this name and the role `foreign`. */
  open: (agent: string) => Promise<BridgedClient>;
  clock: Clock;
  trace: Trace;
}

const ask = shardMessages.ask;

/** Foreign agents as agents of our bus: found by `list_agents`, asked by `query_agent`, which is all that they take. */
export function bridgeForeignAgents({ foreign, open, clock, trace }: BridgeParts): AsyncDisposable {
  const kept = new Kept({
    ...{ what: 'foreign agents on the bus', limit: bridgeLimits.agentsMax, clock, trace },
    wanted: () =>
      new Map(
        foreign.list().map((agent) => {
          const print = JSON.stringify(recordOf(agent));
          return [agent.name, { print, begin: () => bridged(agent, foreign, open) }];
        }),
      ),
  });
  const watching = foreign.onChange(() => void kept.refresh());
  void kept.refresh();
  return {
    async [Symbol.asyncDispose]() {
      watching[Symbol.dispose]();
      await kept[Symbol.asyncDispose]();
    },
  };
}

async function bridged(
  agent: ForeignAgent,
  foreign: ForeignAgents,
  open: BridgeParts['open'],
): Promise<AsyncDisposable> {
  const client = await open(agent.name);
  client.serve({
    [ask.type]: async ({ body, signal }) => {
      const { question } = ask.request.decode(body);
      const started = performance.now();
      const said = await textOf(foreign.ask(agent.name, question, signal));
      return ask.answer.encode(answerOf(agent, question, said, performance.now() - started));
    },
  });
  try {
    await client.register(recordOf(agent));
  } catch (error) {
    await client.close();
    throw error;
  }
  return { [Symbol.asyncDispose]: () => client.close() };
}

function recordOf({ agent, owner, session }: ForeignAgent): ReturnType<typeof plainRecord> {
  const its = { agent, owner, session };
  const said = Object.entries(its).filter(([, word]) => word !== '');
  const words = said.map(([key, word]) => `${key}:${word}`);
  return plainRecord('', [foreignRole, ...words, noMail]);
}

async function textOf(parts: AsyncIterable<string>): Promise<{ text: string; isCut: boolean }> {
  let text = '';
  for await (const part of parts) {
    text += part;
    if (text.length > bridgeLimits.answerCharsMax)
      return { text: text.slice(0, bridgeLimits.answerCharsMax), isCut: true };
  }
  return { text, isCut: false };
}

/** Words of a stranger, which no evidence proves. */
function answerOf(
  { name, agent }: ForeignAgent,
  question: string,
  { text, isCut }: { text: string; isCut: boolean },
  elapsedMs: number,
): Answer {
  return {
    ...{ question, prose: text, partial: false, query_path: [name] },
    ...{ clauses: [], evidence: [], flow: [], unsure: [], next: [], hops: [], left_out: [] },
    ...{ confidence: 'low', likelihood: 0, errors: [], safety: null, root: '' },
    query_intent: { intent: 'general', entities: [], scope: '', refined_query: '' },
    overlay_warnings: isCut ? [`the answer was cut after ${text.length} characters`] : [],
    metadata: {
      ...{ question_hash: '', top_k: 0, elapsed_ms: elapsedMs, index_version: '', engine: agent },
      ...{ cached: false, agents_asked: 1, model: null },
    },
  };
}
