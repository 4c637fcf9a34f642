import { z } from 'zod';
import { inOurWords, objectionIn } from '../../errors/objection.js';
import { BusError } from '../../errors/bus-error.js';
import {
  deficitConditions,
  deficitOf,
  protocols,
  sessionLimits,
  type AttendRequest,
  type Deficit,
  type Draft,
  type Protocol,
  type Role,
} from './shapes.js';
import { declaredDeficit } from './upstream.js';

const limits = sessionLimits;
const text = (charsMax: number): z.ZodString => z.string().max(charsMax);
const word = text(limits.wordChars).min(1);
const name = z
  .string()
  .max(limits.contextChars)
  .regex(/^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$/, 'lower case letters, digits, _ and -');
const entryId = z
  .string()
  .max(limits.wordChars)
  .regex(/^[A-Za-z0-9][\w.-]*$/, 'letters, digits, ".", "_" and "-"');

/** A task as `sigma delegate --schema` has it, or words; what else it may hold is read where it is delegated. */
const task = z.union([
  text(limits.argsChars).min(1).describe('What is to be done, in words.'),
  z
    .looseObject({
      id: entryId.optional().describe('Entry of the list; absent: numbered.'),
      task: text(limits.argsChars).min(1).describe('What is to be done, in words.'),
      role: text(limits.wordChars)
        .optional()
        .describe('Role of the team that does it: a member, its type or its perspective.'),
    })
    .describe('A task with whatever else `sigma delegate --schema` names.'),
]);
const tasks = z.array(task).max(limits.tasks);

const prior = z.union([
  text(limits.priorChars).min(1).describe('What a protocol before this one brought, as text.'),
  z.strictObject({
    protocols: z.array(word).max(16).default([]).describe('Protocols that brought it.'),
    text: text(limits.priorChars).default('').describe('What they brought.'),
    tasks: tasks.default([]).describe('The tasks in it; none: the items of a list in the text.'),
  }),
]);

const deficit = z.strictObject({
  protocol: z.enum(protocols).describe('The protocol that resolves it.'),
  deficit: z
    .enum(deficitConditions as [string, ...string[]])
    .optional()
    .describe('What is missing; absent: what the protocol resolves.'),
  evidence: text(limits.evidenceChars).min(1).describe('Why it is said to be missing.'),
  blocking: z
    .boolean()
    .default(true)
    .describe('Whether the work would fail or do harm without it; in doubt: yes.'),
});

const member = z.strictObject({
  name: word.describe('Agent or alias.'),
  type: text(limits.wordChars).default('').describe('What kind of agent it is.'),
  perspective: text(limits.focusChars).default('').describe('From where it looks.'),
});

export const teamShape = z.strictObject({
  name: word.describe('What the team is called.'),
  members: z.array(member).min(1).max(limits.members).describe('Who is in it.'),
});

export const roleShape = z.strictObject({
  name: word.describe('Agent or alias that plays it.'),
  type: text(limits.wordChars).default('').describe('What kind of agent it is.'),
  focus: text(limits.focusChars).default('').describe('What it looks at.'),
});

/** The request that begins a session, as JSON. */
export const attendShape = z.strictObject({
  context: name.default('default').describe('Its tasks are kept in the list attend-CONTEXT.'),
  args: text(limits.argsChars).default('').describe('What is to be done, in words.'),
  tasks: tasks.default([]).describe('Tasks that are wanted as they are.'),
  prior: prior.nullish().describe('What protocols before this one brought.'),
  conversation: text(limits.conversationChars)
    .default('')
    .describe('What was said besides; looked at last.'),
  deficits: z
    .array(deficit)
    .max(limits.deficits)
    .default([])
    .describe('What is missing in the intent, as the caller knows it.'),
  team: teamShape.nullish().describe('Who is there to do it; absent: whoever can.'),
  owner: text(limits.wordChars).default('').describe('Who gets the results; absent: the caller.'),
});

/** Throws ATTEND_INVALID, which names the field; TOO_LARGE. */
export function readAttend(value: unknown): AttendRequest {
  const bytes = Buffer.byteLength(JSON.stringify(value ?? null));
  if (bytes > limits.bytes)
    throw new BusError('TOO_LARGE', { what: 'the session', bytes, limit: limits.bytes });
  const read = parsed(attendShape, value);
  const { prior: before } = read;
  const of = typeof before === 'string' ? { protocols: [], text: before, tasks: [] } : before;
  return {
    ...{ context: read.context, args: read.args, conversation: read.conversation },
    prior: of ? { ...of, tasks: draftsOf(of.tasks, 'prior') } : null,
    tasks: draftsOf(read.tasks, 'task'),
    deficits: read.deficits.map((each) => deficitFrom(each)),
    team: read.team ?? null,
    ...(read.owner !== '' && { owner: read.owner }),
  };
}

/** Tasks as a person writes them in an answer: JSON. Throws ATTEND_INVALID. */
export function readTasks(value: unknown): Draft[] {
  return draftsOf(parsed(tasks, value), 'task');
}

export interface Cast {
  roles: Role[];
  retained: string[];
}

/** Of an answer about the team. Throws ATTEND_INVALID. */
export function readCast(value: unknown): Cast {
  const shape = z.union([
    z.array(roleShape).max(limits.members),
    z.strictObject({
      roles: z.array(roleShape).max(limits.members).default([]),
      retained: z.array(word).max(limits.members).default([]),
    }),
  ]);
  const read = parsed(shape, value);
  return Array.isArray(read) ? { roles: read, retained: [] } : read;
}

export function isProtocol(said: string): said is Protocol {
  return (protocols as readonly string[]).includes(said);
}

function deficitFrom({
  protocol,
  deficit: named,
  evidence,
  blocking,
}: z.output<typeof deficit>): Deficit {
  if (named !== undefined && named !== deficitOf[protocol])
    throw invalid(`deficits: ${named} is not what ${protocol} resolves`);
  return declaredDeficit(protocol, evidence, blocking);
}

function draftsOf(written: readonly z.output<typeof task>[], prefix: string): Draft[] {
  const drafts = written.map((each, at): Draft => {
    const given: Record<string, unknown> = typeof each === 'string' ? { task: each } : each;
    const { id, role, ...document } = given;
    return {
      id: typeof id === 'string' ? id : `${prefix}-${at + 1}`,
      role: typeof role === 'string' ? role : '',
      document,
    };
  });
  const ids = drafts.map(({ id }) => id);
  const twice = ids.find((each, at) => ids.indexOf(each) !== at);
  if (twice !== undefined) throw invalid(`tasks: ${twice} is named twice`);
  return drafts;
}

function parsed<T extends z.ZodType>(shape: T, value: unknown): z.output<T> {
  const read = shape.safeParse(value, inOurWords);
  if (read.success) return read.data;
  throw invalid(objectionIn(read.error));
}

function invalid(detail: string): BusError {
  return new BusError('ATTEND_INVALID', { detail });
}
