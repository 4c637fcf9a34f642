import { join } from 'node:path';
import { Change, type BoundAnew, type UnitBefore } from '../bind/change/change.js';
import { KeptSites } from '../bind/change/kept-sites.js';
import { MovedSymbols } from '../bind/change/moved-symbols.js';
import { rebindPointers } from '../bind/pointers/rebind-pointers.js';
import { farHeadersAfter } from '../bind/pointers/far-headers.js';
import { bindProgram } from '../bind/program/bind-program.js';
import type { LanguageRules } from '../bind/program/rules.js';
import type { BoundCallsWriter } from '../format/bound-calls.js';
import type { FactsLanguage } from '../format/facts.js';
import { Segment } from '../format/segment.js';
import type { IndexPlace, Manifest, ManifestShard } from '../plan/manifest.js';
import { BindingUpdate } from './binding-update.js';

interface ChangeJob {
  place: IndexPlace;
  before: Manifest;
  /** Those that are bound. */
  shards: readonly ManifestShard[];
  rules: readonly LanguageRules[];
}

/** What sites are bound to after a change, by what they were bound to. Undefined: that cannot be read. */
export async function boundAfter(
  job: ChangeJob,
): Promise<Iterable<BoundCallsWriter | 'as before'> | undefined> {
  const change = await openChange(job).catch(() => undefined);
  if (change === undefined) return undefined;
  const moved = new MovedSymbols(change);
  const update = new BindingUpdate(change, new KeptSites(change), moved);
  const languages = languagesOf(change);
  for (const each of job.rules) {
    const isOf = (path: string): boolean => isAmong(each.languages, languages.get(path));
    if (each.languages.some((language) => [...languages.values()].includes(language)))
      update.add(whole(bindProgram(change.units, each)), isOf);
  }
  if ([...languages.values()].includes('c'))
    update.add(rebindPointers(change, moved), (path) => languages.get(path) === 'c');
  for (const [unit, headers] of farHeadersAfter(change)) update.include(unit, headers);
  return update.end();
}

function whole(bound: Omit<BoundAnew, 'isWhole'>): BoundAnew {
  return { ...bound, isWhole: true };
}

async function openChange({ place, before, shards }: ChangeJob): Promise<Change> {
  const open = ({ segment, bound }: ManifestShard): Promise<Segment> =>
    Segment.open(join(place.segments, segment), {}, join(place.segments, bound ?? ''), 'lazy');
  const served = before.shards.filter(({ bound }) => bound !== undefined);
  const known = await Promise.all(served.map(open));
  const at = new Map(served.map(({ segment }, unit) => [segment, unit]));
  const units = await Promise.all(
    shards.map(
      async ({ segment }) =>
        known[at.get(segment) ?? -1] ??
        (await Segment.open(join(place.segments, segment), {}, '', 'lazy')),
    ),
  );
  const same = shards.flatMap(({ segment }, now): [number, number][] => {
    const was = at.get(segment);
    return was === undefined ? [] : [[was, now]];
  });
  const was = known.flatMap((index): UnitBefore[] =>
    index.bound === undefined ? [] : [{ index, bound: index.bound }],
  );
  return new Change(units, was, same);
}

/** By path. */
function languagesOf({ units }: Change): ReadonlyMap<string, FactsLanguage> {
  const found = new Map<string, FactsLanguage>();
  for (const index of units)
    for (let file = 0; file < index.fileCount; file += 1) {
      const { path, language } = index.file(file);
      found.set(path, language);
    }
  return found;
}

function isAmong(all: readonly FactsLanguage[], language: FactsLanguage | undefined): boolean {
  return language !== undefined && all.includes(language);
}
