import type { Change, Pair } from './change.js';
import { exitsHeld, freedUsed, statementsIn } from './held.js';
import type { Loss } from './loss.js';
import type { Call, Guard, Unit, Version } from './version.js';
import { packedOf } from './version.js';

/** Of one change. */
const lossesMax = 60;
const quotedChars = 100;

/**
 * What the functions that both versions have no longer do: told by what stands in both texts alone. What has moved into
 * another function of the file, or was replaced by something of its kind, is not lost.
 */
export function lossesIn(change: Change): Loss[] {
  if (change.isRewritten) return [];
  const own = change.pairs.filter(({ isHandedOver }) => !isHandedOver);
  const found = [
    ...change.pairs.flatMap((pair) => [...held(change, pair), ...swapped(change, pair)]),
    ...own.flatMap((pair) => [
      ...awaits(change, pair),
      ...guards(change, pair),
      ...results(change, pair),
      ...calls(change, pair),
      ...handlers(change, pair),
      ...operands(change, pair),
    ]),
    ...own.flatMap((pair) => bounds(change, pair)),
  ];
  return once(found).slice(0, lossesMax);
}

/** A place of the tree's version, or of the artifact where nothing of the tree is named, is told of once: as the first. */
function once(losses: readonly Loss[]): Loss[] {
  const told = new Set<string>();
  return losses.filter(({ places, line, unit, words }) => {
    const [place] = places;
    const key = place === undefined ? `after ${line} ${unit} ${words}` : `before ${place.line}`;
    if (told.has(key)) return false;
    for (let at = place?.line ?? 0; at <= (place?.line_end ?? place?.line ?? -1); at += 1)
      told.add(`before ${at}`);
    told.add(key);
    return true;
  });
}

type Part = Pick<Loss, 'kind' | 'severity' | 'text' | 'remedy' | 'words'>;

/** `lines`: of the tree's version, which are gone. */
function lossAt(
  change: Change,
  { before }: Pair,
  lines: { line: number; line_end?: number },
  part: Part,
): Loss {
  const line = change.lineAfter(lines.line);
  const { line: from, line_end: to = from } = lines;
  return {
    ...{ ...part, unit: before.name, line, line_end: line },
    places: [{ path: change.path, line: from, line_end: to, symbol: before.name }],
  };
}

function named({ name }: Unit): string {
  return name === '' ? 'this file' : `\`${name}\``;
}

function short(code: string): string {
  const line = code.replace(/\s+/g, ' ').trim();
  return line.length > quotedChars ? `${line.slice(0, quotedChars - 1)}…` : line;
}

/** Of the tree's version, as it is written. */
function written({ view }: Version, line: number, most = 1): string {
  return short(view.lines.slice(line - 1, line - 1 + most).join(' '));
}

// ---- what is held, and what is freed

function held(change: Change, pair: Pair): Loss[] {
  const { before, after } = change;
  if (after.view.family !== 'c' || pair.after.symbol === undefined) return [];
  const [old, now] = [bodyOf(before, pair.before), bodyOf(after, pair.after)];
  const counts = new Map<string, number>();
  for (const { what } of exitsHeld(old)) counts.set(what, (counts.get(what) ?? 0) + 1);
  const exits = exitsHeld(now).filter(({ what }) => {
    const left = (counts.get(what) ?? 0) - 1;
    counts.set(what, left);
    return left < 0;
  });
  const freed = freedUsed(now).filter(
    ({ what }) => !freedUsed(old).some((each) => each.what === what),
  );
  const unit = pair.after.name;
  return [
    ...exits.map(({ line, what }): Loss => ({
      ...{ kind: 'left-held', severity: 'major', unit, line, line_end: line, places: [] },
      text: `\`${unit}\` can be left here with \`${what}\` still locked: \`${written(after, line)}\`. In the tree's version every way out gives it back.`,
      remedy: `Unlock \`${what}\` before it leaves, or leave by the label that does.`,
      words: `${unit} held ${what} ${written(after, line)}`,
    })),
    ...freed.map(({ line, what, freed: at }): Loss => ({
      ...{ kind: 'freed-used', severity: 'critical', unit, line, line_end: line },
      text: `\`${what}\` is freed at line ${at} and used here, which the tree's version does not: \`${written(after, line)}\`.`,
      remedy: 'Use it first, and free it last.',
      ...{ words: `${unit} freed ${what}`, places: [] },
    })),
  ];
}

