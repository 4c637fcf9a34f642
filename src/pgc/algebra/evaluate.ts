import { BusError } from '../../errors/bus-error.js';
import type { OpenedTree } from '../open-index.js';
import type { CodedError, OverlayName } from '../shapes.js';
import { AnchorSet } from './anchor-set.js';
import { Anchors, type AnchorRow } from './anchors.js';
import { CallSource } from './call-source.js';
import type { Expression, Operand } from './expression.js';
import { filterOf, type Filter } from './filter.js';
import { ItemSource } from './item-source.js';
import { groundsMax, type Ground, type Source } from './source.js';
import { StructureSource } from './structure-source.js';

export const shownDefault = 50;
export const shownMax = 10_000;

export interface AlgebraAnchor extends AnchorRow {
  /** What put it there, at most `groundsMax`. */
  items: Ground[];
}

export interface AlgebraAnswer {
  /** Of all, however many are shown. */
  count: number;
  /** In order of paths and of the text. */
  anchors: AlgebraAnchor[];
  /** Conditions that nothing can satisfy in this tree. */
  warnings: string[];
  /** Overlays that were wanted and are not there; the sets are without them. */
  errors: CodedError[];
}

/**
 * The anchors that an expression means: union, intersection and difference of the sets of its operands, and
 * the complement against O1: `!A` is every symbol that is not in A. What no symbol bears (`path#`, headings)
 * is in no complement, so that `!!A` is `A & O1`, and `A - B` is `A & !B` for whatever lies within O1; all
 * other laws hold for all sets. An anchor is in `O2[a, b]` when one item of it satisfies a and b.
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
    warnings: operands.flatMap((each) => warningsOf(each, sources.get(each.overlay))),
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
  if (overlay === 'O3') return new CallSource(anchors);
  return new ItemSource(overlay, anchors, await tree.overlay(overlay));
}

class Evaluation {
  readonly #anchors: Anchors;
  readonly #sources: ReadonlyMap<OverlayName, Source>;
  /** Of every part of the expression: what put an anchor there is asked afterwards. */
  readonly #sets = new Map<Expression, AnchorSet>();
  readonly #symbols: AnchorSet;

  constructor(anchors: Anchors, sources: ReadonlyMap<OverlayName, Source>) {
    this.#anchors = anchors;
    this.#sources = sources;
    this.#symbols = AnchorSet.below(anchors.symbolCount);
  }

  set(expression: Expression): AnchorSet {
    const set = this.#sets.get(expression) ?? this.#work(expression);
    this.#sets.set(expression, set);
    return set;
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

  #work(expression: Expression): AnchorSet {
    switch (expression.kind) {
      case 'overlay':
        return this.#select(expression);
      case 'complement':
        return this.#symbols.difference(this.set(expression.of));
      case 'union':
      case 'intersection':
      case 'difference': {
        const { kind, left, right } = expression;
        return this.set(left)[kind](this.set(right));
      }
    }
  }

  #select(operand: Operand): AnchorSet {
    const filter = filterOf(operand.conditions);
    if (filter.asksAuthor) return new AnchorSet();
    return this.#sources.get(operand.overlay)?.select(filter) ?? new AnchorSet();
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
        // What is there because nothing else is said of it is there as a symbol.
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
  // Items of O3 are calls, and calls have no author.
  const asksAuthor = operands.some(({ conditions }) => filterOf(conditions).asksAuthor);
  return asksAuthor ? [...errors, missing('O3 with authors', tree.project)] : errors;
}
