import { BusError } from '../../errors/bus-error.js';
import type { Ground } from '../ground.js';
import type { ModeInput } from '../mode.js';
import { matchedLines } from './line-match.js';
import { versionsOf, type Unit, type Version } from './version.js';

/** Of the lines of the tree's version so many must have stayed: else it is another text, and everything in it is new. */
const keptShareMin = 0.4;

/** A function before and after. */
export interface Pair {
  before: Unit;
  after: Unit;
  /** It uses something that this change imports: what it no longer does itself may be done there. */
  isHandedOver: boolean;
}

/** An artifact that is a source file of the tree, and no longer what the tree has; or it is, and no longer what was committed. */
export interface Change {
  path: string;
  before: Version;
  after: Version;
  /** Functions that both have, and what stands outside of all. */
  pairs: Pair[];
  /** Too much of it is new to tell what was lost of the old. */
  isRewritten: boolean;
  /** A line of the tree's version that the artifact does not have, 1-based. */
  isRemoved(line: number): boolean;
  /** A line of the artifact that the tree's version does not have, 1-based. */
  isAdded(line: number): boolean;
  /** Where a line of the tree's version stands in the artifact, or would stand: 1-based. */
  lineAfter(line: number): number;
}

const remembered = 4;
const known = new WeakMap<Ground, Map<string, Promise<Change | undefined>>>();

/**
 * What an artifact changes of the file that the tree has under its path; undefined: it changes none, is that very file and was committed so, or
 * no source that is read here. The same for all modes of a review. Throws what the ground throws.
 */
export function changeOf(
  input: Pick<ModeInput, 'artifact' | 'ground'>,
): Promise<Change | undefined> {
  const { artifact, ground } = input;
  if (ground === undefined) return Promise.resolve(undefined);
  const cache = known.get(ground) ?? new Map<string, Promise<Change | undefined>>();
  known.set(ground, cache);
  const key = `${artifact.path}\0${artifact.digest}`;
  const before = cache.get(key);
  if (before !== undefined) return before;
  const change = compared(artifact, ground);
  const [oldest] = cache.keys();
  if (cache.size >= remembered && oldest !== undefined) cache.delete(oldest);
  cache.set(key, change);
  // Asked again, it may be read.
  change.catch(() => cache.delete(key));
  return change;
}

async function compared(
  { path, text }: ModeInput['artifact'],
  ground: Ground,
): Promise<Change | undefined> {
  const inTree = await ground.read(path);
  if (inTree === undefined) return undefined;
  const its = inTree === text ? await ground.committed(path) : inTree;
  if (its === undefined || its === text) return undefined;
  const versions = await mined(path, [its, text]);
  const [before, after] = versions ?? [];
  if (before === undefined || after === undefined) return undefined;
  return changeBetween(path, before, after);
}

/** What cannot be parsed is compared with nothing. */
async function mined(path: string, texts: readonly string[]): Promise<Version[] | undefined> {
  try {
    return await versionsOf(path, texts);
  } catch (error) {
    if (error instanceof BusError) return undefined;
    throw error;
  }
}

export function changeBetween(path: string, before: Version, after: Version): Change {
  const lines = before.view.lines.map((line) => line.trim());
  const match = matchedLines(
    lines,
    after.view.lines.map((line) => line.trim()),
  );
  const kept = new Set(match);
  const told = lines.filter((line) => line.length > 1).length;
  const stayed = lines.filter((line, at) => line.length > 1 && match[at] !== undefined).length;
  return {
    ...{ path, before, after, pairs: pairsOf(before, after) },
    isRewritten: stayed < told * keptShareMin,
    isRemoved: (line) => match[line - 1] === undefined,
    isAdded: (line) => !kept.has(line - 1),
    lineAfter(line) {
      for (let at = line - 1; at >= 0; at -= 1) {
        const place = match[at];
        // Behind the last line before it that is still there.
        if (place !== undefined)
          return Math.min(place + (at === line - 1 ? 1 : 2), after.view.lines.length);
      }
      return 1;
    },
  };
}

function pairsOf(before: Version, after: Version): Pair[] {
  const imported = (version: Version): Set<string> =>
    new Set(
      version.facts.imports.flatMap(({ names }) =>
        names.map((name) => name.split(':').at(-1) ?? name),
      ),
    );
  const known = imported(before);
  const fresh = [...imported(after)].filter((name) => !known.has(name));
  const pairs = paired(before.units, after.units);
  return [...pairs, ...dissolved(before.units, pairs)].map((pair) => ({
    ...pair,
    isHandedOver: pair.after.key !== '' && fresh.some((name) => pair.after.used.has(name)),
  }));
}

type Plain = Pick<Pair, 'before' | 'after'>;

/** What is gone, and who called it does by himself now: what it did besides is lost there. */
function dissolved(before: readonly Unit[], pairs: readonly Plain[]): Plain[] {
  const kept = new Set(pairs.map((pair) => pair.before));
  return before.flatMap((unit) => {
    if (kept.has(unit) || unit.symbol?.exported === true || unit.name === '') return [];
    const callers = pairs.filter(
      (pair) =>
        isCalledIn(pair.before, unit) &&
        !pair.after.names.has(unit.name) &&
        unit.calls.some(({ name }) => calls(pair.after, name) && !calls(pair.before, name)),
    );
    return callers.slice(0, 1).map((pair) => ({ before: unit, after: pair.after }));
  });
}

function calls(unit: Unit, name: string): boolean {
  return unit.calls.some((call) => call.name === name);
}

/** And waits for it, if there is anything to wait for. */
function isCalledIn(caller: Unit, { name, awaits }: Unit): boolean {
  return caller.calls.some(
    (call) => call.name === name && (awaits.length === 0 || call.isAwaited || !call.isUnused),
  );
}

/** By name; a function whose name is gone and most of whose calls stand in a new one has been renamed. */
function paired(before: readonly Unit[], after: readonly Unit[]): Plain[] {
  const byKey = new Map(after.map((unit) => [unit.key, unit]));
  const keys = new Set(before.map(({ key }) => key));
  const fresh = new Set(after.filter(({ key }) => !keys.has(key)));
  return before.flatMap((unit) => {
    const same = byKey.get(unit.key);
    if (same !== undefined) return [{ before: unit, after: same }];
    const heir = [...fresh].find((each) => isHeir(unit, each));
    if (heir === undefined) return [];
    fresh.delete(heir);
    return [{ before: unit, after: heir }];
  });
}

const heirShareMin = 0.6;
const heirNamesMin = 4;

function isHeir({ names, key }: Unit, other: Unit): boolean {
  if (key === '' || other.key === '' || names.size < heirNamesMin) return false;
  const shared = [...names].filter((name) => other.names.has(name)).length;
  return shared >= names.size * heirShareMin && shared >= other.names.size * heirShareMin;
}
