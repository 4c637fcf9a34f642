import { z } from 'zod';
import { delegatedTaskSchema } from '../../delegation/task/schema.js';
import { taskLimits } from '../../delegation/task/shapes.js';
import { inOurWords, objectionIn } from '../../errors/objection.js';
import { BusError } from '../../errors/bus-error.js';
import type { BudgetLevel } from '../../model/budget.js';
import type { Tool } from '../../model/conversation.js';
import { promptLimits } from '../grammar/shapes.js';

/** Tools of an agent on the bus. Its tools for the index are those of the MCP server. */

const waitSeconds = { default: 60, max: 3_600 } as const;
const messageCharsMax = 64 * 1024;

const who = (what: string): z.ZodOptional<z.ZodString> =>
  z
    .string()
    .min(1)
    .max(taskLimits.idChars)
    .optional()
    .describe(`${what}: its name in your queue, its id, or parent.`);
const lifo = z.boolean().default(false).describe('The newest instead of the oldest.');

export const pushInput = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$/, 'lower case letters, digits, _ and -')
    .max(promptLimits.nameChars)
    .optional()
    .describe('What it is called in your queue; no two open tasks have the same.'),
  prompt: z
    .string()
    .min(1)
    .max(promptLimits.pushedChars)
    .describe(
      'The whole prompt of the task. The task knows nothing of this conversation. It may begin with lines like `/read path`, which are executed first.',
    ),
  model: z
    .string()
    .min(1)
    .max(promptLimits.modelChars)
    .optional()
    .describe('Another language model than yours.'),
  timeout_seconds: z.int().min(1).max(promptLimits.timeoutSeconds).optional(),
});

export const runInput = z.strictObject({
  count: z
    .int()
    .min(1)
    .max(promptLimits.count)
    .optional()
    .describe('So many at most, oldest first; absent: all that are queued.'),
  concurrency: z
    .int()
    .min(1)
    .max(promptLimits.concurrency)
    .optional()
    .describe('So many at a time, from now on.'),
});

export const checkInput = z.strictObject({ from: who('Only from'), lifo });

export const receiveInput = checkInput.extend({
  wait_seconds: z
    .number()
    .min(0)
    .max(waitSeconds.max)
    .default(waitSeconds.default)
    .describe('Longest wait; it ends earlier when no agent is left that could answer.'),
});

export const sendInput = z.strictObject({
  to: z
    .string()
    .min(1)
    .max(taskLimits.idChars)
    .describe('parent, a task of your queue by its name, or an agent by its id.'),
  message: z.string().min(1).max(messageCharsMax),
});

export const readInput = z.strictObject({
  path: z.string().min(1).max(promptLimits.pathChars).describe('From the root of the tree.'),
});

/** Without the id, which follows from the call, and the session, which is that of the first task. */
export const delegateInput = delegatedTaskSchema.omit({ id: true, session: true });

const nothing = z.strictObject({});

interface AgentTool {
  description: string;
  input: z.ZodObject;
}

export const agentTools = {
  push: {
    description: 'Put a task into your queue. It does not start by itself.',
    input: pushInput,
  },
  run: { description: 'Start tasks of your queue, and go on at once.', input: runInput },
  check: { description: 'Take one message out of your inbox if there is one.', input: checkInput },
  receive: {
    description: 'Wait for one message, the result of a task for example.',
    input: receiveInput,
  },
  send: {
    description: 'Leave a message for another agent, which reads it when it looks.',
    input: sendInput,
  },
  queue: { description: 'Your tasks and how far they are, and those beside you.', input: nothing },
  inbox: { description: 'What waits in your inbox. Nothing is taken.', input: nothing },
  read: { description: 'The text of a file.', input: readInput },
  delegate: {
    description:
      'Delegate checked work to a worker: a question to the index, or a program to run. A risky action waits for a person first. The result arrives in your inbox.',
    input: delegateInput,
  },
} as const satisfies Record<string, AgentTool>;

export type AgentToolName = keyof typeof agentTools;

export function isAgentTool(name: string): name is AgentToolName {
  return Object.hasOwn(agentTools, name);
}

/** Tools that begin new work: not available when tokens run low. */
const beginnings: ReadonlySet<string> = new Set(['push', 'run', 'delegate']);

/** The tools that a model may call at this budget level; `others`: tools beside the agent's own. */
export function toolsAt(level: BudgetLevel, others: readonly Tool[]): Tool[] {
  if (level === 'EXHAUST') return [];
  const own = Object.entries(agentTools).map(([name, { description, input }]) =>
    toolOf(name, description, input),
  );
  const all = [...own, ...others];
  return level === 'CONST' ? all.filter(({ name }) => !beginnings.has(name)) : all;
}

export function toolOf(name: string, description: string, input: z.ZodObject): Tool {
  const { $schema: _schema, ...parameters } = z.toJSONSchema(input, { io: 'input' });
  return { name, description, parameters };
}

/** Throws TOOL_INPUT, which names the field. */
export function argumentsFor<Input extends z.ZodObject>(
  tool: string,
  input: Input,
  given: unknown,
): z.output<Input> {
  const parsed = input.safeParse(given, inOurWords);
  if (parsed.success) return parsed.data;
  throw new BusError('TOOL_INPUT', { tool, detail: objectionIn(parsed.error) });
}
