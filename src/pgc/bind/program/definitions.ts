import type { FileRow, ShardIndex, SymbolPlace, TypeRow } from '../../format/shard-index.js';
import { hasMark, type Definition } from './definition.js';
import type { LanguageRules, Places } from './rules.js';
import { Sight } from './namespaces/sight.js';
import type { SourceText } from './source-text.js';

/** Top-level names of one package or module, and the methods of its types. */
export interface NameScope {
  names: Map<string, Definition[]>;
  /** By type, then by method. */
  members: Map<string, Map<string, Definition[]>>;
  /** By their keys. */
  types: Map<string, Definition[]>;
  /** See `Definitions.saying`. */
  saying: Map<string, readonly Definition[]>;
  /** The files that make it up. */
  texts: SourceText[];
}

/** All definitions of one language in a code base, by scope. */
export class Definitions {
  readonly scopes = new Map<string, NameScope>();
  readonly texts: SourceText[] = [];
  readonly all: Definition[] = [];
  /** By name: they are visible where their text says so by no name. */
  readonly macros = new Map<string, Definition[]>();
  /** By the names of their methods: what types that the program does not define are based on. */
  readonly #abroad = new Map<string, Set<Definition>>();
  /** A scope that is a name of another one. */
  readonly inner: (scope: string, name: string) => string | undefined;
  readonly places: Places;
  /** What each text sees, where names of all texts are in one scope. */
  readonly sight: Sight;
  /** The namespace that holds everything. */
  readonly root: Definition | undefined;
  #names: Set<string> | undefined;
  #byPath: ReadonlyMap<string, SourceText> | undefined;
  /** The namespaces that macros open, by their names. */
  readonly #opened = new Map<string, string>();

  constructor(
    readonly shards: readonly ShardIndex[],
    readonly rules: LanguageRules,
  ) {
    const files = this.#files();
    if (rules.namespaces === true) this.#noteOpened(files);
    const places = rules.placesOf(files.map(({ row, types }) => ({ path: row.path, types })));
    this.places = places;
    this.inner = (scope, name) => places.inner?.(scope, name);
    this.sight = new Sight((path) => places.sees?.(path) ?? noNames);
    for (const [at, each] of files.entries()) {
      const { shard, file, row, types } = each;
      const scope = places.scopes[at] ?? '';
      const index = shards[shard];
      if (index === undefined) continue;
      const imports = index.importsOf(file);
      const text = {
        shard,
        file,
        path: row.path,
        scope,
        ...places.imported(row.path, imports, types),
        isBare: !rules.languages.includes(row.language),
        types: types
          .filter(({ symbol }) => symbol < 0)
          .map((each) => ({ ...each, type: this.expanded(each.type) })),
      };
      this.texts.push(text);
      this.scopeOf(scope).texts.push(text);
      if (rules.namespaces === true) this.#addPlaced(index, text, { types, isBare: text.isBare });
      else this.#addSymbols(index, text, types);
    }
    const [first] = this.texts;
    if (rules.namespaces === true && first !== undefined) {
      for (const path of this.#opened.values()) this.#namespace(path, first);
      this.root = this.#namespace('', first);
    }
  }

  #files(): { shard: number; file: number; row: FileRow; types: TypeRow[] }[] {
    const { languages, others = [] } = this.rules;
    return this.shards.flatMap((index, shard) => {
      const rows = Array.from({ length: index.fileCount }, (_, file) => index.file(file));
      const isOurs = ({ language }: FileRow): boolean => languages.includes(language);
      // A large tree of C with a little C++ somewhere is not read for its sake.
      if (!rows.some(isOurs)) return [];
      return rows.flatMap((row, file) =>
        isOurs(row) || others.includes(row.language)
          ? [{ shard, file, row, types: index.typesOf(file) }]
          : [],
      );
    });
  }

