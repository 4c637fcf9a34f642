import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { chainFiles } from './chain-tree.js';
import { temporaryFolder } from './temporary.js';

export const chainAliases = ['drivers', 'include', 'kernel', 'mm'];

/** A small C tree, a home, and a plan of four shards. */
export function chainRepository(): {
  root: string;
  home: string;
  plan: string;
  remove: () => void;
} {
  const folder = temporaryFolder();
  const root = path.join(folder.path, 'tree');
  for (const [name, text] of Object.entries(chainFiles)) {
    mkdirSync(path.dirname(path.join(root, name)), { recursive: true });
    writeFileSync(path.join(root, name), text);
  }
  const plan = path.join(folder.path, 'plan.json');
  writeFileSync(
    plan,
    JSON.stringify({ shards: chainAliases.map((alias) => ({ alias, paths: [alias] })) }),
  );
  return { root, home: path.join(folder.path, 'home'), plan, remove: folder.remove };
}
