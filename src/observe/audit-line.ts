import { hash } from 'node:crypto';
import type { AuditEntry, AuditOutcome } from '../base/audit.js';
import { isSecret, redacted } from './redaction.js';

/** Detail of the audit log: metadata only, or bodies too. */
export type AuditForm = 'metadata' | 'bodies';

/** Longer bodies are cut; a longer JSON body is left out, because a cut one could not be redacted. */
const bodyBytesMax = 16 * 1024;
/** Bytes beyond which a JSON body is not parsed. */
const jsonBytesMax = 1024 * 1024;

/** A line, read back. */
export interface AuditLine {
  at: string;
  /** Which broker led, where there are several. */
  host?: string;
  /** An outcome, or `lost`: `count` entries are missing here. */
  what: AuditOutcome | 'lost';
  from?: string;
  person?: string;
  to?: string;
  type?: string;
  id?: string;
  correlation?: string;
  seq?: number;
  code?: string;
  bytes?: number;
  /** Of the whole body, in hex. */
  sha256?: string;
  count?: number;
  /** Base64 of a body that is not JSON. */
  body?: string;
  body_cut?: true;
  body_omitted?: string;
  json?: unknown;
}

/** One line of the audit log, without its newline. */
export function auditLine(entry: AuditEntry, form: AuditForm): string {
  const { what, from, person, to, type, id, correlation, seq, code, body } = entry;
  // Empty fields are omitted. Conditional spreads would cost as much as all the rest.
  const line: AuditLine = { at: isoTime(entry.atMs), what, from, to, type, id };
  if (person !== '') line.person = person;
  if (correlation !== '') line.correlation = correlation;
  if (seq > 0) line.seq = seq;
  if (code !== '') line.code = code;
  line.bytes = body.length;
  if (body.length > 0) line.sha256 = hash('sha256', body);
  if (form === 'bodies' && body.length > 0) Object.assign(line, written(body));
  return JSON.stringify(line);
}

/** The line that marks lost entries. */
export function lostLine(atMs: number, count: number): string {
  return JSON.stringify({ at: isoTime(atMs), what: 'lost', count } satisfies AuditLine);
}

let lastMs = NaN;
let lastText = '';

/** Many messages share a millisecond; writing its time out is half the price of a line. */
function isoTime(atMs: number): string {
  if (atMs !== lastMs) {
    lastMs = atMs;
    lastText = new Date(atMs).toISOString();
  }
  return lastText;
}

function written(body: Uint8Array): Partial<AuditLine> {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  // `{` or `[` after white space: it has to be read as JSON before any of it may be written.
  if (!/^[\s\uFEFF]*[{["]/.test(bytes.toString('utf8', 0, 64))) {
    const body64 = bytes.toString('base64', 0, bodyBytesMax);
    return { body: body64, ...(bytes.length > bodyBytesMax && { body_cut: true }) };
  }
  if (bytes.length > jsonBytesMax) return { body_omitted: 'too large' };
  let value: unknown;
  try {
    value = redacted(JSON.parse(bytes.toString('utf8').replace(/^\uFEFF/, '')), isSecret);
  } catch {
    return { body_omitted: 'not the JSON it looks like' };
  }
  if (JSON.stringify(value).length > bodyBytesMax) return { body_omitted: 'too large' };
  return { json: value };
}
