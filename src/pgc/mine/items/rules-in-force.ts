import type { RuleDigests } from '../fact-store.js';
import { securityRules, type SecurityRule } from './security-rules.js';

/** The rules of O2 that are in force in one tree: plain data, which goes to the workers as it is. */
export interface RulesInForce {
  rules: readonly SecurityRule[];
  /** Of what is found without a call: `secret` and the like, as `language/id`. */
  off: readonly string[];
  /** By language, of all that is in force there; none where that is what is shipped. */
  digests: RuleDigests;
}

export const shippedRules: RulesInForce = { rules: securityRules, off: [], digests: {} };
