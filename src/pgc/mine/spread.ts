import type { FactsLanguage } from '../format/facts.js';
import type { RuleDigests } from './fact-store.js';
import { queuedPerJob, type MinerPool } from './pool.js';

/** A larger text is mined here: most of the time would go into sending it. */
const farBytesMax = 512 * 1024;
/** In a row; then the others are left alone for the rest of the run. */
const farFailuresMax = 3;

/** Miners elsewhere, with the same version as those here and the shipped rules. */
export interface FarMiners {
  /** Files that they take at once. */
  places: number;
  /** The encoded `FileFacts` of a source, and who mined it. Throws what kept them from it. */
  mine(language: FactsLanguage, source: Uint8Array): Promise<{ facts: Uint8Array; by: string }>;
}

/** Mines here and elsewhere at the same time. Facts depend on language and content alone, so it does not matter where. */
export class SpreadMiners {
  readonly #own: MinerPool;
  readonly #jobs: number;
  readonly #far: FarMiners;
  /** Languages for which the tree has rules of its own. */
  readonly #digests: RuleDigests;
  #ownUnderWay = 0;
  #farUnderWay = 0;
  #failures = 0;
  /** Files, by who mined them elsewhere. */
  readonly shares = new Map<string, number>();

  constructor(parts: { own: MinerPool; jobs: number; far: FarMiners; digests: RuleDigests }) {
    this.#own = parts.own;
    this.#jobs = Math.max(1, parts.jobs);
    this.#far = parts.far;
    this.#digests = parts.digests;
  }

  /** As `MinerPool.mine`. A file that could not be mined elsewhere is mined here. */
  async mine(language: FactsLanguage, source: Uint8Array): Promise<Uint8Array> {
    if (this.#isForOthers(language, source)) {
      this.#farUnderWay += 1;
      try {
        const { facts, by } = await this.#far.mine(language, source);
        this.#failures = 0;
        this.shares.set(by, (this.shares.get(by) ?? 0) + 1);
        return facts;
      } catch {
        this.#failures += 1;
      } finally {
        this.#farUnderWay -= 1;
      }
    }
    this.#ownUnderWay += 1;
    try {
      return await this.#own.mine(language, source);
    } finally {
      this.#ownUnderWay -= 1;
    }
  }

  #isForOthers(language: FactsLanguage, source: Uint8Array): boolean {
    return (
      this.#ownUnderWay >= this.#jobs * queuedPerJob &&
      this.#farUnderWay < this.#far.places &&
      this.#failures < farFailuresMax &&
      source.byteLength <= farBytesMax &&
      this.#digests[language] === undefined
    );
  }
}
