import { type Examination, type Spot, cut, word } from './examination.js';
import { removesOwn } from './script-own.js';
import { removesTemporary } from './script-temporary.js';
import { bareScript, callTexts, type Literal } from './script-text.js';
import type { Word } from './shell.js';

/** Scripts that no shell reads: scanned for calls that start programs, delete or send, by the rules of the policy. */

export type Started =
  | { kind: 'shell'; text: string }
  | { kind: 'argv'; words: Word[] }
  | { kind: 'opaque'; text: string };

const evidenceChars = 200;
const chainChars = 4_000;
/** Places of one script that start something; the rest is opaque. */
const startsMax = 200;
/** Places that one rule is about. */
const matchesMax = 2_000;
/** Longer runs of blanks or of letters say nothing more, and an expression would walk them again from each of their places. */
const runMax = { blank: 64, word: 2_000 };

/** What it starts is returned, for it is judged as a command; all else that its policy names is found here. */
export function scanScript(
  source: string,
  language: string,
  exam: Examination,
  spot: Spot,
): Started[] {
  if (!exam.spend('chars', source.length)) return [];
  const { code, bare } = bareScript(ownNames(shortRuns(source), language), language);
  const started: Started[] = [];
  for (const { rule, expression, beside, unless } of exam.book.scripts) {
    if (!rule.languages.includes(language) || beside?.test(code) === false) continue;
    let matches = 0;
    for (const match of code.matchAll(expression)) {
      matches += 1;
      if (matches > matchesMax) {
        exam.tooLarge();
        break;
      }
      const isInText = bare[match.index] !== code[match.index];
      if (isInText && rule.in_text !== true) continue;
      const line = lineAt(code, match.index);
      if (rule.starts === true) {
        if (isOfRegex(code, match.index, match[0])) continue;
        if (started.length < startsMax) started.push(...startedAt(match, code, language));
        else started.push({ kind: 'opaque', text: line });
        continue;
      }
      if (rule.signal === undefined) continue;
      if (unless?.test(line) === true) continue;
      if (rule.own === true && isOwn(code, match.index, match[0], language)) continue;
      const { signal, severity, irreversible } = rule;
      const words = [word(line)];
      const subject = { tool: language, target: spot.file };
      exam.found({ signal, severity, irreversible, rule: rule.rule, words, spot, ...subject });
      for (const other of rule.also ?? [])
        exam.found({
          signal: other,
          irreversible: false,
          rule: rule.rule,
          words,
          spot,
          ...subject,
        });
      for (const [url] of line.matchAll(/\w+:\/\/[^\s'"`)]+/g)) exam.words.add(url);
    }
  }
  return started;
}

function isOwn(code: string, at: number, found: string, language: string): boolean {
  if (removesOwn(code, at, found, language)) return true;
  if (language === 'javascript' && removesEntry(code, at)) return true;
  return language === 'python' && removesTemporary(code, at, found);
}

/** `seen.delete(x)` of a name that is set once, to a map or a set in memory. */
function removesEntry(code: string, at: number): boolean {
  const name = /(?<![\w.$\])])([A-Za-z_]\w*)$/.exec(code.slice(Math.max(0, at - 100), at))?.[1];
  if (name === undefined) return false;
  const settings = [
    ...code.matchAll(new RegExp(`(?<![\\w.$])${name}\\b[^=;(){}\\n]{0,100}=(?![=>])`, 'g')),
  ];
  const isMap = new RegExp(
    `\\bconst\\s+${name}\\b[^=;\\n]{0,100}=\\s*new\\s+(?:Weak)?(?:Map|Set)\\b`,
  ).test(code);
  return isMap && settings.length === 1;
}

function shortRuns(source: string): string {
  return source.replace(/[^\S\n]{65,}|\n{65,}|\w{2001,}/g, (run) =>
    run.slice(0, /\w/.test(run) ? runMax.word : runMax.blank),
  );
}

/** `pattern.exec(text)` asks an expression, and starts nothing. */
function isOfRegex(code: string, at: number, found: string): boolean {
  return /^exec\b/.test(found) && /\.\s*$/.test(code.slice(Math.max(0, at - 4), at));
}

/** Calls whose arguments are words, and no text of a shell. */
const listCalls =
  /(?:spawn|execFile|execa|exec[lv]|fork|posix_spawn|Command|ProcessBuilder|Process|commandLine|executable|System\.cmd|\.run|run_command|pcntl_exec|system2|Popen|check_\w+|\bcall|capture\w*)\w*\s*[=(\s]*$/;
/** Calls of which the arguments are told elsewhere. */
const openCalls = /\bexecutable\b|\bProcessStartInfo\b/;

/** `Command::new("git").arg("push").args(["-f"])`: what is not ended in one go may be given more words later. */
function chainedWords(code: string, at: number): Word[] {
  const rest = code.slice(at, at + chainChars);
  const program =
    literalOf(rest) ??
    (/^\s*(?:std::)?env(?:::var\w*|!)\(\s*"(?:CARGO|RUSTC)"/.test(rest)
      ? word('cargo')
      : undefined);
  const words: Word[] = [program ?? { text: '…', isStatic: false }];
  const statement = endOfStatement(rest);
  for (const { 1: many, index, 0: found } of statement.matchAll(/\.arg(s?)\s*\(\s*/g)) {
    const from = index + found.length;
    if (many !== 's') {
      words.push(literalOf(statement.slice(from)) ?? { text: '…', isStatic: false });
      continue;
    }
    const { list } = callTexts(code, at + from, 'rust');
    words.push(...(list ?? [{ text: '…', isStatic: false }]).map(wordOf));
  }
  if (!/\.(?:status|output|spawn|exec)\s*\(/.test(statement))
    words.push({ text: '…', isStatic: false });
  return words;
}

function literalOf(text: string): Word | undefined {
  const found = /^\s*&?"((?:\\.|[^"\\])*)"\s*\)/.exec(text)?.[1];
  return found === undefined ? undefined : word(found);
}

/** Up to its semicolon, which stands in no text. */
function endOfStatement(text: string): string {
  return /^(?:"(?:\\[\s\S]|[^"\\])*"|[^";])*/.exec(text)?.[0] ?? '';
}

