import { durationMs } from '../attention/policy/policy.js';
import { policyOf } from '../attention/policy/policy-file.js';
import type { Config } from '../config/config.js';
import { classify } from '../attention/classify/classify.js';
import { actionOf } from '../delegation/task/action.js';
import type { AttentionParts } from './gate-handler.js';

const gateMsDefault = 24 * 3_600_000;

/**
 * How the risk of actions is judged by a manager: without a look at files, for they lie where the executor is. Throws
 * ATTENTION_POLICY_INVALID.
 */
export function attentionParts(config: Config): AttentionParts {
  const policy = policyOf(config);
  return {
    classify: async (task) => {
      const action = actionOf(task);
      return action && classify(action, { policy, inspector: 'elsewhere' });
    },
    gateMs: durationMs(policy.gate_expires) ?? gateMsDefault,
    onExpiry: policy.on_expiry,
  };
}
