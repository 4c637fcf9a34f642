import type { Plain, sigma } from '../../../wire/codec.js';
import { BusError } from '../../../errors/bus-error.js';
import type { OpenedTree } from '../../search/open-index.js';
import type { CodedError, OverlayName } from '../../shapes.js';
import { AnchorSet } from './anchor-set.js';
import { Anchors, type AnchorRow } from './anchors.js';
import { graphOf } from '../blast-radius.js';
import { CallSource } from './call-source.js';
import type { Expression, Operand } from './expression.js';
import { filterOf, type Filter } from './filter.js';
import { HistorySource, historyRules } from './history-source.js';
import { ItemSource } from './item-source.js';
import { groundsMax, type Ground, type Source, type Wanted } from './source.js';
import { StructureSource } from './structure-source.js';

export const shownDefault = 50;
export const shownMax = 10_000;

export interface AlgebraAnchor extends AnchorRow {
  /** What put it there, at most `groundsMax`. */
  items: Ground[];
}

export type AlgebraAnswer = Plain<
  sigma.pgc.AlgebraAnswer,
  { anchors: AlgebraAnchor[]; errors: CodedError[] }
>;

/**
 * The anchors that an expression means: union, intersection and difference of the sets of its operands, and
 * the complement against O1: `!A` is every symbol that is not in A. What no symbol bears (`path#`, headings)
 * is in no complement, so that `!!A` is `A & O1`, and `A - B` is `A & !B` for sets within O1; all
 * other laws hold for all sets. An anchor is in `O2[a, b]` when one item of it satisfies a and b.
 *
 * Nothing is named of which that is not certain. A symbol that a call may mean, but of which nothing proves it, is neither in
 * `O3[called]` nor in its complement (S. C. Kleene's third value): what is taken away is taken with all that may
 * be so. A warning counts what is left out for that.
 *
 * Throws INDEX_CORRUPT.
 */
export async function evaluate(
  expression: Expression,
  tree: OpenedTree,
  { limit = shownDefault }: { limit?: number } = {},
): Promise<AlgebraAnswer> {
  const operands = operandsOf(expression);
  const anchors = anchorsOf(tree);
  const sources = new Map<OverlayName, Source>();
  for (const { overlay } of operands)
    if (!sources.has(overlay)) sources.set(overlay, await sourceOf(overlay, tree, anchors));
  const evaluation = new Evaluation(anchors, sources);
  const set = evaluation.set(expression);
  return {
    count: set.count,
    anchors: evaluation.shown(expression, set, Math.min(limit, shownMax)),
    warnings: [
      ...operands.flatMap((each) => warningsOf(each, sources.get(each.overlay))),
      ...(operands.some(asksCalled) ? evaluation.undecided(expression, set) : []),
    ],
    errors: errorsOf(operands, tree),
  };
}

/** Anchors of a tree that is open: they are worked out once. */
const known = new WeakMap<OpenedTree, Anchors>();

function anchorsOf(tree: OpenedTree): Anchors {
  const anchors = known.get(tree) ?? new Anchors(tree.shards);
  known.set(tree, anchors);
  return anchors;
}

async function sourceOf(overlay: OverlayName, tree: OpenedTree, anchors: Anchors): Promise<Source> {
  if (overlay === 'O1') return new StructureSource(anchors);
  if (overlay === 'O3')
    return lineageOf(
      new CallSource(anchors, graphOf(tree)),
      new HistorySource(anchors, await tree.overlay('O3')),
    );
  return new ItemSource(overlay, anchors, await tree.overlay(overlay));
}

/** O3 has two sides: calls, and what git tells of files. */
function lineageOf(calls: Source, history: Source): Source {
  const sideOf = (filter: Filter): Source => (filter.asksHistory(historyRules) ? history : calls);
  return {
    rules: new Set([...(calls.rules ?? []), ...(history.rules ?? [])]),
    select: (filter, wanted) => sideOf(filter).select(filter, wanted),
    ground: (filter, only, put) => sideOf(filter).ground(filter, only, put),
  };
}

