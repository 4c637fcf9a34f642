import { isDeepStrictEqual } from 'node:util';
import { nameHash } from '../../../format/name-hash.js';
import type { CallRow } from '../../../format/shard-index.js';
import type { BoundAnew, Change, ChangedText } from '../../change/change.js';
import { AffectedNames } from './affected-names.js';
import { ProgramBinder } from '../bind-program.js';
import { ChangedImports } from './changed-imports.js';
import { ChangedNames } from './changed-names.js';
import type { LanguageRules } from '../rules.js';

interface RebindJob {
  change: Change;
  /** Sites that were bound to what is gone, by unit. */
  lost: ReadonlyMap<number, ReadonlySet<number>>;
  /** Whether the text of a path is of a language that is bound. */
  isOf: (path: string) => boolean;
  /** The same, or of one that defines something for it. */
  isOurs: (path: string) => boolean;
}

/** Binds the calls that may mean something else after a change; everything where that cannot be told. */
export function rebindProgram(
  { change, lost, isOf, isOurs }: RebindJob,
  rules: LanguageRules,
): BoundAnew | undefined {
  const texts = change.texts.filter(({ path }) => isOurs(path));
  if (texts.length === 0) return undefined;
  const said = new ChangedNames(change, rules, isOurs);
  const names = new Set([...said.names, ...said.rebased]);
  const isSaidAsBefore = names.size === 0 && !said.isWide && change.isInOrder;
  const isElsewhere = !texts.some(({ path }) => isOf(path)) && noneLost(lost, change, isOf);
  const isNothingTo = isSaidAsBefore || (!said.isWide && change.isInOrder && areNew(names, change));
  if (isElsewhere && isNothingTo && texts.every((text) => importsAsBefore(change, text)))
    return undefined;
  const binder = new ProgramBinder(change.units, rules);
  const { definitions } = binder;
  const imports = new ChangedImports(change, definitions);
  const areImportsSame = imports.names.size + imports.texts.size === 0 && !imports.isWide;
  // What may run in the place of what is said, too.
  const implementations = isSaidAsBefore && areImportsSame ? undefined : binder.implementations;
  if (said.isWide || imports.isWide || !change.isInOrder)
    return { calls: binder.calls(), isWhole: true, implementations };
  const affected = new AffectedNames(definitions, said, imports.names);
  const isWanted = (unit: number, { id, file, caller }: CallRow): boolean => {
    const index = change.units[unit];
    if (index === undefined) return false;
    const { path } = index.file(file);
    if (change.changed(path) !== undefined || imports.texts.has(path)) return true;
    if (lost.get(unit)?.has(id) === true) return true;
    if (affected.size === 0) return false;
    if (affected.isIn(index.expressionOf(id))) return true;
    if (caller < 0) return false;
    const { name, container } = index.symbolPlace(caller);
    return affected.has(name) || affected.isIn(container);
  };
  return { calls: binder.calls(isWanted), isWhole: false, implementations };
}

/** Whether no text speaks of any of the names. */
function areNew(names: ReadonlySet<string>, { units }: Change): boolean {
  if (![...names].every((name) => /^\w+$/.test(name))) return false;
  const hashes = new Set([...names].map((name) => nameHash(name)));
  return !units.some((index) => index.speaksOf(hashes));
}

function noneLost(lost: RebindJob['lost'], { units }: Change, isOf: RebindJob['isOf']): boolean {
  for (const [unit, sites] of lost)
    for (const site of sites) {
      const index = units[unit];
      if (index !== undefined && isOf(index.file(index.site(site).file).path)) return false;
    }
  return true;
}

function importsAsBefore(
  { units, before }: Change,
  { before: was, now: is }: ChangedText,
): boolean {
  if (was === undefined || is === undefined) return false;
  const [one, other] = [
    before[was.unit]?.index.importsOf(was.file),
    units[is.unit]?.importsOf(is.file),
  ].map((rows) => rows?.map(({ target, names }) => ({ target, names })));
  return isDeepStrictEqual(one, other);
}
