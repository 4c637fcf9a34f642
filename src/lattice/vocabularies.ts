import type { Clock } from '../base/clock.js';
import { BusError } from '../errors/bus-error.js';
import type { ErrorCode } from '../errors/catalogue.js';
import { TreeWords } from '../pgc/search/locate/tree-words.js';
import { KnownTree } from '../pgc/search/locate/locate.js';
import { VocabularyWords, type KnownWords } from '../pgc/search/locate/vocabulary.js';
import type { WordsPort } from '../pgc/search/locate/words-port.js';
import type { CodedError } from '../pgc/shapes.js';
import { failureOf, orAborted } from './asking.js';

/** Vocabularies that are fetched at once: each is some hundred kilobytes. */
const fetchesMax = 8;
/** A shard that gave none is not asked again before. */
const retryMs = 10_000;

export interface Versioned {
  port: WordsPort;
  /** Of its index, as its card says: while it is the same, so are its words. */
  version: string;
}

interface Kept {
  version: string;
  words: Promise<KnownWords>;
  /** Set when it could not be had. */
  failed?: { code: ErrorCode; atMs: number };
}

/** What the shards of one tree have said of their words: fetched when the first report comes, and once per version. */
export class Vocabularies {
  readonly #kept = new Map<string, Kept>();
  #tree: { key: string; tree: KnownTree } | undefined;

  /** Those that are known by the time of the signal, as one tree; the others are named. */
  async tree(
    shards: readonly Versioned[],
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
          const told = failureOf(port.agent, error);
          errors.push(told);
          this.#blame(port.agent, told, clock);
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

  /** What has changed is asked for anew. */
  forget(agent: string): void {
    this.#kept.delete(agent);
  }

  /** Who was too late, too: not every report shall wait for it. */
  #blame(agent: string, { code }: CodedError, clock: Clock): void {
    const kept = this.#kept.get(agent);
    if (kept === undefined || kept.failed !== undefined) return;
    kept.failed = { code: code as ErrorCode, atMs: clock.monotonicMs() };
  }

  async #words({ port, version }: Versioned, clock: Clock): Promise<KnownWords> {
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
    // Late is not lost: the next report has it.
    words.then(
      () => delete fresh.failed,
      () => undefined,
    );
    return fresh.words;
  }
}
