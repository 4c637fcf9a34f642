import type { Checked } from '../checks/check.js';
import type { Examined, ModeInput } from '../mode.js';
import { chainOfVerification } from '../modes/chain-of-verification.js';
import type { ClaimCounts, Finding, ModeReport } from '../shapes.js';
import type { ModeName } from '../strategies.js';

export interface KnownClaims {
  checked: Checked;
  /** New ones only. */
  findings: Finding[];
  abort: ModeReport['abort'];
}

/**
 * The claims of an artifact about code as `chain-of-verification` reported them. Where that mode did not run and an index
 * is there, they are looked up now and the findings carry the name of `mode`.
 */
export async function knownClaims(mode: ModeName, input: ModeInput): Promise<KnownClaims> {
  const earlier = input.before.filter((each) => each.mode === 'chain-of-verification');
  if (earlier.length > 0 || input.ground === undefined)
    return { checked: checkedBy(earlier), findings: [], abort: '' };
  const own = await chainOfVerification.examine({ ...input, partial: () => undefined });
  const findings = own.findings.map((each) => ({ ...each, mode }));
  return { checked: checkedBy([own]), findings, abort: own.abort };
}

function checkedBy(reports: readonly Pick<Examined, 'findings' | 'claims'>[]): Checked {
  const faults = reports.flatMap(({ findings }) =>
    findings.filter(({ rule }) => /CONTRADICTED/.test(rule)),
  );
  const sum = (of: keyof ClaimCounts): number =>
    reports.reduce((all, { claims }) => all + (claims?.[of] ?? 0), 0);
  // A model may have found more than the rules.
  const wrong = Math.max(faults.length, sum('contradicted'));
  return {
    aspect: 'accuracy',
    what: 'names in the code and claims about it that hold',
    looked: sum('verified') + sum('named') + wrong,
    wrong,
    faults: faults.map(({ rule, severity, text, remedy, line_start, line_end }) => ({
      ...{ rule, severity, text, remedy, place: { line_start, line_end } },
    })),
  };
}
