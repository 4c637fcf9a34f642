/**
 * The processes of the product, each loaded when it is started. This table is the only place that imports another
 * service.
 */
export const programs = {
  broker: async () => (await import('./broker/main.js')).runBroker,
  pgc: async () => (await import('./pgc/main.js')).runPgc,
  manager: async () => (await import('./manager/main.js')).runManager,
  executor: async () => (await import('./executor/main.js')).runExecutor,
  critic: async () => (await import('./critic/main.js')).runCritic,
  miner: async () => (await import('./miner/main.js')).runMiner,
  gateway: async () => (await import('./gateway/main.js')).runGateway,
  a2a: async () => (await import('./a2a/main.js')).runA2a,
  console: async () => (await import('./console/main.js')).runConsole,
  consoleLink: async () => (await import('./console/link.js')).linkToRunning,
  mcp: async () => (await import('./mcp/main.js')).runMcp,
} as const;
