import { hasWords } from './command-words.js';
import type { Arguments } from './command-pattern.js';
import { madeByMktemp } from './decode.js';
import { databaseEffects } from './database-effects.js';
import { word, type Examination, type Spot } from './examination.js';
import { httpEffects } from './http-effects.js';
import { searchedCache } from './search-words.js';
import { secretEffects } from './secret-effects.js';
import { startedHere } from './shell-scope.js';
import type { RedirectSeen, Word } from './shell.js';
import type { Rule } from './policy.js';
import { attentionLimits, type Signal } from '../shapes.js';
import { isOfBuild, writeEffects, writesTo } from './write-effects.js';

/** What one command does that starts no other: by the tables of the policy, and by what its arguments name. */

export async function plainEffects(
  whole: readonly Word[],
  exam: Examination,
  spot: Spot,
): Promise<void> {
  const words = sizeEffects(whole, exam, spot);
  const given = exam.book.read(words);
  const before = exam.drafts.length + exam.dropped;
  await tableEffects(words, given, exam, spot);
  await databaseEffects(words, given, exam, spot);
  secretEffects(words, given, exam, spot);
  // Before what is loaded is remembered as written: it may be written over something.
  await writeEffects(words, given, exam, spot);
  httpEffects(words, given, exam, spot);
  outsideEffects(words, given, exam, spot);
  const isFound = exam.drafts.length + exam.dropped > before;
  if (!isFound) unknownEffects(words, given, exam, spot);
}

/** Named by the policy. */
export async function tableEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): Promise<boolean> {
  let isFound = false;
  for (const { rule, words: named } of exam.book.matches(given)) {
    if (await isNoLoss(rule, named, { words, given }, exam, spot)) continue;
    isFound = true;
    const { signal, severity, irreversible } = rule;
    const isInside = rule.local === true && namesInside(given, named, exam, spot);
    exam.found({
      ...{ signal, rule: rule.rule, words, spot, severity, irreversible },
      local: isInside,
    });
    for (const other of alsoOf(rule, spot))
      exam.found({ signal: other, rule: rule.rule, words, spot, irreversible: false });
  }
  return isFound;
}

/** What its rule names would be lost can be had again, or is its own. */
async function isNoLoss(
  rule: Rule,
  from: number,
  { words, given }: { words: readonly Word[]; given: Arguments },
  exam: Examination,
  spot: Spot,
): Promise<boolean> {
  if (rule.local === true && namesMade(given, from, exam, spot)) return true;
  const named = { given, from, exam, spot };
  switch (rule.loses) {
    case 'files':
      return (await isRebuildable(named)) || (await isKept(named));
    case 'contents':
      return (await areNew(named)) || (await isKept(named));
    case 'found':
      return searchesCaches(words, given, exam, spot);
    case 'processes':
      return endsOwn(given, spot);
    case undefined:
      return false;
  }
}

/** Whether there are paths, all of them below the root, that pass. */
async function everyPath(
  { given, from, exam, spot }: Named,
  passes: (path: string, word: Word) => Promise<boolean>,
): Promise<boolean> {
  const paths = given.operands.slice(from);
  if (paths.length === 0 || spot.remote) return false;
  for (const each of paths) {
    const place = exam.place(each.text, spot);
    if (!each.isStatic || place.kind !== 'inside') return false;
    if (!(await passes(place.path, each))) return false;
  }
  return true;
}

interface Named {
  given: Arguments;
  /** Operand with which the paths begin. */
  from: number;
  exam: Examination;
  spot: Spot;
}

/** Files where builds put what they make, and nothing is there yet. */
async function areNew(named: Named): Promise<boolean> {
  const { inspector } = named.exam;
  if (inspector === undefined) return false;
  return everyPath(
    named,
    async (path) =>
      isOfBuild(path) &&
      (await inspector.read(path)) === undefined &&
      (await inspector.exists?.(path)) !== true,
  );
}

/** `find . -name '*.pyc' -delete`. */
function searchesCaches(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): boolean {
  if (spot.remote || searchedCache(words, exam) === undefined) return false;
  return namesInside(given, 1, exam, spot);
}

