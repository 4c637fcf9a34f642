import { secretsIn } from '../../secrets/secrets.js';
import type { Reading, Word } from '../policy/command-pattern.js';
import type { Harmless } from '../policy/rulebook.js';
import type { Examination, Site } from './examination.js';

/** Credentials: files that hold them, variables that hold them, and themselves (SecurityBoundary: "credential patterns"). */

/** Of an address, even where its password is a word; `$` begins a variable. */
const passwordInAddress = /:\/\/[^\s/:@$]{1,200}:[^/\s@$]{3,400}@(?!localhost|127\.)/;

/** These neither print nor send what they are given. */
const silent = new Set(['test', '[', 'export', 'unset', ':', 'true', 'return', 'exit']);
/** Of these kinds of operands none is a path whose content is read. */
const noPaths = new Set([
  'text',
  'format',
  'words',
  'names',
  'refs',
  'mode',
  'date',
  'none',
  'url',
]);
/** Options whose value is a pattern or a text. */
const textOptions = new Set([
  ...['-m', '--message', '-e', '--regexp', '--expression', '-S', '-G', '--grep', '--author'],
  ...['--format', '--pretty', '-b', '--body', '-t', '--title', '-q', '--jq', '--query'],
]);
const longWord = 300;

export function secretEffects(
  words: readonly Word[],
  given: Reading,
  harmless: Harmless | undefined,
  exam: Examination,
  site: Site,
): void {
  const found = (rule: string, says: string): void =>
    exam.found({ signal: 'SecurityBoundary', rule, words, site, says });
  const program = given.operands[0]?.text ?? '';
  if (
    words.some(({ text }) => passwordInAddress.test(text)) ||
    secretsIn(written(words)).length > 0
  )
    found('credential', 'holds what looks like a credential');
  if (!silent.has(program) && words.some((each) => namesSecret(each, exam)))
    found('secret-variable', 'hands on a variable that holds a credential');
  const paths = harmless === undefined ? allPaths(words) : readPaths(harmless);
  if (paths.some((text) => pathsIn(text).some((path) => isSecretAt(path, exam, site))))
    found('secret-path', 'opens a file that holds credentials');
}

/** Together, for what one of them announces is in the next: `--token x`. */
function written(words: readonly Word[]): string {
  return words.map(({ text }) => text).join(' ');
}

/** As it is written, and as it is meant from the folder of the command. */
export function isSecretAt(path: string, exam: Examination, site: Site): boolean {
  if (exam.paths.mayBeSecret(path)) return true;
  const place = exam.place(path, site);
  return place.kind !== 'unknown' && exam.paths.mayBeSecret(place.path);
}

/** Of a command that opens files which another one finds: `find ~ -exec cat {} +`, `echo .env | xargs cat`. */
export function listedEffects(
  words: readonly Word[],
  names: readonly string[],
  exam: Examination,
  site: Site,
): void {
  if (!names.some((text) => pathsIn(text).some((path) => isSecretAt(path, exam, site)))) return;
  const says = 'opens a file that holds credentials';
  exam.found({ signal: 'SecurityBoundary', rule: 'secret-path', words, site, says });
}

export function namesSecret({ text, isStatic }: Word, exam: Examination): boolean {
  if (isStatic) return false;
  for (const [, name] of text.matchAll(/\$\{?!?([A-Za-z_]\w*)/g))
    if (name !== undefined && exam.book.secretVariable.test(name)) return true;
  return false;
}

/** Of a command that is not judged any word may be a path; code is none. */
function allPaths(words: readonly Word[]): string[] {
  return words.slice(1).flatMap(({ text }) => (/\s/.test(text) ? [] : [text]));
}

function readPaths({ row, reading }: Harmless): string[] {
  if (noPaths.has(row.operands) || row.operands.startsWith('/')) return [];
  if (row.writes?.keeps === true && row.changes !== true) return [];
  const isText = row.operands === 'expression' && !hasExpressionOption(reading.options);
  const operands = reading.operands.slice(isText ? 1 : 0).map(({ text }) => text);
  const values = [...reading.options].flatMap(([option, given]) =>
    textOptions.has(option) ? [] : given.map(({ text }) => text),
  );
  return row.changes === true ? values : [...operands, ...values];
}

/** Then the first operand is a path already. */
export function hasExpressionOption(options: ReadonlyMap<string, unknown>): boolean {
  return ['-e', '--regexp', '--expression', '-f', '--file', '--files'].some((each) =>
    options.has(each),
  );
}

/** `@file`, `key=@file`, `--option=file`, `HEAD:file`, `/host/path:/inside`. */
function pathsIn(text: string): string[] {
  if (/\s/.test(text) && text.length > longWord) return [];
  const parts = text.split(/[=:,]|(?<=^|=)@/).filter((part) => part !== '');
  return [text, ...parts];
}
