import type { Definition } from '../definition.js';
import type { Definitions } from '../definitions.js';
import { namesIn, partToken, plain, type ChangedNames } from './changed-names.js';

/** All names that may mean something else, because what they are defined by mentions one that does. */
export class AffectedNames {
  readonly #names: Set<string>;
  /** By text: whether it mentions one. */
  readonly #known = new Map<string, boolean>();

  constructor(
    definitions: Definitions,
    { names, rebased }: ChangedNames,
    aliases: Iterable<string>,
  ) {
    const mentions = new Mentions(definitions);
    this.#names = mentions.closure([...names, ...aliases], rebased);
  }

  get size(): number {
    return this.#names.size;
  }

  has(name: string): boolean {
    return this.#names.has(plain(name));
  }

  isIn(text: string): boolean {
    let found = this.#known.get(text);
    if (found === undefined) {
      found = namesIn(text).some((each) => this.#names.has(each));
      this.#known.set(text, found);
    }
    return found;
  }
}

/** Which names are defined by which others. */
class Mentions {
  readonly #parsed = new Map<string, readonly string[]>();
  /** By name: those that are something else where it is. */
  readonly #by = new Map<string, Set<string>>();
  /** By name of a type: what stands in it. */
  readonly #inside = new Map<string, Set<string>>();
  /** By name of a type: those that are based on it. */
  readonly #derived = new Map<string, Set<string>>();

  constructor(definitions: Definitions) {
    for (const each of definitions.all)
      this.#addDefinition(each, definitions.rules.namespaces === true);
    for (const text of definitions.texts) {
      for (const { role, name, type } of text.types)
        if (role === 'base' || role === 'unnamed') {
          this.#mention(type, plain(name));
          this.#derive(type, plain(name));
        } else if (role === 'exported' || role === 'local') this.#mention(type, plain(name));
      for (const [alias, { name }] of text.imports)
        if (name !== '') this.#mention(name, plain(alias));
      for (const [alias, { name }] of text.exports ?? []) this.#mention(name, plain(alias));
    }
  }

  closure(names: Iterable<string>, rebased: Iterable<string>): Set<string> {
    const affected = new Set(names);
    const bases = new Set(rebased);
    // Each grows while it is gone through.
    for (let size = -1; size < affected.size + bases.size;) {
      size = affected.size + bases.size;
      for (const each of bases) {
        affected.add(each);
        for (const next of this.#derived.get(each) ?? []) bases.add(next);
        for (const next of this.#inside.get(each) ?? []) affected.add(next);
      }
      for (const each of affected) for (const next of this.#by.get(each) ?? []) affected.add(next);
    }
    return affected;
  }

  #addDefinition({ name, key, inside, types }: Definition, hasParts: boolean): void {
    const names = [...new Set([plain(name), plain(key)])].filter((each) => each !== '');
    for (const { role, name: its, type } of types) {
      if (role === 'mark' || role === 'private' || role === 'within') continue;
      if (role === 'field' || role === 'assigned') {
        this.#mention(type, plain(its));
        if (hasParts) this.#mention(type, partToken);
      } else if (role === 'exported') this.#mention(type, plain(its));
      else for (const each of names) this.#mention(type, each);
      if (role === 'base' || role === 'alias' || role === 'is')
        for (const each of names) this.#derive(type, each);
    }
    for (const around of inside.split('.'))
      if (around !== '') for (const each of names) add(this.#inside, plain(around), each);
  }

  #mention(text: string, by: string): void {
    if (by !== '') for (const each of this.#namesIn(text)) if (each !== by) add(this.#by, each, by);
  }

  #derive(text: string, by: string): void {
    for (const each of this.#namesIn(text)) if (each !== by) add(this.#derived, each, by);
  }

  #namesIn(text: string): readonly string[] {
    let names = this.#parsed.get(text);
    if (names === undefined) this.#parsed.set(text, (names = namesIn(text)));
    return names;
  }
}

function add(map: Map<string, Set<string>>, key: string, each: string): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, new Set([each]));
  else known.add(each);
}
