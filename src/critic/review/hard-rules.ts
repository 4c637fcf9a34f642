import { neverAllowed } from '../checks/secrets.js';
import { findingOf } from '../finding.js';
import type { Examined } from '../mode.js';
import type { Artifact, Finding } from '../shapes.js';
import type { ModeName } from '../strategies.js';

/** What breaks the rules that hold for every artifact in every mode, as findings of this one. */
export function brokenIn({ text }: Pick<Artifact, 'text'>, mode: ModeName): Finding[] {
  return neverAllowed(text, text.split('\n')).map((fault) => findingOf(mode, fault));
}

/** A report with these beside what the mode found: it ends the review in every mode. */
export function withBroken<T extends Examined>(examined: T, broken: readonly Finding[]): T {
  if (broken.length === 0) return examined;
  const known = new Set(examined.findings.map(placeOf));
  const added = broken.filter((each) => !known.has(placeOf(each)));
  return { ...examined, findings: [...examined.findings, ...added], abort: 'HARD_RULE_BROKEN' };
}

function placeOf({ rule, line_start }: Finding): string {
  return `${rule} ${line_start}`;
}
