// Samples of secrets out of the tests of other scanners, read from a work tree of theirs: none is kept here.
import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import YAML from 'yaml';

const filesMax = 20_000;
/** Less holds no secret: it is a name that the tests have for nothing. */
const charsMin = 8;
const readers = [
  // secretlint: texts in which something is found lie in folders `ng.…`.
  { of: /\/test\/snapshots\/ng\.[^/]+\/input[^/]*$/, read: (text) => [text] },
  // Nosey Parker: rules with examples.
  { of: /\/rules\/[^/]+\.ya?ml$/, read: ruleExamples },
  // TruffleHog: tables of tests, what is wanted beside each text.
  { of: /_test\.go$/, read: goCases },
];

/** `{ group, text }`; the group is the folder or file that tells what kind it is of. */
export function samplesIn(folder) {
  return files(folder).flatMap((file) => {
    const reader = readers.find(({ of }) => of.test(file));
    if (reader === undefined) return [];
    const text = readFileSync(path.join(folder, file), 'utf8');
    if (text.includes('\u0000') || text.includes('\ufffd')) return [];
    const samples = reader.read(text).filter((each) => each.trim().length >= charsMin);
    return samples.map((sample) => ({ group: groupOf(file), text: sample }));
  });
}

/** Whether a value in it only stands for a secret, as its own letters show: one of them many times, a row of the alphabet. */
export function isStandIn(text) {
  const words = (text.match(/[A-Za-z0-9+/_=-]{12,}/g) ?? []).join(' ');
  const isRow = /(.)\1{7,}|(?:.*?x){12}|abcdefgh|12345678(?!\d)|example/i.test(words);
  return isRow || /:\/\/[^\s:/]+:pass(?:word)?@/.test(text);
}

function groupOf(file) {
  return (
    /secretlint-rule-([^/]+)/.exec(file)?.[1] ??
    /detectors\/([^/]+)/.exec(file)?.[1] ??
    path.basename(file).replace(/\.ya?ml$/, '')
  );
}

function files(folder) {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .map((file) => `/${file}`)
    .sort()
    .slice(0, filesMax);
}

function ruleExamples(text) {
  return (YAML.parse(text).rules ?? [])
    .filter(
      ({ categories = [] }) => categories.includes('secret') && !categories.includes('hashed'),
    )
    .flatMap(({ examples = [] }) => examples);
}

/** Texts of `input:` whose `want:` is not empty. */
function goCases(text) {
  const strings = new Map(
    [...text.matchAll(/^\s*(\w+)\s*:?=\s*("(?:[^"\\\n]|\\.)*"|`[^`]*`)/gm)].map(
      ([, name, value]) => [name, unquoted(value)],
    ),
  );
  const valueOf = (expression) => {
    const its = expression.trim();
    if (/^["`]/.test(its)) return unquoted(its);
    return strings.get(its);
  };
  const cases =
    /\binput:\s*(fmt\.Sprintf\((?:`[^`]*`|"(?:[^"\\]|\\.)*"|[^()`"])*\)|"(?:[^"\\]|\\.)*"|`[^`]*`|\w+),\s*want:\s*(\[\]string\{[^]*?\}|nil|\w+)/g;
  return [...text.matchAll(cases)].flatMap(([, input, want]) => {
    if (/^\[\]string\{\s*\}$|^nil$/.test(want)) return [];
    const [, inside] = /^fmt\.Sprintf\(([^]*)\)$/.exec(input) ?? [];
    if (inside === undefined) return [valueOf(input)].filter((each) => each !== undefined);
    const [format, ...values] = [...inside.matchAll(/"(?:[^"\\]|\\.)*"|`[^`]*`|\w+/g)].map(
      ([each]) => valueOf(each),
    );
    if (format === undefined || values.includes(undefined)) return [];
    let at = 0;
    return [format.replace(/%[svq]/g, () => values[at++] ?? '')];
  });
}

function unquoted(literal) {
  if (literal.startsWith('`')) return literal.slice(1, -1);
  try {
    return JSON.parse(literal.replaceAll(/\\x([0-9a-f]{2})/gi, '\\u00$1'));
  } catch {
    return undefined;
  }
}
