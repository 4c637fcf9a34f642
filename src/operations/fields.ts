import { z } from 'zod';
import type { AnyOperation } from './registry.js';

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
export function fieldsOf({ input }: AnyOperation): Record<string, Field> {
  return (z.toJSONSchema(input as z.ZodObject, { io: 'input' }) as Field).properties ?? {};
}

/** The arguments as the operation takes them, or the field that is wrong and why. */
export function readArguments(
  { input }: AnyOperation,
  args: object,
): { value: unknown } | { field: string; why: string } {
  const parsed = (input as z.ZodObject).safeParse(args);
  if (parsed.success) return { value: parsed.data };
  const [issue] = parsed.error.issues;
  return { field: issue?.path.join('.') ?? '', why: issue?.message ?? 'not understood' };
}
