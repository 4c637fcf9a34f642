import type { TaskHistory } from '../../../../../src/operations/tasks/task-rows.js';

type Task = Pick<TaskHistory['task'], 'notes' | 'created_ms' | 'finished_ms' | 'state'>;

/** A state of the machine of a task, and for how long it was in it. */
export interface Span {
  state: string;
  from_ms: number;
  /** Now, where it is still in it. */
  to_ms: number;
  isOpen: boolean;
}

/** Something that happened, with who did it where that is known. */
export interface Happening {
  at_ms: number;
  /** Since the beginning of the task. */
  after_ms: number;
  /** Of the machine, where it moved it: `worker.accepted`. */
  event: string;
  state: string;
  /** How long it stayed in that state, where it came into it; 0: it did not, or it is the end. */
  lasted_ms: number;
  who: string;
  text: string;
}

/** The states that a task went through, in order; the last is the one that it is in. */
export function spansOf({ notes, created_ms, finished_ms, state }: Task, nowMs: number): Span[] {
  const endMs = finished_ms > 0 ? finished_ms : Math.max(nowMs, created_ms);
  const moves = notes.filter((note, at) => note.state !== notes[at - 1]?.state);
  const spans = moves.map((note, at): Span => {
    const next = moves[at + 1];
    const to_ms = next?.at_ms ?? endMs;
    return {
      ...{ state: note.state, from_ms: note.at_ms, to_ms: Math.max(to_ms, note.at_ms) },
      isOpen: next === undefined && finished_ms === 0,
    };
  });
  const [first] = spans;
  if (first !== undefined) return spans;
  return [{ state, from_ms: created_ms, to_ms: endMs, isOpen: finished_ms === 0 }];
}

/** Share of the whole that a span takes, for drawing: short ones are still seen. */
export function widthsOf(spans: readonly Span[], leastShare = 0.02): number[] {
  const whole = spans.reduce((sum, { from_ms, to_ms }) => sum + (to_ms - from_ms), 0);
  const raw = spans.map(({ from_ms, to_ms }) =>
    Math.max(leastShare, whole === 0 ? 1 / spans.length : (to_ms - from_ms) / whole),
  );
  const sum = raw.reduce((all, each) => all + each, 0);
  return raw.map((each) => each / sum);
}

/** How long it was in each state, longest first. */
export function totalsOf(spans: readonly Span[]): { state: string; ms: number }[] {
  const totals = new Map<string, number>();
  for (const { state, from_ms, to_ms } of spans)
    totals.set(state, (totals.get(state) ?? 0) + to_ms - from_ms);
  // The end takes no time.
  const last = spans.at(-1);
  if (last?.isOpen === false && totals.get(last.state) === 0) totals.delete(last.state);
  return [...totals].map(([state, ms]) => ({ state, ms })).sort((a, b) => b.ms - a.ms);
}

/** All that happened, with what the notes of the manager say of each. */
export function happeningsOf({ task, events }: TaskHistory, nowMs: number): Happening[] {
  const notes = task.notes.map((note) => ({ ...note, isTaken: false }));
  const spans = spansOf(task, nowMs);
  let worker = '';
  const workers = new Map(
    task.notes.map((note) => {
      const [, accepted] = /^worker\.(?:accepted|returned): (\S+)/.exec(note.text) ?? [];
      worker = accepted ?? worker;
      return [note, worker];
    }),
  );
  return events.map(({ at_ms, what, text }) => {
    const at = notes.findIndex(
      (note) => !note.isTaken && note.at_ms === at_ms && note.state === what,
    );
    const note = notes[at];
    if (note !== undefined) note.isTaken = true;
    const own = task.notes[at];
    const event = own === undefined ? what : eventOf(own.text);
    const by = own === undefined ? '' : (workers.get(own) ?? '');
    return {
      ...{ at_ms, after_ms: Math.max(0, at_ms - task.created_ms), event, text },
      ...{ state: own?.state ?? '', lasted_ms: own === undefined ? 0 : lastedIn(spans, own) },
      who: whoOf(event, own?.text ?? '', by, task),
    };
  });
}

function lastedIn(spans: readonly Span[], note: { at_ms: number; state: string }): number {
  const span = spans.find(({ from_ms, state }) => from_ms === note.at_ms && state === note.state);
  return span === undefined ? 0 : span.to_ms - span.from_ms;
}

function eventOf(note: string): string {
  return /^\w+\.\w+/.exec(note)?.[0] ?? 'note';
}

/** Steps of a prompt, and what its evidence was found with. */
const workerEvents: ReadonlySet<string> = new Set([
  ...['read', 'ask', 'push', 'run', 'receive', 'check', 'send', 'delegate', 'teardown', 'model'],
  ...['index', 'query', 'citations'],
]);

function whoOf(
  event: string,
  note: string,
  worker: string,
  { parent, owner, assigned_to }: TaskHistory['task'],
): string {
  const [, person] = /(?:: |^)\w+ by ([^:]+?)(?::|$)/.exec(note) ?? [];
  if (person !== undefined) return person;
  if (event === 'asked') return owner || parent;
  if (event === 'critique' || event === 'finding' || event.startsWith('critique.')) return 'critic';
  if (event === 'worker.absent') return 'manager';
  if (event.startsWith('worker.')) return worker || assigned_to;
  if (workerEvents.has(event)) return assigned_to;
  return event === 'gate' ? '' : 'manager';
}
