import type { Gathered } from '../../delegation/grounding/gathered.js';
import { type Failure, BusError } from '../../errors/bus-error.js';
import { chatLimits, type Message } from '../../model/conversation.js';
import { start, stateName, step, type Snapshot } from '../../machine/step.js';
import {
  agentMachine,
  type AgentEffect,
  type AgentEvent,
  type AgentInput,
} from './agent.machine.js';

/** Limits of one conversation, checked before a model is asked; beyond them HISTORY_FULL. */
export const transcriptLimits = {
  /** Answers of the model. */
  turns: 200,
  /** Entries; a command of the prompt is two messages. */
  entries: chatLimits.messages - 128,
  /** Of all entries, as they stand on disk. */
  bytes: 6 * 1024 * 1024,
} as const;

export interface ModelCall {
  id: string;
  name: string;
  arguments: Record<string, unknown>;
  /** Why it cannot be run; empty: it can. */
  invalid: string;
}

/** A message that was taken from the inbox; it is settled once its entry is on disk. */
export interface TakenMessage {
  seq: number;
  id: string;
  from: string;
}

/**
 * One event in the conversation of an agent. Each is on disk before its consequences are performed. From all of them follow the state of the agent, the messages for its model, the tokens spent and the steps of its response.
 */
export type Entry = { at_ms: number } & (
  | { kind: 'begin'; hasModel: boolean }
  /** A command of the prompt. `text`: its result, as that of a tool. */
  | {
      kind: 'setup' | 'teardown';
      name: 'read' | 'push' | 'run';
      arguments: Record<string, unknown>;
      text: string;
      /** A file that cannot be read is shown to the model; any other failure ends the task. */
      failure: Failure | null;
    }
  | { kind: 'answer'; text: string; calls: ModelCall[]; tokens: number; isLast: boolean }
  /** A request to the model that failed. `pauseMs` until the next try; null: none. */
  | { kind: 'mishap'; text: string; tokens: number; failure: Failure; pauseMs: number | null }
  | {
      kind: 'result';
      callId: string;
      name: string;
      /** A short text for the steps of the response. */
      told: string;
      text: string;
      /** Empty: it went well. */
      code: string;
      isInvalid: boolean;
      message: TakenMessage | null;
    }
  /** Without a model: what came of a task that was started, or a message; null: nothing can come any more. */
  | { kind: 'gathered'; text: string; message: TakenMessage | null }
  /** The answer of the index, or why there is none. */
  | { kind: 'index'; text: string; gathered: Gathered | null; failure: Failure | null }
);

export interface AgentProgress {
  snapshot: Snapshot<typeof agentMachine>;
  effect: AgentEffect;
}

/** The state of the agent after these entries, and its next effect. Throws PROTOCOL_UNEXPECTED_EVENT. */
export function progressAfter(input: AgentInput, entries: readonly Entry[]): AgentProgress {
  const first = start(agentMachine, input);
  let now = progressOf(first.snapshot, first.effects);
  for (const entry of entries) now = afterEntry(now, entry);
  return now;
}

export function afterEntry(now: AgentProgress, entry: Entry): AgentProgress {
  // Pauses have no entry.
  const awake = stateName(now.snapshot) === 'waiting' ? afterPause(now) : now;
  const next = step(agentMachine, awake.snapshot, eventOf(entry));
  return progressOf(next.snapshot, next.effects);
}

export function afterPause({ snapshot }: AgentProgress): AgentProgress {
  const next = step(agentMachine, snapshot, { type: 'pause.over' });
  return progressOf(next.snapshot, next.effects);
}

function progressOf(
  snapshot: AgentProgress['snapshot'],
  effects: readonly AgentEffect[],
): AgentProgress {
  const [effect] = effects;
  if (effect === undefined)
    throw new BusError('INTERNAL', { detail: 'an agent has nothing to do' });
  return { snapshot, effect };
}

