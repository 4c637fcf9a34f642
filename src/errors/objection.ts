import type { z } from 'zod';

/** For `safeParse`: what is wrong is said in plain words, not in those of the validation library. */
export const inOurWords = { error: whyOf };

/** The first thing that is wrong with a document: its field, and why. */
export function objectionIn(error: z.ZodError): string {
  const { field, why } = objectionOf(error);
  return field === '' ? why : `${field}: ${why}`;
}

export function objectionOf(error: z.ZodError): { field: string; why: string } {
  const [issue] = error.issues;
  if (issue === undefined) return { field: '', why: '' };
  const { path, message } = nearest(issue);
  return { field: path.join('.'), why: message };
}

type Issue = Pick<z.core.$ZodIssue, 'path' | 'message'>;

/** Of several forms, the objection of the one that the document comes nearest to: it lies deepest. */
function nearest(issue: z.core.$ZodIssue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const others = issue.errors.flatMap(([first]) => (first === undefined ? [] : [nearest(first)]));
  const [deepest] = others.sort((one, other) => other.path.length - one.path.length);
  if (deepest === undefined) return issue;
  return { path: [...issue.path, ...deepest.path], message: deepest.message };
}

const kinds: Readonly<Record<string, string>> = {
  ...{ string: 'a text', number: 'a number', int: 'a whole number', boolean: 'true or false' },
  ...{ array: 'a list', object: 'an object' },
};
const units: Readonly<Record<string, string>> = { string: 'characters', array: 'entries' };

/** Undefined: as zod says it. A schema with words of its own has these. */
function whyOf(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return issue.input === undefined
      ? 'it is missing'
      : `it must be ${kinds[issue.expected] ?? issue.expected}`;
  if (issue.code === 'invalid_value') return `it must be ${anyOf(issue.values.map(String))}`;
  if (issue.code === 'unrecognized_keys') return `it takes no ${issue.keys.join(', ')}`;
  if (issue.code === 'invalid_format') return 'it is not written as it should be';
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
