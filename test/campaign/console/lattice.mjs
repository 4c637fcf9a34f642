import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const sigma = path.resolve(import.meta.dirname, '../../../services/cli/sigma.mjs');
/** Folders in which the shards stand. */
const parts = 20;
/** Each shard calls those so far away. */
const steps = [1, 7, 31, 113];

/** A tree of C below `home`, of which each folder is a shard, and its index. Gives the folder of the tree. */
export function indexedLattice(home, shards) {
  const root = path.join(home, 'tree');
  const all = Array.from({ length: shards }, (_, at) => `part_${at % parts}/unit_${at}`);
  for (const [at, folder] of all.entries()) {
    mkdirSync(path.join(root, folder), { recursive: true });
    const calls = steps.map((step) => `\tunit_${(at + step) % shards}_start(device);\n`).join('');
    writeFileSync(
      path.join(root, folder, 'unit.c'),
      `/** unit_${at}_start() - starts unit ${at} of the device */\nint unit_${at}_start(struct device *device)\n{\n${calls}\treturn 0;\n}\n`,
    );
  }
  const plan = path.join(home, 'plan.json');
  const named = all.map((folder) => ({ alias: folder.replace('/', '-'), paths: [folder] }));
  writeFileSync(plan, JSON.stringify({ shards: named }));
  const { status, stderr } = spawnSync(process.execPath, [sigma, 'index', root, '--shards', plan], {
    env: { ...process.env, SIGMA_HOME: home, SIGMA_BUS: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`the tree cannot be indexed: ${stderr}`);
  return root;
}
