import { createHash } from 'node:crypto';
import type { Ground } from '../../src/critic/ground.js';
import type { ModeInput } from '../../src/critic/mode.js';
import type { ContextVector, ModeReport } from '../../src/critic/shapes.js';
import type { Questions } from '../../src/lattice/questions.js';

export const context: ContextVector = {
  ...{ criticality: 'C3', phase: 'PH-DESIGN', target_type: 'TGT-ARCH', maturity: 'MAT-DRAFT' },
  ...{ team: 'TEAM-MULTI', enforcement: 'ENF-FULL', platform: 'PLAT-CC', token_budget: 'TOK-FULL' },
};

/** The input of a mode for a text. */
export function inputOf(
  text: string,
  { path = 'docs/page.md', ...rest }: Partial<ModeInput> & { path?: string } = {},
): ModeInput {
  const digest = createHash('sha256').update(text).digest('hex');
  return {
    artifact: { path, text, digest },
    ...{ context, before: [], ground: undefined, rules: [] },
    ...{ signal: new AbortController().signal, partial: () => undefined },
    ...rest,
  };
}

/** A tree of a few files, without an index. */
export function groundOf(files: Record<string, string>): Ground {
  return {
    root: '/tree',
    questions: {} as Questions,
    analyses: {} as Ground['analyses'],
    paths: () => Promise.resolve(Object.keys(files).sort()),
    read: (path) => Promise.resolve(files[path]),
    committed: () => Promise.resolve(undefined),
  };
}

export function reportOf(report: Partial<ModeReport>): ModeReport {
  return {
    ...{ mode: 'self-refine', strategy: 'S-010', engine: 'rules', status: 'complete', reason: '' },
    ...{ sections: [], findings: [], score: null, unable: [], dropped: 0, abort: '', texts: [] },
    ...{ elapsed_ms: 0, tokens: 0 },
    ...report,
  };
}
