import { createInterface, type Interface } from 'node:readline/promises';
import type { SessionView } from '../../../src/attention/session/shapes.js';
import { judgements, type Judgement } from '../../../src/attention/shapes.js';
import { asBusError } from '../../../src/errors/bus-error.js';
import { openGates, type Attends } from '../../../src/remote/attends.js';
import type { Gates } from '../../../src/remote/gates.js';
import { printable, printableText } from '../../../src/render/terminal.js';
import { renderQuestion, renderRisk, sessionLine } from '../../../src/render/attend.js';

interface Streams {
  input: NodeJS.ReadableStream;
  output: NodeJS.WritableStream;
}

/** What the five judgements do. Source: phase 2, the options. */
const meanings: Readonly<Record<Judgement, string>> = {
  approve: 'go on, and remember it for this session',
  dismiss: 'go on this once',
  modify: 'do something else',
  halt: 'do not do it; the rest goes on',
  withdraw: 'end the session and all that it has begun',
};

/** Takes a person through the checkpoints, until the session is over or the input ends. */
export async function walkThrough(
  { attends, gates }: { attends: Attends; gates: Gates },
  first: SessionView,
  streams: Streams,
): Promise<SessionView> {
  const lines = createInterface(streams);
  const say = (text: string): unknown => streams.output.write(`${printableText(text)}\n`);
  let view = first;
  let last = '';
  const onChange = (now: SessionView): void => {
    const line = sessionLine(now);
    if (line !== last) say(line);
    last = line;
  };
  try {
    for (;;) {
      view = await attends.follow(view, onChange);
      if (view.is_over) return view;
      const isAnswered =
        view.question === null
          ? await judged(gates, openGates(view)[0] ?? '', lines, say)
          : await answeredOnce(attends, view, lines, say);
      if (!isAnswered) return view;
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
  say: (text: string) => unknown,
): Promise<boolean> {
  if (question === null) return true;
  say(`\n${renderQuestion(question, context)}`);
  const option = await chosen(lines, question.options, ({ choice }) => choice);
  if (option === undefined) return false;
  const text = option.needs === '' ? '' : await asked(lines, `${option.needs}: `);
  if (text === undefined) return false;
  const { choice } = option;
  await tried(say, () =>
    attends.say({ context, what: 'answer', question: question.number, choice, text }),
  );
  return true;
}

async function judged(
  gates: Gates,
  id: string,
  lines: Interface,
  say: (text: string) => unknown,
): Promise<boolean> {
  const gate = await gates.show(id);
  say(`\n${renderRisk(gate)}`);
  say(judgements.map((each, at) => `  ${at + 1}. ${each}: ${meanings[each]}`).join('\n'));
  const judgement = await chosen(lines, judgements, (each) => each);
  if (judgement === undefined) return false;
  const direction = judgement === 'modify' ? await asked(lines, 'what instead: ') : '';
  if (direction === undefined) return false;
  await tried(say, () => gates.judge(gate, { judgement, direction }));
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

async function tried(say: (text: string) => unknown, work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code, message, retryable } = asBusError(error);
    if (retryable) throw error;
    say(`${message} (${code})`);
  }
}
