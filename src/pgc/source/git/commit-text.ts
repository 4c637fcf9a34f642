import { withoutIssued } from '../../../secrets/secrets.js';

/** Limit for names and subjects, which are untrusted text. */
export const lineCharsMax = 120;
/** Input limit, so that no pattern runs over a subject of a megabyte. */
const rawCharsMax = 4 * lineCharsMax;

/** Control characters, marks that change the direction of text, line and paragraph separators. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu;

/** A value after a word for a secret. */
const credential =
  /(?<=(?:passw(?:or)?d|secret|token|api_?key|access_?key)["']?\s{0,2}[:=]\s{0,2}["']?)(?=[^\s"']*\d)[^\s"']{8,}/gi;
const redacted = '[redacted]';

/** One line of at most `lineCharsMax` characters without control characters. */
export function printableLine(text: string): string {
  const line = text.slice(0, rawCharsMax).replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  if (line.length <= lineCharsMax && text.length <= rawCharsMax) return line;
  // Do not end in half a surrogate pair.
  return `${line.slice(0, lineCharsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The subject of a commit: one line, credentials redacted. */
export function cleanSubject(text: string): string {
  const subject = withoutIssued(text.slice(0, rawCharsMax), redacted).replace(credential, redacted);
  return printableLine(text.length > rawCharsMax ? `${subject}…` : subject);
}

/** A person's name without e-mail address: many put theirs into the name. */
export function cleanAuthor(text: string): string {
  const named = text
    .slice(0, rawCharsMax)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/(?<=\S)@\S*/g, ' ');
  return printableLine(named) || 'unknown';
}

/** The UTC day of a time in seconds, `2026-11-01`. Git stores any value, even the year 50 000. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999
    ? 'an unknown day'
    : date.toISOString().slice(0, 10);
}
