import { isDottedName, isName } from '../base/ids.js';
import { BusError } from '../errors/bus-error.js';

export type Address =
  | { kind: 'agent'; name: string }
  | { kind: 'service'; name: string }
  | { kind: 'topic'; name: string };

/** `agent:<id or alias>` · `service:<name>` · `topic:<a.b.c>`. Throws INVALID_NAME. */
export function parseAddress(text: string): Address {
  const colon = text.indexOf(':');
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (kind !== 'agent' && kind !== 'service' && kind !== 'topic')
    throw new BusError('INVALID_NAME', { name: text.slice(0, 120), what: 'address' });
  const isValid = kind === 'agent' ? isName(name) : isDottedName(name);
  if (!isValid)
    throw new BusError('INVALID_NAME', { name: name.slice(0, 120), what: `${kind} name` });
  return { kind, name };
}

/**
 * Whether a topic matches a pattern: `*` stands for one token, `>` for one or more at the end.
 * The rule of NATS subjects.
 */
export function topicMatches(pattern: string, topic: string): boolean {
  const wanted = pattern.split('.');
  const tokens = topic.split('.');
  for (const [at, want] of wanted.entries()) {
    if (want === '>') return tokens.length > at;
    const token = tokens[at];
    if (token === undefined || (want !== '*' && want !== token)) return false;
  }
  return wanted.length === tokens.length;
}

/** The longest literal start of a pattern, for ZeroMQ's prefix filter. A pattern without wildcards ends in NUL. */
export function topicPrefix(pattern: string): string {
  const wild = pattern.search(/[*>]/);
  return wild < 0 ? `${pattern}\0` : pattern.slice(0, wild);
}
