import { z } from 'zod';
import { analyse } from '../pgc/search/question/question.js';
import type { Answer, AskRequest, QueryProgress } from '../pgc/shapes.js';
import { markdownOf, renderAnswer } from '../render/answer.js';
import { beginningOf, type Cut } from './bounds.js';
import {
  agentArgument,
  agentInput,
  engineFlag,
  engineInput,
  evidenceOf,
  evidenceOutput,
  failureOutput,
  groundingInput,
  nameCharsMax,
  questionBytesMax,
  questionInput,
  rolesFlag,
  rolesInput,
  topKInput,
} from './shapes.js';
import { looks, type Reply, type Operation } from './operation.js';

/** Of the question, where an answer repeats it. */
const echoCharsMax = 200;

const maxHops = { default: 6, limit: 32 };

const answerOutput = z.looseObject({
  clauses: z.array(z.looseObject({ text: z.string(), status: z.string() })),
  evidence: z.array(evidenceOutput),
  flow: z
    .array(z.looseObject({ from: z.string(), to: z.string(), site: z.string() }))
    .describe(
      'Calls between the pieces of evidence, or all that the graph knows of the symbol asked about; a certainty of exact is bound. `evidence` 0: none shows it. Of kind slot `from` holds `to`.',
    ),
  prose: z
    .string()
    .describe('By a language model, where there is one; [n] is the evidence with id n.'),
  confidence: z.string(),
  likelihood: z
    .number()
    .describe('That the first ten pieces of evidence hold what a right answer must name.'),
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
  agent: agentInput.optional().describe('Only this agent, or shard.'),
  grounding: groundingInput,
  roles: rolesInput,
  top_k: topKInput,
  engine: engineInput,
});

const queryInput = askInput.extend({ agent: agentInput });

const askFlags = {
  'grounding.overlay_hints': {
    flag: '--overlays <names>',
    help: 'only these overlays, for example O1,O3',
  },
  'grounding.query_hints': {
    flag: '--hint <words>',
    help: 'where to look: words, names or paths; repeatable',
  },
  roles: rolesFlag,
  top_k: { flag: '--top-k <n>', help: 'number of pieces of evidence' },
  engine: engineFlag,
};

/** `query_agent`: one agent, which knows its part of the code. */
export const queryAgent: Operation<typeof queryInput> = {
  name: 'query_agent',
  title: 'Ask one agent',
  description:
    'Ask the agent that owns a piece of code (list_agents says who) instead of reading its files. The answer shows the lines that decide, as path:line.',
  input: queryInput,
  output: answerOutput,
  annotations: looks,
  check,
  doing: 'asking the agent',
  cli: {
    command: 'query',
    help: 'ask a question to one agent',
    arguments: [agentArgument('agent'), 'question'],
    flags: askFlags,
  },
  async run({ agent, ...its }, { bus, deadlineMs, signal }) {
    return asked(await bus.askAgent(agent, requestOf(its), { deadlineMs, signal }));
  },
};

/** `ask`: all shards at once. */
export const ask: Operation<typeof askInput> = {
  name: 'ask',
  title: 'Ask the code base',
  description:
    'A question to the shards that know most about it, answered in milliseconds with evidence as path:line. For what crosses from one part of the code to another take query_lattice.',
  input: askInput,
  output: answerOutput,
  annotations: looks,
  check,
  doing: 'asking the shards that know most of it',
  cli: {
    command: 'ask',
    help: 'ask a question about the code; the answer shows its evidence',
    arguments: [
      {
        ...{ field: 'question', argument: '<question>', help: questionInput.description ?? '' },
        source: { holds: 'beginning', names: '-', bytesMax: questionBytesMax },
      },
    ],
    flags: { ...askFlags, agent: { flag: '--agent <alias>', help: 'ask one shard' } },
    more: '\nUse - to read the question from standard input, for example a log or a stack trace.',
  },
  async run({ agent, ...its }, { bus, deadlineMs, signal }) {
    const request = requestOf(its);
    const options = { deadlineMs, signal };
    if (agent !== undefined) return asked(await bus.askAgent(agent, request, options));
    return asked(await (await bus.questions()).ask(request, options));
  },
};

interface AskArguments {
  question: string;
  grounding: { overlay_hints: string[]; query_hints: string[] };
  roles: string[];
  top_k: number;
  engine?: string | undefined;
}

/** Throws EMPTY_QUESTION, QUESTION_UNREADABLE. */
function check({ question }: { question: string }): void {
  analyse(question);
}

function requestOf({ question, grounding, roles, top_k, engine = '' }: AskArguments): AskRequest {
  const { overlay_hints: overlays, query_hints } = grounding;
  return { question, overlays, roles, top_k, query_hints, engine };
}

function asked(value: Answer): Reply<Answer> {
  return {
    value,
    cut: answerRows,
    total: value.evidence.length,
    shown: ({ evidence }) => evidence.length,
    rest: () =>
      'Evidence is missing: ask with a larger max_tokens, a smaller top_k, or more narrowly.',
    text: markdownOf,
    brief: essential,
    structure: ({ question: _, root: _r, evidence, ...its }) => ({
      ...its,
      evidence: evidence.map(evidenceOf),
    }),
    screen: renderAnswer,
    // Words alone are an answer, too: those of an agent that knows no code.
    ...(value.evidence.length === 0 &&
      (value.prose === '' ? { failure: value.errors[0], isEmpty: true } : { isDateless: true })),
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

/** Evidence of the way is left out hop by hop in turns, before what was found beside it; with it the calls that it shows. Notes and errors are rows of their own. */
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

/** Ids of the evidence: what was found beside the hops and before it, then the first of each hop, the second, and so on. */
function inTurns({ hops, evidence }: Answer): number[] {
  const onWay = new Set(hops.flatMap((hop) => hop.evidence));
  const ids = evidence.map(({ id }) => id);
  const found = ids.slice(0, ids.findLastIndex((id) => !onWay.has(id)) + 1);
  const longest = Math.max(0, ...hops.map((hop) => hop.evidence.length));
  const way = Array.from({ length: longest }, (_, at) =>
    hops.flatMap((hop) => hop.evidence[at] ?? []),
  );
  return [...new Set([...found, ...way.flat()])];
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
export const queryLattice: Operation<typeof latticeInput> = {
  name: 'query_lattice',
  title: 'Ask across shards',
  description:
    'For a question whose answer crosses from one part of the code to another: it starts at the shard that knows most, follows real references (every link with its call site and definition), and comes back as one answer with the hops it took. `partial` says that a shard could not be asked.',
  input: latticeInput,
  output: answerOutput,
  annotations: looks,
  check,
  doing: 'asking from shard to shard',
  cli: {
    command: 'lattice query',
    help: 'ask a question whose answer may cross shards',
    arguments: ['question'],
    flags: {
      from: { flag: '--from <agent>', help: 'start at this shard' },
      max_hops: { flag: '--max-hops <n>', help: 'most shards to visit' },
      top_k: { flag: '--top-k <n>', help: 'pieces of evidence per shard' },
      engine: engineFlag,
    },
  },
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
