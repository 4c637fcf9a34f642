import type { Config } from '../../src/config/config.js';
import type { AttentionParts } from './gate-desk.js';

/** How the risk of actions is judged here. */
export function attentionParts(_config: Config): Promise<AttentionParts> {
  return Promise.resolve({
    classify: () => Promise.resolve(undefined),
    gateMs: 24 * 3_600_000,
    onExpiry: 'halt',
  });
}
