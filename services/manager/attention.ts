import { classify } from '../../src/attention/classify.js';
import { durationMs } from '../../src/attention/policy.js';
import type { Config } from '../../src/config/config.js';
import { actionOf } from '../../src/delegation/action.js';
import { loadPolicy } from '../attention/policy-file.js';
import type { AttentionParts } from './gate-desk.js';

const gateMsDefault = 24 * 3_600_000;

/** How the risk of actions is judged here: without a look at files, which the executor has. Throws ATTENTION_POLICY_INVALID. */
export function attentionParts(_config: Config): Promise<AttentionParts> {
  const policy = loadPolicy();
  return Promise.resolve({
    classify: async (task) => {
      const action = actionOf(task);
      return action && classify(action, { policy });
    },
    gateMs: durationMs(policy.gate_expires) ?? gateMsDefault,
    onExpiry: policy.on_expiry,
  });
}
