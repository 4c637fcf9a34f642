import type { Word } from '../policy/command-pattern.js';
import type { Harmless } from '../policy/rulebook.js';
import type { Inspector } from '../shapes.js';
import type { Examination, Site } from './examination.js';
import { hasExpressionOption } from './secrets.js';
import type { Redirect } from './shell.js';

/** Where is written: outside of the root or of the scope (ScopeEscalation), over what is nowhere else, into what runs later. */

interface Writing {
  words: readonly Word[];
  /** What was there is gone. */
  isOverwriting: boolean;
  /** Nothing is written: the file is emptied. */
  isEmptying?: boolean;
  /** What may be written, as far as it stands in the action. */
  texts: readonly string[];
}

/** What is copied from there leaves nothing. */
const emptySources = new Set(['/dev/null', '/dev/zero', '/dev/full']);
const device = /^\/dev\/(?:sd|hd|vd|xvd|nvme|disk|mapper|mem|mmcblk)/;

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
  if (writes.when !== undefined && !has(writes.when)) return;
  const writing: Writing = {
    words,
    isOverwriting: writes.overwrites === true && !has(writes.adds),
    isEmptying: has(writes.empties) || reading.operands.some(({ text }) => emptySources.has(text)),
    texts: textsOf(words, site),
  };
  for (const target of targetsOf(harmless)) await writesTo(target, writing, exam, site);
  // What is moved away is no loss: it is elsewhere.
  const moved = writes.operands === 'moved' ? reading.operands : [];
  for (const each of moved) await writesTo(each, { ...writing, isOverwriting: false }, exam, site);
  leavesRoot(words, reading.operands, exam, site);
}

function targetsOf({ row, reading }: Harmless): Word[] {
  const { writes } = row;
  const { operands, options } = reading;
  const named = (writes?.options ?? []).flatMap((each) => options.get(each) ?? []);
  const first = row.operands === 'expression' && hasExpressionOption(options) ? 0 : 1;
  switch (writes?.operands) {
    case 'all':
      return [...named, ...operands];
    case 'rest':
      return [...named, ...operands.slice(first)];
    case 'second':
      return [...named, ...operands.slice(1, 2)];
    case 'last':
    case 'moved': {
      const last = operands.length > 1 && named.length === 0 ? operands.at(-1) : undefined;
      return last === undefined ? named : [...named, intoFolder(last, operands)];
    }
    case 'none':
    case undefined:
      return named;
  }
}

/** `cp src/a.ts out/` writes `out/a.ts`. */
function intoFolder(last: Word, operands: readonly Word[]): Word {
  const [source, , more] = operands;
  const name = source?.text.replace(/\/+$/, '').split('/').at(-1) ?? '';
  if (!last.text.endsWith('/') || more !== undefined || name === '') return last;
  return { ...last, text: `${last.text}${name}` };
}

/** What is moved out of the root is gone from it; what is written through a link that leads out of it lies outside. */
function leavesRoot(
  words: readonly Word[],
  operands: readonly Word[],
  exam: Examination,
  site: Site,
): void {
  const program = words[0]?.text ?? '';
  const [source] = operands;
  const target = operands.at(-1);
  if (source === undefined || target === undefined) return;
  const from = exam.place(source.text, site);
  const to = exam.place(target.text, site);
  const isMovedOut = /(?:^|\/)mv$/.test(program) && from.kind === 'inside' && to.kind === 'outside';
  const isLinkOut = /(?:^|\/)ln$/.test(program) && from.kind === 'outside';
  if (!isMovedOut && !isLinkOut) return;
  exam.found({
    ...{ signal: 'ScopeEscalation', rule: isMovedOut ? 'moves-out' : 'links-out', words, site },
    ...{
      says: isMovedOut ? 'moves files out of the root' : 'links to what is outside of the root',
    },
    irreversible: true,
  });
}

/** What a shell opens for a command. */
export async function redirectEffects(
  redirects: readonly Redirect[],
  words: readonly Word[],
  exam: Examination,
  site: Site,
): Promise<void> {
  const isSilent =
    words.length === 0 || (words.length === 1 && /^(?::|true)$/.test(words[0]?.text ?? ''));
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
      if (operator === '<' && (!target.isStatic || exam.paths.mayBeSecret(target.text)))
        exam.found({
          ...{ signal: 'SecurityBoundary', rule: 'secret-path', words: shown, site },
          says: 'opens a file that holds, or may hold, credentials',
        });
      continue;
    }
    if (operator === '>&' && /^(?:\d+|-)$/.test(target.text)) continue;
    const isAppending = operator.includes('>>');
    const isEmptying = !isAppending && isSilent && site.input.kind === 'none';
    const texts = textsOf(words, site);
    const writing = { words: shown, isOverwriting: !isAppending, isEmptying, texts };
    await writesTo(target, writing, exam, site);
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
  const { words, isOverwriting } = writing;
  const place = exam.place(target.text, site);
  if (device.test(target.text)) {
    const says = 'overwrites a device';
    exam.found({ signal: 'Irreversibility', rule: 'overwrites-device', words, site, says });
  }
  // A pattern of names may be any of them.
  const isHidden = !target.isStatic || (target.isGlob === true && isOverwriting);
  if (isHidden || place.kind === 'unknown')
    return exam.opaque('hidden-target', words, site, 'where it writes is known only when it runs');
  if (exam.paths.isScratch(place.path)) return;
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
  if (exam.paths.isStartup(path) || exam.paths.isStartup(given))
    found('startup-file', 'writes what decides who may do what, or runs by itself later');
  if (exam.paths.isSecret(given)) found('secret-path', 'writes a file that holds credentials');
  if (exam.paths.isConfig(given) && texts.some((text) => /\$\([^(]|`[^`]+`/.test(text)))
    found('substitution-in-config', 'puts what a shell may run later into a configuration');
}

/** An edit of what is under version control can be taken back (skip conditions); of anything else it cannot. */
async function overwrites(
  path: string,
  { words, isEmptying = false }: Writing,
  exam: Examination,
  site: Site,
): Promise<void> {
  if (exam.inspector === undefined || path === '') return;
  const isThere = await isSomething(path, exam.inspector);
  const isData = exam.paths.isData(path);
  // Where it is not known whether it exists, what may be data is asked about.
  if (isThere === false || (isThere === undefined && !isEmptying && !isData)) return;
  if (isThere === undefined && isOfBuild(path)) return;
  if (await exam.isTracked(path)) return;
  const isGate = isEmptying || isData;
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
async function isSomething(path: string, inspector: Inspector): Promise<boolean | undefined> {
  const text = await inspector.read(path);
  return text === undefined ? await inspector.exists?.(path) : text !== '';
}

function isWithin(path: string, scope: readonly string[]): boolean {
  if (scope.length === 0) return true;
  return scope.some((each) => {
    const plain = each.replace(/^\.\//, '').replace(/\/+$/, '');
    return plain === '' || plain === '.' || path === plain || path.startsWith(`${plain}/`);
  });
}
