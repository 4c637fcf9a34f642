import { posix } from 'node:path';
import type { ImportRow } from '../../../format/shard-index.js';
import { packagesIn, type PackagePlace } from './manifests.js';
import type { LanguageMembers, LanguageRules, Manifest, Places } from '../rules.js';
import type { Imported, SourceText } from '../source-text.js';

/** Types of the standard library by what they hold; `=`: a method of theirs is one of what they hold. */
const libraryTypes: Record<string, string> = {
  ...each(
    '=',
    'Box Rc Arc Cow Pin Ref RefMut MutexGuard RwLockReadGuard RwLockWriteGuard NonNull ManuallyDrop Option Result Poll ' +
      'Mutex RwLock RefCell Cell OnceCell',
  ),
  ...each('$list', 'Vec VecDeque LinkedList HashSet BTreeSet BinaryHeap Iter IntoIter IterMut'),
  ...each('$map', 'HashMap BTreeMap'),
};

/** What leaves a type as it is, or takes it out of what holds it. */
const same =
  'default clone cloned copied to_owned as_ref as_mut as_deref as_deref_mut borrow borrow_mut by_ref into into_inner ' +
  'unwrap expect unwrap_or unwrap_or_else unwrap_or_default take replace ok map_err ok_or ok_or_else or or_else filter ' +
  'lock read write try_lock try_read try_write get_or_init';

const members: Readonly<Record<string, LanguageMembers>> = {
  $list: {
    results: {
      ...each(
        '',
        'iter iter_mut into_iter as_slice drain rev skip chain peekable to_vec values step_by',
      ),
      ...each(
        '[]',
        'first first_mut last last_mut get get_mut pop pop_front pop_back front back next next_back peek find nth max min',
      ),
    },
    parameters: { '': ['[]'], fold: ['?', '[]'] },
  },
  $map: {
    results: {
      ...each('[]', 'get get_mut remove'),
      ...each('', 'iter iter_mut into_iter values values_mut'),
    },
    parameters: {},
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
  const modules = new Modules(known, roots, crates);
  return { scopes, imported: (path, rows) => modules.importedBy(path, rows) };
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
  ) {}

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
          else wildcards.push(scope);
        } else if (alias !== '_' && !(original === '*' && alias === parts[0] && parts.length === 1))
          imports.set(alias, this.#meaning(scope, original === '*' ? '' : original));
      }
    }
    // Modules below this one are known by their names.
    return { imports, wildcards, isOpen };
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
