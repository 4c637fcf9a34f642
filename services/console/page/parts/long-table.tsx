import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useReducer, useRef, useState } from 'preact/hooks';
import { Head, useOrder, type Column } from './table.js';

/** Before a row was measured. */
const rowHeight = 34;
/** Rows beyond the edges, so that quick scrolling shows no gap. */
const overscan = 16;

/** As `Table`, for lists of thousands that change while they are looked at: only the rows in sight are there. */
export function LongTable<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
}: {
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  empty: ComponentChildren;
}): JSX.Element {
  const { sorted, order, turn } = useOrder(rows, columns);
  const box = useRef<HTMLDivElement>(null);
  const [, draw] = useReducer((round: number) => round + 1, 0);
  const options: VirtualizerOptions<HTMLDivElement, HTMLTableRowElement> = {
    count: sorted.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (at) => keyOf(sorted[at] as Row),
    onChange: () => draw(undefined),
    ...{ observeElementRect, observeElementOffset, scrollToFn: elementScroll, overscan },
  };
  const [virtual] = useState(() => new Virtualizer(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  if (rows.length === 0) return <>{empty}</>;
  const seen = virtual.getVirtualItems();
  const before = seen[0]?.start ?? 0;
  const behind = virtual.getTotalSize() - (seen.at(-1)?.end ?? 0);
  return (
    <div ref={box} class="table" tabIndex={0} role="region" aria-label={caption}>
      <table aria-rowcount={sorted.length + 1}>
        <caption class="unseen">{caption}</caption>
        <Head columns={columns} order={order} turn={turn} />
        <tbody>
          <Space height={before} columns={columns.length} />
          {seen.map(({ index, key }) => {
            const row = sorted[index] as Row;
            return (
              <tr
                key={key}
                ref={virtual.measureElement}
                data-index={index}
                aria-rowindex={index + 2}
              >
                {columns.map(({ head, cell, isNumber }) => (
                  <td key={head} data-head={head} class={isNumber === true ? 'number' : ''}>
                    <span>{cell(row)}</span>
                  </td>
                ))}
              </tr>
            );
          })}
          <Space height={behind} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** In place of rows that are not there. */
function Space({ height, columns }: { height: number; columns: number }): JSX.Element | null {
  if (height <= 0) return null;
  return (
    <tr class="space" aria-hidden="true" style={{ height: `${height}px` }}>
      <td colSpan={columns} />
    </tr>
  );
}
