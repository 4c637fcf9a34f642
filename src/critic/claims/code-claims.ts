/** What the blocks of code of a document state of the tree: modules that they load, signatures, members, options of a usage. */

import type { Statement, SymbolName } from './claim.js';
import type { CodeLine } from './document.js';
import { parameterList } from './parameters.js';

/** A statement with the lines that it stands on, 1-based. */
export interface CodeClaim {
  statement: Statement;
  text: string;
  line_start: number;
  line_end: number;
}

/** Lines of one declaration that are read together. */
const declarationLines = 12;
/** Of the members of one structure. */
const structureLines = 60;

/** Fewer words of a usage may stand in any program. */
const usageWords = 4;

const loaded =
  /(?:\brequire\(|\bfrom\s|\bimport\(|^\s*import\s)\s*['"]((?:@[\w.-]{1,60}\/)?[a-z][\w./-]{1,100})['"]/;
const names = /(?:\bimport|\bconst|\blet|\bvar)\s+\{([^{}]{1,300})\}\s*(?:=\s*require\(|from\s)/;
const usage = /^\s*\$?\s*usage:\s+(?:\$\s+)?([a-z][\w-]{1,40})\b/i;
const option = /^\s*(?:-\w(?:,\s*|\s+))?(--[a-z][\w-]{1,60})(?:[\s=<[,]|$)/;
const prototype =
  /^\s*((?:(?:static|inline|extern|const|unsigned|struct|enum|union)\s+){0,5}\w{2,60}(?:\s+|\s*\*{1,2}\s*))(\w{3,80})\(([^(){};]{1,400})\);/;
const placeholder = /^(?:foo|bar|baz)|^(?:my|your|some|example)_|^callback_|_(?:func|fn|example)$/;
const define = /^\s*#\s*define\s+([A-Z]\w{3,80})\s+(0x[\da-fA-F]{1,16}|\d{1,12})\s*(?:\/\*.*)?$/;
const structure = /^\s*struct\s+(\w{2,80})\s*\{/;

/** `isC`: declarations are those of C. */
export function codeClaims(lines: readonly CodeLine[], isC: boolean): CodeClaim[] {
  const found: CodeClaim[] = [];
  let command = '';
  lines.forEach((each, at) => {
    command = usage.exec(each.text)?.[1] ?? (isNext(lines, at) ? command : '');
    const flag = command === '' ? undefined : option.exec(each.text)?.[1];
    if (flag !== undefined)
      found.push(claim(each, { kind: 'option', flag, command, isListed: true }));
    if (command !== '' && (each.text.match(/[A-Za-z]{2,}/g) ?? []).length >= usageWords)
      found.push(claim(each, { kind: 'wording', text: each.text.trim(), near: '' }));
    const specifier = loaded.exec(each.text)?.[1];
    if (specifier !== undefined)
      found.push(
        claim(each, { kind: 'module', specifier, names: namesIn(names.exec(each.text)?.[1]) }),
      );
    const [, name = '', value = ''] = define.exec(each.text) ?? [];
    if (isC && value !== '')
      found.push(claim(each, { kind: 'constant', symbol: symbol(name), value, unit: '' }));
    if (isC) found.push(...declared(lines, at));
  });
  return found;
}

function isNext(lines: readonly CodeLine[], at: number): boolean {
  return lines[at - 1]?.line === (lines[at]?.line ?? 0) - 1;
}

function claim(from: CodeLine, statement: Statement, to = from): CodeClaim {
  return { statement, text: from.text.trim(), line_start: from.line, line_end: to.line };
}

function namesIn(list: string | undefined): string[] {
  return (list ?? '')
    .split(',')
    .map(
      (each) =>
        each
          .replace(/^\s*type\s/, '')
          .split(/\sas\s|:/)[0]
          ?.trim() ?? '',
    )
    .filter((each) => /^[A-Za-z_$][\w$]*$/.test(each));
}

function declared(lines: readonly CodeLine[], at: number): CodeClaim[] {
  const first = lines[at];
  if (first === undefined) return [];
  const owner = structure.exec(first.text)?.[1];
  if (owner !== undefined && placeholder.test(owner)) return [];
  if (owner !== undefined) return membersOf(lines, at, symbol(owner));
  const some = lines.slice(at, at + declarationLines);
  const text = some.map((each) => each.text).join('\n');
  const [whole, returns = '', name = '', list = ''] = prototype.exec(text) ?? [];
  const parameters = parameterList(list);
  const isDeclaration =
    whole !== undefined &&
    !placeholder.test(name) &&
    !/^\s*(?:return|else|goto|case)\b/.test(returns) &&
    parameters.every((each) => /^(?:void|\.\.\.)$|\w[\s*]+\w/.test(each));
  if (!isDeclaration) return [];
  return [
    claim(
      first,
      {
        ...{ kind: 'signature', symbol: symbol(name, true), isWhole: true },
        ...{ parameters: parameters.filter((each) => each !== 'void'), returns: returns.trim() },
      },
      some[whole.split('\n').length - 1],
    ),
  ];
}

/** Fields, and pointers to functions, until the bracket closes. */
function membersOf(lines: readonly CodeLine[], at: number, owner: SymbolName): CodeClaim[] {
  const found: CodeClaim[] = [];
  for (const each of lines.slice(at + 1, at + structureLines)) {
    if (/^\s*\}/.test(each.text)) break;
    const plain = each.text.replaceAll(/\/\*.*?(?:\*\/|$)/g, '');
    const member =
      /\(\*(\w{1,80})\)\s*\(/.exec(plain)?.[1] ??
      /^\s*\w[\w\s*]{1,80}[\s*](\w{1,80})(?:\[[^\]]{0,40}\])?;/.exec(plain)?.[1];
    if (member !== undefined)
      found.push(claim(each, { kind: 'member', symbol: owner, member: symbol(member) }));
  }
  return found;
}

function symbol(name: string, isCall = false): SymbolName {
  return { name, container: '', isCall, isMarked: true };
}
