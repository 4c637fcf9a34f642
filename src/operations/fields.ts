import { z } from 'zod';
import { inOurWords, objectionOf } from '../errors/objection.js';

/** A field of an input, as JSON Schema says it. */
export interface Field {
  type?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: unknown;
  enum?: string[];
  items?: Field;
  properties?: Record<string, Field>;
  anyOf?: Field[];
}

/** By name; what a caller may leave out has a default. */
export function fieldsOf({ input }: { input: unknown }): Record<string, Field> {
  return (
    (z.toJSONSchema(input as z.ZodObject, { io: 'input', unrepresentable: 'any' }) as Field)
      .properties ?? {}
  );
}

/** The arguments as the operation takes them, or the field that is wrong and why. */
export function readWith(
  { input }: { input: unknown },
  args: unknown,
): { value: Record<string, unknown> } | { field: string; why: string } {
  const parsed = (input as z.ZodObject).safeParse(args, inOurWords);
  if (parsed.success) return { value: parsed.data };
  return objectionOf(parsed.error);
}