  #addSymbols(index: ShardIndex, file: SourceText, types: readonly TypeRow[]): void {
    const typesOf = new Map<number, TypeRow[]>();
    for (const each of types) push(typesOf, each.symbol, each);
    const shared = this.rules.overloads === undefined ? noNames : sharedNames(index, file.file);
    for (const symbol of index.symbolsOf(file.file)) {
      const row = index.symbolPlace(symbol);
      const { name, kind, container } = row;
      // Its text is a scope of its own, which an import names.
      if (kind === 'module' && row.declaration) continue;
      const its = typesOf.get(symbol) ?? [];
      const local = its.find(({ role }) => role === 'local')?.name;
      const within = its.find(({ role }) => role === 'within')?.name;
      const isMember =
        container !== '' && (local === undefined || kind === 'method' || within !== undefined);
      const inside = within ?? (kind === 'method' ? (local ?? container) : container);
      const known = within === undefined ? name : (local ?? name);
      const isInner = within !== undefined && isTypeKind(kind);
      const key = isInner ? `${inside}.${known}` : isMember ? name : (local ?? name);
      const definition: Definition = {
        ...{ shard: file.shard, symbol, name, key, kind, container, inside, file },
        ...{ isAbstract: isAbstract(row), isDeclaration: row.declaration, types: its },
        isHidden: hasMark({ types: its }, 'hidden'),
        line: shared.has(`${container} ${name}`) ? row.line_start : 0,
      };
      if (kind === 'macro') push(this.macros, name, definition);
      this.#add(definition, isMember ? known : '');
    }
    for (const each of file.types) if (each.role === 'unnamed') this.#addUnnamed(file, each);
  }

  /** Of a language with namespaces: all is known by its path. */
  #addPlaced(
    index: ShardIndex,
    file: SourceText,
    { types, isBare }: { types: readonly TypeRow[]; isBare: boolean },
  ): void {
    const typesOf = new Map<number, TypeRow[]>();
    for (const each of types) {
      const { name, type } = each;
      push(typesOf, each.symbol, {
        ...{ ...each, name: this.expanded(name), type: this.expanded(type) },
      });
    }
    const shared = sharedNames(index, file.file);
    for (const symbol of index.symbolsOf(file.file)) {
      const row = index.symbolPlace(symbol);
      const { name, kind, container } = row;
      const its = typesOf.get(symbol) ?? [];
      // Members of structures of which no type is known.
      if (isBare && container !== '' && kind !== 'constant') continue;
      const known = its.find(({ role }) => role === 'local')?.name ?? name;
      const inside = its.find(({ role }) => role === 'within')?.name ?? '';
      const isOuter = isTypeKind(kind) || kind === 'module';
      const definition: Definition = {
        ...{ shard: file.shard, symbol, name, kind, container, inside, file, isBare },
        // Those of C are written otherwise.
        types: isBare ? [] : its,
        key: isOuter && inside !== '' ? `${inside}.${known}` : known,
        isAbstract: hasMark({ types: its }, 'pure'),
        isHidden: !isBare && hasMark({ types: its }, 'hidden'),
        isDeclaration: row.declaration,
        line: shared.has(`${container} ${name}`) ? row.line_start : 0,
      };
      if (kind === 'macro') {
        this.all.push(definition);
        push(this.macros, name, definition);
      } else this.#add(definition, known);
      if (kind === 'module') this.#namespace(inside, file);
    }
  }

  #noteOpened(files: readonly { shard: number; types: readonly TypeRow[] }[]): void {
    for (const { shard, types } of files)
      for (const { role, symbol, type } of types) {
        if (role !== 'using' || symbol < 0) continue;
        const place = this.shards[shard]?.symbolPlace(symbol);
        if (place?.kind === 'macro') this.#opened.set(place.name, type);
      }
  }

  /** With the namespaces that macros open in place of the macros: `$$API_BEGIN.Type`. */
  expanded(text: string): string {
    if (!text.includes('$$')) return text;
    return text
      .replaceAll(/\$\$(\w+)(\.?)/g, (_, name: string, dot: string) => {
        const path = this.#opened.get(name) ?? '';
        return path === '' ? '' : `${path}${dot}`;
      })
      .replaceAll(/\.(?=[\]}>,]|$)/g, '');
  }

  /** The namespaces around one may be written nowhere else: `namespace a::b`. */
  #namespace(path: string, file: SourceText): Definition {
    const { types } = this.scopeOf(file.scope);
    const [known] = types.get(path) ?? [];
    if (known !== undefined) return known;
    const dot = path.lastIndexOf('.');
    const definition: Definition = {
      ...{ shard: file.shard, symbol: -1, name: path.slice(dot + 1), key: path, kind: 'module' },
      ...{ container: '', inside: path.slice(0, Math.max(dot, 0)), isAbstract: false },
      ...{ isDeclaration: false, line: 0, file, types: [] },
    };
    if (path === '') types.set('', [definition]);
    else {
      this.#namespace(definition.inside, file);
      this.#add(definition, definition.name);
    }
    return definition;
  }

  /** `member`: its name in the type around it; empty: it is at the top. */
  #add(definition: Definition, member: string): void {
    const { file, key, kind, inside } = definition;
    this.all.push(definition);
    const scope = this.scopeOf(file.scope);
    const isOuter = isTypeKind(kind) || (kind === 'module' && this.rules.namespaces === true);
    if (isOuter) push(scope.types, key, definition);
    if (member === '') return push(scope.names, key, definition);
    const members = scope.members.get(inside) ?? new Map<string, Definition[]>();
    scope.members.set(inside, members);
    // Most texts open the same namespaces: which of them is nearest to a text, its path tells.
    const isKnown = kind === 'module' && members.get(member)?.some(isOpenModule) === true;
    if (!(isKnown && this.rules.namespaces === true)) push(members, member, definition);
  }

  /** Of all texts that open a namespace, those that say something of it. */
  saying({ file, key }: Definition): readonly Definition[] {
    const { types, saying } = this.scopeOf(file.scope);
    let all = saying.get(key);
    if (all === undefined)
      saying.set(key, (all = types.get(key)?.filter((each) => each.types.length > 0) ?? []));
    return all;
  }

  /** A type that no symbol stands for: its methods do. */
  #addUnnamed(file: SourceText, { name: key, type }: TypeRow): void {
    const dot = key.lastIndexOf('.');
    const inside = key.slice(0, Math.max(dot, 0));
    const base: TypeRow = { symbol: -1, role: 'base', name: '', type };
    const definition: Definition = {
      ...{ shard: file.shard, symbol: -1, name: '', key, kind: 'class', container: '', inside },
      ...{ file, isAbstract: false, isDeclaration: false, types: [base], line: 0 },
    };
    this.#add(definition, key.slice(dot + 1));
  }

  /** A method that another text defines for a type. */
  addMember({ file, key }: Definition, method: Definition): void {
    const { members } = this.scopeOf(file.scope);
    const known = members.get(key) ?? new Map<string, Definition[]>();
    members.set(key, known);
    const name = this.rules.namespaces === true ? method.key : method.name;
    if (known.get(name)?.includes(method) !== true) push(known, name, method);
  }

  noteAbroad(method: string, base: Definition): void {
    const known = this.#abroad.get(method);
    if (known === undefined) this.#abroad.set(method, new Set([base]));
    else known.add(base);
  }

  /** Whether a type that no text defines may have this method where a text calls it: that sees what gives it the method. */
  isAbroad(method: string, { scope, imports, wildcards }: SourceText): boolean {
    const bases = [...(this.#abroad.get(method) ?? [])];
    if (bases.length === 0) return false;
    if (wildcards.length > 0 || bases.some(({ file }) => file.scope === scope)) return true;
    const seen = new Set([...imports.values()].map(({ name }) => name.split('.').at(-1)));
    return bases.some(({ name }) => seen.has(name));
  }

  textAt(path: string): SourceText | undefined {
    this.#byPath ??= new Map(this.texts.map((each) => [each.path, each]));
    return this.#byPath.get(path);
  }

  isNamed(name: string): boolean {
    this.#names ??= new Set(this.all.flatMap((each) => [each.name, each.key]));
    return this.#names.has(name);
  }

  scopeOf(key: string): NameScope {
    let scope = this.scopes.get(key);
    if (scope === undefined)
      this.scopes.set(
        key,
        (scope = {
          ...{ names: new Map(), members: new Map(), types: new Map(), saying: new Map() },
          texts: [],
        }),
      );
    return scope;
  }

  /** The methods that a type declares itself. */
  methodsOf({ file, key }: Definition): ReadonlyMap<string, Definition[]> {
    return this.scopes.get(file.scope)?.members.get(key) ?? noMembers;
  }
}

const noNames: ReadonlySet<string> = new Set();

/** Containers and names that several definitions of a file have. */
function sharedNames(index: ShardIndex, file: number): Set<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const symbol of index.symbolsOf(file)) {
    const { name, container } = index.symbolPlace(symbol);
    const key = `${container} ${name}`;
    if (seen.has(key)) shared.add(key);
    seen.add(key);
  }
  return shared;
}

/** `module.name`: of a module that stands within a text. */
export function innerOf(scope: NameScope | undefined, name: string): Definition[] | undefined {
  const dot = name.lastIndexOf('.');
  return dot < 0 ? undefined : scope?.members.get(name.slice(0, dot))?.get(name.slice(dot + 1));
}

function isOpenModule({ kind, isHidden }: Definition): boolean {
  return kind === 'module' && isHidden !== true;
}

function isTypeKind(kind: string): boolean {
  return !/^(?:function|method|variable|constant|macro|module)$/.test(kind);
}

const noMembers: ReadonlyMap<string, Definition[]> = new Map();

function isAbstract({ declaration, kind, container }: SymbolPlace): boolean {
  return declaration && kind === 'method' && container !== '';
}

function push<Key, Each>(map: Map<Key, Each[]>, key: Key, each: Each): void {
  const known = map.get(key);
  if (known === undefined) map.set(key, [each]);
  else known.push(each);
}
