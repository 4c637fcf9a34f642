import { createHash } from 'node:crypto';
import type { Clock } from '../../base/clock.js';
import { BusError } from '../../errors/bus-error.js';
import { Records } from '../../machine/records.js';
import { trendKey, trendPrefix } from '../../store/keys.js';
import { del } from '../../store/operations.js';
import type { Store } from '../../store/port.js';
import { shownAmong, wholeNameOf, type ArtifactName } from '../artifact/artifact-name.js';
import { isAsking, ratificationMs, standingAfter, type Standing } from './cycle.js';
import { roundOf, type Round } from './cycle-verdict.js';
import { ceilingFlags, unique } from '../score/leniency.js';
import type { ArtifactHistory, CriticRow, Ratification } from '../review/messages.js';
import {
  criticLimits,
  personJudgements,
  qualityGate,
  type Criticality,
  type Critique,
  type CritiqueRequest,
  type Flag,
  type TrackedIteration,
} from '../shapes.js';
import { countedIteration, disputedIn, trackedAfter, trendFlags, withTold } from './tracking.js';

export const historyLimits = {
  /** At it the one that was judged longest ago makes room. */
  artifacts: 1_000,
  /** Of one artifact; the oldest make room, and are counted. */
  iterations: criticLimits.iterations,
  ratifications: 64,
  textChars: 2_000,
  nameChars: 200,
  /** Full names that an error lists where several artifacts have one path. */
  namesListed: 5,
} as const;

type KeptIteration = TrackedIteration &
  Pick<Round, 'verdict' | 'is_hard' | 'needs_person' | 'disputed'>;

/** Of an iteration of which only the score was told. */
const judgedElsewhere = {
  verdict: 'REVISE',
  is_hard: false,
  needs_person: '',
  disputed: [] as string[],
} as const;

/** As it lies on disk. */
interface Kept {
  version: 1;
  /** Its path. */
  artifact: string;
  /** Absent: as its path; so are those that were kept before trees were distinguished. */
  whole?: string;
  criticality: Criticality;
  threshold: number;
  /** It was named: then C1 is gated, too. */
  is_threshold_given: boolean;
  is_adversarial: boolean;
  iterations_max: number;
  iterations: KeptIteration[];
  /** Oldest ones that are not kept any more. */
  dropped: number;
  ratifications: Ratification[];
  updated_ms: number;
}

/** One line of the list of artifacts. */
export type HistoryLine = ArtifactName & Omit<CriticRow, 'done' | 'total'>;

/** What is asked beside the critique itself. */
export type AskedFor = Pick<
  CritiqueRequest,
  | 'artifact'
  | 'root'
  | 'is_adversarial'
  | 'iteration'
  | 'threshold'
  | 'iterations_max'
  | 'previous_score'
>;

interface HistoryParts {
  store: Store;
  clock: Clock;
  onTrouble: (key: string, error: unknown) => void;
  limits?: Partial<Record<'artifacts' | 'iterations', number>>;
}

/** How artifacts fare from critique to critique, durable; one entry for each tree and path. */
export class History {
  readonly #parts: HistoryParts;
  readonly #records: Records<Kept>;
  /** By their whole names. */
  readonly #lines = new Map<string, HistoryLine>();

