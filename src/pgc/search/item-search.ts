import type { OverlayItems, OverlayItem } from '../overlay/overlay-file.js';
import type { KnownRoles } from '../format/facts.js';
import { Asides, wantsAsides } from './prior.js';
import type { Question } from './question/question.js';
import { Ranking } from './ranking.js';
import { isPathOf, namedShares, onPathBonus, type NamedMatch } from './retrieve.js';
import { WordScores } from './rank/word-scores.js';
import type { Weighing } from './rank/weighing.js';
import type { OverlayName } from '../shapes.js';
import { isAnyRole } from '../source/role.js';

/** An item of an overlay that answers by its words. */
export interface ItemHit extends NamedMatch {
  item: OverlayItem;
  score: number;
}

/** How much an item of each overlay explains, where the question does and does not ask for its kind. */
const priors: Record<OverlayName, { asked: number; unasked: number }> = {
  O1: { asked: 1, unasked: 1 },
  O2: { asked: 0.95, unasked: 0.5 },
  O3: { asked: 0.9, unasked: 0.25 },
  O4: { asked: 1, unasked: 0.85 },
  O5: { asked: 1, unasked: 0.7 },
  O6: { asked: 1, unasked: 0.7 },
  O7: { asked: 0.95, unasked: 0.25 },
};
/** Lists of changes have the words of everything. */
const chroniclePrior = 0.6;
const chronicle = /(?:^|\/)(?:change_?logs?|changes|news|history|releases?|todo)(?:\.\w+)?$/i;
/** Rules whose lines hold credentials: they are not quoted. */
const unquotable = /^secret/;

/** Search over the items of one overlay of one shard. */
export class ItemSearch {
  readonly #file: OverlayItems;
  readonly #asides: Asides;
  readonly #words: WordScores;
  readonly #tree: { roles?: KnownRoles };

  /** `tree`: what is known of its files. */
  constructor(file: OverlayItems, tree: { roles?: KnownRoles }) {
    this.#file = file;
    this.#tree = tree;
    this.#asides = new Asides(tree, file);
    const files = {
      count: file.fileCount,
      of: (item: number) => file.fileOf(item),
      members: (each: number) => file.itemsIn(each),
    };
    this.#words = new WordScores(file.terms, files);
  }

  /** Best first. Findings of secrets are left out: a citation would quote them. */
  search(
    question: Question,
    weighing: Weighing,
    limit: number,
    roles: readonly string[] = [],
  ): ItemHit[] {
    const { overlay } = this.#file.info;
    const { asked, unasked } = priors[overlay];
    const kind = question.concerns.has(overlay) ? asked : unasked;
    const isAsideWanted = wantsAsides(question);
    const names = namedShares(question, weighing);
    const ranked = new Ranking<Omit<ItemHit, 'item'> & { document: number }>(limit);
    for (const document of this.#words.read(question, weighing)) {
      const { attained, context, held } = this.#words.match(document);
      // An exact name or path may add to this: texts are read only of what may still enter.
      const most = kind * (plainScore(attained, context) + (names.size > 0 ? 1 : 0) + onPathBonus);
      if (!ranked.admits(most)) continue;
      const file = this.#file.fileOf(document);
      const path = this.#file.path(file);
      if (!isAnyRole(this.#tree, path, roles)) continue;
      const prior =
        kind *
        this.#asides.prior(file, isAsideWanted) *
        (chronicle.test(path) ? chroniclePrior : 1);
      const exact = names.size === 0 ? 0 : (names.get(this.#file.subjectOf(document)) ?? 0);
      const bonus = question.paths.some((each) => isPathOf(path, each)) ? onPathBonus : 0;
      const score = prior * (plainScore(attained, context, exact) + bonus);
      if (ranked.admits(score) && !unquotable.test(this.#file.ruleOf(document)))
        ranked.offer({ document, attained, context, held, exact, score });
    }
    this.#words.forget();
    return ranked.best().map((each) => ({ ...each, item: this.#file.item(each.document) }));
  }
}

/** Items have words alone: what these are worth beside the scores of symbols. */
const worths = { words: 2, exact: 0.5, file: 0.2 };

function plainScore(attained: number, context: number, exact = 0): number {
  return worths.words * attained + worths.file * context + worths.exact * exact;
}
