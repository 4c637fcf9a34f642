import type { Change, Pair } from './change.js';
import type { Loss } from './loss.js';
import { resultOf } from './lost-results.js';
import {
  boundish,
  isElsewhere,
  lineWith,
  lossAt,
  named,
  short,
  subjectsOf,
  written,
  type Part,
} from './lost-parts.js';
import type { Guard, Unit } from './version.js';

const comparing = /(?:[<>]=?|[=!]==?)/g;

/** Conditions under which it left, refused or held back what follows, and that are gone or looser. */
export function guardsLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const news = after.guards.filter(({ line }) => change.isAdded(line));
  const found: Loss[] = [];
  for (const guard of before.guards) {
    if (
      after.packed.includes(`(${guard.condition})`) ||
      isElsewhere(change, `(${guard.condition})`)
    )
      continue;
    const isClamp = /[<>]/.test(guard.condition) && /^[\w.\->[\]]+=[^=]/.test(guard.body);
    const isFreed = guard.body.length > 5 && isPlain(after.packed, guard.body);
    const isWatched = subjectsOf(guard.condition).some((name) => boundish.test(name));
    if (!guard.isLeaving && !isClamp && !isFreed && !isWatched) continue;
    const isRenamed = before.key !== after.key;
    const near = isRenamed
      ? news
      : news.filter(({ line }) => Math.abs(line - change.lineAfter(guard.line)) <= nearLines);
    const part =
      partLost(guard, pair, change) ??
      wholeLost(guard, pair, near, written(change.before, guard.line));
    if (part === undefined) continue;
    const end = Math.min(guard.line_end, guard.line + 5);
    found.push(lossAt(change, pair, { line: guard.line, line_end: end }, part));
  }
  return found;
}

