import type { Clock } from '../../base/clock.js';
import { asBusError, BusError } from '../../errors/bus-error.js';
import {
  filesMax,
  locateIn,
  type LocateAnswer,
  type LocateRequest,
} from '../../pgc/search/locate/locate.js';
import { reportOf } from '../../pgc/search/locate/report.js';
import { rankedShards } from '../../pgc/search/locate/routing.js';
import type { WordsPort } from '../../pgc/search/locate/words-port.js';
import type { CodedError, ShardPort } from '../../pgc/shapes.js';
import { failureOf, fanOut } from '../fan-out.js';
import type { Lattice } from '../lattice.js';

/** Shards that are asked for files; the rest is known by its vocabulary alone. */
export const shardsAskedMax = 24;
/** A shard answers in some ten milliseconds; who takes longer than this is done without. */
const stageMsMax = 8_000;
/** Of what is left of the time, so that those that answer can still be asked the next thing. */
const stageShare = 0.5;

export interface LocateLimits {
  clock: Clock;
  deadlineMs: number;
  signal?: AbortSignal | undefined;
  /** How many shards are asked; for measurements. */
  askedMax?: number;
}

/**
 * Finds the files that a report concerns: asks the shards that most likely hold them, and puts their files in the order
 * that an index of all shards would give them. Throws REPORT_EMPTY, REPORT_UNREADABLE, NO_SHARDS, CANCELLED, AGENT_FAILED
 * when no shard answers; any other failed shard is in `errors[]`, and its files are missing.
 */
export async function locate(
  lattice: Lattice,
  request: LocateRequest,
  limits: LocateLimits,
): Promise<LocateAnswer> {
  if (lattice.ports.size === 0) throw new BusError('NO_SHARDS');
  const startedMs = limits.clock.monotonicMs();
  const run = new LocateRun(lattice, limits);
  const first = await run.locate(request);
  // Once: an index that is written to all the time would change at every try.
  const answer = run.hasChanged ? await new LocateRun(lattice, limits).locate(request) : first;
  const elapsed_ms = Math.round((limits.clock.monotonicMs() - startedMs) * 10) / 10;
  return { ...answer, elapsed_ms };
}

class LocateRun {
  hasChanged = false;
  readonly #lattice: Lattice;
  readonly #limits: LocateLimits;
  readonly #endMs: number;
  readonly #errors: CodedError[];

  constructor(lattice: Lattice, limits: LocateLimits) {
    this.#lattice = lattice;
    this.#limits = limits;
    this.#endMs = limits.clock.monotonicMs() + limits.deadlineMs;
    this.#errors = lattice.unknownShards();
  }

  async locate(request: LocateRequest): Promise<LocateAnswer> {
    const { text, title, limit, isBrief = false, roles = [] } = request;
    const { clock, signal, askedMax = shardsAskedMax } = this.#limits;
    const report = title === undefined ? reportOf(text) : { title, description: text };
    const shards = this.#shards();
    const { tree, errors } = await this.#stage((until) =>
      this.#lattice.kept.vocabularies.tree(shards, clock, until),
    );
    this.#note(errors);
    if (tree.ports.length === 0) throw this.#noAnswer();
    const options = { limit: Math.max(1, Math.min(filesMax, limit)), isBrief, roles, signal };
    const answer = await locateIn(tree, report, options, {
      choose: (seeking) => rankedShards(tree.index, seeking).slice(0, askedMax),
      each: (asked, ask) => this.#each(tree.ports, asked, ask),
    });
    return { ...answer, errors: this.#errors };
  }

  #shards(): { port: WordsPort; version: string }[] {
    const { ports, cards } = this.#lattice;
    const known = [...ports.values()].filter((port) => cards.has(port.agent));
    for (const { agent } of known.filter((port) => !hasWords(port)))
      this.#note([failureOf(agent, new BusError('UNKNOWN_TYPE', { type: 'pgc.vocabulary' }))]);
    return known.filter(hasWords).map((port) => ({
      ...{ port, version: cards.get(port.agent)?.index_version ?? '' },
    }));
  }

  async #each<T>(
    ports: readonly WordsPort[],
    shards: readonly number[],
    ask: (port: WordsPort, shard: number, signal?: AbortSignal) => Promise<T>,
  ): Promise<ReadonlyMap<number, T>> {
    const wanted = shards.flatMap((shard) => {
      const port = ports[shard];
      return port === undefined ? [] : [{ agent: port.agent, port, shard }];
    });
    const { answers, errors } = await this.#stage((until) =>
      fanOut(
        wanted,
        until,
        async ({ port, shard }) => [shard, await ask(port, shard, until)] as const,
      ),
    );
    this.#note(errors);
    if (answers.length === 0 && wanted.length > 0) throw this.#noAnswer();
    return new Map(answers);
  }

  /** One round of questions, for part of the time that is left. Throws CANCELLED when the caller has gone. */
  async #stage<T>(work: (until: AbortSignal) => Promise<T>): Promise<T> {
    const { clock, signal, deadlineMs } = this.#limits;
    const leftMs = Math.max(1, this.#endMs - clock.monotonicMs());
    const late = new AbortController();
    const timer = clock.after(Math.min(stageMsMax, leftMs * stageShare), () =>
      late.abort(new BusError('DEADLINE_EXCEEDED', { ms: deadlineMs })),
    );
    const until = signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]);
    try {
      const done = await work(until);
      if (signal?.aborted === true) throw asBusError(signal.reason);
      return done;
    } finally {
      timer[Symbol.dispose]();
    }
  }

  #note(errors: readonly CodedError[]): void {
    for (const error of errors) {
      if (error.code === 'INDEX_CHANGED') {
        this.hasChanged = true;
        this.#lattice.kept.vocabularies.forget(error.agent);
      }
      this.#errors.push(error);
    }
  }

  #noAnswer(): BusError {
    const detail = this.#errors[0]?.text ?? '';
    return new BusError('AGENT_FAILED', { agent: 'every shard', detail });
  }
}

function hasWords(port: ShardPort): port is ShardPort & WordsPort {
  return 'vocabulary' in port && 'rankFiles' in port && 'readFiles' in port;
}
