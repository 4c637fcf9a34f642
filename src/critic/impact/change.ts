import { CodeReader } from '../../pgc/mine/code-reader.js';
import type { Ground } from '../ground.js';
import type { Artifact } from '../shapes.js';
import { matchedLines } from './line-match.js';
import { versionOf, type Unit, type Version } from './unit.js';

/** With fewer lines of the tree's version kept it is another text, and everything in it is new. */
const keptShareMin = 0.4;

/** A function before and after. */
export interface Pair {
  before: Unit;
  after: Unit;
  /** It uses a name that this change imports: what it no longer does itself may be done there. */
  isHandedOver: boolean;
}

/** An artifact that is a source file of the tree, and differs from what the tree has, or from what was committed. */
export interface Change {
  path: string;
  before: Version;
  after: Version;
  /** Functions that both have, and what stands outside of all functions. */
  pairs: Pair[];
  /** Too much of it is new to compare functions. */
  isRewritten: boolean;
  /** A line of the tree's version that the artifact does not have, 1-based. */
  isRemoved(line: number): boolean;
  /** A line of the artifact that the tree's version does not have, 1-based. */
  isAdded(line: number): boolean;
  /** Where a line of the tree's version stands in the artifact, or would stand: 1-based. */
  lineAfter(line: number): number;
}

/**
 * What an artifact changes in the file that the tree has under its path; undefined: it changes nothing, or its language
 * is not parsed. Throws what the ground throws.
 */
export async function changeOf(
  { path, text }: Artifact,
  ground: Ground,
): Promise<Change | undefined> {
  const inTree = await ground.read(path);
  if (inTree === undefined) return undefined;
  const earlier = inTree === text ? await ground.committed(path) : inTree;
  return earlier === undefined || earlier === text ? undefined : changeFrom(path, earlier, text);
}

/** Undefined: a version cannot be parsed. */
export async function changeFrom(
  path: string,
  earlier: string,
  later: string,
): Promise<Change | undefined> {
  await using reader = new CodeReader();
  const before = await versionOf(reader, path, earlier);
  const after = await versionOf(reader, path, later);
  if (before === undefined || after === undefined) return undefined;
  return changeBetween(path, before, after);
}

function changeBetween(path: string, before: Version, after: Version): Change {
  const [old, current] = [before, after].map(({ code }) => code.lines.map((line) => line.trim()));
  const lines = old ?? [];
  const match = matchedLines(lines, current ?? []);
  const kept = new Set(match);
  const solid = lines.filter((line) => line.length > 1).length;
  const stayed = lines.filter((line, at) => line.length > 1 && match[at] !== undefined).length;
  return {
    ...{ path, before, after, pairs: pairsOf(before, after) },
    isRewritten: stayed < solid * keptShareMin,
    isRemoved: (line) => match[line - 1] === undefined,
    isAdded: (line) => !kept.has(line - 1),
    lineAfter(line) {
      for (let at = line - 1; at >= 0; at -= 1) {
        const place = match[at];
        // Behind the last line before it that is still there.
        if (place !== undefined)
          return Math.min(place + (at === line - 1 ? 1 : 2), after.code.lines.length);
      }
      return 1;
    },
  };
}

function pairsOf(before: Version, after: Version): Pair[] {
  const known = importedBy(before);
  const fresh = [...importedBy(after)].filter((name) => !known.has(name));
  return pairUnits(before.units, after.units).map((pair) => ({
    ...pair,
    isHandedOver: pair.after.key !== '' && fresh.some((name) => pair.after.names.has(name)),
  }));
}

function importedBy({ code }: Version): Set<string> {
  return new Set(
    code.facts.imports.flatMap(({ names }) => names.map((name) => name.split(':').at(-1) ?? name)),
  );
}

/** By name; a function whose name is gone and most of whose names stand in a new one has been renamed. */
function pairUnits(
  before: readonly Unit[],
  after: readonly Unit[],
): Pick<Pair, 'before' | 'after'>[] {
  const byKey = new Map(after.map((unit) => [unit.key, unit]));
  const keys = new Set(before.map(({ key }) => key));
  const fresh = new Set(after.filter(({ key }) => !keys.has(key)));
  return before.flatMap((unit) => {
    const same = byKey.get(unit.key);
    if (same !== undefined) return [{ before: unit, after: same }];
    const heir = [...fresh].find((each) => isRenamed(unit, each));
    if (heir === undefined) return [];
    fresh.delete(heir);
    return [{ before: unit, after: heir }];
  });
}

const sharedNamesMin = 0.6;
const namesMin = 4;

function isRenamed({ names, key }: Unit, other: Unit): boolean {
  if (key === '' || other.key === '' || names.size < namesMin) return false;
  const shared = [...names.keys()].filter((name) => other.names.has(name)).length;
  return shared >= names.size * sharedNamesMin && shared >= other.names.size * sharedNamesMin;
}
