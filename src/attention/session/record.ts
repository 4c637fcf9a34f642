import type { SessionRecord } from './session-record.js';
import { BusError } from '../../errors/bus-error.js';
import { restored, start, stateName, step, stored } from '../../machine/step.js';
import { questionAt } from './questions.js';
import { sessionMachine, type SessionEffect, type SessionEvent } from './session.machine.js';
import {
  sessionLimits,
  sessionOfContext,
  type AttendRequest,
  type QuestionKind,
  type SessionNote,
  type SessionView,
} from './shapes.js';
import { countsOf } from './trace.js';

/** What an event changes beside the state. */
export type SessionPatch = Partial<
  Pick<
    SessionRecord,
    | 'deficits'
    | 'resolved'
    | 'suspended'
    | 'brought'
    | 'route'
    | 'found'
    | 'proposed'
    | 'drafts'
    | 'team'
    | 'absent'
    | 'cast'
    | 'checkpoint'
    | 'rows'
    | 'answers'
  >
> & { note?: string };

export interface SessionTold {
  event: SessionEvent;
  patch: SessionPatch;
}

export interface SessionStep {
  record: SessionRecord;
  effects: SessionEffect[];
}

export function begunSession(
  asked: AttendRequest,
  { owner, run, nowMs }: { owner: string; run: number; nowMs: number },
): SessionStep {
  const { snapshot, effects } = start(sessionMachine, { roundsMax: sessionLimits.rounds });
  const record: SessionRecord = {
    ...{ kind: 'attend', version: 1, id: asked.context, run, revision: 1, snapshot, owner, asked },
    ...{ deficits: [], resolved: [], suspended: null, brought: [], route: '', found: [] },
    ...{ proposed: [], drafts: [], team: null, cast: [], checkpoint: '', rows: [], questions: 0 },
    ...{ answers: [], notes: [{ at_ms: nowMs, state: 'scanning', text: 'attended' }] },
    ...{ since_ms: nowMs, created_ms: nowMs, updated_ms: nowMs, finished_ms: 0 },
  };
  return { record, effects };
}

/** One event. Throws ATTEND_STATE. */
export function advancedSession(
  before: SessionRecord,
  { event, patch: { note, ...patch } }: SessionTold,
  nowMs: number,
): SessionStep {
  const { snapshot, effects } = stepped(before, event);
  const changed: SessionRecord = {
    ...before,
    ...patch,
    snapshot,
    revision: before.revision + 1,
    updated_ms: nowMs,
  };
  const state = sessionState(changed);
  const hasMoved = state !== sessionState(before);
  const record: SessionRecord = {
    ...changed,
    questions: before.questions + (hasMoved && questionAt(state, changed) !== undefined ? 1 : 0),
    since_ms: hasMoved ? nowMs : before.since_ms,
    finished_ms: isSessionOver(changed) ? nowMs : 0,
    notes: noted(changed, hasMoved, event, note, nowMs),
  };
  return { record, effects };
}

function stepped(
  record: SessionRecord,
  event: SessionEvent,
): ReturnType<typeof step<typeof sessionMachine>> {
  try {
    return step(sessionMachine, record.snapshot, event);
  } catch (error) {
    if (!(error instanceof BusError) || error.code !== 'PROTOCOL_UNEXPECTED_EVENT') throw error;
    const data = { context: record.id, state: sessionState(record), what: event.type };
    throw new BusError('ATTEND_STATE', data, { cause: error });
  }
}

function noted(
  record: SessionRecord,
  hasMoved: boolean,
  event: SessionEvent,
  note: string | undefined,
  nowMs: number,
): SessionNote[] {
  if (!hasMoved && note === undefined) return record.notes;
  const reason = 'reason' in event && event.reason !== '' ? `: ${event.reason}` : '';
  const more = note === undefined ? '' : `; ${note}`;
  const text = `${event.type}${reason}${more}`.slice(0, sessionLimits.noteChars);
  const notes = [...record.notes, { at_ms: nowMs, state: sessionState(record), text }];
  if (notes.length > sessionLimits.notes) notes.splice(sessionLimits.notes / 2, 1);
  return notes;
}

export function sessionState({ snapshot }: Pick<SessionRecord, 'snapshot'>): string {
  return stateName(snapshot).replace(/^open\./, '');
}

export function isSessionOver({ snapshot }: Pick<SessionRecord, 'snapshot'>): boolean {
  return snapshot.status !== 'active';
}

/** What a person is asked now. */
export function questionOf(record: SessionRecord): ReturnType<typeof questionAt> {
  return questionAt(sessionState(record), record);
}

export function kindOf(record: SessionRecord): QuestionKind | undefined {
  return questionOf(record)?.kind;
}

/** As others see it: words and rows, no environment and no input of any program. */
export function sessionView(record: SessionRecord): SessionView {
  const { id, run, revision, owner, asked, snapshot, rows, resolved, brought, suspended } = record;
  const { rounds, granularity, reason } = snapshot.context;
  const state = sessionState(record);
  return {
    ...{ context: id, session: sessionOfContext(id), run, revision, state, owner, reason },
    ...{ is_over: isSessionOver(record), args: asked.args, question: questionOf(record) ?? null },
    upstream: {
      ...{ deficits: record.deficits, resolved, rounds, brought },
      suspended: suspended?.protocol ?? '',
    },
    ...{
      route: record.route,
      team: record.team,
      absent: record.absent ?? {},
      granularity,
      counts: countsOf(rows),
    },
    ...{ trace: rows, is_converged: state === 'converged', answers: record.answers },
    ...{ notes: record.notes, created_ms: record.created_ms, updated_ms: record.updated_ms },
    finished_ms: record.finished_ms,
  };
}

/** As it lies on disk. */
export function encodeSession(record: SessionRecord): Buffer {
  return Buffer.from(JSON.stringify({ ...record, snapshot: stored(record.snapshot) }));
}

/** Throws when it is damaged, or of a version that this one does not know. */
export function decodeSession(bytes: Buffer): SessionRecord {
  const kept = JSON.parse(bytes.toString()) as SessionRecord;
  if ((kept.version as number) !== 1) throw new Error(`a session of version ${kept.version}`);
  return { ...kept, snapshot: restored(sessionMachine, kept.snapshot) };
}
