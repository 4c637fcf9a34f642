import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { TaskHistory } from '../../../../../src/operations/tasks/task-rows.js';
import { call, session } from '../../call.js';
import { beginning, bytesText, countText } from '../../parts/amounts.js';
import { Badge } from '../../parts/badge.js';
import { CopyButton } from '../../parts/copy-button.js';
import { Confirm } from '../../parts/dialog.js';
import { Facts } from '../../parts/facts.js';
import { Loadable } from '../../parts/states.js';
import { duration } from '../../parts/time-text.js';
import { Time } from '../../parts/time.js';
import { linkTo } from '../../address.js';
import { go } from '../../route.js';
import { Who } from '../../parts/who.js';
import { useCall } from '../../use-call.js';
import { Decisions } from './decide.js';
import { Evidence } from './evidence.js';
import { State } from './state.js';
import { Timeline } from './timeline-view.js';

/** More of its text stands below. */
const titleCharsMax = 100;

/** One task: what happened to it, what came of it, and on what that rests. */
export function OneTask({ id }: { id: string }): JSX.Element {
  const loaded = useCall('task_history', { id }, ['tasks', 'gates']);
  const [said, setSaid] = useState('');
  return (
    <section class="page">
      <nav class="trail dim" aria-label="Way">
        <a href={linkTo('tasks')}>Tasks</a> / {id}
      </nav>
      <p role="status" class={said === '' ? 'unseen' : 'outcome'}>
        {said}
      </p>
      <Loadable loaded={loaded} what="Asking the manager">
        {(its) => (
          <Shown
            its={its}
            onSaid={(words) => {
              setSaid(words);
              loaded.reload();
            }}
          />
        )}
      </Loadable>
    </section>
  );
}

function Shown({
  its,
  onSaid,
}: {
  its: TaskHistory;
  onSaid: (words: string) => void;
}): JSX.Element {
  const { task } = its;
  const { id, state, may, asks, error, response, progress, gates } = task;
  const open = gates.filter((gate) => gate.state === 'open');
  const isOver = task.finished_ms > 0;
  return (
    <>
      <div class="page-head">
        <h1>{task.task.name || beginning(task.task.task, titleCharsMax)}</h1>
        <State state={state} />
        {isOver && state !== 'completed' && <Retry id={id} />}
        <Decisions
          id={id}
          may={open.length > 0 ? may.filter((each) => each === 'cancel') : may}
          onSaid={onSaid}
        />
      </div>
      {open.map((gate) => (
        <p key={gate.id} class="notice">
          It stopped at a risk, and waits for a person:{' '}
          <a href={linkTo('gates', [gate.id])}>{gate.classification.description}</a>
        </p>
      ))}
      {asks !== '' && !isOver && open.length === 0 && <p class="notice">It asks: {asks}</p>}
      {error !== null && (
        <div class="error" role="note">
          <p>
            <code>{error.code}</code> {error.text}
          </p>
        </div>
      )}
      {progress !== '' && !isOver && <p class="dim">Now: {progress}</p>}
      <Timeline its={its} />
      <div class="columns wide">
        <section class="panel">
          <div class="row">
            <h2>Task</h2>
            <CopyButton text={task.task.task} />
          </div>
          <pre class="text">{task.task.task}</pre>
          {task.task.acceptance_criteria.length > 0 && <Criteria its={its} />}
        </section>
        <section class="panel">
          <div class="row">
            <h2>{response?.partial === true ? 'What there was when it ended' : 'Result'}</h2>
            {response !== null && response.result !== '' && <CopyButton text={response.result} />}
          </div>
          {response === null || response.result === '' ? (
            <p class="dim">{isOver ? 'It has none.' : 'Not yet.'}</p>
          ) : (
            <pre class="text">{response.result}</pre>
          )}
          {response !== null && response.files_modified.length > 0 && (
            <>
              <h3>Files changed</h3>
              <ul class="plain mono">
                {response.files_modified.map((file) => (
                  <li key={file}>{file}</li>
                ))}
              </ul>
            </>
          )}
        </section>
      </div>
      <Evidence its={its} />
      <Details its={its} />
    </>
  );
}

/** The criteria, with what the last review said of each. */
function Criteria({ its: { task } }: { its: TaskHistory }): JSX.Element {
  const verdicts = task.reviews.at(-1)?.criteria ?? [];
  return (
    <>
      <h3>It counts as done when</h3>
      <ul class="plain">
        {task.task.acceptance_criteria.map(({ text }) => {
          const found = verdicts.find((each) => each.text === text);
          const verdict = found?.verdict ?? 'open';
          const tone = verdict === 'met' ? 'good' : verdict === 'unmet' ? 'bad' : 'plain';
          return (
            <li key={text}>
              <Badge tone={tone}>{verdict}</Badge> {text}
              {found !== undefined && found.why !== '' && <div class="dim small">{found.why}</div>}
            </li>
          );
        })}
      </ul>
    </>
  );
}

function Details({ its: { task } }: { its: TaskHistory }): JSX.Element {
  const {
    task: asked,
    parent,
    owner,
    assigned_to,
    attempt,
    created_ms,
    finished_ms,
    response,
  } = task;
  const usage = response?.usage ?? null;
  const links = useMemo(
    () =>
      asked.depends_on.map((each) => (
        <a key={each} href={linkTo('tasks', [each])}>
          {each}{' '}
        </a>
      )),
    [asked],
  );
  return (
    <section class="panel">
      <h2>Details</h2>
      <Facts
        rows={[
          ['Id', <span class="mono">{task.id}</span>],
          ['Kind', asked.kind],
          ['Criticality', asked.criticality],
          ['Runner', asked.runner],
          ['Grounding', asked.grounding?.strategy ?? 'none'],
          ['Worker', assigned_to !== '' && <Who agent={assigned_to} />],
          ['Attempt', attempt > 0 && `${attempt} of ${asked.limits.attempts_max}`],
          ['Asked by', <Who agent={parent} />],
          [
            'In the queue of',
            owner !== '' && <a href={linkTo('prompts', [], { owner })}>{owner}</a>,
          ],
          ['Waited for', links.length > 0 && links],
          ['Session', asked.session],
          ['Asked', <Time ms={created_ms} />],
          ['Over', finished_ms > 0 && <Time ms={finished_ms} />],
          ['Limit', duration(asked.limits.timeout_ms)],
          ['Worked', usage !== null && usage.elapsed_ms > 0 && duration(usage.elapsed_ms)],
          [
            'Read from the index',
            usage !== null && usage.grounding_bytes > 0 && bytesText(usage.grounding_bytes),
          ],
          ['Tokens', usage !== null && usage.tokens > 0 && countText(usage.tokens)],
        ]}
      />
    </section>
  );
}

/** A task that ended without a result, from where it was. */
function Retry({ id }: { id: string }): JSX.Element {
  const [isAsked, setAsked] = useState(false);
  const isReadOnly = session.value?.read_only === true;
  return (
    <>
      <button type="button" disabled={isReadOnly} onClick={() => setAsked(true)}>
        Delegate again…
      </button>
      {isAsked && (
        <Confirm
          title="Delegate it again?"
          action="Delegate again"
          onClose={() => setAsked(false)}
          run={async () => {
            const { value } = await call('task retry', { id });
            go(linkTo('tasks', [value.id]));
          }}
        >
          <p>
            A new task begins with all that this one was told and had found. This one stays as it
            is.
          </p>
        </Confirm>
      )}
    </>
  );
}
