import type { GroundingEvidence } from '../delegation/task/shapes.js';
import type { Note } from '../task/life/record.js';
import type { TaskIteration } from '../task/life/task-iteration.js';
import type { TaskView } from '../task/requests/messages.js';
import { resultMessage, type ResultMessage } from '../task/requests/result-message.js';
import { printable, printableText, wrap } from './terminal.js';
import { advisoryText, critiqueText, placeOf } from './task.js';
import { isOver, type Tasks } from '../remote/tasks.js';

/** Tasks of one story, and rows of one task's children; what is beyond is counted. */
const tasksMax = 300;
const textChars = 300;
/** Of one critique, the worst. */
const findingsTold = 3;

interface StoryEvent {
  at_ms: number;
  /** Since the beginning. */
  after_ms: number;
  task: string;
  name: string;
  depth: number;
  what: string;
  text: string;
}

export interface Story {
  task: string;
  began_ms: number;
  tasks: number;
  /** There were more tasks than are shown. */
  more: boolean;
  events: StoryEvent[];
  results: ResultMessage[];
}

/** A task, and all that it pushed or delegated, to any depth. Throws NO_SUCH_TASK. */
export async function storyOf(tasks: Tasks, id: string): Promise<Story> {
  const root = await tasks.show(id);
  const found = [{ view: root, depth: 0 }];
  let more = false;
  for (const { view, depth } of found) {
    const room = tasksMax - found.length;
    if (room <= 0) {
      more = true;
      break;
    }
    const children = await tasks.list({ states: [], parent: view.id }, room);
    more ||= children.more;
    const known = new Set(found.map(({ view: its }) => its.id));
    for (const child of children.tasks)
      if (!known.has(child.id)) found.push({ view: child, depth: depth + 1 });
  }
  const began_ms = root.created_ms;
  const events = found
    .flatMap(({ view, depth }) => eventsOf(view).map((event) => ({ ...event, view, depth })))
    .sort((a, b) => a.at_ms - b.at_ms)
    .map(({ at_ms, what, text, view, depth }) => ({
      ...{ at_ms, after_ms: Math.max(0, at_ms - began_ms) },
      ...{ task: view.id, name: view.task.name, depth, what, text },
    }));
  const results = found.filter(({ view }) => isOver(view)).map(({ view }) => resultMessage(view));
  return { task: id, began_ms, tasks: found.length, more, events, results };
}

type Told = Pick<StoryEvent, 'at_ms' | 'what' | 'text'>;

/** What happened to one task, each kind in its own order; those of one moment stay in this one. */
function eventsOf(view: TaskView): Told[] {
  const { notes, response, gates, created_ms, finished_ms, updated_ms, owner, parent, task } = view;
  const answeredMs = finished_ms || updated_ms;
  const attendedMs = notes.find(({ state }) => state === 'assigned')?.at_ms ?? created_ms;
  const how = owner === '' ? `delegated by ${parent}` : `pushed by ${owner}`;
  return [
    { at_ms: created_ms, what: how, text: task.task },
    ...notes.slice(1).map(noteOf),
    ...view.findings.map((each) => ({
      ...{ at_ms: attendedMs, what: 'advisory', text: `${advisoryText(each)}; it went on` },
    })),
    ...gates.flatMap(({ id, asked_ms, seen_by, judged_ms, judged_by, judgement, direction }) => [
      { at_ms: asked_ms, what: 'gate', text: `${id}: a person is asked, seen by ${seen_by}` },
      ...(judged_ms === 0
        ? []
        : [
            {
              at_ms: judged_ms,
              what: 'gate',
              text: `${id}: ${judgement} by ${judged_by} ${direction}`,
            },
          ]),
    ]),
    ...view.iterations.flatMap(critiqueOf),
    ...(response?.steps ?? []).map(({ at_ms, what, text }) => ({ at_ms, what, text })),
    ...groundingOf(view, response?.grounding_evidence ?? null, answeredMs),
  ];
}

