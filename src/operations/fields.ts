import { z } from 'zod';

/** A field of an input, as JSON Schema says it. */
export interface Field {
  type?: string;
  description?: string;
  minimum?: number;
  maximum?: number;
  maxLength?: number;
  default?: unknown;
  enum?: string[];
  items?: { enum?: string[] };
  properties?: Record<string, Field>;
}

/** By name; what a caller may leave out has a default. */
export function fieldsOf({ input }: { input: unknown }): Record<string, Field> {
  return (z.toJSONSchema(input as z.ZodObject, { io: 'input' }) as Field).properties ?? {};
}

/** The arguments as the operation takes them, or the field that is wrong and why. */
export function readWith(
  { input }: { input: unknown },
  args: unknown,
): { value: Record<string, unknown> } | { field: string; why: string } {
  const parsed = (input as z.ZodObject).safeParse(args, { error: whyOf });
  if (parsed.success) return { value: parsed.data };
  const [issue] = parsed.error.issues;
  return { field: issue?.path.join('.') ?? '', why: issue?.message ?? 'not understood' };
}

/** In plain words; undefined: as zod says it. A schema with words of its own has these. */
function whyOf(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'it is missing' : `it must be ${kindOf(issue.expected)}`;
    case 'invalid_value':
      return `it must be ${anyOf(issue.values.map(String))}`;
    case 'too_small':
      return issue.origin === 'string' && issue.minimum === 1
        ? 'it must not be empty'
        : `it must ${sizeOf(issue.origin)} at least ${issue.minimum}${unitOf(issue.origin)}`;
    case 'too_big':
      return `it must ${sizeOf(issue.origin)} at most ${issue.maximum}${unitOf(issue.origin)}`;
    case 'unrecognized_keys':
      return `there is no ${issue.keys.join(', ')}`;
    default:
      return undefined;
  }
}

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
};

function kindOf(type: string): string {
  return kinds[type] ?? type;
}

function sizeOf(origin: string): string {
  return origin in units ? 'have' : 'be';
}

const units: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

function unitOf(origin: string): string {
  return units[origin] ?? '';
}

/** `a, b or c`. */
export function anyOf(choices: readonly string[]): string {
  return choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
}
