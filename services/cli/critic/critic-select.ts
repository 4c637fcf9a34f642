import { modesIn } from '../../../src/critic/orchestration/context-file.js';
import { refusalOf } from '../../../src/critic/select/course.js';
import { dimensionNames, type ContextWords } from '../../../src/critic/select/dimensions.js';
import type { EscalationPolicy } from '../../../src/critic/select/escalation.js';
import { selectFor, type Selecting } from '../../../src/critic/select/select.js';
import { criticLimits, type Selection } from '../../../src/critic/shapes.js';
import { strategies } from '../../../src/critic/strategies.js';
import { asBusError, BusError, type Failure } from '../../../src/errors/bus-error.js';
import { bytesOf, linesIn } from '../input.js';
import { writeLine } from '../output.js';

/** A vector, with the path of an artifact. */
const lineBytesMax = 64 * 1024;

interface Row {
  id?: string | number;
  line: number;
  selection?: Selection;
  error: Failure | null;
}

/**
 * Context vectors of a file, one a line: `{id, criticality, phase, …, artifact?, mode?, is_revision?, strict_order?,
 * iteration?, previous_score?, session_tokens?}`, the dimensions also in `context`. A bad line is reported as such, and
 * the others go on. Exit code 1 when there was one.
 */
export async function selectAll(file: string, policy: EscalationPolicy): Promise<void> {
  let line = 0;
  let rows = 0;
  for await (const text of linesIn(bytesOf(file), lineBytesMax)) {
    line += 1;
    if (text?.trim() === '') continue;
    rows += 1;
    if (rows > criticLimits.vectors) {
      const { vectors: limit } = criticLimits;
      throw new BusError('TOO_LARGE', { what: 'the batch of vectors', bytes: rows, limit });
    }
    const row = rowOf(text, line, policy);
    if (row.selection === undefined) process.exitCode = 1;
    await writeLine(JSON.stringify(shown(row)));
  }
}

function rowOf(text: string | undefined, line: number, policy: EscalationPolicy): Row {
  let id: string | number | undefined;
  try {
    if (text === undefined) throw invalid(line, `longer than ${lineBytesMax} bytes`);
    const given = objectIn(text, line);
    if (typeof given.id === 'string' || typeof given.id === 'number') id = given.id;
    const selection = selectFor(selectingOf(given, line), policy);
    const error = refusalOf(selection)?.toFailure() ?? null;
    return { ...(id !== undefined && { id }), line, selection, error };
  } catch (error) {
    return { ...(id !== undefined && { id }), line, error: asBusError(error).toFailure() };
  }
}

function objectIn(text: string, line: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw invalid(line, error instanceof Error ? error.message : 'not JSON');
  }
  return recordOf(value) ?? fail(line, 'it must be one JSON object');
}

function selectingOf(given: Record<string, unknown>, line: number): Selecting {
  const nested = given.context ?? given.adversarial_context ?? {};
  const words = { ...given, ...(recordOf(nested) ?? fail(line, 'context must be an object')) };
  const artifact = recordOf(given.artifact) ?? { path: given.artifact ?? given.path };
  const modes = modesOf(given.mode ?? given.modes, line);
  return {
    artifact: {
      path: stringOf(artifact.path, 'artifact', line),
      text: stringOf(artifact.text, 'text', line),
    },
    ...{ modes, is_adversarial: true },
    context: contextOf(words, line),
    strict_order: isOn(given.strict_order, 'strict_order', line),
    is_revision: isOn(given.is_revision, 'is_revision', line),
    iteration: iterationOf(given.iteration, line),
    ...present('previous_score', numberOf(given.previous_score, 'previous_score', line, 1)),
    ...present('session_tokens', numberOf(given.session_tokens, 'session_tokens', line)),
  };
}

function contextOf(words: Record<string, unknown>, line: number): ContextWords {
  const context: ContextWords = {};
  for (const name of dimensionNames) {
    const word = words[name];
    if (word === undefined || word === null) continue;
    if (!['string', 'number', 'boolean'].includes(typeof word))
      throw invalid(line, `${name} must be a word`);
    // What is no word is no value either: it is replaced, as any other.
    context[name] = typeof word === 'string' ? word : JSON.stringify(word);
  }
  return context;
}

function modesOf(value: unknown, line: number): Selecting['modes'] {
  const list = Array.isArray(value) ? value : value === undefined || value === null ? [] : [value];
  if (!list.every((each) => typeof each === 'string')) throw invalid(line, 'mode must be a word');
  const text = list.join(',');
  return text.trim().toLowerCase() === 'auto' ? [] : modesIn(text);
}

/** Also what a script wants to know at a glance: the names alone, their strategies, and the sum. */
function shown({ id, line, selection, error }: Row): object {
  const name = id === undefined ? { line } : { id, line };
  if (selection === undefined) return { ...name, outcome: 'invalid', error };
  const { outcome, criticality, floor, modes, tokens, flags } = selection;
  return {
    ...name,
    ...{ outcome, criticality, floor },
    modes: modes.map(({ mode }) => mode),
    strategies: modes.map(({ mode }) => (mode === 'standard' ? '' : strategies[mode].id)),
    advisory: modes.filter((each) => each.is_advisory).map(({ mode }) => mode),
    single_pass: modes.filter((each) => each.is_single_pass).map(({ mode }) => mode),
    ...{ tokens, flags, error },
  };
}

function recordOf(value: unknown): Record<string, unknown> | undefined {
  const isRecord = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isRecord ? (value as Record<string, unknown>) : undefined;
}

function stringOf(value: unknown, name: string, line: number): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : fail(line, `${name} must be a text`);
}

function numberOf(
  value: unknown,
  name: string,
  line: number,
  most = Number.MAX_SAFE_INTEGER,
): number | undefined {
  if (value === undefined || value === null) return undefined;
  const isFine = typeof value === 'number' && value >= 0 && value <= most;
  return isFine ? value : fail(line, `${name} must be a number from 0 to ${most}`);
}

function iterationOf(value: unknown, line: number): number {
  const most = criticLimits.iterations;
  const iteration = numberOf(value, 'iteration', line, most) ?? 1;
  if (Number.isInteger(iteration) && iteration >= 1) return iteration;
  return fail(line, `iteration must be a whole number from 1 to ${most}`);
}

function isOn(value: unknown, name: string, line: number): boolean {
  if (value === undefined || value === null) return false;
  return typeof value === 'boolean' ? value : fail(line, `${name} must be true or false`);
}

function present<K extends string>(key: K, value: number | undefined): Partial<Record<K, number>> {
  return value === undefined ? {} : ({ [key]: value } as Record<K, number>);
}

function fail(line: number, detail: string): never {
  throw invalid(line, detail);
}

function invalid(line: number, detail: string): BusError {
  return new BusError('CRITIC_LINE_INVALID', { line, detail });
}
