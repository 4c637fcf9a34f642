import { BusError } from '../../errors/bus-error.js';
import { citedOnly } from '../../model/cited.js';
import { fenced } from '../../model/fenced.js';
import { filled } from '../../model/texts.js';
import { withoutCredentials } from '../../pgc/mine/items/redaction.js';
import { questionCharsMax } from '../../pgc/search/question/question.js';
import type { Citation } from '../../pgc/shapes.js';
import type { ModelUse } from './model-use.js';

/** The most similar of the sources are told, under the numbers that they have. */
const sourcesToldMax = 40;
const itemCharsMax = 300;
/** What is longer is no answer: MODEL_ANSWER_TOO_LARGE. */
const answerCharsMax = 12_000;

export interface Told {
  /** Every sentence cites a source that there is. */
  text: string;
  dropped: number;
}

/** Answers from sources, numbered from 1, and from nothing else. Throws MODEL_*, CANCELLED. */
export async function tell(
  use: ModelUse,
  question: string,
  sources: readonly Citation[],
): Promise<Told> {
  const told = likeliest(sources);
  const data = told.flatMap((each, at) => (each === undefined ? [] : [numbered(each, at + 1)]));
  const cite = filled('cite-sources', { sources: String(data.length) });
  const asked = `Question:\n${question.slice(0, questionCharsMax)}`;
  const { text } = await use.converse({
    messages: [
      { role: 'system', text: filled('answer-question', { cite }) },
      { role: 'user', text: `${asked}\n\n${fenced(use.newMark(), data.join('\n\n'))}` },
    ],
    told: ['answer-question', 'cite-sources', 'fence'],
  });
  if (text.length > answerCharsMax) {
    const bound = { max: answerCharsMax, what: 'characters' };
    throw new BusError('MODEL_ANSWER_TOO_LARGE', { model: use.name, ...bound });
  }
  const { text: kept, dropped } = citedOnly(text, told);
  if (!/[\p{L}\p{N}]/u.test(kept)) throw new BusError('MODEL_UNGROUNDED', { dropped });
  return { text: kept, dropped };
}

function likeliest(sources: readonly Citation[]): (Citation | undefined)[] {
  if (sources.length <= sourcesToldMax) return [...sources];
  const best = [...sources].sort((one, other) => other.similarity - one.similarity);
  const told = new Set(best.slice(0, sourcesToldMax));
  return sources.map((each) => (told.has(each) ? each : undefined));
}

/** A source begins where a line does, and nothing that it quotes does. */
function numbered(source: Citation, number: number): string {
  const { overlay, file_path, line_start, line_end, text, content } = source;
  const quoted = `${text.slice(0, itemCharsMax)}\n${content}`.split('\n').map(withoutCredentials);
  const head = `[${number}] ${overlay} ${file_path}:${line_start}-${line_end}`;
  return [head.replace(/\s+/g, ' '), ...quoted.map((line) => `    ${line}`)].join('\n');
}
