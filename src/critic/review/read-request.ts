import { createHash } from 'node:crypto';
import { BusError } from '../../errors/bus-error.js';
import { criticLimits, type CritiqueRequest } from '../shapes.js';
import { isModeName } from '../strategies.js';

/** It is part of a key, and of the name of a file. */
const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/;
/** Of the criteria. */
const wordsCharsMax = 4_000;
const nameCharsMax = 200;
/** Reports of another review. */
export const handedMax = 16;
const tokensMost = 100_000_000;
const iterationsMost = criticLimits.iterations;

/** Checks a request. Throws REVIEW_INVALID, TOO_LARGE. */
export function readRequest(request: CritiqueRequest): CritiqueRequest {
  const { id, artifact, root, modes, context, iteration, rules, criteria } = request;
  const refuse = (detail: string): never => {
    throw new BusError('REVIEW_INVALID', { detail });
  };
  if (!idPattern.test(id)) refuse('its id is no name of letters, digits, `.`, `_` and `-`');
  if (artifact.path === '') refuse('it names no artifact');
  const { path: its, tree = '', named = '' } = artifact;
  for (const name of [its, tree, named, root])
    within('a path', name.length, criticLimits.pathChars);
  within('the artifact', Buffer.byteLength(artifact.text), criticLimits.artifactBytes);
  const unknown = (modes as string[]).find((mode) => !isModeName(mode));
  if (unknown !== undefined) refuse(`unknown mode '${shown(unknown)}'`);
  if (new Set(modes).size < modes.length) refuse('it names a mode twice');
  if (!isWhole(iteration, iterationsMost)) refuse(`iteration ${iteration} is not 1 or more`);
  for (const value of [request.previous_score, request.threshold])
    if (value !== undefined && !(value >= 0 && value <= 1))
      refuse(`a score of ${value} is not between 0 and 1`);
  if (!isWhole(request.iterations_max ?? 1, iterationsMost))
    refuse(`iterations_max is not 1 to ${iterationsMost}`);
  if (!(request.tokens >= 0 && request.tokens <= tokensMost))
    refuse(`tokens is not 0 to ${tokensMost}`);
  within('the list of rule files', rules.length, criticLimits.ruleFiles);
  for (const { path, text, named: given = '' } of rules) {
    within('the path of a rule file', path.length + given.length, 2 * criticLimits.pathChars);
    within(`the rule file ${shown(path)}`, Buffer.byteLength(text), criticLimits.ruleBytes);
  }
  const { handed = [] } = request;
  within('what is handed over', handed.length, handedMax);
  const { reportBytes } = criticLimits;
  if (handed.length > 0) within('what is handed over', bytesOf(handed), reportBytes * 2);
  if (handed.some(({ score }) => score !== null)) refuse('what is handed over has scores');
  within('the criteria', criteria.length, wordsCharsMax);
  const names = [request.ps_id, request.entry_id, request.generator, ...Object.values(context)];
  for (const name of names) within('a name', name.length, nameCharsMax);
  return request;
}

/** The same for two requests of one review. */
export function digestOf({ id: _, ...request }: CritiqueRequest): string {
  return createHash('sha256')
    .update(JSON.stringify(inOrder(request)))
    .digest('hex');
}

export function digestOfText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Keys of objects in one order; undefined ones are left out. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value as Record<string, unknown>).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  return Object.fromEntries(entries.map(([key, each]) => [key, inOrder(each)]));
}

function within(what: string, bytes: number, limit: number): void {
  if (bytes > limit) throw new BusError('TOO_LARGE', { what, bytes, limit });
}

function isWhole(value: number, most: number): boolean {
  return Number.isInteger(value) && value >= 1 && value <= most;
}

const bytesOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
const shown = (text: string): string => text.slice(0, 80);
