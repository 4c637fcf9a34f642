import { z } from 'zod';
import type { AttendWord } from '../attention/session/messages.js';
import { attendShape, isProtocol } from '../attention/session/request.js';
import { protocols, sessionLimits, type SessionView } from '../attention/session/shapes.js';
import { BusError } from '../errors/bus-error.js';
import { askingRows, asksPerson, Attends, openGates } from '../remote/attends.js';
import {
  endLine,
  renderQuestion,
  renderSession,
  renderSessions,
  sessionLine,
  undoneText,
} from '../render/attend.js';
import { makeKnown } from './prompts.js';
import { waitInput } from './shapes.js';
import {
  acts,
  listing,
  type Call,
  type CommandLine,
  type Operation,
  type Reply,
  type Source,
} from './operation.js';

/** Intents, attended by a session that asks a person where one must decide. */

const listMax = 100;
const verbs = ['begin', 'answer', 'show', 'list', 'withdraw', 'escape'] as const;

const offered = z.strictObject({
  verb: z
    .enum(verbs)
    .default('begin')
    .describe('begin a session, answer its question, show or list, withdraw or escape.'),
  ...attendShape.omit({ owner: true }).shape,
  choice: z.string().max(sessionLimits.wordChars).default('').describe('answer: one of options.'),
  text: z
    .string()
    .max(sessionLimits.textChars)
    .default('')
    .describe('answer: what the choice needs.'),
  question: z.int().min(0).default(0).describe('answer: number of the question that is meant.'),
  wait: waitInput,
});
const input = offered.extend({
  all: z.boolean().default(false),
  limit: z.int().min(1).max(listMax).default(listMax),
});

const row = z.looseObject({
  entry: z.string(),
  task: z.string(),
  risk: z.string(),
  findings: z.array(z.looseObject({ signal: z.string(), severity: z.string() })),
  judgements: z.array(z.looseObject({ judgement: z.string(), by: z.string() })),
  situated_by: z.string(),
  outcome: z.string(),
});

const output = z.looseObject({
  sessions: z.array(z.looseObject({ context: z.string(), state: z.string(), asks: z.string() })),
  session: z
    .looseObject({
      context: z.string(),
      state: z.string(),
      is_over: z.boolean(),
      is_converged: z.boolean(),
      question: z
        .looseObject({
          number: z.int(),
          kind: z.string(),
          text: z.string(),
          options: z.array(z.looseObject({ choice: z.string(), needs: z.string() })),
        })
        .nullable(),
    })
    .nullable(),
  trace: z.array(row).describe('Each task with its risk, and by what it is situated.'),
});

const contextArgument = {
  ...{ field: 'context', argument: '<context>' },
  help: 'name of the session, as `sigma attend list` shows it',
};
const noWait = { flag: '--no-wait', help: 'print the present state and return' };
const ofSession: Pick<CommandLine, 'asks' | 'isFollowed' | 'refusal' | 'deadlineMs'> = {
  ...{ asks: 'bus', isFollowed: true, refusal: 'ATTEND_INVALID' },
  deadlineMs: Infinity,
};
const fileOf = (holds: Source['holds']): Source => ({ holds, bytesMax: sessionLimits.bytes });

