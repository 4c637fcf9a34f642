import type { Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import type { ErrorCode } from '../../errors/catalogue.js';
import { TreeWords } from '../../pgc/search/locate/tree-words.js';
import { KnownTree } from '../../pgc/search/locate/locate.js';
import { VocabularyWords, type KnownWords } from '../../pgc/search/locate/vocabulary.js';
import type { WordsPort } from '../../pgc/search/locate/words-port.js';
import type { CodedError } from '../../pgc/shapes.js';
import { failureOf, orAborted } from '../fan-out.js';

/** Concurrent fetches of vocabularies, each of some hundred kilobytes. */
const fetchesMax = 8;
/** Pause before a shard that failed is asked again. */
const retryMs = 10_000;

export interface VersionedPort {
  port: WordsPort;
  /** Index version of its card; its vocabulary changes only with it. */
  version: string;
}

interface Kept {
  version: string;
  words: Promise<KnownWords>;
  /** Set when the fetch failed. */
  failed?: { code: ErrorCode; atMs: number };
}

/** Vocabularies of the shards of one tree: fetched at the first report, once per version. */
export class Vocabularies {
  readonly #kept = new Map<string, Kept>();
  #tree: { key: string; tree: KnownTree } | undefined;

  /** The vocabularies that arrive before the signal aborts, as one tree; the others are in `errors`. */
  async tree(
    shards: readonly VersionedPort[],
    clock: Clock,
    signal: AbortSignal,
  ): Promise<{ tree: KnownTree; errors: CodedError[] }> {
    for (const agent of this.#kept.keys())
      if (!shards.some(({ port }) => port.agent === agent)) this.#kept.delete(agent);
    const errors: CodedError[] = [];
    const known: { port: WordsPort; words: KnownWords }[] = [];
    const waiting = [...shards];
    const fetcher = async (): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const { port } = next;
        try {
          known.push({ port, words: await orAborted(this.#words(next, clock), signal) });
        } catch (error) {
          const failure = failureOf(port.agent, error);
          errors.push(failure);
          this.markFailed(port.agent, failure, clock);
        }
      }
    };
    await Promise.all(Array.from({ length: fetchesMax }, fetcher));
    known.sort((one, other) => (one.port.agent < other.port.agent ? -1 : 1));
    const key = known.map(({ port, words }) => `${port.agent} ${words.version}`).join('\n');
    const ports = known.map(({ port }) => port);
    const before = this.#tree?.key === key ? this.#tree.tree : undefined;
    const members = known.map(({ port, words }) => ({ agent: port.agent, words }));
    const tree = before?.withPorts(ports) ?? new KnownTree(new TreeWords(members), ports);
    this.#tree = { key, tree };
    return { tree, errors };
  }

  /** Fetches the vocabulary again next time. */
  forget(agent: string): void {
    this.#kept.delete(agent);
  }

  /** Also for a late shard: the next reports do not wait for it. */
  markFailed(agent: string, { code }: CodedError, clock: Clock): void {
    const kept = this.#kept.get(agent);
    if (kept === undefined || kept.failed !== undefined) return;
    kept.failed = { code: code as ErrorCode, atMs: clock.monotonicMs() };
  }

  async #words({ port, version }: VersionedPort, clock: Clock): Promise<KnownWords> {
    const nowMs = clock.monotonicMs();
    const kept = this.#kept.get(port.agent);
    if (kept?.version === version) {
      const { failed } = kept;
      if (failed === undefined) return kept.words;
      if (nowMs - failed.atMs < retryMs) throw new BusError(failed.code, { agent: port.agent });
    }
    const words = port.vocabulary().then((its) => new VocabularyWords(its));
    const fresh: Kept = { version, words };
    this.#kept.set(port.agent, fresh);
    // A late vocabulary serves the next report.
    words.then(
      () => delete fresh.failed,
      () => undefined,
    );
    return fresh.words;
  }
}
