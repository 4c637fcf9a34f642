import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { MessageView } from '../../../../../src/wire/messages.js';
import { call, session } from '../../call.js';
import { counted, countText } from '../../parts/amounts.js';
import { Confirm } from '../../parts/dialog.js';
import { changeQuery, Choice } from '../../parts/filters.js';
import { Empty, Loadable } from '../../parts/states.js';
import { Table, type Column } from '../../parts/table.js';
import { Time } from '../../parts/time.js';
import { linkTo, type PageProps } from '../../address.js';
import { useCall } from '../../use-call.js';
import { OpenMessage, reasonText } from './message.js';
import '../ops.css';

/** Named in the question before something is done to them. */
const namedMax = 8;

type What = 'requeue' | 'purge';

/** What is about to be done: to some, or to all of a mailbox. */
interface Plan {
  what: What;
  letters: readonly MessageView[];
  /** All of a mailbox, `*` of all; empty: only the letters. */
  mailbox: string;
  count: number;
}

/** `/dead`: messages that no agent could handle. */
export function DeadPage({ route: { query } }: PageProps): JSX.Element {
  const mailbox = query.get('mailbox') ?? '';
  const after = Number(query.get('after') ?? 0) || 0;
  const loaded = useCall('dead list', { ...(mailbox !== '' && { mailbox }), after }, ['mail']);
  const boxes = useCall('mailboxes', {}, ['mail']);
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [plan, setPlan] = useState<Plan | undefined>();
  const [said, setSaid] = useState('');
  const dead = (boxes.value?.mailboxes ?? []).filter((box) => box.dead > 0);
  return (
    <section class="page">
      <nav class="trail dim" aria-label="Way">
        <a href={linkTo('mail')}>Mail</a> / Dead letters
      </nav>
      <div class="page-head">
        <h1>Dead letters</h1>
        <Choice
          label="Mailbox"
          all="All mailboxes"
          value={mailbox}
          options={dead.map((box) => [box.mailbox, `${box.mailbox} (${countText(box.dead)})`])}
          onChoose={(its) => {
            setChosen(new Set());
            changeQuery(query, { mailbox: its, after: '' });
          }}
        />
      </div>
      <p role="status" class={said === '' ? 'unseen' : 'outcome'}>
        {said}
      </p>
      <Loadable loaded={loaded} what="Asking the broker">
        {({ messages, depth, next }) => {
          const letters = messages.filter(({ seq }) => chosen.has(seq));
          return (
            <>
              {depth > 0 && (
                <Actions
                  which={countText(letters.length)}
                  isNone={letters.length === 0}
                  onPlan={(what) => setPlan({ what, letters, mailbox: '', count: letters.length })}
                >
                  {letters.length > 0 ? (
                    <button type="button" class="quiet" onClick={() => setChosen(new Set())}>
                      Choose none
                    </button>
                  ) : (
                    <span class="dim">Choose letters below.</span>
                  )}
                </Actions>
              )}
              <Table
                caption="Dead letters, oldest first"
                columns={columnsOf(chosen, setChosen)}
                rows={messages}
                keyOf={({ seq }) => `${seq}`}
                empty={
                  <Empty title={`There are no dead letters${mailbox && ` of ${mailbox}`}`}>
                    <p>
                      A message comes here when its agent refuses it, when it failed too often, or
                      when its time is over.
                    </p>
                  </Empty>
                }
              />
              {next > 0 && (
                <div class="row">
                  <a class="button" href={linkTo('dead', [], { mailbox, after: `${next}` })}>
                    Later letters
                  </a>
                </div>
              )}
              {/* Not where those for the chosen ones are: a click too many there must not mean all. */}
              {depth > 0 && (
                <Actions
                  which={`all ${countText(depth)}`}
                  onPlan={(what) =>
                    setPlan({ what, letters: messages, mailbox: mailbox || '*', count: depth })
                  }
                />
              )}
            </>
          );
        }}
      </Loadable>
      {plan !== undefined && (
        <Ask
          plan={plan}
          onClose={() => setPlan(undefined)}
          onDone={(words) => {
            setSaid(words);
            setChosen(new Set());
            loaded.reload();
            boxes.reload();
          }}
        />
      )}
    </section>
  );
}

