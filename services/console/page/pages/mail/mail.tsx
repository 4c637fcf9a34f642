import type { JSX } from 'preact';
import type { MailboxView } from '../../../../../src/wire/messages.js';
import { bytesText, counted, countText } from '../../parts/amounts.js';
import { changeQuery, SearchBox } from '../../parts/filters.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { duration } from '../../parts/time-text.js';
import { linkTo, type PageProps } from '../../address.js';
import { useCall } from '../../use-call.js';
import { Mailbox } from './mailbox.js';
import '../ops.css';

/** `/mail` lists the mailboxes, `/mail/agent:ID` looks into one. */
export function MailPage({ route }: PageProps): JSX.Element {
  const [name] = route.rest;
  if (name === undefined) return <List query={route.query} />;
  const mailbox = name.includes(':') ? name : `agent:${name}`;
  return <Mailbox key={mailbox} mailbox={mailbox} query={route.query} />;
}

const columns: readonly Column<MailboxView>[] = [
  {
    head: 'Mailbox',
    cell: ({ mailbox }) => <a href={linkTo('mail', [mailbox])}>{mailbox}</a>,
    by: ({ mailbox }) => mailbox,
  },
  {
    head: 'Waiting',
    cell: ({ depth }) => countText(depth),
    by: ({ depth }) => depth,
    isNumber: true,
  },
  { head: 'Size', cell: ({ bytes }) => bytesText(bytes), by: ({ bytes }) => bytes, isNumber: true },
  {
    head: 'At work',
    cell: ({ leases }) => countText(leases),
    by: ({ leases }) => leases,
    isNumber: true,
  },
  {
    head: 'Oldest',
    cell: ({ depth, oldest_ms }) =>
      depth === 0 ? <span class="dim">–</span> : duration(oldest_ms),
    by: ({ oldest_ms }) => oldest_ms,
    isNumber: true,
  },
  {
    head: 'Dead letters',
    cell: ({ mailbox, dead }) =>
      dead === 0 ? (
        <span class="dim">0</span>
      ) : (
        <a href={linkTo('dead', [], { mailbox })}>{countText(dead)}</a>
      ),
    by: ({ dead }) => dead,
    isNumber: true,
  },
];

function List({ query }: { query: URLSearchParams }): JSX.Element {
  const loaded = useCall('mailboxes', {}, ['mail']);
  const text = query.get('q') ?? '';
  const isAll = query.get('all') === '1';
  return (
    <section class="page">
      <div class="page-head">
        <h1>Mail</h1>
        <a class="button" href={linkTo('dead')}>
          Dead letters
        </a>
      </div>
      <div class="row filters">
        <SearchBox label="Mailbox" value={text} onSearch={(q) => changeQuery(query, { q })} />
        <label>
          <input
            type="checkbox"
            checked={isAll}
            onChange={({ currentTarget }) =>
              changeQuery(query, { all: currentTarget.checked ? '1' : '' })
            }
          />
          also empty ones
        </label>
      </div>
      <Loadable loaded={loaded} what="Asking the broker">
        {({ mailboxes }) => {
          const shown = shownOf(mailboxes, text, isAll);
          return (
            <>
              <p class="dim" role="status">
                {summary(mailboxes)}
              </p>
              <Table
                caption="Mailboxes, fullest first"
                columns={columns}
                rows={shown}
                keyOf={({ mailbox }) => mailbox}
                empty={
                  <Empty
                    title={mailboxes.length === 0 ? 'No agent has a mailbox yet' : 'Nothing waits'}
                  >
                    <p>
                      <code>sigma send AGENT "…"</code> leaves a message for an agent.
                    </p>
                  </Empty>
                }
              />
            </>
          );
        }}
      </Loadable>
    </section>
  );
}

function shownOf(mailboxes: readonly MailboxView[], text: string, isAll: boolean): MailboxView[] {
  const wanted = text.toLowerCase();
  return mailboxes
    .filter(
      ({ mailbox, depth, dead }) =>
        (isAll || depth > 0 || dead > 0) && mailbox.toLowerCase().includes(wanted),
    )
    .sort(
      (one, other) =>
        other.depth - one.depth || other.dead - one.dead || (one.mailbox < other.mailbox ? -1 : 1),
    );
}

function summary(mailboxes: readonly MailboxView[]): string {
  const sum = (of: (box: MailboxView) => number): number =>
    mailboxes.reduce((all, box) => all + of(box), 0);
  const [depth, dead] = [sum((box) => box.depth), sum((box) => box.dead)];
  const waiting = `${counted(depth, 'message')} waiting in ${counted(mailboxes.filter((box) => box.depth > 0).length, 'mailbox')}`;
  return `${waiting.replace(/mailboxs$/, 'mailboxes')} (${bytesText(sum((box) => box.bytes))}), ${counted(dead, 'dead letter')}.`;
}
