// Makes src/secrets/rules.json of the rule sets of three scanners, each at a commit of its repository:
//
//   node test/bench/secrets/import.mjs BETTERLEAKS GITLEAKS TITUS     three work trees
//
// What a rule says is taken as it is. What cannot be taken is left out and told: rules of file names, rules without a
// pattern, filters of a form that is not read here.
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'smol-toml';
import { RE2JS } from 're2js';
import YAML from 'yaml';
import { keywordsOf, ofAnyLength, reachOf, withoutComments } from './pattern-text.mjs';

const [betterleaks, gitleaks, titus] = process.argv.slice(2);
if (titus === undefined) throw new Error('name the three work trees');
const left = [];
/** These take a whole address for a secret, with a password in it or without; a form of our own finds the password. */
const wholeAddresses = new Set([
  ...['kingfisher.credentials.1', 'kingfisher.uri.1', 'kingfisher.jdbc.1', 'kingfisher.mysql.1'],
]);
/** Bits for each character that a guessed password has more than. */
const guessedEntropy = 2.7;
/** Of letters that were drawn, where no quotes tell what is a value. */
const drawnEntropy = 3.8;

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
  ...titusRules(),
  genericRule(),
  ...forms(),
];
for (const { id, pattern } of rules) compiled(id, pattern);

const from = [
  source('betterleaks', betterleaks, 'MIT', 'Copyright (c) 2026 Zachary Rice'),
  source('gitleaks', gitleaks, 'MIT', 'Copyright (c) 2019 Zachary Rice'),
  source(
    'titus',
    titus,
    'Apache-2.0',
    'Copyright 2023-2026 Praetorian Security, Inc.; of it kingfisher.*: Copyright MongoDB, Inc.',
  ),
];
const lines = rules
  .map((rule) => `    ${JSON.stringify({ ...rule, reach: reachOf(rule.pattern) })}`)
  .join(',\n');
