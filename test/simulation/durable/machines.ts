import { readAttend } from '../../../src/attention/session/request.js';
import type {
  SessionEffect,
  SessionEvent,
} from '../../../src/attention/session/session.machine.js';
import type { Client } from '../../../src/client/client.js';
import type { Message } from '../../../src/client/inbox.js';
import { Reviews } from '../../../src/critic/review/reviews.js';
import { delegationMessages } from '../../../src/delegation/task/messages.js';
import { readTask } from '../../../src/delegation/task/schema.js';
import { outcome } from '../../../src/delegation/worker/runner-outcome.js';
import { asBusError, BusError } from '../../../src/errors/bus-error.js';
import { Book, type Kept } from '../../../src/executor/book.js';
import { Executor } from '../../../src/executor/executor.js';
import { openHistory } from '../../../src/executor/prompt/history.js';
import { Journals } from '../../../src/lattice/query/journal.js';
import type { Logger } from '../../../src/observe/log.js';
import type { Entry } from '../../../src/prompt/agent/transcript.js';
import {
  closingPrefix,
  critiqueKey,
  deedPrefix,
  errandPrefix,
  hex64,
  historyOfPrefix,
  reportPrefix,
  reviewedKey,
  reviewKey,
  workKey,
  workPrefix,
} from '../../../src/store/keys.js';
import { TaskBook } from '../../../src/task/book/book.js';
import { SessionBook } from '../../../src/task/book/session-book.js';
import type { SideEffect } from '../../../src/task/life/advance.js';
import { stateOf } from '../../../src/task/life/advance.js';
import type { TaskRecord } from '../../../src/task/life/record.js';
import { responseOf, taskOf } from '../../support/delegation.js';
import { asked, judgeNothing, nothingFound, selectionOf } from '../../support/reviews.js';
import { insist, type Life, type Machine, type Trial } from './trial.js';

type Disk = ReadonlyMap<string, Buffer>;

const all = (ids: readonly string[], what: readonly string[]): string[] =>
  ids.flatMap((id) => what.map((each) => `${id}/${each}`));
const ignore = (): undefined => undefined;
/** What an effect says a second time comes too late. */
const unlessLate =
  (...late: string[]) =>
  (error: unknown): undefined => {
    if (!late.includes(asBusError(error).code)) throw error;
    return undefined;
  };

/** An entry of the outbox with this effect is on disk. */
function isPending(disk: Disk, prefix: string, effect: object): boolean {
  const text = JSON.stringify(effect);
  return [...disk].some(([key, value]) => key.startsWith(prefix) && value.toString() === text);
}

/** Undefined: there is none. */
function json(disk: Disk, key: string): unknown {
  const bytes = disk.get(key);
  return bytes && (JSON.parse(bytes.toString()) as unknown);
}

