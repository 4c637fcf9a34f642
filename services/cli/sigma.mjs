#!/usr/bin/env node
// The one thing that runs before the compiled program: says in words what would otherwise be a stack trace.
import { existsSync } from 'node:fs';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const program = new URL('../../dist/bundle/main.js', import.meta.url);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`sigma: needs Node 20.19 or newer; this is ${process.version}\n`);
  process.exitCode = 2;
} else if (!existsSync(program)) {
  process.stderr.write('sigma: not built yet\n  Run `npm run build` in the folder of Sigma Bus.\n');
  process.exitCode = 2;
} else {
  const { main } = await import(program.href);
  await main(process.argv);
}
