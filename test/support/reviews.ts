import type { Judge } from '../../src/critic/review/critique-of.js';
import type { ExaminedBy } from '../../src/critic/review/report.js';
import type { ContextVector, CritiqueRequest, Selection } from '../../src/critic/shapes.js';

export const nothingFound: ExaminedBy = {
  ...{ sections: [], findings: [], score: null, unable: [], abort: '', dropped: 0 },
  ...{ engine: 'rules', reason: '', texts: [], tokens: 0 },
};

/** A request for a review, by default of one mode. */
export function asked(more: Partial<CritiqueRequest> = {}): CritiqueRequest {
  return {
    ...{ id: 'r-1', artifact: { path: 'doc.md', text: '# Title\n' }, root: '' },
    ...{ modes: ['steelman'], strict_order: false, is_adversarial: true, context: {} },
    ...{ is_revision: false, iteration: 2, tokens: 0, rules: [], criteria: '' },
    ...{ ps_id: '', entry_id: '', generator: '' },
    ...more,
  };
}

/** Selects the modes of the request, in their order. */
export function selectionOf({ modes, context }: CritiqueRequest): Selection {
  const criticality = (context.criticality ?? 'C1') as ContextVector['criticality'];
  return {
    outcome: 'review',
    criticality,
    floor: 'C1',
    context: {
      ...{ criticality, phase: 'PH-DESIGN', target_type: 'TGT-DEC', maturity: 'MAT-DRAFT' },
      ...{ team: 'TEAM-MULTI', enforcement: 'ENF-PORT', platform: 'PLAT-GENERIC' },
      token_budget: 'TOK-FULL',
    },
    modes: modes.map((mode) => ({
      ...{ mode, tokens: 0, is_advisory: false, is_single_pass: false },
    })),
    ...{ tokens: 0, flags: [], steps: [], error: '' },
  };
}

export const judgeNothing: Judge = () => ({
  ...{ score: null, threshold: 0.92, verdict: 'UNSCORED', why: 'no judge' },
  ...{ needs_person: false, flags: [] },
});
