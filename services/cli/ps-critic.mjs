#!/usr/bin/env node
// `sigma critic` under the name that the documents know.
if (!['--version', '-V'].includes(process.argv[2] ?? '')) process.argv.splice(2, 0, 'critic');
await import('./sigma.mjs');
