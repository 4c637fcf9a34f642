import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import type { Finding, Gate, Judgement } from '../../../../../src/attention/shapes.js';
import type { GateInWhole } from '../../../../../src/operations/gates.js';
import { call, session } from '../../call.js';
import { Badge } from '../../parts/badge.js';
import { CopyButton } from '../../parts/copy-button.js';
import { Confirm } from '../../parts/dialog.js';
import { Facts } from '../../parts/facts.js';
import { Loadable } from '../../parts/states.js';
import { Time } from '../../parts/time.js';
import { linkTo } from '../../address.js';
import { useCall } from '../../use-call.js';
import { commandText, visible } from '../../parts/command-text.js';

/** One action that stopped, shown as it would run, and the ways to judge it. */
export function OneGate({ id }: { id: string }): JSX.Element {
  const loaded = useCall('inspect_gate', { id }, ['gates', 'tasks']);
  const [said, setSaid] = useState('');
  return (
    <section class="page">
      <nav class="trail dim" aria-label="Way">
        <a href={linkTo('gates')}>Gates</a> / {id}
      </nav>
      <p role="status" class={said === '' ? 'unseen' : 'outcome'}>
        {said}
      </p>
      <Loadable loaded={loaded} what="Asking the manager">
        {(its) => (
          <>
            <div class="page-head">
              <h1>{its.gate.state === 'open' ? 'May this be done?' : 'A judged action'}</h1>
              <GateState gate={its.gate} />
            </div>
            <Action its={its} />
            <Judge
              its={its}
              onSaid={(words) => {
                setSaid(words);
                loaded.reload();
              }}
            />
            <Risks its={its} />
            <About its={its} />
          </>
        )}
      </Loadable>
    </section>
  );
}

export function GateState({ gate }: { gate: Gate }): JSX.Element {
  const { state, judgement, judged_by } = gate;
  if (state === 'open') return <Badge tone="warn">waits</Badge>;
  if (judgement === '') return <Badge>{state}</Badge>;
  const isGood = judgement === 'approve' || judgement === 'dismiss';
  return (
    <>
      <Badge tone={isGood ? 'good' : 'bad'}>{judgement}</Badge>
      <div class="dim small">by {judged_by}</div>
    </>
  );
}

/** Exactly what would run, where it is known; else what its agent says. */
function Action({ its: { gate, action, is_exact } }: { its: GateInWhole }): JSX.Element {
  const { classification } = gate;
  const files = Object.entries(classification.digest.files);
  const exact = is_exact ? action : null;
  const command = exact === null ? classification.description : commandText(exact.argv);
  return (
    <section class="panel">
      <div class="row">
        <h2>{exact === null ? 'What would be done' : 'What would run'}</h2>
        <CopyButton text={command} />
      </div>
      <pre class="text command">{visible(command)}</pre>
      {exact === null ? (
        <p class="dim">
          {action === null || action.argv.length === 0
            ? 'These are the words of its agent: what it runs is not known beforehand.'
            : 'The task has another action by now; this is the one that was asked about.'}
        </p>
      ) : (
        <>
          {exact.argv.length > 1 && (
            <details>
              <summary>Each argument by itself ({exact.argv.length})</summary>
              <ol class="arguments mono">
                {exact.argv.map((each, at) => (
                  <li key={at}>
                    <pre class="text">{each === '' ? '(empty)' : visible(each)}</pre>
                  </li>
                ))}
              </ol>
            </details>
          )}
          <Facts
            rows={[
              [
                'Folder',
                <span class="mono">
                  {exact.cwd === '' ? '. (the root of its executor)' : visible(exact.cwd)}
                </span>,
              ],
              [
                'Meant for',
                exact.scope.length > 0 && (
                  <span class="mono">{visible(exact.scope.join(', '))}</span>
                ),
              ],
              ['Promises', exact.read_only && 'to change nothing'],
            ]}
          />
          {Object.keys(exact.env).length > 0 && (
            <details>
              <summary>Environment ({Object.keys(exact.env).length}); it may hold secrets</summary>
              <pre class="text">
                {visible(
                  Object.entries(exact.env)
                    .map(([name, value]) => `${name}=${value}`)
                    .join('\n'),
                )}
              </pre>
            </details>
          )}
          {exact.stdin !== '' && (
            <>
              <h3>Its input</h3>
              <pre class="text">{visible(exact.stdin)}</pre>
            </>
          )}
        </>
      )}
      {files.length > 0 && (
        <>
          <h3>Scripts that were read</h3>
          <Facts
            rows={files.map(([path, sha256]) => [
              visible(path),
              <span class="mono small">{sha256}</span>,
            ])}
          />
        </>
      )}
      <p
        class="dim small mono digest"
        title="SHA-256 of the action: a judgement counts for this one only"
      >
        {classification.digest.action}
      </p>
    </section>
  );
}

function Risks({ its: { gate } }: { its: GateInWhole }): JSX.Element {
  const { findings } = gate.classification;
  const { description } = gate.classification;
  const stopping = findings.filter(({ severity }) => severity === 'Gate');
  const notes = findings.filter(({ severity }) => severity !== 'Gate');
  return (
    <section class="panel">
      <h2>Why it was stopped</h2>
      <ul class="plain findings">
        {[...stopping, ...notes].map((each, at) => (
          <li key={at}>
            <Risk finding={each} known={description} />
          </li>
        ))}
      </ul>
    </section>
  );
}