function bodyOf({ view }: Version, { line, line_end }: Unit): ReturnType<typeof statementsIn> {
  const open = view.code.indexOf('{', view.offsetOf(line));
  if (open < 0 || view.lineOf(open) > line_end) return [];
  return statementsIn(view, open + 1, view.closeOf(open));
}

// ---- arguments

/** What may be given in any order. */
const symmetric =
  /^(?:max|min|equals?|swap|assert\w*|is|concat|join|merge|assign|union|all|race|has)$/i;

function swapped(change: Change, pair: Pair): Loss[] {
  const found: Loss[] = [];
  const news = pair.after.calls.filter(
    ({ line, given }) => change.isAdded(line) && given.length > 1,
  );
  for (const call of pair.before.calls) {
    if (!change.isRemoved(call.line) || call.given.length < 2 || symmetric.test(call.name))
      continue;
    const other = news.find((each) => isOtherOrder(call, each));
    if (other === undefined || isOwn(change, call)) continue;
    const has = pair.after.calls.some(
      (each) => each.name === call.name && each.given.join() === call.given.join(),
    );
    if (has) continue;
    found.push({
      ...lossAt(change, pair, call, {
        ...{ kind: 'arguments-swapped', severity: 'major' },
        text: `\`${call.name}\` is given the same arguments in another order than in the tree: (${short(other.given.join(', '))}) for (${short(call.given.join(', '))}), and nothing in this change says that it takes them so now.`,
        remedy: `Give \`${call.name}\` its arguments in their order, or change it and all who call it.`,
        words: `${pair.before.key} swapped ${call.name} ${call.given.join()}`,
      }),
      ...{ line: other.line, line_end: other.line },
    });
  }
  return found;
}

function isOtherOrder(one: Call, other: Call): boolean {
  if (one.name !== other.name || one.given.length !== other.given.length) return false;
  if (one.given.join() === other.given.join()) return false;
  return [...one.given].sort().join() === [...other.given].sort().join();
}

/** Its definition stands in this file and takes other parameters by now. */
function isOwn({ before, after }: Change, { name }: Call): boolean {
  const of = ({ facts }: Version): string =>
    facts.symbols.find((symbol) => symbol.name === name && !symbol.declaration)?.signature ?? '';
  return of(before) !== of(after);
}

// ---- await

function awaits(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const still = after.awaits.map(({ head }) => head);
  return before.awaits.flatMap(({ head, line }): Loss[] => {
    const at = still.indexOf(head);
    if (at >= 0) {
      still.splice(at, 1);
      return [];
    }
    const last = head.split('.').at(-1) ?? head;
    const place = firstUse(change, after, head, last);
    if (!change.isRemoved(line) || place === undefined) return [];
    return [
      {
        ...lossAt(
          change,
          pair,
          { line },
          {
            ...{ kind: 'await-lost', severity: 'major' },
            text: `\`${head}\` is no longer awaited in ${named(after)}: what follows goes on before it is done, and nobody is told when it fails. The tree has \`${written(change.before, line)}\`.`,
            remedy: `Await \`${last}\`, or say in a remark why nobody has to wait for it and who hears of its failure.`,
            words: `${before.key} await ${head}`,
          },
        ),
        ...{ line: place, line_end: place },
      },
    ];
  });
}

