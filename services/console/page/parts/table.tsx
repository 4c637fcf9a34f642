import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { ComponentChildren, JSX } from 'preact';
import { useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';

export interface Column<Row> {
  head: string;
  cell: (row: Row) => ComponentChildren;
  /** By what its head sorts; absent: it does not. */
  by?: (row: Row) => string | number;
  isNumber?: boolean;
}

interface Order {
  column: number;
  isDown: boolean;
}

/** Of more rows than this only those in sight are there: a browser lays out a few hundred at once without a pause. */
const rowsAtOnce = 200;
/** Before a row was measured. */
const rowHeight = 34;
/** Rows beyond the edges, so that quick scrolling shows no gap. */
const overscan = 16;

/** A list with a head that stays; on a narrow screen each row is a card. */
export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  isCurrent,
}: {
  /** What it lists, for those who do not see it. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row, at: number) => string;
  empty?: ComponentChildren;
  isCurrent?: (row: Row) => boolean;
}): JSX.Element {
  const { sorted, order, turn } = useOrder(rows, columns);
  const box = useRef<HTMLDivElement>(null);
  const { seen, before, behind, measure } = useSeen(box, sorted, keyOf);
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div ref={box} class="table" tabIndex={0} role="region" aria-label={caption}>
      <table aria-rowcount={sorted.length + 1}>
        <caption class="unseen">{caption}</caption>
        <Head columns={columns} order={order} turn={turn} />
        <tbody>
          <Space height={before} columns={columns.length} />
          {seen.map(({ index, key, row }) => (
            <tr
              key={key}
              ref={measure}
              data-index={index}
              aria-rowindex={index + 2}
              aria-current={isCurrent?.(row) === true ? 'true' : undefined}
            >
              {columns.map(({ head, cell, isNumber }) => (
                <td key={head} data-head={head} class={isNumber === true ? 'number' : ''}>
                  <span>{cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
          <Space height={behind} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

interface Seen<Row> {
  seen: { index: number; key: string; row: Row }[];
  /** Height of the rows that are not there. */
  before: number;
  behind: number;
  measure: ((row: HTMLTableRowElement | null) => void) | null;
}

/** All rows of a short list; of a long one those in sight. */
function useSeen<Row>(
  box: { current: HTMLDivElement | null },
  rows: readonly Row[],
  keyOf: (row: Row, at: number) => string,
): Seen<Row> {
  const [, draw] = useReducer((round: number) => round + 1, 0);
  const isLong = rows.length > rowsAtOnce;
  const rowAt = (index: number): Seen<Row>['seen'][number] => {
    const row = rows[index] as Row;
    return { index, key: keyOf(row, index), row };
  };
  const options: VirtualizerOptions<HTMLDivElement, HTMLTableRowElement> = {
    ...{ count: rows.length, enabled: isLong, overscan },
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    getItemKey: (index) => rowAt(index).key,
    onChange: () => draw(undefined),
    ...{ observeElementRect, observeElementOffset, scrollToFn: elementScroll },
  };
  const [virtual] = useState(() => new Virtualizer(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  if (!isLong)
    return { seen: rows.map((_, index) => rowAt(index)), before: 0, behind: 0, measure: null };
  const items = virtual.getVirtualItems();
  return {
    seen: items.map(({ index }) => rowAt(index)),
    before: items[0]?.start ?? 0,
    behind: virtual.getTotalSize() - (items.at(-1)?.end ?? 0),
    measure: virtual.measureElement,
  };
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

/** The rows as the person ordered them. */
function useOrder<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
): { sorted: readonly Row[]; order: Order | undefined; turn: (column: number) => void } {
  const [order, setOrder] = useState<Order | undefined>();
  const sorted = useMemo(() => ordered(rows, columns, order), [rows, columns, order]);
  const turn = (column: number): void =>
    setOrder((before) =>
      before?.column === column
        ? { column, isDown: !before.isDown }
        : { column, isDown: columns[column]?.isNumber === true },
    );
  return { sorted, order, turn };
}

function Head<Row>({
  columns,
  order,
  turn,
}: {
  columns: readonly Column<Row>[];
  order: Order | undefined;
  turn: (column: number) => void;
}): JSX.Element {
  return (
    <thead>
      <tr>
        {columns.map(({ head, by, isNumber }, at) => {
          const isOrder = order?.column === at;
          const sort = isOrder ? (order.isDown ? 'descending' : 'ascending') : undefined;
          return (
            <th key={head} scope="col" class={isNumber === true ? 'number' : ''} aria-sort={sort}>
              {by === undefined ? (
                head
              ) : (
                <button type="button" onClick={() => turn(at)}>
                  {head}
                  <span aria-hidden="true">{isOrder ? (order.isDown ? ' ↓' : ' ↑') : ''}</span>
                </button>
              )}
            </th>
          );
        })}
      </tr>
    </thead>
  );
}

function ordered<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  order: Order | undefined,
): readonly Row[] {
  const by = order === undefined ? undefined : columns[order.column]?.by;
  if (order === undefined || by === undefined) return rows;
  const sign = order.isDown ? -1 : 1;
  return rows.toSorted((one, other) => {
    const [left, right] = [by(one), by(other)];
    return sign * (left < right ? -1 : left > right ? 1 : 0);
  });
}
