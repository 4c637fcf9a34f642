import type { Arguments } from './command-pattern.js';
import { hasWords } from './command-words.js';
import type { Examination, Spot } from './examination.js';
import type { Word } from './shell.js';

/** Credentials: files that hold them, variables that hold them, and themselves (SecurityBoundary: "credential patterns"). */

const credential =
  /\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{30,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{20,}|\bxox[abprs]-[\w-]{10,}|\bsk-(?:[a-z]{1,20}-){0,6}[A-Za-z0-9_]{20}|\bAIza[\w-]{30,}|\bnpm_[A-Za-z0-9]{30,}|-----BEGIN (?:[A-Z]{1,20} ){0,4}PRIVATE KEY|\beyJ[\w-]{10,2000}\.eyJ[\w-]{10,2000}\.|(?:Bearer|Basic) [A-Za-z0-9+/._-]{24,}|:\/\/[^/\s:@$]{1,200}:[^/\s@$]{3,400}@(?!localhost|127\.)/;

/** These neither print nor send what they are given. */
const silent = [
  'test',
  '[',
  'export',
  'local',
  'declare',
  'typeset',
  'readonly',
  'unset',
  ':',
  'true',
  'return',
  'exit',
];

export function secretEffects(
  words: readonly Word[],
  given: Arguments,
  exam: Examination,
  spot: Spot,
  /** What of it is code, and no path. */
  code: readonly Word[] = [],
): void {
  const found = (rule: string, says: string): void =>
    exam.found({ signal: 'SecurityBoundary', rule, words, spot, says });
  if (words.some(({ text }) => credential.test(text)))
    found('credential', 'holds what looks like a credential');
  if (!hasWords(given, silent) && words.some((each) => namesSecret(each, exam)))
    found('secret-variable', 'hands on a variable that holds a credential');
  const paths = exam.policy.paths;
  if (hasWords(given, paths.words_only) || hasWords(given, paths.names_only)) return;
  const isExpression = hasWords(given, paths.expression_first) && !hasExpressionFlag(given);
  const skipped = isExpression ? firstPath(given) : 1;
  const named = [
    ...given.operands.slice(skipped),
    ...[...given.flags].flatMap(([flag, values]) =>
      notPaths.has(flag) ? [] : values.map((text): Word => ({ text, isStatic: true })),
    ),
  ];
  const codes = new Set(code.map(({ text }) => text));
  if (
    named.some(
      ({ text }) => !codes.has(text) && pathsIn(text).some((path) => exam.paths.mayBeSecret(path)),
    )
  )
    found('secret-path', 'opens a file that holds credentials');
}

/** Flags whose value is a pattern or a text. */
const notPaths = new Set([
  '-name',
  '-iname',
  '-path',
  '-ipath',
  '-regex',
  '-m',
  '--message',
  '-e',
  '--regexp',
  '--exclude',
  '--exclude-dir',
  '--include',
  '-g',
  '--glob',
  '--grep',
  '-S',
  '-G',
  '--ignore-pattern',
  '--body',
  '-b',
  '--title',
  '-t',
  ...[
    '--query',
    '--filter',
    '--filters',
    '--jq',
    '--jmespath',
    '--template',
    '--format',
    '--field-selector',
  ],
  ...[
    '-k',
    '-l',
    '--selector',
    '--grep-reflog',
    '--tests',
    '--test-name-pattern',
    '--testNamePattern',
  ],
]);

function hasExpressionFlag(given: Arguments): boolean {
  return ['-e', '--regexp', '--expression', '-f', '--file', '--files'].some((flag) =>
    given.flags.has(flag),
  );
}

/** Behind the expression; of `git grep` behind its word too. */
function firstPath(given: Arguments): number {
  return given.operands[0]?.text === 'git' ? 3 : 2;
}

/** `@file`, `key=@file`, `--flag=file`, `/host/path:/inside`. */
function pathsIn(text: string): string[] {
  if (/\s/.test(text) && text.length > 300) return [];
  const parts = text.split(/[=:,]|(?<=^|=)@/).filter((part) => part !== '');
  return [text, ...parts];
}

function namesSecret({ text, isStatic }: Word, exam: Examination): boolean {
  if (isStatic) return false;
  for (const [, name] of text.matchAll(/\$\{?!?([A-Za-z_]\w*)/g))
    if (name !== undefined && exam.book.secretVariable.test(name)) return true;
  return false;
}
