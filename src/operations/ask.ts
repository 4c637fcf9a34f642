import { z } from 'zod';
import { analyse } from '../pgc/search/question/question.js';
import type { Answer, AskRequest, QueryProgress } from '../pgc/shapes.js';
import { askAgent } from '../remote/questions.js';
import { markdownOf } from '../render/answer.js';
import { beginningOf, type Cut } from './bounds.js';
import {
  agentInput,
  engineInput,
  evidenceOf,
  evidenceOutput,
  failureOutput,
  groundingInput,
  nameCharsMax,
  questionInput,
  topKInput,
} from './shapes.js';
import { looks, unlessEmpty, type Reply, type Tool } from './tool.js';

/** Of the question, where an answer repeats it. */
const echoCharsMax = 200;

const maxHops = { default: 6, limit: 32 };

const answerOutput = z.looseObject({
  clauses: z.array(z.looseObject({ text: z.string(), status: z.string() })),
  evidence: z.array(evidenceOutput),
  flow: z
    .array(z.looseObject({ from: z.string(), to: z.string(), site: z.string() }))
    .describe('Calls between the pieces of evidence; a certainty of exact is bound.'),
  prose: z
    .string()
    .describe('By a language model, where there is one; [n] is the evidence with id n.'),
  confidence: z.string(),
  left_out: z
    .array(z.looseObject({ overlay: z.string(), why: z.string() }))
    .describe('Overlays that could not be consulted.'),
  overlay_warnings: z.array(z.string()),
  errors: z.array(failureOutput),
  partial: z.boolean(),
  query_path: z.array(z.string()),
  metadata: z.looseObject({ index_version: z.string(), elapsed_ms: z.number() }),
});

const askInput = z.strictObject({
  question: questionInput,
  grounding: groundingInput,
  top_k: topKInput,
  engine: engineInput,
});

const queryInput = askInput.extend({ agent: agentInput });

/** `query_agent`: one agent, which knows its part of the code. */
export const queryAgent: Tool<typeof queryInput> = {
  name: 'query_agent',
  title: 'Ask one agent',
  description:
    'Ask the agent that owns a piece of code (list_agents says who) instead of reading its files. The answer quotes what its sources hold, as path:line; each can be checked with verify_citations.',
  input: queryInput,
  output: answerOutput,
  annotations: looks,
  doing: 'asking the agent',
  async run({ agent, ...its }, { bus, deadlineMs, signal }) {
    const request = requestOf(its);
    return asked(await askAgent(await bus.client(), agent, request, deadlineMs, signal));
  },
};

/** `ask`: all shards at once. */
export const ask: Tool<typeof askInput> = {
  name: 'ask',
  title: 'Ask the code base',
  description:
    'A question to the shards that know most about it, answered in milliseconds with sources as path:line. For what crosses from one part of the code to another take query_lattice.',
  input: askInput,
  output: answerOutput,
  annotations: looks,
  doing: 'asking the shards that know most of it',
  async run(its, { bus, deadlineMs, signal }) {
    const questions = await bus.questions();
    return asked(await questions.ask(requestOf(its), { deadlineMs, signal }));
  },
};

interface AskArguments {
  question: string;
  grounding: { overlays: string[]; query_hints: string[] };
  top_k: number;
  engine?: string | undefined;
}

/** Refused here already, so that a slip costs no round trip. Throws EMPTY_QUESTION, QUESTION_UNREADABLE. */
function requestOf({ question, grounding, top_k, engine = '' }: AskArguments): AskRequest {
  analyse(question);
  const { overlays, query_hints } = grounding;
  return { question, overlays, top_k, query_hints, engine };
}

/** The whole answer as text; as structure what its text does not need. */
function asked(found: Answer): Reply<Answer> {
  const value = essential(unlessEmpty(found, found.evidence.length === 0));
  return {
    value,
    cut: answerRows,
    total: value.evidence.length,
    shown: ({ evidence }) => evidence.length,
    rest: () =>
      'Evidence is missing: ask with a larger max_tokens, a smaller top_k, or more narrowly.',
    text: markdownOf,
    structure: ({ question: _, root: _r, evidence, ...its }) => ({
      ...its,
      evidence: evidence.map(evidenceOf),
    }),
  };
}