/** What was seen is not said again where it is the action itself. */
function Risk({ finding, known }: { finding: Finding; known: string }): JSX.Element {
  const { signal, severity, evidence, action_description, rule, file } = finding;
  return (
    <>
      <div class="row">
        <Badge tone={severity === 'Gate' ? 'bad' : 'plain'}>{signal}</Badge>
        {severity !== 'Gate' && <span class="dim">a note that would not stop it</span>}
        {rule !== '' && <code class="dim">{rule}</code>}
        {file !== '' && <span class="mono small">in {visible(file)}</span>}
      </div>
      <p>{visible(action_description)}</p>
      {evidence !== '' && evidence !== known && <pre class="text">{visible(evidence)}</pre>}
    </>
  );
}

function About({ its: { gate, task } }: { its: GateInWhole }): JSX.Element {
  const { classification, seen_by, session: its, asked_ms, expires_ms, state } = gate;
  const { pattern, is_cacheable } = classification;
  return (
    <section class="panel">
      <h2>About</h2>
      <Facts
        rows={[
          ['Task', <a href={linkTo('tasks', [gate.task])}>{task.task.name || gate.task}</a>],
          ['What it is for', task.task.task],
          ['Where', pattern.environment],
          ['Has its effect on', <span class="mono">{visible(pattern.target)}</span>],
          ['Seen by', seen_by],
          ['Session', its],
          [
            'Remembered',
            is_cacheable
              ? 'an approval holds for the same action in this session'
              : 'never: each time anew',
          ],
          ['Asked', <Time ms={asked_ms} />],
          ['Ends', state === 'open' && <Time ms={expires_ms} />],
          ['Judged', gate.judged_ms > 0 && <Time ms={gate.judged_ms} />],
          ['By', gate.judged_by],
          ['Said', gate.direction],
        ]}
      />
    </section>
  );
}

/** What a judgement does: where no approval may be remembered, it is for this once. */
function meaningOf({ gate, effects }: GateInWhole, judgement: Judgement): string {
  const isOnce = judgement === 'approve' && !gate.classification.is_cacheable;
  return isOnce ? 'run it this once: such an action is asked about each time' : effects[judgement];
}

interface Way {
  judgement: Judgement;
  button: string;
  title: string;
  words: string;
  isDanger?: boolean;
}

const ways: readonly Way[] = [
  {
    judgement: 'approve',
    button: 'Approve',
    title: 'Approve this action?',
    words: 'Why (kept with the gate)',
  },
  {
    judgement: 'dismiss',
    button: 'Only this once',
    title: 'Allow it this once?',
    words: 'Why (kept with the gate)',
  },
  {
    ...{ judgement: 'modify', button: 'Something else', title: 'Have something else done?' },
    words: 'What to do instead, in words or as {"argv": […]}',
  },
  {
    judgement: 'halt',
    button: 'Refuse',
    title: 'Refuse this action?',
    words: 'Why (kept with the gate)',
    isDanger: true,
  },
  {
    ...{
      judgement: 'withdraw',
      button: 'Refuse, and end the session',
      title: 'End all of its session?',
    },
    ...{ words: 'Why (kept with the gate)', isDanger: true },
  },
];

function Judge({
  its,
  onSaid,
}: {
  its: GateInWhole;
  onSaid: (words: string) => void;
}): JSX.Element | null {
  const [way, setWay] = useState<Way | undefined>();
  const isReadOnly = session.value?.read_only === true;
  if (its.gate.state !== 'open') return null;
  const { is_cacheable } = its.gate.classification;
  const shown = ways.filter(({ judgement }) => is_cacheable || judgement !== 'dismiss');
  return (
    <div class="row judge">
      {shown.map((each) => (
        <button
          key={each.judgement}
          type="button"
          class={
            each.judgement === 'approve' ? 'primary' : each.judgement === 'halt' ? 'danger' : ''
          }
          disabled={isReadOnly}
          title={isReadOnly ? 'This console is read only.' : meaningOf(its, each.judgement)}
          onClick={() => setWay(each)}
        >
          {each.button}…
        </button>
      ))}
      {way !== undefined && (
        <Ask
          key={way.judgement}
          its={its}
          way={way}
          onClose={() => setWay(undefined)}
          onSaid={onSaid}
        />
      )}
    </div>
  );
}

/** The judgement counts for the action that is shown, and for no other. */
function Ask({
  its,
  way: { judgement, button, title, words, isDanger = false },
  onClose,
  onSaid,
}: {
  its: GateInWhole;
  way: Way;
  onClose: () => void;
  onSaid: (words: string) => void;
}): JSX.Element {
  const [direction, setDirection] = useState('');
  const name = useId();
  const { gate, action, is_exact } = its;
  const { description, digest } = gate.classification;
  const meaning = meaningOf(its, judgement);
  const run = async (): Promise<void> => {
    const input = { id: gate.id, judgement, direction: direction.trim(), action: digest.action };
    const { value } = await call('judge_gate', input);
    onSaid(`${value.judgement} by ${value.judged_by}: ${meaning}.`);
  };
  return (
    <Confirm title={title} action={button} isDanger={isDanger} run={run} onClose={onClose}>
      <pre class="text command">
        {visible(is_exact && action !== null ? commandText(action.argv) : description)}
      </pre>
      <p>
        {button}: {meaning}.
      </p>
      <label class="stacked" for={name}>
        {words}
        <textarea
          id={name}
          rows={3}
          maxLength={4_000}
          value={direction}
          onInput={({ currentTarget }) => setDirection(currentTarget.value)}
        />
      </label>
    </Confirm>
  );
}
