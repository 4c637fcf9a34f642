import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import type { Config } from '../../src/config/config.js';
import { traceTo, type Logger } from '../../src/observe/log.js';
import { placeOf } from '../../src/pgc/plan/manifest.js';
import { realRoot } from '../../src/pgc/source/source-tree.js';
import { openClient, untilAccepted } from '../process.js';
import { TreeAnalyser, type TreeMemory } from './tree-analyser.js';

/**
 * Serves analyses of a tree on a connection of its own, independent of open shards. Registers in the background.
 * Throws REPO_UNREADABLE.
 */
export async function serveTree(
  config: Config,
  folder: string,
  memory: TreeMemory,
  log: Logger,
): Promise<{ close: () => Promise<void> }> {
  const root = await realRoot(folder);
  const { manifest } = placeOf(root, config.home);
  const agent = `tree-${process.pid}-${randomBytes(4).toString('hex')}`;
  const client = openClient(config, { agent, role: 'pgc', isEphemeral: true }, traceTo(log));
  const stamp = (): string => stampOf(manifest);
  const analyser = new TreeAnalyser({ folder, home: config.home, stamp, memory });
  const offered = untilAccepted(client, log, () => analyser.serveOn(client, root));
  offered.catch(() => undefined);
  return {
    close: async () => {
      await client.close();
      await analyser.close();
    },
  };
}

function stampOf(path: string): string {
  try {
    const { ino, mtimeMs } = statSync(path);
    return `${ino}:${mtimeMs}`;
  } catch {
    return '';
  }
}
