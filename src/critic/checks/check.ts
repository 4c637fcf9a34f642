import type { Found } from '../finding.js';
import type { Ground } from '../ground.js';
import type { MarkdownText } from '../artifact/markdown.js';
import type { Artifact, TargetType } from '../shapes.js';

/** The quality that a check examines. */
export type Aspect =
  | 'completeness'
  | 'consistency'
  | 'accuracy'
  | 'clarity'
  | 'actionability'
  | 'traceability';

export interface Subject {
  artifact: Artifact;
  read: MarkdownText;
  target: TargetType;
  ground: Ground | undefined;
  signal: AbortSignal;
}

/** The result of one check. */
export interface Checked {
  aspect: Aspect;
  /** What it counted, as words that follow a number: `links that lead somewhere`. */
  what: string;
  /** How many it examined; 0: none, or their number says nothing. */
  looked: number;
  faults: Found[];
  /** How many failed, where that differs from the number of faults. */
  wrong?: number;
  /** These are all that is asked for: their share is the score, not a sample of it. */
  isAll?: boolean;
  /** What it could not examine, in words. */
  unable?: string;
}

/** Deterministic; each fault names its lines. */
export type Check = (subject: Subject) => Checked[] | Promise<Checked[]>;

/** Characters of the artifact that a finding repeats. */
const quotedChars = 120;

export function quoted(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length <= quotedChars ? `"${line}"` : `"${line.slice(0, quotedChars - 1)}…"`;
}

export function at(line: number): { line_start: number; line_end: number } {
  return { line_start: line, line_end: line };
}

/** Raw Markdown without its code spans. */
export function withoutCode(text: string): string {
  return text.replace(/(`+)[^`]{1,2000}?\1(?!`)/g, ' ');
}
