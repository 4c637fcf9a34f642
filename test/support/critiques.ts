import type { JudgedRound } from '../../src/critic/cycle/cycle.js';
import { trackedAfter } from '../../src/critic/cycle/tracking.js';
import type {
  Critique,
  Finding,
  ModeReport,
  QualityTracking,
  TrackedIteration,
} from '../../src/critic/shapes.js';

export function findingOf(id: string, change: Partial<Finding> = {}): Finding {
  return {
    ...{ id, mode: 'constitutional', by: 'rules', rule: 'LINK_BROKEN', severity: 'major' },
    ...{ is_hard: false, text: `what ${id} says`, line_start: 1, line_end: 1 },
    ...{ remedy: `put ${id} right`, evidence: [] },
    ...change,
  };
}

/** A critique of a C2 artifact, with what matters in a test. */
export function critiqueOf(
  id: string,
  score: number | null,
  {
    findings = [],
    criticality = 'C2',
    ...change
  }: Partial<Omit<Critique, 'id' | 'score'>> & {
    findings?: Finding[];
    criticality?: Critique['selection']['criticality'];
  } = {},
): Critique {
  const verdict = score === null ? 'UNSCORED' : score >= 0.92 ? 'PASS' : 'REVISE';
  const report: ModeReport = {
    ...{ mode: 'constitutional', strategy: 'S-007', engine: 'rules', status: 'complete' },
    ...{ reason: '', sections: [], findings: [], score: null, unable: [], dropped: 0, abort: '' },
    ...{ texts: [], elapsed_ms: 1, tokens: 0 },
  };
  return {
    id,
    artifact: 'docs/one.md',
    digest: `digest of ${id}`,
    iteration: 1,
    selection: {
      ...{ outcome: 'review', criticality, floor: criticality, modes: [], tokens: 0 },
      ...{ flags: [], steps: [], error: '' },
      context: {
        ...{ criticality, phase: 'PH-DESIGN', target_type: 'TGT-RES', maturity: 'MAT-DRAFT' },
        ...{ team: 'TEAM-MULTI', enforcement: 'ENF-PORT', platform: 'PLAT-GENERIC' },
        token_budget: 'TOK-FULL',
      },
    },
    reports: [{ ...report, findings }],
    score,
    threshold: 0.92,
    verdict,
    why: 'as the judge says',
    needs_person: false,
    flags: [],
    engine: 'rules',
    tokens: 0,
    begun_ms: 1_000,
    elapsed_ms: 10,
    ...{ state: '', standing: '' },
    ...change,
  };
}

/** A round of a cycle with what matters in a test; the digest is another each time. */
export function roundWith(change: Partial<JudgedRound> & { digest: string }): JudgedRound {
  const { score = 0.8 } = change;
  return {
    ...{ iteration: 1, critique: `of ${change.digest}`, score },
    verdict: score === null ? 'UNSCORED' : score >= 0.92 ? 'PASS' : 'REVISE',
    ...{ findings: [], is_hard: false, needs_person: '', disputed: [], judged: '' },
    ...change,
  };
}

/** The tracking of an artifact after these critiques, oldest first. */
export function trackingOf(
  artifact: string,
  threshold: number,
  critiques: readonly Critique[],
): QualityTracking {
  const iterations: TrackedIteration[] = [];
  for (const each of critiques) iterations.push(trackedAfter(iterations, each));
  return { artifact, threshold, iterations };
}
