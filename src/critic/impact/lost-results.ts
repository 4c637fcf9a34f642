import type { Change, Pair } from './change.js';
import type { Loss } from './loss.js';
import { isElsewhere, lossAt, subjectsOf, type Part } from './lost-parts.js';
import { packedOf, type Call, type Guard, type Unit } from './version.js';

/** The call whose result a guard looks at: one in its condition, or the last that gave its subject a value. */
export function resultOf({ condition, line }: Guard, unit: Unit): Call | undefined {
  const calls = unit.calls
    .filter((call) => !call.isUnused && call.line <= line && line - call.line <= resultLines)
    .slice(-callsMax);
  const within = calls.find(
    (call) =>
      call.line >= line - 1 &&
      condition.includes(`${call.name}(`) &&
      !/^(?:IS_ERR\w*|PTR_ERR\w*|unlikely|likely|\w*empty)$/.test(call.name),
  );
  if (within !== undefined) return within;
  const [subject] =
    condition
      .match(/[A-Za-z_$][\w$]*(?:(?:->|\.)[\w$]+)*(?!\()/g)
      ?.filter((each) => !/^(?:IS_ERR\w*|unlikely|likely|typeof)$/.test(each)) ?? [];
  if (subject === undefined) return undefined;
  const given = calls.filter((call) => isGivenTo(unit, call, subject));
  return given.at(-1);
}

/** Between a call and the check of what it gave. */
const resultLines = 4;
/** Of one function. */
const foundMax = 60;
/** Of those lines. */
const callsMax = 40;

function isGivenTo({ packed }: Unit, { name, on }: Call, subject: string): boolean {
  const path = packedOf(on === '' ? name : `${on}.${name}`);
  return (
    packed.includes(`${subject}=${path}(`) ||
    packed.includes(`${subject}=await${path}(`) ||
    (on !== '' && packed.includes(`${subject}=${packedOf(on)}->${name}(`))
  );
}

/** Calls that are still made, and whose result nobody looks at any more. */
export function resultsLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const news = after.guards.filter(({ line }) => change.isAdded(line));
  const isLessLooked = lessLooked(pair);
  const found: Loss[] = [];
  const told = new Set<Call>();
  const names = new Set<string>();
  for (const guard of before.guards) {
    const call = resultOf(guard, before);
    if (call === undefined || after.packed.includes(`(${guard.condition})`)) continue;
    if (!guard.isLeaving && !/NULL|null|undefined/.test(guard.body)) continue;
    if (isElsewhere(change, `(${guard.condition})`) || isLookedAt(after, guard, call)) continue;
    if (!isLessLooked(call) && news.some((each) => resultOf(each, after)?.name === call.name))
      continue;
    const subject = /^[!(]*(?:IS_ERR\w*\()?([\w$.>-]+)/.exec(guard.condition)?.[1] ?? '';
    // The value is looked at in another way.
    if (
      subject !== '' &&
      !guard.condition.includes(`${call.name}(`) &&
      looksAt(after, news, subject)
    )
      continue;
    told.add(call);
    names.add(call.name);
    found.push(
      lossAt(
        change,
        pair,
        { line: guard.line, line_end: Math.min(guard.line_end, guard.line + 5) },
        resultPart(call, before),
      ),
    );
  }
  for (const call of before.calls) {
    if (call.isUnused || told.has(call) || !change.isRemoved(call.line)) continue;
    if (names.has(call.name) || found.length >= foundMax) continue;
    if (!isLessLooked(call)) continue;
    names.add(call.name);
    found.push(lossAt(change, pair, { line: call.line }, resultPart(call, before)));
  }
  return found;
}

/**
 * It is not called any more, or what it gives is looked at in another expression. What was asked for within a condition is
 * an answer by itself: whoever takes it has taken it to look at it.
 */
function isLookedAt({ calls }: Unit, { condition }: Guard, { name }: Call): boolean {
  const isAnswer = condition.includes(`${name}(`);
  return calls
    .filter((each) => each.name === name)
    .every(({ isAsked, isUnused }) => isAsked || (isAnswer && !isUnused));
}

function looksAt({ packed }: Unit, news: readonly Guard[], subject: string): boolean {
  return (
    news.some(({ condition }) => subjectsOf(condition).includes(subject)) ||
    packed.includes(`${subject}?`) ||
    packed.includes(`${subject}&&`) ||
    packed.includes(`(${subject}||`)
  );
}

function resultPart({ name }: Call, { key, name: unit }: Unit): Part {
  return {
    ...{ kind: 'result-unchecked', severity: 'major' },
    text: `What \`${name}\` gives is no longer looked at${unit === '' ? '' : ` in \`${unit}\``}: when it fails, what follows goes on as if it had not.`,
    remedy: `Look at what \`${name}\` gives and leave when it says that it failed.`,
    words: `${key} result ${name}`,
  };
}

/** Called as often as before, and more often as a mere statement; each name is counted once. */
function lessLooked({ before, after }: Pair): (call: Call) => boolean {
  const unused = ({ calls: all }: Unit): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const { name, isUnused, isAwaited } of all)
      if (isUnused && !isAwaited) counts.set(name, (counts.get(name) ?? 0) + 1);
    return counts;
  };
  const [old, now] = [unused(before), unused(after)];
  return ({ name }) =>
    (after.made.get(name) ?? 0) >= (before.made.get(name) ?? 0) &&
    (now.get(name) ?? 0) > (old.get(name) ?? 0);
}
