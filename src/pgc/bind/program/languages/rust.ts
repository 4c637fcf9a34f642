import { posix } from 'node:path';
import type { ImportRow } from '../../../format/shard-index.js';
import { unknown } from '../../../format/expression.js';
import { packagesIn, type PackagePlace } from './manifests.js';
import type { LanguageMembers, LanguageRules, Manifest, Places } from '../rules.js';
import type { Imported, SourceText } from '../source-text.js';
import type { Type } from '../values.js';

/** Types of the standard library by what they hold; `=`: a method of theirs is one of what they hold. */
const libraryTypes: Record<string, string> = {
  ...each(
    '=',
    'Box Rc Arc Cow Pin Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard NonNull ManuallyDrop ' +
      'Mutex RwLock RefCell Cell OnceCell Peekable Rev',
  ),
  ...each('$option', 'Option Result Poll'),
  ...each(
    '$list',
    'Vec VecDeque LinkedList HashSet BTreeSet BinaryHeap Iter IntoIter IterMut Iterator IntoIterator ' +
      'DoubleEndedIterator ExactSizeIterator',
  ),
  ...each('$map', 'HashMap BTreeMap'),
};

/** What leaves a type as it is, or takes it out of what holds it. */
const same =
  'default clone cloned copied to_owned as_ref as_mut as_deref as_deref_mut borrow borrow_mut by_ref into_inner ' +
  'unwrap expect unwrap_or unwrap_or_else unwrap_or_default take replace ok map_err ok_or ok_or_else or or_else filter ' +
  'lock read write try_lock try_read try_write get_or_init into_iter';

type Args = readonly (Type | undefined)[];

/** By the name of the method: a type of the language, and what it holds. */
function made(
  name: string,
  held: (args: Args) => Args,
  methods: string,
): Record<string, (args: Args) => Type> {
  const of = (args: Args): Type => listOf(name, held(args));
  return Object.fromEntries(methods.split(' ').map((method) => [method, of]));
}

function listOf(name: string, args: Args): Type {
  return { kind: 'language', name, args: args.map((type) => ({ label: '', type })) };
}

function pairOf(one: Type | undefined, other: Type | undefined): Type {
  const args = [one, other].map((type, at) => ({ label: String(at), type }));
  return { kind: 'language', name: '$struct', args };
}

/** What holds nothing that is known: a function that is given makes it, or a pattern of several methods. */
const unknownResults = (names: string): Record<string, string> => each(unknown, names);

const members: Readonly<Record<string, LanguageMembers>> = {
  $list: {
    results: {
      ...each(
        '',
        'iter iter_mut into_iter as_slice as_mut_slice drain rev skip chain peekable to_vec values step_by filter ' +
          'skip_while take_while inspect cloned copied by_ref take collect fuse cycle intersection union difference',
      ),
      ...each('[]', 'remove swap_remove'),
      ...unknownResults(
        'map filter_map flat_map flatten map_while find_map fold try_fold scan reduce sum product zip unzip partition ' +
          'split_at split_at_mut split_first split_last group_by',
      ),
    },
    made: {
      ...made(
        '$option',
        ([held]) => [held],
        'first first_mut last last_mut get get_mut pop pop_front pop_back front front_mut back back_mut next next_back ' +
          'next_if peek peek_mut find nth max min max_by max_by_key min_by min_by_key rfind',
      ),
      ...made('$list', ([held]) => [listOf('$list', [held])], 'windows chunks chunks_exact'),
      ...made('$list', ([held]) => [pairOf(undefined, held)], 'enumerate'),
    },
    parameters: { '': ['[]', '[]'], fold: ['?', '[]'], try_fold: ['?', '[]'], scan: ['?', '[]'] },
  },
  $map: {
    results: unknownResults(
      'get_key_value first_key_value last_key_value remove_entry pop_first pop_last range',
    ),
    made: {
      ...made('$option', ([, value]) => [value], 'get get_mut remove insert entry'),
      ...made('$list', ([, value]) => [value], 'values values_mut into_values'),
      ...made('$list', ([key]) => [key], 'keys into_keys'),
      ...made('$list', ([key, value]) => [pairOf(key, value)], 'iter iter_mut into_iter drain'),
    },
    parameters: { retain: ['[k]', '[]'] },
  },
  $option: {
    results: {
      ...each(
        '',
        'as_ref as_mut as_deref as_deref_mut as_pin_mut as_pin_ref cloned copied take or or_else filter replace inspect ' +
          'and_modify by_ref clone',
      ),
      ...each(
        '[]',
        'unwrap expect unwrap_or unwrap_or_else unwrap_or_default unwrap_unchecked get_or_insert ' +
          'get_or_insert_with insert or_insert or_insert_with or_default',
      ),
      ...unknownResults(
        'map and_then map_or map_or_else and zip flatten transpose unzip xor map_ok',
      ),
    },
    made: {
      ...made('$option', ([held]) => [held], 'ok map_err ok_or ok_or_else'),
      ...made('$option', ([, error]) => [error], 'err'),
      ...made('$list', ([held]) => [held], 'iter iter_mut into_iter'),
    },
    parameters: {
      '': ['[]'],
      ...Object.fromEntries(
        ['map_err', 'or_else', 'unwrap_or_else', 'map_or_else'].map((name) => [name, ['.err()!']]),
      ),
    },
  },
};

