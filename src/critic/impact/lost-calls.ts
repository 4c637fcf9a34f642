import type { Change, Pair } from './change.js';
import type { Loss } from './loss.js';
import { boundish, lineWith, lossAt, named, short, written } from './lost-parts.js';
import type { Call, Unit, Version } from './version.js';

const releasing =
  /^(?:\w+_)?(?:unlock|put|free|release|close|destroy|dispose|cancel|unregister|unsubscribe|del|remove|kill|abort|disconnect|shutdown|stop|cleanup|deinit|unmap|unref|detach|unlink|up)(?:_\w+)?$|^[kv]+z?free\w*$|^(?:close|destroy|dispose|release|remove|clear|cancel|kill|abort|stop|unsubscribe|unregister|disconnect|delete|free|off|unref|end|teardown|cleanup|unlock|detach|asyncDispose)(?=[A-Z]|$)/;
const acquiring = /^(?:\w+_)?(?:lock|trylock|down)(?:_(?!is)\w+)?$|^(?:acquire|lock)(?=[A-Z]|$)/;
const asserting =
  /^#?(?:assert\w*|VM_BUG_ON\w*|BUG_ON\w*|WARN_ON\w*|lockdep_assert\w*|invariant|ensure\w*|throwIfAborted|might_sleep)$/;
/** What makes foreign data harmless, or asks whether somebody may. */
const defending =
  /^#?(?:escape\w*|saniti[sz]e\w*|encode\w*|redact\w*|mask\w*|validate\w*|verify\w*|authori[sz]e\w*|printable\w*|shellWord|omit|strict|freeze|confine\w*|realpath\w*|\w*nospec|access_ok|\w*capable|security_\w+|check[A-Z_]\w*|may[A-Z]\w*)$/;
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
      text: `\`${short(call.given[0] ?? call.name)}\` is no longer locked${where}: it had \`${code}\`, and what it stood before is done beside others now.`,
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
      text: `Nobody listens for the error any more${where}: it had \`${code}\`. An error without a listener ends the process, or is lost.`,
      remedy: 'Listen for it again.',
    }),
  },
  {
    ...{ kind: 'handler-lost', severity: 'minor', holds: ({ name }) => name === 'allSettled' },
    tell: (_call, code, where) => ({
      text: `One that fails stops the others now${where}: it had \`${code}\`, which waits for all of them.`,
      remedy: 'Wait for all of them, or say why the others need not end.',
    }),
  },
  {
    kind: 'error-untold',
    severity: 'major',
    holds: ({ name, given, isUnused, on }) =>
      isHanding({ name, given, on }) && (isUnused || name === 'reject'),
    tell: (call, code, where) => ({
      text: `The error is no longer handed on${where}: it had \`${code}\`. Whoever waits for \`${call.name}\` waits on, and nobody learns that it failed.`,
      remedy: `Hand it to \`${call.name}\` again.`,
    }),
  },
  {
    ...{ kind: 'error-untold', severity: 'minor', holds: ({ name }) => reporting.test(name) },
    tell: (_call, code, where) => ({
      text: `A failure is no longer reported${where}: it had \`${code}\`.`,
      remedy: 'Report it, or say who does.',
    }),
  },
  {
    ...{ kind: 'check-lost', severity: 'minor' },
    holds: ({ name, given }) => defending.test(name) || isCleaning(name, given[0] ?? ''),
    tell: (call, code, where) => ({
      text: `\`${call.name}\` is called once less${where}: it had \`${code}\`. What it kept out or looked at goes through there.`,
      remedy: `Call \`${call.name}\` again, or say what makes it needless.`,
    }),
  },
  {
    ...{ kind: 'release-lost', severity: 'major' },
    // Whose result is wanted gives nothing back.
    holds: ({ name, isUnused, isAwaited }) => (isUnused || isAwaited) && releasing.test(name),
    tell: (call, code, where) => ({
      text: `\`${call.name}\` is called once less${where}: it had \`${code}\`. What it gave back there, or took away, stays.`,
      remedy: `Call \`${call.name}\` on that way too, or say who does it instead.`,
    }),
  },
];

