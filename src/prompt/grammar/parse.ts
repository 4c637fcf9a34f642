import { BusError } from '../../errors/bus-error.js';
import { commandWords, isCommandWord, readCommandLine } from './command-line.js';
import { isBlank, linesOf, unescapeEdges, wordOf } from './lines.js';
import { promptLimits as limits, type Command, type Problem, type Prompt } from './shapes.js';

/**
 * The whole prompt or nothing. Throws TOO_LARGE, and PROMPT_INVALID with `line`, `column` and `expected` of the first
 * problem, the number of all in `problems`, and all of them in its text. Takes time in proportion to the text.
 */
export function parsePrompt(text: string): Prompt {
  const examined = examinePrompt(text);
  if ('prompt' in examined) return examined.prompt;
  const { problems } = examined;
  const detail = problems
    .map(({ line, column, expected }) => `line ${line}, column ${column}: expected ${expected}`)
    .join('; ');
  throw new BusError('PROMPT_INVALID', { detail, ...problems[0], problems: problems.length });
}

/** As `parsePrompt`, with the problems as values, in order, one at least and `promptLimits.problems` at most. Throws TOO_LARGE. */
export function examinePrompt(text: string): { prompt: Prompt } | { problems: Problem[] } {
  const bytes = Buffer.byteLength(text);
  if (bytes > limits.bytes)
    throw new BusError('TOO_LARGE', { what: 'a prompt', bytes, limit: limits.bytes });
  const lines = linesOf(text);
  const { start, end } = contentOf(lines);
  const all = [
    ...commandLines(lines, 0, start).map((each) => ({ ...each, isSetup: true })),
    ...commandLines(lines, end, lines.length).map((each) => ({ ...each, isSetup: false })),
  ];
  const prompt: Prompt = { setup: [], content: '', teardown: [] };
  prompt.content = unescapeEdges(withoutBlankEnds(lines.slice(start, end))).join('\n');
  const problems: Problem[] = [];
  for (const each of all.slice(0, limits.commands)) {
    const read = understood(each);
    problems.push(...read.problems);
    if (read.command === undefined) continue;
    if (each.isSetup) prompt.setup.push(read.command);
    else if (read.command.command === 'push') prompt.teardown.push(read.command);
  }
  problems.push(...namesTwice([...prompt.setup, ...prompt.teardown]));
  const beyond = all[limits.commands];
  if (beyond !== undefined)
    problems.push({
      line: beyond.line,
      column: 1,
      expected: `${limits.commands} commands at most`,
    });
  if (problems.length === 0) return { prompt };
  problems.sort((one, other) => one.line - other.line || one.column - other.column);
  return { problems: problems.slice(0, limits.problems) };
}

interface EdgeLine {
  text: string;
  /** From 1. */
  line: number;
  isSetup: boolean;
}

/** Where the content begins, and the line behind it: between the lines at both edges that begin with a command word. */
function contentOf(lines: readonly string[]): { start: number; end: number } {
  const isEdge = (line: string | undefined): boolean =>
    line !== undefined && (isBlank(line) || wordOf(line) !== undefined);
  let start = 0;
  while (isEdge(lines[start])) start += 1;
  let end = lines.length;
  while (end > start && isEdge(lines[end - 1])) end -= 1;
  return { start, end };
}

function commandLines(
  lines: readonly string[],
  start: number,
  end: number,
): Omit<EdgeLine, 'isSetup'>[] {
  return lines
    .slice(start, end)
    .map((text, at) => ({ text, line: start + at + 1 }))
    .filter(({ text }) => !isBlank(text));
}

/** A line at an edge is a command, or it is wrong: what looks like one is never handed to a model in silence. */
function understood({ text, line, isSetup }: EdgeLine): {
  command?: Command;
  problems: Problem[];
} {
  const word = wordOf(text) ?? '';
  const here = (expected: string): { problems: Problem[] } => ({
    problems: [{ line, column: 1, expected }],
  });
  const shown = word.length > limits.nameChars ? 'word' : word;
  const literally = `(a line of the content that begins so is written //${shown})`;
  if (!isSetup && word !== 'push')
    return here(`/push, the one command behind the content ${literally}`);
  if (!isCommandWord(word))
    return here(`one of /${commandWords.join(', /')} before the content ${literally}`);
  if (text.length > limits.lineChars)
    return here(`a command of at most ${limits.lineChars} characters`);
  return readCommandLine(text, line);
}

/** A queue refuses the second of two names when the first is queued already: so that is known beforehand. */
function namesTwice(commands: readonly Command[]): Problem[] {
  const seen = new Set<string>();
  const problems: Problem[] = [];
  for (const each of commands) {
    if (each.command !== 'push' || each.name === '') continue;
    if (seen.has(each.name))
      problems.push({
        line: each.line,
        column: each.column,
        expected: `a name that no other /push of the prompt has, not ${each.name.slice(0, limits.nameChars)}`,
      });
    seen.add(each.name);
  }
  return problems;
}

function withoutBlankEnds(lines: readonly string[]): string[] {
  const isText = (line: string): boolean => !isBlank(line);
  const first = lines.findIndex(isText);
  return first < 0 ? [] : lines.slice(first, lines.findLastIndex(isText) + 1);
}
