import { asBusError } from '../../errors/bus-error.js';
import { newId } from '../../base/ids.js';
import { Semaphore } from '../../base/semaphore.js';
import type { CritiqueProgress } from '../review/messages.js';
import {
  orchestrationLimits,
  type OrchestrationFile,
  type ReviewPhase,
} from './orchestration-file.js';
import { pipelineContext } from '../review/pipeline-context.js';
import { handedMax } from '../review/read-request.js';
import type { Critique, CritiqueRequest, ModeReport } from '../shapes.js';
import { trackedAfter } from '../cycle/tracking.js';

export const orchestrationAtOnce = 4;

export interface OrchestrationParts {
  /** One id is one review: what was under way when a run was killed goes on. */
  review: (
    request: CritiqueRequest,
    onProgress: (progress: CritiqueProgress) => void,
  ) => Promise<Critique>;
  /** Text of an artifact, by its path. */
  read: (path: string) => Promise<string>;
  /** By which it is known; absent: as the file names it. */
  placeOf?: (path: string) => Promise<Omit<CritiqueRequest['artifact'], 'text'>>;
  /** The whole file, one write after the other. */
  save: (text: string) => Promise<void>;
  root: string;
  onProgress?: (phase: string, progress: CritiqueProgress) => void;
  atOnce?: number;
}

export interface PhaseResult {
  phase: string;
  critique: Critique | undefined;
  /** Code; empty: it was reviewed. */
  reason: string;
  /** The same in words. */
  why: string;
}

/**
 * Several critics at once, as a file says: each phase is a pipeline; a barrier (`adversarial_sync`) opens when all its phases
 * are over; then what they found is handed to those that wait (`cross_pollination`). After every mode the file has a
 * checkpoint. What the file says is complete is asked for once more by its id, which runs nothing again.
 */
export async function runOrchestration(
  file: OrchestrationFile,
  parts: OrchestrationParts,
): Promise<PhaseResult[]> {
  const { atOnce = orchestrationAtOnce } = parts;
  const run = new Run(file, parts, atOnce);
  return await run.all();
}

class Run {
  readonly #file: OrchestrationFile;
  readonly #parts: OrchestrationParts;
  readonly #turns: Semaphore;
  readonly #phases = new Map<string, Promise<PhaseResult>>();
  readonly #gates = new Map<string, Promise<unknown>>();
  #saving: Promise<void> = Promise.resolve();