  private constructor(parts: HistoryParts) {
    this.#parts = parts;
    this.#records = new Records({
      ...{ ...parts, random: Math.random, prefix: trendPrefix, idOf, decode: decoded },
      adopt: ({ record }) => this.#remember(record),
      onTrouble: (id, error) => parts.onTrouble(trendKey(id), error),
    });
  }

  /** Throws STORE_UNAVAILABLE. What is damaged is reported, and left as it is. */
  static async open(parts: HistoryParts): Promise<History> {
    const history = new History(parts);
    for (const kept of (await history.#records.read()).records) history.#remember(kept);
    return history;
  }

  /**
   * With one more critique; on disk when this resolves, and once, however often it is added. Returns where the artifact
   * stands. Throws STORE_UNAVAILABLE.
   */
  add(critique: Critique, asked: AskedFor): Promise<ArtifactHistory> {
    return this.#records.turn('', async () => {
      const before = await this.#read(wholeNameOf(asked));
      if (before?.iterations.some((each) => each.critique === critique.id) === true)
        return this.#historyOf(before);
      // Added again after the oldest ones made room: it was one of them.
      const first = before?.iterations[0]?.at_ms ?? 0;
      const isOld = critique.begun_ms + critique.elapsed_ms < first;
      if (before !== undefined && before.dropped > 0 && isOld) return this.#historyOf(before);
      const kept = this.#with(before, critique, asked);
      const gone = before === undefined ? this.#crowded() : [];
      const more = gone.map((whole) => del(trendKey(digestOf(whole))));
      await this.#records.write({ record: kept, more });
      for (const whole of gone) this.#lines.delete(whole);
      return this.#historyOf(kept);
    });
  }

  /** The number of the next critique, and the score before it. Throws STORE_UNAVAILABLE. */
  async counted(asked: AskedFor): Promise<Pick<CritiqueRequest, 'iteration' | 'previous_score'>> {
    const before = withTold((await this.#read(wholeNameOf(asked)))?.iterations ?? [], asked);
    const iteration = countedIteration(before.at(-1)?.iteration ?? 1, asked.iteration);
    const score = asked.previous_score ?? before.findLast((each) => each.score !== null)?.score;
    return { iteration, ...(typeof score === 'number' && { previous_score: score }) };
  }

  /** What a critique shows beside those before it, and beside other artifacts. Throws STORE_UNAVAILABLE. */
  async flagsOf(critique: Critique, asked: AskedFor): Promise<Flag[]> {
    const whole = wholeNameOf(asked);
    const kept = await this.#read(whole);
    const before = kept?.iterations ?? [];
    // Read again from disk: it is one of them.
    const earlier = before.filter((each) => each.critique !== critique.id);
    return [
      ...(kept?.ratifications.some((each) => each.critique === earlier.at(-1)?.critique)
        ? []
        : openFlags(earlier, critique)),
      ...trendFlags(withTold(earlier, asked), critique, asked.is_adversarial),
      ...this.#ceiling(critique, whole),
    ];
  }

  /** Where the artifact stands after this critique, which need not be added yet. Throws STORE_UNAVAILABLE. */
  async standingAfter(
    critique: Critique,
    asked: AskedFor,
  ): Promise<Pick<Standing, 'state' | 'text'>> {
    const before = await this.#read(wholeNameOf(asked));
    const isAdded = before?.iterations.some((each) => each.critique === critique.id) === true;
    return this.#standing(isAdded ? before : this.#with(before, critique, asked));
  }

  /** By its whole name, or by its path where only one has it. Throws NO_SUCH_ARTIFACT, AMBIGUOUS_ARTIFACT, STORE_UNAVAILABLE. */
  async of(artifact: string): Promise<ArtifactHistory> {
    return this.#historyOf(await this.#known(artifact));
  }

  /** Those of which something is known, the latest first. */
  list(): HistoryLine[] {
    return [...this.#lines.values()].sort((a, b) => b.at_ms - a.at_ms);
  }

  /**
   * What a person says about the last critique, once; of another one it is refused. `artifact`: as in `of`. Throws
   * NO_SUCH_ARTIFACT, AMBIGUOUS_ARTIFACT, RATIFY_STATE, RATIFY_OLD, REVIEW_INVALID, TOO_LARGE, STORE_UNAVAILABLE.
   */
  async ratify(
    artifact: string,
    said: Pick<Ratification, 'judgement' | 'by' | 'text'> & { critique?: string },
  ): Promise<ArtifactHistory> {
    if (!personJudgements.includes(said.judgement))
      throw new BusError('REVIEW_INVALID', { detail: 'it is judged accept, refuse or revise' });
    const { textChars: limit } = historyLimits;
    if (said.text.length > limit)
      throw new BusError('TOO_LARGE', {
        ...{ what: 'the reason', bytes: said.text.length, unit: 'characters', limit },
      });
    return this.#records.turn('', async () => {
      const before = await this.#known(artifact);
      const critique = before.iterations.at(-1)?.critique ?? '';
      const { state } = this.#standing(before);
      if (![undefined, '', critique].includes(said.critique))
        throw new BusError('RATIFY_OLD', { artifact });
      if (!isAsking(state)) throw new BusError('RATIFY_STATE', { artifact, state });
      const by = said.by.slice(0, historyLimits.nameChars);
      const at_ms = this.#parts.clock.nowMs();
      const { judgement, text } = said;
      const ratifications = [...before.ratifications, { judgement, by, text, at_ms, critique }];
      const kept: Kept = {
        ...before,
        ratifications: ratifications.slice(-historyLimits.ratifications),
        updated_ms: at_ms,
      };
      await this.#records.write({ record: kept });
      return this.#historyOf(kept);
    });
  }

  #with(before: Kept | undefined, critique: Critique, asked: AskedFor): Kept {
    const known = before?.iterations ?? [];
    const earlier = withTold(known, asked, critique.begun_ms).map((each): KeptIteration => ({
      ...judgedElsewhere,
      ...each,
    }));
    const disputed = disputedIn(asked.artifact.text, known.at(-1)?.findings ?? []);
    const { verdict, is_hard, needs_person } = roundOf(critique);
    const tracked = trackedAfter(earlier, critique, asked.is_adversarial);
    const whole = wholeNameOf(asked);
    const flags = unique([...tracked.flags, ...this.#ceiling(critique, whole)]);
    const next = { ...tracked, flags, verdict, is_hard, needs_person, disputed };
    const most = this.#parts.limits?.iterations ?? historyLimits.iterations;
    const iterations = [...earlier, next].slice(-most);
    return {
      version: 1,
      artifact: critique.artifact,
      whole,
      criticality: critique.selection.criticality,
      threshold: critique.threshold,
      is_threshold_given: asked.threshold !== undefined,
      is_adversarial: asked.is_adversarial,
      iterations_max: asked.iterations_max ?? qualityGate.iterationsMax,
      iterations,
      dropped: (before?.dropped ?? 0) + earlier.length + 1 - iterations.length,
      ratifications: before?.ratifications ?? [],
      updated_ms: this.#parts.clock.nowMs(),
    };
  }

  /** Over several artifacts: their last scores, this one behind them. */
  #ceiling({ score }: Critique, whole: string): TrackedIteration['flags'] {
    if (score === null) return [];
    const others = [...this.#lines.values()]
      .filter((line) => line.whole !== whole && line.score !== null)
      .sort((a, b) => a.at_ms - b.at_ms);
    return ceilingFlags([...others.map((line) => line.score ?? 0), score]);
  }

  #standing(kept: Kept): Standing {
    const { criticality, threshold, is_threshold_given, is_adversarial, iterations_max } = kept;
    const judged = new Map(kept.ratifications.map((each) => [each.critique, each.judgement]));
    const rounds = kept.iterations.map((each) => ({
      ...each,
      judged: judged.get(each.critique) ?? ('' as const),
    }));
    const isGated = criticality !== 'C1' || is_threshold_given;
    const atMs = kept.iterations.at(-1)?.at_ms ?? 0;
    return standingAfter(
      rounds,
      {
        ...{ criticality, isAdversarial: is_adversarial, iterationsMax: iterations_max },
        ...(isGated && { threshold }),
      },
      this.#parts.clock.nowMs() > atMs + ratificationMs,
    );
  }

  #historyOf(kept: Kept): ArtifactHistory {
    const { threshold, iterations, ratifications } = kept;
    const { state, text } = this.#standing(kept);
    const artifact = shownAmong(this.#lines.values())(nameOf(kept));
    return {
      tracking: { artifact, threshold, iterations: iterations.map(trackedOnly) },
      state,
      why: text,
      needs_person: isAsking(state),
      ratifications,
    };
  }

  #remember(kept: Kept): void {
    const { iterations, threshold, updated_ms: at_ms } = kept;
    const { artifact, whole } = nameOf(kept);
    const { state, iteration } = this.#standing(kept);
    const last = iterations.at(-1);
    this.#lines.set(whole, {
      ...{ artifact, whole, iteration, score: last?.score ?? null, threshold, state },
      ...{ needs_person: isAsking(state), at_ms, critique: last?.critique ?? '' },
    });
  }

  /** What has to go before another artifact begins. */
  #crowded(): string[] {
    const most = this.#parts.limits?.artifacts ?? historyLimits.artifacts;
    const over = this.#lines.size + 1 - most;
    if (over <= 0) return [];
    return [...this.#lines.values()]
      .sort((a, b) => a.at_ms - b.at_ms)
      .slice(0, over)
      .map(({ whole }) => whole);
  }

  async #known(artifact: string): Promise<Kept> {
    const kept = await this.#read(this.#wholeOf(artifact));
    if (kept === undefined) throw new BusError('NO_SUCH_ARTIFACT', { artifact });
    return kept;
  }

  #wholeOf(artifact: string): string {
    if (this.#lines.has(artifact)) return artifact;
    const same = [...this.#lines.values()].filter((line) => line.artifact === artifact);
    if (same.length <= 1) return same[0]?.whole ?? artifact;
    const { namesListed } = historyLimits;
    const names = same.slice(0, namesListed).map(({ whole }) => whole);
    if (same.length > namesListed) names.push(`and ${same.length - namesListed} more`);
    throw new BusError('AMBIGUOUS_ARTIFACT', { artifact, names: names.join(', ') });
  }

  /** A damaged one counts as none: the next critique begins it anew. */
  #read(whole: string): Promise<Kept | undefined> {
    return this.#records.load(digestOf(whole));
  }
}

