import type { ShardIndex } from '../../format/shard-index.js';
import type { Question } from '../../search/question/question.js';
import type { Weighing } from '../../search/rank/weighing.js';
import type { Found } from '../../search/search.js';
import { implementationsFirst } from './implementations.js';

/** The hits in the order that the kind of question asks for; what the graph adds to them has the similarity of the place it takes. */
export function planned(
  index: ShardIndex,
  question: Question,
  weighing: Weighing,
  found: readonly Found[],
): readonly Found[] {
  const isNamed = found.some(({ exact }) => exact > 0);
  return question.intent === 'implementations' && !isNamed
    ? implementationsFirst(index, question, weighing, found)
    : found;
}