/** Without what the asker knows, and what only a developer of the lattice looks at. */
function essential(found: Answer): Answer {
  const { clauses, query_intent: intent, hops } = found;
  return {
    ...found,
    ...{ question: '', root: '' },
    clauses: clauses.map((each) => ({ ...each, text: beginningOf(each.text, echoCharsMax) })),
    query_intent: { ...intent, refined_query: beginningOf(intent.refined_query, echoCharsMax) },
    hops: hops.map((hop) => ({ ...hop, scope: [], via: hop.via && { ...hop.via, chain: [] } })),
    safety: found.safety && { ...found.safety, visited_agents: [] },
  };
}

/** Evidence is left out hop by hop in turns, and with it the calls that it shows. Notes and errors are rows of their own. */
const answerRows: Cut<Answer> = {
  rows: ({ evidence, flow, unsure, left_out, overlay_warnings, errors }) =>
    Math.max(
      ...[evidence, flow, unsure, left_out, overlay_warnings, errors].map(({ length }) => length),
    ),
  keep(answer, rows) {
    const kept = new Set(inTurns(answer).slice(0, rows));
    const shown = <Its extends { evidence: number[] }>(its: Its): Its => ({
      ...its,
      evidence: its.evidence.filter((id) => kept.has(id)),
    });
    const isShown = ({ evidence }: { evidence: number }): boolean =>
      evidence === 0 || kept.has(evidence);
    // Where not even one piece of evidence fits, a long way does not either.
    const whole = rows === 0 ? undefined : answer;
    return {
      ...answer,
      evidence: answer.evidence.filter(({ id }) => kept.has(id)),
      flow: answer.flow.filter(isShown).slice(0, rows),
      clauses: (whole?.clauses ?? []).map(shown),
      next: whole?.next ?? [],
      hops: (whole?.hops ?? []).map(shown),
      query_path: whole?.query_path ?? [],
      unsure: answer.unsure.slice(0, rows),
      left_out: answer.left_out.slice(0, rows),
      overlay_warnings: answer.overlay_warnings.slice(0, rows),
      errors: answer.errors.slice(0, rows),
    };
  },
};

/** Ids of the evidence: the first of each hop, then the second, and so on. */
function inTurns({ hops, evidence }: Answer): number[] {
  const lists =
    hops.length === 0 ? [evidence.map(({ id }) => id)] : hops.map((hop) => hop.evidence);
  const longest = Math.max(...lists.map(({ length }) => length));
  return Array.from({ length: longest }, (_, at) => lists.flatMap((ids) => ids[at] ?? [])).flat();
}

// --- query_lattice

const latticeInput = z.strictObject({
  question: questionInput,
  from: z
    .string()
    .max(nameCharsMax)
    .default('')
    .describe('Agent to begin with; chosen by the question when absent.'),
  max_hops: z
    .int()
    .min(1)
    .max(maxHops.limit)
    .default(maxHops.default)
    .describe('Agents visited at most.'),
  top_k: z.int().min(1).max(10).default(3).describe('Citations of each hop.'),
  engine: engineInput,
});

/** `query_lattice`: from shard to shard along the references of the code. */
export const queryLattice: Tool<typeof latticeInput> = {
  name: 'query_lattice',
  title: 'Ask across shards',
  description:
    'For a question whose answer crosses from one part of the code to another: it starts at the shard that knows most, follows real references (every link with its call site and definition), and comes back as one answer with the hops it took. `partial` says that a shard could not be asked.',
  input: latticeInput,
  output: answerOutput,
  annotations: looks,
  doing: 'asking from shard to shard',
  async run(request, { bus, deadlineMs, signal, tell }) {
    const questions = await bus.questions();
    const { question, from, max_hops, top_k, engine = '' } = request;
    const onProgress = ({ visited, agents_asked }: QueryProgress): void =>
      tell([...visited, `${agents_asked} agents asked`].join(' · '));
    const found = await questions.query(
      { question, from, max_hops, top_k, engine },
      { deadlineMs, signal, onProgress },
    );
    return asked(found);
  },
};
