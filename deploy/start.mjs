// `npm start [-- PATH]`: everything in one terminal, with a first question. Without a PATH the code base
// is Sigma Bus itself, as four shards.
import { spawn } from 'node:child_process';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const [repo, ...others] = process.argv.slice(2);
if (others.length > 0) {
  process.stderr.write('usage: npm start [-- PATH]\n');
  process.exit(2);
}
const sigma = path.join(root, 'services/cli/sigma.mjs');
const own = [
  'up',
  root,
  '--shards',
  '4',
  '--first-question',
  'How are the citations of an answer verified against the tree?',
];
const args =
  repo === undefined
    ? own
    : ['up', path.resolve(process.env.INIT_CWD ?? '.', repo), '--first-question', 'auto'];

const child = spawn(process.execPath, [sigma, ...args], { stdio: 'inherit' });
// Ctrl-C reaches the child by itself; a second signal from here would make it give up its orderly end.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => child.kill('SIGTERM'));
child.on('exit', (code) => process.exit(code ?? 1));