/** Every sign of a class is replaced; what only cuts an end off, or joins lines, defends nothing. */
function isCleaning(name: string, what: string): boolean {
  return name === 'replaceAll' || (name === 'replace' && /^\/.*\[.*\/\w*g\w*$/.test(what));
}

function isHanding({ name, given, on }: Pick<Call, 'name' | 'given' | 'on'>): boolean {
  return (
    handing.test(given[0] ?? '') &&
    !/^(?:log|debug|trace|info|warn|error)$/.test(name) &&
    !/log|console|debug/i.test(on)
  );
}

/** Calls of a class of which a function makes fewer: releases, locks, assertions, reports. */
export function callsLost(change: Change, pair: Pair): Loss[] {
  const found: Loss[] = [];
  for (const each of classes) {
    const old = pair.before.calls.filter(each.holds);
    const now = pair.after.calls.filter(each.holds);
    let most = old.length - now.length;
    if (most <= 0) continue;
    for (const call of old) {
      if (most <= 0) break;
      if (!change.isRemoved(call.line) || stands(pair, call) || isMoved(change, call)) continue;
      if (each.kind === 'release-lost' && isByLabel(change, pair, call)) continue;
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

/**
 * C gives back behind a label: whoever jumps there now where it was given back by hand has lost nothing. Of locks every
 * way out is walked, which tells more than how often they are unlocked.
 */
function isByLabel({ after: { view } }: Change, { before, after }: Pair, { name }: Call): boolean {
  if (view.family !== 'c') return false;
  const jumps = ({ packed }: Unit): number => packed.match(/[;{})]goto/g)?.length ?? 0;
  const isStill = after.calls.some((each) => each.name === name);
  return isUnlocking.test(name) || (isStill && jumps(after) > jumps(before));
}

const isUnlocking = /unlock|^up(?:_|$)/;

/** As many calls of its name, or the very call, are there as before. */
function stands({ before, after }: Pair, { name }: Call): boolean {
  return (after.made.get(name) ?? 0) >= (before.made.get(name) ?? 0);
}

/** Another function of the file has gained one. */
function isMoved({ before, after }: Change, { name }: Call): boolean {
  return (after.made.get(name) ?? 0) >= (before.made.get(name) ?? 0);
}

function isOfLostLock(found: readonly Loss[], { name, given }: Call): boolean {
  return (
    isUnlocking.test(name) &&
    found.some(({ kind, words }) => kind === 'lock-lost' && words.endsWith(` ${given.join()}`))
  );
}

/** `catch` around what is still tried. */
export function handlersLost(change: Change, pair: Pair): Loss[] {
  const count = ({ packed }: Unit): number => packed.match(/\}catch(?![\w$])/g)?.length ?? 0;
  const all = ({ units }: Version): number => units.reduce((sum, unit) => sum + count(unit), 0);
  const { before, after } = pair;
  if (count(after) >= count(before) || all(change.after) >= all(change.before)) return [];
  const line = lineWith(change, before, 'catch');
  // What was tried is done still.
  const tried = before.calls.filter(
    (call) => line !== undefined && call.line < line && call.line >= line - triedLines,
  );
  const isTried = ({ name, on }: Call): boolean =>
    after.calls.some((each) => each.name === name && each.on === on);
  if (line === undefined || !tried.some(isTried)) return [];
  return [
    lossAt(
      change,
      pair,
      { line },
      {
        ...{ kind: 'handler-lost', severity: 'minor', words: `${before.key} handler` },
        text: `What fails in ${named(after)} is no longer caught: it had \`${written(change.before, line, 3)}\`.`,
        remedy: 'Catch it again, or say who does.',
      },
    ),
  ];
}

/** Names of one function that are looked at. */
const namesMax = 2_000;
/** Of a block that is tried. */
const triedLines = 30;

/** What is spread may hold any bound. */
function spreads({ packed }: Unit): number {
  return packed.match(/\.\.\.[A-Za-z_$]/g)?.length ?? 0;
}

/** Names of bounds that a function no longer uses. */
export function boundsLost(change: Change, pair: Pair): Loss[] {
  const { before, after } = pair;
  // In the head of a function it stands as what a parameter is, unless it is given.
  const isKnown = ({ used, packed }: Unit, name: string): boolean =>
    used.has(name) || packed.includes(`=${name}`);
  const gained = [...after.names].some(
    (name) => (boundish.test(name) || /limits$/i.test(name)) && !isKnown(before, name),
  );
  if (gained || before.key === '' || spreads(after) > spreads(before)) return [];
  const users = ({ units }: Version, name: string): number =>
    units.filter((unit) => isKnown(unit, name)).length;
  const lost = [...before.used].slice(0, namesMax).flatMap((name) => {
    if (!boundish.test(name) || /^Abort/.test(name) || isKnown(after, name)) return [];
    const line = lineWith(change, before, name);
    // Another function has it now, that had it not.
    const isMoved = users(change.after, name) >= users(change.before, name);
    return line === undefined || isMoved ? [] : [{ name, line }];
  });
  const [first] = lost;
  if (first === undefined) return [];
  const long = lost.filter(({ name }) => name.length > 3);
  const names = (long.length > 0 ? long : lost).map(({ name }) => `\`${name}\``).join(', ');
  return [
    lossAt(
      change,
      pair,
      { line: first.line },
      {
        ...{ kind: 'bound-lost', severity: 'major', words: `${before.key} bound ${first.name}` },
        text: `${named(before)} no longer looks at ${names}: it had \`${written(change.before, first.line)}\`. What was bounded or ended by it is not any more.`,
        remedy: `Hold it to ${names} again, or say what bounds it now.`,
      },
    ),
  ];
}
