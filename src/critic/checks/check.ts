import type { Found } from '../finding.js';
import type { Ground } from '../ground.js';
import type { MarkdownText } from '../artifact/markdown.js';
import type { Artifact, TargetType } from '../shapes.js';

/** What a check says something about. */
export const aspects = [
  ...['completeness', 'consistency', 'accuracy', 'clarity', 'actionability', 'traceability'],
] as const;
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

/** What one check looked at, and what it found wrong. */
export interface Checked {
  aspect: Aspect;
  /** In words, with a number before them: `links that lead somewhere`. */
  what: string;
  /** How many were looked at; 0: there is nothing of that kind. */
  looked: number;
  faults: Found[];
  /** How many do not hold, where that is not the number of faults. */
  wrong?: number;
  /** What it could not look at, in words. */
  unable?: string;
}

/** Follows rules that anyone can follow, and shows its faults by their lines. */
export type Check = (subject: Subject) => Checked[] | Promise<Checked[]>;

/** In which a piece of the artifact is quoted in a finding. */
const quotedChars = 120;

export function quoted(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return line.length <= quotedChars ? `"${line}"` : `"${line.slice(0, quotedChars - 1)}…"`;
}

export function at(line: number): { line_start: number; line_end: number } {
  return { line_start: line, line_end: line };
}

/** Raw Markdown without what stands between back-ticks. */
export function withoutCode(text: string): string {
  return text.replace(/(`+)[^`]{1,2000}?\1(?!`)/g, ' ');
}
