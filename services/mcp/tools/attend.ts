import { z } from 'zod';
import { acceptedContent, inputRequired } from '@modelcontextprotocol/server';
import type { AttendWord } from '../../../src/attention/session/messages.js';
import { attendShape } from '../../../src/attention/session/request.js';
import { sessionLimits, type SessionView } from '../../../src/attention/session/shapes.js';
import { BusError } from '../../../src/errors/bus-error.js';
import { Attends, openGates } from '../../../src/remote/attends.js';
import { renderQuestion, sessionLine } from '../../../src/render/attend.js';
import type { Bus } from '../bus.js';
import {
  acts,
  listing,
  type Reply,
  type Call,
  type Operation,
} from '../../../src/operations/operation.js';
import { PersonNeeded } from '../tool.js';
import { withoutCommon } from '../../../src/operations/tasks.js';

/** An answer must still come within the time that the client gives it. */
const marginMs = 1_000;
const listMax = 100;
const verbs = ['begin', 'answer', 'show', 'list', 'withdraw', 'escape'] as const;

const input = z.strictObject({
  verb: z
    .enum(verbs)
    .default('begin')
    .describe('begin a session, answer its question, show or list, withdraw or escape.'),
  ...attendShape.shape,
  choice: z.string().max(sessionLimits.wordChars).default('').describe('answer: one of options.'),
  text: z
    .string()
    .max(sessionLimits.textChars)
    .default('')
    .describe('answer: what the choice needs.'),
  question: z.int().min(0).default(0).describe('answer: number of the question that is meant.'),
  wait: z
    .boolean()
    .default(true)
    .describe('Wait for its end or its question, for timeout_seconds; it goes on afterwards.'),
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

interface Attended {
  sessions: { context: string; state: string; asks: string }[];
  session: Omit<SessionView, 'trace'> | null;
  trace: SessionView['trace'];
}

/** `attend`: the outer protocol around tasks. */
export const attend: Operation<typeof input, Bus> = {
  name: 'attend',
  title: 'Attend an intent',
  description:
    'Have an intent attended before it is done: what is missing (declare deficits), which tasks it is, who does them, and what is risky. The session stops with a question where a person has to decide: verb answer shows it to the person in a form of the client, and a client without forms has them run `sigma attend answer`. Only whether what a protocol brought back is complete is answered by you, with choice and text. What is harmless passes in silence; risky tasks stop for a judgement by a person. The trace says of each task by what it is situated.',
  input,
  output,
  annotations: acts,
  doing: 'attending',
  async run({ verb, choice, text, question, wait, ...given }, call) {
    const attends = new Attends(await call.bus.client());
    const { signal } = call;
    const { context } = given;
    switch (verb) {
      case 'list':
        return listed(await attends.list(false, listMax, { signal }));
      case 'show':
        return shown(await waited(attends, await attends.show(context, { signal }), wait, call));
      case 'begin':
        return shown(
          await waited(attends, await attends.begin(withoutCommon(given), { signal }), wait, call),
        );
      case 'answer': {
        const now = await answered(attends, { context, question, choice, text }, call);
        return shown(await waited(attends, now, wait, call));
      }
      case 'withdraw':
      case 'escape':
        return shown(await attends.say({ context, what: verb }, { signal }));
    }
  },
};

/** A person decides, in a form: what a model gives as the answer counts only for what it brought itself. */
async function answered(
  attends: Attends,
  { context, question, choice, text }: Pick<AttendWord, 'context' | 'question' | 'choice' | 'text'>,
  { bus, responses, signal }: Call<Bus>,
): Promise<SessionView> {
  const view = await attends.show(context, { signal });
  const asked = view.question;
  if (asked === null || asked.kind === 'restore') {
    if (choice === '') throw new BusError('USAGE', { detail: 'answer needs a choice' });
    return attends.say({ context, what: 'answer', question, choice, text }, { signal });
  }
  const form = z.object({
    choice: z.enum(asked.options.map((each) => each.choice)).describe('What shall be done.'),
    text: z.string().default('').describe('What the choice needs, if it needs anything.'),
  });
  const key = `answer-${context}-${view.run}-${asked.number}`;
  const said = acceptedContent(responses, key, form);
  if (said === undefined) {
    if (responses !== undefined && key in responses) return view;
    const message = renderQuestion(asked, context);
    throw new PersonNeeded({ [key]: inputRequired.elicit({ message, requestedSchema: form }) });
  }
  const { number } = asked;
  return bus.asPerson((client) =>
    new Attends(client).say({ context, what: 'answer', question: number, ...said }),
  );
}

function waited(
  attends: Attends,
  view: SessionView,
  isWaited: boolean,
  call: Call<Bus>,
): Promise<SessionView> {
  if (!isWaited) return Promise.resolve(view);
  const withinMs = Math.max(0, call.deadlineMs - marginMs);
  const { signal } = call;
  return attends.follow(view, (now) => call.tell(sessionLine(now)), { withinMs, signal });
}

function summaryOf(view: SessionView): Attended['sessions'][number] {
  const { context, state, question } = view;
  return { context, state, asks: question?.kind ?? openGates(view).join(', ') };
}

function shown(view: SessionView): Reply<Attended> {
  const { trace, ...session } = view;
  return listing<Attended>(
    { sessions: [summaryOf(view)], session, trace },
    ['trace'],
    attendedText,
    { rest: () => 'Call attend with verb show and a larger max_tokens.' },
  );
}

function listed(views: readonly SessionView[]): Reply<Attended> {
  return listing<Attended>(
    { sessions: views.map(summaryOf), session: null, trace: [] },
    ['sessions'],
    attendedText,
  );
}

function attendedText({ sessions, session, trace }: Attended): string {
  if (session === null)
    return sessions.length === 0
      ? 'No session is open.'
      : sessions.map((each) => `${each.context}: ${each.state} ${each.asks}`).join('\n');
  const { context, state, question, is_over, is_converged } = session;
  const gates = openGates({ trace });
  return [
    `Session ${context} is ${state}.`,
    ...trace.map(
      (each) =>
        `${each.entry}: ${each.risk || 'not assessed'}; ${each.findings.map(({ signal }) => signal).join(', ') || 'no findings'}; situated by ${each.situated_by || 'nothing yet'}; ${each.outcome || 'not delegated'}`,
    ),
    ...(is_over ? [is_converged ? 'It converged.' : 'It ended; no convergence is claimed.'] : []),
    ...(question === null
      ? []
      : [
          `Question ${question.number} (${question.kind}): ${question.text}`,
          ...question.options.map(
            ({ choice, means, needs }) => `- ${choice}: ${means}${needs && ` (text: ${needs})`}`,
          ),
        ]),
    ...gates.map((gate) => `Gate ${gate} waits for a person: sigma gate show ${gate}`),
  ].join('\n');
}
