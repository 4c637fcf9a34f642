import { optionStart } from './command-line.js';
import { escapeEdges, trimmed } from './lines.js';
import { promptLimits, type Command, type Prompt } from './shapes.js';

/**
 * The inverse of `parsePrompt`: what it prints is read as the same prompt again, places included, and is never longer than
 * what the prompt was read from. Commands stand at their lines as far as what precedes them allows.
 */
export function printPrompt({ setup, content, teardown }: Prompt): string {
  const lines: string[] = [];
  for (const each of setup) placed(lines, each);
  if (content !== '') lines.push(...escapeEdges(content.split('\n')));
  for (const each of teardown) placed(lines, each);
  return lines.join('\n');
}

function placed(lines: string[], command: Command): void {
  // A line has a byte at least: a place beyond is of no prompt that could be read.
  const last = Math.min(command.line, promptLimits.bytes) - 1;
  while (lines.length < last) lines.push('');
  lines.push(printCommand(command));
}

/** One line, without its end. */
export function printCommand(command: Command): string {
  switch (command.command) {
    case 'read':
      return `/read ${isPlainPath(command.path) ? command.path : quoted(command.path)}`;
    case 'push': {
      const { name, model, timeoutMs, prompt } = command;
      return words('/push', [
        name !== '' && `name=${name}`,
        model !== '' && `model=${model}`,
        timeoutMs > 0 && `timeout=${timeoutMs / 1000}`,
        isPlainPrompt(prompt) ? prompt : quoted(prompt),
      ]);
    }
    case 'run': {
      const { count, timeoutMs, concurrency } = command;
      return words('/run', [
        count > 0 && String(count),
        timeoutMs > 0 && `timeout=${timeoutMs / 1000}`,
        concurrency > 0 && `concurrency=${concurrency}`,
      ]);
    }
  }
}

function words(first: string, rest: readonly (string | false)[]): string {
  return [first, ...rest.filter((each) => each !== false)].join(' ');
}

function isPlainPath(path: string): boolean {
  return !/^"|[ \t\r\n]/.test(path);
}

/** Whether it is read as it stands: not as an option, as quoted, or with less around it. */
function isPlainPrompt(prompt: string): boolean {
  if (prompt.startsWith('"') || prompt.includes('\n')) return false;
  return trimmed(prompt) === prompt && !optionStart.test(prompt);
}

/** Other characters stand for themselves, so that a line grows by nothing that it had not before. */
function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`;
}
