import type { ConditionPart } from '../../pgc/mine/code-parts.js';
import type { ItemFact } from '../../pgc/format/facts.js';
import type { Change, Pair } from './change.js';
import { inUnit, lossAt, short, written, type Loss } from './loss.js';
import { borders, listed } from './phrases.js';
import { countIn, type Unit, type Version } from './unit.js';

/** Of one function; one with more is generated. */
const conditionsMax = 400;
/** Names that say nothing about what a condition is of. */
const plainNames = new Set('this undefined NULL err ret error rc length'.split(' '));

function subjectsOf({ names }: Pick<ConditionPart, 'names'>): string[] {
  return names.filter((name) => !plainNames.has(name));
}

/** Conditions that left a function early and are gone, and operands that are no longer asked for. */
export function checksLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  if (Math.max(before.conditions.length, after.conditions.length) > conditionsMax) return [];
  const fresh = after.conditions.filter(({ line }) => change.isAdded(line));
  return before.conditions.flatMap((condition): Loss[] => {
    const { text, line, operands, leaves } = condition;
    const times = ({ conditions }: Unit): number =>
      conditions.filter((each) => each.text === text).length;
    if (!change.isRemoved(line) || times(after) >= times(before)) return [];
    if (fresh.some((each) => each.text.includes(text)) || isElsewhere(change, condition)) return [];
    // Something else about the same names is asked in its place.
    const isReplaced = fresh.some(
      (each) =>
        each.operands.some((operand) => !text.includes(operand)) &&
        subjectsOf(condition).some((name) => each.names.includes(name)),
    );
    if (isReplaced) return [];
    const rest = fresh.flatMap((each) => each.operands);
    const [lost] = operands.filter((operand) => !rest.includes(operand));
    const [kept] = operands.filter((operand) => rest.includes(operand));
    if (lost !== undefined && kept !== undefined)
      return [operandLost(change, pair, line, { lost, kept })];
    return leaves && isAbout(condition, after) ? [checkLost(change, pair, condition)] : [];
  });
}

function checkLost(change: Change, pair: Pair, condition: ConditionPart): Loss {
  const { text, line } = condition;
  const names = subjectsOf(condition).map((name) => `\`${name}\``);
  return lossAt(change, pair, condition, {
    ...{ kind: 'check-lost', severity: 'minor', words: `${pair.before.key} ${text}` },
    text: `A check is gone${inUnit(pair.before)}: \`${written(change.before, line, 2)}\`. Nothing in its place looks at ${listed(names, 3) || 'it'}.`,
    remedy: 'Put the check back, or say what makes it needless.',
  });
}

/** The function still uses what the condition was about. */
function isAbout(condition: ConditionPart, { names }: Unit): boolean {
  const subjects = subjectsOf(condition);
  return subjects.length === 0 || subjects.some((name) => names.has(name));
}

function isElsewhere({ before, after }: Change, { text }: ConditionPart): boolean {
  const holds = (each: ConditionPart): boolean => each.text.includes(text);
  return countIn(after, 'conditions', holds) >= countIn(before, 'conditions', holds);
}

function operandLost(
  change: Change,
  pair: Pair,
  line: number,
  { lost, kept }: { lost: string; kept: string },
): Loss {
  return lossAt(
    change,
    pair,
    { line },
    {
      ...{ kind: 'check-lost', severity: 'minor', words: `${pair.before.key} operand ${lost}` },
      text: `\`${short(lost)}\` is no longer asked for beside \`${short(kept)}\`${inUnit(pair.after)}. Before: \`${written(change.before, line)}\`.`,
      remedy: `Ask for \`${short(lost)}\` again, or say what makes it needless.`,
    },
  );
}

/** `<` that became `<=`, or the other way round. */
export function bordersMoved(change: Change, pair: Pair): Loss[] {
  const sides = ({ left, right }: { left: string; right: string }): string => `${left} ${right}`;
  const added = new Map(
    pair.after.comparisons
      .filter(({ line }) => change.isAdded(line))
      .map((each) => [sides(each), each]),
  );
  return pair.before.comparisons.flatMap((comparison): Loss[] => {
    const now = added.get(sides(comparison));
    if (now === undefined || !change.isRemoved(comparison.line)) return [];
    // Turned round it is another condition.
    if (now.operator === comparison.operator || now.operator[0] !== comparison.operator[0])
      return [];
    const { left, right, operator } = comparison;
    return [
      lossAt(change, pair, comparison, {
        at: now.line,
        ...{
          kind: 'border-moved',
          severity: 'minor',
          words: `${pair.before.key} border ${left}`,
        },
        text: `The limit moved by one${inUnit(pair.after)}: \`${short(`${left} ${now.operator} ${right}`)}\` instead of \`${operator}\`.`,
        remedy: `Check the case that \`${short(left)}\` equals \`${short(right)}\`, and test it.`,
      }),
    ];
  });
}

