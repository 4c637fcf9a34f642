import type { ComponentChildren, JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';

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

/** More rows than this come when they are asked for: a browser lays out a few hundred at once without a pause. */
const rowsAtOnce = 200;

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
  const [most, setMost] = useState(rowsAtOnce);
  const { sorted, order, turn } = useOrder(rows, columns);
  if (rows.length === 0 && empty !== undefined) return <>{empty}</>;
  return (
    <div class="table" tabIndex={0} role="region" aria-label={caption}>
      <table>
        <caption class="unseen">{caption}</caption>
        <Head columns={columns} order={order} turn={turn} />
        <tbody>
          {sorted.slice(0, most).map((row, index) => (
            <tr
              key={keyOf(row, index)}
              aria-current={isCurrent?.(row) === true ? 'true' : undefined}
            >
              {columns.map(({ head, cell, isNumber }) => (
                <td key={head} data-head={head} class={isNumber === true ? 'number' : ''}>
                  <span>{cell(row)}</span>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {sorted.length > most && (
        <p class="more">
          {most} of {sorted.length} shown.{' '}
          <button type="button" onClick={() => setMost(most + rowsAtOnce)}>
            Show {Math.min(rowsAtOnce, sorted.length - most)} more
          </button>
        </p>
      )}
    </div>
  );
}

/** The rows as the person ordered them. */
export function useOrder<Row>(
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

export function Head<Row>({
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
