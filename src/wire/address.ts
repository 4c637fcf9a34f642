import { BoundedMap } from '../base/bounded-map.js';
import { isDottedName, isName } from '../base/ids.js';
import { BusError } from '../errors/bus-error.js';

export type Address = Readonly<
  | { kind: 'agent'; name: string }
  | { kind: 'service'; name: string }
  /** Where durable replies to an agent wait until it collects them. */
  | { kind: 'reply'; name: string }
  | { kind: 'topic'; name: string }
>;

/** Those of late: an address comes with each message, and is one of few. */
const parsed = new BoundedMap<string, Address>(1_024);

/** `agent:<id or alias>` · `service:<name>` · `reply:<agent id>` · `topic:<a.b.c>`. Throws INVALID_NAME. */
export function parseAddress(text: string): Address {
  let address = parsed.get(text);
  if (address === undefined) {
    address = Object.freeze(readAddress(text));
    parsed.set(text, address);
  }
  return address;
}

function readAddress(text: string): Address {
  const colon = text.indexOf(':');
  const kind = text.slice(0, colon);
  const name = text.slice(colon + 1);
  if (kind !== 'agent' && kind !== 'service' && kind !== 'reply' && kind !== 'topic')
    throw new BusError('INVALID_NAME', { name: text.slice(0, 120), what: 'address' });
  const isValid = kind === 'agent' || kind === 'reply' ? isName(name) : isDottedName(name);
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

/** Throws INVALID_NAME if it is not a topic pattern. */
export function checkTopicPattern(pattern: string): void {
  const literal = pattern.replace(/(^|\.)>$/, '$1any').replace(/(?<=^|\.)\*(?=\.|$)/g, 'any');
  if (!isDottedName(literal))
    throw new BusError('INVALID_NAME', { name: pattern.slice(0, 120), what: 'pattern of topics' });
}

/** Topics of these kinds carry the present state of something: `<kind>.<name>.<change>`. */
const stateKinds = new Set(['presence', 'task']);

/**
 * The stream that a publication is counted in. All changes of one thing share a stream of states, such as
 * `presence.mm`, of which only the last counts. Any other topic is a stream of its own.
 */
export function streamOf(topic: string): string {
  const [kind = '', name] = topic.split('.', 2);
  return name !== undefined && stateKinds.has(kind) ? `${kind}.${name}` : topic;
}

export function isStateStream(stream: string): boolean {
  const [kind = '', name, ...rest] = stream.split('.', 3);
  return name !== undefined && rest.length === 0 && stateKinds.has(kind);
}

/** Whether a topic of this stream may match the pattern. */
export function streamMatches(pattern: string, stream: string): boolean {
  if (!isStateStream(stream)) return topicMatches(pattern, stream);
  const wanted = pattern.split('.');
  for (const [at, token] of stream.split('.').entries()) {
    if (wanted[at] === '>') return true;
    if (wanted[at] !== '*' && wanted[at] !== token) return false;
  }
  return true;
}

/** Whether a topic of a stream of states may match the pattern. */
export function touchesStates(pattern: string): boolean {
  const [kind = ''] = pattern.split('.', 1);
  return kind === '*' || kind === '>' || stateKinds.has(kind);
}

/** The pattern for all publications of the streams that a pattern touches: counting needs them all. */
export function wholeStreams(pattern: string): string {
  const [kind = '', name, ...rest] = pattern.split('.');
  return name !== undefined && rest.length > 0 && stateKinds.has(kind)
    ? `${kind}.${name}.>`
    : pattern;
}

/** The pattern for one stream. */
export function patternOfStream(stream: string): string {
  return isStateStream(stream) ? `${stream}.>` : stream;
}

/**
 * Publications one run of a stream may count before its numbers look like those of a next run. A stream
 * counts from 1; one that the broker forgot and that begins again counts from the next multiple plus 1,
 * so that no number is used twice and a first publication differs from a gap.
 */
export const streamRunSpan = 2 ** 24;

/** The number before the first of the run that `seq` belongs to. */
export function runStart(seq: number): number {
  return Math.floor((seq - 1) / streamRunSpan) * streamRunSpan;
}
