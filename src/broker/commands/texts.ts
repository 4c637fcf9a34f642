import { BusError } from '../../errors/bus-error.js';
import type { Envelope } from '../../wire/frame.js';

/** Characters of an id, a type, an order key: texts that a peer chooses and the broker keeps. */
export const textCharsMax = 200;

/** Throws INVALID_NAME: what is kept for every message is bounded. */
export function checkLengths({ id, type, correlation, trace }: Envelope): void {
  // Written out: this runs for every request.
  if (id.length > textCharsMax) throw invalid(id, 'message id');
  if (type.length > textCharsMax) throw invalid(type, 'message type');
  if (correlation.length > textCharsMax) throw invalid(correlation, 'message id');
  if (trace.length > textCharsMax) throw invalid(trace, 'trace');
}

/** The same for a message that is stored: it has a name and a type, and people will read them. */
export function checkStored(envelope: Envelope): void {
  checkLengths(envelope);
  const { id, type, order_key, correlation } = envelope;
  if (id === '' || !isPlain(id)) throw invalid(id, 'message id');
  if (type === '' || !isPlain(type)) throw invalid(type, 'message type');
  if (!isPlain(correlation)) throw invalid(correlation, 'message id');
  if (order_key.length > textCharsMax || !isPlain(order_key)) throw invalid(order_key, 'order key');
}

/** Control characters: a terminal that shows them obeys them. */
// oxlint-disable-next-line no-control-regex
const control = /[\u0000-\u001f\u007f-\u009f]/;
const controls = new RegExp(control, 'g');

function isPlain(text: string): boolean {
  return !control.test(text);
}

export function plain(text: string): string {
  return isPlain(text) ? text : text.replace(controls, '?');
}

export function invalid(name: string, what: string): BusError {
  return new BusError('INVALID_NAME', { name: name.slice(0, 120), what });
}
