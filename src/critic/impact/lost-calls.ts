import type { CallPart } from '../../pgc/mine/code-parts.js';
import type { Change, Pair } from './change.js';
import { inUnit, lossAt, short, written, type Loss } from './loss.js';
import {
  assertWords,
  beginsWith,
  defenceWords,
  errorNames,
  hasWord,
  isSecret,
  lockWords,
  logWords,
  releaseWords,
  reportWords,
  wordsOf,
} from './name-words.js';
import { countIn, type Unit } from './unit.js';

const listeners = new Set(['on', 'once', 'addListener', 'addEventListener']);

interface CallClass {
  kind: Loss['kind'];
  severity: Loss['severity'];
  isOf: (call: CallPart) => boolean;
  text: (call: CallPart, code: string, where: string) => string;
  remedy: (call: CallPart) => string;
}

const classes: readonly CallClass[] = [
  {
    ...{ kind: 'lock-lost', severity: 'major', isOf: (call) => beginsWith(call, lockWords) },
    text: (call, code, where) =>
      `\`${short(call.arguments[0] ?? call.name)}\` is no longer locked${where}. Before: \`${code}\`. What follows can now run at the same time as other code.`,
    remedy: () => 'Take the lock again, or say what keeps other code out.',
  },
  {
    ...{ kind: 'assertion-lost', severity: 'minor', isOf: (call) => beginsWith(call, assertWords) },
    text: (_call, code, where) => `An assertion is gone${where}. Before: \`${code}\`.`,
    remedy: () => 'Put it back, or name the code that checks it now.',
  },
  {
    kind: 'error-lost',
    severity: 'major',
    isOf: ({ name, arguments: [first = ''] }) =>
      listeners.has(name) && /^['"`]error['"`]$/.test(first),
    text: (_call, code, where) =>
      `Nothing listens for errors any more${where}. Before: \`${code}\`. An error without a listener ends the process, or is lost.`,
    remedy: () => 'Listen for it again.',
  },
  {
    kind: 'error-lost',
    severity: 'major',
    isOf: ({ name, receiver, arguments: [first = ''], result }) =>
      errorNames.has(first) &&
      !hasWord(name, reportWords) &&
      !/\b(?:log|console|debug)/i.test(`${receiver}.${name}`) &&
      (result === 'unused' || name === 'reject'),
    text: (call, code, where) =>
      `The error is no longer passed on${where}. Before: \`${code}\`. A caller that waits for \`${call.name}\` keeps waiting.`,
    remedy: (call) => `Pass it to \`${call.name}\` again.`,
  },
  {
    kind: 'error-lost',
    severity: 'minor',
    isOf: ({ name, result }) => result === 'unused' && hasWord(name, reportWords),
    text: (_call, code, where) => `A failure is no longer reported${where}. Before: \`${code}\`.`,
    remedy: () => 'Report it, or name the code that does.',
  },
  {
    ...{ kind: 'check-lost', severity: 'minor', isOf: (call) => beginsWith(call, defenceWords) },
    text: (call, code, where) =>
      `\`${call.name}\` is called once less${where}. Before: \`${code}\`.`,
    remedy: (call) => `Call \`${call.name}\` again, or say what makes it needless.`,
  },
  {
    kind: 'release-lost',
    severity: 'major',
    // A call whose result is used gives nothing back.
    isOf: (call) =>
      (call.result === 'unused' || call.result === 'awaited') && beginsWith(call, releaseWords),
    text: (call, code, where) =>
      `\`${call.name}\` is called once less${where}. Before: \`${code}\`. What it released there stays.`,
    remedy: (call) => `Call \`${call.name}\` on that path too, or name the code that does.`,
  },
];

/** Calls of a class of which a function makes fewer, and no other function of the file makes more. */
export function callsLost(change: Change, pair: Pair): Loss[] {
  const found: Loss[] = [];
  const { before, after } = pair;
  for (const each of classes) {
    let most = before.calls.filter(each.isOf).length - after.calls.filter(each.isOf).length;
    for (const call of before.calls.filter(each.isOf)) {
      if (most <= 0) break;
      const { name, line } = call;
      const times = ({ calls }: Unit): number => calls.filter((its) => its.name === name).length;
      if (!change.isRemoved(line) || times(after) >= times(before) || isMoved(change, name))
        continue;
      if (each.kind === 'release-lost' && isByLabel(pair, name)) continue;
      most -= 1;
      // What was locked is reported by its lock.
      if (each.kind === 'release-lost' && isOfLostLock(found, call)) continue;
      const code = written(change.before, line);
      found.push(
        lossAt(change, pair, call, {
          ...{ kind: each.kind, severity: each.severity, remedy: each.remedy(call) },
          text: each.text(call, code, inUnit(before)),
          words: `${before.key} ${each.kind} ${name} ${call.arguments.join()}`,
        }),
      );
    }
  }
  return found;
}

/** C releases behind a label: a jump there has taken the place of a release by hand. */
function isByLabel({ before, after }: Pair, name: string): boolean {
  const isStill = after.calls.some((call) => call.name === name);
  return isStill && after.jumps.length > before.jumps.length;
}

function isMoved({ before, after }: Change, name: string): boolean {
  const isIt = (call: CallPart): boolean => call.name === name;
  return countIn(after, 'calls', isIt) >= countIn(before, 'calls', isIt);
}

function isOfLostLock(found: readonly Loss[], { name, arguments: given }: CallPart): boolean {
  return (
    hasWord(name, new Set(['unlock', 'release'])) &&
    found.some(({ kind, words }) => kind === 'lock-lost' && words.endsWith(` ${given.join()}`))
  );
}

/** Calls whose result was used, and is ignored now. */
export function resultsLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const ignored = new Map(
    after.calls
      .filter(({ result, line }) => result === 'unused' && change.isAdded(line))
      .map((call) => [call.name, call]),
  );
  return before.calls.flatMap((call): Loss[] => {
    const { name, line, result } = call;
    const now = ignored.get(name);
    if (now === undefined || !change.isRemoved(line)) return [];
    if (result !== 'used' && result !== 'bound') return [];
    const uses = ({ calls }: Unit): number =>
      calls.filter((each) => each.name === name && each.result !== 'unused').length;
    if (uses(after) >= uses(before)) return [];
    ignored.delete(name);
    return [
      lossAt(change, pair, call, {
        at: now.line,
        ...{ kind: 'result-unchecked', severity: 'major', words: `${before.key} result ${name}` },
        text: `The result of \`${name}\` is ignored now${inUnit(before)}. Before: \`${written(change.before, line)}\`.`,
        remedy: `Use what \`${name}\` returns, or say why it does not matter.`,
      }),
    ];
  });
}

