// Makes src/secrets/rules.json of the rule sets of three scanners, each at a commit of its repository:
//
//   node test/bench/secrets/import.mjs BETTERLEAKS GITLEAKS NOSEYPARKER     three work trees
//
// What a rule says is taken as it is. What cannot be taken is left out and told: rules of file names, rules without a
// pattern, filters of a form that is not read here.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import { RE2JS } from 're2js';
import YAML from 'yaml';
import { keywordsOf, withoutComments } from './pattern-text.mjs';

const [betterleaks, gitleaks, noseyparker] = process.argv.slice(2);
if (noseyparker === undefined) throw new Error('name the three work trees');
const left = [];
/** Of any source: a rule that has only such keywords would be tried on every line. */
const everywhere = new Set(['key', 'value']);
/** Bits for each character that a guessed password has more than. */
const guessedEntropy = 2.9;

const guessing = parse(readFileSync(path.join(gitleaks, 'config/gitleaks.toml'), 'utf8'));
const generic = guessing.rules.find(({ id }) => id === 'generic-api-key');
const fillIns = {
  patterns: guessing.allowlist.regexes,
  words: guessing.allowlist.stopwords,
};
/** Parts of words: of a value that is guessed by its name, such as `password =`, they make a word and no secret. */
const wordParts = generic.allowlists.flatMap(({ stopwords = [] }) => stopwords);

const rules = [
  ...parse(readFileSync(path.join(betterleaks, 'config/betterleaks.toml'), 'utf8')).rules.flatMap(
    issuerRule,
  ),
  ...noseyparkerRules(),
  genericRule(),
  ...forms(),
];
for (const { id, pattern } of rules) compiled(id, pattern);

const from = [
  source('betterleaks', betterleaks, 'MIT', 'Copyright (c) 2026 Zachary Rice'),
  source('gitleaks', gitleaks, 'MIT', 'Copyright (c) 2019 Zachary Rice'),
  source('noseyparker', noseyparker, 'Apache-2.0', 'Copyright 2022 Praetorian Security, Inc'),
];
const lines = rules.map((rule) => `    ${JSON.stringify(rule)}`).join(',\n');
writeFileSync(
  new URL('../../../src/secrets/rules.json', import.meta.url),
  `{\n  "from": ${JSON.stringify(from)},\n  "fillIns": ${JSON.stringify(fillIns)},\n` +
    `  "wordParts": ${JSON.stringify(wordParts)},\n  "common": ${JSON.stringify(generic.keywords)},\n` +
    `  "rules": [\n${lines}\n  ]\n}\n`,
);
process.stdout.write(`${rules.length} rules; left out: ${left.join(', ')}\n`);

/** Of an issuer: a token has a mark that nothing else has, or stands behind the name of the issuer. */
function issuerRule({ id, regex, keywords, filter = '', skipReport, path: file, secretGroup }) {
  if (regex === undefined || file !== undefined || skipReport || id === generic.id)
    return leave(id);
  const read = readFilter(filter);
  if (read === undefined) return leave(`${id} (filter)`);
  const group = secretGroup === undefined ? {} : { group: secretGroup };
  const rule = { id, pattern: regex, keywords: keywords.map((each) => each.toLowerCase()) };
  return [{ ...rule, ...group, ...read }];
}

