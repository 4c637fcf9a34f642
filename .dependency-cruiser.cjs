// Who may import whom, as a table. `test/unit/layers.test.ts` holds the tree to it.

/**
 * Part of src → parts it may import. A part may always import itself. A folder of a part may have a row of its own: then
 * the rest of the part does not import it, and other parts only where their row names it.
 */
const layers = {
  base: [],
  errors: ['base'],
  wire: ['base', 'errors'],
  machine: ['base', 'errors'],
  config: ['base', 'errors'],
  observe: ['base', 'errors', 'wire', 'config'],
  store: ['base', 'errors', 'wire'],
  transport: ['base', 'errors', 'wire'],
  broker: ['base', 'errors', 'wire', 'machine', 'store', 'transport'],
  client: ['base', 'errors', 'wire', 'machine', 'transport'],
  model: ['base', 'errors'],
  prompt: ['base', 'errors', 'machine', 'observe', 'model', 'delegation'],
  pgc: ['base', 'errors', 'wire', 'store', 'model'],
  'pgc/serve': ['base', 'errors', 'wire', 'store', 'model', 'client', 'pgc'],
  lattice: ['base', 'errors', 'wire', 'machine', 'store', 'model', 'pgc'],
  attention: ['base', 'errors', 'wire', 'machine', 'config', 'store', 'model'],
  delegation: ['base', 'errors', 'wire', 'machine', 'model', 'pgc', 'attention'],
  critic: [
    ...['base', 'errors', 'wire', 'machine', 'config', 'store', 'model', 'pgc', 'lattice'],
    ...['delegation'],
  ],
  'critic/serve': ['base', 'errors', 'config', 'store', 'model', 'client', 'critic'],
  task: [
    'base',
    'errors',
    'wire',
    'machine',
    'store',
    'prompt',
    'delegation',
    'attention',
    'critic',
  ],
  remote: [
    ...['base', 'errors', 'wire', 'config', 'observe', 'transport', 'client', 'pgc', 'lattice'],
    ...['attention', 'delegation', 'critic', 'task'],
  ],
  manager: [
    ...['base', 'errors', 'wire', 'machine', 'config', 'observe', 'store', 'client', 'pgc'],
    ...['lattice', 'prompt', 'attention', 'delegation', 'critic', 'task', 'remote'],
  ],
  executor: [
    ...['base', 'errors', 'wire', 'machine', 'config', 'observe', 'store', 'client', 'model'],
    ...['transport', 'pgc', 'prompt', 'attention', 'delegation', 'task', 'remote'],
  ],
  render: [
    ...['base', 'errors', 'wire', 'pgc', 'lattice', 'prompt', 'attention', 'delegation'],
    ...['critic', 'task', 'remote'],
  ],
};

/** One package in one place. */
const packages = {
  zeromq: '^src/transport/',
  level: '^src/store/',
  pino: '^src/observe/',
  'prom-client': '^src/observe/',
  protobufjs: '^src/wire/',
  'crc-32': '^src/wire/',
  xstate: '^src/(machine/|[^/]+/(session/)?[^/]+\\.machine\\.ts|broker/sessions\\.ts)',
  'web-tree-sitter': '^src/pgc/miners/',
  '@repomix/tree-sitter-wasms': '^src/pgc/miners/',
  commander: '^services/cli/',
  zod: '^(src/(attention|config|critic|delegation|lattice|model|pgc|prompt|task|remote)/|src/base/zod\\.ts$|services/mcp/)',
  unbash: '^src/attention/',
  yaml: '^src/(attention|critic)/',
  'markdown-it': '^src/critic/markdown\\.ts$',
  '@modelcontextprotocol': '^services/mcp/',
  'onnxruntime-node': '^src/model/',
  openai: '^src/model/chat\\.ts$',
};

const parts = Object.keys(layers);
const roomsOf = (part) => parts.filter((each) => each.startsWith(`${part}/`));
/** Files of a part that are in no folder with a row of its own. */
const own = (part) => {
  const rooms = roomsOf(part).map((room) => room.slice(part.length + 1));
  return rooms.length === 0 ? `${part}/` : `${part}/(?!(${rooms.join('|')})/)`;
};

module.exports = {
  forbidden: [
    ...parts.map((part) => ({
      name: `${part.replace('/', '-')}-imports-only-what-it-may`,
      severity: 'error',
      from: { path: `^src/${own(part)}` },
      to: {
        path: '^(src|services)/',
        pathNot: `^src/(${[part, ...layers[part]].map(own).join('|')})`,
      },
    })),
    {
      name: 'every-part-is-in-the-table',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(${parts.join('|')})/` },
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
    ...Object.entries(packages).map(([name, where]) => ({
      name: `${name.replace(/\W+/g, '-')}-in-one-place`,
      severity: 'error',
      from: { path: '^(src|services)/', pathNot: where },
      to: { path: `(^|node_modules/)${name}(/|$)` },
    })),
    {
      name: 'no-circles',
      severity: 'error',
      from: { path: '^(src|services)/' },
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    {
      name: 'nothing-unresolved',
      severity: 'error',
      from: { path: '^(src|services)/' },
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
      extensions: ['.ts', '.js', '.mjs', '.json'],
    },
  },
};
