import { readTask } from '../../../src/delegation/task/schema.js';
import type { DelegatedTask } from '../../../src/delegation/task/shapes.js';
import { parsePrompt } from '../../../src/prompt/grammar/parse.js';
import { promptLimits } from '../../../src/prompt/grammar/shapes.js';
import { isFileAt, textIn, wholeOf } from '../input.js';
import { operatorSession } from '../options.js';
import { usage } from '../output.js';

export interface PromptOptions {
  name?: string;
  model?: string;
  timeout?: number;
  tokens?: number;
  to?: string;
  as?: string;
}

/**
 * A task for the runner `prompt`: of a file, of standard input for `-`, or as it stands there. All of it is understood before
 * anything is sent. Throws PROMPT_INVALID with line and column, TOO_LARGE, TASK_INVALID, USAGE.
 */
export async function promptTask(
  given: string | undefined,
  options: PromptOptions,
  id: string,
): Promise<DelegatedTask> {
  if (given === undefined && process.stdin.isTTY)
    throw usage('no prompt was given: name a file, - or words');
  const text = await textOf(given ?? '-');
  parsePrompt(text);
  const { name, model, timeout, tokens, to } = options;
  const limits = {
    ...(timeout !== undefined && { timeout_ms: timeout }),
    ...(tokens !== undefined && { tokens }),
  };
  const document = {
    ...{ id, task: text, runner: 'prompt' },
    ...(name !== undefined && { name }),
    ...(model !== undefined && { model }),
    ...(to !== undefined && { to }),
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(options.as === undefined && { session: operatorSession }),
  };
  return readTask(document, id);
}

async function textOf(given: string): Promise<string> {
  if (given === '-' || (await isFileAt(given)))
    return textIn(await wholeOf(given, promptLimits.bytes, 'a prompt'), given);
  if (/^\S+\.(md|txt|prompt)$/.test(given)) throw usage(`${given} cannot be read`);
  return given;
}