/** Awaited before, and neither awaited nor passed on now. */
export function awaitsLost(change: Change, { before, after }: Pair): Loss[] {
  if (after.awaits.length >= before.awaits.length) return [];
  const still = after.awaits.map(({ text }) => text);
  return before.awaits.flatMap(({ text, line }): Loss[] => {
    const at = still.indexOf(text);
    if (at >= 0) {
      still.splice(at, 1);
      return [];
    }
    if (!change.isRemoved(line)) return [];
    const [name = ''] = /[\w$#]+(?=\(|$)/.exec(text) ?? [];
    const call = after.calls.find(
      (each) =>
        each.name === name &&
        change.isAdded(each.line) &&
        (each.result === 'unused' || each.result === 'bound'),
    );
    const isCall = text.includes('(');
    const here = call?.line ?? (isCall ? undefined : addedLineOf(change, after, name));
    if (here === undefined) return [];
    return [
      {
        ...{ kind: 'await-lost', severity: 'major', line: here, line_end: here },
        text: `\`${short(text)}\` is no longer awaited${inUnit(before)}. Before: \`${written(change.before, line)}\`. The code goes on before it ends, and its error is lost.`,
        remedy: 'Await it again, or return the promise.',
        words: `${before.key} await ${text}`,
        places: [{ path: change.path, line, symbol: before.name }],
      },
    ];
  });
}

function addedLineOf(change: Change, { names }: Unit, name: string): number | undefined {
  return names.get(name)?.find((line) => change.isAdded(line));
}

/** A handler that is gone, though what it guarded is still called. */
export function handlersLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const all = (): boolean => true;
  if (after.handlers.length >= before.handlers.length) return [];
  if (countIn(change.after, 'handlers', all) >= countIn(change.before, 'handlers', all)) return [];
  const gone = before.handlers.find(
    ({ line, tried }) =>
      change.isRemoved(line) &&
      tried.some((name) => after.calls.some((call) => call.name === name)),
  );
  if (gone === undefined) return [];
  return [
    lossAt(change, pair, gone, {
      ...{ kind: 'handler-lost', severity: 'minor', words: `${before.key} handler` },
      text: `Failures${inUnit(before)} are no longer caught. Before: \`${written(change.before, gone.line, 3)}\`.`,
      remedy: 'Catch them again, or name the code that does.',
    }),
  ];
}

