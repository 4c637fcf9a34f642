import type { Hop, LatticeAnswer } from '../pgc/shapes.js';
import { confidenceOf } from '../base/confidence.js';

const scopeShown = 3;

/** The end of a sentence in an answer: sentences begin with a quoted name and end with sources; quotes may hold full stops. */
export const sentenceEnd = /(?<=\[\d+\]\.|\bat \d+ further sites\.|\bthis is nearest\.)\s+(?=`)/;

/** The hops as one text, in order; sources are numbered across all hops. */
export function synthesise(hops: readonly Hop[]): Pick<LatticeAnswer, 'answer' | 'confidence'> {
  const similarities = hops.flatMap((hop) => hop.citations.map((each) => each.similarity));
  if (hops.length === 0) {
    return {
      answer: 'Nothing in the indexed code answers the question.',
      confidence: confidenceOf([]),
    };
  }
  let numbered = 0;
  const paragraphs = hops.map((hop, at) => {
    const said = renumbered(hop.answer, numbered);
    numbered += hop.citations.length;
    return `${at + 1}. ${hop.agent} (${scopeOf(hop)}): ${arrival(hop, at)}${said}`;
  });
  return { answer: paragraphs.join('\n'), confidence: confidenceOf(similarities) };
}

/** A shard of many folders is named by the first few. */
function scopeOf({ scope }: Hop): string {
  const shown = scope.slice(0, scopeShown).join(', ');
  return scope.length > scopeShown ? `${shown}, …` : shown;
}

function arrival(hop: Hop, at: number): string {
  if (hop.via === null) return at === 0 ? '' : 'Found by search as well. ';
  const caller = hop.via.chain.at(-1)?.symbol;
  const by = caller === undefined ? 'a call' : `\`${caller}\` calls it`;
  return `\`${hop.via.symbol}\` is defined at ${hop.via.to}; ${by} at ${hop.via.from} in ${hop.via.from_agent}. `;
}

/** Each hop numbers its own sources from 1. */
export function renumbered(text: string, offset: number): string {
  return text.replace(/\[(\d+)\]/g, (_, number: string) => `[${Number(number) + offset}]`);
}
