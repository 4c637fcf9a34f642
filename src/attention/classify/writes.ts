import { programName, word, type Reading, type Word } from '../policy/command-pattern.js';
import type { Harmless } from '../policy/rulebook.js';
import type { Inspector } from '../shapes.js';
import type { Examination, Site } from './examination.js';
import { hasExpressionOption, isSecretAt } from './secrets.js';
import type { Input, Redirect } from './shell.js';

/** Where is written: outside of the root or of the scope (ScopeEscalation), over what is nowhere else, into what runs later. */

interface Writing {
  words: readonly Word[];
  /** What was there is gone. */
  isOverwriting: boolean;
  /** What is there afterwards: a text of the action, nothing, or what is known only when it runs. */
  leaves: 'text' | 'nothing' | 'unknown';
  /** What may be written, as far as it stands in the action. */
  texts: readonly string[];
  /** A text that the command is fed: what that does later is not judged. */
  isFed: boolean;
}

interface Target {
  word: Word;
  /** Nothing can be there yet. */
  isNew?: boolean;
}

/** What is copied from there leaves nothing. */
const emptySources = new Set(['/dev/null', '/dev/zero', '/dev/full']);
const device = /^\/dev\/(?:sd|hd|vd|xvd|nvme|disk|mapper|mem|mmcblk)/;
/** Names of a folder that are asked about, when what is copied into it is not known. */
const listedMax = 1;

/** What a command of the table of harmless ones writes. */
export async function writeEffects(
  words: readonly Word[],
  harmless: Harmless,
  exam: Examination,
  site: Site,
): Promise<void> {
  const { row, reading } = harmless;
  const { writes } = row;
  if (writes === undefined) return;
  const has = (listed: readonly string[] = []): boolean =>
    listed.some((each) => reading.options.has(each));
  if ((writes.when !== undefined && !has(writes.when)) || has(writes.unless)) return;
  const isOverwriting = writes.overwrites === true && !has(writes.adds);
  const leaves = has(writes.empties) ? 'nothing' : await leftBy(harmless, exam, site);
  const isFed = takesInput(harmless) && isFedBy(site.input);
  const writing: Writing = { words, isOverwriting, leaves, texts: textsOf(words, site), isFed };
  for (const { word, isNew } of await targetsOf(harmless, exam, site)) {
    const isOver = isOverwriting && isNew !== true;
    await writesTo(word, { ...writing, isOverwriting: isOver }, exam, site);
  }
  // What is moved away is no loss: it is elsewhere.
  const moved = writes.operands === 'moved' ? reading.operands : [];
  for (const each of moved) await writesTo(each, { ...writing, isOverwriting: false }, exam, site);
  if (writes.operands === 'moved' || writes.operands === 'last')
    await leavesRoot(words, harmless, exam, site);
}

/** `tee` writes what it is fed, `sed -i` what its expression leaves, the others what they copy. */
async function leftBy(
  { row, reading: { operands, options } }: Harmless,
  exam: Examination,
  site: Site,
): Promise<Writing['leaves']> {
  if (operands.some(({ text }) => emptySources.has(text))) return 'nothing';
  const { input } = site;
  if (row.writes?.operands === 'all' && row.writes.overwrites === true)
    return input.kind === 'none' || isEmptyFile(input) ? 'nothing' : 'text';
  if (row.operands === 'expression') {
    const named = ['-e', '--expression'].flatMap((each) => options.get(each) ?? []);
    const sources = named.length > 0 ? named : operands.slice(0, 1);
    return sources.every(({ text }) => /^[sy]\W/.test(text)) ? 'text' : 'unknown';
  }
  for (const { text } of row.writes?.operands === 'none' ? [] : operands.slice(0, -1)) {
    const place = exam.place(text, site);
    if (place.kind !== 'inside' || exam.inspector?.exists === undefined) continue;
    if ((await exam.inspector.read(place.path)) === '') return 'nothing';
  }
  return 'text';
}

function isEmptyFile(input: Input): boolean {
  return input.kind === 'unread' && emptySources.has(input.file?.text ?? '');
}

