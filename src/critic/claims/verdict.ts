import type { Evidence } from '../shapes.js';
import { type Claim, type Verified, claimLimits } from './claim.js';
import type { ReadDocument } from './document.js';
import type { KnownTree } from './known-tree.js';

/** What a check says of a claim. */
export type Verdict = Omit<Verified, 'claim'>;

/** What all checks are given. */
export interface Checking {
  tree: KnownTree;
  document: ReadDocument;
  claim: Claim;
  /** Files that the document names without a folder are, all but a few, files of the tree. */
  areBareNamesOwn: boolean;
  /** Nearly every name that the document marks as code stands in the code: one that does not is wrong. */
  areNamesOwn: boolean;
  /** And nearly every word that stands in quotes in its code spans. */
  areTextsOwn: boolean;
}

export function verified(
  reason: string,
  evidence: Evidence[],
  confidence: Verdict['confidence'] = 'high',
): Verdict {
  return { status: 'verified', reason, confidence, evidence: cut(evidence), remedy: '' };
}

export function contradicted(
  reason: string,
  remedy: string,
  evidence: Evidence[],
  confidence: Verdict['confidence'] = 'high',
): Verdict {
  return { status: 'contradicted', reason, confidence, evidence: cut(evidence), remedy };
}

export function unverified(reason: string, evidence: Evidence[] = []): Verdict {
  return { status: 'unverified', reason, confidence: 'low', evidence: cut(evidence), remedy: '' };
}

function cut(evidence: Evidence[]): Evidence[] {
  return evidence.slice(0, claimLimits.evidence);
}