/** A new line in which it stands, and neither awaits it, hands it on, nor gives it to whoever awaits all. */
function firstUse(change: Change, unit: Unit, head: string, last: string): number | undefined {
  const { view } = change.after;
  if (!unit.names.has(last)) return undefined;
  const name = head.replace(/[^\w]/g, '\\$&');
  const use = new RegExp(`(?<![\\w$#.])${name}(?![\\w$])`);
  for (let line = unit.line; line <= unit.line_end; line += 1) {
    if (!change.isAdded(line)) continue;
    const code = view.code.slice(view.offsetOf(line), view.offsetOf(line + 1));
    const around = view.code.slice(view.offsetOf(Math.max(1, line - 3)), view.offsetOf(line + 1));
    if (!use.test(code)) continue;
    if (/\b(?:await|return|yield|using)\b|=>|\?\?=|\.(?:then|catch|finally)\b/.test(code))
      return undefined;
    if (/\bPromise\.(?:all|allSettled|race|any)\b|\bawait\b/.test(around)) return undefined;
    return line;
  }
  return undefined;
}

// ---- guards

const comparing = /(?:[<>]=?|[=!]==?)/g;
const boundish =
  /(?:^|[a-z_#])(?:[Mm]ax|[Mm]in|[Ll]imit|[Bb]ound|[Tt]imeout|[Dd]eadline|[Qq]uota|[Tt]hreshold|[Aa]ttempts|[Cc]apacity|[Ss]ignal|[Aa]borted)(?![a-z])|^(?:MAX|MIN)_|_(?:MAX|MIN|LIMIT|TIMEOUT|SIZE)(?:_|$)/;

function guards(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const news = after.guards.filter(({ line }) => change.isAdded(line));
  const found: Loss[] = [];
  for (const guard of before.guards) {
    if (after.packed.includes(`(${guard.condition})`) || isElsewhere(change, guard)) continue;
    const isClamp = /[<>]/.test(guard.condition) && /^[\w.\->[\]]+=[^=]/.test(guard.body);
    const isFreed = guard.body.length > 5 && after.packed.includes(guard.body);
    const isWatched = subjectsOf(guard.condition).some((name) => boundish.test(name));
    if (!guard.isLeaving && !isClamp && !isFreed && !isWatched) continue;
    const isRenamed = before.key !== after.key;
    const near = isRenamed
      ? news
      : news.filter(({ line }) => Math.abs(line - change.lineAfter(guard.line)) <= nearLines);
    const part = partLost(guard, after) ?? wholeLost(guard, pair, near);
    if (part === undefined) continue;
    const end = Math.min(guard.line_end, guard.line + 5);
    found.push(lossAt(change, pair, { line: guard.line, line_end: end }, part));
  }
  return found;
}

/** Around the place of a check that is gone: a new one there may stand for it. */
const nearLines = 4;

/** It stands in another function now that does not have it in the tree. */
function isElsewhere({ before, after }: Change, { condition }: Pick<Guard, 'condition'>): boolean {
  const times = ({ units }: Version): number =>
    units.filter(({ packed }) => packed.includes(condition)).length;
  return times(after) >= times(before);
}

/** One of several reasons to refuse is gone, or the border of one has moved. */
function partLost(guard: Guard, { packed, key, name }: Unit): Part | undefined {
  const parts = partsOf(guard.condition);
  const lost = parts.filter((each) => !packed.includes(each));
  const [first] = lost;
  if (first === undefined || (parts.length > 1 && lost.length === parts.length)) return undefined;
  const moved = borderOf(first, packed);
  const words = `${key} ${guard.condition}`;
  const where = name === '' ? '' : ` in \`${name}\``;
  if (moved !== undefined)
    return {
      ...{ kind: 'border-moved', severity: 'major', words },
      text: `The border of a check has moved${where}: \`${short(moved)}\` where the tree has \`${short(first)}\`, so that the border itself falls on the other side.`,
      remedy:
        'Say why the border is another one, with a test of its value; or put the comparison back.',
    };
  if (parts.length === 1) return undefined;
  return {
    ...{ kind: 'check-lost', severity: 'major', words },
    text: `A check no longer looks at \`${short(first)}\`${where}: the tree has \`${short(guard.condition)}\`.`,
    remedy: `Look at \`${short(first)}\` again, or say what makes sure of it now.`,
  };
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

const commonNames = new Set(
  'this if return typeof true false null undefined NULL err ret error rc in instanceof of new'.split(
    ' ',
  ),
);

function subjectsOf(condition: string): string[] {
  return [...new Set(condition.match(/[A-Za-z_$#][\w$]*/g) ?? [])].filter(
    (name) => !commonNames.has(name),
  );
}

function wholeLost(
  guard: Guard,
  { before, after }: Pair,
  news: readonly Guard[],
): Part | undefined {
  const subjects = subjectsOf(guard.condition);
  const known = /^[!(]*(?:err|ret|error|rc)\b/.test(guard.condition)
    ? ['err', 'ret', 'error', 'rc']
    : [];
  // Nothing of it is spoken of any more: what it guarded went with it.
  if (![...subjects, ...known].some((name) => after.names.has(name))) return undefined;
  // Another check of the same thing stands there now.
  const isAnother = news.some(({ condition }) => {
    const theirs = new Set(subjectsOf(condition));
    return (
      subjects.some((name) => theirs.has(name)) || (subjects.length === 0 && condition.length > 0)
    );
  });
  if (isAnother) return undefined;
  // What a call gave is told as its result.
  if (resultOf(guard, before) !== undefined) return undefined;
  const where = before.name === '' ? '' : ` of \`${before.name}\``;
  return {
    ...{ kind: 'check-lost', severity: 'minor' },
    text: `A check${where} is gone: \`if (${short(guard.condition)})\` ${effectOf(guard)}, and nothing in its place looks at it.`,
    remedy: 'Put the check back, or say what makes it needless.',
    words: `${before.key} ${guard.condition}`,
  };
}

function effectOf({ body }: Guard): string {
  if (/throw|reject|panic|raise/.test(body)) return 'refused with an error';
  if (/return|goto|break|exit/.test(body)) return 'left';
  if (/continue/.test(body)) return 'went on with the next';
  return 'stood before what follows';
}

// ---- results

/** The call whose result a guard looks at: one in its condition, or the last that gave its subject a value. */
function resultOf({ condition, line }: Guard, unit: Unit): Call | undefined {
  const calls = unit.calls.filter((call) => !call.isUnused && call.line <= line);
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
  return given.findLast((call) => line - call.line <= resultLines);
}

/** Between a call and the check of what it gave. */
const resultLines = 4;

function isGivenTo({ packed }: Unit, { name, on }: Call, subject: string): boolean {
  const path = packedOf(on === '' ? name : `${on}.${name}`);
  return (
    packed.includes(`${subject}=${path}(`) ||
    packed.includes(`${subject}=await${path}(`) ||
    (on !== '' && packed.includes(`${subject}=${packedOf(on)}->${name}(`))
  );
}

function results(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const news = after.guards.filter(({ line }) => change.isAdded(line));
  const found: Loss[] = [];
  const told = new Set<Call>();
  for (const guard of before.guards) {
    const call = resultOf(guard, before);
    if (call === undefined || after.packed.includes(`(${guard.condition})`)) continue;
    if (!guard.isLeaving && !/NULL|null|undefined/.test(guard.body)) continue;
    if (isElsewhere(change, guard) || !after.names.has(call.name)) continue;
    if (!isLessLooked(call, pair) && news.some((each) => resultOf(each, after)?.name === call.name))
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
    if (found.some(({ words }) => words === resultPart(call, before).words)) continue;
    if (!isLessLooked(call, pair)) continue;
    found.push(lossAt(change, pair, { line: call.line }, resultPart(call, before)));
  }
  return found;
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

/** Called as often as before, and more often as a mere statement. */
function isLessLooked({ name }: Call, { before, after }: Pair): boolean {
  const of = ({ calls: all }: Unit): Call[] => all.filter((each) => each.name === name);
  const unused = (all: Call[]): number =>
    all.filter((each) => each.isUnused && !each.isAwaited).length;
  const [old, now] = [of(before), of(after)];
  return now.length >= old.length && unused(now) > unused(old);
}

// ---- calls

const releasing =
  /^(?:\w+_)?(?:unlock|put|free|release|close|destroy|dispose|cancel|unregister|unsubscribe|del|remove|kill|abort|disconnect|shutdown|stop|cleanup|deinit|unmap|unref|detach|unlink|up)(?:_\w+)?$|^[kv]+z?free\w*$|^(?:close|destroy|dispose|release|remove|clear|cancel|kill|abort|stop|unsubscribe|unregister|disconnect|delete|free|off|unref|end|teardown|cleanup|unlock|detach|asyncDispose)(?=[A-Z]|$)/;
const acquiring = /^(?:\w+_)?(?:lock|trylock|down)(?:_(?!is)\w+)?$|^(?:acquire|lock)(?=[A-Z]|$)/;
const asserting =
  /^#?(?:assert\w*|VM_BUG_ON\w*|BUG_ON\w*|WARN_ON\w*|lockdep_assert\w*|invariant|ensure\w*|throwIfAborted|might_sleep)$/;
/** What makes foreign data harmless, or asks whether somebody may. */
const defending =
  /^#?(?:escape\w*|saniti[sz]e\w*|encode\w*|redact\w*|mask\w*|validate\w*|verify\w*|authori[sz]e\w*|replace(?:All)?|printable|confine\w*|realpath\w*|\w*nospec|access_ok|\w*capable|security_\w+|check[A-Z_]\w*|may[A-Z]\w*)$/;
const reporting =
  /^(?:error|warn|fatal|pr_(?:err|warn|crit|alert|emerg)\w*|dev_(?:err|warn|crit)\w*|captureException)$/;
const handing = /^(?:err|error|e|ex|cause|reason|failure|exception)(?:$|[^\w(])/;
const listening = /^(?:on|once|addListener|addEventListener|catch)$/;

interface CallClass {
  kind: Loss['kind'];
  severity: Loss['severity'];
  holds: (call: Call) => boolean;
  tell: (call: Call, code: string, where: string) => { text: string; remedy: string };
}

const classes: readonly CallClass[] = [
  {
    ...{ kind: 'lock-lost', severity: 'major', holds: ({ name }) => acquiring.test(name) },
    tell: (call, code, where) => ({
      text: `\`${short(call.given[0] ?? call.name)}\` is no longer locked${where}: the tree has \`${code}\`, and what it stood before is done beside others now.`,
      remedy: 'Take the lock again, or say what keeps others out.',
    }),
  },
  {
    ...{ kind: 'assertion-lost', severity: 'minor', holds: ({ name }) => asserting.test(name) },
    tell: (_call, code, where) => ({
      text: `An assertion is gone${where}: \`${code}\`. What it made sure of is not held by anything here any more.`,
      remedy: 'Put it back, or say who makes sure of it now.',
    }),
  },
  {
    kind: 'error-untold',
    severity: 'major',
    holds: ({ name, given }) =>
      listening.test(name) && (name === 'catch' || /^['"`]error['"`]$/.test(given[0] ?? '')),
    tell: (_call, code, where) => ({
      text: `Nobody listens for the error any more${where}: the tree has \`${code}\`. An error without a listener ends the process, or is lost.`,
      remedy: 'Listen for it again.',
    }),
  },
  {
    ...{ kind: 'handler-lost', severity: 'minor', holds: ({ name }) => name === 'allSettled' },
    tell: (_call, code, where) => ({
      text: `One that fails stops the others now${where}: the tree has \`${code}\`, which waits for all of them.`,
      remedy: 'Wait for all of them, or say why the others need not end.',
    }),
  },
  {
    kind: 'error-untold',
    severity: 'major',
    holds: ({ name, given, isUnused, on }) =>
      isHanding({ name, given, on }) && (isUnused || name === 'reject'),
    tell: (call, code, where) => ({
      text: `The error is no longer handed on${where}: the tree has \`${code}\`. Whoever waits for \`${call.name}\` waits on, and nobody learns that it failed.`,
      remedy: `Hand it to \`${call.name}\` again.`,
    }),
  },
  {
    ...{ kind: 'error-untold', severity: 'minor', holds: ({ name }) => reporting.test(name) },
    tell: (_call, code, where) => ({
      text: `A failure is no longer reported${where}: the tree has \`${code}\`.`,
      remedy: 'Report it, or say who does.',
    }),
  },
  {
    ...{ kind: 'check-lost', severity: 'minor', holds: ({ name }) => defending.test(name) },
    tell: (call, code, where) => ({
      text: `\`${call.name}\` is called once less${where}: the tree has \`${code}\`. What it kept out or looked at goes through there.`,
      remedy: `Call \`${call.name}\` again, or say what makes it needless.`,
    }),
  },
  {
    ...{ kind: 'release-lost', severity: 'major' },
    // Whose result is wanted gives nothing back.
    holds: ({ name, isUnused, isAwaited }) => (isUnused || isAwaited) && releasing.test(name),
    tell: (call, code, where) => ({
      text: `\`${call.name}\` is called once less${where}: the tree has \`${code}\`. What it gave back there, or took away, stays.`,
      remedy: `Call \`${call.name}\` on that way too, or say who does it instead.`,
    }),
  },
];

function isHanding({ name, given, on }: Pick<Call, 'name' | 'given' | 'on'>): boolean {
  return (
    handing.test(given[0] ?? '') &&
    !/^(?:log|debug|trace|info|warn|error)$/.test(name) &&
    !/log|console|debug/i.test(on)
  );
}

function calls(change: Change, pair: Pair): Loss[] {
  const found: Loss[] = [];
  for (const each of classes) {
    const old = pair.before.calls.filter(each.holds);
    const now = pair.after.calls.filter(each.holds);
    let most = old.length - now.length;
    if (most <= 0) continue;
    for (const call of old) {
      if (most <= 0) break;
      if (!change.isRemoved(call.line) || stands(pair, call) || isMoved(change, call)) continue;
      most -= 1;
      // Both are gone: what was locked is told by its lock.
      if (each.kind === 'release-lost' && isOfLostLock(found, call)) continue;
      const where = pair.before.name === '' ? '' : ` in \`${pair.before.name}\``;
      const part = each.tell(call, written(change.before, call.line), where);
      const { kind, severity } = each;
      const words = `${pair.before.key} ${kind} ${call.name} ${call.given.join()}`;
      found.push(lossAt(change, pair, call, { kind, severity, ...part, words }));
    }
  }
  return found;
}

/** As many calls of its name, or the very call, are there as before. */
function stands({ before, after }: Pair, { name }: Call): boolean {
  const of = ({ calls: all }: Unit): number => all.filter((each) => each.name === name).length;
  return of(after) >= of(before);
}

/** Another function of the file has gained one. */
function isMoved({ before, after }: Change, { name }: Call): boolean {
  const of = ({ units }: Version): number =>
    units.flatMap((unit) => unit.calls).filter((each) => each.name === name).length;
  return of(after) >= of(before);
}

function isOfLostLock(found: readonly Loss[], { name, given }: Call): boolean {
  return (
    /unlock|^up/.test(name) &&
    found.some(({ kind, words }) => kind === 'lock-lost' && words.endsWith(` ${given.join()}`))
  );
}

// ---- operands

/** `a && b` of which only `b` is looked at now, in a condition or in what a function gives. */
function operands(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const now = chainsIn(after.packed);
  return chainsIn(before.packed).flatMap((chain): Loss[] => {
    const lost = chain.filter((each) => !after.packed.includes(each));
    const kept = chain.filter((each) => after.packed.includes(each));
    const [first] = lost;
    if (first === undefined || kept.length === 0 || !/[A-Za-z_]/.test(first)) return [];
    // Something else is asked in its place.
    const isOther = now.some(
      (theirs) =>
        theirs.some((each) => kept.includes(each)) &&
        theirs.some((each) => !before.packed.includes(each)),
    );
    const line = lineWith(change, before, subjectsOf(first)[0] ?? '');
    if (isOther || line === undefined || isElsewhere(change, { condition: first })) return [];
    const moved = borderOf(first, after.packed);
    if (moved !== undefined) return [];
    return [
      lossAt(
        change,
        pair,
        { line },
        {
          ...{ kind: 'check-lost', severity: 'minor', words: `${before.key} operand ${first}` },
          text: `${named(after)} no longer asks for \`${short(first)}\` beside \`${short(kept[0] ?? '')}\`: the tree has \`${written(change.before, line)}\`.`,
          remedy: `Ask for \`${short(first)}\` again, or say what makes it needless.`,
        },
      ),
    ];
  });
}

/** Operands of each `&&` between brackets, commas, arrows and the like. */
function chainsIn(packed: string): string[][] {
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
        packed.slice(level.begin, at).replace(/^(?:return|const\w+=|if)(?![\w$])/, ''),
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
  return chains.filter((chain) => chain.every((each) => each.length > 2));
}

// ---- handlers

function handlers(change: Change, pair: Pair): Loss[] {
  const count = ({ packed }: Unit): number => packed.match(/\}catch(?![\w$])/g)?.length ?? 0;
  const all = ({ units }: Version): number => units.reduce((sum, unit) => sum + count(unit), 0);
  const { before, after } = pair;
  if (count(after) >= count(before) || all(change.after) >= all(change.before)) return [];
  const line = lineWith(change, before, 'catch');
  // What was tried is done still.
  const tried = before.calls.filter(
    (call) => line !== undefined && call.line < line && call.line >= line - triedLines,
  );
  if (line === undefined || !tried.some(({ name }) => after.names.has(name))) return [];
  return [
    lossAt(
      change,
      pair,
      { line },
      {
        ...{ kind: 'handler-lost', severity: 'minor', words: `${before.key} handler` },
        text: `What fails in ${named(after)} is no longer caught: the tree has \`${written(change.before, line, 3)}\`.`,
        remedy: 'Catch it again, or say who does.',
      },
    ),
  ];
}

/** Of a block that is tried. */
const triedLines = 30;

// ---- bounds

function bounds(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  const isKnown = (unit: Unit, name: string): boolean => unit.used.has(name);
  const gained = [...after.names].some((name) => boundish.test(name) && !isKnown(before, name));
  if (gained || before.key === '') return [];
  const users = ({ units }: Version, name: string): number =>
    units.filter((unit) => isKnown(unit, name)).length;
  const lost = [...before.used].flatMap((name) => {
    if (!boundish.test(name) || /^Abort/.test(name) || isKnown(after, name)) return [];
    const line = lineWith(change, before, name);
    // Another function has it now, that had it not.
    const isMoved = users(change.after, name) >= users(change.before, name);
    return line === undefined || isMoved ? [] : [{ name, line }];
  });
  const [first] = lost;
  if (first === undefined) return [];
  const names = lost.map(({ name }) => `\`${name}\``).join(', ');
  return [
    lossAt(
      change,
      pair,
      { line: first.line },
      {
        ...{ kind: 'bound-lost', severity: 'major', words: `${before.key} bound ${first.name}` },
        text: `${named(before)} no longer looks at ${names}: the tree has \`${written(change.before, first.line)}\`. What was bounded or ended by it is not any more.`,
        remedy: `Hold it to ${names} again, or say what bounds it now.`,
      },
    ),
  ];
}

function lineWith(change: Change, unit: Unit, name: string): number | undefined {
  const { view } = change.before;
  const use = new RegExp(`(?<![\\w$])${name.replace(/[$#]/g, '\\$&')}(?![\\w$])`);
  for (let line = unit.line; line <= unit.line_end; line += 1)
    if (change.isRemoved(line) && use.test(view.lines[line - 1] ?? '')) return line;
  return undefined;
}
