import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { QueueAnswer, QueueCounts, QueueRow } from '../../../../src/task/requests/messages.js';
import { call, session } from '../call.js';
import { countText } from '../parts/amounts.js';
import { Confirm } from '../parts/dialog.js';
import { Empty, Loadable } from '../parts/states.js';
import { Table, type Column } from '../parts/table.js';
import { Time } from '../parts/time.js';
import { linkTo, type PageProps } from '../address.js';
import { useCall } from '../use-call.js';
import { State } from './tasks/state.js';
import './ops.css';

/** `/prompts`: the queues of all agents, and one of them. */
export function PromptsPage({ route: { query } }: PageProps): JSX.Element {
  const owner = query.get('owner') ?? '';
  const loaded = useCall('prompt_queues', { owner }, ['prompts', 'tasks']);
  return (
    <section class="page">
      <div class="page-head">
        <h1>Prompts</h1>
      </div>
      <Loadable loaded={loaded} what="Asking for the queues">
        {({ queues, queue }) => (
          <>
            <Table
              caption="Queues"
              columns={queueColumns}
              rows={queues}
              keyOf={(each) => each.owner}
              isCurrent={(each) => each.owner === owner}
              empty={
                <Empty title="No prompt was pushed yet">
                  <p>
                    <code>sigma push "…"</code> puts one into a queue, <code>sigma queue run</code>{' '}
                    starts it.
                  </p>
                </Empty>
              }
            />
            {queue !== null && <Queue queue={queue} onChanged={loaded.reload} />}
            {queue === null && queues.length > 0 && (
              <p class="dim">Choose a queue to see its prompts.</p>
            )}
          </>
        )}
      </Loadable>
    </section>
  );
}

const queueColumns: readonly Column<QueueCounts>[] = [
  {
    head: 'Queue of',
    cell: ({ owner }) => <a href={linkTo('prompts', [], { owner })}>{owner}</a>,
    by: ({ owner }) => owner,
  },
  {
    head: 'Queued',
    cell: ({ queued }) => countText(queued),
    by: ({ queued }) => queued,
    isNumber: true,
  },
  {
    head: 'Running',
    cell: ({ running }) => countText(running),
    by: ({ running }) => running,
    isNumber: true,
  },
  {
    head: 'Finished',
    cell: ({ finished }) => countText(finished),
    by: ({ finished }) => finished,
    isNumber: true,
  },
];

const rowColumns: readonly Column<QueueRow>[] = [
  {
    head: 'Prompt',
    cell: ({ id, name }) => (
      <>
        <a href={linkTo('tasks', [id])}>{name || id}</a>
        {name !== '' && <div class="dim small mono">{id}</div>}
      </>
    ),
  },
  {
    head: 'State',
    cell: ({ state, is_delivering }) => (
      <>
        <State state={state} />
        {is_delivering && <div class="dim small">its result is on its way</div>}
      </>
    ),
    by: ({ state }) => state,
  },
  {
    head: 'Since',
    cell: ({ created_ms, started_ms, finished_ms }) => (
      <Time ms={finished_ms || started_ms || created_ms} />
    ),
    by: ({ created_ms, started_ms, finished_ms }) => finished_ms || started_ms || created_ms,
  },
  { head: 'Now', cell: ({ progress }) => progress },
];

function Queue({ queue, onChanged }: { queue: QueueAnswer; onChanged: () => void }): JSX.Element {
  const { owner, rows, siblings, parent, concurrency, supervised } = queue;
  const about = [
    concurrency > 0 ? `${concurrency} at a time` : 'as many at a time as there are workers',
    ...(supervised ? ['supervised'] : []),
  ];
  return (
    <>
      <div class="page-head">
        <h2>Queue of {owner}</h2>
        <span class="dim">{about.join(', ')}</span>
        {parent !== '' && (
          <a href={linkTo('prompts', [], { owner: parent })}>its result goes to {parent}</a>
        )}
      </div>
      <Table
        caption={`Prompts of ${owner}, in the order in which they were pushed`}
        columns={[...rowColumns, endColumn(onChanged)]}
        rows={rows}
        keyOf={({ id }) => id}
        empty={<Empty title="Nothing stands in this queue" />}
      />
      {siblings.length > 0 && (
        <>
          <h3>Beside it, in the queue of {parent}</h3>
          <Table caption="Beside it" columns={rowColumns} rows={siblings} keyOf={({ id }) => id} />
        </>
      )}
    </>
  );
}

function endColumn(onChanged: () => void): Column<QueueRow> {
  return {
    head: 'End',
    cell: (row) => (row.status === 'finished' ? null : <End row={row} onChanged={onChanged} />),
  };
}

function End({
  row: { id, name },
  onChanged,
}: {
  row: QueueRow;
  onChanged: () => void;
}): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  return (
    <>
      <button
        type="button"
        class="quiet"
        disabled={session.value?.read_only === true}
        onClick={() => setAsked(true)}
      >
        End…
      </button>
      {isAsked && (
        <Confirm
          title={`End ${name || id}?`}
          action="End it"
          isDanger
          onClose={() => setAsked(false)}
          run={async () => {
            await call('task cancel', { id, why: 'ended by a person in the console' });
            onChanged();
          }}
        >
          <p>
            It ends now, with all that it pushed. What it has done so far stays, and is told to who
            waits for it.
          </p>
        </Confirm>
      )}
    </>
  );
}
