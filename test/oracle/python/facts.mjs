// What Pyright says of a tree of Python.
import path from 'node:path';
import { run } from '../../bench/kernel/process.mjs';
import { isElsewhere, scipOf } from './scip.mjs';
import { usesOf } from './uses.mjs';

const syntaxMsMax = 300_000;

/** Facts as in ../README.md. Needs Python 3.11 or later, and npm for scip-python. */
export async function factsOf(root) {
  const { files, definitions } = await scipOf(root);
  const syntax = await syntaxOf(root, [...files.keys()]);
  const program = new Program(files, definitions, syntax);
  const baseOf = (file, name) => program.basesOf(file, name);
  return [...program.facts(), ...usesOf({ files, definitions, syntax, baseOf })];
}

async function syntaxOf(root, paths) {
  const script = path.join(import.meta.dirname, 'syntax.py');
  const input = paths.join('\n');
  const { code, stdout, stderr } = await run('python3', [script, root], {
    ...{ input, timeoutMs: syntaxMsMax },
  });
  if (code !== 0) throw new Error(`python3 failed: ${stderr.slice(-500)}`);
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

class Program {
  /** By `path line:column` of the name. */
  #functions = new Map();
  #classes = new Map();
  #names = new Set();
  #classNames = new Set();
  /** Of a variable: what it is another name of. */
  #aliases = new Map();

  constructor(files, defined, syntax) {
    Object.assign(this, { files, defined, syntax });
    for (const { path: file, functions, classes, aliases } of syntax) {
      for (const [at, value] of Object.entries(aliases))
        this.#aliases.set(`${file} ${at}`, { file, at: value });
      for (const { name } of classes) this.#classNames.add(name);
      for (const each of classes)
        this.#classes.set(`${file} ${each.at}`, { ...each, file, methods: new Map(), below: [] });
      const overloads = new Map();
      for (const each of functions) {
        const place = `${file}:${each.line}`;
        const found = { ...each, file, place };
        // The function itself follows the overloads of it, by which it is meant.
        const its = `${each.class} ${each.container} ${each.name}`;
        if (each.decorators.includes('overload')) {
          overloads.set(its, [...(overloads.get(its) ?? []), each.at]);
          continue;
        }
        for (const at of [each.at, ...(overloads.get(its) ?? [])])
          this.#functions.set(`${file} ${at}`, found);
        overloads.delete(its);
        this.#names.add(each.name);
        this.#classes.get(`${file} ${each.class}`)?.methods.set(each.name, found);
      }
    }
    for (const each of this.#classes.values()) {
      each.above = each.bases.flatMap((at) => this.#meant(each.file, at, this.#classes));
      for (const base of each.above) base.below.push(each);
    }
  }

  /** The classes that one of a file is based on, the nearest first. */
  basesOf(file, name) {
    const own = [...this.#classes.values()].find(
      (each) => each.file === file && each.name === name,
    );
    const all = new Set(own?.above);
    for (const each of all) for (const base of each.above) all.add(base);
    return [...all];
  }

  /** What Pyright resolves a name to, among functions or classes of the tree. */
  #meant(file, at, among) {
    const symbols = this.files.get(file)?.get(at) ?? [];
    const places = symbols.flatMap((symbol) => this.defined.get(symbol) ?? []);
    return places.flatMap((place) => among.get(place) ?? []);
  }

  facts() {
    const sites = this.syntax.flatMap(({ path: file, calls, values }) => [
      ...calls.flatMap((use) => this.#site(file, use)),
      ...values.flatMap((use) => this.#value(file, use)),
    ]);
    return [
      ...this.syntax.map(({ path: file }) => ({ is: 'file', path: file })),
      ...[...new Set(this.#functions.values())].map((each) => this.#definition(each)),
      ...sites,
      ...this.#implementations(),
      {
        is: 'summary',
        packages: this.syntax.length,
        missing: 0,
        errors: this.files.size - this.syntax.length,
      },
    ];
  }

  #definition({ name, container, file, line, class: its, at }) {
    const of = this.#classes.get(`${file} ${its}`);
    const isOverridden =
      of !== undefined && name !== '__init__' && overridesOf(of, name).length > 0;
    return {
      ...{ is: 'definition', name, container, file, line },
      kind: isOverridden ? 'interface' : of === undefined ? 'function' : 'method',
      exported: !name.startsWith('_'),
      test: /(^|\/)(tests?\/|test_)/.test(file),
      at,
    };
  }

  #site(file, use) {
    const followed = this.#functionSites(file, use);
    const found = followed.length > 0 ? followed : this.#aliasSites(file, use);
    const about = { is: 'site', file, ...siteOf(file, use) };
    if (found.length > 0) return found.map((each) => ({ ...about, ...each }));
    const own = this.#classes.get(`${file} ${use.class}`);
    const made = own === undefined ? this.#meant(file, use.at, this.#classes) : [own];
    if (made.length > 0)
      return made.flatMap((each) => {
        const own = methodOf(each, '__init__');
        return own ? [{ ...about, name: '__init__', kind: 'static', target: own.place }] : [];
      });
    const kind = this.#kindOfOther(file, use.at);
    const sites = this.#names.has(use.name) ? [{ ...about, kind }] : [];
    return this.#classNames.has(use.name)
      ? [...sites, { ...about, name: '__init__', kind }]
      : sites;
  }

  #functionSites(file, use) {
    return this.#meant(file, use.at, this.#functions).map(
      ({ place, name, file: its, class: at }) => {
        const of = this.#classes.get(`${its} ${at}`);
        // Of a class or of what it is based on, not of a value.
        const isStatic =
          use.through === 'super' || this.#meant(file, use.through, this.#classes).length > 0;
        const isOpen = of !== undefined && !isStatic && overridesOf(of, name).length > 0;
        return isOpen
          ? { kind: 'interface', name, target: place, interface: `${its} ${at}` }
          : { kind: 'static', name, target: place };
      },
    );
  }

  /** Of a function in a variable that is set once. */
  #aliasSites(file, use) {
    const symbols = this.files.get(file)?.get(use.at) ?? [];
    const places = symbols.flatMap((symbol) => this.defined.get(symbol) ?? []);
    const alias = places.length === 1 ? this.#aliases.get(places[0]) : undefined;
    return alias === undefined
      ? []
      : this.#functionSites(alias.file, { ...use, at: alias.at, through: '' });
  }

  /** A function in a variable, a library, or a receiver without a type. */
  #kindOfOther(file, at) {
    const symbols = this.files.get(file)?.get(at) ?? [];
    if (symbols.some((symbol) => this.defined.has(symbol))) return 'dynamic';
    return symbols.some(isElsewhere) ? 'outside' : 'unknown';
  }

  #value(file, use) {
    return this.#meant(file, use.at, this.#functions).map(({ place, name }) => ({
      ...{ is: 'site', file, ...siteOf(file, use) },
      ...{ name, kind: 'value', target: place },
    }));
  }

  #implementations() {
    return [...this.#classes].flatMap(([key, each]) =>
      [...each.methods.keys()].flatMap((name) =>
        overridesOf(each, name).map(({ place }) => ({
          ...{ is: 'implementation', interface: key, method: name, target: place },
        })),
      ),
    );
  }
}

function siteOf(file, { line, start, holder, name, form, closure }) {
  return { line, start, holder: holder === '' ? '' : `${file}:${holder}`, name, form, closure };
}

/** The methods of all classes below that are called so. */
function overridesOf(of, name) {
  const seen = new Set(of.below);
  for (const each of seen) for (const below of each.below) seen.add(below);
  seen.delete(of);
  return [...seen].flatMap((each) => each.methods.get(name) ?? []);
}

/** Own or inherited, the first base first. */
function methodOf(of, name) {
  const seen = new Set([of]);
  for (const each of seen) {
    const found = each.methods.get(name);
    if (found !== undefined) return found;
    for (const base of each.above) seen.add(base);
  }
  return undefined;
}