class Evaluation {
  readonly #anchors: Anchors;
  readonly #sources: ReadonlyMap<OverlayName, Source>;
  /** Of every part of the expression, narrow or wide: what put an anchor there is asked afterwards. */
  readonly #sets = {
    narrow: new Map<Expression, AnchorSet>(),
    wide: new Map<Expression, AnchorSet>(),
  };
  readonly #symbols: AnchorSet;

  constructor(anchors: Anchors, sources: ReadonlyMap<OverlayName, Source>) {
    this.#anchors = anchors;
    this.#sources = sources;
    this.#symbols = AnchorSet.below(anchors.symbolCount);
  }

  /** With `among` it need be right for these alone: no others are asked for afterwards. */
  set(expression: Expression, wanted: Wanted = {}): AnchorSet {
    const sets = this.#sets[wanted.isWide === true ? 'wide' : 'narrow'];
    const set = sets.get(expression) ?? this.#work(expression, wanted);
    sets.set(expression, set);
    return set;
  }

  /** That symbols may belong to the set as well. */
  undecided(expression: Expression, set: AnchorSet): string[] {
    const { count } = this.set(expression, { isWide: true }).difference(set);
    if (count === 0) return [];
    const what = count === 1 ? '1 more symbol may be' : `${count} more symbols may be`;
    return [`${what} of this set: of calls of their names nothing proves what they call`];
  }

  shown(expression: Expression, set: AnchorSet, limit: number): AlgebraAnchor[] {
    const shown = new Map<number, AlgebraAnchor>();
    const only = new AnchorSet();
    for (const id of limit === 0 ? [] : this.#anchors.inOrder(set)) {
      shown.set(id, { ...this.#anchors.row(id), items: [] });
      only.add(id);
      if (shown.size >= limit) break;
    }
    this.#ground(expression, only, (id, ground) => {
      const anchor = shown.get(id);
      if (anchor !== undefined) noteGround(anchor, ground);
    });
    return [...shown.values()];
  }

  #work(expression: Expression, wanted: Wanted): AnchorSet {
    const { among } = wanted;
    switch (expression.kind) {
      case 'overlay':
        return this.#select(expression, wanted);
      case 'complement':
        return this.#symbols.difference(this.set(expression.of, turned(wanted)));
      case 'union':
        return this.set(expression.left, wanted).union(this.set(expression.right, wanted));
      case 'intersection': {
        // Calls are many: first what leaves few symbols to ask them of.
        const { left, right } = expression;
        const [first, second] =
          asksCalls(left) && !asksCalls(right) ? [right, left] : [left, right];
        const some = this.set(first, wanted);
        return some.intersection(this.set(second, { ...wanted, among: within(some, among) }));
      }
      case 'difference': {
        const some = this.set(expression.left, wanted);
        const others = { ...turned(wanted), among: within(some, among) };
        return some.difference(this.set(expression.right, others));
      }
    }
  }

  #select({ conditions, overlay }: Operand, wanted: Wanted): AnchorSet {
    return this.#sources.get(overlay)?.select(filterOf(conditions), wanted) ?? new AnchorSet();
  }

  /** Only what holds an anchor in the set: one side of a union, the left of a difference. */
  #ground(
    expression: Expression,
    among: AnchorSet,
    put: (anchor: number, ground: Ground) => void,
  ): void {
    const only = among.intersection(this.set(expression));
    switch (expression.kind) {
      case 'overlay': {
        const { overlay, conditions } = expression;
        this.#sources.get(overlay)?.ground(filterOf(conditions), only, put);
        return;
      }
      case 'complement':
        // An anchor without other items is listed as a symbol.
        this.#structure.ground(everything, only, put);
        return;
      case 'difference':
        this.#ground(expression.left, only, put);
        return;
      case 'union':
      case 'intersection':
        this.#ground(expression.left, only, put);
        this.#ground(expression.right, only, put);
    }
  }

  get #structure(): Source {
    return new StructureSource(this.#anchors);
  }
}

const everything: Filter = filterOf([]);

function noteGround(anchor: AlgebraAnchor, ground: Ground): void {
  // What no symbol bears is where its first item is.
  const isNowhere = anchor.kind === 'file' || anchor.kind === 'text';
  if (isNowhere && (anchor.line === 0 || ground.line < anchor.line)) anchor.line = ground.line;
  const isKnown = anchor.items.some(
    (each) =>
      each.overlay === ground.overlay &&
      each.rule === ground.rule &&
      each.line === ground.line &&
      each.file_path === ground.file_path,
  );
  if (!isKnown && anchor.items.length < groundsMax) anchor.items.push(ground);
}

/** What may be so is taken away, and what is so is left of it. */
function turned({ isWide = false, among }: Wanted): Wanted {
  return { isWide: !isWide, among };
}

function within(set: AnchorSet, among: AnchorSet | undefined): AnchorSet {
  return among === undefined ? set : set.intersection(among);
}

function asksCalls(expression: Expression): boolean {
  return operandsOf(expression).some(({ overlay }) => overlay === 'O3');
}

function asksCalled({ overlay, conditions }: Operand): boolean {
  const filter = filterOf(conditions);
  return overlay === 'O3' && filter.mayBeOfRule('called') && !filter.asksHistory(historyRules);
}

function operandsOf(expression: Expression): Operand[] {
  switch (expression.kind) {
    case 'overlay':
      return [expression];
    case 'complement':
      return operandsOf(expression.of);
    case 'union':
    case 'intersection':
    case 'difference':
      return [...operandsOf(expression.left), ...operandsOf(expression.right)];
  }
}

function warningsOf({ overlay, conditions }: Operand, source: Source | undefined): string[] {
  const rules = source?.rules;
  if (rules === undefined) return [];
  return conditions
    .filter(
      ({ field, operator, value }) => field === 'rule' && operator === '=' && !rules.has(value),
    )
    .map(({ value }) => {
      const others = rules.size === 0 ? 'no rules' : `these rules: ${[...rules].sort().join(', ')}`;
      return `${overlay} of this tree has no item of the rule ${value}; it has ${others}`;
    });
}

function errorsOf(operands: readonly Operand[], tree: OpenedTree): CodedError[] {
  const missing = (overlay: string, agent: string): CodedError => ({
    ...new BusError('OVERLAY_MISSING', { overlay, agent }).toFailure(),
    agent,
  });
  const wanted = [...new Set(operands.map(({ overlay }) => overlay))];
  const errors = wanted.flatMap((overlay) =>
    tree.manifest.shards
      .filter(({ overlays }) => overlays[overlay]?.state !== 'ready')
      .map(({ alias }) => missing(overlay, alias)),
  );
  const asksHistory = operands.some(({ conditions }) =>
    filterOf(conditions).asksHistory(historyRules),
  );
  const hasHistory = tree.manifest.shards.some(({ overlays }) => (overlays.O3?.file ?? '') !== '');
  if (!asksHistory || hasHistory) return errors;
  return [...errors, missing('O3 with a history of git', tree.project)];
}