function eventOf(entry: Entry): AgentEvent {
  switch (entry.kind) {
    case 'begin':
      return { type: 'begun', hasModel: entry.hasModel };
    case 'setup':
    case 'teardown': {
      const { failure, name } = entry;
      if (failure === null || name === 'read') return { type: 'command.done' };
      return { type: 'command.refused', code: failure.code };
    }
    case 'answer':
      return { type: 'model.answered', calls: entry.calls.length, isLast: entry.isLast };
    case 'mishap': {
      const { failure, pauseMs } = entry;
      if (pauseMs === null) return { type: 'model.failed', code: failure.code };
      return { type: 'model.delayed', pauseMs };
    }
    case 'result':
      return { type: 'call.done', isInvalid: entry.isInvalid };
    case 'gathered':
      return { type: entry.message === null ? 'results.over' : 'result.came' };
    case 'index':
      if (entry.failure === null) return { type: 'index.answered' };
      return { type: 'index.failed', code: entry.failure.code };
  }
}

/** The messages for the model. Each text has the role of its kind: the result of a tool is always a tool message. */
export function messagesOf(system: string, content: string, entries: readonly Entry[]): Message[] {
  const before: Message[] = [];
  const after: Message[] = [];
  for (const [at, entry] of entries.entries())
    switch (entry.kind) {
      case 'setup': {
        const call = { id: `setup-${at}`, name: entry.name, arguments: entry.arguments };
        before.push({ role: 'assistant', text: '', calls: [call] });
        before.push({ role: 'tool', callId: call.id, text: entry.text });
        break;
      }
      case 'answer':
        after.push({ role: 'assistant', text: entry.text, calls: entry.calls });
        break;
      case 'result':
        after.push({ role: 'tool', callId: entry.callId, text: entry.text });
        break;
      case 'begin':
      case 'mishap':
      case 'gathered':
      case 'index':
      case 'teardown':
        break;
    }
  return [{ role: 'system', text: system }, ...before, { role: 'user', text: content }, ...after];
}

/** Throws HISTORY_FULL. `bytes`: of the entries on disk. */
export function assertRoom(task: string, entries: readonly Entry[], bytes: number): void {
  const full = (what: string, limit: number): BusError =>
    new BusError('HISTORY_FULL', { task, what, limit });
  const { turns, entries: entriesMax, bytes: bytesMax } = transcriptLimits;
  const answers = turnsIn(entries);
  if (answers >= turns) throw full(`${answers} answers of the model`, turns);
  if (entries.length >= entriesMax) throw full(`${entries.length} entries`, entriesMax);
  if (bytes > bytesMax) throw full(`${bytes} bytes`, bytesMax);
}

export function turnsIn(entries: readonly Entry[]): number {
  return entries.filter(({ kind }) => kind === 'answer').length;
}

export function spentIn(entries: readonly Entry[]): number {
  let tokens = 0;
  for (const each of entries)
    if (each.kind === 'answer' || each.kind === 'mishap') tokens += each.tokens;
  return tokens;
}

/** The calls of the last answer. */
export function callsIn(entries: readonly Entry[]): readonly ModelCall[] {
  const last = entries.findLast(({ kind }) => kind === 'answer');
  return last?.kind === 'answer' ? last.calls : [];
}

/** Ids of the messages taken from the inbox, by sequence number. */
export function takenIn(entries: readonly Entry[]): Map<number, string> {
  const found = new Map<number, string>();
  for (const each of entries)
    if ((each.kind === 'result' || each.kind === 'gathered') && each.message !== null)
      found.set(each.message.seq, each.message.id);
  return found;
}

/** The last text of the agent, also a partial one. */
export function lastTextIn(entries: readonly Entry[]): string {
  for (const each of entries.toReversed())
    if (
      (each.kind === 'answer' || each.kind === 'mishap' || each.kind === 'index') &&
      each.text.trim() !== ''
    )
      return each.text;
  return '';
}
