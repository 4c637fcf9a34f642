import type { CallRow } from '../../../format/shard-index.js';
import type { BoundAnew, Change } from '../../change/change.js';
import { AffectedNames } from './affected-names.js';
import { ProgramBinder } from '../bind-program.js';
import { ChangedImports } from './changed-imports.js';
import { ChangedNames } from './changed-names.js';
import type { LanguageRules } from '../rules.js';

interface RebindJob {
  change: Change;
  /** Sites that were bound to what is gone, by unit. */
  lost: ReadonlyMap<number, ReadonlySet<number>>;
  /** Whether the text of a path is of a language that is bound, or that defines something for it. */
  isOurs: (path: string) => boolean;
}

/** Binds the calls that may mean something else after a change; everything where that cannot be told. */
export function rebindProgram(
  { change, lost, isOurs }: RebindJob,
  rules: LanguageRules,
): BoundAnew | undefined {
  if (!change.texts.some(({ path }) => isOurs(path))) return undefined;
  const binder = new ProgramBinder(change.units, rules);
  const { definitions, implementations } = binder;
  const said = new ChangedNames(change, rules, isOurs);
  const imports = new ChangedImports(change, definitions);
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
