import { spawnSync } from 'node:child_process';

/** Before the tests of a bus on NATS. */
export default function setup(): void {
  if (spawnSync('nats-server', ['--version']).status === 0) return;
  process.stdout.write('SKIPPED: nats-server is not installed (apt-get install nats-server)\n');
  process.exit(0);
}
