import type { Plain, sigma } from '../../wire/codec.js';
import type { ConfidenceLevel, EvidenceCitation } from '../task/shapes.js';

export type Finding = Plain<sigma.task.Finding, { severity: 'error' | 'warning' }>;
export type CriterionVerdict = Plain<
  sigma.task.CriterionVerdict,
  { verdict: 'met' | 'unmet' | 'unchecked' }
>;
export type CitationVerdict = Plain<
  sigma.task.CitationVerdict,
  { status: 'valid' | 'stale' | 'false' | 'unverified' }
>;

/** A citation with the lines that were found for it, and what is true of it. */
export interface CheckedCitation {
  citation: EvidenceCitation;
  verdict: CitationVerdict;
}

/** The review of one response by the manager. */
export type Review = Plain<
  sigma.task.Review,
  {
    verdict: 'accepted' | 'warned' | 'refused' | 'undecided';
    findings: Finding[];
    criteria: CriterionVerdict[];
    citations: CitationVerdict[];
    confidence: ConfidenceLevel;
  }
>;

/** How near the citations of a response are to its task, as the PGC itself says. */
export interface Nearness {
  /** The same, each as near as the PGC says; without a similarity where it does not give the place for what the task asks. */
  citations: EvidenceCitation[];
  /** How surely the PGC answers the task, where the evidence is of that answer. */
  answered: ConfidenceLevel | undefined;
  /** The most that its own queries let a worker claim. */
  claimable: ConfidenceLevel;
}

/** What is known of the words of a result, beside its citations. */
export interface SaidWords {
  /** Of an agent, a model, or a worker that nothing is known of: nothing shows that its citations say so. */
  areOwn: boolean;
  /** Sentences that the index contradicts, with what it says. */
  contradicted: readonly string[];
}
