import type { ShardIndex } from '../../format/shard-index.js';
import type { Question } from '../../search/question/question.js';
import type { Weighing } from '../../search/rank/weighing.js';
import type { Found } from '../../search/search.js';
import type { Excerpts } from '../citation.js';
import { implementationsFirst } from './implementations.js';
import { messageFirst } from './symptom.js';

/** The hits in the order that the kind of question asks for; what the graph adds to them has the similarity of the place it takes. */
export function planned(
  index: ShardIndex,
  excerpts: Excerpts,
  question: Question,
  weighing: Weighing,
  found: readonly Found[],
): readonly Found[] {
  if (question.intent === 'symptom') return messageFirst(index, excerpts, question, found);
  const isNamed = found.some(({ exact }) => exact > 0);
  return question.intent === 'implementations' && !isNamed
    ? implementationsFirst(index, question, weighing, found)
    : found;
}
