import { isDeepStrictEqual } from 'node:util';
import type { ShardIndex } from '../../../format/shard-index.js';
import type { Change } from '../../change/change.js';
import { IncludeGraph } from '../../pointers/includes.js';
import { plain } from './changed-names.js';
import type { Definitions } from '../definitions.js';
import type { LanguageRules, Places } from '../rules.js';
import type { SourceText } from '../source-text.js';

type Imports = Pick<SourceText, 'imports' | 'exports' | 'wildcards' | 'isOpen'>;

/** Scopes that pass on all names of each other. */
const scopesMax = 200;
/** Of all texts: where more of them see others than before, everything is bound. */
const seeingMax = 0.5;

interface Text {
  index: ShardIndex;
  file: number;
  path: string;
}

/** Texts whose imports mean something else than before, and the names by which they mean it. */
export class ChangedImports {
  readonly names = new Set<string>();
  /** By path: all that they say is looked up elsewhere. */
  readonly texts = new Set<string>();
  /** What is seen otherwise cannot be named. */
  isWide = false;
  readonly #definitions: Definitions;
  readonly #change: Change;

  constructor(change: Change, definitions: Definitions) {
    this.#change = change;
    this.#definitions = definitions;
    const { rules } = definitions;
    const isOurs = ({ index, file }: Text): boolean => isOf(rules, index.file(file).language);
    const now = textsIn(change.units).filter(isOurs);
    const changed = change.texts.filter(({ now: is, before: was }) =>
      [change.units[is?.unit ?? -1], change.before[was?.unit ?? -1]?.index].some(
        (index, at) =>
          index !== undefined &&
          isOurs({ index, file: (at === 0 ? is : was)?.file ?? 0, path: '' }),
      ),
    );
    const isMoved = changed.some(
      ({ now: is, before: was }) => is === undefined || was === undefined,
    );
    const before = isMoved
      ? textsIn(change.before.map(({ index }) => index)).filter(isOurs)
      : undefined;
    if (rules.namespaces === true)
      this.#compareIncludes(
        now,
        before,
        changed.map(({ path }) => path),
      );
    else if (before !== undefined) this.#compareAll(before);
    else
      for (const { path, before: was } of changed) {
        const index = change.before[was?.unit ?? -1]?.index;
        if (index !== undefined && was !== undefined)
          this.#compare(path, importsIn(definitions.places, { index, file: was.file, path }));
      }
    for (const { path } of changed)
      // What belongs together, the roots of crates say.
      if (isMoved && rules.localItems === true && /(?:^|\/)(?:lib|main)\.rs$/.test(path))
        this.isWide = true;
  }

  #compareAll(before: readonly Text[]): void {
    const { rules, scopes } = this.#definitions;
    const places = rules.placesOf(
      before.map(({ index, file, path }) => ({ path, types: index.typesOf(file) })),
    );
    for (const text of before) this.#compare(text.path, importsIn(places, text));
    const was = new Set(places.scopes);
    for (const scope of was) if (!scopes.has(scope)) this.names.add(lastOf(scope));
    for (const scope of scopes.keys()) if (!was.has(scope)) this.names.add(lastOf(scope));
    for (const { path, imports, wildcards } of this.#definitions.texts) {
      const changed = this.#change.changed(path);
      if (changed === undefined || changed.before !== undefined) continue;
      for (const alias of imports.keys()) this.names.add(plain(alias));
      this.#notePassedOn(wildcards);
    }
  }

  #compare(path: string, was: Imports): void {
    const is = this.#definitions.textAt(path);
    const differing = [
      ...different(was.imports, is?.imports ?? new Map()),
      ...different(was.exports ?? new Map(), is?.exports ?? new Map()),
    ];
    for (const each of differing) this.names.add(plain(each));
    if (is === undefined) {
      this.#notePassedOn(was.wildcards);
      return;
    }
    if (differing.length > 0) this.texts.add(path);
    const isSame =
      was.isOpen === is.isOpen && isDeepStrictEqual([...was.wildcards], [...is.wildcards]);
    if (isSame) return;
    this.#reread(path);
    if (this.#definitions.rules.overloads === undefined && was.isOpen !== is.isOpen)
      this.isWide = true;
    this.#notePassedOn([...was.wildcards, ...is.wildcards]);
  }

  /** Elsewhere names of these are passed on. */
  #notePassedOn(wildcards: readonly string[]): void {
    if (this.#definitions.rules.overloads === undefined)
      for (const scope of wildcards) this.#noteScope(scope);
  }

  /** All that the text says may be something else. */
  #reread(path: string): void {
    this.texts.add(path);
    for (const { name, key, file } of this.#definitions.all)
      if (file.path === path) for (const each of [name, key]) this.names.add(plain(each));
  }

  #noteScope(start: string): void {
    const seen = new Set([start]);
    for (const each of seen) {
      const [scope = ''] = each.split('#');
      const its = this.#definitions.scopes.get(scope);
      if (its === undefined) continue;
      for (const name of [...its.names.keys(), ...its.types.keys()]) this.names.add(plain(name));
      for (const members of its.members.values())
        for (const name of members.keys()) this.names.add(plain(name));
      for (const { imports, wildcards } of its.texts) {
        for (const alias of imports.keys()) this.names.add(plain(alias));
        for (const next of wildcards) seen.add(next);
      }
      if (seen.size > scopesMax) this.isWide = true;
      if (this.isWide) return;
    }
  }

  /** What texts see through what they include. */
  #compareIncludes(
    now: readonly Text[],
    before: readonly Text[] | undefined,
    changed: readonly string[],
  ): void {
    const [is, was] = [graphOf(now), before && graphOf(before)];
    const differing = new Set<string>();
    for (const path of changed) {
      const place = this.#change.changed(path);
      const index = this.#change.before[place?.before?.unit ?? -1]?.index;
      const targets = index?.importsOf(place?.before?.file ?? 0).map(({ target }) => target) ?? [];
      if (!isDeepStrictEqual(targets, [...is.targetsOf(path)])) differing.add(path);
    }
    if (was !== undefined)
      for (const { path } of now)
        if (!isDeepStrictEqual(was.included(path), is.included(path))) differing.add(path);
    const seeing = new Set<string>();
    for (const each of differing)
      for (const graph of [is, was])
        for (const path of graph?.includersOf(each) ?? []) seeing.add(path);
    if (seeing.size > now.length * seeingMax && seeing.size > 1) this.isWide = true;
    else if (seeing.size > 0) {
      for (const path of seeing) this.texts.add(path);
      for (const { name, key, file } of this.#definitions.all)
        if (seeing.has(file.path)) for (const each of [name, key]) this.names.add(plain(each));
    }
  }
}

function isOf({ languages, others = [] }: LanguageRules, language: string): boolean {
  return [...languages, ...others].some((each) => each === language);
}

function textsIn(units: readonly ShardIndex[]): Text[] {
  return units.flatMap((index) =>
    Array.from({ length: index.fileCount }, (_, file) => ({
      ...{ index, file },
      path: index.file(file).path,
    })),
  );
}

function importsIn(places: Places, { index, file, path }: Text): Imports {
  return places.imported(path, index.importsOf(file), index.typesOf(file));
}

function graphOf(texts: readonly Text[]): IncludeGraph {
  return new IncludeGraph(
    texts.map(({ index, file, path }) => ({
      path,
      targets: () => index.importsOf(file).map(({ target }) => target),
    })),
  );
}

function different(
  one: ReadonlyMap<string, unknown>,
  other: ReadonlyMap<string, unknown>,
): string[] {
  const names = new Set([...one.keys(), ...other.keys()]);
  return [...names].filter((name) => !isDeepStrictEqual(one.get(name), other.get(name)));
}

/** Of a path of folders or of packages. */
function lastOf(scope: string): string {
  return plain(scope.replace(/\0.*$/, '').split('/').at(-1) ?? '');
}
