import { z } from 'zod';
import type { AnswerSchema } from './conversation.js';

/** Sent to the model in its one round of repair. */
const issuesMax = 10;

/** `response_format` of a request. */
export function formatOf<T>({ name, shape, json, strict }: AnswerSchema<T>): {
  type: 'json_schema';
  json_schema: { name: string; schema: Record<string, unknown>; strict: boolean };
} {
  const schema = json ?? z.toJSONSchema(shape);
  return { type: 'json_schema', json_schema: { name, schema, strict: strict ?? true } };
}

/** Parses a text by a schema, or says what is wrong with it. Ignores the marks of a code block around it. */
export function readBy<T>(
  { shape }: AnswerSchema<T>,
  text: string,
): { value: T } | { wrong: string } {
  let json: unknown;
  try {
    json = JSON.parse(text.trim().replace(/^```(?:json)?\s*|\s*```$/g, ''));
  } catch (error) {
    return { wrong: `it is no JSON: ${(error as Error).message}` };
  }
  const parsed = shape.safeParse(json);
  if (parsed.success) return { value: parsed.data };
  const issues = parsed.error.issues
    .slice(0, issuesMax)
    .map(({ path, message }) => `${path.join('.')}${path.length > 0 ? ': ' : ''}${message}`);
  return { wrong: issues.join('; ') };
}

export function repairOf(wrong: string): string {
  return `Your answer cannot be used: ${wrong}. Answer again, with nothing but JSON as the schema wants it.`;
}
