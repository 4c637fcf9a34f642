// Where names of the tree are used: those at the top of modules, and those in the bodies of classes at the top.

/** `named` and `use` as in ../README.md. */
export function usesOf({ files, definitions, syntax }) {
  const named = syntax.flatMap((file) => namedIn(file));
  const placeOf = new Map(named.map(({ at, fact }) => [`${fact.file} ${at}`, fact]));
  const functions = syntax.flatMap(({ path: file, functions: all }) =>
    all.map(({ at, line, name }) => [`${file} ${at}`, { file, line, name }]),
  );
  for (const [at, each] of functions) placeOf.set(at, each);
  const known = new Set([...placeOf.values()].map(({ name }) => name));
  const uses = syntax.flatMap((file) => {
    const symbols = files.get(file.path) ?? new Map();
    const isUse = usesIn(file);
    const resolved = [...symbols].flatMap(([at, list]) =>
      isUse(at) ? list.flatMap((symbol) => targetsOf(symbol, `${file.path} ${at}`)) : [],
    );
    return [...resolved, ...unresolvedIn(file, { symbols, known })];
  });
  return [...named.map(({ fact }) => fact), ...uses];

  function targetsOf(symbol, place) {
    const places = definitions.get(symbol) ?? [];
    if (places.includes(place)) return [];
    return places.flatMap((each) => {
      const target = placeOf.get(each);
      const [file, line] = splitPlace(place);
      return target === undefined
        ? []
        : [{ is: 'use', file, line, target: `${target.file}:${target.line}` }];
    });
  }
}

/** The first definition of each name. */
function namedIn({ path: file, variables, classes }) {
  const test = /(^|\/)(tests?\/|test_)/.test(file);
  const first = new Map();
  for (const each of variables) {
    const key = `${each.container} ${each.name}`;
    if (!first.has(key)) first.set(key, each);
  }
  const all = [
    ...[...first.values()].map((each) => ({ ...each, kind: kindOf(each) })),
    ...classes.filter(({ top }) => top).map((each) => ({ ...each, container: '', kind: 'type' })),
  ];
  return all.map(({ at, name, container, kind, line }) => ({
    ...{ at, fact: { is: 'named', name, container, kind, file, line, test } },
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

/** Uses of names of the tree on receivers without a type. */
function unresolvedIn({ path: file, values }, { symbols, known }) {
  return values.flatMap(({ at, line, name }) => {
    const isUnknown = (symbols.get(at) ?? []).length === 0;
    return isUnknown && known.has(name) ? [{ is: 'use', file, line, name }] : [];
  });
}

function splitPlace(place) {
  const space = place.lastIndexOf(' ');
  return [place.slice(0, space), Number(place.slice(space + 1).split(':')[0]) + 1];
}
