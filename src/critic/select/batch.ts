import { z } from 'zod';
import { asBusError, BusError } from '../../errors/bus-error.js';
import { modesIn } from '../orchestration/context-file.js';
import { criticLimits, type Flag } from '../shapes.js';
import { strategies } from '../strategies.js';
import { refusalOf } from './course.js';
import { dimensionNames } from './dimensions.js';
import type { EscalationPolicy } from './escalation.js';
import { selectFor, type Selecting } from './select.js';

/** Of one line: a vector, with the path of an artifact. */
export const vectorBytesMax = 64 * 1024;

/** What is null was not given. */
const given = <T extends z.ZodType>(its: T) =>
  z.preprocess((value) => value ?? undefined, its.optional());
const text = given(z.string('must be a text'));
const isOn = given(z.boolean('must be true or false'));
const modes = given(z.union([z.string(), z.array(z.string())], 'must be a word'));
const record = z.record(z.string(), z.unknown(), 'must be an object');
const numberTo = (most: number) => {
  const error = `must be a number from 0 to ${most}`;
  return given(z.number(error).min(0, error).max(most, error));
};
const iterations = criticLimits.iterations;
const noIteration = `must be a whole number from 1 to ${iterations}`;

const vectorSchema = z.looseObject({
  ...{ context: given(record), adversarial_context: given(record) },
  artifact: given(z.union([z.string(), z.object({ path: text, text })], 'must be a text')),
  ...{ path: text, mode: modes, modes, strict_order: isOn, is_revision: isOn },
  iteration: given(z.int(noIteration).min(1, noIteration).max(iterations, noIteration)),
  previous_score: numberTo(1),
  session_tokens: numberTo(Number.MAX_SAFE_INTEGER),
});
// What is no word is no value either: it is replaced, as any other.
const word = z.union(
  [z.string(), z.union([z.number(), z.boolean()]).transform(String)],
  'must be a word',
);
const wordsSchema = z.object(
  Object.fromEntries(dimensionNames.map((name) => [name, given(word)] as const)),
);

/** Named in a warning. */
const strangersMax = 10;

interface Row {
  outcome: string;
  [name: string]: unknown;
}

/**
 * Which modes would run for each line: `{id, criticality, phase, …, artifact?, mode?, is_revision?, strict_order?,
 * iteration?, previous_score?, session_tokens?}`, the dimensions also in `context`. A line that is no vector has the outcome
 * `invalid`, and the others go on. `budget`: where a vector names none. `lines`: undefined for one that is longer than `vectorBytesMax`. Throws TOO_LARGE.
 */
export async function* selectionsOf(
  lines: AsyncIterable<string | undefined>,
  policy: EscalationPolicy,
  budget?: string,
): AsyncGenerator<Row> {
  const { vectors: limit } = criticLimits;
  let line = 0;
  let rows = 0;
  for await (const each of lines) {
    line += 1;
    if (each?.trim() === '') continue;
    rows += 1;
    if (rows > limit)
      throw new BusError('TOO_LARGE', { what: 'a batch', bytes: rows, unit: 'vectors', limit });
    yield selectionOf(each, line, policy, budget);
  }
}

/** Never throws. The names of modes, their strategies and the sum are what a script wants at a glance. */
function selectionOf(
  source: string | undefined,
  line: number,
  policy: EscalationPolicy,
  budget: string | undefined,
): Row {
  let name: object = { line };
  try {
    if (source === undefined) throw invalid(line, `longer than ${vectorBytesMax} bytes`);
    const vector = objectIn(source, line);
    if (typeof vector.id === 'string' || typeof vector.id === 'number')
      name = { id: vector.id, line };
    const selection = selectFor(selectingOf(vector, line, budget), policy);
    const { outcome, criticality, floor, modes: all, tokens } = selection;
    const flags = [...selection.flags, ...strangers(vector)];
    return {
      ...name,
      ...{ outcome, criticality, floor },
      modes: all.map(({ mode }) => mode),
      strategies: all.map(({ mode }) => (mode === 'standard' ? '' : strategies[mode].id)),
      advisory: all.filter((each) => each.is_advisory).map(({ mode }) => mode),
      single_pass: all.filter((each) => each.is_single_pass).map(({ mode }) => mode),
      ...{ tokens, flags, error: refusalOf(selection)?.toFailure() ?? null },
    };
  } catch (error) {
    return { ...name, outcome: 'invalid', error: asBusError(error).toFailure() };
  }
}

function objectIn(source: string, line: number): Record<string, unknown> {
  try {
    return readAs(record, JSON.parse(source), line);
  } catch (error) {
    if (error instanceof SyntaxError) throw invalid(line, 'it is no JSON');
    throw error;
  }
}

const ownNames: ReadonlySet<string> = new Set([
  ...Object.keys(vectorSchema.shape),
  ...dimensionNames,
]);
/** Of a request, and no matter of which modes run. */
const otherNames: ReadonlySet<string> = new Set(['id', 'line', 'ps_id', 'entry_id', 'generator']);

/** Names that mean nothing here: a dimension that is misspelt is replaced by its fallback. */
function strangers(vector: Record<string, unknown>): Flag[] {
  const names = Object.keys(vector).filter((each) => !ownNames.has(each) && !otherNames.has(each));
  if (names.length === 0) return [];
  const text = `not known, and not read: ${names.slice(0, strangersMax).join(', ')}`;
  return [{ code: 'CONTEXT_UNKNOWN', level: 'warning', text }];
}

function selectingOf(
  whole: Record<string, unknown>,
  line: number,
  budget: string | undefined,
): Selecting {
  const vector = readAs(vectorSchema, whole, line);
  if (!Object.keys(whole).some((each) => ownNames.has(each)))
    throw invalid(line, `names no dimension, no artifact and no mode`);
  const { artifact = vector.path ?? '', mode = vector.modes ?? [] } = vector;
  const { context = vector.adversarial_context, previous_score, session_tokens } = vector;
  const place = typeof artifact === 'string' ? { path: artifact, text: '' } : artifact;
  const named = [mode].flat().join(',');
  return {
    artifact: { path: place.path ?? '', text: place.text ?? '' },
    modes: named.trim().toLowerCase() === 'auto' ? [] : modesIn(named),
    is_adversarial: true,
    context: {
      ...(budget !== undefined && { token_budget: budget }),
      ...defined(readAs(wordsSchema, { ...whole, ...context }, line)),
    },
    ...{ strict_order: vector.strict_order ?? false, is_revision: vector.is_revision ?? false },
    iteration: vector.iteration ?? 1,
    ...(previous_score !== undefined && { previous_score }),
    ...(session_tokens !== undefined && { session_tokens }),
  };
}

function defined<T extends object>(values: T): Partial<T> {
  const entries = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(entries) as Partial<T>;
}

function readAs<T extends z.ZodType>(schema: T, value: unknown, line: number): z.output<T> {
  const read = schema.safeParse(value);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw invalid(line, `${issue?.path.join('.') || 'it'} ${issue?.message ?? ''}`);
}

function invalid(line: number, detail: string): BusError {
  return new BusError('CRITIC_LINE_INVALID', { line, detail });
}
