import { BusError } from '../errors/bus-error.js';
import { hedged } from '../pgc/answer/ask.js';
import { analyse, withHints } from '../pgc/search/question/question.js';
import {
  engineName,
  type AskAnswer,
  type AskRequest,
  type Citation,
  type CodedError,
} from '../pgc/shapes.js';
import { fanOut } from './asking.js';
import type { Lattice } from './lattice.js';
import { probesDefault } from './routing.js';
import { sentenceEnd } from './synthesis.js';

/** Shards below this share of the best one's similarity add noise, not answers. */
const shareOfBest = 0.7;

/**
 * Asks the shards that most likely know, and merges their answers by similarity into one with its own
 * numbering. Throws EMPTY_QUESTION and NO_SHARDS; a shard that fails is in `errors[]`.
 */
export async function ask(
  lattice: Lattice,
  request: AskRequest,
  signal?: AbortSignal,
  probes = probesDefault,
): Promise<AskAnswer> {
  if (lattice.ports.size === 0) throw new BusError('NO_SHARDS');
  const ranked = lattice.router.rank(
    withHints(analyse(request.question), request.query_hints ?? []),
  );
  const ports = ranked.flatMap((each) => lattice.ports.get(each.agent) ?? []).slice(0, probes);
  const { answers, errors: failed } = await fanOut(ports, signal, (port) =>
    // A model tells what all of them found together, once.
    port.ask({ ...request, engine: engineName }, signal),
  );
  const errors = [...failed, ...lattice.unknownShards()];
  const found = answers
    .filter((answer) => answer.sources.length > 0)
    .sort((one, other) => best(other) - best(one));
  const first = found[0] ?? answers[0];
  if (first === undefined)
    throw new BusError('AGENT_FAILED', { agent: 'every shard', detail: errors[0]?.text ?? '' });
  if (found.length === 0)
    return {
      ...first,
      answer: 'Nothing here answers the question.',
      overlay_warnings: warningsOf(answers),
      metadata: { ...first.metadata, agents_asked: ports.length },
      errors: [...first.errors, ...gapsOf(answers, [first]), ...errors],
    };
  const telling = found.filter((answer) => best(answer) >= best(first) * shareOfBest);
  const merged = merge(telling, first.metadata.top_k);
  return {
    ...first,
    ...merged,
    overlay_warnings: warningsOf(answers),
    errors: [...telling.flatMap((answer) => answer.errors), ...gapsOf(answers, telling), ...errors],
    metadata: {
      ...first.metadata,
      index_version: telling.map((answer) => answer.metadata.index_version).join('+'),
      cached: telling.every((answer) => answer.metadata.cached),
      agents_asked: ports.length,
    },
  };
}

function warningsOf(answers: readonly AskAnswer[]): string[] {
  return [...new Set(answers.flatMap((answer) => answer.overlay_warnings))];
}

/** What the others could not consult; that one shard of several knows nothing is no error of the answer. */
function gapsOf(answers: readonly AskAnswer[], told: readonly AskAnswer[]): CodedError[] {
  return answers
    .filter((answer) => !told.includes(answer))
    .flatMap(({ errors }) => errors.filter(({ code }) => code !== 'NOT_FOUND'));
}

function best(answer: AskAnswer): number {
  return Math.max(0, ...answer.sources.map((source) => source.similarity));
}

/** A sentence of one answer, with what it cites. */
interface Cited {
  text: string;
  numbers: Map<string, Citation>;
}

/** The sentences whose sources are the best, as far as there is room for all that each of them cites. */
export function merge(answers: AskAnswer[], topK: number): { answer: string; sources: Citation[] } {
  const told = new Set<Citation>();
  const all = answers.flatMap((answer) => {
    // Of sources that another answer has told of there is nothing more to say.
    const its = citedSentences(answer).filter(
      ({ numbers }) => ![...numbers.values()].every((source) => told.has(source)),
    );
    for (const source of answer.sources) told.add(source);
    return its;
  });
  const chosen = new Set<Cited>();
  const room = new Set<Citation>();
  for (const each of [...all].sort((one, other) => nearest(other) - nearest(one))) {
    const wanted = [...each.numbers.values()].filter((source) => !room.has(source));
    if (room.size + wanted.length > topK) continue;
    chosen.add(each);
    for (const source of wanted) room.add(source);
  }
  const sources: Citation[] = [];
  const sentences = all
    .filter((each) => chosen.has(each))
    .map(({ text, numbers }) =>
      text.replace(/\[(\d+)\]/g, (_, number: string) => {
        const source = numbers.get(number);
        if (source !== undefined && !sources.includes(source)) sources.push(source);
        return `[${source === undefined ? 0 : sources.indexOf(source) + 1}]`;
      }),
    );
  return { answer: hedged(sentences.join(' '), sources), sources };
}

/** Those of an answer that cite anything. */
function citedSentences({ answer, sources }: AskAnswer): Cited[] {
  return answer.split(sentenceEnd).flatMap((text) => {
    const numbers = new Map<string, Citation>();
    for (const [, number = ''] of text.matchAll(/\[(\d+)\]/g)) {
      const source = sources[Number(number) - 1];
      // A number of no source is no sentence of ours.
      if (source === undefined) return [];
      numbers.set(number, source);
    }
    return numbers.size === 0 ? [] : [{ text, numbers }];
  });
}

function nearest({ numbers }: Cited): number {
  return Math.max(...Array.from(numbers.values(), ({ similarity }) => similarity));
}
