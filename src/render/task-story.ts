import type { SessionView } from '../attention/session/shapes.js';
import { contextOfSession } from '../attention/session/shapes.js';
import { asBusError } from '../errors/bus-error.js';
import type { Attends } from '../remote/attends.js';
import type { TaskView } from '../task/requests/messages.js';
import { resultMessage, type ResultMessage } from '../task/requests/result-message.js';
import { isOver, type Tasks } from '../remote/tasks.js';
import { eventsOf, isPassing, sessionEvents, type NameOf, type Told } from './story-events.js';
import { printable, printableText, wrap } from './terminal.js';

/** Tasks of one story, and rows of one task's children; what is beyond is counted. */
const tasksMax = 300;
const textChars = 300;
/** Of the result of a task that only helped. */
const helpLines = 4;

interface StoryEvent extends Told {
  /** Since the beginning. */
  after_ms: number;
  task: string;
  name: string;
  depth: number;
}

interface StoryResult extends ResultMessage {
  depth: number;
}

export interface Story {
  task: string;
  began_ms: number;
  tasks: number;
  /** There were more tasks than are shown. */
  more: boolean;
  events: StoryEvent[];
  results: StoryResult[];
}

interface Found {
  tasks: Map<string, { view: TaskView; depth: number }>;
  sessions: Map<string, SessionView>;
  more: boolean;
}

/**
 * A task with all that belongs to it: what it pushed or delegated, to any depth, what it waited for, and what was attended
 * together with it. Throws NO_SUCH_TASK.
 */
export async function storyOf(
  from: { tasks: Tasks; attends: Attends },
  id: string,
): Promise<Story> {
  const { tasks, sessions, more } = await found(from, id);
  const nameOf = namesIn(tasks, sessions);
  const all = [...tasks.values()];
  const its = all.flatMap(({ view, depth }) =>
    eventsOf(view, nameOf).map((each) => ({
      ...each,
      ...{ task: view.id, name: nameOf(view.id), depth },
    })),
  );
  const attended = [...sessions.values()].flatMap((view) =>
    sessionEvents(view, nameOf).map((each) => ({
      ...each,
      ...{ task: '', name: view.context, depth: 0 },
    })),
  );
  const sorted = [...attended, ...its].sort((a, b) => a.at_ms - b.at_ms);
  const began_ms = sorted[0]?.at_ms ?? 0;
  return {
    ...{ task: id, began_ms, tasks: tasks.size, more },
    events: sorted.map((each) => ({ ...each, after_ms: Math.max(0, each.at_ms - began_ms) })),
    results: all
      .filter(({ view }) => isOver(view))
      .map(({ view, depth }) => ({ ...resultMessage(view), name: nameOf(view.id), depth })),
  };
}

async function found({ tasks, attends }: { tasks: Tasks; attends: Attends }, id: string) {
  const all: Found = { tasks: new Map(), sessions: new Map(), more: false };
  const add = (view: TaskView, depth: number): void => {
    if (all.tasks.has(view.id)) return;
    if (all.tasks.size < tasksMax) all.tasks.set(view.id, { view, depth });
    else all.more = true;
  };
  const addNamed = async (name: string, depth: number): Promise<void> => {
    if (all.tasks.has(name)) return;
    const view = await unlessGone(tasks.show(name));
    if (view !== undefined) add(view, depth);
  };
  add(await tasks.show(id), 0);
  // It grows while it is walked over.
  for (const { view, depth } of all.tasks.values()) {
    for (const each of view.task.depends_on) await addNamed(each, depth);
    const context = contextOfSession(view.task.session);
    if (context !== undefined && !all.sessions.has(context)) {
      const session = await unlessGone(attends.show(context));
      // A later session of this name is another story.
      if (session?.trace.some(({ task }) => task === view.id) === true) {
        all.sessions.set(context, session);
        for (const { task } of session.trace) if (task !== '') await addNamed(task, depth);
      }
    }
    const children = await tasks.list({ states: [], parent: view.id }, tasksMax);
    all.more ||= children.more;
    for (const child of children.tasks) add(child, depth + 1);
  }
  return all;
}

/** It was deleted meanwhile. */
async function unlessGone<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (['NO_SUCH_TASK', 'NO_SUCH_SESSION'].includes(asBusError(error).code)) return undefined;
    throw error;
  }
}

/** A task is called as in its queue, or as in the list of its session. */
function namesIn(tasks: Found['tasks'], sessions: Found['sessions']): NameOf {
  const entries = [...sessions.values()].flatMap(({ trace }) =>
    trace.map(({ task, entry }): [string, string] => [task, entry]),
  );
  const names = new Map([
    ...entries,
    ...[...tasks.values()].flatMap(({ view: { id, task } }): [string, string][] =>
      task.name === '' ? [] : [[id, task.name]],
    ),
  ]);
  return (agent) => names.get(agent) ?? (isPassing(agent) ? 'a command line' : agent);
}

export function renderStory({ task, tasks, more, events, results, began_ms }: Story): string {
  const { name = task } = events.find((each) => each.task === task) ?? {};
  const about = name === task ? task : `${name} (${task})`;
  const others = tasks === 1 ? '' : `, with ${tasks - 1} more ${tasks === 2 ? 'task' : 'tasks'}`;
  const width = Math.max(0, ...events.map((each) => whoOf(each).length));
  return [
    `Story of ${printable(about)}${others}${more ? '; not all of them are shown' : ''}`,
    `It began on ${dayOf(began_ms)} at ${timeOf(began_ms)}.`,
    '',
    ...events.map((each) => lineOf(each, width)),
    '',
    'Results',
    ...results.flatMap(resultLines),
  ].join('\n');
}

function lineOf(event: StoryEvent, width: number): string {
  const first = event.text.trim().split('\n')[0] ?? '';
  const cut = first.length > textChars ? `${first.slice(0, textChars - 1)}…` : first;
  const after = `+${(event.after_ms / 1_000).toFixed(1)} s`.padStart(10);
  return printable(`${timeOf(event.at_ms)} ${after}  ${whoOf(event).padEnd(width)}  ${cut}`);
}

const whoOf = ({ name, depth }: StoryEvent): string => `${'  '.repeat(depth)}${name}`;

/** As the clock on the wall shows it. */
function timeOf(ms: number): string {
  return new Date(ms).toTimeString().slice(0, 8);
}

function dayOf(ms: number): string {
  const date = new Date(ms);
  const two = (figure: number): string => `${figure}`.padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}

function resultLines(each: StoryResult): string[] {
  const { from, name, success, result, error, partial_output, depth } = each;
  const who = printable(name === from ? from : `${name} (${from})`);
  const said = (success ? result : partial_output) ?? '';
  const lines = said.trim() === '' ? [] : wrap(printableText(said.trimEnd()), '  ').split('\n');
  const left = lines.length - helpLines;
  const isCut = depth > 0 && left > 1;
  return [
    success
      ? `${who}: done`
      : `${who}: ${printable(`${error?.text ?? ''} (${error?.code ?? ''})`)}`,
    ...(isCut ? lines.slice(0, helpLines) : lines),
    ...(isCut ? [`  … ${left} more lines: sigma task show ${printable(from)}`] : []),
  ];
}
