import { Document, isMap, isNode, LineCounter, parseDocument } from 'yaml';
import { lazily } from '../../base/lazy-schema.js';
import { BusError } from '../../errors/bus-error.js';
import { inOurWords, objectionIn } from '../../errors/objection.js';
import { criticLimits, type QualityTracking } from '../shapes.js';
import { isModeName, modeNames, type ModeName } from '../strategies.js';

export const orchestrationLimits = {
  bytes: 1024 * 1024,
  phases: 64,
  barriers: 64,
  handoffs: 256,
  /** Of one handoff, in the file. */
  handoffChars: 16_000,
  nameChars: 200,
} as const;

export const phaseStatuses = ['pending', 'running', 'complete', 'failed'] as const;

/** What is read; other fields of the file stay as they are. */
const shape = lazily((z) => {
  const { nameChars, phases, barriers, handoffs } = orchestrationLimits;
  const name = z.string().min(1).max(nameChars);
  const names = z.array(name).max(phases).optional();
  const word = z.string().max(nameChars);
  const mode = z.custom<ModeName>((value) => typeof value === 'string' && isModeName(value), {
    message: `it is none of the modes ${modeNames.join(', ')}`,
  });
  const context = z.strictObject({
    ...{ criticality: word.optional(), phase: word.optional(), target_type: word.optional() },
    ...{ maturity: word.optional(), team: word.optional(), enforcement: word.optional() },
    ...{ platform: word.optional(), token_budget: word.optional() },
  });
  const review = z.looseObject({
    artifact: z.string().min(1).max(criticLimits.pathChars),
    modes: z.array(mode).max(16).optional(),
    context: context.optional(),
    iteration: z.number().int().min(1).max(criticLimits.iterations).optional(),
    threshold: z.number().min(0).max(1).optional(),
    tokens: z.number().int().min(0).optional(),
    review: z
      .string()
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,95}$/)
      .optional(),
    status: z.enum(phaseStatuses).optional(),
  });
  const tracking = z.looseObject({
    artifact: z.string().min(1),
    threshold: z.number(),
    iterations: z
      .array(z.looseObject({ iteration: z.number().int() }))
      .max(criticLimits.iterations),
  });
  return z.looseObject({
    phases: z
      .array(z.looseObject({ id: name, after: names, adversarial_review: review.optional() }))
      .max(phases)
      .optional(),
    barriers: z
      .array(z.looseObject({ id: name, type: word, waits_for: names }))
      .max(barriers)
      .optional(),
    cross_pollination: z
      .array(z.looseObject({ from: name, to: name, handoff: z.unknown().optional() }))
      .max(handoffs)
      .optional(),
    quality_tracking: z.union([tracking, z.array(tracking).max(phases)]).optional(),
  });
});

export interface ReviewPhase {
  id: string;
  /** Barriers that it waits for. */
  after: readonly string[];
  artifact: string;
  modes: readonly ModeName[];
  context: Readonly<Record<string, string>>;
  iteration: number;
  threshold: number | undefined;
  tokens: number;
  /** Id of its review, once it has begun. */
  review: string;
  status: (typeof phaseStatuses)[number];
}

export interface SyncBarrier {
  id: string;
  waitsFor: readonly string[];
}

export interface Handoff {
  from: string;
  to: string;
}

/**
 * An orchestration file (`ORCHESTRATION.yaml`). Only what is about reviews is read and written; comments, order and
 * other fields stay as they are.
 */
export class OrchestrationFile {
  readonly phases: readonly ReviewPhase[];
  readonly barriers: readonly SyncBarrier[];
  readonly handoffs: readonly Handoff[];
  readonly #document: Document;
  /** Place of each phase in the file: others stand between them. */
  readonly #placeOf = new Map<string, number>();
  readonly #barrierAt = new Map<string, number>();

  /** Throws ORCHESTRATION_INVALID, TOO_LARGE. `file` names it in errors. */
  constructor(text: string, file: string) {
    const { bytes: limit } = orchestrationLimits;
    const bytes = Buffer.byteLength(text);
    if (bytes > limit) throw new BusError('TOO_LARGE', { what: file, bytes, limit });
    const lines = new LineCounter();
    const document = parseDocument(text, { lineCounter: lines, maxAliasCount: 0 } as object);
    const [wrong] = document.errors;
    if (wrong !== undefined)
      throw invalid(file, lines.linePos(wrong.pos[0]).line, yamlWords(wrong.message));
    const parsed = shape().safeParse(valueOf(document, file), inOurWords);
    if (!parsed.success) {
      const [issue] = parsed.error.issues;
      const path = (issue?.path ?? []) as (string | number)[];
      throw invalid(file, lineOf(document, lines, path), objectionIn(parsed.error));
    }
    const { phases = [], barriers = [], cross_pollination: handoffs = [] } = parsed.data;
    this.#document = document;
    for (const [at, { id }] of phases.entries()) this.#placeOf.set(id, at);
    for (const [at, { id }] of barriers.entries()) this.#barrierAt.set(id, at);
    this.phases = phases.flatMap(({ id, after = [], adversarial_review: its }) =>
      its === undefined
        ? []
        : [
            {
              ...{ id, after, artifact: its.artifact, modes: its.modes ?? [] },
              context: (its.context ?? {}) as Record<string, string>,
              ...{ iteration: its.iteration ?? 2, threshold: its.threshold },
              ...{ tokens: its.tokens ?? 0, review: its.review ?? '' },
              status: its.status ?? ('pending' as const),
            },
          ],
    );
    this.barriers = barriers
      .filter(({ type }) => type === 'adversarial_sync')
      .map(({ id, waits_for: waitsFor = [] }) => ({ id, waitsFor }));
    this.handoffs = handoffs.map(({ from, to }) => ({ from, to }));
    assertSound(this, file);
  }

