import type { CallDraft } from '../miners/draft.js';
import { issuerTokens } from '../credentials.js';
import type { ItemFact } from '../facts.js';
import { Items, type ItemSource } from './item.js';
import { securityRules, type SecurityRule, type Severity } from './security-rules.js';

/** Arguments are read this far; what decides stands at their beginning. */
const argumentCharsMax = 400;
/** A line is read this far. */
const lineCharsMax = 1_000;
/** A value shorter than this is an example. */
const secretCharsMin = 12;

/** O2 of one text: calls that rules name, where it is open to attack, and secrets, which are never repeated. */
export function securityItems(
  source: ItemSource,
  rules: readonly SecurityRule[] = securityRules,
): ItemFact[] {
  const items = new Items(source, 2);
  const byCall = rulesFor(source, rules);
  for (const call of source.draft.calls) {
    for (const rule of byCall.get(call.callee) ?? []) {
      if (!applies(rule, call, source.text)) continue;
      const { severity, cwe } = rule;
      const on = call.receiver === '' ? '' : `${call.receiver}.`;
      const text = `${on}${call.callee} ${rule.text}`;
      items.add(rule.id, call.at, call.at + 1, text, { subject: call.callee, severity, cwe });
    }
  }
  surfaces(source, items);
  secrets(source, items);
  return items.found;
}

interface Compiled {
  id: string;
  severity: Severity;
  cwe: string;
  text: string;
  on: RegExp | undefined;
  when: RegExp | undefined;
  unless: RegExp | undefined;
}

const compiled = new WeakMap<SecurityRule, Compiled>();

function compile(rule: SecurityRule): Compiled {
  let known = compiled.get(rule);
  if (known === undefined) {
    const pattern = (text: string | undefined): RegExp | undefined =>
      text === undefined ? undefined : new RegExp(text);
    const { id, severity, cwe, text } = rule;
    known = {
      ...{ id, severity, cwe, text },
      ...{ on: pattern(rule.on), when: pattern(rule.when), unless: pattern(rule.unless) },
    };
    compiled.set(rule, known);
  }
  return known;
}

const byLanguage = new WeakMap<readonly SecurityRule[], Map<string, Map<string, Compiled[]>>>();

function rulesFor(
  { language }: ItemSource,
  rules: readonly SecurityRule[],
): Map<string, Compiled[]> {
  const all = byLanguage.get(rules) ?? new Map<string, Map<string, Compiled[]>>();
  byLanguage.set(rules, all);
  let byCall = all.get(language);
  if (byCall === undefined) {
    byCall = new Map();
    for (const rule of rules.filter((each) => each.languages.includes(language)))
      for (const call of rule.calls) byCall.set(call, [...(byCall.get(call) ?? []), compile(rule)]);
    all.set(language, byCall);
  }
  return byCall;
}

function applies({ on, when, unless }: Compiled, call: CallDraft, text: string): boolean {
  if (on !== undefined && !on.test(call.receiver)) return false;
  if (when === undefined && unless === undefined) return true;
  const given = argumentsAt(text, call.at + call.callee.length);
  if (given === undefined) return false;
  return (when === undefined || when.test(given)) && unless?.test(given) !== true;
}

