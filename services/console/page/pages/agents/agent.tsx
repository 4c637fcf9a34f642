import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { AgentActivity, Minute } from '../../../../../src/operations/agent-activity.js';
import { bytesText, countText } from '../../parts/amounts.js';
import { Badge, Presence } from '../../parts/badge.js';
import { Chart } from '../../parts/chart.js';
import { Facts } from '../../parts/facts.js';
import { Empty, Loadable } from '../../parts/states.js';
import { scales } from '../../parts/scales.js';
import { Table, type Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { linkTo } from '../../address.js';
import { whoText } from '../../parts/who.js';
import { useCall } from '../../use-call.js';

const minuteMs = 60_000;
const minutesShown = 60;

/** One agent: its record, its mailbox, and what it sent and got. */
export function OneAgent({ id }: { id: string }): JSX.Element {
  const loaded = useCall('agent_activity', { agent: id }, ['agents', 'mail']);
  return (
    <section class="page">
      <nav class="trail dim" aria-label="Way">
        <a href={linkTo('agents')}>Agents</a> / {id}
      </nav>
      <Loadable loaded={loaded} what="Asking the broker">
        {(its) => <Shown its={its} />}
      </Loadable>
    </section>
  );
}

function Shown({ its }: { its: AgentActivity }): JSX.Element {
  const { agent, services, entries, codes, minutes, known_ms } = its;
  const { record, state, load, last_seen_ms, of_home } = agent;
  const overlays = Object.entries(record.overlays).sort(([a], [b]) => (a < b ? -1 : 1));
  const refused = Object.entries(codes).sort(([, a], [, b]) => b - a);
  return (
    <>
      <div class="page-head">
        <h1>{record.alias || record.id}</h1>
        <Badge>{record.role}</Badge>
        <Presence state={state} />
        <a class="button" href={linkTo('tasks', [], { worker: record.id })}>
          Its tasks
        </a>
      </div>
      <div class="columns">
        <Panel title="Record">
          <Facts
            rows={[
              ['Id', <span class="mono">{record.id}</span>],
              ['Project', record.project],
              ['Model', record.model],
              ['Load', `${countText(load)} requests at work`],
              ['Last seen', <Time ms={last_seen_ms || Number.NaN} />],
              ['Answers for', services.join(', ')],
              ['Knows', record.scope.length > 0 && <Words of={record.scope} />],
              [
                'Capabilities',
                record.capabilities.length > 0 && <Words of={record.capabilities} />,
              ],
              ['Protocols', record.protocol_versions.join(', ')],
              ['Proven', of_home ? 'by the key of the broker’s home' : 'no'],
            ]}
          />
        </Panel>
        <Panel title="Mailbox">
          <Mailboxes its={its} />
        </Panel>
        {overlays.length > 0 && (
          <Panel title="Overlays">
            <Facts
              rows={overlays.map(([name, { state: how, items, version }]) => [
                name,
                <span title={version}>
                  {how}, {countText(items)} items
                </span>,
              ])}
            />
          </Panel>
        )}
        <Panel title="Refused or given up, last hour">
          {refused.length === 0 ? (
            <p class="dim">{known_ms === 0 ? 'Not known here.' : 'Nothing.'}</p>
          ) : (
            <Facts rows={refused.map(([code, count]) => [code, countText(count)])} />
          )}
        </Panel>
      </div>
      <h2>Messages</h2>
      {known_ms === 0 ? (
        <Empty title="The audit log is on another machine">
          <p>
            What agents sent is written where the broker runs: <code>sigma audit</code> shows it
            there.
          </p>
        </Empty>
      ) : (
        <>
          {known_ms > Date.now() - (minutesShown - 1) * minuteMs && (
            <p class="dim">
              It had so many that nothing is known of those older than <Time ms={known_ms} />.
            </p>
          )}
          <Rates minutes={minutes} />
          <Table
            caption="The latest messages of the last hour, latest first; equal requests are one row"
            columns={columns}
            rows={entries}
            keyOf={({ at, id = '', what }, index) => `${at} ${id} ${what} ${index}`}
            empty={<Empty title="It neither sent nor got a message in the last hour" />}
          />
        </>
      )}
    </>
  );
}

function Panel({ title, children }: { title: string; children: ComponentChildren }): JSX.Element {
  return (
    <section class="panel">
      <h2>{title}</h2>
      {children}
    </section>
  );
}

function Words({ of: words }: { of: readonly string[] }): JSX.Element {
  return (
    <span class="words">
      {words.map((each) => (
        <code key={each}>{each}</code>
      ))}
    </span>
  );
}

function Mailboxes({ its: { mailboxes, agent } }: { its: AgentActivity }): JSX.Element {
  if (agent.record.capabilities.includes('no_mail'))
    return <p class="dim">It reads no messages; it is asked and answers at once.</p>;
  if (mailboxes.length === 0) return <p class="dim">Nothing waits for it.</p>;
  return (
    <Facts
      rows={mailboxes.map(({ mailbox, depth, bytes, leases, dead, oldest_ms }) => [
        mailbox.startsWith('reply:') ? 'Answers' : 'Messages',
        <>
          <a href={linkTo('mail', [mailbox])}>{countText(depth)} waiting</a> ({bytesText(bytes)})
          {leases > 0 && `, ${countText(leases)} at work`}
          {depth > 0 && (
            <>
              , oldest <Time ms={Date.now() - oldest_ms} />
            </>
          )}
          {dead > 0 && (
            <>
              , <a href={linkTo('dead', [], { mailbox })}>{countText(dead)} dead</a>
            </>
          )}
        </>,
      ])}
    />
  );
}

/** Sixty minutes, also those without a message. */
function Rates({ minutes }: { minutes: readonly Minute[] }): JSX.Element {
  const { xs, of } = useMemo(() => {
    const now = Math.floor(Date.now() / minuteMs) * minuteMs;
    const all = Array.from(
      { length: minutesShown },
      (_, at) => now - (minutesShown - 1 - at) * minuteMs,
    );
    const known = new Map(minutes.map((each) => [each.at_ms, each]));
    return {
      xs: all.map((ms) => ms / 1_000),
      of: (name: 'sent' | 'received' | 'refused') => all.map((ms) => known.get(ms)?.[name] ?? 0),
    };
  }, [minutes]);
  return (
    <Chart
      title="Messages a minute"
      xs={xs}
      lines={[
        { name: 'sent', colour: 'accent', values: of('sent') },
        { name: 'received', colour: 'good', values: of('received') },
        { name: 'refused', colour: 'bad', values: of('refused') },
      ]}
      scale={scales.count}
    />
  );
}

type Entry = AgentActivity['entries'][number];

const columns: readonly Column<Entry>[] = [
  { head: 'When', cell: ({ at }) => <Time ms={at} /> },
  {
    head: 'What',
    cell: ({ what, count }) =>
      what === 'lost' ? `${countText(count ?? 0)} entries are missing here` : what,
    by: ({ what }) => what,
  },
  {
    head: 'Kind',
    cell: ({ type }) => <span class="mono whole">{type}</span>,
    by: ({ type = '' }) => type,
  },
  {
    head: 'Times',
    cell: ({ times }) => (times > 1 ? countText(times) : ''),
    by: ({ times }) => times,
    isNumber: true,
  },
  {
    head: 'From',
    cell: ({ from = '', person }) =>
      person === undefined ? whoText(from) : `${whoText(from)} (${person})`,
    by: ({ from = '' }) => from,
  },
  { head: 'To', cell: ({ to }) => to, by: ({ to = '' }) => to },
  {
    head: 'Size',
    cell: ({ bytes }) => (bytes === undefined ? '' : bytesText(bytes)),
    by: ({ bytes = 0 }) => bytes,
    isNumber: true,
  },
  {
    head: 'Code',
    cell: ({ code }) => code !== undefined && <Badge tone="bad">{code}</Badge>,
    by: ({ code = '' }) => code,
  },
  { head: 'Id', cell: ({ id }) => <span class="mono small dim whole">{id}</span> },
];