function Actions({
  which,
  isNone = false,
  onPlan,
  children,
}: {
  /** How many, as the buttons say it. */
  which: string;
  isNone?: boolean;
  onPlan: (what: What) => void;
  children?: ComponentChildren;
}): JSX.Element {
  const isReadOnly = session.value?.read_only === true;
  const title = isReadOnly ? 'This console is read only.' : undefined;
  const isOff = isReadOnly || isNone;
  return (
    <div class="row">
      <button type="button" disabled={isOff} title={title} onClick={() => onPlan('requeue')}>
        Requeue {which}…
      </button>
      <button type="button" disabled={isOff} title={title} onClick={() => onPlan('purge')}>
        Purge {which}…
      </button>
      {children}
    </div>
  );
}

function Ask({
  plan,
  onClose,
  onDone,
}: {
  plan: Plan;
  onClose: () => void;
  onDone: (words: string) => void;
}): JSX.Element {
  const { what, letters, mailbox, count } = plan;
  const isPurge = what === 'purge';
  const letterWords = counted(count, 'dead letter');
  const run = async (): Promise<void> => {
    const choice =
      mailbox === ''
        ? { seq: letters.map(({ seq }) => seq) }
        : mailbox === '*'
          ? { all: true }
          : { mailbox };
    const { value } = await call(isPurge ? 'dead purge' : 'dead requeue', choice);
    const done = counted(value.count, 'letter');
    const were = value.count === 1 ? 'was' : 'were';
    onDone(
      isPurge
        ? `${done} ${were} deleted for good.`
        : `${done} ${were} put back, to be delivered again.`,
    );
  };
  const shown = letters.slice(0, namedMax);
  const left = count - shown.length;
  return (
    <Confirm
      title={`${isPurge ? 'Purge' : 'Requeue'} ${letterWords}?`}
      action={`${isPurge ? 'Purge' : 'Requeue'} ${letterWords}`}
      isDanger={isPurge}
      run={run}
      onClose={onClose}
    >
      <p>
        {isPurge
          ? 'Each is deleted for good, with its body. This cannot be taken back.'
          : 'Each goes back into its mailbox with its attempts reset, and is delivered again as soon as its agent reads. What killed it may do so again.'}
      </p>
      {mailbox !== '' && (
        <p>
          It is done to all {mailbox === '*' ? 'dead letters' : <>dead letters of {mailbox}</>},
          also to those that come until then.
        </p>
      )}
      <ul class="named">
        {shown.map(({ seq, type, from, mailbox: its, reason }) => (
          <li key={seq}>
            <b>{seq}</b> <span class="mono">{type}</span> from {from} to {its}
            <div class="dim">{reasonText(reason)}</div>
          </li>
        ))}
        {left > 0 && <li class="dim">and {countText(left)} more</li>}
      </ul>
      <p class="dim">The audit log keeps that {session.value?.person ?? 'you'} did it.</p>
    </Confirm>
  );
}

function columnsOf(
  chosen: ReadonlySet<number>,
  setChosen: (chosen: ReadonlySet<number>) => void,
): Column<MessageView>[] {
  const turned = (seq: number): ReadonlySet<number> => {
    const next = new Set(chosen);
    if (!next.delete(seq)) next.add(seq);
    return next;
  };
  return [
    {
      head: 'Choose',
      cell: ({ seq }) => (
        <input
          type="checkbox"
          aria-label={`Choose letter ${seq}`}
          checked={chosen.has(seq)}
          onChange={() => setChosen(turned(seq))}
        />
      ),
    },
    { head: 'Number', cell: ({ seq }) => <OpenMessage seq={seq} />, by: ({ seq }) => seq },
    { head: 'Why', cell: ({ reason }) => reasonText(reason), by: ({ reason }) => reason },
    { head: 'Mailbox', cell: ({ mailbox }) => mailbox, by: ({ mailbox }) => mailbox },
    { head: 'From', cell: ({ from }) => from, by: ({ from }) => from },
    { head: 'Kind', cell: ({ type }) => <span class="mono">{type}</span>, by: ({ type }) => type },
    {
      head: 'Failed',
      cell: ({ attempts }) => attempts,
      by: ({ attempts }) => attempts,
      isNumber: true,
    },
    {
      head: 'Dead since',
      cell: ({ dead_ms }) => <Time ms={dead_ms} />,
      by: ({ dead_ms }) => dead_ms,
    },
  ];
}
