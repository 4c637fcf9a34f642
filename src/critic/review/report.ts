import { bounded } from '../finding.js';
import type { Examined } from '../mode.js';
import { secretsOutOf } from '../artifact/secrets.js';
import type { ModeReport } from '../shapes.js';
import { isAdversarial, strategies, type ModeName } from '../strategies.js';

/** What the engine reports beside what was found. */
export interface Spoken {
  engine: ModeReport['engine'];
  /** Why less was done than asked: a code; empty: all was. */
  reason: string;
  texts: string[];
  tokens: number;
}

export type ExaminedBy = Examined & Spoken;

/** Of a mode that was begun, within `criticLimits`, without the secrets that it quotes. `found`: as much as is known. */
export function reportOf(
  mode: ModeName,
  found: Partial<ExaminedBy>,
  { status, reason, elapsedMs }: Pick<ModeReport, 'status' | 'reason'> & { elapsedMs: number },
): ModeReport {
  const examined = bounded(
    secretsOutOf({
      sections: found.sections ?? [],
      findings: found.findings ?? [],
      score: found.score ?? null,
      ...(found.claims !== undefined && { claims: found.claims }),
      unable: found.unable ?? [],
      dropped: found.dropped ?? 0,
      abort: found.abort ?? '',
    }),
  );
  return {
    mode,
    strategy: strategyOf(mode),
    engine: found.engine ?? 'rules',
    status,
    reason,
    ...examined,
    texts: found.texts ?? [],
    elapsed_ms: Math.max(0, Math.round(elapsedMs)),
    tokens: found.tokens ?? 0,
  };
}

/** Of a mode that was not begun. */
export function skippedReport(mode: ModeName, reason: string): ModeReport {
  return reportOf(mode, {}, { status: 'skipped', reason, elapsedMs: 0 });
}

function strategyOf(mode: ModeName): string {
  return isAdversarial(mode) ? strategies[mode].id : '';
}
