import { z } from 'zod';
import { blobId } from '../source/blob.js';
import { ConfinedReader } from '../source/confined-reader.js';
import { excerptOf, linesOf } from '../source/excerpt.js';
import { runGit } from '../source/git/run-git.js';
import { contentMax, type Verdict } from '../shapes.js';
import { fileBytesMax, realRoot } from '../source/source-tree.js';

/** A line this short says nothing about where it came from. */
const tellingCharsMin = 4;
/** Share of the cited lines that must stand at the place to which the text moved. */
const matchShareMin = 0.3;

/** Untracked files that are read in search of one that was moved. */
const untrackedMax = 1_000;
/** The history of a kernel takes minutes to search; a moved file is not worth that. */
const historyDeadlineMs = 10_000;
/** Names longer than this are generated and not cited. */
const symbolCharsMax = 512;

/** It may hold addresses and names that no reader of the code is meant to see. */
const ofGit = /(?:^|\/)\.git(?:\/|$)/;
const notAnObject = 'it is not an object with file_path and content';
const notLines = 'line_start and line_end are line numbers from 1 on, or both are left out';
const line = z.int(notLines).min(0, notLines).default(0);
const citationSchema = z.object(
  {
    file_path: z.string('file_path is not a text').min(1, 'file_path is empty'),
    line_start: line,
    line_end: line,
    content: z
      .string('content is not a text')
      .max(contentMax, `content has more than ${contentMax} characters`),
    symbol: z
      .string('symbol is not a text')
      .max(symbolCharsMax, `symbol has more than ${symbolCharsMax} characters`)
      .nullish(),
    blob: z
      .string('blob is not a text')
      .regex(/^(?:[0-9a-f]{40})?$/, 'blob is not a git blob id of 40 hexadecimal digits')
      .nullish(),
    // Says whose tree is looked at first, and nothing if it is no name.
    agent: z.string().catch(''),
  },
  notAnObject,
);
type Claim = z.infer<typeof citationSchema>;

/** Lines of a file, as an excerpt of them reads. */
type CitedLines = Pick<Claim, 'line_start' | 'line_end' | 'content'>;
/** `isQuote`: the content is a text that stands in the cited lines, as in a citation without lines. */
export interface Reading {
  isQuote?: boolean;
}

/** `found`: the lines of a citation that quotes a text and names none. */
export type Judged = Verdict & { found?: CitedLines };

/**
 * Is this citation true of the tree at `root`? Decided from files and git objects alone, never outside
 * the root. `false`: there is no such path, or the cited lines of the cited blob are not that text (a text
 * that is too long for an excerpt: as many whole lines as fit, or the beginning of a long first line).
 * `stale`: the path holds another blob by now; `now_at` says where the text, or most of it, is.
 * A citation without lines quotes a text, of lines or within one, which must stand in the file; its lines are found.
 * `malformed`: it is no citation, and the reason says why. Throws REPO_UNREADABLE.
 */
export async function verify(
  citation: unknown,
  root: string,
  { isQuote = false }: Reading = {},
): Promise<Judged> {
  const claim = claimIn(citation);
  if ('status' in claim) return claim;
  if (claim.content.trim() === '') return not('the content is empty');
  if (ofGit.test(claim.file_path)) return not(`${claim.file_path} is a file of git, and no code`);

  const real = await realRoot(root);
  if (claim.line_start > 0 && !isQuote) return judge(claim, real);
  const found = await quotedLines(claim, real);
  if (typeof found === 'string') return not(found);
  return { ...(await judge({ ...claim, ...found }, real)), found };
}

/** What a citation says, alone; else the verdict that it is none. */
export function claimIn(citation: unknown): Claim | Verdict {
  const parsed = citationSchema.safeParse(citation);
  if (!parsed.success) return malformed(parsed.error.issues[0]?.message ?? notAnObject);
  const { line_start, line_end } = parsed.data;
  if (line_end < line_start) return malformed('line_end comes before line_start');
  if (line_start === 0 && line_end > 0) return malformed(notLines);
  return parsed.data;
}

/** The lines in which a quoted text stands; else why not. */
async function quotedLines(claim: Claim, real: string): Promise<CitedLines | string> {
  const { blob, file_path } = claim;
  const read = await new ConfinedReader(real, fileBytesMax).read(file_path);
  const texts = [
    ...('bytes' in read ? [linesOf(read.bytes)] : []),
    // Of a file that has changed, or is gone: as it was.
    ...(blob ? [(await linesOfBlob(blob, real)) ?? []] : []),
  ];
  for (const text of texts) {
    const found = quoteIn(text, contentOf(claim), claim);
    if (found !== undefined) return found;
  }
  if ('bytes' in read) return `${file_path} does not hold this text`;
  return read.refused === 'absent'
    ? `there is no file ${file_path}`
    : `${file_path}: ${read.refused}`;
}