/** What stands in the brackets behind a name; undefined when there are none. */
export function argumentsAt(text: string, at: number): string | undefined {
  const open = /\s*(?:<[^()]{0,80}>)?\s*!?\s*\(/y;
  open.lastIndex = at;
  if (!open.test(text)) return undefined;
  const from = open.lastIndex;
  let depth = 1;
  let to = from;
  for (; to < text.length && to < from + argumentCharsMax; to += 1) {
    const sign = text.charAt(to);
    if (sign === '(') depth += 1;
    else if (sign === ')' && (depth -= 1) === 0) break;
  }
  return text.slice(from, to);
}

/** Where somebody else's data comes in. */
interface Surface {
  rule: string;
  /** Stands in every text that the pattern finds anything in: looking for it first is ten times cheaper. */
  mark: string;
  pattern: RegExp;
  text: (name: string, more: string) => string;
}

const cSurfaces: readonly Surface[] = [
  {
    rule: 'surface-syscall',
    mark: 'SYSCALL_DEFINE',
    pattern: /^(?:COMPAT_)?SYSCALL_DEFINE\d\s*\(\s*(\w+)/gm,
    text: (name) => `system call ${name}`,
  },
  {
    rule: 'surface-ioctl',
    mark: 'ioctl',
    pattern:
      /\.(?:unlocked_ioctl|compat_ioctl|ioctl|ndo_eth_ioctl|ndo_siocdevprivate)\s*=\s*(\w+)/g,
    text: (name) => `ioctl handler ${name}`,
  },
  {
    rule: 'surface-netlink',
    mark: 'it',
    pattern: /\.(?:doit|dumpit)\s*=\s*(\w+)/g,
    text: (name) => `netlink handler ${name}`,
  },
  {
    rule: 'surface-netlink',
    mark: 'rtnl_register',
    pattern: /\brtnl_register(?:_module)?\s*\([^;]*?\b(RTM_\w+)/g,
    text: (name) => `netlink message ${name}`,
  },
  {
    rule: 'surface-file-write',
    mark: '=',
    pattern: /\.(?:write|write_iter|proc_write|store)\s*=\s*(\w+)/g,
    text: (name) => `write handler ${name}`,
  },
  {
    rule: 'surface-sockopt',
    mark: '=',
    pattern: /\.(?:setsockopt|getsockopt|sendmsg|bind|connect)\s*=\s*(\w+)/g,
    text: (name) => `socket operation ${name}`,
  },
  {
    rule: 'surface-parameter',
    mark: 'module_param',
    pattern: /^module_param(?:_named|_array|_string|_cb|_hw)?\s*\(\s*(\w+)/gm,
    text: (name) => `module parameter ${name}`,
  },
  {
    rule: 'surface-boot',
    mark: '("',
    pattern: /^(?:__setup|early_param)\s*\(\s*"([^"]+)"/gm,
    text: (name) => `boot parameter ${name}`,
  },
  {
    rule: 'surface-entry',
    mark: 'main',
    pattern: /^(?:int\s+|static\s+int\s+)?(main)\s*\(\s*int\b/gm,
    text: () => 'entry point of a program',
  },
];

const esSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: '/',
    pattern:
      /\b(?:app|router|server|api|fastify)\s*\.\s*(get|post|put|patch|delete|all|use)\s*\(\s*['"`](\/[^'"`]*)/g,
    text: (verb, path) => `HTTP route ${verb.toUpperCase()} ${path}`,
  },
  {
    rule: 'surface-http',
    mark: 'createServer',
    pattern: /\b(createServer)\s*\(/g,
    text: () => 'server for the network',
  },
  {
    rule: 'surface-cli',
    mark: '.command',
    pattern: /\.command\s*\(\s*['"`]([\w-]+)/g,
    text: (name) => `command ${name}`,
  },
  {
    rule: 'surface-arguments',
    mark: 'process.argv',
    pattern: /\b(process\.argv)\b/g,
    text: () => 'arguments of the command line',
  },
];

const pythonSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: '@',
    pattern: /^\s*@\w+\.(route|get|post|put|patch|delete)\s*\(\s*['"](\/[^'"]*)/gm,
    text: (verb, path) => `HTTP route ${verb === 'route' ? '' : `${verb.toUpperCase()} `}${path}`,
  },
  {
    rule: 'surface-cli',
    mark: 'add_argument',
    pattern: /\.add_argument\s*\(\s*['"]([\w-]+)/g,
    text: (name) => `argument ${name}`,
  },
  {
    rule: 'surface-entry',
    mark: '__name__',
    pattern: /^if\s+(__name__)\s*==/gm,
    text: () => 'entry point of a program',
  },
];

const goSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: '/',
    pattern: /\.(HandleFunc|Handle|GET|POST|PUT|DELETE|PATCH)\s*\(\s*"([^"]*\/[^"]*)"/g,
    text: (verb, path) => `HTTP route ${/^Handle/.test(verb) ? '' : `${verb} `}${path}`,
  },
  {
    rule: 'surface-cli',
    mark: 'flag.',
    pattern: /\bflag\.\w+\s*\((?:&\w+,\s*)?\s*"([\w-]+)"/g,
    text: (name) => `argument ${name}`,
  },
  {
    rule: 'surface-entry',
    mark: 'func main',
    pattern: /^func (main)\(\)/gm,
    text: () => 'entry point of a program',
  },
];

const javaSurfaces: readonly Surface[] = [
  {
    rule: 'surface-http',
    mark: 'Mapping',
    pattern: /@(Get|Post|Put|Patch|Delete|Request)Mapping\s*\(\s*(?:value\s*=\s*)?"([^"]*)"/g,
    text: (verb, path) => `HTTP route ${verb === 'Request' ? '' : `${verb.toUpperCase()} `}${path}`,
  },
  {
    rule: 'surface-entry',
    mark: 'main',
    pattern: /\bpublic\s+static\s+void\s+(main)\s*\(/g,
    text: () => 'entry point of a program',
  },
];

const rustSurfaces: readonly Surface[] = [
  {
    rule: 'surface-entry',
    mark: 'fn main',
    pattern: /^fn (main)\(\)/gm,
    text: () => 'entry point of a program',
  },
  {
    rule: 'surface-http',
    mark: '#[',
    pattern: /#\[(get|post|put|patch|delete)\s*\(\s*"([^"]*)"/g,
    text: (verb, path) => `HTTP route ${verb.toUpperCase()} ${path}`,
  },
  {
    rule: 'unsafe-block',
    mark: 'unsafe',
    pattern: /\b(unsafe)\s*\{/g,
    text: () => 'unsafe block',
  },
  {
    rule: 'surface-foreign',
    mark: 'extern',
    pattern: /\bextern\s+"C"\s+fn\s+(\w+)/g,
    text: (name) => `called from other languages: ${name}`,
  },
];

const surfacesOf: Partial<Record<ItemSource['language'], readonly Surface[]>> = {
  c: cSurfaces,
  cpp: cSurfaces,
  javascript: esSurfaces,
  typescript: esSurfaces,
  tsx: esSurfaces,
  python: pythonSurfaces,
  go: goSurfaces,
  java: javaSurfaces,
  rust: rustSurfaces,
};

function surfaces(source: ItemSource, items: Items): void {
  for (const { rule, mark, pattern, text } of surfacesOf[source.language] ?? []) {
    if (!source.text.includes(mark)) continue;
    for (const found of source.text.matchAll(pattern)) {
      const [whole, name = '', more = ''] = found;
      if (name === 'NULL') continue;
      const at = found.index + whole.length - whole.trimStart().length;
      const severity = rule.startsWith('surface') ? 'info' : 'medium';
      const cwe = rule.startsWith('surface') ? '' : 'CWE-119';
      items.add(rule, at, found.index + whole.length, text(name, more), {
        ...{ subject: name, severity, cwe },
      });
    }
  }
}

const secretWords = /passw(?:or)?d|secret|api_?key|access_?key|auth_?token|private_?key/gi;
const secretNames =
  /\b(\w*(?:password|passwd|secret|api_?key|access_?key|auth_?token|private_?key)\w*)["']?\s*(?::|=|:=)\s*["']([^"'\s]+)["']/i;
const keyBlocks = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----/g;
const examples =
  /example|changeme|placeholder|your[-_]|xxxx|test|dummy|<|\$\{|%s|\*{3}|^[\w.]+\(|process\.env/i;

/** That there is one, and of what kind; never the value. */
function secrets({ text }: ItemSource, items: Items): void {
  const high = { severity: 'high', cwe: 'CWE-798' } as const;
  let seen = 0;
  for (const word of text.matchAll(secretWords)) {
    if (word.index < seen) continue;
    const from = text.lastIndexOf('\n', word.index) + 1;
    const line = text.slice(from, from + lineCharsMax).split('\n', 1)[0] ?? '';
    seen = from + line.length;
    const [whole, name = '', value = ''] = secretNames.exec(line) ?? [];
    if (whole === undefined || value.length < secretCharsMin) continue;
    if (examples.test(value) || !/\d/.test(value)) continue;
    const at = from + line.indexOf(whole);
    items.add('secret', at, at + whole.length, `${name} is given a value in the source`, {
      ...high,
      subject: name,
    });
  }
  if (text.includes('PRIVATE KEY'))
    for (const found of text.matchAll(keyBlocks))
      items.add('secret', found.index, found.index + 1, 'a private key', high);
  for (const found of /AKIA|gh[pousr]_|xox|sk_live_/.test(text) ? text.matchAll(issuerTokens) : [])
    items.add('secret', found.index, found.index + 1, 'a token of a known issuer', high);
}
