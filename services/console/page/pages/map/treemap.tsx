import { hierarchy, treemap, treemapSquarify, type HierarchyRectangularNode } from 'd3-hierarchy';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { linkTo } from '../../address.js';
import { counted } from '../../parts/amounts.js';
import {
  strengthOf,
  tileText,
  valueOf,
  valueText,
  type Tint,
  type TreeNode,
} from './tree-model.js';

type Tile = HierarchyRectangularNode<TreeNode>;

const height = 560;
const headHeight = 19;
/** Smaller tiles cannot be hit, and show nothing. */
const sideMin = 5;
const labelWidthMin = 44;
const labelHeightMin = 18;

/** Folders as large as their lines, tinted by a measure; two levels at once. */
export function Treemap({
  tree,
  tint,
  today,
  linkOf,
}: {
  tree: TreeNode;
  tint: Tint;
  today: number;
  linkOf: (path: string) => string;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const tiles = useMemo(() => tilesOf(tree, width), [tree, width]);
  const leaves = tiles.filter(({ children }) => children === undefined);
  const most = Math.max(...leaves.map(({ data }) => valueOf(data.measure, tint, today) ?? 0), 0);
  return (
    <>
      <div
        ref={box}
        class="treemap"
        style={{ height: `${height}px` }}
        role="list"
        aria-label={`Folders, tinted by ${tint}`}
      >
        {tiles.map((tile) => {
          const { measure, name } = tile.data;
          const value = valueOf(measure, tint, today);
          const [wide, high] = [tile.x1 - tile.x0, tile.y1 - tile.y0];
          const hasLabel = wide >= labelWidthMin && high >= labelHeightMin;
          const isFolder = tile.children !== undefined;
          const said = `${measure.path}: ${counted(measure.lines, 'line')}, ${valueText(value, tint)}`;
          return (
            <div role="listitem" key={measure.path}>
              <a
                href={linkOf(measure.path)}
                class={isFolder ? 'tile tile-folder' : 'tile'}
                title={said}
                style={{
                  ...{ left: `${tile.x0}px`, top: `${tile.y0}px` },
                  ...{ width: `${wide}px`, height: `${high}px` },
                  '--tint': `${Math.round(90 * strengthOf(value, most))}%`,
                }}
              >
                {!hasLabel && <span class="unseen">{said}</span>}
                {hasLabel && <span>{measure.is_file ? name : `${name}/`}</span>}
                {hasLabel &&
                  !isFolder &&
                  high >= 2 * labelHeightMin &&
                  wide >= 2 * labelWidthMin && <small>{tileText(value, tint)}</small>}
              </a>
            </div>
          );
        })}
      </div>
      <p class="scale dim">
        {tint === 'staleness' ? 'changed today' : 'none'}
        <span class="scale-bar" aria-hidden="true" />
        {valueText(most, tint)}
      </p>
    </>
  );
}

function tilesOf(tree: TreeNode, width: number): Tile[] {
  if (width === 0) return [];
  const root = hierarchy(tree)
    .sum(({ measure, children }) => (children.length === 0 ? Math.max(1, measure.lines) : 0))
    .sort((one, other) => (other.value ?? 0) - (one.value ?? 0));
  return treemap<TreeNode>()
    .size([width, height])
    .tile(treemapSquarify)
    .paddingInner(2)
    .paddingTop(({ depth }) => (depth === 0 ? 0 : headHeight))
    .round(true)(root)
    .descendants()
    .filter(({ depth, x0, x1, y0, y1 }) => depth > 0 && x1 - x0 >= sideMin && y1 - y0 >= sideMin);
}

function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const its = box.current;
    if (its === null) return undefined;
    const seen = new ResizeObserver(([entry]) =>
      setWidth(Math.floor(entry?.contentRect.width ?? 0)),
    );
    seen.observe(its);
    return () => seen.disconnect();
  }, []);
  return width;
}

/** From the whole tree to where it is looked at. */
export function Crumbs({
  at,
  linkOf,
}: {
  at: string;
  linkOf: (path: string) => string;
}): JSX.Element {
  const parts = at === '' ? [] : at.split('/');
  return (
    <nav class="crumbs" aria-label="Folder">
      <a href={linkOf('')}>tree</a>
      {parts.map((part, index) => (
        <span key={index}>
          {' / '}
          {index === parts.length - 1 ? (
            <span aria-current="page">{part}</span>
          ) : (
            <a href={linkOf(parts.slice(0, index + 1).join('/'))}>{part}</a>
          )}
        </span>
      ))}
    </nav>
  );
}

export function treeLink(its: { at: string; by: Tint; isTable: boolean }): string {
  const { at, by, isTable } = its;
  return linkTo('map', [], {
    view: 'tree',
    at,
    by: by === 'weaknesses' ? '' : by,
    as: isTable ? 'table' : '',
  });
}
