import { asBusError } from '../../../errors/bus-error.js';
import { Change, type UnitBefore } from '../../bind/change/change.js';
import { KeptSites } from '../../bind/change/kept-sites.js';
import { MovedSymbols } from '../../bind/change/moved-symbols.js';
import { farHeadersAfter } from '../../bind/pointers/far-headers.js';
import { rebindPointers } from '../../bind/pointers/rebind-pointers.js';
import { rebindProgram } from '../../bind/program/after/rebind-program.js';
import type { LanguageRules } from '../../bind/program/rules.js';
import { OpenFiles } from '../../format/container/section-file.js';
import type { BoundCallsWriter } from '../../format/bound-calls.js';
import type { FactsLanguage } from '../../format/facts.js';
import type { ShardIndex } from '../../format/shard-index.js';
import type { IndexPlace, Manifest, ManifestShard } from '../../plan/manifest.js';
import { openShard } from '../../plan/open-shard.js';
import { keyOf } from '../shard-key.js';
import { BindingUpdate } from './binding-update.js';

interface ChangeJob {
  place: IndexPlace;
  before: Manifest;
  /** Those that are bound. */
  shards: readonly ManifestShard[];
  rules: readonly LanguageRules[];
}

/** What sites are bound to after a change, by what they were bound to. Undefined: that is damaged, which shows when it is read. */
export async function boundAfter(
  job: ChangeJob,
): Promise<{ writers: (BoundCallsWriter | 'as before')[]; sites: number } | undefined> {
  using files = new OpenFiles();
  try {
    const update = bindChange(await openChange(job, files), job.rules);
    return { writers: [...update.end()], sites: update.sites };
  } catch (error) {
    if (/^INDEX_(?:CORRUPT|MISSING)$/.test(asBusError(error).code)) return undefined;
    throw error;
  }
}

export function bindChange(change: Change, rules: readonly LanguageRules[]): BindingUpdate {
  const moved = new MovedSymbols(change);
  const kept = new KeptSites(change);
  const update = new BindingUpdate(change, kept, moved);
  const languages = new Languages(change);
  const lost = new Map<number, Set<number>>();
  for (const { unit, site } of kept.lost(moved))
    lost.set(unit, (lost.get(unit) ?? new Set()).add(site));
  for (const each of rules) {
    const isOf = languages.among(each.languages);
    const isOurs = languages.among([...each.languages, ...(each.others ?? [])]);
    if (!each.languages.some((language) => languages.all.has(language))) continue;
    const anew = rebindProgram({ change, lost, isOf, isOurs }, each);
    if (anew !== undefined) update.add(anew, isOf);
  }
  if (languages.all.has('c')) update.add(rebindPointers(change, moved), languages.among(['c']));
  for (const [unit, headers] of farHeadersAfter(change)) update.include(unit, headers);
  return update;
}

async function openChange({ place, before, shards }: ChangeJob, files: OpenFiles): Promise<Change> {
  const served = before.shards.filter(({ bound }) => bound !== undefined);
  const known = await Promise.all(served.map((shard) => openShard(place, shard, {}, files)));
  const at = new Map(served.map((shard, unit) => [keyOf(shard), unit]));
  const units = await Promise.all(
    shards.map(
      async (shard) =>
        known[at.get(keyOf(shard)) ?? -1] ?? (await openShard(place, shard, {}, files, '')),
    ),
  );
  const same = shards.flatMap((shard, now): [number, number][] => {
    const was = at.get(keyOf(shard));
    return was === undefined ? [] : [[was, now]];
  });
  const was = known.flatMap((index): UnitBefore[] =>
    index.bound === undefined ? [] : [{ index, bound: index.bound }],
  );
  return new Change(units, was, same);
}

/** Of all texts, also of those that are gone. */
class Languages {
  readonly all: ReadonlySet<string>;
  readonly #change: Change;
  #byPath?: ReadonlyMap<string, FactsLanguage>;

  constructor(change: Change) {
    this.#change = change;
    this.all = new Set(indexesOf(change).flatMap(({ info }) => info.languages));
  }

  /** Whether the text of a path is of one of these. */
  among(languages: readonly FactsLanguage[]): (path: string) => boolean {
    return (path) => languages.some((each) => each === this.#of(path));
  }

  /** Most often only changed texts are asked for. */
  #of(path: string): FactsLanguage | undefined {
    const { units, before } = this.#change;
    const { now, before: was } = this.#change.changed(path) ?? {};
    if (now !== undefined) return units[now.unit]?.file(now.file).language;
    if (was !== undefined) return before[was.unit]?.index.file(was.file).language;
    return (this.#byPath ??= languagesByPath(units)).get(path);
  }
}

function indexesOf({ units, before }: Change): ShardIndex[] {
  return [...before.map(({ index }) => index), ...units];
}

function languagesByPath(units: readonly ShardIndex[]): Map<string, FactsLanguage> {
  const found = new Map<string, FactsLanguage>();
  for (const index of units)
    for (let file = 0; file < index.fileCount; file += 1) {
      const { path, language } = index.file(file);
      found.set(path, language);
    }
  return found;
}
