import { BusError } from '../../errors/bus-error.js';
import { citedOnly } from '../../model/cited.js';
import { fenced } from '../../model/fenced.js';
import { filled } from '../../model/texts.js';
import { withoutCredentials } from '../../pgc/mine/items/redaction.js';
import { questionCharsMax } from '../../pgc/search/question/question.js';
import type { Evidence } from '../../pgc/shapes.js';
import type { ModelUse } from './model-use.js';

/** Limit of sources in the prompt: the most similar ones, under their own numbers. */
const sourcesShownMax = 40;
const itemCharsMax = 300;
/** Beyond it MODEL_ANSWER_TOO_LARGE. */
const answerCharsMax = 12_000;

export interface WrittenAnswer {
  /** Every sentence cites a source that there is. */
  text: string;
  dropped: number;
}

/** Answers from sources, numbered from 1, and from nothing else. Throws MODEL_*, CANCELLED. */
export async function writeAnswer(
  use: ModelUse,
  question: string,
  sources: readonly Evidence[],
): Promise<WrittenAnswer> {
  const shown = likeliest(sources);
  const data = shown.flatMap((each, at) => (each === undefined ? [] : [numbered(each, at + 1)]));
  const cite = filled('cite-sources', { sources: String(data.length) });
  const asked = `Question:\n${question.slice(0, questionCharsMax)}`;
  const { text } = await use.converse({
    messages: [
      { role: 'system', text: filled('answer-question', { cite }) },
      { role: 'user', text: `${asked}\n\n${fenced(use.newMark(), data.join('\n\n'))}` },
    ],
    texts: ['answer-question', 'cite-sources', 'fence'],
  });
  if (text.length > answerCharsMax) {
    const bound = { max: answerCharsMax, what: 'characters' };
    throw new BusError('MODEL_ANSWER_TOO_LARGE', { model: use.name, ...bound });
  }
  const { text: kept, dropped } = citedOnly(text, shown);
  if (!/[\p{L}\p{N}]/u.test(kept)) throw new BusError('MODEL_UNGROUNDED', { dropped });
  return { text: kept, dropped };
}

function likeliest(sources: readonly Evidence[]): (Evidence | undefined)[] {
  if (sources.length <= sourcesShownMax) return [...sources];
  const best = [...sources].sort((one, other) => other.similarity - one.similarity);
  const shown = new Set(best.slice(0, sourcesShownMax));
  return sources.map((each) => (shown.has(each) ? each : undefined));
}

/** A source begins where a line does, and nothing that it quotes does. */
function numbered(source: Evidence, number: number): string {
  const { overlay, file_path, line_start, line_end, text, content, excerpt } = source;
  const deciding = excerpt.filter(({ line }) => line > line_end);
  const more = deciding.map(({ line, text: its }) => `${line}: ${its}`);
  const said = [text.slice(0, itemCharsMax), content, ...more].join('\n');
  const quoted = withoutCredentials(said).split('\n');
  const head = `[${number}] ${overlay} ${file_path}:${line_start}-${line_end}`;
  return [head.replace(/\s+/g, ' '), ...quoted.map((line) => `    ${line}`)].join('\n');
}
