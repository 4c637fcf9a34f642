import { issuerTokens } from '../credentials.js';

/** Limit for names and subjects, which are untrusted text. */
export const plainCharsMax = 120;
/** Input limit, so that no pattern runs over a subject of a megabyte. */
const rawCharsMax = 4 * plainCharsMax;

/** Control characters, marks that change the direction of text, line and paragraph separators. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]+/gu;

/** Tokens of well-known issuers, and values after a word for a secret. */
const credentials = [
  issuerTokens,
  /(?<=(?:passw(?:or)?d|secret|token|api_?key|access_?key)["']?\s{0,2}[:=]\s{0,2}["']?)(?=[^\s"']*\d)[^\s"']{8,}/gi,
];

/** One line of at most `plainCharsMax` characters without control characters. */
export function plainLine(text: string): string {
  const line = text.slice(0, rawCharsMax).replace(unprintable, ' ').replace(/\s+/g, ' ').trim();
  if (line.length <= plainCharsMax && text.length <= rawCharsMax) return line;
  // Do not end in half a surrogate pair.
  return `${line.slice(0, plainCharsMax - 1).replace(/[\ud800-\udbff]$/, '')}…`;
}

/** The subject of a commit: one line, credentials redacted. */
export function plainSubject(text: string): string {
  let subject = text.slice(0, rawCharsMax);
  for (const credential of credentials) subject = subject.replace(credential, '[redacted]');
  return plainLine(text.length > rawCharsMax ? `${subject}…` : subject);
}

/** A person's name without e-mail address: many put theirs into the name. */
export function plainName(text: string): string {
  const named = text
    .slice(0, rawCharsMax)
    .replace(/<[^<>]*>/g, ' ')
    .replace(/(?<=\S)@\S*/g, ' ');
  return plainLine(named) || 'unknown';
}

/** The UTC day of a time in seconds, `2026-11-01`. Git stores any value, even the year 50 000. */
export function dayOf(seconds: number): string {
  const date = new Date(seconds * 1_000);
  return Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9_999
    ? 'an unknown day'
    : date.toISOString().slice(0, 10);
}