/** Tasks that are done by a worker, and one whose worker never answers: its timer ends it. */
export function task(): Machine {
  const done = ['a', 'b'];
  const timed = 'timed';
  const ids = [...done, timed];
  const nameOf = (id: string, effect: SideEffect): string =>
    `${id}/${effect.type}${'attempt' in effect ? ` ${effect.attempt}` : ''}`;
  const began = ['turn.await', 'task.attend', 'worker.choose', 'assignment.send 1'];
  const accepted = new Set<string>();

  async function follow(book: TaskBook, { id }: TaskRecord, effect: SideEffect): Promise<unknown> {
    switch (effect.type) {
      case 'turn.await':
        return book.send(id, { type: 'task.ready' });
      case 'task.attend':
        return book.send(id, { type: 'attention.passed' });
      case 'worker.choose':
        return book.send(id, { type: 'worker.chosen', worker: 'w', isCapable: id !== timed });
      case 'assignment.send': {
        if (id === timed) return;
        const { attempt } = effect;
        await book.sendAssignment(id, attempt, { type: 'worker.claimed' });
        const response = responseOf({ attempt });
        return book.sendAssignment(id, attempt, { type: 'worker.answered' }, { response });
      }
      case 'response.review':
        return book.send(id, { type: 'review.done', verdict: 'accepted', reason: '' });
      default:
        return;
    }
  }

  return {
    name: 'task',
    expected: [
      ...all(done, [...began, 'response.review', 'task.finish']),
      ...all([timed], [...began, 'withdrawal.send 1', 'task.finish']),
    ],
    leftovers: [deedPrefix],
    async live(life, trial) {
      const { store, random, process } = life;
      let book: TaskBook | undefined = undefined;
      const opened = await TaskBook.open({
        ...{ store, random, clock: process.clock },
        perform: async (record, effect) => {
          await trial.perform(life, nameOf(record.id, effect), (disk) =>
            isPending(disk, `${deedPrefix}${record.id}/`, effect),
          );
          await follow(book!, record, effect).catch(unlessLate('TASK_STATE', 'STALE_ATTEMPT'));
        },
        onChanged: ignore,
        onTrouble: ignore,
      });
      book = opened;
      for (const id of accepted)
        if (opened.stateOf(id) === undefined) trial.lost.push(`${id} was accepted`);
      opened.resume();
      await Promise.all(
        ids.map(async (id) => {
          const limits = { timeout_ms: id === timed ? 20_000 : 300_000 };
          await insist(life, () => opened.begin(taskOf({ id, limits }), 'me'));
          accepted.add(id);
          const over = new AbortController().signal;
          const record = await insist(life, () => opened.changed(id, Infinity, over));
          const state = stateOf(record);
          if (state !== (id === timed ? 'timed_out' : 'completed'))
            trial.lost.push(`${id} ended ${state}`);
          if (record.attempt !== 1) trial.doubled.push(`${id} had ${record.attempt} attempts`);
          while (opened.isDelivering(id)) await process.pause(20);
        }),
      );
      const { finished } = opened.numbers;
      if (finished !== ids.length) trial.doubled.push(`${finished} were counted as finished`);
    },
  };
}

/** Sessions of attention from the upstream scan to their end. */
export function session(): Machine {
  const contexts = ['one', 'two'];
  const next: Partial<Record<SessionEffect['type'], SessionEvent>> = {
    'upstream.scan': { type: 'upstream.scanned', isClear: true },
    'tasks.find': { type: 'tasks.found', route: 'auto_proceed', isEmpty: true },
    'tasks.adopt': { type: 'tasks.adopted', isEmpty: false, hasTeam: false },
    'tasks.classify': { type: 'tasks.classified', checkpoint: 'none' },
    'tasks.delegate': { type: 'tasks.delegated' },
    'tasks.follow': { type: 'task.noticed', granularity: 'Meso', end: 'situated' },
  };
  const effects = [...Object.keys(next), 'session.end'];
  const accepted = new Set<string>();
  return {
    name: 'attention session',
    expected: all(contexts, effects),
    leftovers: [errandPrefix],
    async live(life, trial) {
      const { store, random, process } = life;
      let book: SessionBook | undefined = undefined;
      const opened = await SessionBook.open({
        ...{ store, random, clock: process.clock },
        perform: async ({ id }, effect) => {
          await trial.perform(life, `${id}/${effect.type}`, (disk) =>
            isPending(disk, `${errandPrefix}${id}/`, effect),
          );
          const event = next[effect.type];
          if (event !== undefined)
            await book!.decide(id, () => ({ event, patch: {} })).catch(unlessLate('ATTEND_STATE'));
        },
        onTrouble: ignore,
      });
      book = opened;
      for (const context of accepted)
        if (opened.peek(context) === undefined) trial.lost.push(`${context} was accepted`);
      opened.resume();
      await Promise.all(
        contexts.map(async (context) => {
          // Asked again after its end it would begin a second run.
          await insist(
            life,
            async () =>
              opened.peek(context) ?? opened.begin(readAttend({ context, args: 'x' }), 'me'),
          );
          accepted.add(context);
          for (let now = opened.get(context); now.finished_ms === 0;)
            now = await opened.changed(context, now.revision, new AbortController().signal);
          const { revision, run } = opened.get(context);
          if (revision !== effects.length || run !== 1)
            trial.doubled.push(`${context} has revision ${revision} of run ${run}`);
        }),
      );
    },
  };
}

/** How many modes of a review have a report. */
function atOf(disk: Disk, id: string): number | undefined {
  const record = json(disk, reviewKey(id)) as { snapshot: { context: { at: number } } } | undefined;
  return record?.snapshot.context.at;
}

