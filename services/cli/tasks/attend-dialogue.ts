import { createInterface, type Interface } from 'node:readline/promises';
import type { SessionView } from '../../../src/attention/session/shapes.js';
import { judgements, type Judgement } from '../../../src/attention/shapes.js';
import { asBusError } from '../../../src/errors/bus-error.js';
import { outcomeOf } from '../../../src/operations/attend.js';
import type { Call, Reply } from '../../../src/operations/operation.js';
import { Attends, openGates } from '../../../src/remote/attends.js';
import { Gates } from '../../../src/remote/gates.js';
import { printable, printableText } from '../../../src/render/terminal.js';
import { renderQuestion, renderRisk, sessionLine } from '../../../src/render/attend.js';

/** What the five judgements do. Source: phase 2, the options. */
const meanings: Readonly<Record<Judgement, string>> = {
  approve: 'go on, and remember it for this session',
  dismiss: 'go on this once',
  modify: 'do something else',
  halt: 'do not do it; the rest goes on',
  withdraw: 'end the session and all that it has begun',
};

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
      const isAnswered =
        !view.is_over &&
        (view.question === null
          ? await judged(gates, openGates(view)[0] ?? '', lines)
          : await answeredOnce(attends, view, lines));
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

async function judged(gates: Gates, id: string, lines: Interface): Promise<boolean> {
  const gate = await gates.show(id);
  say(`\n${renderRisk(gate)}`);
  say(judgements.map((each, at) => `  ${at + 1}. ${each}: ${meanings[each]}`).join('\n'));
  const judgement = await chosen(lines, judgements, (each) => each);
  if (judgement === undefined) return false;
  const direction = judgement === 'modify' ? await asked(lines, 'what instead: ') : '';
  if (direction === undefined) return false;
  await tried(() => gates.judge(gate, { judgement, direction }));
  return true;
}

/** By its number or its name. Undefined: the input ended. */
async function chosen<T>(
  lines: Interface,
  options: readonly T[],
  nameOf: (option: T) => string,
): Promise<T | undefined> {
  for (;;) {
    const said = (await asked(lines, '> '))?.trim();
    if (said === undefined) return undefined;
    const found = options[Number(said) - 1] ?? options.find((each) => nameOf(each) === said);
    if (found !== undefined) return found;
  }
}

async function asked(lines: Interface, prompt: string): Promise<string | undefined> {
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  return Promise.race([lines.question(printable(prompt)), ended]);
}

function say(text: string): void {
  process.stdout.write(`${printableText(text)}\n`);
}

async function tried(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code, message, retryable } = asBusError(error);
    if (retryable) throw error;
    say(`${message} (${code})`);
  }
}
