import type { ImportRow, TypeRow } from '../../../format/shard-index.js';
import { PythonModules } from './python-modules.js';
import { builtins } from './python-standard.js';
import type { LanguageMembers, LanguageRules, Manifest, Places } from '../rules.js';
import type { Imported, SourceText } from '../source-text.js';
import type { Type } from '../values.js';

const members: Readonly<Record<string, LanguageMembers>> = {
  $list: {
    results: { pop: '[]', popleft: '[]', copy: '', union: '', __add__: '', __next__: '[]' },
    parameters: {},
  },
  $map: {
    results: { get: '[]', pop: '[]', setdefault: '[]', copy: '' },
    made: {
      keys: ([key]) => listOf(key),
      values: ([, value]) => listOf(value),
      items: ([key, value]) => listOf(language('$tuple', [key, value])),
      popitem: ([key, value]) => language('$tuple', [key, value]),
    },
    parameters: {},
  },
  $context: { results: { __enter__: '[]', __aenter__: '[]' }, parameters: {} },
  $promise: { results: { result: '!' }, parameters: {} },
};

function language(name: string, args: readonly (Type | undefined)[]): Type {
  return { kind: 'language', name, args: args.map((type) => ({ label: '', type })) };
}

function listOf(type: Type | undefined): Type {
  return language('$list', [type]);
}

/** Every file is a module. `manifests`: of projects, whose folders imports begin at. */
export function pythonRules(manifests: readonly Manifest[]): LanguageRules {
  return {
    languages: ['python'],
    placesOf: (files) => placesOf(files, manifests),
    builtins,
    isStructural: false,
    constructors: ['__init__', '__new__'],
    isDynamic: true,
    typesAreCalled: true,
    librariesGiveBack: true,
    anyMember: ['__getattr__', '__getattribute__'],
    operators: {
      call: ['.__call__()'],
      read: ['.__get__()'],
      element: ['.__getitem__()'],
      each: ['.__next__()', '.__iter__()[*]', '.__anext__()!', '.__aiter__()[*]', '.__getitem__()'],
    },
    members,
  };
}

function placesOf(files: readonly { path: string }[], manifests: readonly Manifest[]): Places {
  const modules = new PythonModules(
    files.map(({ path }) => path),
    manifests.map(({ path }) => path),
  );
  return {
    scopes: files.map(({ path }) => PythonModules.scopeOf(path)),
    inner: (scope, name) => modules.inner(scope, name),
    imported: (path, rows, types) => importedBy(path, { rows, types, modules }),
  };
}

function importedBy(
  path: string,
  {
    rows,
    types,
    modules,
  }: { rows: readonly ImportRow[]; types: readonly TypeRow[]; modules: PythonModules },
): Pick<SourceText, 'imports' | 'wildcards' | 'isOpen'> {
  const imports = new Map<string, Imported>();
  const wildcards: string[] = [];
  let isOpen = false;
  for (const { target, names } of rows) {
    const whole = modules.meantBy(target, path);
    for (const written of names) {
      const [name = '', alias = name] = written.split(':');
      if (written === '*') {
        wildcards.push(...whole.scopes);
        isOpen ||= whole.scopes.length === 0;
      } else if (name !== '*') note(imports, alias, { ...whole, name });
      else if (alias !== target) note(imports, alias, whole);
      else {
        // `import a.b` makes the name `a` known.
        const [first = ''] = target.split('.');
        note(imports, first, modules.meantBy(first, path));
      }
    }
  }
  for (const { role, name, type, symbol } of types) {
    if (role !== 'local' || symbol >= 0) continue;
    const [target = '', imported = ''] = type.split(' ');
    imports.set(name, { ...modules.meantBy(target, path), name: imported });
  }
  return { imports, wildcards, isOpen };
}

/** What is imported twice is there where the other one is missing. */
function note(imports: Map<string, Imported>, alias: string, found: Imported): void {
  const known = imports.get(alias);
  if (known === undefined || known.scopes.length === 0) imports.set(alias, found);
  else if (known.name === found.name)
    imports.set(alias, { ...known, scopes: [...new Set([...known.scopes, ...found.scopes])] });
}