/** Reviews of three modes each, whose ends are reported. */
export function review(): Machine {
  const ids = ['r-1', 'r-2'];
  const modes = ['steelman', 'inversion', 'llm-as-judge'] as const;
  return {
    name: 'review',
    expected: all(ids, [...modes, 'ended']),
    leftovers: [closingPrefix, ...ids.flatMap((id) => [reviewedKey(id), reportPrefix(id)])],
    async live(life, trial) {
      const { store, random, process } = life;
      const reviews = await Reviews.open({
        ...{ store, random, clock: process.clock, select: selectionOf, judge: judgeNothing },
        ground: () => Promise.resolve({ ground: undefined, why: 'no index' }),
        examine: async (mode, { before }, { request: { id } }) => {
          const at = modes.findIndex((each) => each === mode);
          if (before.length !== at) trial.lost.push(`what was said before ${mode} of ${id}`);
          await trial.perform(life, `${id}/${mode}`, (disk) => atOf(disk, id) === at);
          return nothingFound;
        },
        onProgress: ({ id, report }) => {
          if (report !== null) trial.settled(`${id}/${report.mode}`);
        },
        onEnded: ({ id }) =>
          trial.perform(life, `${id}/ended`, (disk) => disk.has(critiqueKey(id))),
        onTrouble: ignore,
      });
      void insist(life, () => reviews.resume());
      await Promise.all(
        ids.map(async (id) => {
          const request = asked({ id, modes: [...modes] });
          const { reports } = await insist(life, () => reviews.review(request));
          const whole = reports.filter(({ status }) => status === 'complete');
          if (whole.length !== modes.length) trial.lost.push(`a report of ${id}`);
        }),
      );
    },
  };
}

/** Assignments of an executor: one that may begin again, and one that may not. */
export function assignment(): Machine {
  const repeatable = 'again';
  const once = 'once';
  const ids = [repeatable, once];
  const log = { info: ignore, debug: ignore, warn: ignore, error: ignore } as unknown as Logger;
  const responses = new Map<string, string>();
  const runs = new Set<string>();
  const kept = (disk: Disk, id: string): Kept | undefined =>
    json(disk, workKey(id, 1)) as Kept | undefined;
  const stateIn = (disk: Disk, id: string): unknown => kept(disk, id)?.snapshot.value;
  const message = (id: string): Message => {
    const action = { argv: ['true'], read_only: id === repeatable };
    const assigned = {
      ...{ task: readTask({ task: 'x', runner: 'command', action }, id), attempt: 1 },
      ...{ lease_ms: 3_600_000, until_ms: 4_102_444_800_000, manager: 'desk', grants: [] },
      ...{ depth: 0, parent: 'me' },
    };
    const { type, codec } = delegationMessages.assign;
    return { type, from: 'desk', body: codec.encode(assigned) } as Message;
  };

  /** The broker and the manager, which keep the response. */
  function clientOf(life: Life, trial: Trial, onReceive: (to: Receiver) => void): Client {
    return {
      receive: (to: Receiver) => Promise.resolve(onReceive(to)),
      request: async (_: string, __: string, body: Buffer) => {
        const { task_id: id } = delegationMessages.claim.codec.decode(body);
        if (responses.has(id))
          throw new BusError('STALE_ATTEMPT', { task: id, attempt: 1, now: 2 });
        await trial.perform(life, `${id}/claim`, (disk) => stateIn(disk, id) === 'claiming');
        return { body: delegationMessages.lease.encode({ lease_ms: 3_600_000 }) };
      },
      post: async (_: string, __: string, body: Buffer) => {
        const response = delegationMessages.response.codec.decode(body);
        const { task_id: id, status } = response;
        await trial.perform(life, `${id}/response`, (disk) => {
          const onDisk = kept(disk, id)?.response;
          return onDisk?.status === status && onDisk.result === response.result;
        });
        const text = `${status} ${response.result}`;
        if ((responses.get(id) ?? text) !== text) trial.doubled.push(`${id} answered twice`);
        responses.set(id, text);
      },
    } as unknown as Client;
  }

  return {
    name: 'assignment',
    expected: [...all(ids, ['claim', 'response']), `${repeatable}/run`],
    // Whether it was run before a crash is not known: it is not run again.
    optional: [`${once}/run`],
    leftovers: [workPrefix],
    async live(life, trial) {
      const { store, process } = life;
      let receive: Receiver = () => Promise.resolve();
      const executor = new Executor(
        {
          ...{ log, clock: process.clock, book: new Book(store, process.clock, log) },
          client: clientOf(life, trial, (to) => (receive = to)),
          runners: new Map([
            [
              'command',
              async ({ task: { id } }) => {
                const isBegun = runs.has(id) || trial.hasHappened(`${id}/run`);
                if (id === once && isBegun) trial.doubled.push(`${id} was run twice`);
                runs.add(id);
                await trial.perform(life, `${id}/run`, (disk) => {
                  const { snapshot } = kept(disk, id) ?? {};
                  return (
                    (snapshot?.context as { hasBegun?: boolean } | undefined)?.hasBegun === true
                  );
                });
                return outcome('finished', { result: 'done' });
              },
            ],
          ]),
          pgcFor: () => {
            throw new Error('nothing asks an index');
          },
        },
        { work: 2, prompts: 1 },
      );
      life.onEnd.push(() => void executor.leave());
      await insist(life, () => executor.resume());
      await executor.receive();
      await Promise.all(
        ids.map(async (id) => {
          if (responses.has(id)) return;
          await insist(life, () => receive(message(id)));
        }),
      );
      while (ids.some((id) => !responses.has(id))) await process.pause(50);
      if (responses.get(once) === 'completed done' && !trial.hasHappened(`${once}/run`))
        trial.lost.push(`${once}/run never happened`);
    },
  };
}
type Receiver = (message: Message) => Promise<void>;