/** What cannot be taken back on another machine changes what is not one's own. */
function alsoOf(rule: Rule, spot: Spot): readonly Signal[] {
  const also = rule.also ?? [];
  const isElsewhere = spot.remote && rule.signal === 'Irreversibility';
  return isElsewhere && !also.includes('ExternalMutation') ? [...also, 'ExternalMutation'] : also;
}

function namesInside(given: Arguments, from: number, exam: Examination, spot: Spot): boolean {
  return given.operands.slice(from).every(({ text }) => {
    const place = exam.place(text, spot);
    return place.kind === 'inside';
  });
}

/** Nothing but what the same text has made with `mktemp`. */
function namesMade(given: Arguments, from: number, exam: Examination, spot: Spot): boolean {
  const paths = given.operands.slice(from);
  if (paths.length === 0 || spot.remote) return false;
  return paths.every(({ text, isStatic }) => {
    const place = exam.place(text, spot);
    if (!isStatic || place.kind !== 'outside') return false;
    return place.path === madeByMktemp || place.path.startsWith(`${madeByMktemp}/`);
  });
}

/** Nothing but what the same text has started: `kill $!`, `kill %1`. */
function endsOwn(given: Arguments, spot: Spot): boolean {
  const [, ...processes] = given.operands;
  if (processes.length === 0 || spot.remote) return false;
  return processes.every(
    ({ text, isStatic }) => isStatic && (text === startedHere || /^%(?:\d+|[%+-])$/.test(text)),
  );
}

/**
 * Files, no folders, that are under version control as they lie there: `git checkout` brings them back. Of a folder it cannot be
 * told what else is in it.
 */
async function isKept(named: Named): Promise<boolean> {
  const { exam } = named;
  const { inspector } = exam;
  if (inspector === undefined) return false;
  return everyPath(
    named,
    async (path, { text, isGlob }) =>
      isGlob !== true &&
      !/[*?[]/.test(text) &&
      (await inspector.read(path)) !== undefined &&
      (await exam.isTracked(path)),
  );
}

/**
 * Only what a build makes again, below the root, and not under version control: by its name, or because it is ignored and the
 * file of the same build says how it is made.
 */
async function isRebuildable(named: Named): Promise<boolean> {
  const { exam, spot } = named;
  return everyPath(named, async (path) => {
    if (path === '') return false;
    const isMade = exam.paths.isRebuildable(path) || (await isBuilt(path, exam, spot));
    // Whoever has the files judges it again.
    return isMade && (exam.inspector === undefined || !(await exam.isTracked(path)));
  });
}

/** A folder of these names holds more than what a build puts into it. */
const namesData =
  /^(?:data\w*|uploads?|storage|backups?|db|database|media|var|archives?|logs?|src|lib)$/;

/** Made by another part of the file that removes it, and listed as nothing to keep. */
async function isBuilt(path: string, exam: Examination, { makes }: Spot): Promise<boolean> {
  const whole = path.replace(/\/\*$/, '');
  if (makes?.has(whole) !== true || namesData.test(whole)) return false;
  const ignored = (await exam.readInside('.gitignore')) ?? '';
  const lines = ignored.split('\n').map((line) => line.trim());
  if (lines.some((line) => line.startsWith('!'))) return false;
  return lines.some((line) => line.replace(/^\/|\/\*{0,2}$/g, '') === whole);
}

/** In a folder outside of the root whatever does more than read is out of scope (cross-repo operations). */
function outsideEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): void {
  if (spot.remote || hasWords(given, exam.policy.paths.reads)) return;
  const folders = [...(given.flags.get('-C') ?? []), ...(given.flags.get('--git-dir') ?? [])];
  const isGit = given.operands[0]?.text === 'git';
  const places = [
    exam.place('.', spot),
    ...(isGit ? folders.map((folder) => exam.place(folder, spot)) : []),
  ];
  const outside = places.find(({ kind }) => kind === 'outside');
  if (outside?.kind !== 'outside' || exam.paths.isScratch(outside.path)) return;
  const says = 'runs in a folder outside of the root';
  exam.found({ signal: 'ScopeEscalation', rule: 'outside-root', words, spot, says });
}

