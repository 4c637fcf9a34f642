import { isHeader } from '../../pgc/bind/c-visibility.js';
import { firstSentence } from '../../pgc/answer/said.js';
import { conceptsIn, type Question } from '../../pgc/search/question/question.js';
import { inverseFrequency } from '../../pgc/search/rank/weighing.js';
import type { Role } from '../../pgc/search/question/sentence-roles.js';
import type { Definition, Reference } from '../../pgc/shapes.js';
import type { Directory } from '../topology/directory.js';

/** What a word is worth that stands in the documentation of the target, or in its path, next to its name. */
const docTrust = 0.7;
const pathTrust = 0.6;
/** How much more a target is worth when the place of the call speaks of all the rest of the question. */
const contextGain = 0.5;
/** Concepts of a question that one target can be expected to speak of. */
const wordsOfTargetMax = 3;
/** What a link keeps when nothing about its target speaks of the question. */
const unnamedShare = 0.25;
/** What a link keeps that leads to what a header holds for configurations that lack the real definition. */
const standInShare = 0.5;
/** What only tells whether something is so, or how large it is, explains little of how it is done. */
const predicateShare = 0.4;
const reportingShare = 0.15;
const constant = /^[A-Z0-9_]+$/;
/** What only reports that something happens (trace points, log lines) is no part of how it happens. */
const reporting =
  /^_*(?:trace|log|debug|dbg|dump|print|pr|printk|warn)_|_(?:trace|printk|dbg|debug)$/i;
const predicate =
  /^_*(?:is|has|can|should|may|needs?|does|are)_|_(?:is|has|can|should|needs?)_|^(?:is|has|can|should)[A-Z]/;
/** What a header holds only passes on, or is looked through already. */
const headerShare = 0.5;
const subjectShare = 0.4;
const actGain = 1.6;
/** Trust from which a target deals with a concept. */
const coveringTrust = 0.5;

export interface LinkWeight {
  /** 0 to 1. */
  relevance: number;
  /** Positions of the question's concepts that the target's name or documentation speaks of. */
  covers: number[];
}

/**
 * Weighs how relevant the target of a link is for a question: by its name, its documentation and its path. The calling shard knows only the name.
 */
export class LinkWeigher {
  readonly #worth: number[];
  readonly #attainable: number;

  constructor(
    readonly question: Question,
    readonly directory: Directory,
  ) {
    const documents = directory.cards.reduce((sum, card) => sum + card.documents, 0);
    const frequency = (term: string): number =>
      directory.names.documentsWith(term).reduce((sum, each) => sum + each, 0);
    const masses = question.concepts.map(({ variants }) => {
      const having = variants.reduce((sum, { term, trust }) => sum + trust * frequency(term), 0);
      return having === 0 ? 0 : inverseFrequency(documents, having);
    });
    const heaviest = Math.max(...masses, Number.EPSILON);
    this.#worth = question.concepts.map(({ isName, weight, role }, at) => {
      const mass = masses[at] ?? 0;
      // A symbol that the question names is where it enters, not where it leads.
      if (mass === 0 || isName) return 0;
      return roleWorth(role) * Math.min(1, weight) * (0.5 + (0.5 * mass) / heaviest);
    });
    const sorted = [...this.#worth].sort((one, other) => other - one);
    this.#attainable = sorted.slice(0, wordsOfTargetMax).reduce((sum, each) => sum + each, 0);
  }

  /** `alike`: definitions that may be meant, the target among them. */
  weigh(reference: Reference, target: Definition, alike = 1): LinkWeight {
    const { symbol, strength, from_symbol, from_path } = reference;
    const named = conceptsIn(this.question, `${symbol} ${target.symbol}`);
    const said = conceptsIn(this.question, firstSentence(target.doc, target.symbol));
    const placed = conceptsIn(this.question, target.file_path);
    const around = conceptsIn(this.question, `${from_symbol} ${from_path}`);
    const trust = (at: number): number =>
      Math.max(
        named.get(at) ?? 0,
        docTrust * (said.get(at) ?? 0),
        pathTrust * (placed.get(at) ?? 0),
      );
    const own = this.#match(trust);
    // Only a gain: that the caller is about the question says nothing about each of its calls.
    const context = this.#match((at) => Math.max(0, (around.get(at) ?? 0) - trust(at)));
    const match = Math.min(1, own * (1 + contextGain * context));
    const byName = this.#match((at) => named.get(at) ?? 0);
    const share = unnamedShare + (1 - unnamedShare) * match;
    const trustOfText = (at: number): number =>
      Math.max(named.get(at) ?? 0, docTrust * (said.get(at) ?? 0));
    const covers = [...this.#worth.keys()].filter((at) => trustOfText(at) >= coveringTrust);
    const real = this.directory.isStandIn(target.symbol) ? standInShare : 1;
    const doing = sideShare(symbol);
    const specific = this.#specificity(symbol) ** (1 - byName);
    const kept = real * doing * (isHeader(target.file_path) ? headerShare : 1);
    const relevance = (strength * share * kept * specific) / Math.max(1, alike);
    return { relevance, covers };
  }

  #match(trust: (at: number) => number): number {
    if (this.#attainable === 0) return 0;
    const covered = this.#worth.reduce((sum, worth, at) => sum + worth * trust(at), 0);
    return Math.min(1, covered / this.#attainable);
  }

  /** What is called from everywhere (assertions, traces, locks) explains nothing in particular. */
  #specificity(name: string): number {
    return 1 / (1 + 0.6 * Math.log2(1 + this.directory.sitesOf(name) / 4));
  }
}

/** Where the question enters says its subject; where it leads, what is done. */
function roleWorth(role: Role | undefined): number {
  if (role === undefined) return 1;
  return { subject: subjectShare, act: actGain, object: 1 }[role];
}

/** What a link keeps by the kind of what it leads to, as its name tells. */
function sideShare(name: string): number {
  if (reporting.test(name)) return reportingShare;
  return constant.test(name) || predicate.test(name) ? predicateShare : 1;
}
