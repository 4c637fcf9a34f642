import type { Arguments } from './command-pattern.js';
import { inputOf, word, type Examination, type Spot } from './examination.js';
import type { Policy } from './policy.js';
import type { Inspector } from '../shapes.js';
import type { Word } from './shell.js';

/** Where is written: outside of the root or of the scope (ScopeEscalation), over what is nowhere else, into what runs later. */

interface Writing {
  words: readonly Word[];
  isAppending: boolean;
  /** A shell empties the file first. */
  isRedirect: boolean;
  /** What is in it stays. */
  isKept?: boolean;
  /** Undefined: not known. */
  content: string | undefined;
}

/** What is copied from there leaves nothing. */
const emptySources = new Set(
  ['null', 'zero', 'urandom', 'random', 'full'].flatMap((each) => [
    `/dev/${each}`,
    `if=/dev/${each}`,
  ]),
);

type Writes = Policy['paths']['writes'][number];

export async function writeEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  for (const writes of exam.book.writesOf(given)) {
    const isAdding = ['-n', '-a', '--append'].some((flag) => given.flags.has(flag));
    const isAppending = writes.overwrites !== true || isAdding;
    for (const target of targetsOf(writes, given)) {
      const isKept = writes.keeps === true;
      const content = isKept ? undefined : await contentOf(given, exam, spot);
      const writing = { words, isAppending, isRedirect: false, isKept, content };
      await writesTo(target, writing, exam, spot);
    }
  }
  movesOut(words, given, exam, spot);
  await rememberCopies(given, exam, spot);
}

/** What is moved out of the root is gone from it. */
function movesOut(words: readonly Word[], given: Arguments, exam: Examination, spot: Spot): void {
  const [program, ...paths] = given.operands;
  const to = paths.at(-1);
  if (program?.text !== 'mv' || to === undefined || spot.remote) return;
  const [source, target] = [exam.place(paths[0]?.text ?? '', spot), exam.place(to.text, spot)];
  if (source.kind !== 'inside' || target.kind !== 'outside') return;
  const says = 'moves files out of the root';
  exam.found({
    signal: 'ScopeEscalation',
    rule: 'moves-out',
    words,
    spot,
    says,
    irreversible: true,
  });
}

/** `tee` writes what it reads; a copy of nothing is nothing. */
async function contentOf(
  given: Arguments,
  exam: Examination,
  spot: Spot,
): Promise<string | undefined> {
  const named = given.operands.slice(1).map(({ text }) => text);
  if (named.some((each) => emptySources.has(each))) return '';
  if (given.operands[0]?.text !== 'tee' || given.flags.has('-a')) return undefined;
  const input = await inputOf(spot, exam);
  return input.kind === 'text' ? input.text : undefined;
}

function targetsOf(writes: Writes, given: Arguments): Word[] {
  const flags = (writes.flags ?? []).flatMap((flag) => (given.flags.get(flag) ?? []).map(word));
  const operands = given.operands.slice(1);
  const named = flags.filter(({ text }) => text !== '');
  switch (writes.operands) {
    case 'none':
      return named;
    case 'all':
      return [...named, ...operands];
    case 'rest':
      return [...named, ...operands.slice(1)];
    case 'rest1':
      return [...named, ...operands.slice(2)];
    case 'rest2':
      return [...named, ...operands.slice(3)];
    case 'last': {
      const last = operands.length > 1 && named.length === 0 ? operands.at(-1) : undefined;
      return last === undefined || /^[\w.@-]+::?\S|^\w+:\/\//.test(last.text)
        ? named
        : [...named, last];
    }
    case 'dd':
      return operands
        .filter(({ text }) => text.startsWith('of='))
        .map((each) => ({ ...each, text: each.text.slice(3) }));
  }
}

export async function writesTo(
  target: Word,
  writing: Writing,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  const { words, isAppending, isRedirect, content } = writing;
  const place = exam.place(target.text, spot);
  if (/^\/dev\/(?:sd|hd|vd|xvd|nvme|disk|mapper|mem|mmcblk)/.test(target.text))
    exam.found({ signal: 'Irreversibility', rule: 'overwrites-device', words, spot });
  // A name that is not known may be anywhere; nearly always it is a file of the tree, or of /tmp.
  if (!target.isStatic && !/^[~/]|^\.\./.test(target.text)) return;
  if (place.kind === 'unknown') return;
  const isAdded = isAppending && isRedirect;
  const isNowhere = place.path.startsWith('/dev/');
  if (exam.paths.isScratch(place.path) && (isNowhere || !spot.remote))
    return writing.isKept === true ? undefined : remember(place.path, content, isAdded, exam);
  if (spot.remote)
    return exam.found({
      ...{ signal: 'ExternalMutation', rule: 'remote-write', words, spot },
      says: 'writes on another machine',
    });
  riskyNames(target.text, place.path, writing, exam, spot);
  if (place.kind === 'outside') return outside(writing, exam, spot);
  if (!isWithin(place.path, exam.action.scope)) {
    const says = 'writes outside of the scope of the task';
    exam.found({ signal: 'ScopeEscalation', rule: 'outside-scope', words, spot, says });
  }
  if (!isAppending) await overwrites(place.path, writing, exam, spot);
  if (writing.isKept !== true) remember(place.path, content, isAdded, exam);
}