/** Indentation aside, whole lines between the first and the last, which may be quoted in part; not within a word. */
function quoteIn(
  whole: readonly string[],
  content: string,
  { line_start, line_end }: Pick<Claim, 'line_start' | 'line_end'>,
): CitedLines | undefined {
  const first = Math.max(line_start, 1);
  const text = line_start === 0 ? whole : whole.slice(first - 1, line_end);
  const quote = content.split('\n').map((each) => each.trim());
  if (!quote.some(({ length }) => length >= tellingCharsMin)) return undefined;
  const wanted = quote.join('\n');
  const at = text.findIndex((_, from) => {
    const lines = text.slice(from, from + quote.length).map((each) => each.trim());
    return lines.length === quote.length && standsIn(lines.join('\n'), wanted);
  });
  if (at < 0) return undefined;
  const cited = text.slice(at, at + quote.length);
  const { content: excerpt, lineCount } = excerptOf(cited);
  return { line_start: first + at, line_end: first + at + lineCount - 1, content: excerpt };
}

function standsIn(text: string, part: string): boolean {
  const isWord = (each: string): boolean => /[\w$]/.test(each);
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) {
    const before = text.charAt(at - 1);
    const after = text.charAt(at + part.length);
    const isCut =
      (isWord(before) && isWord(part.charAt(0))) || (isWord(after) && isWord(part.slice(-1)));
    if (!isCut) return true;
  }
  return false;
}

async function judge(claim: Claim, real: string): Promise<Verdict> {
  const found = await new ConfinedReader(real, fileBytesMax).read(claim.file_path);
  if ('refused' in found) {
    if (found.refused !== 'absent') return not(`${claim.file_path}: ${found.refused}`);
    return (await movedTo(claim, real)) ?? not(`there is no file ${claim.file_path}`);
  }
  const text = linesOf(found.bytes);
  const objection = objectionTo(claim, text);
  if (blobId(found.bytes) === claim.blob || !claim.blob)
    return judgeUnchanged(claim, text, objection);
  return judgeChanged(claim, text, await linesOfBlob(claim.blob, real));
}

/** The file is the cited one, or the citation does not say which one it means. */
function judgeUnchanged(claim: Claim, text: string[], objection: string | undefined): Verdict {
  if (objection === undefined) {
    return {
      status: 'valid',
      reason: 'the cited lines hold the content',
      now_at: placeOf(claim, claim.line_start),
    };
  }
  const line = exactMatch(claim, text);
  if (!claim.blob && line !== undefined && line !== claim.line_start) {
    return {
      status: 'stale',
      reason: 'the content stands on other lines',
      now_at: placeOf(claim, line),
    };
  }
  return not(objection, line === undefined ? '' : placeOf(claim, line));
}

/** The path holds another blob. `cited`: the lines of the cited blob, when git has it. */
function judgeChanged(claim: Claim, text: string[], cited: string[] | undefined): Verdict {
  const objection = cited === undefined ? undefined : objectionTo(claim, cited);
  if (objection !== undefined) return not(`the cited blob never held this: ${objection}`);
  const exact = exactMatch(claim, text);
  if (exact !== undefined) {
    return {
      status: 'stale',
      reason: 'the file changed; the content is still in it',
      now_at: placeOf(claim, exact),
    };
  }
  const similar = bestMatch(claim, text);
  const now_at = similar === undefined ? '' : placeOf(claim, similar);
  return { status: 'stale', reason: 'the file changed and the content with it', now_at };
}

/** Why the claim is not true of this text; undefined when it is. */
function objectionTo(claim: Claim, text: readonly string[]): string | undefined {
  if (claim.line_end > text.length) return `the file has ${text.length} lines`;
  const cited = text.slice(claim.line_start - 1, claim.line_end);
  // All of the lines, or as much of them as an excerpt can hold: a prefix of one's choice proves nothing.
  if (trimNewlines(excerptOf(cited).content) !== contentOf(claim))
    return 'the cited lines are not this content';
  if (claim.symbol && !holdsSymbol(cited.join('\n'), claim.symbol))
    return `the cited lines do not hold ${plainName(claim.symbol)}`;
  return undefined;
}

/** The line on which the whole content begins; the one nearest to where it was cited. */
function exactMatch(claim: Claim, text: readonly string[]): number | undefined {
  const content = contentOf(claim);
  const whole = text.join('\n');
  let best: number | undefined;
  let start = 0;
  text.forEach((line, at) => {
    const isNearer = best === undefined || distance(claim, at + 1) < distance(claim, best);
    const end = start + content.length;
    const isMatch =
      whole.startsWith(content, start) &&
      (end === whole.length || whole[end] === '\n' || excerptOf([line]).content === content);
    if (isNearer && isMatch) best = at + 1;
    start += line.length + 1;
  });
  return best;
}