/** Of the prelude, and methods that a type has without saying so. */
const prelude =
  'bool char str String u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize f32 f64 Some None Ok Err Option Result Vec Box ' +
  'drop Default Clone Copy Send Sync Sized Drop Fn FnMut FnOnce Iterator IntoIterator From Into ToString ToOwned AsRef AsMut ' +
  'Eq PartialEq Ord PartialOrd std core alloc';

/** Modules are files, below the root of their crate. `manifests`: of the crates. */
export function rustRules(manifests: readonly Manifest[]): LanguageRules {
  const packages = packagesIn(manifests, 'Cargo.toml');
  return {
    languages: ['rust'],
    placesOf: (files) =>
      placesOf(
        files.map(({ path }) => path),
        packages,
      ),
    builtins: new Set(prelude.split(' ')),
    isStructural: false,
    constructors: [],
    isPackage: (name) => /^[a-z_]/.test(name),
    members,
    localItems: true,
    // What goes through it says what comes of it.
    operators: { each: ['.next()!'], element: ['.index()'], behind: ['.deref()'] },
    standard: { types: new Map(Object.entries(libraryTypes)), same: new Set(same.split(' ')) },
  };
}

function each(value: string, names: string): Record<string, string> {
  return Object.fromEntries(names.split(' ').map((name) => [name, value]));
}

function placesOf(paths: readonly string[], packages: readonly PackagePlace[]): Places {
  const scopes = paths.map(moduleOf);
  const known = new Set(scopes);
  const roots = new Set(paths.filter((path) => rootFile.test(path)).map(folderOf));
  const crates = new Map<string, string>();
  for (const [name, folder] of packages)
    crates.set(name.replaceAll('-', '_'), posix.join(folder, 'src'));
  const folders = new Set(packages.map(([, folder]) => folder));
  const modules = new Modules(known, roots, crates, folders);
  return {
    scopes,
    imported: (path, rows) => modules.importedBy(path, rows),
    sees: (path) => ({ has: (other) => modules.crateOf(path) === modules.crateOf(other) }),
  };
}

const rootFile = /(?:^|\/)(?:lib|main)\.rs$/;

/** `a/src/net/mod.rs` is `a/src/net`, `a/src/lib.rs` is `a/src`. */
function moduleOf(path: string): string {
  const whole = path.replace(/\.rs$/, '');
  return /(?:^|\/)(?:mod|lib|main)$/.test(whole) ? folderOf(whole) : whole;
}

function folderOf(path: string): string {
  const folder = posix.dirname(path);
  return folder === '.' ? '' : folder;
}

class Modules {
  constructor(
    readonly known: ReadonlySet<string>,
    /** Folders of the roots of crates. */
    readonly roots: ReadonlySet<string>,
    /** Root modules by the names of the crates. */
    readonly crates: ReadonlyMap<string, string>,
    /** Of packages. */
    readonly folders: ReadonlySet<string>,
  ) {}

