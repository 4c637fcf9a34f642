import type { Gate } from '../attention/shapes.js';
import { BoundedMap } from '../base/bounded-map.js';
import { Semaphore } from '../base/semaphore.js';
import { systemClock } from '../base/clock.js';
import { givenWithin } from '../base/within.js';
import { asBusError, BusError } from '../errors/bus-error.js';
import { redactedText } from '../observe/redaction.js';
import type { Logger } from '../observe/log.js';
import { gatesToldKey } from '../store/keys.js';
import { put } from '../store/operations.js';
import type { Store } from '../store/port.js';

/** Notices under way at once, and waiting; one more is dropped and counted. */
const atOnce = 2;
const waitingMax = 100;
/** Of one notice by one way. */
const noticeMs = 10_000;
/** Gates that are remembered as told, over restarts; more are hardly open at once. */
const toldMax = 1_000;
const textCharsMax = 1_000;

/** A way to tell a person that a gate waits: a command, a webhook. Throws with a reason that holds no secret. */
export interface NoticeWay {
  name: string;
  tell: (notice: string, signal: AbortSignal) => Promise<void>;
}

export type NoticeCounts = Readonly<Record<'sent' | 'failed' | 'dropped', number>>;

/**
 * Tells a person of gates outside of the bus, as the operator has configured. A gate waits for its judgement whether or not this
 * succeeds. One that was told by every way is not told again, not by the next process either; a power cut may repeat it.
 */
export class GateNotices implements AsyncDisposable {
  readonly #parts: { store: Store; log: Logger; ways: readonly NoticeWay[] };
  readonly #over = new AbortController();
  readonly #turns = new Semaphore({
    ...{ atOnce, waitingMax },
    refusal: (limit) => new BusError('BROKER_BUSY', { limit }),
  });
  readonly #counts = { sent: 0, failed: 0, dropped: 0 };
  readonly #underWay = new Set<Promise<void>>();
  /** Asked for in this process: each once. */
  readonly #asked = new BoundedMap<string, true>(toldMax);
  #told: Promise<Set<string>> | undefined;

  constructor(parts: { store: Store; log: Logger; ways: readonly NoticeWay[] }) {
    this.#parts = parts;
  }

  /** Since this process began. */
  get counts(): NoticeCounts {
    return { ...this.#counts };
  }

  /** At once; what becomes of it is counted and logged. */
  tell(gate: Gate): void {
    if (this.#parts.ways.length === 0 || this.#over.signal.aborted) return;
    if (this.#asked.has(gate.id)) return;
    this.#asked.set(gate.id, true);
    const work = this.#turns
      .run(() => this.#tell(gate))
      .catch((error: unknown) => {
        if (this.#over.signal.aborted) return;
        this.#counts.dropped += 1;
        this.#parts.log.warn({ gate: gate.id, code: asBusError(error).code }, 'notice dropped');
      })
      .finally(() => this.#underWay.delete(work));
    this.#underWay.add(work);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#over.abort(new BusError('CANCELLED'));
    await Promise.all(this.#underWay);
  }

  async #tell(gate: Gate): Promise<void> {
    if (this.#over.signal.aborted) return;
    const told = await (this.#told ??= this.#read()).catch((error: unknown) => {
      // The next notice reads it again.
      this.#told = undefined;
      throw error;
    });
    if (told.has(gate.id)) return;
    const { ways, log } = this.#parts;
    const notice = JSON.stringify(noticeOf(gate));
    const sent = await Promise.all(
      ways.map(async ({ name, tell }) => {
        using late = givenWithin(systemClock, noticeMs, this.#over.signal);
        try {
          await tell(notice, late.signal);
          this.#counts.sent += 1;
          return true;
        } catch (error) {
          this.#counts.failed += 1;
          const why = late.signal.aborted ? `not within ${noticeMs} ms` : (error as Error).message;
          log.warn({ gate: gate.id, way: name, why }, 'a person was not told of a gate');
          return false;
        }
      }),
    );
    if (!sent.every(Boolean)) return;
    told.add(gate.id);
    const [oldest] = told;
    if (told.size > toldMax && oldest !== undefined) told.delete(oldest);
    await this.#parts.store.write([put(gatesToldKey, [...told])]);
  }

  async #read(): Promise<Set<string>> {
    const bytes = await this.#parts.store.get(gatesToldKey);
    return new Set(bytes === undefined ? [] : (JSON.parse(bytes.toString()) as string[]));
  }
}

/** What leaves the machine, perhaps: known kinds of credentials are taken out of all texts. */
function noticeOf(gate: Gate): object {
  const { id, task, session, asked_ms, expires_ms, classification } = gate;
  const text = (its: string): string => redactedText(its).slice(0, textCharsMax);
  return {
    ...{ event: 'gate.opened', gate: id, task, session: text(session), asked_ms, expires_ms },
    action: text(classification.description),
    findings: classification.findings.map(({ signal, severity, evidence }) => ({
      ...{ signal, severity, evidence: text(evidence) },
    })),
    next: `sigma gate show ${id}`,
  };
}