/** Functions that take their arguments in any order. */
const symmetric = new Set(
  'max min equal equals swap is concat join merge assign union all race has'.split(' '),
);

/** The same call with the same arguments in another order. */
export function argumentsSwapped(change: Change, pair: Pair): Loss[] {
  const inOrder = ({ name, arguments: given }: CallPart): string => `${name}(${given.join()})`;
  const sorted = (call: CallPart): string =>
    inOrder({ ...call, arguments: [...call.arguments].sort() });
  const still = new Set(pair.after.calls.map(inOrder));
  const added = new Map(
    pair.after.calls
      .filter((call) => change.isAdded(call.line) && call.arguments.length > 1)
      .map((call) => [sorted(call), call]),
  );
  return pair.before.calls.flatMap((call): Loss[] => {
    const now = added.get(sorted(call));
    if (now === undefined || call.arguments.length < 2 || !change.isRemoved(call.line)) return [];
    if (still.has(inOrder(call)) || symmetric.has(call.name.toLowerCase())) return [];
    if (hasOtherParameters(change, call.name)) return [];
    const list = (given: readonly string[]): string => short(given.join(', '));
    return [
      lossAt(change, pair, call, {
        at: now.line,
        ...{ kind: 'arguments-swapped', severity: 'major' },
        text: `\`${call.name}\` gets the same arguments in another order: (${list(now.arguments)}) instead of (${list(call.arguments)}). Its definition did not change with it.`,
        remedy: `Restore the order, or change \`${call.name}\` and its other callers.`,
        words: `${pair.before.key} swapped ${call.name} ${call.arguments.join()}`,
      }),
    ];
  });
}

/** It is defined in this file, and its signature changed. */
function hasOtherParameters({ before, after }: Change, name: string): boolean {
  const [one, other] = [before, after].map(
    ({ code }) =>
      code.facts.symbols.find((symbol) => symbol.name === name && !symbol.declaration)?.signature,
  );
  return one !== other;
}

/** A variable or field that is named as a secret, and is an argument of a call that logs. */
export function secretsLogged(change: Change): Loss[] {
  return change.after.units.flatMap(({ calls }) =>
    calls.flatMap(({ name, line, arguments: given }): Loss[] => {
      if (!change.isAdded(line) || !logWords.has(wordsOf(name)[0] ?? '')) return [];
      const secret = given.find((each) => /^[\w$#.?]+$/.test(each) && isSecret(each));
      if (secret === undefined) return [];
      return [
        {
          ...{ kind: 'secret-logged', severity: 'critical', line, line_end: line, places: [] },
          text: `\`${name}\` logs or prints \`${short(secret)}\`, which is a secret by its name.`,
          remedy: 'Leave it out.',
          words: `secret logged ${name} ${secret}`,
        },
      ];
    }),
  );
}
