import { expect, test } from 'vitest';
import { z } from 'zod';
import { readWith } from '../../../src/operations/fields.js';

const input = z.strictObject({
  name: z.string().min(1).max(3).default('a'),
  count: z.int().min(1).max(9).default(1),
  way: z.enum(['up', 'down', 'both']).default('up'),
  list: z
    .array(z.strictObject({ text: z.string() }))
    .max(1)
    .default([]),
  id: z
    .string()
    .regex(/^[a-z]*$/, 'lower case letters')
    .default(''),
});

test.each([
  [{ name: '' }, 'name', 'it must not be empty'],
  [{ name: 'long' }, 'name', 'it must have at most 3 characters'],
  [{ name: 3 }, 'name', 'it must be a text'],
  [{ count: 0 }, 'count', 'it must be at least 1'],
  [{ count: 1.5 }, 'count', 'it must be a whole number'],
  [{ way: 'left' }, 'way', 'it must be up, down or both'],
  [{ list: 'x' }, 'list', 'it must be a list'],
  [{ list: [{}] }, 'list.0.text', 'it is missing'],
  [{ list: [{ text: '' }, { text: '' }] }, 'list', 'it must have at most 1 entries'],
  [{ nmae: 'x' }, '', 'it takes no nmae'],
  [{ id: 'A' }, 'id', 'lower case letters'],
])('%j is refused in plain words', (args, field, why) => {
  expect(readWith({ input }, args)).toEqual({ field, why });
});
