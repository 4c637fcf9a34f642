import { z } from 'zod';
import { BusError } from '../errors/bus-error.js';
import { inOurWords, objectionIn } from '../errors/objection.js';
import type { ActionInQuestion } from './shapes.js';

/** An action as a line of JSON: limits are those of a task's action. */

const idChars = 200;
const words = z.array(z.string().max(32_000)).max(256);

const lineShape = z.object({
  id: z.union([z.string().max(idChars), z.number()]).optional(),
  runner: z.string().max(idChars).optional(),
  argv: words.optional(),
  /** Text of a shell. */
  command: z.string().max(262_144).optional(),
  cwd: z.string().max(4_096).optional(),
  env: z.record(z.string(), z.string()).optional(),
  stdin: z.string().max(262_144).optional(),
  read_only: z.boolean().optional(),
  idempotency_key: z.string().max(idChars).optional(),
  data: z.array(z.string()).max(1_000).optional(),
  scope: z.array(z.string()).max(1_000).optional(),
});

/** Throws ATTENTION_LINE_INVALID. */
export function parseActionLine(text: string, line: number): z.infer<typeof lineShape> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalidLine(line, 'no JSON');
  }
  const answer = lineShape.safeParse(value, inOurWords);
  if (answer.success) return answer.data;
  throw invalidLine(line, objectionIn(answer.error));
}

/** Throws ATTENTION_LINE_INVALID. */
export function actionOf(wanted: z.infer<typeof lineShape>, line: number): ActionInQuestion {
  const { argv, command } = wanted;
  if ((argv === undefined) === (command === undefined))
    throw invalidLine(line, 'give either argv or command');
  return {
    runner: wanted.runner ?? 'command',
    argv: argv ?? ['sh', '-c', command ?? ''],
    cwd: wanted.cwd ?? '',
    env: wanted.env ?? {},
    stdin: wanted.stdin ?? '',
    read_only: wanted.read_only ?? false,
    idempotency_key: wanted.idempotency_key ?? '',
    data: wanted.data ?? [],
    scope: wanted.scope ?? [],
  };
}

export function invalidLine(line: number, detail: string): BusError {
  return new BusError('ATTENTION_LINE_INVALID', { line, detail });
}
