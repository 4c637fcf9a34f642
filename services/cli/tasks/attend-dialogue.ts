import { createInterface, type Interface } from 'node:readline/promises';
import type { SessionView } from '../../../src/attention/session/shapes.js';
import { outcomeOf } from '../../../src/operations/attend.js';
import type { Call, Reply } from '../../../src/operations/operation.js';
import { Attends, openGates } from '../../../src/remote/attends.js';
import { Gates } from '../../../src/remote/gates.js';
import { renderQuestion, sessionLine } from '../../../src/render/attend.js';
import { renderGate } from '../../../src/render/gate.js';
import { asked, chosen, judged, say, tried } from './judging.js';

/** Takes a person through the checkpoints of a session that was waited for, until it is over or the input ends. */
export async function goOn(
  reply: Reply<SessionView>,
  { bus, tell }: Call,
  { wait }: { wait: boolean },
): Promise<Reply<SessionView>> {
  if (!wait) return reply;
  let view = reply.value;
  const client = await bus.client();
  const attends = new Attends(client);
  const gates = new Gates(client);
  const lines = createInterface({ input: process.stdin, output: process.stdout });
  try {
    for (;;) {
      view = await attends.follow(view, (now) => tell(sessionLine(now)));
      const [gate] = openGates(view);
      // What a task itself asks is answered where tasks are.
      const isAnswered =
        !view.is_over &&
        (view.question !== null
          ? await answeredOnce(attends, view, lines)
          : gate !== undefined && (await gateJudged(gates, gate, lines)));
      if (!isAnswered) return outcomeOf(view);
      view = await attends.show(view.context);
    }
  } finally {
    lines.close();
  }
}

/** False: the input ended, nothing was decided. A refused answer is reported and asked again. */
async function answeredOnce(
  attends: Attends,
  { question, context }: SessionView,
  lines: Interface,
): Promise<boolean> {
  if (question === null) return true;
  say(`\n${renderQuestion(question, context)}`);
  const option = await chosen(lines, question.options, ({ choice }) => choice);
  if (option === undefined) return false;
  const text = option.needs === '' ? '' : await asked(lines, `${option.needs}: `);
  if (text === undefined) return false;
  const { choice } = option;
  await tried(() =>
    attends.say({ context, what: 'answer', question: question.number, choice, text }),
  );
  return true;
}

async function gateJudged(gates: Gates, id: string, lines: Interface): Promise<boolean> {
  const gate = await gates.show(id);
  say(`\n${renderGate(gate)}`);
  return (await judged(gates, gate, lines)) === 'judged';
}
