import { z } from 'zod';
import { isText } from '../../base/text.js';
import { assert } from '../../base/assert.js';
import { filled } from '../../model/texts.js';
import { intentNames } from '../../pgc/search/question/intent.js';
import { hintCharsMax, hintsMax, questionCharsMax } from '../../pgc/search/question/question.js';
import type { QueryIntent } from '../../pgc/shapes.js';
import type { ModelUse } from './model-use.js';
import type { KnownWords } from './port.js';

/** Of the time that a question has: most of it belongs to its answer. */
const readingShare = 1 / 3;
/** Limit of entities that are kept. */
const entitiesMax = 16;
const scopeCharsMax = 200;
const refinedCharsMax = 1_000;

const shape = z.strictObject({
  intent: z.enum(intentNames),
  entities: z.array(z.string()),
  scope: z.string(),
  refined_query: z.string(),
});
const schema = { name: 'query_intent', shape };

/** How a language model reads a question. Throws MODEL_*, CANCELLED. */
export async function readQuestion(use: ModelUse, question: string): Promise<QueryIntent> {
  const { value } = await use.converse(
    {
      messages: [
        { role: 'system', text: filled('read-question', { intents: intentNames.join(', ') }) },
        { role: 'user', text: question.slice(0, questionCharsMax) },
      ],
      texts: ['read-question'],
      schema,
    },
    use.leftMs * readingShare,
  );
  // No tools were offered, so that there is nothing else it could have answered.
  assert(value, 'an answer by a schema has a value');
  const entities = value.entities.map((each) => short(each, hintCharsMax)).filter(Boolean);
  return {
    intent: value.intent,
    entities: [...new Set(entities)].slice(0, entitiesMax),
    scope: short(value.scope, scopeCharsMax),
    refined_query: short(value.refined_query, refinedCharsMax),
  };
}

/**
 * The hints of a request with those of the model, at most `hintsMax` in all. Words that do not occur in the index are left out, because they only lower the similarity.
 */
export async function hintsBy(
  { entities, refined_query }: QueryIntent,
  given: readonly string[],
  known: KnownWords,
): Promise<string[]> {
  const phrases = [...entities, refined_query].map((each) => each.split(/\s+/).filter(Boolean));
  const found = new Set(await known([...new Set(phrases.flat())]));
  const added = phrases
    .map((words) =>
      words
        .filter((each) => found.has(each))
        .join(' ')
        .slice(0, hintCharsMax),
    )
    .filter(Boolean);
  return [...new Set([...given, ...added])].slice(0, Math.max(hintsMax, given.length));
}

function short(text: string, charsMax: number): string {
  const flat = text.replace(/\s+/g, ' ').trim().slice(0, charsMax);
  return isText(flat) ? flat : '';
}
