// Samples of secrets out of the tests of other scanners, read from a work tree of theirs: none is kept here.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import YAML from 'yaml';
import { goCases } from './go-text.mjs';

const filesMax = 20_000;
/** Less holds no secret: it is a name that the tests have for nothing. */
const charsMin = 8;
/** Of a finding that is given by its line: what a person sees around it. */
const linesAround = 5;
/** How to read files of each scanner: texts, or `{ text, value }`, where its tests name the value too. */
const readers = [
  // secretlint: texts in which something is found lie in folders `ng.…`.
  { of: /\/test\/snapshots\/ng\.[^/]+\/input[^/]*$/, read: (text) => [text] },
  // Nosey Parker: rules with examples.
  { of: /\/rules\/[^/]+\.ya?ml$/, read: ruleExamples },
  // SonarSource: rules with examples.
  { of: /\/src\/main\/.*\/secrets\/configuration\/[^/]+\.ya?ml$/, read: sonarExamples },
  // TruffleHog, OSV-SCALIBR: tables of tests, what is wanted beside each text.
  { of: /\/(?:detectors|veles\/secrets)\/.*_test\.go$/, read: goCases },
  // Semgrep: what is found follows a remark.
  { of: /\/generic\/secrets\/security\/[^/]+\.txt$/, read: markedTexts },
  // leaktk: files with one secret or more, by folder.
  { of: /\/valid\/[^/]+$/, read: (text) => [text] },
  // detect-secrets: pairs of a text and what is wanted.
  { of: /\/tests\/plugins\/\w+_test\.py$/, read: pythonPairs },
  // CredSweeper: findings with line and value.
  { of: /\/tests\/data\/output\.json$/, read: findings },
  // leaky-repo: a list of its files, with how many secrets are in each.
  { of: /\/\.leaky-meta\/secrets\.csv$/, read: listedFiles },
];

/** What these find is no secret: numbers and names of machines, hashes, markings of documents, or any text without a name. */
const noSecrets = new Set([
  ...['UUID', 'IPv4', 'IPv6', 'Nonce', 'Salt', 'high_entropy_strings_test', 'ip_public_test'],
  ...['detected-bcrypt-hash', 'detected-etc-shadow', 'detected-aws-account-id'],
  ...['detected-google-oauth', 'detected-google-gcm-service-account'],
  ...['cui', 'password-hash', 'htpasswd', 'pattern', 'example', 'common'],
]);

/** `{ group, text, value, at, end }`; the group is the folder, file or rule that tells what kind it is of. */
export function samplesIn(folder) {
  return files(folder).flatMap((file) => {
    const reader = readers.find(({ of }) => of.test(file));
    if (reader === undefined) return [];
    const text = textIn(folder, file);
    if (text === undefined) return [];
    return reader
      .read(text, folder)
      .map((each) => ({
        group: groupOf(file),
        ...(typeof each === 'string' ? { text: each } : each),
      }))
      .filter(({ group, text: its }) => its.trim().length >= charsMin && !noSecrets.has(group));
  });
}

/** Whether a value in it only stands for a secret, as its own letters show: a few of them many times, a row of the alphabet. */
export function isStandIn(text) {
  // Keys have rows of letters of their own.
  const other = text.replaceAll(/-----BEGIN[^]*?(?:-----END|$)/g, '');
  const words = (other.match(/[A-Za-z0-9+/_=-]{12,}/g) ?? []).join(' ');
  const isRow = /(.)\1{7,}|(.{2,10})\2{3,}|(?:x[_-]?){8}|abcdefgh|12345678(?!\d)|example/i.test(
    words,
  );
  return isRow || /:\/\/[^\s:/]+:pass(?:word)?@/.test(other);
}

/** Whether a value, where the tests name it, is words or too short to be more than a guess. */
export function isWeak(value) {
  return (
    value !== undefined && (value.length < charsMin || /^[a-z](?:[ _.-]?[a-z])*$/i.test(value))
  );
}

