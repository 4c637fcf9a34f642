import type { PlannedFile } from './planned-shards.js';

/**
 * Cutting a folder tree into parts of similar size. A part is a set of items; an item is a whole folder,
 * or the files that stand directly in a folder together with what no other part names (its rest). The
 * files of one folder are never divided.
 */
export interface Folder {
  /** Relative to the root, which is the empty string. */
  path: string;
  /** Of everything below. */
  lines: number;
  ownLines: number;
  children: Map<string, Folder>;
}

export interface Item {
  node: Folder;
  /** False: only the rest of the folder. */
  whole: boolean;
  lines: number;
}

export interface Part {
  /** In order of the paths. */
  items: Item[];
  lines: number;
}

/** Lines one shard holds at most, unless a single folder holds more. */
export const shardLinesMax = 100_000;
/** A tree that would give more shards than this is cut with a larger budget. */
export const autoShardsMax = 128;
const budgetGrowth = 1.25;
/** Shards are aimed at this share of the budget, because folders are not cut to measure. */
const budgetFill = 0.75;
/** Nothing smaller than this share of the wanted size is cut off while there is another way. */
const leastShare = 0.25;

export function cutByBudget(files: readonly PlannedFile[]): Part[] {
  const tree = folderTree(files);
  for (let budget = shardLinesMax; ; budget *= budgetGrowth) {
    const parts = cutTree(tree, budget);
    if (parts.length <= autoShardsMax || budget > tree.lines) return parts;
  }
}

/** As above with a budget that stays: the paths of each part, the root as `.`. */
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

/** Exactly `count` parts when the tree has that many folders that hold files; otherwise fewer. */
export function cutByCount(files: readonly PlannedFile[], count: number): Part[] {
  const tree = folderTree(files);
  const isEnough = (parts: number): boolean => parts >= count;
  const target = tree.lines / count;
  const even = cut(tree, { isEnough, target, least: target * leastShare });
  return even.length === count ? even : cut(tree, { isEnough, target, least: 1 });
}

interface CutRule {
  isEnough(parts: number, heaviestLines: number): boolean;
  /** Lines that a part should have. */
  target: number;
  /** Lines of the smallest part that may be cut off. */
  least: number;
}

/** Divides the heaviest part that can be divided until it is enough. */
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

/** Two parts along folders, each of at least `least` lines; undefined when the folders do not allow it. */
function halve(part: Part, { target, least }: CutRule): [Part, Part] | undefined {
  // Seven shards' worth is cut into three and four: halves of halves would come out uneven.
  const worth = Math.max(2, Math.round(part.lines / target));
  const leftLines = (part.lines * Math.floor(worth / 2)) / worth;
  let items = part.items;
  for (;;) {
    const heaviest = items.reduce((a, b) => (b.lines > a.lines ? b : a));
    const rest = part.lines - heaviest.lines;
    // Where nothing has lines, a part of nothing would be as good as any.
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

/** Cut where the left side comes nearest to its share, in order of the paths, so that neighbours stay together. */
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

/** The rest always stays an item, even without files: it owns what will be added to this folder. */
function openItem(item: Item): Item[] | undefined {
  if (!item.whole || item.node.children.size === 0) return undefined;
  const rest: Item = { node: item.node, whole: false, lines: item.node.ownLines };
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
  return { node, whole: true, lines: node.lines };
}

function partOf(items: Item[]): Part {
  return { items, lines: items.reduce((sum, item) => sum + item.lines, 0) };
}

function compareItems(a: Item | undefined, b: Item | undefined): number {
  const [left, right] = [a?.node.path ?? '', b?.node.path ?? ''];
  return left < right ? -1 : left > right ? 1 : 0;
}