/** `tee`, `sort -o FILE`, `cp /dev/stdin FILE`: what it writes is what it is fed. */
function takesInput({ row: { writes }, reading: { operands } }: Harmless): boolean {
  const isInput = ({ text }: Word): boolean =>
    /^(?:-|\/dev\/stdin|\/dev\/fd\/0|\/proc\/\w+\/fd\/0)$/.test(text);
  if (writes?.operands === 'all') return writes.overwrites === true;
  return operands.some(isInput) || (writes?.operands === 'none' && operands.length === 0);
}

/** A text, or what another command prints; a file is copied. */
function isFedBy(input: Input): boolean {
  if (input.kind === 'text') return input.text.trim() !== '';
  return input.kind === 'unread' && input.file === undefined;
}

async function targetsOf(harmless: Harmless, exam: Examination, site: Site): Promise<Target[]> {
  const { row, reading } = harmless;
  const { operands, options } = reading;
  const named = (row.writes?.options ?? []).flatMap((each) => options.get(each) ?? []);
  const first = row.operands === 'expression' && hasExpressionOption(options) ? 0 : 1;
  const plain = (words: readonly Word[]): Target[] => words.map((word) => ({ word }));
  switch (row.writes?.operands) {
    case 'all':
      return plain([...named, ...operands]);
    case 'tree':
      return plain(operands.length > 0 ? operands : [word('.')]);
    case 'rest':
      return plain([...named, ...operands.slice(first)]);
    case 'second':
      return plain([...named, ...operands.slice(1, 2)]);
    case 'last':
    case 'moved':
      return await copiesTo(harmless, named, exam, site);
    case 'none':
    case undefined:
      return plain(named);
  }
}

/** Sources, and where they go: into the folder of an option, to the last operand, or, of a link, to here. */
function sourcesOf({ operands }: Reading, folders: readonly Word[]): [Word[], Word] {
  const folder = folders.at(-1);
  if (folder !== undefined) return [operands, folder];
  if (operands.length < 2) return [operands, word('.')];
  return [operands.slice(0, -1), operands.at(-1) ?? word('.')];
}

/** `cp src/a.ts out` writes `out/a.ts` where `out` is a folder; where that is not known both are judged. */
async function copiesTo(
  { reading }: Harmless,
  folders: readonly Word[],
  exam: Examination,
  site: Site,
): Promise<Target[]> {
  const [sources, last] = sourcesOf(reading, folders);
  const place = await exam.realPlace(last.text, site);
  const seen = place.kind === 'inside' ? await exam.look(place.path) : undefined;
  const isExact = reading.options.has('-T');
  const isFolder = folders.length > 0 || sources.length > 1 || /(?:^|\/)\.{0,2}$/.test(last.text);
  const isInto = !isExact && (isFolder || seen?.kind === 'folder');
  const isEmpty =
    seen?.kind === 'nothing' ||
    (seen?.kind === 'folder' &&
      place.kind === 'inside' &&
      (await exam.inspector?.list?.(place.path, false, listedMax))?.length === 0);
  const within = sources.map((source): Target => {
    const name = source.text.replace(/\/+$/, '').split('/').at(-1) ?? '';
    const isKnown = source.isStatic && source.isGlob !== true && !/^\.{0,2}$/.test(name);
    const text = `${last.text.replace(/\/+$/, '')}/${isKnown ? name : '*'}`;
    const isNew = !isKnown && isEmpty;
    return { word: { ...last, text, ...(!isKnown && !isNew && { isGlob: true }) }, isNew };
  });
  if (isInto) return within;
  return seen === undefined && !isExact ? [{ word: last }, ...within] : [{ word: last }];
}

