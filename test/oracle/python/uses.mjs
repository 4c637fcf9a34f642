// Where names of the tree are used: those at the top of modules, and those in the bodies of classes at the top.
import { isElsewhere } from './scip.mjs';

/** `named` and `use` as in ../README.md. */
export function usesOf({ files, definitions, syntax, baseOf }) {
  const named = syntax.flatMap((file) => namedIn(file));
  const placeOf = new Map(
    named.flatMap(({ places, fact }) => places.map((at) => [`${fact.file} ${at}`, fact])),
  );
  for (const { path: file, functions } of syntax)
    for (const { at, line, name } of functions) placeOf.set(`${file} ${at}`, { file, line, name });
  const known = new Set([...placeOf.values()].map(({ name }) => name));
  const namesOf = aliasedNames(syntax, placeOf);
  const targets = new Targets({ definitions, placeOf, named, baseOf });
  const uses = syntax.flatMap((file) => {
    const symbols = files.get(file.path) ?? new Map();
    const isUse = usesIn(file);
    const resolved = [...symbols].flatMap(([at, list]) =>
      isUse(at) ? list.flatMap((symbol) => targets.of(symbol, `${file.path} ${at}`)) : [],
    );
    const isKnown = (symbol) => targets.isKnown(symbol);
    const other = otherNames(resolved, namesOf);
    return [...resolved, ...other, ...unresolvedIn(file, { symbols, known, isKnown, namesOf })];
  });
  return [...named.map(({ fact }) => fact), ...uses];
}

/** By the place of a variable: what it is another name of. */
function aliasedNames(syntax, placeOf) {
  const names = new Map();
  for (const { path: file, aliases, aliased } of syntax)
    for (const at of Object.keys(aliases)) {
      const variable = placeOf.get(`${file} ${at}`);
      if (variable !== undefined)
        names.set(`${file}:${variable.line}`, { name: aliased[at], by: variable.name });
    }
  return names;
}

/** A use of another name of something may count as one of it. */
function otherNames(resolved, namesOf) {
  return resolved.flatMap(({ file, line, target }) => {
    const { name } = namesOf.get(target) ?? {};
    return name === undefined ? [] : [{ is: 'use', file, line, name }];
  });
}

class Targets {
  #attributes;

  constructor({ definitions, placeOf, named, baseOf }) {
    Object.assign(this, { definitions, placeOf, baseOf });
    this.#attributes = new Map(
      named.map(({ fact }) => [`${fact.file} ${fact.container} ${fact.name}`, fact]),
    );
  }

  of(symbol, place) {
    const places = this.definitions.get(symbol) ?? [];
    if (!this.isKnown(symbol)) return [];
    const [file, line] = splitPlace(place);
    const found = places.flatMap((each) => this.placeOf.get(each) ?? []);
    if (found.length > 0 && places.includes(place)) return [];
    const all = found.length > 0 ? found : this.#inherited(symbol, places[0]);
    return all.map((target) => ({
      ...{ is: 'use', file, line, target: `${target.file}:${target.line}` },
    }));
  }

  /** Functions of one name in the methods of a class have one symbol. */
  isKnown(symbol) {
    const places = this.definitions.get(symbol) ?? [];
    if (places.length === 0) return isElsewhere(symbol);
    const functions = places.filter((each) => this.placeOf.get(each)?.kind === undefined);
    return !/\(\)\.$/.test(symbol) || functions.length < 2;
  }

  /** What a method sets is the attribute of the class above that has one of this name. */
  #inherited(symbol, place) {
    const [, own, name] = /([^#/`]+)#([^#/`.]+)\.$/.exec(symbol) ?? [];
    if (own === undefined || place === undefined) return [];
    const classes = this.baseOf(splitPlace(place)[0], own);
    const found = classes.map((each) => this.#attributes.get(`${each.file} ${each.name} ${name}`));
    return found.filter((each) => each !== undefined).slice(0, 1);
  }
}

/**
 * The first definition of each name that the file has once, also in functions: by that name none else is meant. What is
 * imported where it is there, and set where it is not, has two.
 */
function namedIn({ path: file, variables, classes, functions, imported }) {
  const test = /(^|\/)(tests?\/|test_)/.test(file);
  const first = new Map();
  for (const each of variables) {
    const key = `${each.container} ${each.name}`;
    if (!first.has(key)) first.set(key, each);
  }
  const isShared = ({ name, container }, others) =>
    others.some((each) => each.name === name && (container === '' || each.container === container));
  const all = [
    ...[...first.values()]
      .filter((each) => !isShared(each, functions) && !isShared(each, classes))
      .filter(({ name, container }) => container !== '' || !imported.includes(name))
      .map((each) => ({ ...each, kind: kindOf(each) })),
    ...classes
      .filter(({ top, name }) => top && classes.filter((each) => each.name === name).length === 1)
      .map((each) => ({ ...each, container: '', kind: 'type' })),
  ];
  const placesOf = ({ at, name, container }) => [
    at,
    ...variables
      .filter((each) => each.name === name && each.container === container)
      .map((each) => each.at),
  ];
  return all.map(({ at, name, container, kind, line }) => ({
    places: placesOf({ at, name, container }),
    fact: { is: 'named', name, container, kind, file, line, test },
  }));
}

function kindOf({ name, container }) {
  if (container !== '') return 'attribute';
  return /^_*[A-Z][A-Z0-9_]*$/.test(name) ? 'constant' : 'variable';
}

/** What imports name, or defines, uses nothing. */
function usesIn({ imports, defining, functions, classes }) {
  const lines = new Set(imports);
  const places = new Set([...defining, ...[...functions, ...classes].map(({ at }) => at)]);
  return (at) => !places.has(at) && !lines.has(Number(at.split(':')[0]) + 1);
}

/** Uses of names of the tree, or of other names of theirs, on receivers without a type. */
function unresolvedIn({ path: file, values, calls }, { symbols, known, isKnown, namesOf }) {
  const others = [...namesOf.values()];
  return [...values, ...calls].flatMap(({ at, line, name }) => {
    const isUnknown = (symbols.get(at) ?? []).every((each) => !isKnown(each));
    if (!isUnknown || !known.has(name)) return [];
    const names = [name, ...others.filter(({ by }) => by === name).map((each) => each.name)];
    return names.map((each) => ({ is: 'use', file, line, name: each }));
  });
}

function splitPlace(place) {
  const space = place.lastIndexOf(' ');
  return [place.slice(0, space), Number(place.slice(space + 1).split(':')[0]) + 1];
}