writeFileSync(
  new URL('../../../src/secrets/rules.json', import.meta.url),
  `{\n  "from": ${JSON.stringify(from)},\n  "fillIns": ${JSON.stringify(fillIns)},\n` +
    `  "wordParts": ${JSON.stringify(wordParts)},\n` +
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
  const words = keywords.map((each) => each.toLowerCase());
  const rule = { id, pattern: ofAnyLength(regex), keywords: words };
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

/** Of Nosey Parker's successor. Beside the tokens of issuers the forms in which programs and settings name passwords. */
function titusRules() {
  const folder = path.join(titus, 'pkg/rule/rules');
  return readdirSync(folder)
    .sort()
    .flatMap((file) => YAML.parse(readFileSync(path.join(folder, file), 'utf8')).rules)
    .flatMap((its) => {
      const { id, name, pattern, visible = true, categories = ['secret'] } = its;
      if (wholeAddresses.has(id)) return leave(`${id} (address)`);
      const isSecret = categories.some((each) => ['secret', 'api', 'token'].includes(each));
      const isPublic = ['hashed', 'identifier'].some((each) => categories.includes(each));
      if (!isSecret || isPublic || !visible) return leave(id);
      const plain = withoutComments(pattern);
      const groups = compiled(id, plain)?.namedGroups();
      if (groups === undefined) return leave(`${id} (pattern)`);
      const keywords = keywordsOf(plain);
      if (keywords.length === 0) return leave(`${id} (no keyword)`);
      const group = groups.password ?? groups.token ?? groups.secret ?? groups.key;
      const which = group === undefined ? { last: true } : { group };
      const rule = {
        id,
        name,
        pattern: ofAnyLength(plain),
        keywords,
        ...which,
        ...requirements(its),
      };
      const isGuessed =
        /passw|\bbasic/i.test(plain) ||
        ['generic', 'fuzzy'].some((each) => categories.includes(each));
      return [isGuessed ? { ...rule, isGuessed, entropy: guessedEntropy } : rule];
    });
}

/** What a value must have, so many of each kind of letters. */
function requirements({ min_entropy: entropy = 0, pattern_requirements: needs = {} }) {
  const kinds = { digits: '0-9', lowercase: 'a-z', uppercase: 'A-Z', special_chars: '^A-Za-z0-9' };
  const must = Object.entries(kinds).flatMap(([kind, letters]) => {
    const count = needs[`min_${kind}`] ?? 0;
    return count > 0 ? [`^(?:(?s:.)*?[${letters}]){${count}}`] : [];
  });
  const words = needs.ignore_if_contains ?? [];
  return {
    ...(entropy > 0 ? { entropy } : {}),
    ...(must.length > 0 ? { must } : {}),
    ...(words.length > 0 ? { unless: [{ on: 'secret', words }] } : {}),
  };
}

/** Forms that none of them has, or not in all the ways in which programs, settings and commands are written. */
function forms() {
  const short = ['pass', 'pw', 'auth'].flatMap((each) =>
    ['"', "'", '=', ':', ' '].map((sign) => each + sign),
  );
  const keywords = [
    ...short,
    'authorization',
    'passw',
    'passphrase',
    'pwd',
    'secret',
    'token',
    'credential',
    'key',
  ];
  const named = { keywords, isGuessed: true, entropy: guessedEntropy };
  const name = String.raw`(?:passw(?:or)?d|passphrase|\b(?:\w{1,40}_)?(?:pass|pw|auth)|authorization|pwd|secret|token|credentials?|(?:api|access|auth|account|private|secret|shared|signing|encryption)[ _.-]?key)`;
  /** What may follow in the name: `password_test`, `token2`, `secrets[0]`. */
  const rest = String.raw`(?:[_-]\w{1,20}|s|\d{1,3})?(?:\[\w{0,20}\])?`;
  const quoted = String.raw`["'\x60](?:(?:bearer|basic|token) )?([^"'\x60\s<>{}$%][^"'\x60\s<>{}]{7,200})["'\x60]`;
  const bare = String.raw`(\w[^\s"'\x60<>{}(),;&|\\\[\]]{7,200})`;
  /** Perhaps on the next line, as YAML has it: `key: |`. */
  const block = String.raw`[ \t]?(?:[|>][+-]?\n)?[ \t]{0,20}`;
  // A path, and what only code has.
  const names = [{ on: 'secret', patterns: ['^[.~]?/', '::|->|=='] }];
  const digit = '[0-9]';
  const sign = '[!@#$^~*?+=]';
  const letter = '[A-Za-z]';
  const form = (id, pattern, must = []) => ({
    id,
    ...named,
    unless: names,
    must,
    pattern: `(?i)${pattern}`,
  });
  return [
    {
      ...form(
        'password-in-an-address',
        String.raw`\b[a-z][a-z0-9+.-]{1,20}://[^\s/:@'"<>(){}]{0,80}:([^\s/@'"<>(){}$][^\s/@'"<>(){}]{4,100})@[\w.-]{3,}`,
      ),
      keywords: ['://'],
    },
    {
      ...form(
        'token-in-an-address',
        String.raw`\b[a-z][a-z0-9+.-]{1,20}://([a-z0-9_-]{20,200})(?::[\w-]{0,40})?@[\w.-]{3,}`,
        [digit, letter],
      ),
      keywords: ['://'],
    },
    form(
      'password-in-quotes',
      String.raw`${name}${rest}["'\x60]?\)?\s{0,3}(?:is|:=?|={1,3}|!={1,2}|=>|-|,|\(|\|\||\?\?)?\s{0,3}(?:default\s?=\s?)?@?${quoted}`,
    ),
    {
      ...form(
        'password-of-a-user',
        String.raw`\bidentified\s(?:with\s\S{1,40}\s)?(?:by|as)\s(?:password\s)?["'\x60]?([^\s"'\x60;,]{6,100})`,
        [digit],
      ),
      keywords: ['identified'],
    },
    form(
      'password-in-settings',
      String.raw`(?m)^[ \t-]*(?:export |set |setx )?[\w.-]{0,60}${name}${rest}[ \t]?[:=]${block}${bare}[ \t,;]*$`,
      [digit],
    ),
    // Of a connection: `…;Pwd=x;…`, `?user=a&password=x`; of a variable with a default: `${DB_PASSWORD:-x}`.
    form(
      'password-in-a-connection',
      String.raw`(?:[;&?]\s?\w{0,20}${name}=|\{\w{0,40}${name}:?[-=])${bare}`,
      [digit],
    ),
    form(
      'password-in-an-option',
      String.raw`(?:^|[\s"'\[,])--?[\w-]{0,30}${name}["']?[ =,]\s?["'\x60]?${bare}`,
      [digit, letter],
    ),
    {
      ...form(
        'drawn-in-a-row',
        String.raw`${name}${rest}["'\x60]?[ \t]?(?:[:=(/-]|:=|=>| is |[ \t])${block}([\w+/.=-]{20,200})(?:[^\w+/.=-]|$)`,
        [digit, '[a-z]', '[A-Z]'],
      ),
      entropy: drawnEntropy,
    },
    form(
      'hex-in-a-row',
      String.raw`${name}${rest}["'\x60]?[ \t]?(?:[:=(-]|:=|=>| is |[ \t])${block}([0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}|[0-9a-f]{32,128})\b`,
      [digit],
    ),
    form(
      'password-in-a-row',
      String.raw`${name}${rest}[ \t]?(?:[:=(/-]| is |[ \t])[ \t]?(?:\w{1,20}/)?${bare}`,
      [digit, sign, letter],
    ),
    form(
      'password-in-an-element',
      String.raw`<[\w:.-]{0,40}${name}>[ \t]*\{?([^<>{}$%\n][^<>{}\n]{7,200})\}?</`,
      [digit],
    ),
    form(
      'password-in-a-pair',
      String.raw`${name}${rest}["'\x60]?,?\s{1,30}["']?value["']?\s?[:=]\s?["'\x60]?${bare}`,
      [digit],
    ),
    {
      ...form('authorization', String.raw`\b(?:bearer|basic|token)\s+([\w.~+/=-]{16,1000})`, [
        digit,
        letter,
      ]),
      keywords: ['bearer', 'basic', 'token'],
    },
    {
      ...form(
        'secret-key-token',
        String.raw`\b(sk[-_](?:[a-z]{1,20}[-_]){0,6}[a-z0-9_]{20,200})\b`,
        [digit],
      ),
      keywords: ['sk-', 'sk_'],
    },
    {
      ...{ id: 'private-key-without-its-end', keywords: ['private key'] },
      pattern: String.raw`-----BEGIN[ A-Z0-9_-]{0,100}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|["'+,#*>|]){1,40}([A-Za-z0-9+/]{40,}={0,2})`,
    },
    {
      ...{ id: 'private-key-of-putty', keywords: ['private-lines'] },
      pattern: String.raw`PuTTY-User-Key-File-\d(?:.*\r?\n){1,200}?Private-Lines: \d+\r?\n([A-Za-z0-9+/=]{20,})`,
    },
    {
      ...{ id: 'private-key-in-json', keywords: ['kty'] },
      pattern: String.raw`"kty"\s*:[^{}]{0,1000}?"d"\s*:\s*"([\w-]{20,1000})"|"d"\s*:\s*"([\w-]{20,1000})"[^{}]{0,1000}?"kty"\s*:`,
    },
    {
      ...{ id: 'private-key-in-xml', keywords: ['rsakeyvalue'] },
      pattern: String.raw`<RSAKeyValue>(?:.|\s){1,1000}?(?:.|\s){0,1000}?<D>([A-Za-z0-9+/=.]{8,1000})`,
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