  constructor(file: OrchestrationFile, parts: OrchestrationParts, atOnce: number) {
    this.#file = file;
    this.#parts = parts;
    this.#turns = new Semaphore({
      atOnce,
      waitingMax: orchestrationLimits.phases,
      refusal: () => new Error('bug: more phases than a file holds'),
    });
  }

  async all(): Promise<PhaseResult[]> {
    // The file has no cycle: a phase that is waited for was begun by the same walk.
    for (const phase of this.#file.phases) void this.#begun(phase);
    const results = await Promise.all([...this.#phases.values()]);
    await Promise.all(this.#gates.values());
    await this.#save();
    return results;
  }

  #begun(phase: ReviewPhase): Promise<PhaseResult> {
    const known = this.#phases.get(phase.id);
    if (known !== undefined) return known;
    const work = Promise.all(phase.after.map((gate) => this.#opened(gate))).then(() =>
      this.#turns.run(() => this.#reviewed(phase)),
    );
    this.#phases.set(phase.id, work);
    return work;
  }

  #opened(id: string): Promise<unknown> {
    const known = this.#gates.get(id);
    if (known !== undefined) return known;
    const { waitsFor = [] } = this.#file.barriers.find((each) => each.id === id) ?? {};
    const arrived = Promise.all(
      this.#file.phases
        .filter((phase) => waitsFor.includes(phase.id))
        .map((phase) => this.#begun(phase)),
    ).then(async () => {
      this.#file.setBarrier(id, 'passed');
      await this.#save();
    });
    this.#gates.set(id, arrived);
    return arrived;
  }

  async #reviewed(phase: ReviewPhase): Promise<PhaseResult> {
    const { id } = phase;
    try {
      const handed = await this.#handed(phase);
      const request = await this.#requestOf(phase, handed);
      // Before it begins: a run that is killed finds the same review again.
      this.#file.setPhase(id, { review: request.id, status: 'running' });
      await this.#save();
      const critique = await this.#parts.review(request, (progress) =>
        this.#progressed(id, progress),
      );
      this.#ended(phase, critique);
      await this.#save();
      return { phase: id, critique, reason: '', why: '' };
    } catch (error) {
      const { code, message, retryable } = asBusError(error);
      // What may come back by itself goes on in the next run.
      this.#file.setPhase(id, { status: retryable ? 'running' : 'failed', reason: code });
      await this.#save();
      return { phase: id, critique: undefined, reason: code, why: message };
    }
  }

  /** What other phases found, without their scores. */
  async #handed({ id }: ReviewPhase): Promise<ModeReport[]> {
    const reports: ModeReport[] = [];
    for (const handoff of this.#file.handoffs.filter(({ to }) => to === id)) {
      // Not waited for unless a barrier says so: what is not there yet is not handed over.
      const gated = this.#isBehind(id, handoff.from);
      const result = gated ? await this.#phases.get(handoff.from) : undefined;
      if (result?.critique === undefined) continue;
      const { critique } = result;
      const text = pipelineContext(critique).slice(0, orchestrationLimits.handoffChars);
      this.#file.setHandoff(handoff, text);
      reports.push(...critique.reports.filter(({ findings }) => findings.length > 0));
    }
    return reports.slice(-handedMax).map((report) => ({
      ...report,
      ...{ sections: [], score: null, findings: report.findings.slice(0, handedFindings) },
    }));
  }

  #isBehind(id: string, other: string): boolean {
    const { after = [] } = this.#file.phases.find((each) => each.id === id) ?? {};
    return this.#file.barriers.some(
      (gate) => after.includes(gate.id) && gate.waitsFor.includes(other),
    );
  }

  async #requestOf(phase: ReviewPhase, handed: ModeReport[]): Promise<CritiqueRequest> {
    const { artifact, modes, context, iteration, threshold, tokens, review } = phase;
    const { placeOf, read } = this.#parts;
    const place = (await placeOf?.(artifact)) ?? { path: artifact };
    return {
      id: review === '' ? newId('review') : review,
      artifact: { ...place, text: await read(artifact) },
      ...{ root: this.#parts.root, modes: [...modes], strict_order: false },
      is_adversarial: !(modes.length === 1 && modes[0] === 'standard'),
      ...{ context, is_revision: false, iteration },
      ...(threshold !== undefined && { threshold }),
      ...{ tokens, rules: [], criteria: '', ps_id: '', entry_id: '', generator: '' },
      ...(handed.length > 0 && { handed }),
    };
  }

  #progressed(phase: string, progress: CritiqueProgress): void {
    this.#parts.onProgress?.(phase, progress);
    const { id, done, total, report, next } = progress;
    const last = report === null ? {} : { last: report.mode, last_status: report.status };
    this.#file.setCheckpoint(phase, { review: id, done, total, next, ...last });
    this.#save().catch(() => undefined);
  }

  #ended({ id }: ReviewPhase, critique: Critique): void {
    const { score, verdict, needs_person } = critique;
    this.#file.setPhase(id, { status: 'complete', score, verdict, needs_person });
    const all = this.#file.tracking();
    const { artifact, threshold } = critique;
    const known = all.find((each) => each.artifact === artifact);
    const earlier = known?.iterations ?? [];
    if (earlier.some((each) => each.critique === critique.id)) return;
    const iterations = [...earlier, trackedAfter(earlier, critique)];
    const now = { ...known, artifact, threshold, iterations };
    this.#file.setTracking([...all.filter((each) => each.artifact !== artifact), now]);
  }

  #save(): Promise<void> {
    const saved = this.#saving.then(() => this.#parts.save(this.#file.toString()));
    this.#saving = saved.catch(() => undefined);
    return saved;
  }
}

/** Of each report that is handed to another review. */
const handedFindings = 20;
