import { createHash } from 'node:crypto';
import type { Examined } from './mode.js';
import {
  criticLimits,
  severities,
  type Evidence,
  type Finding,
  type Section,
  type Severity,
} from './shapes.js';
import { strategies, type ModeName } from './strategies.js';

export interface Found {
  /** Short code of the check, in capitals. */
  rule: string;
  severity: Severity;
  /** What is wrong, in a sentence or two. */
  text: string;
  /** What to do about it. */
  remedy: string;
  /** In the artifact; absent: nowhere in particular. */
  place?: { line_start: number; line_end: number };
  /**
   * Words of the place, by which the same fault is known in another version of the artifact, wherever it has moved to;
   * absent: the text of the finding.
   */
  words?: string;
  isHard?: boolean;
  by?: Finding['by'];
  evidence?: readonly Evidence[];
}

const idDigits = 10;
/** In an id of a mode without a strategy. */
const noStrategy = 'STD';

/** `sorted` numbers findings whose words are the same. */
export function findingOf(mode: ModeName, found: Found): Finding {
  const { rule, severity, text, remedy, place, words = text, isHard = false } = found;
  return {
    id: idOf(mode, rule, words),
    ...{ mode, by: found.by ?? 'rules', rule, severity, is_hard: isHard },
    text: cut(text, criticLimits.findingChars),
    line_start: place?.line_start ?? 0,
    line_end: place?.line_end ?? 0,
    remedy: cut(remedy, criticLimits.findingChars),
    evidence: (found.evidence ?? []).slice(0, criticLimits.evidence).map((each) => ({
      ...each,
      content: cut(each.content, criticLimits.contentChars),
    })),
  };
}

/** `S-010-` and ten digits of the SHA-256 of mode, rule and words: never of a line number. */
function idOf(mode: ModeName, rule: string, words: string): string {
  const digest = createHash('sha256').update(`${mode}\0${rule}\0${normalised(words)}`);
  const strategy = mode === 'standard' ? noStrategy : strategies[mode].id;
  return `${strategy}-${digest.digest('hex').slice(0, idDigits)}`;
}

/** Letters and digits in lower case: blanks, marks of Markdown and line ends are no part of what is said. */
export function normalised(words: string): string {
  return words
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}_]+/gu, ' ')
    .trim();
}

/** Worst first, hard before others, then by line. Where words are the same the second is `-2`, by line. */
export function sorted(findings: readonly Finding[]): Finding[] {
  const times = new Map<string, number>();
  const inOrder = [...findings].sort(
    (one, other) => one.line_start - other.line_start || compare(one.text, other.text),
  );
  const numbered = inOrder.map((finding) => {
    const time = (times.get(finding.id) ?? 0) + 1;
    times.set(finding.id, time);
    return time === 1 ? finding : { ...finding, id: `${finding.id}-${time}` };
  });
  return numbered.sort((one, other) => rank(one) - rank(other));
}

/** Lower is worse. */
function rank({ severity, is_hard }: Finding): number {
  return severities.indexOf(severity) * 2 + (is_hard ? 0 : 1);
}

/**
 * What a mode found, within `criticLimits`: the worst findings, sections and remarks cut, all of it at most `reportBytes`
 * as JSON. What was left out is said in `unable`.
 */
export function bounded(examined: Examined): Examined {
  const all = sorted(examined.findings);
  let findings = all.slice(0, criticLimits.findings);
  const sections = examined.sections
    .slice(0, criticLimits.sections)
    .map(({ title, text }): Section => ({ title, text: cut(text, criticLimits.sectionChars) }));
  const made = (): Examined => {
    const left = all.length - findings.length;
    const said = left === 0 ? [] : [`to list ${left} more findings that weigh less`];
    const known = examined.unable.slice(0, criticLimits.unable - said.length);
    const unable = [...known.map((each) => cut(each, criticLimits.findingChars)), ...said];
    return { ...examined, findings, sections, unable };
  };
  let fitting = made();
  while (bytesOf(fitting) > criticLimits.reportBytes && findings.length > 0) {
    findings = findings.slice(0, Math.floor(findings.length * keptShare));
    fitting = made();
  }
  for (const chars of [criticLimits.sectionChars / 4, criticLimits.sectionChars / 16]) {
    if (bytesOf(fitting) <= criticLimits.reportBytes) break;
    const shorter = sections.map(({ title, text }) => ({ title, text: cut(text, chars) }));
    fitting = { ...fitting, sections: shorter };
  }
  return fitting;
}

/** Of the findings, whenever they are still too large. */
const keptShare = 0.8;

function bytesOf(examined: Examined): number {
  return Buffer.byteLength(JSON.stringify(examined));
}

export function cut(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0;
}