/** Words of names that bound something, as in items of O6. */
const boundName =
  /(?:^|[a-z_#])(?:[Mm]ax|[Mm]in|[Ll]imit|[Tt]imeout|[Dd]eadline|[Qq]uota|[Tt]hreshold|[Aa]ttempts|[Cc]apacity)(?![a-z])|^(?:MAX|MIN)_|_(?:MAX|MIN|LIMIT|TIMEOUT)(?:_|$)/;

/** Names of bounds that a function used and no longer uses. */
export function boundsLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  if (before.key === '') return [];
  const isNew = (name: string): boolean => boundName.test(name) && !before.names.has(name);
  if ([...after.names.keys()].some(isNew)) return [];
  // What is spread may hold any bound.
  if (after.spreads.length > before.spreads.length) return [];
  const users = ({ units }: Version, name: string): number =>
    units.filter(({ names }) => names.has(name)).length;
  const called = new Set(before.calls.map(({ name }) => name));
  const lost = [...before.names].flatMap(([name, lines]) => {
    if (!boundName.test(name) || called.has(name) || after.names.has(name)) return [];
    const line = lines.find((each) => change.isRemoved(each));
    const isMoved = users(change.after, name) >= users(change.before, name);
    return line === undefined || isMoved ? [] : [{ name, line }];
  });
  const [first] = lost;
  if (first === undefined) return [];
  const names = lost.map(({ name }) => `\`${name}\``).join(', ');
  return [
    lossAt(change, pair, first, {
      ...{ kind: 'bound-lost', severity: 'major', words: `${before.key} bound ${first.name}` },
      text: `\`${before.name}\` no longer uses ${names}. Before: \`${written(change.before, first.line)}\`. What it limited has no limit here now.`,
      remedy: `Use ${names} again, or say what limits it now.`,
    }),
  ];
}

const assertionRules = new Set(['assertion', 'locking-check', 'lock-annotation']);

/** Items of O6 that assert something and are gone. */
export function assertionsLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const left = countBy(assertionsOf(change.after, after));
  return assertionsOf(change.before, before).flatMap((item): Loss[] => {
    const count = left.get(item.text) ?? 0;
    left.set(item.text, count - 1);
    if (count > 0 || !change.isRemoved(item.line_start)) return [];
    const times = ({ code }: Version): number =>
      code.facts.items.filter(({ overlay, text }) => overlay === 6 && text === item.text).length;
    if (times(change.after) >= times(change.before)) return [];
    const { line_start: line, line_end } = item;
    return [
      lossAt(
        change,
        pair,
        { line, line_end },
        {
          ...{ kind: 'assertion-lost', severity: 'minor', words: `${before.key} ${item.text}` },
          text: `An assertion is gone${inUnit(before)}: \`${short(item.text)}\`. Nothing here checks it any more.`,
          remedy: 'Put it back, or name the code that checks it now.',
        },
      ),
    ];
  });
}

function assertionsOf({ code }: Version, { line, line_end }: Unit): ItemFact[] {
  return code.facts.items.filter(
    ({ overlay, rule, line_start }) =>
      overlay === 6 && assertionRules.has(rule) && line_start >= line && line_start <= line_end,
  );
}

function countBy(items: readonly ItemFact[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const { text } of items) counts.set(text, (counts.get(text) ?? 0) + 1);
  return counts;
}

const severityOf: Readonly<Record<string, Loss['severity']>> = {
  ...{ critical: 'critical', high: 'major', medium: 'minor' },
};

/** Weaknesses that rules of O2 find in what was added, and that the version before does not have. */
export function weaknessesAdded(change: Change): Loss[] {
  const { before, after } = change;
  const isWeak = ({ overlay, rule, severity }: ItemFact): boolean =>
    overlay === 2 && !borders.has(rule) && severityOf[severity] !== undefined;
  const keyOf = ({ rule, subject }: ItemFact): string => `${rule} ${subject}`;
  const left = new Map<string, number>();
  for (const item of before.code.facts.items.filter(isWeak))
    left.set(keyOf(item), (left.get(keyOf(item)) ?? 0) + 1);
  const weak = after.code.facts.items.filter(isWeak);
  // Those that stayed use up what was there before.
  for (const item of weak.filter(({ line_start }) => !change.isAdded(line_start)))
    left.set(keyOf(item), (left.get(keyOf(item)) ?? 0) - 1);
  return weak.flatMap((item): Loss[] => {
    const { rule, severity, text, cwe, line_start, line_end } = item;
    if (!change.isAdded(line_start)) return [];
    const count = left.get(keyOf(item)) ?? 0;
    left.set(keyOf(item), count - 1);
    if (count > 0) return [];
    return [
      {
        ...{ kind: 'weakness-new', severity: severityOf[severity] ?? 'minor', places: [] },
        ...{ line: line_start, line_end, words: `weakness ${rule} ${text}` },
        text: `This change adds a weakness: ${text}${cwe === '' ? '' : ` (${cwe})`}.`,
        remedy: 'Use a call that cannot do this, or check its input.',
      },
    ];
  });
}
