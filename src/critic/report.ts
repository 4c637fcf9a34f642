import { criticLimits, severities, type Finding, type ModeReport, type Section } from './shapes.js';
import type { Examined } from './mode.js';
import { isAdversarial, strategies, type ModeName } from './strategies.js';

/** What whoever examined says beside what was found. */
export interface Spoken {
  engine: ModeReport['engine'];
  /** Why less was done than asked: a code; empty: all was. */
  reason: string;
  texts: string[];
  tokens: number;
}

export type ExaminedBy = Examined & Spoken;

/** Of a mode that was begun. `found`: as much as is known. */
export function reportOf(
  mode: ModeName,
  found: Partial<ExaminedBy>,
  { status, reason, elapsedMs }: Pick<ModeReport, 'status' | 'reason'> & { elapsedMs: number },
): ModeReport {
  return bounded({
    mode,
    strategy: strategyOf(mode),
    engine: found.engine ?? 'rules',
    status,
    reason,
    sections: found.sections ?? [],
    findings: found.findings ?? [],
    score: found.score ?? null,
    ...(found.claims !== undefined && { claims: found.claims }),
    unable: found.unable ?? [],
    dropped: found.dropped ?? 0,
    abort: found.abort ?? '',
    texts: found.texts ?? [],
    elapsed_ms: Math.max(0, Math.round(elapsedMs)),
    tokens: found.tokens ?? 0,
  });
}

/** Of a mode that was not begun. */
export function skippedReport(mode: ModeName, reason: string): ModeReport {
  return reportOf(mode, {}, { status: 'skipped', reason, elapsedMs: 0 });
}

function strategyOf(mode: ModeName): string {
  return isAdversarial(mode) ? strategies[mode].id : '';
}

/** The worst findings stay; what is left out is said. */
function bounded(report: ModeReport): ModeReport {
  const { findings: most, findingChars, evidence, contentChars } = criticLimits;
  const worst = report.findings
    .map((finding, at) => ({ finding, at }))
    .sort((a, b) => rank(a.finding) - rank(b.finding) || a.at - b.at)
    .slice(0, most);
  const findings = worst.map(({ finding }): Finding => ({
    ...finding,
    text: cut(finding.text, findingChars),
    remedy: cut(finding.remedy, findingChars),
    evidence: finding.evidence
      .slice(0, evidence)
      .map((each) => ({ ...each, content: cut(each.content, contentChars) })),
  }));
  const sections = report.sections
    .slice(0, criticLimits.sections)
    .map((each) => ({ ...each, text: cut(each.text, criticLimits.sectionChars) }));
  const left = report.findings.length - findings.length;
  return fitted({
    ...report,
    findings,
    sections,
    unable: [...leftOut(left), ...report.unable].slice(0, criticLimits.unable),
  });
}

/** Within the bytes of one report: its longest sections are shortened first, then the least findings go. */
function fitted(report: ModeReport): ModeReport {
  let now = report;
  for (let chars = criticLimits.sectionChars / 2; isTooLarge(now) && chars >= 500; chars /= 2) {
    const shorter = (section: Section): Section => ({ ...section, text: cut(section.text, chars) });
    now = { ...now, sections: now.sections.map(shorter) };
  }
  let keep = now.findings.length;
  while (isTooLarge(now) && keep > 0) {
    keep = Math.floor(keep * 0.8);
    const unable = [...leftOut(report.findings.length - keep), ...report.unable];
    const kept = unable.slice(0, criticLimits.unable);
    now = { ...now, findings: report.findings.slice(0, keep), unable: kept };
  }
  return now;
}

function isTooLarge(report: ModeReport): boolean {
  return Buffer.byteLength(JSON.stringify(report)) > criticLimits.reportBytes;
}

function leftOut(count: number): string[] {
  return count > 0 ? [`${count} findings that weigh less are left out`] : [];
}

function rank({ severity, is_hard }: Finding): number {
  return severities.indexOf(severity) * 2 - (is_hard ? 1 : 0);
}

function cut(text: string, chars: number): string {
  return text.length <= chars ? text : `${text.slice(0, chars - 1)}…`;
}