/** `a || b || …`, each of which says when a finding is none. */
function readFilter(filter) {
  const read = {};
  for (const part of filter.replaceAll('filter.', '').split(/\n?\|\| ?/)) {
    const text = part.trim();
    const [, entropy] = /^entropy\(finding\["secret"\]\) <=? ([\d.]+)$/.exec(text) ?? [];
    const [, not, what, on, list] =
      /^(!?)(matchesAny|containsAny)\(finding\["(secret|match)"\], \[([^]*)\]\)$/.exec(text) ?? [];
    if (text === '') continue;
    else if (entropy !== undefined) read.entropy = Number(entropy);
    else if (text.includes('attributes["path"]')) continue;
    else if (list === undefined) return undefined;
    else {
      const values = [...list.matchAll(/`([^`]*)`|"((?:[^"\\]|\\.)*)"/g)].map(
        ([, raw, quoted]) => raw ?? JSON.parse(`"${quoted}"`),
      );
      if (not === '!') read.must = [...(read.must ?? []), ...values];
      else
        read.unless = [
          ...(read.unless ?? []),
          { on, [what === 'matchesAny' ? 'patterns' : 'words']: values },
        ];
    }
  }
  return read;
}

/** Beside the tokens of issuers the forms in which programs and settings name passwords. */
function noseyparkerRules() {
  const folder = path.join(noseyparker, 'crates/noseyparker/data/default/builtin/rules');
  return readdirSync(folder)
    .sort()
    .flatMap((file) => YAML.parse(readFileSync(path.join(folder, file), 'utf8')).rules)
    .flatMap(({ id, name, pattern, categories = [] }) => {
      if (!categories.includes('secret') || categories.includes('hashed')) return leave(id);
      const plain = withoutComments(pattern);
      if (compiled(id, plain) === undefined) return leave(`${id} (pattern)`);
      const keywords = keywordsOf(plain);
      if (keywords.length === 0 || keywords.some((each) => everywhere.has(each)))
        return leave(`${id} (no keyword)`);
      const rule = { id, name, pattern: plain, keywords, last: true };
      const isGuessed = categories.includes('generic') || categories.includes('fuzzy');
      return [isGuessed ? { ...rule, isGuessed, entropy: guessedEntropy } : rule];
    });
}

/** Forms that none of them has: a password in an address or a sentence, a key whose end is cut off. */
function forms() {
  const named = ['password', 'passwd', 'passphrase', 'secret', 'token', 'credential', 'key'];
  const digit = '[0-9]';
  // `abc.def.ghi` is a name.
  const unless = [{ on: 'secret', patterns: ['^[a-z]+(?:[._:/-][a-z]+)+$'] }];
  const guess = { isGuessed: true, entropy: guessedEntropy, unless };
  return [
    {
      ...{ id: 'password-in-an-address', keywords: ['://'], ...guess },
      pattern: String.raw`(?i)\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'"<>(){}]{1,80}:([^\s/@'"<>(){}$]{5,100})@[\w.-]{3,}`,
    },
    {
      id: 'password-in-quotes',
      keywords: named,
      pattern: String.raw`(?i)(?:passw(?:or)?d|passphrase|secret|token|credentials?|(?:api|access|auth|private|secret)[ _-]?key)["']?\s{0,3}(?:is|:|=|:=|=>|-)\s{0,3}["'\x60](?:(?:bearer|basic|token) )?([^"'\x60\s<>{}$%][^"'\x60\s<>{}]{7,200})["'\x60]`,
      ...guess,
    },
    {
      ...{ id: 'password-in-settings', keywords: named, ...guess, must: [digit] },
      pattern: String.raw`(?im)^[ \t-]*(?:export )?[\w.-]{0,60}(?:passw(?:or)?d|passphrase|secret|token|(?:api|access|private|secret)[_-]?key)[ \t]?[:=][ \t]?([^\s"'\x60<>{}$%(),;.\[\]][^\s"'\x60<>{}(),;.\[\]]{7,200})[ \t]*$`,
    },
    {
      ...{ id: 'password-in-an-element', keywords: named, ...guess, must: [digit] },
      pattern: String.raw`(?i)<[\w:.-]{0,40}(?:passw(?:or)?d|passphrase|secret|token|(?:api|access|private|secret)[_-]?key)>[ \t]*\{?([^<>{}$%\n][^<>{}\n]{7,200})\}?</`,
    },
    {
      ...{ id: 'secret-key-token', keywords: ['sk-', 'sk_'], ...guess, must: [digit] },
      pattern: String.raw`\b(sk[-_](?:[a-z]{1,20}[-_]){0,6}[A-Za-z0-9_]{20,200})\b`,
    },
    {
      ...{ id: 'private-key-without-its-end', keywords: ['private key'] },
      pattern: String.raw`-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|["'+,#*>|]){1,40}([A-Za-z0-9+/]{40,}={0,2})`,
    },
  ];
}

function genericRule() {
  const { id, regex, entropy, keywords, allowlists } = generic;
  const unless = allowlists
    .filter(({ regexes, condition }) => regexes !== undefined && condition !== 'AND')
    .map(({ regexes, regexTarget = 'secret' }) => ({ on: regexTarget, patterns: regexes }));
  return { id, pattern: regex, keywords, entropy, unless, isGuessed: true };
}

function leave(id) {
  left.push(id);
  return [];
}

function compiled(id, pattern) {
  try {
    return RE2JS.compile(pattern);
  } catch (error) {
    process.stderr.write(`${id}: ${error.message}\n`);
    return undefined;
  }
}

function source(name, tree, licence, copyright) {
  const commit = execFileSync('git', ['-C', tree, 'rev-parse', 'HEAD']).toString().trim();
  return { name, licence, copyright, commit };
}
