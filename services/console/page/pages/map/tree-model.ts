import type { Measure } from '../../../../../src/pgc/analyse/measures.js';

/** What a tile is coloured by. */
export const tints = ['weaknesses', 'churn', 'staleness'] as const;
export type Tint = (typeof tints)[number];

export interface TreeNode {
  name: string;
  measure: Measure;
  children: TreeNode[];
}

/** Rows of folders and files below a folder, as a tree. */
export function treeOf(total: Measure, rows: readonly Measure[]): TreeNode {
  const root: TreeNode = { name: total.path, measure: total, children: [] };
  const nodes = new Map([[total.path, root]]);
  const byDepth = rows.toSorted((one, other) => depthOf(one.path) - depthOf(other.path));
  for (const measure of byDepth) {
    const { path } = measure;
    const at = path.lastIndexOf('/');
    const parent = nodes.get(path.slice(0, Math.max(0, at))) ?? root;
    const node: TreeNode = { name: path.slice(at + 1), measure, children: [] };
    nodes.set(path, node);
    parent.children.push(node);
  }
  return root;
}

function depthOf(path: string): number {
  return path.split('/').length;
}

const dayMs = 86_400_000;

/** The number behind a tint; undefined: not known. `today` in ms. */
export function valueOf(measure: Measure, tint: Tint, today: number): number | undefined {
  const { lines, files, weaknesses, commits, changed } = measure;
  if (tint === 'weaknesses') return lines === 0 ? 0 : (1_000 * weaknesses) / lines;
  if (tint === 'churn') return files === 0 ? 0 : commits / files;
  const at = Date.parse(changed);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.floor((today - at) / dayMs));
}

/** As it is said. */
export function valueText(value: number | undefined, tint: Tint): string {
  if (value === undefined) return 'not known';
  if (tint === 'weaknesses') return `${shortNumber(value)} weaknesses per 1,000 lines`;
  if (tint === 'churn') return `${shortNumber(value)} commits per file`;
  if (value < 1) return 'changed today';
  return value < 60
    ? `last changed ${Math.round(value)} days ago`
    : `last changed ${Math.round(value / 30.4)} months ago`;
}

/** The same on a tile; empty: it says nothing that its colour does not. */
export function tileText(value: number | undefined, tint: Tint): string {
  if (value === undefined || (value === 0 && tint !== 'staleness')) return '';
  if (tint === 'weaknesses') return `${shortNumber(value)} per 1,000 lines`;
  if (tint === 'churn') return `${shortNumber(value)} per file`;
  return value < 60 ? `${Math.round(value)} days` : `${Math.round(value / 30.4)} months`;
}

function shortNumber(value: number): string {
  return value >= 100
    ? String(Math.round(value))
    : String(Number(value.toFixed(value < 10 ? 1 : 0)));
}

/** How strong a tile is tinted, 0 to 1: by the root, so that one outlier does not leave all others pale. */
export function strengthOf(value: number | undefined, most: number): number {
  return value === undefined || most <= 0 ? 0 : Math.sqrt(Math.min(1, value / most));
}
