import { existsSync, readdirSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

const descriptors = '/proc/self/fd';
/** Elsewhere nobody says what is open. */
export const areDescriptorsListed = existsSync(descriptors);

/** Files at or below a path that this process has open. */
export function openBelow(path: string): number {
  return readdirSync(descriptors).filter((name) => {
    try {
      return readlinkSync(join(descriptors, name)).startsWith(path);
    } catch {
      return false;
    }
  }).length;
}
