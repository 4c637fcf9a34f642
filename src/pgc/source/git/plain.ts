import { issuerTokens } from '../credentials.js';

/** Names and subjects are other people's text: no more of one than this. */
export const plainCharsMax = 120;
/** What is looked at, so that no pattern meets a subject of a megabyte. */
const rawCharsMax = 4 * plainCharsMax;

/** Controls, marks that turn the direction of a text around, separators of lines and paragraphs. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu;

/** Marks of well-known issuers, and what follows a word for a secret. */
const credentials = [
  issuerTokens,
  /(?<=(?:passw(?:or)?d|secret|token|api_?key|access_?key)["']?\s{0,2}[:=]\s{0,2}["']?)(?=[^\s"']*\d)[^\s"']{8,}/gi,
];

/** One line of at most `plainCharsMax` characters, with nothing that a terminal would obey. */
export function plainLine(text: string): string {
  const line = text.slice(0, rawCharsMax).replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  if (line.length <= plainCharsMax && text.length <= rawCharsMax) return line;
  // No half of a character at the end.
  return `${line.slice(0, plainCharsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The subject of a commit: one line, and no credential in it. */
export function plainSubject(text: string): string {
  let subject = text.slice(0, rawCharsMax);
  for (const credential of credentials) subject = subject.replace(credential, '[redacted]');
  return plainLine(text.length > rawCharsMax ? `${subject}…` : subject);
}

/** Who, never at which address: many have theirs where a name belongs. */
export function plainName(text: string): string {
  const named = text
    .slice(0, rawCharsMax)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/(?<=\S)@\S*/g, ' ');
  return plainLine(named) || 'unknown';
}

/** The UTC day of a time in seconds, `2026-11-01`; git stores what a clock said, also of the year 50 000. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999
    ? 'an unknown day'
    : date.toISOString().slice(0, 10);
}
