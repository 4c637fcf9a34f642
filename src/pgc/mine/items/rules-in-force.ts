import type { RuleDigests } from '../fact-store.js';
import { securityRules, type SecurityRule } from './security-rules.js';

/** The rules of O2 that are in force in one tree: plain data, which goes to the workers as it is. */
export interface RulesInForce {
  rules: readonly SecurityRule[];
  /** Rules that look for a text and are switched off, as `language/id`. */
  off: readonly string[];
  /** By language; none where the shipped rules are in force. */
  digests: RuleDigests;
}

export const shippedRules: RulesInForce = { rules: securityRules, off: [], digests: {} };
