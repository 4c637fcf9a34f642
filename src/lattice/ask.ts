import { BusError } from '../errors/bus-error.js';
import { hedged } from '../pgc/ask.js';
import { analyse } from '../pgc/question.js';
import type { AskAnswer, AskRequest, Citation } from '../pgc/shapes.js';
import { fanOut } from './asking.js';
import type { Lattice } from './query.js';
import { probesDefault } from './routing.js';

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
): Promise<AskAnswer> {
  if (lattice.ports.size === 0) throw new BusError('NO_SHARDS');
  const ranked = lattice.router.rank(analyse(request.question));
  const ports = ranked
    .flatMap((each) => lattice.ports.get(each.agent) ?? [])
    .slice(0, probesDefault);
  const { answers, errors } = await fanOut(ports, signal, (port) => port.ask(request));
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
      errors: [...first.errors, ...errors],
    };
  const telling = found.filter((answer) => best(answer) >= best(first) * shareOfBest);
  const merged = merge(telling, first.metadata.top_k);
  return {
    ...first,
    ...merged,
    overlay_warnings: [...new Set(answers.flatMap((answer) => answer.overlay_warnings))],
    // That one shard of several knows nothing is no error of the answer.
    errors: [...telling.flatMap((answer) => answer.errors), ...errors],
    metadata: {
      ...first.metadata,
      index_version: telling.map((answer) => answer.metadata.index_version).join('+'),
      cached: telling.every((answer) => answer.metadata.cached),
    },
  };
}

function best(answer: AskAnswer): number {
  return Math.max(0, ...answer.sources.map((source) => source.similarity));
}

/** A sentence begins with what it is about, and ends with its sources; what it quotes may have full stops. */
export const sentenceEnd = /(?<=\[\d+\]\.|\bat \d+ further sites\.|\bthis is nearest\.)\s+(?=`)/;

/** The best sources of all answers, and those sentences whose sources are all among them. */
function merge(answers: AskAnswer[], topK: number): { answer: string; sources: Citation[] } {
  const chosen = new Set(
    answers
      .flatMap((answer) => answer.sources)
      .sort((one, other) => other.similarity - one.similarity)
      .slice(0, topK),
  );
  const sources: Citation[] = [];
  const sentences: string[] = [];
  for (const answer of answers) {
    const numbers = new Map<number, number>();
    for (const [at, source] of answer.sources.entries()) {
      if (!chosen.has(source)) continue;
      sources.push(source);
      numbers.set(at + 1, sources.length);
    }
    for (const sentence of answer.answer.split(sentenceEnd)) {
      const cited = [...sentence.matchAll(/\[(\d+)\]/g)].map((match) => Number(match[1]));
      if (cited.length === 0 || !cited.every((number) => numbers.has(number))) continue;
      sentences.push(
        sentence.replace(
          /\[(\d+)\]/g,
          (_, number: string) => `[${numbers.get(Number(number)) ?? 0}]`,
        ),
      );
    }
  }
  return { answer: hedged(sentences.join(' '), sources), sources };
}
