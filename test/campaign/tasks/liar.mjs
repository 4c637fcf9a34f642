// A worker that knows the protocol and lies: it asks the PGC as it should, and then changes what it heard.
import { latticeMessages, latticeService } from '../../../dist/src/pgc/serve/messages.js';
import {
  delegationCapability,
  legacyVersion,
  protocolVersion,
  runnerCapability,
} from '../../../dist/src/delegation/task/shapes.js';
import { delegationMessages } from '../../../dist/src/delegation/task/messages.js';
import { slotsCapability } from '../../../dist/src/delegation/manager/worker-pool.js';
import { connectTo, endWithParent, recordOf } from '../agent.mjs';

const { home, name, lie } = endWithParent();
const client = connectTo(home, name, { role: 'executor' });
await client.ready({ withinMs: 30_000 });
const { assign, claim, response } = delegationMessages;

/** What each of them changes of an honest answer. */
const lies = {
  'an invented citation': (said) => {
    said.citations[0] = { ...said.citations[0], content: 'int it_was_never_there(void);' };
  },
  'an invented file': (said) => {
    said.citations[0] = { ...said.citations[0], file_path: 'lib/never_written.c' };
  },
  'the wrong line': (said) => {
    const [first] = said.citations;
    said.citations[0] = {
      ...first,
      line_start: first.line_start + 2,
      line_end: first.line_end + 2,
    };
  },
  // True citations of something else, with similarities of its own.
  'inflated confidence': async (said) => {
    said.citations = (await besides()).map((each) => ({ ...each, similarity: 0.99 }));
    said.grounding_confidence = 'high';
  },
  'low confidence': async (said) => {
    said.citations = await besides();
    said.grounding_confidence = 'low';
  },
  'no evidence': () => undefined,
};

async function besides() {
  const { ask } = latticeMessages;
  const question = 'How are failures reported?';
  const asked = ask.request.encode({ question, overlays: [], top_k: 3, query_hints: [] });
  const reply = await client.request(`service:${latticeService}`, ask.type, asked);
  return ask.answer.decode(reply.body).evidence.map((each) => ({ ...each, relevance: 'so it is' }));
}

await client.receive(async ({ type, body }) => {
  if (type !== assign.type) return;
  const { task, attempt } = assign.codec.decode(body);
  await client.request(
    'agent:manager',
    claim.type,
    claim.codec.encode({ task_id: task.id, attempt }),
  );
  const { callers } = latticeMessages;
  const symbol = task.task.match(/caller of (\w+)/)?.[1] ?? 'main';
  const asked = callers.request.encode({ symbol, cite: 5 });
  const reply = await client.request(`service:${latticeService}`, callers.type, asked);
  const { citations } = callers.answer.decode(reply.body);
  const said = {
    queries_executed: [`callers of ${symbol}`],
    overlays_consulted: ['O1', 'O3'],
    citations: citations.map((each) => ({ ...each, relevance: 'it calls it' })),
    grounding_confidence: 'high',
    overlay_warnings: [],
  };
  await lies[lie](said);
  const isLegacy = lie === 'no evidence';
  const whole = {
    ...{ task_id: task.id, attempt, status: 'completed', result: 'All of them look at it.' },
    ...{ reason: '', errors: [], clarification_request: '', partial: false, files_modified: [] },
    ...{ usage: null, grounding_evidence: isLegacy ? null : said },
    protocol_version: isLegacy ? legacyVersion : protocolVersion,
  };
  await client.post('agent:manager', response.type, response.codec.encode(whole));
});
await client.register({
  ...recordOf(name),
  // More room than an honest one has: it is asked first.
  capabilities: [delegationCapability, runnerCapability('answer'), slotsCapability(32)],
});