const commands: readonly CommandLine[] = [
  {
    ...ofSession,
    asks: 'for an agent',
    as: 'attend as this agent, which gets the results as messages',
    command: 'attend',
    help: 'plan an intent with checks: what is missing, which tasks, which workers, what is risky',
    arguments: [
      {
        ...{ field: 'args', argument: '[intent]' },
        help: 'what you want done; or answer, show, list, withdraw, escape',
      },
    ],
    // A named list of tasks is intent enough.
    needs: ['args', 'context', 'tasks', 'prior'],
    flags: {
      context: {
        flag: '--context <name>',
        help: 'name of the session; its tasks are in the list attend-NAME',
      },
      tasks: {
        flag: '--tasks <file>',
        help: 'tasks as a JSON array; `sigma delegate --schema` describes one',
        source: fileOf('json'),
      },
      prior: {
        flag: '--prior <file>',
        help: 'result of a previous protocol: text or JSON',
        source: fileOf('either'),
      },
      conversation: {
        flag: '--conversation <file>',
        help: 'further conversation to consider',
        source: fileOf('text'),
      },
      deficits: {
        flag: '--deficit <protocol:evidence>',
        help: `what is missing, by who resolves it: ${protocols.join(', ')}`,
        read: deficitOf,
      },
      team: {
        flag: '--team <file>',
        help: 'JSON {"name": …, "members": [{"name": AGENT, "type": …}]}',
        source: fileOf('json'),
      },
      wait: noWait,
    },
  },
  {
    ...ofSession,
    command: 'attend answer',
    help: 'answer the open question of a session',
    sets: { verb: 'answer' },
    arguments: [
      contextArgument,
      { field: 'choice', argument: '<choice>', help: 'one of the options of the question' },
    ],
    flags: {
      text: {
        flag: '--text <text>',
        help: 'text that the choice needs; @FILE reads a file',
        source: { holds: 'text', names: '@', bytesMax: sessionLimits.textChars },
      },
      question: { flag: '--question <n>', help: 'only if this question is still open' },
      wait: noWait,
    },
  },
  {
    ...ofSession,
    command: 'attend show',
    help: 'show state, open question, tasks and trace of a session',
    sets: { verb: 'show', wait: false },
    arguments: [contextArgument],
    flags: { wait: { flag: '--wait', help: 'follow it until it is over or asks something' } },
  },
  {
    ...ofSession,
    command: 'attend list',
    help: 'list open sessions',
    sets: { verb: 'list' },
    arguments: [],
    flags: {
      all: { flag: '--all', help: 'also finished sessions' },
      limit: { flag: '--limit <n>', help: 'most rows' },
    },
  },
  ...(['withdraw', 'escape'] as const).map((verb) => ({
    ...ofSession,
    command: `attend ${verb}`,
    help:
      verb === 'withdraw'
        ? 'end a session: cancel its tasks and notify its team'
        : 'leave an upstream protocol, or deactivate a session as it is',
    sets: { verb },
    arguments: [contextArgument],
  })),
];

/** `attend`: the outer protocol around tasks. */
export const attend: Operation<typeof input> = {
  name: 'attend',
  title: 'Attend an intent',
  description:
    'Have an intent attended before it is done: what is missing (declare deficits), which tasks it is, who does them, and what is risky. The session stops with a question where a person has to decide: verb answer shows it to the person in a form of the client, and a client without forms has them run `sigma attend answer`. Only whether what a protocol brought back is complete is answered by you, with choice and text. What is harmless passes in silence; risky tasks stop for a judgement by a person. The trace says of each task by what it is situated.',
  input,
  offered,
  output,
  annotations: acts,
  looksWith: ({ verb }) => verb === 'list' || verb === 'show',
  doing: 'attending',
  cli: commands,
  async run({ verb, choice, text, question, wait, all, limit, ...given }, call) {
    const attends = new Attends(await call.bus.client());
    const { signal } = call;
    const { context } = given;
    switch (verb) {
      case 'list':
        return listed(await attends.list(all, limit, { signal }));
      case 'escape':
        return shown(await attends.say({ context, what: verb }, { signal }));
      case 'withdraw':
        return shown(await waited(attends.say({ context, what: verb }, { signal })));
      case 'show':
        return wait ? after(attends.show(context, { signal })) : shown(await attends.show(context));
      case 'begin':
        return after(begun());
      case 'answer':
        return after(answered(attends, { context, question, choice, text }, call));
    }

    async function begun(): Promise<SessionView> {
      const owner = call.actor;
      if (owner !== '') await makeKnown(await call.bus.client(), owner);
      return attends.begin({ ...given, owner }, { signal });
    }

    async function after(view: Promise<SessionView>): Promise<Reply<Attended>> {
      return outcomeOf(await (wait ? waited(view) : view));
    }

    async function waited(view: Promise<SessionView>): Promise<SessionView> {
      const within = { withinMs: call.waitMs, signal };
      return attends.follow(await view, (now) => call.tell(sessionLine(now)), within);
    }
  },
};

function deficitOf(said: string): object {
  const [protocol = '', ...rest] = said.split(':');
  const evidence = rest.join(':').trim();
  if (!isProtocol(protocol) || evidence === '')
    throw new BusError('USAGE', {
      detail: `--deficit is PROTOCOL:EVIDENCE, with one of ${protocols.join(', ')}`,
    });
  return { protocol, evidence };
}

