import { z } from 'zod';
import { analyse } from '../../pgc/search/question/question.js';
import type {
  AskAnswer,
  AskRequest,
  CodedError,
  LatticeAnswer,
  ModelMetadata,
  QueryProgress,
} from '../../pgc/shapes.js';
import { askAgent } from '../questions.js';
import { type Cut } from './bounds.js';
import {
  agentInput,
  citationOf,
  citationOutput,
  engineInput,
  errorLines,
  failureOutput,
  groundingInput,
  nameCharsMax,
  place,
  questionInput,
  rounded,
  topKInput,
} from './shapes.js';
import { listing, looks, unlessEmpty, type Answer, type Tool } from './tool.js';

const maxHops = { default: 6, limit: 32 };

type Cited = z.output<typeof citationOutput>;

type ByModel = Partial<ModelMetadata>;

interface Asked extends ByModel {
  answer: string;
  intent: string;
  sources: Cited[];
  overlay_warnings: string[];
  errors: CodedError[];
  index_version: string;
  elapsed_ms: number;
}

/** Only where a language model was asked. */
function byModel({ engine, dropped, tokens, texts }: ByModel = {}): ByModel {
  if (dropped === undefined) return {};
  return { engine: engine ?? '', dropped, tokens: tokens ?? 0, texts: texts ?? [] };
}

function modelLine({ engine = '', dropped, tokens = 0 }: ByModel): string[] {
  if (dropped === undefined) return [];
  return [
    `engine: ${engine}, ${tokens} tokens, ${dropped} sentences without a valid source dropped`,
  ];
}

const askedOutput = z.looseObject({
  answer: z.string().describe('[n] is the n-th of the sources.'),
  intent: z.string(),
  sources: z.array(citationOutput),
  overlay_warnings: z.array(z.string()),
  errors: z.array(failureOutput),
  index_version: z.string(),
  elapsed_ms: z.number(),
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
  output: askedOutput,
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
  output: askedOutput,
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

function asked(found: AskAnswer): Answer<Asked> {
  const { answer, sources, overlay_warnings, errors, metadata, query_intent } = unlessEmpty(
    found,
    found.sources.length === 0,
  );
  return listing<Asked>(
    {
      answer,
      intent: query_intent.intent,
      sources: sources.map(citationOf) as Cited[],
      overlay_warnings,
      errors,
      index_version: metadata.index_version,
      elapsed_ms: metadata.elapsed_ms,
      ...byModel(metadata),
    },
    ['sources', 'overlay_warnings', 'errors'],
    (value) =>
      [
        value.answer,
        ...(value.sources.length > 0 ? ['Sources:'] : []),
        ...value.sources.map((each, at) => sourceLine(each, at + 1)),
        ...value.overlay_warnings.map((each) => `note: ${each}`),
        ...modelLine(value),
        ...errorLines(value.errors),
      ].join('\n'),
    { rest: () => 'Ask with a larger max_tokens, or more narrowly.' },
  );
}

function sourceLine(source: Cited, number: number): string {
  const { text, overlay, agent, similarity } = source;
  return `[${number}] ${place(source)} ${text} (${overlay}, ${agent}, ${rounded(similarity)})`;
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

interface LatticeHop {
  agent: string;
  scope: string[];
  answer: string;
  via: { symbol: string; from: string; to: string } | null;
  citations: Cited[];
  elapsed_ms: number;
}

interface Routed extends ByModel {
  answer: string;
  confidence: string;
  query_path: string[];
  hops: LatticeHop[];
  safety: LatticeAnswer['safety'];
  agents_asked: number;
  partial: boolean;
  errors: CodedError[];
  elapsed_ms: number;
}

/** `query_lattice`: from shard to shard along the references of the code. */
export const queryLattice: Tool<typeof latticeInput> = {
  name: 'query_lattice',
  title: 'Ask across shards',
  description:
    'For a question whose answer crosses from one part of the code to another: it starts at the shard that knows most, follows real references (every link with its call site and definition), and comes back as one answer with the hops it took. `partial` says that a shard could not be asked.',
  input: latticeInput,
  output: z.looseObject({
    answer: z.string().describe('[n] is the n-th citation, counted through all hops.'),
    confidence: z.string(),
    query_path: z.array(z.string()),
    hops: z.array(
      z.looseObject({
        agent: z.string(),
        answer: z.string(),
        via: z
          .looseObject({ symbol: z.string(), from: z.string(), to: z.string() })
          .nullable()
          .describe('The call that led here: from its call site to the definition.'),
        citations: z.array(citationOutput),
      }),
    ),
    safety: z.looseObject({ max_hops: z.int(), actual_hops: z.int() }),
    agents_asked: z.int(),
    partial: z.boolean(),
    errors: z.array(failureOutput),
    elapsed_ms: z.number(),
  }),
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
    return routed(unlessEmpty(found, found.hops.length === 0));
  },
};

function routed(found: LatticeAnswer): Answer<Routed> {
  const { answer, confidence, query_path, safety, agents_asked, partial, errors } = found;
  const hops = found.hops.map(
    ({ agent, scope, answer: its, via, citations, elapsed_ms }): LatticeHop => ({
      ...{ agent, scope, answer: its, elapsed_ms },
      via: via === null ? null : { symbol: via.symbol, from: via.from, to: via.to },
      citations: citations.map(citationOf) as Cited[],
    }),
  );
  const count = (value: Routed): number =>
    value.hops.reduce((sum, { citations }) => sum + citations.length, 0);
  const { elapsed_ms } = found;
  const value: Routed = {
    ...{ answer, confidence, query_path, hops, safety, agents_asked, partial, errors, elapsed_ms },
    ...byModel(found.metadata),
  };
  return {
    value,
    cut: hopRows,
    total: count(value),
    shown: count,
    rest: () =>
      'Citations are missing: ask with a larger max_tokens, a smaller top_k or fewer hops.',
    text: textOf,
  };
}

/** The hops are the answer; what may be left out are their citations, evenly. */
const hopRows: Cut<Routed> = {
  rows: ({ hops, errors }) =>
    Math.max(errors.length, ...hops.map(({ citations, scope }) => citations.length + scope.length)),
  keep: (value, rows) => ({
    ...value,
    hops: value.hops.map((hop) => ({
      ...hop,
      scope: hop.scope.slice(0, rows),
      citations: hop.citations.slice(0, rows),
    })),
    errors: value.errors.slice(0, rows),
  }),
};

function textOf(value: Routed): string {
  const { answer, confidence, query_path, hops, partial, errors } = value;
  let number = 0;
  return [
    answer,
    `Path: ${query_path.join(' → ')} (confidence ${confidence}${partial ? ', partial' : ''})`,
    ...hops.flatMap(({ agent, via, citations }) => [
      via === null ? agent : `${agent} via ${via.symbol}: ${via.from} → ${via.to}`,
      ...citations.map((each) => sourceLine(each, (number += 1))),
    ]),
    ...modelLine(value),
    ...errorLines(errors),
  ].join('\n');
}
