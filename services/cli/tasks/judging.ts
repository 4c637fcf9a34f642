import type { Interface } from 'node:readline/promises';
import { choicesOf } from '../../../src/attention/gates.js';
import type { Gate } from '../../../src/attention/shapes.js';
import { asBusError } from '../../../src/errors/bus-error.js';
import { effects } from '../../../src/operations/gates.js';
import type { Gates } from '../../../src/remote/gates.js';
import { printable, printableText } from '../../../src/render/terminal.js';

/** A person on a terminal judges a gate that was shown. Undefined: the input ended, nothing was decided. */
export async function judged(
  gates: Gates,
  gate: Gate,
  lines: Interface,
): Promise<'judged' | 'skipped' | undefined> {
  const { is_cacheable } = gate.classification;
  const meaning = { ...effects, ...(!is_cacheable && { approve: effects.dismiss }) };
  const { first, besides } = choicesOf(gate.classification);
  const options = [...first, 'skip', ...besides] as const;
  const told = first.map((each, at) => `  ${at + 1}. ${each}: ${meaning[each]}`);
  const skip = `  ${told.length + 1}. skip: leave it open`;
  const others = besides.length === 0 ? [] : [`  or by name: ${besides.join(', ')}`];
  say(['', ...told, skip, ...others].join('\n'));
  const choice = await chosen(lines, options, (each) => each);
  if (choice === undefined || choice === 'skip') return choice && 'skipped';
  const direction = choice === 'modify' ? await asked(lines, 'what instead: ') : '';
  if (direction === undefined) return undefined;
  await tried(async () => {
    const { id, judgement, judged_by } = await gates.judge(gate, { judgement: choice, direction });
    say(`${id}: ${judgement} by ${judged_by}`);
  });
  return 'judged';
}

/** By its number, its name, or how that begins. Undefined: the input ended. */
export async function chosen<T>(
  lines: Interface,
  options: readonly T[],
  nameOf: (option: T) => string,
): Promise<T | undefined> {
  for (;;) {
    const said = (await asked(lines, '> '))?.trim().toLowerCase();
    if (said === undefined) return undefined;
    const namesOf = options.map((each) => nameOf(each).toLowerCase());
    const begun = namesOf.filter((each) => said !== '' && each.startsWith(said));
    const at = namesOf.indexOf(begun.length === 1 ? (begun[0] ?? said) : said);
    const found = options[Number(said) - 1] ?? options[at];
    if (found !== undefined) return found;
  }
}

export async function asked(lines: Interface, prompt: string): Promise<string | undefined> {
  const ended = new Promise<undefined>((resolve) => lines.once('close', () => resolve(undefined)));
  return Promise.race([lines.question(printable(prompt)), ended]);
}

/** A refusal is told, and the person may say something else. Throws what may pass by itself. */
export async function tried(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { code, message, retryable } = asBusError(error);
    if (retryable) throw error;
    say(`${message} (${code})`);
  }
}

export function say(text: string): void {
  process.stdout.write(`${printableText(text)}\n`);
}