/** The words, those cut that are too long to be looked at. */
function sizeEffects(words: readonly Word[], exam: Examination, spot: Spot): readonly Word[] {
  const { argument_chars: limit } = exam.policy.sizes;
  const long = words.find(({ text }) => text.length > limit);
  if (long === undefined) return words;
  const shown = word(`${long.text.slice(0, 100)}…`);
  const says = `an argument of more than ${limit} characters`;
  exam.opaque('long-argument', [words[0] ?? shown, shown], spot, says);
  return words.map((each) =>
    each.text.length > limit ? { text: each.text.slice(0, limit), isStatic: false } : each,
  );
}

/** Fail closed: neither in a rule nor known to be harmless. */
function unknownEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): void {
  if (exam.book.isKnown(given) || exam.book.isHarmless(given)) return;
  // Of a program that is known only its exception was not met: `rm --help`.
  if (words.length <= 1 || words.every(({ text }, at) => at === 0 || isAboutItself(text)))
    if (exam.book.wrappersOf(given.operands[0]?.text ?? '').length > 0 || words.length > 1) return;
  const [, second] = given.operands;
  if (second !== undefined && !second.isStatic)
    return exam.opaque('hidden-argument', words, spot, 'what it does is told only when it runs');
  exam.opaque('unknown-program', words, spot, 'a program that the policy does not know');
}

function isAboutItself(text: string): boolean {
  return /^(?:--version|--help|-h|-V|-v|--usage|-\?)$/.test(text);
}

/** What a shell opens for a command. */
export async function redirectEffects(
  redirects: readonly RedirectSeen[],
  words: readonly Word[],
  exam: Examination,
  spot: Spot,
): Promise<void> {
  for (const { operator, target } of redirects) {
    const shown = [...words, word(operator), target];
    if (/^\/dev\/(?:tcp|udp)\//.test(target.text)) {
      exam.found({
        ...{
          signal: 'ExternalMutation',
          severity: 'Gate',
          rule: 'opens-socket',
          words: shown,
          spot,
        },
      });
      continue;
    }
    if (operator.startsWith('<')) {
      if (operator !== '<&' && exam.paths.mayBeSecret(target.text))
        exam.found({ signal: 'SecurityBoundary', rule: 'secret-path', words: shown, spot });
      continue;
    }
    if (operator === '>&' && /^(?:\d+|-)$/.test(target.text)) continue;
    const isAppending = operator.includes('>>');
    const content = await spot.output?.();
    await writesTo(target, { words: shown, isAppending, isRedirect: true, content }, exam, spot);
  }
}

/** Variables that change what is loaded or started. Their values that are commands are handed to `judge`. */
export async function variableEffects(
  variables: Iterable<readonly [string, Word]>,
  judge: (command: string, name: string) => Promise<void>,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  const { commands, loaders } = exam.policy.variables;
  for (const [name, value] of variables) {
    if (exam.variables.size < attentionLimits.commands && value.isStatic)
      exam.variables.set(name, value.text);
    const shown = [word(`${name}=${value.text}`)];
    if (value.isStatic && exam.book.weakens.get(name)?.test(value.text) === true)
      exam.found({
        ...{ signal: 'SecurityBoundary', rule: 'weakens-checks', words: shown, spot },
        says: 'others are believed without proof',
      });
    const option = exam.book.options.find(([each]) => each === name);
    const isLoading = option?.[1].test(value.text) === true;
    if (loaders.includes(name) || isLoading || /^GIT_CONFIG_(?:KEY|VALUE)/.test(name))
      exam.found({
        ...{ signal: 'SecurityBoundary', rule: 'loader-variable', words: shown, spot },
        says: 'changes what programs load or start',
      });
    if (/\$\(|`/.test(value.text) && value.isStatic)
      exam.found({
        ...{ signal: 'SecurityBoundary', rule: 'substitution-in-config', words: shown, spot },
        says: 'text that a shell may run later',
      });
    if (commands.includes(name) && value.text.trim() !== '') await judge(value.text, name);
  }
}
