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
  const parsed = (input as z.ZodObject).safeParse(args, { error: whyOf });
  if (parsed.success) return { value: parsed.data };
  const [issue] = parsed.error.issues;
  return { field: issue?.path.join('.') ?? '', why: issue?.message ?? 'not understood' };
}

const kinds: Readonly<Record<string, string>> = {
  ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'an object' },
};
const units: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };

/** In plain words; undefined: as zod says it. A schema with words of its own has these. */
function whyOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return issue.input === undefined
      ? 'it is missing'
      : `it must be ${kinds[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `it must be ${anyOf(issue.values.map(String))}`;
  if (issue.code === 'unrecognized_keys') return `it takes no ${issue.keys.join(', ')}`;
  if (issue.code !== 'too_small' && issue.code !== 'too_big') return undefined;
  const unit = units[issue.origin];
  const bound =
    issue.code === 'too_small' ? `at least ${issue.minimum}` : `at most ${issue.maximum}`;
  if (unit !== undefined && bound === 'at least 1') return 'it must not be empty';
  return unit === undefined ? `it must be ${bound}` : `it must have ${bound} ${unit}`;
}

/** `a, b or c`. */
export function anyOf(choices: readonly string[]): string {
  return choices.join(', ').replace(/, ([^,]*)$/, ' or $1');
}
