import { randomBytes } from 'node:crypto';
import { statSync } from 'node:fs';
import { untilAccepted } from '../../client/registration.js';
import { placeOf } from '../plan/manifest.js';
import { realRoot } from '../source/source-tree.js';
import type { HostBus } from './take-over.js';
import { TreeAnalyst, type TreeMemory } from './tree-analyst.js';

/**
 * Serves the analyses of a tree on a connection of its own, which needs no open shard. Offers them in the background.
 * Throws REPO_UNREADABLE.
 */
export async function serveTree(
  { connect, trace }: HostBus,
  { folder, home, memory }: { folder: string; home: string; memory: TreeMemory },
): Promise<{ close: () => Promise<void> }> {
  const root = await realRoot(folder);
  const { manifest } = placeOf(root, home);
  const agent = `pgc-tree-${process.pid}-${randomBytes(4).toString('hex')}`;
  const client = connect({ agent, role: 'pgc', isEphemeral: true });
  const stamp = (): string => stampOf(manifest);
  const analyst = new TreeAnalyst({ folder, home, stamp, memory });
  const offered = untilAccepted(client, trace, () => analyst.serveOn(client, root));
  offered.catch(() => undefined);
  return {
    close: async () => {
      await client.close();
      await analyst.close();
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