/** It stands there, and is no operand of another condition. */
function isPlain(packed: string, body: string): boolean {
  const at = packed.indexOf(body);
  return at >= 0 && !/[(&|?]/.test(packed.charAt(at - 1));
}

/** Around the place of a check that is gone: a new one there may stand for it. */
const nearLines = 4;

/** One of several reasons to refuse is gone, or the border of one has moved. */
function partLost(guard: Guard, { before, after }: Pair, change: Change): Part | undefined {
  const { packed, key, name } = after;
  const parts = partsOf(guard.condition);
  const lost = parts.filter((each) => !packed.includes(each) && !isElsewhere(change, each));
  const [first] = lost;
  if (first === undefined || (parts.length > 1 && lost.length === parts.length)) return undefined;
  const moved = borderOf(first, packed);
  const words = `${key} ${guard.condition}`;
  const where = name === '' ? '' : ` in \`${name}\``;
  if (moved !== undefined)
    return {
      ...{ kind: 'border-moved', severity: 'major', words },
      text: `The border of a check has moved${where}: \`${short(moved)}\` where it was \`${short(first)}\`, so that the border itself falls on the other side.`,
      remedy:
        'Say why the border is another one, with a test of its value; or put the comparison back.',
    };
  if (parts.length === 1 || isAskedAnew(parts, before, after)) return undefined;
  return {
    ...{ kind: 'check-lost', severity: 'major', words },
    text: `A check no longer looks at \`${short(first)}\`${where}: it had \`${short(guard.condition)}\`.`,
    remedy: `Look at \`${short(first)}\` again, or say what makes sure of it now.`,
  };
}

/** Beside the parts that are left another one stands, which was not asked before. */
function isAskedAnew(parts: readonly string[], before: Unit, { guards }: Unit): boolean {
  return guards.some(({ condition }) => {
    const theirs = partsOf(condition);
    return (
      theirs.some((each) => parts.includes(each)) &&
      theirs.some((each) => !before.packed.includes(each))
    );
  });
}

/** Operands of `||` outside of brackets. */
function partsOf(condition: string): string[] {
  const parts: string[] = [];
  let depth = 0;
  let begin = 0;
  for (let at = 0; at < condition.length; at += 1) {
    const sign = condition.charAt(at);
    if ('([{'.includes(sign)) depth += 1;
    else if (')]}'.includes(sign)) depth -= 1;
    else if (depth === 0 && condition.startsWith('||', at)) {
      parts.push(condition.slice(begin, at));
      begin = at + 2;
      at += 1;
    }
  }
  return [...parts, condition.slice(begin)].filter(Boolean);
}

/** The same operands, compared by another sign. */
function borderOf(part: string, packed: string): string | undefined {
  const [sign] = part.replaceAll('->', '  ').match(comparing) ?? [];
  if (sign === undefined || !/[<>]/.test(sign)) return undefined;
  const other = sign.endsWith('=') ? sign.slice(0, -1) : `${sign}=`;
  const at = part.replaceAll('->', '  ').indexOf(sign);
  const now = `${part.slice(0, at)}${other}${part.slice(at + sign.length)}`;
  return packed.includes(now) ? now : undefined;
}

function wholeLost(
  guard: Guard,
  { before, after }: Pair,
  news: readonly Guard[],
  code: string,
): Part | undefined {
  const subjects = subjectsOf(guard.condition);
  const known = /^[!(]*(?:err|ret|error|rc)\b/.test(guard.condition)
    ? ['err', 'ret', 'error', 'rc']
    : [];
  // Nothing of it is spoken of any more: what it guarded went with it, unless it refused something.
  const isSpoken = [...subjects, ...known].some((name) => after.names.has(name));
  if (!isSpoken && !refusing.test(guard.body)) return undefined;
  // Another check of the same thing stands there now.
  const isAnother = news.some(({ condition, body }) => {
    // It does the same for a reason in other words.
    if (body.length > bodyCharsMin && body === guard.body) return true;
    const theirs = new Set(subjectsOf(condition));
    return (
      subjects.some((name) => theirs.has(name)) || (subjects.length === 0 && condition.length > 0)
    );
  });
  if (isAnother) return undefined;
  // What a call gives that is made still is told as its result.
  const call = resultOf(guard, before);
  if (call !== undefined && after.names.has(call.name)) return undefined;
  const where = before.name === '' ? '' : ` of \`${before.name}\``;
  return {
    ...{ kind: 'check-lost', severity: 'minor' },
    text: `A check${where} is gone, which ${effectOf(guard)}: it had \`${code}\`, and nothing in its place looks at it.`,
    remedy: 'Put the check back, or say what makes it needless.',
    words: `${before.key} ${guard.condition}`,
  };
}

/** `return;` and the like stand behind many conditions. */
const bodyCharsMin = 16;

const refusing = /throw|reject|panic|raise|return-E[A-Z]|returnERR_PTR/;

function effectOf({ body }: Guard): string {
  if (/throw|reject|panic|raise/.test(body)) return 'refused with an error';
  if (/return|goto|break|exit/.test(body)) return 'left';
  if (/continue/.test(body)) return 'went on with the next';
  return 'stood before what follows';
}

/** `a && b` of which only `b` is looked at now, in a condition or in what a function gives. */
export function operandsLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const fresh = chainsIn(after).filter((theirs) =>
    theirs.some((each) => !before.packed.includes(each)),
  );
  return chainsIn(before).flatMap((chain): Loss[] => {
    const lost = chain.filter((each) => !after.packed.includes(each));
    const kept = chain.filter((each) => after.packed.includes(each));
    const [first] = lost;
    if (first === undefined || kept.length === 0 || !/[A-Za-z_]/.test(first)) return [];
    // Something else is asked in its place.
    const isOther = fresh.some((theirs) => theirs.some((each) => kept.includes(each)));
    const line = lineWith(change, before, subjectsOf(first)[0] ?? '');
    if (isOther || line === undefined || isElsewhere(change, first)) return [];
    const moved = borderOf(first, after.packed);
    if (moved !== undefined) return [];
    return [
      lossAt(
        change,
        pair,
        { line },
        {
          ...{ kind: 'check-lost', severity: 'minor', words: `${before.key} operand ${first}` },
          text: `${named(after)} no longer asks for \`${short(first)}\` beside \`${short(kept[0] ?? '')}\`: it had \`${written(change.before, line)}\`.`,
          remedy: `Ask for \`${short(first)}\` again, or say what makes it needless.`,
        },
      ),
    ];
  });
}

/** Of one function. */
const chainsMax = 500;

/** Operands of each `&&` between brackets, commas, arrows and the like. */
function chainsIn({ packed, names }: Unit): string[][] {
  // `return a` has lost its blank; `returned` is a name.
  const operandOf = (text: string): string =>
    names.has(/^[\w$]*/.exec(text)?.[0] ?? '') ? text : text.replace(/^return(?=\w)/, '');
  const chains: string[][] = [];
  const open: { operands: string[]; begin: number }[] = [{ operands: [], begin: 0 }];
  const flush = (at: number): void => {
    const level = open.at(-1);
    if (level === undefined) return;
    if (level.operands.length > 0) chains.push([...level.operands, packed.slice(level.begin, at)]);
    level.operands = [];
    level.begin = at + 1;
  };
  for (let at = 0; at < packed.length; at += 1) {
    const sign = packed.charAt(at);
    if ('([{'.includes(sign)) open.push({ operands: [], begin: at + 1 });
    else if (')]}'.includes(sign)) {
      flush(at);
      if (open.length > 1) open.pop();
      if (sign === '}') flush(at);
    } else if (packed.startsWith('=>', at) || packed.startsWith('||', at)) {
      flush(at);
      const level = open.at(-1);
      if (level !== undefined) level.begin = at + 2;
      at += 1;
    } else if (packed.startsWith('&&', at)) {
      const level = open.at(-1);
      if (level === undefined) continue;
      level.operands.push(
        operandOf(packed.slice(level.begin, at).replace(/^(?:return|const\w+=|if)(?![\w$])/, '')),
      );
      level.begin = at + 2;
      at += 1;
    } else if (
      ',;'.includes(sign) ||
      (sign === '?' && !'.?'.includes(packed.charAt(at + 1))) ||
      sign === ':'
    )
      flush(at);
    else if (
      sign === '=' &&
      !'=!<>'.includes(packed.charAt(at - 1)) &&
      packed.charAt(at + 1) !== '='
    )
      flush(at);
  }
  return chains.filter((chain) => chain.every((each) => each.length > 2)).slice(0, chainsMax);
}
