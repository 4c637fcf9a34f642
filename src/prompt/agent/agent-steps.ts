import { responseLimits, type Step } from '../../delegation/task/shapes.js';
import { censored, isSecret, redactedText } from '../../observe/redaction.js';
import type { Entry } from './transcript.js';

const { steps: stepsMax, stepChars } = responseLimits;
/** Of a value of an argument. */
const valueChars = 80;
/** Arguments that are shown by their length only, because they are long or private. */
const bodies: ReadonlySet<string> = new Set(['prompt', 'message', 'stdin', 'env', 'context']);

/** The first of these entries marks the begin of the content. */
const asking: ReadonlySet<Entry['kind']> = new Set(['answer', 'mishap', 'index']);

/** The steps for a response, in order; of a long transcript the beginning and the end. */
export function stepsOf(content: string, entries: readonly Entry[], end?: Step): Step[] {
  const asked = entries.findIndex(({ kind }) => asking.has(kind));
  const steps = entries.flatMap((entry, at) => [
    ...(at === asked ? [{ at_ms: entry.at_ms, what: 'content', text: short(content) }] : []),
    ...stepsOfEntry(entry),
  ]);
  if (end !== undefined) steps.push({ ...end, text: short(end.text) });
  if (steps.length <= stepsMax) return steps;
  const half = Math.floor(stepsMax / 2);
  const left = steps.length - 2 * half + 1;
  const at_ms = steps[half]?.at_ms ?? 0;
  const gap: Step = { at_ms, what: 'model', text: `… ${left} steps are left out here` };
  return [...steps.slice(0, half), gap, ...steps.slice(steps.length - half + 1)];
}

/** The steps as lines, for a task that ended without a text. */
export function doneLines(steps: readonly Step[]): string {
  return steps
    .filter(({ what }) => what !== 'end')
    .map(({ what, text }) => `- ${what}: ${text}`)
    .join('\n');
}

/** Of what was done, in what is told while it works. */
const doneChars = 300;

/** What it is at, and what it has done: all that is known of one that is stopped from outside. The latest is kept. */
export function progressLine(doing: string, entries: readonly Entry[]): string {
  const steps = entries.flatMap(stepsOfEntry).filter(({ what }) => what !== 'model');
  const done = steps.map(({ what, text }) => `${what} ${text}`.trimEnd()).join(', ');
  if (done === '') return doing;
  const kept = done.length <= doneChars ? done : `…${done.slice(1 - doneChars)}`;
  return `${doing}; done before: ${kept}`;
}

/** A call in short: no bodies, no secrets. A text that stands alone needs no name. */
export function shortCall(given: Readonly<Record<string, unknown>>): string {
  const said = Object.entries(given).filter(
    ([, value]) => value !== undefined && value !== '' && value !== null,
  );
  const isAlone = said.length === 1 && typeof said[0]?.[1] === 'string';
  return said
    .map(([key, value]) => (isAlone ? shortValue(key, value) : `${key}=${shortValue(key, value)}`))
    .join(' ');
}

function stepsOfEntry(entry: Entry): Step[] {
  const { at_ms } = entry;
  const one = (what: string, text: string): Step[] => [{ at_ms, what, text: short(text) }];
  switch (entry.kind) {
    case 'begin':
      return [];
    case 'setup':
    case 'teardown': {
      // A prompt that was queued is known by its name.
      const { name } = entry.arguments;
      const its =
        entry.name === 'run'
          ? startedWords(entry.arguments)
          : name === undefined
            ? shortCall(entry.arguments)
            : shortValue('name', name);
      const what = entry.kind === 'teardown' ? 'teardown' : entry.name;
      return one(what, [its, entry.failure?.code].filter(Boolean).join(' '));
    }
    case 'answer': {
      const { length } = entry.calls;
      const did =
        length === 0 ? 'answered' : `called ${length === 1 ? 'a tool' : `${length} tools`}`;
      return one('model', `${did}, ${entry.tokens} tokens`);
    }
    case 'mishap': {
      const again = entry.pauseMs === null ? '' : `, again in ${entry.pauseMs} ms`;
      return one('model', `${entry.failure.code}${again}`);
    }
    case 'result':
      return one(
        entry.name || 'call',
        [entry.message === null ? entry.told : `from ${entry.message.from}`, entry.code]
          .filter(Boolean)
          .join(' '),
      );
    case 'gathered':
      return entry.message === null ? [] : one('receive', `from ${entry.message.from}`);
    case 'index':
      return one('index', entry.failure?.code ?? '');
  }
}

/** Of `/run`: how many, and how many at a time. */
function startedWords({ count, concurrency }: Readonly<Record<string, unknown>>): string {
  const said = [
    ...(typeof count === 'number' ? [`${count} of them`] : []),
    ...(typeof concurrency === 'number' ? [`${concurrency} at a time`] : []),
  ];
  return said.join(', ');
}

function shortValue(key: string, value: unknown): string {
  const its = plainValue(key, value);
  const text = typeof its === 'string' ? its : JSON.stringify(its, plainValue);
  const plain = redactedText(text).replace(/\s+/g, ' ');
  return plain.length <= valueChars ? plain : `${plain.slice(0, valueChars - 1)}…`;
}

/** Also for nested values: the input of a program is part of an action. */
function plainValue(key: string, value: unknown): unknown {
  if (isSecret(key, value)) return censored;
  if (!bodies.has(key)) return value;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return `(${text.length} characters)`;
}

function short(text: string): string {
  // One line, in which nothing is longer as JSON than as it stands.
  const plain = redactedText(text).replace(/[\p{Cc}\s]+/gu, ' ');
  return plain.length <= stepChars ? plain : `${plain.slice(0, stepChars - 1)}…`;
}
