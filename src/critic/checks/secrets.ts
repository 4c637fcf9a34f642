import { issuerTokens } from '../../pgc/source/credentials.js';
import type { Found } from '../finding.js';
import { at, type Check } from './check.js';

/** Beginnings of a private key that follows; the certificate is public. */
const privateKey = /^\s*-----BEGIN (?:[A-Z]{2,10} )?PRIVATE KEY-----\s*$/;
/** A key has more than one line of this. */
const keyBody = /^\s*[A-Za-z0-9+/]{40,}={0,2}\s*$/;
/** As documents of issuers write examples. */
const example = /EXAMPLE|(.)\1{7,}/;

/** `password: "…"` in a document: of a word for a secret the value itself, between quotes. */
const valueNamed =
  /\b(?:pass(?:word|wd|phrase)|secret|token|api[ _-]?key|credential)s?\b\s{0,3}(?:is|:|=)\s{0,3}(["'`])([^"'`\s]{10,200})\1/gi;
const classesOf = [/[a-z]/, /[A-Z]/, /\d/, /[^A-Za-z0-9]/];
/** What stands for a value that is not given. */
const stand =
  /[<>{}$]|\*{3}|\.{3}|…|example|placeholder|change.?me|your|xxx|dummy|secret|process\.env|\//i;

/** Secrets, and marks of an unfinished merge. */
export const leftBehind: Check = ({ read }) => [
  { aspect: 'accuracy', what: 'lines without a secret', looked: 0, faults: secrets(read.lines) },
  {
    ...{ aspect: 'accuracy', what: 'lines without a password', looked: 0 },
    faults: read.isCode ? [] : values(read.lines),
  },
  { aspect: 'consistency', what: 'merged lines', looked: 0, faults: conflicts(read.lines) },
];

/** Marks that only an issuer's token has; a word such as `password` is none. */
function secrets(lines: readonly string[]): Found[] {
  return lines.flatMap((line, index): Found[] => {
    const token = line.match(issuerTokens)?.find((each) => !example.test(each));
    const isKey = privateKey.test(line) && keyBody.test(lines[index + 1] ?? '');
    if (token === undefined && !isKey) return [];
    const what =
      token === undefined ? 'A private key' : `A token that begins with ${token.slice(0, 4)}`;
    return [
      {
        ...{ rule: 'SECRET_EXPOSED', severity: 'critical', isHard: true, words: token ?? line },
        text: `${what} is in the text, readable for everyone.`,
        remedy: 'Revoke it at its issuer, then remove it, also from the history.',
        place: at(index + 1),
      },
    ];
  });
}

/** Only values that look generated: three of small letters, capitals, digits, signs. */
function values(lines: readonly string[]): Found[] {
  return lines.flatMap((line, index) =>
    [...line.slice(0, 2_000).matchAll(valueNamed)].flatMap(([whole, , value = '']): Found[] => {
      const classes = classesOf.filter((each) => each.test(value)).length;
      if (classes < 3 || stand.test(value) || example.test(value)) return [];
      return [
        {
          ...{ rule: 'SECRET_LIKELY', severity: 'major', words: whole, place: at(index + 1) },
          text: `The value of ${whole.slice(0, whole.search(/[\s:=]/))} is in the text with its value, readable for everyone.`,
          remedy: 'Revoke it if it is one, and name the place that keeps it instead.',
        },
      ];
    }),
  );
}

function conflicts(lines: readonly string[]): Found[] {
  const faults: Found[] = [];
  let begin = -1;
  let hasMiddle = false;
  lines.forEach((line, index) => {
    if (/^<{7}(?: |$)/.test(line)) [begin, hasMiddle] = [index, false];
    else if (begin >= 0 && /^={7}$/.test(line.trimEnd())) hasMiddle = true;
    else if (begin >= 0 && hasMiddle && /^>{7}(?: |$)/.test(line)) {
      faults.push({
        ...{ rule: 'MERGE_CONFLICT', severity: 'critical', isHard: true },
        text: 'These lines have two versions: a merge was not finished.',
        remedy: 'Keep one of them and remove the marks.',
        place: { line_start: begin + 1, line_end: index + 1 },
        words: lines.slice(begin, index + 1).join(' '),
      });
      begin = -1;
    }
  });
  return faults;
}