/** A person decides: what a model gives as the answer counts only for what it brought itself. */
async function answered(
  attends: Attends,
  { context, question, choice, text }: Pick<AttendWord, 'context' | 'question' | 'choice' | 'text'>,
  { bus, person, signal }: Call,
): Promise<SessionView> {
  const view = await attends.show(context, { signal });
  const asked = view.question;
  if (person === 'caller' || asked === null || asked.kind === 'restore') {
    if (choice === '') throw new BusError('USAGE', { detail: 'answer needs a choice' });
    return attends.say({ context, what: 'answer', question, choice, text }, { signal });
  }
  const { number } = asked;
  const said = person({
    key: `answer-${context}-${view.run}-${number}`,
    message: renderQuestion(asked),
    command: `sigma attend answer ${context} CHOICE`,
    form: z.object({
      choice: z.enum(asked.options.map((each) => each.choice)).describe('What shall be done.'),
      text: z.string().default('').describe('What the choice needs, if it needs anything.'),
    }),
  });
  if (said === undefined) return view;
  return bus.asPerson((client) =>
    new Attends(client).say({ context, what: 'answer', question: number, ...said }),
  );
}

function summaryOf(view: SessionView): { context: string; state: string; asks: string } {
  const { context, state } = view;
  return { context, state, asks: asksOf(view) };
}

/** The kind of its question, its open gates, or its tasks that ask something. */
function asksOf(view: SessionView): string {
  const open = openGates(view);
  const tasks = askingRows(view).map(({ entry, asks = '' }) => `${entry}: ${asks}`);
  return view.question?.kind ?? (open.length > 0 ? open : tasks).join(', ');
}

/** `error`: where it is said whether there is one. */
type Attended = SessionView & { error?: null };

function shown(view: Attended): Reply<Attended> {
  return {
    ...listing<Attended>(view, ['trace'], attendedText, {
      rest: () => 'Call attend with verb show and a larger max_tokens.',
    }),
    structure: ({ error: _, ...part }) => {
      const { trace, ...session } = part;
      return { sessions: [summaryOf(part)], session, trace };
    },
    screen: renderSession,
  };
}

/** With the failure that it is to a person: it asks, or ended without convergence. */
export function outcomeOf(view: SessionView): Reply<Attended> {
  return { ...shown({ ...view, error: null }), failure: failureOf(view)?.toFailure() };
}

function failureOf(view: SessionView): BusError | undefined {
  const { context, state, trace } = view;
  if (asksPerson(view) && !view.is_over)
    return new BusError('ATTEND_ASKS', {
      context,
      asks: asksOf(view),
    });
  if (view.reason === 'NO_TASKS') return new BusError('NO_TASKS', { context });
  if (state === 'withdrawn') return new BusError('ATTEND_WITHDRAWN');
  if (state !== 'diverged') return undefined;
  const blind = trace.filter((each) => each.outcome === 'completed' && each.situated_by === '');
  if (blind.length === 0)
    return new BusError('ATTEND_UNDONE', { context, what: undoneText(trace) });
  const tasks = blind.map(({ entry }) => entry).join(', ');
  return new BusError('ATTEND_UNSITUATED', { context, tasks });
}

function listed(sessions: readonly SessionView[]): Reply<{ sessions: readonly SessionView[] }> {
  return {
    ...listing({ sessions }, ['sessions'], (part) =>
      part.sessions.length === 0
        ? 'No session is open.'
        : part.sessions
            .map(summaryOf)
            .map(({ context, state, asks }) => `${context}: ${state} ${asks}`)
            .join('\n'),
    ),
    structure: (part) => ({ sessions: part.sessions.map(summaryOf), session: null, trace: [] }),
    screen: (part) => renderSessions(part.sessions),
  };
}

function attendedText(view: SessionView): string {
  const { context, state, question, is_over, trace } = view;
  const gates = openGates({ trace });
  return [
    `Session ${context} is ${state}.`,
    ...trace.map(
      (each) =>
        `${each.entry}: ${each.risk || 'not assessed'}; ${each.findings.map(({ signal }) => signal).join(', ') || 'no findings'}; situated by ${each.situated_by || 'nothing yet'}; ${each.outcome || 'not delegated'}`,
    ),
    ...(is_over ? [endLine(view)] : []),
    ...trace.flatMap(({ entry, task, outcome }) =>
      is_over && outcome === 'completed'
        ? [`Result of ${entry}: task_status with the id ${task}`]
        : [],
    ),
    ...(question === null
      ? []
      : [
          `Question ${question.number} (${question.kind}): ${question.text}`,
          ...question.options.map(
            ({ choice, means, needs }) => `- ${choice}: ${means}${needs && ` (text: ${needs})`}`,
          ),
        ]),
    ...askingRows({ trace }).map(
      ({ entry, task, asks = '' }) => `${entry} (${task}) asks: ${asks}`,
    ),
    ...gates.map((gate) => `Gate ${gate} waits for a person: sigma gate show ${gate}`),
  ].join('\n');
}
