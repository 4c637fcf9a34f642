import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { linkTo } from '../../address.js';
import { countText } from '../../parts/amounts.js';
import { Table, type Column } from '../../parts/table.js';
import type { Link, Model, Shard } from './lattice-model.js';
import { Examples } from './shard-panel.js';

/** The drawing in rows. */
export function ShardTable({ model }: { model: Model }): JSX.Element {
  const counts = useMemo(() => {
    const needs = new Map<string, number>();
    const needed = new Map<string, number>();
    for (const { from, to } of model.links) {
      needs.set(from, (needs.get(from) ?? 0) + 1);
      needed.set(to, (needed.get(to) ?? 0) + 1);
    }
    return { needs, needed };
  }, [model]);
  const number = (by: (shard: Shard) => number) => ({
    ...{ isNumber: true, by },
    cell: (shard: Shard) => countText(by(shard)),
  });
  return (
    <Table
      caption="Shards"
      rows={model.shards}
      keyOf={({ agent }) => agent}
      columns={[
        {
          head: 'Shard',
          by: ({ agent }) => agent,
          cell: ({ agent }) => <a href={linkTo('map', [], { shard: agent })}>{agent}</a>,
        },
        { head: 'Part', by: ({ group }) => group, cell: ({ group }) => group },
        { head: 'Files', ...number(({ files }) => files) },
        { head: 'Lines', ...number(({ lines }) => lines) },
        { head: 'Needs', ...number(({ agent }) => counts.needs.get(agent) ?? 0) },
        { head: 'Needed by', ...number(({ agent }) => counts.needed.get(agent) ?? 0) },
        { head: 'State', by: ({ state }) => state, cell: ({ state }) => state },
      ]}
    />
  );
}

export function LinkTable({ model }: { model: Model }): JSX.Element {
  const end = (name: 'from' | 'to', head: string): Column<Link> => ({
    head,
    by: (link: Link) => link[name],
    cell: (link: Link) => <a href={linkTo('map', [], { shard: link[name] })}>{link[name]}</a>,
  });
  return (
    <Table<Link>
      caption="Links between shards"
      rows={model.links}
      keyOf={({ from, to }) => `${from} ${to}`}
      empty={<p class="dim">No shard refers to another one.</p>}
      columns={[
        end('from', 'Shard'),
        end('to', 'Needs'),
        {
          ...{ head: 'References', isNumber: true, by: ({ references }) => references },
          cell: ({ references }) => countText(references),
        },
        { head: 'For example', cell: ({ symbols }) => <Examples symbols={symbols} /> },
      ]}
    />
  );
}
