import type { ItemFact } from '../../format/facts.js';
import { Items, type ItemSource } from './item.js';
import { fenceAfter, linesOf } from '../document.js';

const commandWord =
  /^(?:\$\s+)?(?:sudo\s+)?(?:npm|npx|node|yarn|pnpm|make|cmake|ninja|meson|cargo|go|python3?|pip3?|docker|podman|kubectl|helm|git|systemctl|journalctl|apt(?:-get)?|dnf|yum|curl|wget|modprobe|insmod|echo|cat|mount|cd|mkdir|cp|export|install|java|mvn|gradle|gcc|clang|sysctl|sigma|\.\/[\w./-]+)\b/;

/** O5 of one text: how to build, configure, run, test and deploy. */
export function operationsItems(source: ItemSource): ItemFact[] {
  const items = new Items(source, 5);
  switch (source.language) {
    case 'kconfig':
      for (const { name, start, end, signature, doc } of source.draft.symbols)
        items.add('option', start, end, doc === '' ? signature : `${name}: ${doc}`, {
          subject: name,
        });
      break;
    case 'make':
    case 'settings':
      for (const { name, kind, start, end, signature } of source.draft.symbols)
        items.add(kind, start, end, signature, { subject: name });
      break;
    case 'markdown':
    case 'rst':
    case 'text':
      procedures(source, items);
      break;
    case 'shell':
      scripts(source, items);
      break;
    default:
      parameters(source, items);
  }
  return items.found;
}

