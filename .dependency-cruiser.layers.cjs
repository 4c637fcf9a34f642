// Who may import whom, as tables. `.dependency-cruiser.cjs` makes rules of them; `test/unit/layers.test.ts` holds the tree to the
// rules, and plants one forbidden import for each of them.

/**
 * Part of src → parts it may import. A part may always import itself. A folder of a part may have a row of its own: the rest
 * of its part does not import it, and other parts only where their row names it.
 */
const parts = {
  base: [],
  secrets: [],
  errors: ['base'],
  wire: ['base', 'errors'],
  machine: ['base', 'errors', 'store'],
  config: ['base', 'errors'],
  observe: ['base', 'errors', 'wire', 'config'],
  store: ['base', 'errors', 'wire'],
  transport: ['base', 'errors', 'wire'],
  nats: ['base', 'errors', 'wire', 'store', 'transport'],
  broker: ['base', 'errors', 'wire', 'machine', 'store', 'transport'],
  client: ['base', 'errors', 'wire', 'machine', 'transport'],
  'nats/micro': ['base', 'errors', 'wire', 'client', 'pgc', 'nats'],
  model: ['base', 'errors'],
  prompt: ['base', 'errors', 'machine', 'observe', 'model', 'delegation'],
  pgc: ['base', 'secrets', 'errors', 'wire', 'store', 'model', 'client'],
  lattice: ['base', 'errors', 'wire', 'machine', 'store', 'model', 'pgc'],
  attention: ['base', 'secrets', 'errors', 'wire', 'machine', 'config', 'store', 'model'],
  delegation: ['base', 'errors', 'wire', 'machine', 'model', 'pgc', 'attention'],
  critic: [
    ...['base', 'secrets', 'errors', 'wire', 'machine', 'config', 'store', 'model', 'pgc'],
    ...['lattice', 'delegation'],
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
    ...['base', 'errors', 'wire', 'config', 'observe', 'transport', 'nats', 'client', 'pgc'],
    ...['lattice', 'attention', 'delegation', 'critic', 'task'],
  ],
  manager: [
    ...['base', 'errors', 'wire', 'machine', 'config', 'observe', 'store', 'client', 'pgc'],
    ...['lattice', 'prompt', 'attention', 'delegation', 'critic', 'task', 'remote'],
  ],
  executor: [
    ...[
      'base',
      'errors',
      'wire',
      'machine',
      'config',
      'observe',
      'store',
      'transport',
      'client',
      'model',
    ],
    ...['pgc', 'prompt', 'attention', 'delegation', 'task', 'remote', 'operations'],
  ],
  render: [
    ...['base', 'errors', 'wire', 'pgc', 'lattice', 'prompt', 'attention', 'delegation'],
    ...['critic', 'task', 'remote'],
  ],
  operations: [
    ...['base', 'errors', 'wire', 'client', 'pgc', 'lattice', 'prompt', 'attention', 'critic'],
    ...['delegation', 'task', 'remote', 'render'],
  ],
};

/** Rooms of src/pgc, from left to right: each may import those to its left, and these parts of src. */
const rooms = {
  format: ['errors', 'wire'],
  source: ['base', 'secrets', 'errors'],
  mine: ['base', 'secrets', 'errors', 'wire', 'store'],
  plan: ['base', 'errors'],
  bind: [],
  scip: ['errors', 'wire'],
  overlay: ['base', 'errors'],
  search: ['base', 'errors', 'wire', 'model'],
  build: ['base', 'errors', 'store'],
  analyse: ['base', 'errors', 'wire'],
  answer: ['base', 'errors'],
  serve: ['base', 'errors', 'wire', 'store', 'model', 'client'],
};

/** Package → the one place that may import it. */
const packages = {
  zeromq: '^src/transport/',
  level: '^src/store/',
  '@nats-io': '^src/nats/',
  pino: '^src/observe/',
  'prom-client': '^src/observe/',
  protobufjs: '^src/wire/',
  'crc-32': '^src/wire/',
  re2js: '^src/secrets/',
  xstate: '^src/machine/|\\.machine\\.ts$|^src/broker/session/sessions\\.ts',
  'web-tree-sitter': '^src/pgc/mine/',
  'jsonc-parser': '^services/cli/setup/',
  'smol-toml': '^(src/critic/claims|services/cli/setup)/',
  commander: '^services/cli/',
  zod: '^(src/(attention|config|critic|delegation|lattice|model|pgc|prompt|task|remote|operations)/|src/(base/lazy-schema|errors/objection)\\.ts$|services/mcp/)',
  unbash: '^src/attention/',
  yaml: '^src/(attention|critic)/',
  'markdown-it': '^src/critic/artifact/markdown\\.ts$',
  '@modelcontextprotocol': '^services/mcp/',
  '@a2a-js/sdk': '^services/a2a/',
  openai: '^src/model/chat\\.ts$',
  vite: '^services/console/page/vite\\.config\\.ts$',
  preact: '^services/console/page/',
  '@preact': '^services/console/page/',
  shiki: '^services/console/page/parts/',
  '@dagrejs/dagre': '^services/console/page/pages/ask/',
  'd3-force': '^services/console/page/pages/map/',
  'd3-hierarchy': '^services/console/page/pages/map/',
  uplot: '^services/console/page/parts/chart\\.tsx$',
  '@tanstack/virtual-core': '^services/console/page/parts/table\\.tsx$',
};

module.exports = { parts, rooms, packages };