/** What is moved out of the root is gone from it; what is written through a link that leads out of it lies outside. */
async function leavesRoot(
  words: readonly Word[],
  { row, reading }: Harmless,
  exam: Examination,
  site: Site,
): Promise<void> {
  const { writes } = row;
  const named = (writes?.options ?? []).flatMap((each) => reading.options.get(each) ?? []);
  const [sources, target] = sourcesOf(reading, named);
  const isLink = writes?.links === true;
  const isMoved = writes?.operands === 'moved';
  const isOutside = async (text: string): Promise<boolean> =>
    (await exam.realPlace(text, site)).kind !== 'inside';
  const found = (rule: string, says: string): void =>
    exam.found({ signal: 'ScopeEscalation', rule, words, site, says, irreversible: true });
  const isToOutside = await isOutside(target.text);
  for (const { text } of sources) {
    const isIn = exam.place(text, site).kind === 'inside';
    if (isMoved && isIn && isToOutside) found('moves-out', 'moves files out of the root');
    // A symbolic link leads on from its own folder, which is the target or the one above it.
    const isFromLink = ['-s', '--symbolic'].some((each) => reading.options.has(each));
    const isRelative = ['-r', '--relative'].some((each) => reading.options.has(each));
    const above = target.text.replace(/[^/]*\/*$/, '') || './';
    const froms = isLink && isFromLink && !isRelative ? [above, `${target.text}/`] : [''];
    for (const from of froms) {
      const leads = /^[/~]/.test(text) ? text : `${from}${text}`;
      // A file that is moved or copied from outside is none that leads there.
      if ((isLink || isIn) && (await isOutside(leads)))
        found('links-out', 'links to what is outside of the root');
      const place = exam.place(leads, site);
      if (!isLink || place.kind !== 'inside') continue;
      const { paths } = exam;
      const names = [place.path, `${place.path}/x`, `${place.path}/hooks/x`];
      if (paths.isSecret(place.path) || names.some((name) => paths.isStartup(name)))
        exam.found({
          ...{ signal: 'SecurityBoundary', rule: 'links-startup', words, site },
          says: 'gives another name to what runs by itself, or holds credentials',
        });
    }
  }
}

/** What a shell opens for a command. */
export async function redirectEffects(
  redirects: readonly Redirect[],
  words: readonly Word[],
  exam: Examination,
  site: Site,
): Promise<void> {
  for (const { operator, target } of redirects) {
    const shown = [...words, { text: operator, isStatic: true }, target];
    if (/^\/dev\/(?:tcp|udp)\//.test(target.text)) {
      const says = 'sends data to another machine';
      exam.found({
        ...{ signal: 'ExternalMutation', severity: 'Gate', rule: 'opens-socket', says },
        ...{ words: shown, site },
      });
      continue;
    }
    if (operator === '<' || operator === '<&') {
      if (operator === '<' && (!target.isStatic || isSecretAt(target.text, exam, site)))
        exam.found({
          ...{ signal: 'SecurityBoundary', rule: 'secret-path', words: shown, site },
          says: 'opens a file that holds, or may hold, credentials',
        });
      continue;
    }
    if (operator === '>&' && /^(?:\d+|-)$/.test(target.text)) continue;
    const isAppending = operator.includes('>>');
    const leaves = printedBy(words, site);
    const texts = textsOf(words, site);
    const { input } = site;
    // The output of a program is written down as ever; a text that stands in the action is what it was fed.
    const isText = input.kind === 'text' || (input.kind === 'unread' && input.isSaid === true);
    const isFed = isText && isFedBy(input);
    const writing = { words: shown, isOverwriting: !isAppending, leaves, texts, isFed };
    await writesTo(target, writing, exam, site);
  }
}

/** A program may print nothing; a text in the action is printed. */
function printedBy(words: readonly Word[], { input }: Site): Writing['leaves'] {
  const [program, ...rest] = words;
  const isBlank = rest.every(({ text }) => /^(?:\s*|-\w+)$/.test(text) || emptySources.has(text));
  switch (programName(program?.text ?? '')) {
    case 'echo':
    case 'printf':
      return isBlank ? 'nothing' : 'text';
    case 'cat':
      if (input.kind === 'text' && isBlank) return input.text.trim() === '' ? 'nothing' : 'text';
      return isBlank && (input.kind === 'none' || isEmptyFile(input)) ? 'nothing' : 'unknown';
    case '':
    case ':':
    case 'true':
      return 'nothing';
    default:
      return 'unknown';
  }
}

/** Words and input of the command: what it writes comes from there. */
function textsOf(words: readonly Word[], { input }: Site): string[] {
  const own = words.map(({ text }) => text);
  return input.kind === 'text' ? [...own, input.text] : own;
}

async function writesTo(
  target: Word,
  writing: Writing,
  exam: Examination,
  site: Site,
): Promise<void> {
  const { words, isOverwriting, isFed } = writing;
  const place = await exam.realPlace(target.text, site);
  if (device.test(target.text)) {
    const says = 'overwrites a device';
    exam.found({ signal: 'Irreversibility', rule: 'overwrites-device', words, site, says });
  }
  // A pattern of names may be any of them.
  const isHidden = !target.isStatic || (target.isGlob === true && isOverwriting);
  if (isHidden || place.kind === 'unknown')
    return exam.opaque('hidden-target', words, site, 'where it writes is known only when it runs');
  if (exam.paths.isScratch(place.path)) return;
  if (isFed)
    exam.opaque('fed-text', words, site, 'writes a text that it is fed, which is not judged');
  if (place.kind === 'inside') exam.written.add(place.path);
  riskyNames(target.text, place.path, writing, exam, site);
  if (place.kind === 'outside') {
    const says = 'writes outside of the root';
    exam.found({ signal: 'ScopeEscalation', rule: 'outside-root', words, site, says });
    if (isOverwriting) {
      const lost = 'overwrites a file outside of the root';
      const rule = 'overwrites-outside';
      exam.found({ signal: 'Irreversibility', rule, words, site, says: lost });
    }
    return;
  }
  if (!isWithin(place.path, exam.action.scope)) {
    const says = 'writes outside of the scope of the task';
    exam.found({ signal: 'ScopeEscalation', rule: 'outside-scope', words, site, says });
  }
  if (isOverwriting) await overwrites(place.path, writing, exam, site);
}

function riskyNames(
  given: string,
  path: string,
  { words, texts }: Writing,
  exam: Examination,
  site: Site,
): void {
  const found = (rule: string, says: string): void =>
    exam.found({ signal: 'SecurityBoundary', rule, words, site, says });
  // `.husky` is the folder of such files.
  if ([path, given, `${path}/x`].some((each) => exam.paths.isStartup(each)))
    found('startup-file', 'writes what decides who may do what, or runs by itself later');
  if (exam.paths.isSecret(given)) found('secret-path', 'writes a file that holds credentials');
  if (exam.paths.isConfig(given) && texts.some((text) => /\$\([^(]|`[^`]+`/.test(text)))
    found('substitution-in-config', 'puts what a shell may run later into a configuration');
}

/** An edit of what is under version control can be taken back (skip conditions); of anything else it cannot. */
async function overwrites(
  path: string,
  { words, leaves }: Writing,
  exam: Examination,
  site: Site,
): Promise<void> {
  // A folder that is copied onto the root may bring anything, hooks too.
  if (path === '')
    return exam.opaque('hidden-target', words, site, 'what it writes into the root is not known');
  if (exam.isLookedAtLater) return;
  const isEmptying = leaves === 'nothing';
  const isFolder = (await exam.look(path))?.kind === 'folder';
  const isThere = isFolder || (await isSomething(path, exam.inspector));
  const isData = exam.paths.isData(path);
  // Where it is not known whether it exists, what may be data is asked about.
  if (isThere === false || (isThere === undefined && !isEmptying && !isData)) return;
  if (isThere === undefined && isOfBuild(path)) return;
  // What is in a folder may be anything.
  if (!isFolder && (await exam.isTracked(path))) return;
  const mayBeEmpty = leaves === 'unknown' && !isOfBuild(path);
  const isGate = isEmptying || mayBeEmpty || isData || isFolder;
  exam.found({
    ...{ signal: 'Irreversibility', severity: isGate ? 'Gate' : 'Advisory', words, site },
    ...{ rule: isEmptying ? 'empties-file' : 'overwrites-untracked', local: true },
    says: 'overwrites a file that is not under version control',
  });
}

/** Where builds put what they make, and other files that are not kept. */
function isOfBuild(path: string): boolean {
  const folders =
    /^(?:.*\/)?(?:build|dist|out|target|tmp|temp|coverage|node_modules|\.cache|__pycache__)\//;
  return folders.test(path) || /\.(?:log|tmp|out|pid|lock)$/.test(path);
}

/** Undefined: not known; a file without anything in it is none. */
async function isSomething(path: string, inspector?: Inspector): Promise<boolean | undefined> {
  const text = await inspector?.read(path);
  return text === undefined ? await inspector?.exists?.(path) : text !== '';
}

function isWithin(path: string, scope: readonly string[]): boolean {
  if (scope.length === 0) return true;
  return scope.some((each) => {
    const plain = each.replace(/^\.\//, '').replace(/\/+$/, '');
    return plain === '' || plain === '.' || path === plain || path.startsWith(`${plain}/`);
  });
}