/** The line from which most lines of the content match, apart from indentation. */
function bestMatch(claim: Claim, text: readonly string[]): number | undefined {
  const wanted = contentOf(claim)
    .split('\n')
    .map((line) => line.trim());
  const telling = wanted.filter((line) => line.length >= tellingCharsMin).length;
  const trimmed = text.map((line) => line.trim());
  let best: number | undefined;
  let most = Math.max(1, Math.ceil(telling * matchShareMin)) - 1;
  trimmed.forEach((_, at) => {
    const matches = wanted.filter(
      (line, offset) => line.length >= tellingCharsMin && trimmed[at + offset] === line,
    ).length;
    const isNearer =
      best !== undefined && matches === most && distance(claim, at + 1) < distance(claim, best);
    if (matches > most || isNearer) [best, most] = [at + 1, matches];
  });
  return best;
}

/** A file that git knows to have been at the cited path, and where it now stands unchanged. */
async function movedTo(claim: Claim, root: string): Promise<Verdict | undefined> {
  const { blob, file_path } = claim;
  if (!blob) return undefined;
  const cited = await linesOfBlob(blob, root);
  if (cited === undefined || objectionTo(claim, cited) !== undefined) return undefined;
  if (!(await wasAt(file_path, blob, root))) return undefined;
  const reader = new ConfinedReader(root, fileBytesMax);
  for (const path of await pathsThatMayHold(blob, root)) {
    const found = await reader.read(path);
    if (!('bytes' in found) || blobId(found.bytes) !== blob) continue;
    return {
      status: 'stale',
      reason: `the file is now ${path}`,
      now_at: `${path}:${claim.line_start}`,
    };
  }
  return { status: 'stale', reason: 'the file is gone; it did hold this content', now_at: '' };
}

/** Tracked files with this blob, then untracked ones: a file may have been moved without telling git. */
async function pathsThatMayHold(blob: string, root: string): Promise<string[]> {
  const staged = (await runGit(root, ['ls-files', '-z', '--stage'])) ?? Buffer.alloc(0);
  const same = staged
    .toString('utf8')
    .split('\0')
    .flatMap((row) => {
      const [, id, path = ''] = /^\d+ ([0-9a-f]+) \d\t(.*)$/s.exec(row) ?? [];
      return id === blob ? [path] : [];
    });
  const others = await runGit(root, ['ls-files', '-z', '--others', '--exclude-standard']);
  const untracked = others?.toString('utf8').split('\0').filter(Boolean) ?? [];
  return [...same, ...untracked.slice(0, untrackedMax)];
}

/** At HEAD, in the index, or before the commit that removed it. */
async function wasAt(path: string, blob: string, root: string): Promise<boolean> {
  const bare = await runGit(root, ['rev-parse', '--is-bare-repository']);
  // Without a work tree there is no folder that a path could be relative to.
  const relative = bare?.toString().trim() === 'true' ? path : `./${path}`;
  const isAt = async (revision: string): Promise<boolean> => {
    const place = `${revision}:${relative}`;
    const id = await runGit(root, ['rev-parse', '--verify', '--quiet', '--end-of-options', place]);
    return id?.toString().trim() === blob;
  };
  if ((await isAt('HEAD')) || (await isAt(''))) return true;
  const plain = ['--no-show-signature', '--no-ext-diff', '--no-textconv'];
  const search = ['-1', '--diff-filter=D', '--format=%H', '--', `:(literal)${path}`];
  const removal = await runGit(root, ['log', ...plain, ...search], historyDeadlineMs);
  const commit = removal?.toString().trim() ?? '';
  return commit !== '' && (await isAt(`${commit}^`));
}

async function linesOfBlob(blob: string, root: string): Promise<string[] | undefined> {
  const bytes = await runGit(root, ['cat-file', 'blob', blob], undefined, fileBytesMax);
  return bytes !== undefined && blobId(bytes) === blob ? linesOf(bytes) : undefined;
}

function contentOf(claim: Claim): string {
  return trimNewlines(claim.content.replaceAll('\r\n', '\n'));
}

/** Not by a pattern: `\n+$` takes quadratic time on newlines that end in something else. */
function trimNewlines(text: string): string {
  let end = text.length;
  while (end > 0 && text[end - 1] === '\n') end -= 1;
  return text.slice(0, end);
}

/** Whether the plain name of a symbol stands in the text as a word of its own. */
export function holdsSymbol(text: string, symbol: string): boolean {
  const name = plainName(symbol);
  return name === '' || hasWord(text, name);
}

/** `path#name`, `Container.name` → `name`. */
export function plainName(symbol: string): string {
  return symbol.slice(
    Math.max(symbol.lastIndexOf('#', symbol.length - 2), symbol.lastIndexOf('.')) + 1,
  );
}

function hasWord(text: string, word: string): boolean {
  const escaped = word.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(?<![\\w$])${escaped}(?![\\w$])`).test(text);
}

function distance(claim: Claim, line: number): number {
  return Math.abs(line - claim.line_start);
}

function placeOf(claim: Claim, line: number): string {
  return `${claim.file_path}:${line}`;
}

function not(reason: string, now_at = ''): Verdict {
  return { status: 'false', reason, now_at };
}

function malformed(reason: string): Verdict {
  return { status: 'malformed', reason, now_at: '' };
}