const steps = Array.from({ length: 6 }, (_, n) => String(n));

/** The history of a prompt: what comes of each action is written before the next one. */
export function history(): Machine {
  let written = 0;
  return {
    name: 'prompt history',
    expected: steps.map((n) => `step/${n}`),
    leftovers: [],
    async live(life, trial) {
      const until = new AbortController().signal;
      const { clock } = life.process;
      const log = await openHistory(life.store, { task: 't', attempt: 1, clock, until });
      if (log.entries.length < written) trial.lost.push(`${written - log.entries.length} entries`);
      while (log.entries.length < steps.length) {
        const n = log.entries.length;
        await trial.perform(
          life,
          `step/${n}`,
          (disk) =>
            n === 0 ||
            (json(disk, historyOfPrefix('t', 1) + hex64(n - 1)) as Entry | undefined)?.at_ms ===
              n - 1,
        );
        await log.append({ kind: 'begin', at_ms: n, hasModel: true });
        written = n + 1;
        trial.settled(`step/${n}`);
      }
      const again = await insist(life, () =>
        openHistory(life.store, { task: 't', attempt: 1, clock, until }),
      );
      if (again.entries.some(({ at_ms }, at) => at_ms !== at)) trial.doubled.push('an entry');
      if (again.entries.length !== steps.length) trial.lost.push('an entry');
    },
  };
}

/** The journal of a query, which may lose its last steps with the power: they are asked again. */
export function journal(): Machine {
  let written: number | undefined;
  return {
    name: 'lattice journal',
    isUnsynced: true,
    expected: steps.map((n) => `step/${n}`),
    leftovers: ['query/'],
    async live(life, trial) {
      const { process } = life;
      written ??= trial.earlier?.settled.length ?? 0;
      const journals = await Journals.open(life.store, process.clock);
      const untilMs = process.clock.nowMs() + 300_000;
      await journals.run({ key: 'who and what', versions: 'v', untilMs }, async (its) => {
        const { past } = its;
        const missing = (written ?? 0) - past.length;
        if (trial.isWhole && missing > 0) trial.lost.push(`${missing} steps`);
        for (let n = past.length; n < steps.length; n += 1) {
          // Entry 0 is what the query is over. A disk that failed ends what is kept, not the query.
          await trial.perform(life, `step/${n}`, ({ size }) => trial.isRefused || size === n + 1);
          const error = { code: '', text: '', retryable: false, agent: '' };
          const event = { type: 'shards.ranked' as const, agents: [String(n)] };
          await its.add({ event, answered: null, links: [], errors: [error], asked: [] });
          // It is over with its last step: asked again it begins anew.
          written = (n + 1) % steps.length;
        }
      });
      journals[Symbol.dispose]();
    },
  };
}

export const machines: readonly (() => Machine)[] = [
  task,
  session,
  review,
  assignment,
  history,
  journal,
];
