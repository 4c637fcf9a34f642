import { createInterface } from 'node:readline/promises';
import type { GatesAnswer } from '../../../src/attention/messages.js';
import type { Call, Reply } from '../../../src/operations/operation.js';
import { Gates } from '../../../src/remote/gates.js';
import { renderGate } from '../../../src/render/gate.js';
import { judged, say } from './judging.js';

/** `gate` on a terminal: each open gate is shown and judged. */
export async function goOn(
  reply: Reply<GatesAnswer>,
  { bus }: Call,
): Promise<Reply<GatesAnswer> | undefined> {
  if (reply.rows !== undefined || reply.value.gates.length === 0) return reply;
  const gates = new Gates(await bus.client());
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  lines.once('SIGINT', () => lines.close());
  try {
    for (const each of reply.value.gates) {
      say(`\n${renderGate(each)}`);
      if ((await judged(gates, each, lines)) !== undefined) continue;
      say('\nThe rest was not judged.');
      break;
    }
  } finally {
    lines.close();
  }
  return undefined;
}