function startedAt(match: RegExpMatchArray, code: string, language: string): Started[] {
  const at = (match.index ?? 0) + match[0].length;
  const line = lineAt(code, match.index ?? 0);
  if (language === 'rust') return [{ kind: 'argv', words: chainedWords(code, at) }];
  const { texts, list, isWhole, isOpen } = callTexts(code, at, language);
  const rest: Word[] = isOpen || openCalls.test(match[0]) ? [{ text: '…', isStatic: false }] : [];
  const opaque: Started[] = [{ kind: 'opaque', text: line }];
  if (language === 'awk' && !isWhole && texts.length === 0)
    return /getline|\|/.test(match[0]) ? awkPipe(match[0], line) : opaque;
  if (list !== undefined) {
    // spawn('git', ['push']): the first text is the program.
    const words = [...texts.map(wordOf), ...list.map(wordOf), ...rest];
    return words.length === rest.length ? opaque : [{ kind: 'argv', words }];
  }
  const [first, ...others] = texts;
  if (first === undefined || !isWhole) return opaque;
  const isList = listCalls.test(match[0]) && (rest.length > 0 || others.length > 0);
  if (isList || (others.length > 0 && /\b(?:execl|spawnl|system|exec|popen|fork)/.test(match[0])))
    return [{ kind: 'argv', words: [...texts.map(wordOf), ...rest] }];
  return [{ kind: 'shell', text: first.text }];
}

function awkPipe(found: string, line: string): Started[] {
  const text = /"([^"\n]*)"/.exec(found)?.[1];
  return [text === undefined ? { kind: 'opaque', text: line } : { kind: 'shell', text }];
}

function wordOf({ text, isStatic }: Literal): Word {
  return { text, isStatic };
}

function lineAt(code: string, at: number): string {
  const before = code.slice(Math.max(0, at - evidenceChars), at);
  const behind = code.slice(at, at + 2 * evidenceChars);
  const to = behind.indexOf('\n');
  const line = before.slice(before.lastIndexOf('\n') + 1) + (to < 0 ? behind : behind.slice(0, to));
  return cut(line.trim(), evidenceChars);
}

/** Modules by their own names, whatever a script calls them: `import os as o`. */
function ownNames(source: string, language: string): string {
  const imports: Record<string, RegExp> = {
    python:
      /\bimport\s+(?<module>os|shutil|subprocess|requests|httpx|smtplib|socket|pathlib)\s+as\s+(?<name>\w+)/g,
    javascript:
      /\b(?:import\s+(?:\*\s+as\s+)?|(?:const|let|var)\s+)(?<name>[A-Za-z_$][\w$]*)\s*(?:=\s*(?:await\s+)?(?:require|import)\s*\(\s*|from\s*)["'](?:node:)?(?<module>child_process|fs|fs\/promises|axios|got)["']/g,
  };
  let text = source;
  for (const { groups } of source.matchAll(imports[language] ?? /(?!)/g)) {
    const { name = '', module = '' } = groups ?? {};
    const own = module.replace(/\/.*/, '');
    if (name !== own)
      text = text.replace(
        new RegExp(`(?<![\\w.$])${name.replaceAll('$', '\\$')}(?=\\s*\\.)`, 'g'),
        own,
      );
  }
  return text;
}
