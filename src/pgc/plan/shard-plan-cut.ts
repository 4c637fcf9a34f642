import type { PlannedFile } from './planned-shards.js';

/**
 * A tree of folders, to be cut into parts of similar size. A part is a set of items. An item is a whole folder, or the
 * rest of a folder: its own files and all sub-folders that are not items themselves. The files of one folder are never
 * divided.
 */
export interface Folder {
  /** Relative to the root, which is the empty string. */
  path: string;
  /** Lines of everything below. */
  lines: number;
  ownLines: number;
  children: Map<string, Folder>;
}

export interface Item {
  node: Folder;
  /** False: the rest of the folder only. */
  isWhole: boolean;
  lines: number;
}

export interface Part {
  /** In order of the paths. */
  items: Item[];
  lines: number;
}

/** Maximal lines of a shard, unless a single folder has more. */
export const shardLinesMax = 100_000;
/** For a tree with more shards than this, the line budget is raised. */
export const autoShardsMax = 128;
const budgetGrowth = 1.25;
/** Shards aim at this share of the budget, because folders vary in size. */
const budgetFill = 0.75;
/** Smaller shares of the wanted size are cut off only if there is no other way. */
const leastShare = 0.25;

export function cutByBudget(files: readonly PlannedFile[]): Part[] {
  const tree = folderTree(files);
  for (let budget = shardLinesMax; ; budget *= budgetGrowth) {
    const parts = cutTree(tree, budget);
    if (parts.length <= autoShardsMax || budget > tree.lines) return parts;
  }
}

/** As `cutByBudget` with a fixed budget: the paths of each part, the root as `.`. */
export function cutFiles(files: readonly PlannedFile[], budget: number): string[][] {
  return cutTree(folderTree(files), budget).map(pathsOf);
}

function cutTree(tree: Folder, budget: number): Part[] {
  return cut(tree, {
    isEnough: (_count, heaviest) => heaviest <= budget,
    target: budget * budgetFill,
    least: budget * leastShare,
  });
}

function pathsOf(part: Part): string[] {
  return part.items.map(({ node }) => node.path || '.');
}

/** Exactly `count` parts if the tree has as many folders with files; else fewer. */
export function cutByCount(files: readonly PlannedFile[], count: number): Part[] {
  const tree = folderTree(files);
  const isEnough = (parts: number): boolean => parts >= count;
  const target = tree.lines / count;
  const even = cut(tree, { isEnough, target, least: target * leastShare });
  return even.length === count ? even : cut(tree, { isEnough, target, least: 1 });
}

interface CutRule {
  isEnough(parts: number, heaviestLines: number): boolean;
  /** Wanted lines of a part. */
  target: number;
  /** Minimal lines of a part that is cut off. */
  least: number;
}

/** Divides the heaviest divisible part until the rule is satisfied. */
function cut(tree: Folder, rule: CutRule): Part[] {
  const done: Part[] = [];
  const open: Part[] = [partOf([wholeItem(tree)])];
  while (open.length > 0) {
    open.sort((a, b) => b.lines - a.lines);
    const heaviest = open[0];
    if (heaviest === undefined || rule.isEnough(open.length + done.length, heaviest.lines)) break;
    open.shift();
    const halves = halve(heaviest, rule);
    if (halves === undefined) done.push(heaviest);
    else open.push(...halves);
  }
  return [...done, ...open].sort((a, b) => compareItems(a.items[0], b.items[0]));
}

/** Two parts along folders, each of at least `least` lines; undefined if the folders do not allow it. */
function halve(part: Part, { target, least }: CutRule): [Part, Part] | undefined {
  // The worth of seven shards is cut into three and four; repeated halving would give uneven shards.
  const worth = Math.max(2, Math.round(part.lines / target));
  const leftLines = (part.lines * Math.floor(worth / 2)) / worth;
  let items = part.items;
  for (;;) {
    const heaviest = items.reduce((a, b) => (b.lines > a.lines ? b : a));
    const rest = part.lines - heaviest.lines;
    // Without any lines, an empty part would count as good.
    if (items.length > 1 && rest >= least) {
      if (heaviest.lines >= part.lines / 2) {
        return [partOf([heaviest]), partOf(items.filter((item) => item !== heaviest))];
      }
      const halves = cutNear(items, leftLines);
      if (halves[0].lines >= least && halves[1].lines >= least) return halves;
    }
    const opened = openItem(heaviest);
    if (opened === undefined) return undefined;
    items = items.flatMap((item) => (item === heaviest ? opened : [item])).sort(compareItems);
  }
}

/**
 * Cuts a list of items, in order of the paths, where the left side is nearest to its share, so that neighbours stay
 * together.
 */
function cutNear(items: readonly Item[], leftLines: number): [Part, Part] {
  let best = 1;
  let bestGap = Infinity;
  let left = 0;
  for (let at = 1; at < items.length; at += 1) {
    left += items[at - 1]?.lines ?? 0;
    const gap = Math.abs(left - leftLines);
    if (gap < bestGap) [best, bestGap] = [at, gap];
  }
  return [partOf(items.slice(0, best)), partOf(items.slice(best))];
}

/** The rest stays an item even without files: it owns files that are added to this folder later. */
function openItem(item: Item): Item[] | undefined {
  if (!item.isWhole || item.node.children.size === 0) return undefined;
  const rest: Item = { node: item.node, isWhole: false, lines: item.node.ownLines };
  return [rest, ...[...item.node.children.values()].map(wholeItem)];
}

function folderTree(files: readonly PlannedFile[]): Folder {
  const root: Folder = { path: '', lines: 0, ownLines: 0, children: new Map() };
  for (const file of files) {
    let node = root;
    node.lines += file.lines;
    for (const name of file.path.split('/').slice(0, -1)) {
      let child = node.children.get(name);
      if (child === undefined) {
        const path = node.path === '' ? name : `${node.path}/${name}`;
        child = { path, lines: 0, ownLines: 0, children: new Map() };
        node.children.set(name, child);
      }
      child.lines += file.lines;
      node = child;
    }
    node.ownLines += file.lines;
  }
  return root;
}

function wholeItem(node: Folder): Item {
  return { node, isWhole: true, lines: node.lines };
}

function partOf(items: Item[]): Part {
  return { items, lines: items.reduce((sum, item) => sum + item.lines, 0) };
}

function compareItems(a: Item | undefined, b: Item | undefined): number {
  const [left, right] = [a?.node.path ?? '', b?.node.path ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}