function groupOf(file) {
  return (
    /secretlint-rule-([^/]+)/.exec(file)?.[1] ??
    /(?:detectors|veles\/secrets)\/([^/]+)/.exec(file)?.[1] ??
    /([^/]+)\/valid\//.exec(file)?.[1] ??
    path.basename(file).replace(/\.\w+$/, '')
  );
}

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .map((file) => `/${file}`)
    .sort()
    .filter((file) => readers.some(({ of }) => of.test(file)))
    .slice(0, filesMax);
}

function textIn(folder, file) {
  const text = readFileSync(path.join(folder, file), 'utf8');
  return text.includes('\u0000') || text.includes('\ufffd') ? undefined : text;
}

function ruleExamples(text) {
  return (YAML.parse(text).rules ?? [])
    .filter(
      ({ categories = [] }) => categories.includes('secret') && !categories.includes('hashed'),
    )
    .flatMap(({ examples = [] }) => examples);
}

/** Without the lines that stand for another file. */
function sonarExamples(text) {
  const plain = text.replaceAll(/^\s*\$\{.*\}\s*$/gm, '');
  const { provider: { rules = [] } = {} } = YAML.parse(plain);
  return rules.flatMap(({ examples = [] }) =>
    examples
      .filter(({ containsSecret }) => containsSecret)
      .map(({ text: example, match }) => ({ text: example, value: match })),
  );
}

function markedTexts(text) {
  const parts = text.split(/^.*\b(ruleid|ok|todook|todoruleid): .*\n/m);
  return parts.flatMap((part, at) => (part === 'ruleid' ? [parts[at + 1]] : []));
}

/** `(text, True)` and `(text, value)`, where the text may be made with `format`. */
function pythonPairs(text) {
  const literal = String.raw`'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"`;
  const plain = (each) =>
    each.slice(1, -1).replaceAll(/\\(.)/g, (_, char) => ({ n: '\n', t: '\t' })[char] ?? char);
  const names = new Map(
    [...text.matchAll(new RegExp(String.raw`^\s*(\w+) = (${literal})`, 'gm'))].map(
      ([, name, value]) => [name, plain(value)],
    ),
  );
  const pairs = new RegExp(
    String.raw`\(\s*((?:(?:${literal})\s*)+)(?:\.format\((?:\w+=)?(\w+),?\s*\))?,\s*(True|[A-Z_]+|${literal})\s*,?\s*\)`,
    'g',
  );
  return [...text.matchAll(pairs)].flatMap(([, parts, name, wanted]) => {
    const format = [...parts.matchAll(new RegExp(literal, 'g'))]
      .map(([each]) => plain(each))
      .join('');
    if (name === undefined) return [{ text: format, value: valueOf(wanted, names, plain) }];
    const value = names.get(name);
    if (value === undefined) return [];
    return [{ text: filled(format, value), value: valueOf(wanted, names, plain) }];
  });
}

function filled(format, value) {
  return format
    .replaceAll(/\{\w*\}(?!\})/g, () => value)
    .replaceAll('{{', '{')
    .replaceAll('}}', '}');
}

function valueOf(wanted, names, plain) {
  if (wanted === 'True') return undefined;
  return names.get(wanted) ?? plain(wanted);
}

function findings(text, folder) {
  const places = JSON.parse(text).flatMap(({ rule, line_data_list: all }) =>
    all.slice(0, 1).map((place) => ({ ...place, rule })),
  );
  return places.flatMap(({ rule, path: file, line_num: number, value }) => {
    const lines = textIn(folder, file)?.split('\n');
    if (!lines?.[number - 1]?.includes(value)) return [];
    const from = Math.max(0, number - 1 - linesAround);
    const shown = lines.slice(from, number + linesAround).join('\n');
    const before = lines.slice(from, number - 1).join('\n').length;
    const at = shown.indexOf(value, before);
    return [{ group: rule, text: shown, value, at, end: at + value.length }];
  });
}

function listedFiles(text, folder) {
  return text.split('\n').flatMap((line) => {
    const [file, risks] = line.split(',');
    if (line.startsWith('#') || !(Number(risks) > 0)) return [];
    const content = textIn(folder, file);
    return content === undefined ? [] : [{ group: file, text: content }];
  });
}
