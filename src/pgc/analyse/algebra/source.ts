import type { OverlayName } from '../../shapes.js';
import type { AnchorSet } from './anchor-set.js';
import type { Filter } from './filter.js';

/** What put an anchor into a set. */
export interface Ground {
  overlay: OverlayName;
  rule: string;
  /** Where the item stands: a document may speak of a symbol elsewhere. */
  file_path: string;
  line: number;
  text: string;
}

export type Put = (anchor: number, ground: Ground) => void;

/** Which anchors are asked for. */
export interface Wanted {
  /** It need be right for these alone, where that is less work. */
  among?: AnchorSet | undefined;
  /** Also what only may be so: the set is taken away from another. */
  isWide?: boolean;
}

/** One overlay, as a set of anchors. */
export interface Source {
  /** The anchors of the items that pass. */
  select: (filter: Filter, wanted?: Wanted) => AnchorSet;
  /** The items that put these anchors there; some of them, where there are many. */
  ground: (filter: Filter, only: AnchorSet, put: Put) => void;
  /** Rules that items of it have; undefined where these are kinds of symbols. */
  rules: ReadonlySet<string> | undefined;
}

/** Items that are shown of one anchor. */
export const groundsMax = 5;
