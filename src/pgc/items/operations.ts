import type { ItemFact } from '../facts.js';
import { Items, type ItemSource } from './item.js';
import { linesOf } from '../miners/document.js';

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
      for (const { name, start, end } of source.draft.symbols)
        items.add('function', start, end, `shell function ${name}`, { subject: name });
      break;
    default:
      parameters(source, items);
  }
  return items.found;
}

/** Commands in code of documents, and numbered steps. */
function procedures({ text }: ItemSource, items: Items): void {
  let steps: { start: number; end: number; lines: string[]; next: number } | undefined;
  const close = (): void => {
    if (steps !== undefined && steps.lines.length > 1)
      items.add('procedure', steps.start, steps.end, steps.lines.join(' '));
    steps = undefined;
  };
  let fence = '';
  for (const { line, start, end } of linesOf(text)) {
    const mark = /^\s{0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (mark !== undefined) fence = fence === '' ? mark : '';
    const code = fence !== '' || /^(?: {4,}|\t)\S/.test(line) ? line.trim() : '';
    if (mark === undefined && commandWord.test(code))
      items.add('command', start, end, code.replace(/^\$\s+/, ''), { subject: firstWord(code) });
    const step = /^\s{0,8}(\d{1,2})[.)]\s+(\S.*)$/.exec(line);
    if (step !== null && fence === '') {
      const number = Number(step[1]);
      if (steps === undefined || number !== steps.next) {
        close();
        if (number === 1) steps = { start, end, lines: [], next: 1 };
      }
      if (steps !== undefined) {
        steps.lines.push(`${number}. ${step[2] ?? ''}`);
        steps.next = number + 1;
        steps.end = end;
      }
    } else if (line.trim() !== '' && !/^\s/.test(line)) close();
  }
  close();
}

interface Parameter {
  rule: string;
  /** Stands in every text that has one. */
  mark: string;
  pattern: RegExp;
  what: string;
}

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
    pattern: /^(?:__setup|early_param)\s*\(\s*"([^"]+)"/gm,
  },
  {
    ...{ rule: 'module-parameter', mark: 'module_param', what: 'module parameter' },
    pattern: /^module_param(?:_named|_array|_string|_cb|_hw)?\s*\(\s*(\w+)/gm,
  },
  {
    ...{ rule: 'sysctl', mark: '.procname', what: 'sysctl' },
    pattern: /\.procname\s*=\s*"([\w.-]+)"/g,
  },
  {
    ...{ rule: 'procfs', mark: 'proc_create', what: 'file in /proc' },
    pattern: /\bproc_create(?:_\w+)?\s*\(\s*"([\w.-]+)"/g,
  },
  {
    ...{ rule: 'debugfs', mark: 'debugfs_create_', what: 'file in debugfs' },
    pattern: /\bdebugfs_create_(?:file|u8|u16|u32|u64|bool|x32|dir)\s*\(\s*"([\w.%-]+)"/g,
  },
];

/** What a program is configured by, as its code reads it. */
function parameters({ text, language }: ItemSource, items: Items): void {
  const isC = language === 'c' || language === 'cpp';
  for (const { rule, mark, pattern, what } of isC ? [...environment, ...kernel] : environment) {
    if (!text.includes(mark)) continue;
    for (const found of text.matchAll(pattern)) {
      const name = found[1] ?? found[2] ?? '';
      items.add(rule, found.index, found.index + found[0].length, `${what} ${name}`, {
        subject: name,
      });
    }
  }
}

function firstWord(command: string): string {
  return /^(?:\$\s+)?(?:sudo\s+)?(\S+)/.exec(command)?.[1] ?? '';
}