  /** What the file says of artifacts, and of their iterations. */
  tracking(): QualityTracking[] {
    const value = this.#document.toJS() as {
      quality_tracking?: QualityTracking | QualityTracking[];
    };
    const its = value.quality_tracking;
    if (its === undefined) return [];
    return Array.isArray(its) ? its : [its];
  }

  setPhase(id: string, fields: Readonly<Record<string, unknown>>): void {
    const at = this.#placeOf.get(id);
    for (const [name, value] of Object.entries(fields))
      // Within braces a bare null would be no value at all.
      this.#document.setIn(
        ['phases', at, 'adversarial_review', name],
        value === null ? this.#document.createNode(null) : value,
      );
  }

  setBarrier(id: string, status: 'waiting' | 'passed'): void {
    this.#document.setIn(['barriers', this.#barrierAt.get(id), 'status'], status);
  }

  setHandoff({ from, to }: Handoff, text: string): void {
    const at = this.handoffs.findIndex((each) => each.from === from && each.to === to);
    const entry = this.#document.getIn(['cross_pollination', at], true);
    // Within braces, or with blanks at the end of a line, it would be one long word in quotes.
    if (isMap(entry)) entry.flow = false;
    const told = text.replace(/[^\S\n]+$/gm, '');
    this.#document.setIn(['cross_pollination', at, 'handoff'], told);
  }

  /** The last one of each phase. */
  setCheckpoint(phase: string, state: Readonly<Record<string, unknown>>): void {
    const value = this.#document.toJS() as { checkpoints?: { phase?: unknown }[] };
    const known = value.checkpoints ?? [];
    const at = known.findIndex((each) => each.phase === phase);
    if (at >= 0)
      return this.#document.setIn(['checkpoints', at, 'pipeline_state'], this.#node(state));
    const entry = this.#node({ phase, pipeline_state: state });
    if (known.length === 0) this.#document.set('checkpoints', this.#node([entry]));
    else this.#document.addIn(['checkpoints'], entry);
  }

  /** One artifact stands as the document has it, several as a list. */
  setTracking(all: readonly QualityTracking[]): void {
    this.#document.set('quality_tracking', this.#node(all.length === 1 ? all[0] : all));
  }

  toString(): string {
    return this.#document.toString({ lineWidth: 0 });
  }

  #node(value: unknown): unknown {
    return this.#document.createNode(value);
  }
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS({ maxAliasCount: 0 });
  } catch {
    throw invalid(file, 1, 'it has aliases');
  }
}

/** Throws ORCHESTRATION_INVALID: names twice, names of nothing, and what would wait for ever. */
function assertSound({ phases, barriers, handoffs }: OrchestrationFile, file: string): void {
  const refuse = (detail: string): never => {
    throw invalid(file, 1, detail);
  };
  const known = new Set(phases.map(({ id }) => id));
  const gates = new Map(barriers.map((each) => [each.id, each]));
  if (known.size < phases.length) refuse('two phases have one id');
  if (gates.size < barriers.length) refuse('two barriers have one id');
  for (const { id, after } of phases)
    for (const gate of after)
      if (!gates.has(gate)) refuse(`phase ${id} waits for ${gate}, which is no adversarial_sync`);
  for (const { id, waitsFor } of barriers)
    for (const phase of waitsFor)
      if (!known.has(phase))
        refuse(`barrier ${id} waits for ${phase}, which has no adversarial_review`);
  for (const { from, to } of handoffs)
    if (!known.has(from) || !known.has(to))
      refuse(`a handoff from ${from} to ${to} names no review`);
  const passed = new Set<string>();
  const left = new Set(phases);
  while (left.size > 0) {
    const free = [...left].filter(({ after }) =>
      after.every((gate) => gates.get(gate)?.waitsFor.every((phase) => passed.has(phase)) === true),
    );
    if (free.length === 0) refuse(`phase ${[...left][0]?.id ?? ''} would wait for itself`);
    for (const phase of free) {
      left.delete(phase);
      passed.add(phase.id);
    }
  }
}

/** Without the place, which is told before it. */
function yamlWords(message: string): string {
  return (message.split('\n')[0] ?? '').replace(/ at line \d+, column \d+:?$/, '');
}

function invalid(file: string, line: number, detail: string): BusError {
  return new BusError('ORCHESTRATION_INVALID', { detail: `${file}:${line}: ${detail}` });
}

/** Of the nearest place that is there. */
function lineOf(
  document: Document,
  lines: LineCounter,
  path: readonly (string | number)[],
): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range != null) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