/** What it came to, and the worst that was found. */
function critiqueOf(each: TaskIteration): Told[] {
  const { at_ms, findings } = each;
  return [
    { at_ms, what: 'critique', text: critiqueText(each) },
    ...findings.slice(0, findingsTold).map(({ id, severity, text, remedy }) => ({
      ...{ at_ms, what: `  ${severity}`, text: `${text} ${remedy} (${id})` },
    })),
  ];
}

/** What a note of the manager says, in words: it holds the event by which the state came to be. */
const eventWords: Readonly<Record<string, string>> = {
  'task.released': 'started from its queue',
  'task.ready': 'its turn has come',
  'task.declined': 'it could not be done with what is there',
  'task.cancelled': 'it was cancelled',
  'dependency.failed': 'what it depends on was not done',
  'attention.passed': 'no risk stops it',
  'attention.gated': 'a person is asked about its risk',
  'gate.judged': 'its risk was judged',
  'worker.absent': 'no worker for it is there',
  'worker.accepted': 'the worker has begun',
  'worker.completed': 'the worker has finished',
  'worker.failed': 'the worker failed',
  'worker.blocked': 'the worker could not go on',
  'worker.gated': 'the worker stopped at a risk',
  'worker.asked': 'the worker asks something',
  'worker.lost': 'the worker was lost',
  'review.done': 'its result was checked',
  'critique.done': 'its result was reviewed by the critic',
  'revision.prepared': 'it goes back to be revised',
  'clarification.given': 'it got an answer',
  'block.resolved': 'it may go on',
  'outcome.reported': 'a person said how it ended',
  'decision.made': 'a person decided',
  'timer.due': 'its time is over',
};

function noteOf({ at_ms, state, text }: Note): Told {
  const [, event = '', reason = ''] = /^(\w+\.\w+)(?:: ([^]*))?$/.exec(text) ?? [];
  const words = Object.hasOwn(eventWords, event) ? eventWords[event] : undefined;
  if (words === undefined) return { at_ms, what: state, text };
  return { at_ms, what: state, text: reason === '' ? words : `${words} (${reason})` };
}

function groundingOf(
  { reviews }: TaskView,
  evidence: GroundingEvidence | null,
  at_ms: number,
): Told[] {
  if (evidence === null) return [];
  const statuses = reviews.at(-1)?.citations ?? [];
  return [
    ...evidence.queries_executed.map((text) => ({ at_ms, what: 'asked the PGC', text })),
    ...evidence.citations.map((citation, at) => ({
      at_ms,
      what: `[${at + 1}]`,
      text: `${placeOf(citation)} ${citation.symbol} (${statuses[at]?.status ?? 'unverified'})`,
    })),
  ];
}

export function renderStory({ task, tasks, more, events, results }: Story): string {
  const others = tasks === 1 ? '' : ` and ${tasks - 1} more tasks`;
  return [
    `Story of ${printable(task)}${others}${more ? '; not all of them are shown' : ''}`,
    ...events.map(lineOf),
    '',
    'Results',
    ...results.flatMap(resultLines),
  ].join('\n');
}

function lineOf({ after_ms, task, name, depth, what, text }: StoryEvent): string {
  const who = `${'  '.repeat(depth)}${name || task}`;
  const first = text.trim().split('\n')[0] ?? '';
  const cut = first.length > textChars ? `${first.slice(0, textChars - 1)}…` : first;
  return printable(
    `${`+${(after_ms / 1_000).toFixed(1)} s`.padStart(10)}  ${who}  ${what}: ${cut}`,
  );
}

function resultLines({
  from,
  name,
  success,
  result,
  error,
  partial_output,
}: ResultMessage): string[] {
  const who = printable(name === '' ? from : `${name} (${from})`);
  const said = (success ? result : partial_output) ?? '';
  return [
    success
      ? `${who}: completed`
      : `${who}: ${printable(`${error?.code ?? ''}: ${error?.text ?? ''}`)}`,
    ...(said.trim() === '' ? [] : wrap(printableText(said.trimEnd()), '  ').split('\n')),
  ];
}