/** What a person was asked about the same text, and has not answered: another review of it answers nothing. */
function openFlags(before: readonly TrackedIteration[], { digest }: Critique): Flag[] {
  const last = before.at(-1);
  if (last?.digest !== digest) return [];
  return last.flags.filter(
    ({ code, level }) => level === 'mandatory' && /^(?:LENIENCY_|PLATEAU)/.test(code),
  );
}

/** What was refused, left to a person before anything was read, or cancelled, is none. */
export function isIteration({ reports }: Pick<Critique, 'reports'>): boolean {
  const isRead = reports.some(({ status }) => status !== 'skipped');
  return isRead && !reports.some(({ reason }) => reason === 'CANCELLED');
}

function trackedOnly({
  verdict: _,
  is_hard: __,
  needs_person: ___,
  disputed: ____,
  ...tracked
}: KeptIteration): TrackedIteration {
  return tracked;
}

function nameOf({ artifact, whole = artifact }: Kept): ArtifactName {
  return { artifact, whole };
}

function digestOf(whole: string): string {
  return createHash('sha256').update(whole).digest('hex').slice(0, 32);
}

function idOf(kept: Kept): string {
  return digestOf(nameOf(kept).whole);
}

/** Throws when it is damaged, or of a version that this one does not know. */
function decoded(bytes: Buffer): Kept {
  const kept = JSON.parse(bytes.toString()) as Kept;
  if ((kept.version as number) !== 1 || !Array.isArray(kept.iterations))
    throw new Error(`a history of version ${String(kept.version)}`);
  return kept;
}
