import { createInterface } from 'node:readline/promises';
import {
  attentionLimits,
  judgements,
  type Gate,
  type Judgement,
} from '../../../src/attention/shapes.js';
import type { GatesAnswer } from '../../../src/attention/messages.js';
import { Gates } from '../../../src/remote/gates.js';
import { renderGate } from '../../../src/render/gate.js';
import { printable } from '../../../src/render/terminal.js';
import type { Call, Reply } from '../../../src/operations/operation.js';

/** `gate` on a terminal: each open gate is shown and judged. */
export async function goOn(
  reply: Reply<GatesAnswer>,
  { bus }: Call,
): Promise<Reply<GatesAnswer> | undefined> {
  if (reply.value.gates.length === 0) return reply;
  const gates = new Gates(await bus.client());
  for (const each of reply.value.gates) {
    process.stdout.write(`${renderGate(each)}\n`);
    const answer = await judgementFor(each);
    if (answer === undefined) return void process.stdout.write('\nThe rest was not judged.\n');
    if (answer === 'skip') continue;
    try {
      const { id, judgement, judged_by } = await gates.judge(each, answer);
      process.stdout.write(`${printable(`${id}: ${judgement} by ${judged_by}`)}\n\n`);
    } catch (error) {
      // Another person was faster, or the words were not understood: the other gates still wait.
      process.stdout.write(`${printable(error instanceof Error ? error.message : '')}\n\n`);
    }
  }
  return undefined;
}

type Answer = { judgement: Judgement; direction: string };

/** A judgement is its word or its first letter. Undefined: the input has ended. */
async function judgementFor({ classification }: Gate): Promise<Answer | 'skip' | undefined> {
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<undefined>((resolve) => {
    lines.once('close', () => resolve(undefined));
    lines.once('SIGINT', () => lines.close());
  });
  const ask = (question: string): Promise<string | undefined> =>
    Promise.race([lines.question(question), closed]);
  try {
    const once = classification.is_cacheable ? '' : ' (is not remembered)';
    for (;;) {
      const line = await ask(
        `\n[a]pprove${once} · [d]ismiss · [m]odify · [h]alt · [w]ithdraw · [s]kip? `,
      );
      if (line === undefined) return undefined;
      const word = line.trim().toLowerCase();
      if (word === 's' || word === 'skip') return 'skip';
      const judgement = judgements.find((each) => each === word || each[0] === word);
      if (judgement === undefined) continue;
      if (judgement !== 'modify') return { judgement, direction: '' };
      const direction = await ask('What instead? ');
      if (direction === undefined) return undefined;
      return { judgement, direction: direction.slice(0, attentionLimits.directionChars) };
    }
  } finally {
    lines.close();
  }
}
