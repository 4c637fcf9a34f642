import type { JSX } from 'preact';
import type { MessageView } from '../../../../../src/wire/messages.js';
import { bytesText, counted } from '../../parts/amounts.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { linkTo } from '../../address.js';
import { useCall } from '../../use-call.js';
import { OpenMessage } from './message.js';

const pageRows = 100;

const tones: Readonly<Record<string, Tone>> = { leased: 'accent', dead: 'bad', scheduled: 'warn' };
const words: Readonly<Record<string, string>> = { leased: 'at work' };

const messageColumns: readonly Column<MessageView>[] = [
  { head: 'Number', cell: ({ seq }) => <OpenMessage seq={seq} />, by: ({ seq }) => seq },
  {
    head: 'State',
    cell: ({ state }) => <Badge tone={tones[state] ?? 'plain'}>{words[state] ?? state}</Badge>,
    by: ({ state }) => state,
  },
  { head: 'From', cell: ({ from }) => from, by: ({ from }) => from },
  { head: 'Kind', cell: ({ type }) => <span class="mono">{type}</span>, by: ({ type }) => type },
  {
    head: 'Stored',
    cell: ({ stored_ms }) => <Time ms={stored_ms} />,
    by: ({ stored_ms }) => stored_ms,
  },
  {
    head: 'Failed',
    cell: ({ attempts }) => attempts,
    by: ({ attempts }) => attempts,
    isNumber: true,
  },
  { head: 'Size', cell: ({ bytes }) => bytesText(bytes), by: ({ bytes }) => bytes, isNumber: true },
  { head: 'Last failure', cell: ({ reason }) => reason },
];

/** What waits in one mailbox: looking takes nothing. */
export function Mailbox({
  mailbox,
  query,
}: {
  mailbox: string;
  query: URLSearchParams;
}): JSX.Element {
  const after = Number(query.get('after') ?? 0) || 0;
  const loaded = useCall('mailbox_messages', { mailbox, after, limit: pageRows }, ['mail']);
  const agent = /^(?:agent|reply):(.*)$/.exec(mailbox)?.[1];
  return (
    <section class="page">
      <nav class="trail dim" aria-label="Way">
        <a href={linkTo('mail')}>Mail</a> / {mailbox}
      </nav>
      <div class="page-head">
        <h1>{mailbox}</h1>
        {agent !== undefined && (
          <a class="button" href={linkTo('agents', [agent])}>
            Agent
          </a>
        )}
        <a class="button" href={linkTo('dead', [], { mailbox })}>
          Its dead letters
        </a>
      </div>
      <Loadable loaded={loaded} what="Looking into the mailbox">
        {({ messages, depth, bytes, next }) => (
          <>
            <p class="dim" role="status">
              {counted(depth, 'message')} not settled ({bytesText(bytes)}). Looking takes nothing.
            </p>
            <Table
              caption="Messages, oldest first"
              columns={messageColumns}
              rows={messages}
              keyOf={({ seq }) => `${seq}`}
              empty={
                <Empty title="Nothing waits here">
                  <p>
                    <code>sigma send {agent ?? 'AGENT'} "…"</code> leaves a message.
                  </p>
                </Empty>
              }
            />
            <div class="row">
              {after > 0 && (
                <a class="button" href={linkTo('mail', [mailbox])}>
                  From the oldest
                </a>
              )}
              {next > 0 && (
                <a class="button" href={linkTo('mail', [mailbox], { after: `${next}` })}>
                  Later messages
                </a>
              )}
            </div>
          </>
        )}
      </Loadable>
    </section>
  );
}
