import type { ConfidenceLevel } from '../task/shapes.js';

export interface Finding {
  code: string;
  severity: 'error' | 'warning';
  text: string;
}

export interface CriterionVerdict {
  text: string;
  verdict: 'met' | 'unmet' | 'unchecked';
  why: string;
}

export interface CitationVerdict {
  /** `unverified`: its repository cannot be read here. It does not count. */
  status: 'valid' | 'stale' | 'false' | 'unverified';
  reason: string;
  now_at: string;
}

/** The review of one response by the manager. */
export interface Review {
  attempt: number;
  worker: string;
  verdict: 'accepted' | 'warned' | 'refused' | 'undecided';
  findings: Finding[];
  criteria: CriterionVerdict[];
  /** In the order of the citations. */
  citations: CitationVerdict[];
  /** Computed by the manager from the valid citations. */
  confidence: ConfidenceLevel;
  similarity: number;
}
