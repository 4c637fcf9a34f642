// Rules for the imports of src and services, made of the tables in `.dependency-cruiser.layers.cjs`.
const { parts, rooms, packages } = require('./.dependency-cruiser.layers.cjs');

const partNames = Object.keys(parts);
const roomNames = Object.keys(rooms);
const program = '^(src|services)/';
/** Files of a part that are in no folder with a row of its own. */
const own = (part) => {
  const inner = partNames.filter((each) => each.startsWith(`${part}/`));
  const folders = inner.map((each) => each.slice(part.length + 1)).join('|');
  return folders === '' ? `${part}/` : `${part}/(?!(${folders})/)`;
};
const any = (names) => (names.length === 0 ? '(?!)' : names.join('|'));

module.exports = {
  forbidden: [
    ...partNames.map((part) => ({
      name: `${part.replace('/', '-')}-imports-only-what-it-may`,
      severity: 'error',
      from: { path: `^src/${own(part)}` },
      to: { path: program, pathNot: `^src/(${any([part, ...parts[part]].map(own))})` },
    })),
    ...roomNames.map((room, at) => ({
      name: `pgc-${room}-imports-only-what-it-may`,
      severity: 'error',
      from: { path: `^src/pgc/${room}/` },
      to: {
        path: program,
        pathNot: [
          `^src/pgc/((${any(roomNames.slice(0, at + 1))})/|shapes\\.ts$)`,
          `^src/(${any(rooms[room])})/`,
        ],
      },
    })),
    {
      name: 'every-part-is-in-the-table',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${any(partNames)})/` },
      to: {},
    },
    {
      name: 'every-room-is-in-the-table',
      severity: 'error',
      from: { path: '^src/pgc/', pathNot: `^src/pgc/((${any(roomNames)})/|shapes\\.ts$)` },
      to: {},
    },
    {
      name: 'a-service-imports-no-other',
      severity: 'error',
      from: { path: '^services/([^/]+)/' },
      to: { path: '^services/[^/]+/', pathNot: '^services/$1/' },
    },
    {
      name: 'services-are-started-from-one-table',
      severity: 'error',
      from: { path: '^services/[^/]+$', pathNot: '^services/programs\\.ts$' },
      to: { path: '^services/[^/]+/' },
    },
    {
      name: 'a-service-is-imported-by-services-only',
      severity: 'error',
      from: { pathNot: '^(services|test)/' },
      to: { path: '^services/' },
    },
    ...Object.entries(packages).map(([name, place]) => ({
      name: `${name.replace(/\W+/g, '-')}-in-one-place`,
      severity: 'error',
      from: { path: program, pathNot: place },
      to: { path: `(^|node_modules/)${name}(/|$)` },
    })),
    { name: 'no-circles', severity: 'error', from: { path: program }, to: { circular: true } },
    {
      // What is imported is shipped: the build puts it into the bundle.
      name: 'no-package-without-a-place',
      severity: 'error',
      from: { path: program },
      to: {
        dependencyTypes: ['npm', 'npm-dev'],
        dependencyTypesNot: ['type-only'],
        pathNot: `(^|node_modules/)(${Object.keys(packages).join('|')})(/|$)`,
      },
    },
    {
      name: 'nothing-unresolved',
      severity: 'error',
      from: { path: program },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: 'src/wire/generated' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default', 'types'],
      extensions: ['.ts', '.tsx', '.js', '.mjs', '.json'],
    },
  },
};
