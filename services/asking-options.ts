import type { Incoming } from '../src/client/responder.js';
import type { AskingOptions } from '../src/lattice/questions.js';

/** A question that names no deadline is answered, as far as it can be, within this. */
const deadlineMsDefault = 30_000;
const answerMarginMs = 250;

/** A partial answer must still reach the requester before it stops waiting. */
export function optionsOf(incoming: Incoming): AskingOptions {
  const leftMs = incoming.deadlineMs > 0 ? incoming.deadlineMs : deadlineMsDefault;
  return { deadlineMs: Math.max(leftMs - answerMarginMs, leftMs * 0.8), signal: incoming.signal };
}