/** What a script is for, as its head says, and how it wants to be called. */
function scripts({ text }: ItemSource, items: Items): void {
  const head = scriptHead(text);
  const about = head.lines
    .map((line) => line.replace(/^#+\s?/, '').trim())
    .filter((line) => /\w/.test(line) && !licence.test(line))
    .join(' ');
  if (about.split(' ').length >= aboutWordsMin) items.add('script', 0, head.end, about);
  for (const found of text.matchAll(/\b(?:echo|printf|cat)\b[^\n]{0,40}?\b([Uu]sage:[^\n]*)/g)) {
    const at = found.index + found[0].length - (found[1] ?? '').length;
    const says = withoutRedirection(found[1] ?? '');
    if (/:\s*\S/.test(says)) items.add('usage', at, found.index + found[0].length, says);
  }
}

/** The comment that a script begins with; `end` is an offset. */
function scriptHead(text: string): { lines: string[]; end: number } {
  const head = { lines: [] as string[], end: 1 };
  let number = 0;
  for (const { line, start, end } of linesOf(text)) {
    const plain = line.trim();
    number += 1;
    if (number > headLinesMax || (plain !== '' && !plain.startsWith('#'))) break;
    if (plain === '') continue;
    head.end = end;
    if (start > 0 || !plain.startsWith('#!')) head.lines.push(plain);
  }
  return head;
}

/** Without the quote that ends it and the channel that it is sent to. */
function withoutRedirection(says: string): string {
  const plain = withoutEnd(says, '; \t\r').replace(/[12]?>[ \t]?&[ \t]?[12]$/, '');
  return withoutEnd(plain, '"\' \t');
}

function withoutEnd(text: string, signs: string): string {
  let end = text.length;
  while (end > 0 && signs.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(0, end);
}

/** The comment that a script begins with is read so far. */
const headLinesMax = 400;
const licence =
  /SPDX|copyright|\(c\)|licen[sc]e|all rights reserved|shellcheck|^-\*-|^vim?:|^author/i;
const aboutWordsMin = 3;

/** Commands in code of documents, and numbered steps. */
function procedures({ text, language }: ItemSource, items: Items): void {
  let steps: { start: number; end: number; lines: string[]; next: number } | undefined;
  const close = (): void => {
    if (steps !== undefined && isProcedure(steps.lines))
      items.add(
        'procedure',
        steps.start,
        steps.end,
        steps.lines.map((line, at) => `${at + 1}. ${line}`).join(' '),
      );
    steps = undefined;
  };
  let fence = '';
  for (const { line, start, end } of linesOf(text)) {
    const before = fence;
    fence = fenceAfter(fence, line, language);
    const code = fence !== '' || /^(?: {4,}|\t)\S/.test(line) ? line.trim() : '';
    if (fence === before && isCommand(code))
      items.add('command', start, end, code.replace(/^\$\s+/, ''), { subject: firstWord(code) });
    const step = /^\s{0,8}(\d{1,2})[.)]\s+(\S.*)$/.exec(line);
    if (step !== null && fence === '') {
      const number = Number(step[1]);
      if (steps === undefined || number !== steps.next) {
        close();
        if (number === 1) steps = { start, end, lines: [], next: 1 };
      }
      if (steps !== undefined) {
        steps.lines.push(step[2] ?? '');
        steps.next = number + 1;
        steps.end = end;
      }
    } else if (line.trim() !== '' && !/^\s/.test(line)) close();
  }
  close();
}

/** Verbs that begin an instruction. */
const telling = new Set(
  (
    'add adjust allocate append apply assign attach boot build burn call change check checkout choose clean ' +
    'clear click clone close compile configure confirm connect convert copy create cut define delete deploy ' +
    'deselect detach determine disable disconnect discard do download drop edit eject emerge enable ensure ' +
    'enter erase examine execute export extract fetch fill find flash follow format free generate get go ' +
    'grab halt hold identify ignore import initialise initialize insert inspect install invoke issue keep kill ' +
    'launch leave let link list load locate lock log look make map mark merge modify mount move obtain open ' +
    'optionally pass patch pick place plug point poll populate power prepare press probe program provide ' +
    'pull push put query queue read reboot rebuild receive record register release reload remove rename ' +
    'repeat replace report request reserve reset restart restore resume retrieve retry return review revert ' +
    'run save scan search see select send set setup shut shutdown sign specify start stop store submit ' +
    'suspend switch take tell terminate test trigger try turn type unbind uninstall unload unlock unmap ' +
    'unmount unpack unplug unregister untar update upgrade upload use validate verify view visit wait wake ' +
    'write'
  ).split(' '),
);
/** Words that may stand before the verb of an instruction. */
const leadIn =
  /^(?:(?:first|firstly|second|then|next|now|finally|afterwards?|lastly|optionally|please|simply|just|always|you (?:must|should|can|may|need to|have to)(?: first)?)\b,?\s+)+/i;
const tellingShareMin = 0.66;

/** Steps of a procedure, not points of a description: most of them are instructions. */
function isProcedure(lines: readonly string[]): boolean {
  if (lines.length < 2) return false;
  const instructions = lines.filter((line) => {
    const plain = line.replace(/^[*_`"'([]+/, '').replace(leadIn, '');
    const word = /^[A-Za-z]+/.exec(plain)?.[0] ?? '';
    return telling.has(word.toLowerCase()) && !/^\w+[*_`"']*\s*[:=(]/.test(plain);
  });
  return instructions.length >= lines.length * tellingShareMin;
}

/** A line of code that a shell takes, and no prose or other language that begins with the same word. */
function isCommand(code: string): boolean {
  if (!commandWord.test(code)) return false;
  const rest = code.replace(/^\$\s+/, '').replace(/^\S+\s*/, '');
  return (
    !/^(?:the|a|an|sure|it|its|this|that|these|to|and|or|of|is|are|was|your|for|as|on|with|into|in|from|which|not)\b/i.test(
      rest,
    ) &&
    !/^(?:\[|[=({:,.]|<-|->)/.test(rest) &&
    !/^\w+[:,;]/.test(code) &&
    !/[\u3000-\u9fff\uac00-\ud7af\uff00-\uffef]/.test(code) &&
    // Sentences.
    !/^\w[^|>&;$`"']*[a-z]{2}[.,:]$|[a-z]{3}\.\s+[A-Z][a-z]/.test(code)
  );
}

interface Parameter {
  rule: string;
  /** Stands in every text that has one. */
  mark: string;
  pattern: RegExp;
  what: string;
  /** Must stand behind it, before the end of the structure. */
  before?: string;
}

/** Structures and statements are read this far. */
const statementCharsMax = 2_000;

const environment: readonly Parameter[] = [
  {
    ...{ rule: 'environment', mark: 'process.env', what: 'environment variable' },
    pattern: /\bprocess\.env(?:\.([A-Z][A-Z0-9_]+)|\[['"]([A-Z][A-Z0-9_]+)['"]\])/g,
  },
  {
    ...{ rule: 'environment', mark: 'env', what: 'environment variable' },
    pattern:
      /\b(?:getenv|os\.environ(?:\.get)?|env::var|System\.getenv)\s*[([]\s*['"]([A-Z][A-Z0-9_]+)['"]/g,
  },
  {
    ...{ rule: 'environment', mark: 'os.Getenv', what: 'environment variable' },
    pattern: /\bos\.Getenv\s*\(\s*"([A-Z][A-Z0-9_]+)"/g,
  },
];

const kernel: readonly Parameter[] = [
  {
    ...{ rule: 'boot-parameter', mark: '("', what: 'boot parameter' },
    pattern: /^(?:__setup|early_param|core_param)\s*\(\s*"?([\w.=-]+)"?/gm,
  },
  {
    // An entry that nothing handles is a folder.
    ...{ rule: 'sysctl', mark: '.procname', what: 'sysctl', before: '.proc_handler' },
    pattern: /\.procname\s*=\s*"([\w.-]+)"/g,
  },
  {
    ...{ rule: 'procfs', mark: 'proc_create', what: 'file in /proc' },
    pattern: /\bproc_create(?!_mount_point)(?:_\w+)?\s*\(\s*"([\w./-]+)"/g,
  },
  {
    ...{ rule: 'debugfs', mark: 'debugfs_create_', what: 'file in debugfs' },
    pattern:
      /\bdebugfs_create_(?:file|file_unsafe|u8|u16|u32|u64|ulong|size_t|atomic_t|bool|blob|str|x8|x16|x32|x64)\s*\(\s*"([\w.%-]+)"/g,
  },
];

/** What a program is configured by, as its code reads it. */
function parameters({ text, language }: ItemSource, items: Items): void {
  const isC = language === 'c' || language === 'cpp';
  for (const each of isC ? [...environment, ...kernel] : environment) {
    const { rule, mark, pattern, what, before } = each;
    if (!text.includes(mark)) continue;
    for (const found of text.matchAll(pattern)) {
      const name = found[1] ?? found[2] ?? '';
      const end = found.index + found[0].length;
      if (before !== undefined && !upTo(text, end, '}')?.includes(before)) continue;
      items.add(rule, found.index, found.index + found[0].length, `${what} ${name}`, {
        subject: name,
      });
    }
  }
  if (isC && text.includes('module_param')) moduleParameters(text, items);
}

/** What follows an offset, up to a sign that is near enough. */
function upTo(text: string, at: number, sign: string): string | undefined {
  const rest = text.slice(at, at + statementCharsMax);
  const end = rest.indexOf(sign);
  return end < 0 ? undefined : rest.slice(0, end);
}

/** The rest of what stands in the brackets of a statement. */
function restOfStatement(text: string, at: number): string | undefined {
  const rest = upTo(text, at, ';')?.trimEnd();
  return rest?.endsWith(')') === true ? rest.slice(0, -1) : undefined;
}

const described = /^MODULE_PARM_DESC\s*\(\s*(\w+)\s*,/gm;
const literal = /"((?:[^"\\]|\\[^])*)"/g;

/** What `MODULE_PARM_DESC` says, by the name of the parameter. */
function descriptions(text: string): ReadonlyMap<string, string> {
  const about = new Map<string, string>();
  for (const found of text.matchAll(described)) {
    const strings = restOfStatement(text, found.index + found[0].length);
    if (strings === undefined) continue;
    const parts = Array.from(strings.matchAll(literal), ([, part]) => part ?? '');
    about.set(found[1] ?? '', parts.join('').replace(/\\[nt]/g, ' '));
  }
  return about;
}

/** With their types and descriptions. */
function moduleParameters(text: string, items: Items): void {
  const about = descriptions(text);
  for (const found of text.matchAll(/^module_param(\w*)\s*\(\s*(\w+)\s*,/gm)) {
    const [whole, form = '', name = ''] = found;
    const rest = restOfStatement(text, found.index + whole.length);
    if (rest === undefined) continue;
    const [first = '', second = ''] = rest.split(',').map((each) => each.trim());
    const type = /named/.test(form) ? second : /cb|call|string/.test(form) ? '' : first;
    const kind = /^\w+$/.test(type) ? ` (${type})` : '';
    const what = about.get(name);
    const says = what === undefined ? '' : `: ${what}`;
    items.add(
      'module-parameter',
      found.index,
      found.index + whole.length + rest.length + 1,
      `module parameter ${name}${kind}${says}`,
      { subject: name },
    );
  }
}

function firstWord(command: string): string {
  return /^(?:\$\s+)?(?:sudo\s+)?(\S+)/.exec(command)?.[1] ?? '';
}