  /** What its texts have in common; those beside the library, as tests are, are taken as one crate for each folder. */
  crateOf(path: string): string {
    for (let folder = folderOf(path), below = ''; ; below = folder, folder = folderOf(folder)) {
      if (this.roots.has(folder)) return folder;
      if (this.folders.has(folder) || folder === '') return below;
    }
  }

  importedBy(
    path: string,
    rows: readonly ImportRow[],
  ): Pick<SourceText, 'imports' | 'wildcards' | 'isOpen'> {
    const own = moduleOf(path);
    const imports = new Map<string, Imported>([
      ['crate', whole(this.#rootOf(path))],
      ['self', whole(own)],
      ['super', whole(folderOf(own))],
    ]);
    for (const [name, root] of this.crates) imports.set(name, whole(root));
    const wildcards: string[] = [];
    let isOpen = false;
    for (const { target, names } of rows) {
      const parts = target.split('::').filter((part) => part !== '');
      for (const written of names) {
        const [original = '', alias = original] = written.split(':');
        const scope = this.#scopeOf(path, parts);
        if (original === '*' && alias === '*') {
          if (scope === undefined) isOpen = true;
          else wildcards.push(this.#isModule(scope) ? scope : this.#withinOf(scope));
        } else if (alias === '_') imports.set(`_ ${original}`, this.#meaning(scope, original));
        else if (!(original === '*' && alias === parts[0] && parts.length === 1))
          imports.set(alias, this.#meaning(scope, original === '*' ? '' : original));
      }
    }
    // Modules below this one are known by their names.
    return { imports, wildcards, isOpen };
  }

  #isModule(scope: string): boolean {
    return this.known.has(scope) || this.roots.has(scope);
  }

  /** All that a type or an inner module of a text holds. */
  #withinOf(scope: string): string {
    const around = folderOf(scope);
    return this.known.has(around)
      ? `${around}#${scope.slice(around === '' ? 0 : around.length + 1)}`
      : scope;
  }

  #meaning(scope: string | undefined, name: string): Imported {
    if (scope === undefined) return { scopes: [], name };
    const module = name === '' ? scope : joined(scope, name);
    if (this.known.has(module) && name !== '') return { scopes: [module], name: '' };
    if (this.known.has(scope)) return { scopes: [scope], name };
    // A module that stands within the text of another one.
    const inner = scope.slice(scope.lastIndexOf('/') + 1);
    return { scopes: [folderOf(scope)], name: name === '' ? inner : `${inner}.${name}` };
  }

  /** The module at the root of the crate: the nearest one, else the folder of a file that stands alone. */
  #rootOf(path: string): string {
    for (let folder = folderOf(path); folder !== ''; folder = folderOf(folder))
      if (this.roots.has(folder)) return folder;
    return this.roots.has('') ? '' : folderOf(path);
  }

  /** The module that a path of `use` names; undefined: of another crate. */
  #scopeOf(path: string, parts: readonly string[]): string | undefined {
    const own = moduleOf(path);
    const [first = '', ...rest] = parts;
    if (first === 'crate') return joined(this.#rootOf(path), ...rest);
    if (first === 'self') {
      // A file that is a crate of its own has its modules beside it.
      const beside = joined(folderOf(path), ...rest);
      const below = joined(own, ...rest);
      return !this.known.has(below) && this.known.has(beside) ? beside : below;
    }
    if (first === 'super') {
      const ups = parts.findIndex((part) => part !== 'super');
      const up = ups < 0 ? parts.length : ups;
      let scope = own;
      for (let at = 0; at < up; at += 1) scope = folderOf(scope);
      return joined(scope, ...parts.slice(up));
    }
    const crate = this.crates.get(first);
    if (crate !== undefined) return joined(crate, ...rest);
    // Since 2018 a path may begin at the module itself; before, at the root.
    for (const base of [own, this.#rootOf(path)])
      if (first !== '' && this.known.has(joined(base, first))) return joined(base, ...parts);
    return parts.length === 0 ? own : undefined;
  }
}

function whole(scope: string): Imported {
  return { scopes: [scope], name: '' };
}

function joined(...parts: string[]): string {
  return parts.filter((part) => part !== '').join('/');
}