function riskyNames(
  given: string,
  path: string,
  { words, content }: Writing,
  exam: Examination,
  spot: Spot,
): void {
  if (exam.paths.isStartup(path) || exam.paths.isStartup(given))
    exam.found({
      ...{ signal: 'SecurityBoundary', rule: 'startup-file', words, spot },
      says: 'writes what decides who may do what, or runs by itself later',
    });
  if (exam.paths.isSecret(given))
    exam.found({
      ...{ signal: 'SecurityBoundary', rule: 'secret-path', words, spot },
      says: 'writes a file that holds credentials',
    });
  if (exam.paths.isConfig(given) && content !== undefined && /\$\([^(]|`[^`]+`/.test(content))
    exam.found({
      ...{ signal: 'SecurityBoundary', rule: 'substitution-in-config', words, spot },
      says: 'puts what a shell may run later into a configuration',
    });
}

function outside({ words, isAppending, isRedirect }: Writing, exam: Examination, spot: Spot): void {
  const says = 'writes outside of the root';
  exam.found({ signal: 'ScopeEscalation', rule: 'outside-root', words, spot, says });
  if (isRedirect && !isAppending)
    exam.found({ signal: 'Irreversibility', rule: 'overwrites-outside', words, spot });
}

/** An edit of what is under version control can be taken back (skip conditions); of anything else it cannot. */
async function overwrites(
  path: string,
  { words, content }: Writing,
  exam: Examination,
  spot: Spot,
): Promise<void> {
  if (exam.inspector === undefined || exam.written.has(path) || path === '') return;
  const isThere = await isSomething(path, exam.inspector);
  const isData = exam.paths.isData(path);
  const isEmptied = content === '';
  // Where it cannot be told whether it is there: nobody empties what is not.
  if (isThere === false || (isThere === undefined && !(isEmptied && (isData || !isOfBuild(path)))))
    return;
  if (await exam.isTracked(path)) return;
  exam.found({
    ...{
      signal: 'Irreversibility',
      severity: isEmptied || isData ? 'Gate' : 'Advisory',
      rule: isEmptied ? 'empties-file' : 'overwrites-untracked',
      words,
      spot,
    },
    ...{ local: true, says: 'overwrites a file that is not under version control' },
  });
}

/** Where builds put what they make, and what nobody keeps: told by the name alone where nobody can look. */
export function isOfBuild(path: string): boolean {
  const folders =
    /^(?:.*\/)?(?:build|dist|out|target|tmp|temp|coverage|node_modules|\.cache|__pycache__)\//;
  return folders.test(path) || /\.(?:log|tmp|out|pid|lock)$/.test(path);
}

/** Undefined: not known; a file without anything in it is none. */
async function isSomething(path: string, inspector: Inspector): Promise<boolean | undefined> {
  const text = await inspector.read(path);
  return text === undefined ? await inspector.exists?.(path) : text !== '';
}

export function isWithin(path: string, scope: readonly string[]): boolean {
  if (scope.length === 0) return true;
  return scope.some((each) => {
    const plain = each.replace(/^\.\//, '').replace(/\/+$/, '');
    return plain === '' || plain === '.' || path === plain || path.startsWith(`${plain}/`);
  });
}

/** What is run later is what is written now. */
function remember(
  path: string,
  content: string | undefined,
  isAppending: boolean,
  exam: Examination,
): void {
  const before = exam.written.get(path);
  const isBegun = exam.written.has(path);
  if (!isAppending) exam.written.set(path, content);
  else if (!isBegun) exam.written.set(path, undefined);
  else
    exam.written.set(
      path,
      before === undefined || content === undefined ? undefined : before + content,
    );
}

async function rememberCopies(given: Arguments, exam: Examination, spot: Spot): Promise<void> {
  const [program, from, to, more] = given.operands;
  if (program?.text !== 'cp' && program?.text !== 'mv' && program?.text !== 'ln') return;
  if (from === undefined || to === undefined || more !== undefined || !to.isStatic) return;
  const source = program.text === 'ln' ? undefined : exam.place(from.text, spot);
  const target = exam.place(to.text, spot);
  if (target.kind === 'unknown') return;
  const isKnown = source?.kind === 'inside' && exam.inspector !== undefined;
  const text = isKnown ? await exam.inspector.read(source.path) : undefined;
  exam.written.set(target.path, text);
}
