import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { TaskHistory } from '../../../../../src/operations/tasks/task-rows.js';
import { duration } from '../../parts/time-text.js';
import { whoText } from '../../parts/who.js';
import { State } from './state.js';
import {
  happeningsOf,
  spansOf,
  totalsOf,
  widthsOf,
  type Happening,
  type Span,
} from './timeline.js';
import { standingOf, stateWords } from './words.js';

/** What happened to a task: its states to scale, and every event below. */
export function Timeline({ its }: { its: TaskHistory }): JSX.Element {
  const { spans, happenings } = useMemo(
    () => ({ spans: spansOf(its.task, Date.now()), happenings: happeningsOf(its, Date.now()) }),
    [its],
  );
  const whole = spans.reduce((sum, { from_ms, to_ms }) => sum + to_ms - from_ms, 0);
  return (
    <section class="panel">
      <div class="row">
        <h2>What happened</h2>
        <span class="dim">{duration(whole)} in all</span>
      </div>
      <Strip spans={spans} />
      <ul class="row totals">
        {totalsOf(spans).map(({ state, ms }) => (
          <li key={state}>
            <i aria-hidden="true" class={`span-${standingOf(state)}`} /> {stateWords(state)}{' '}
            <span class="dim">{duration(ms)}</span>
          </li>
        ))}
      </ul>
      <ol class="timeline">
        {happenings.map((each, at) => (
          <Event key={`${each.at_ms} ${at}`} its={each} before={happenings[at - 1]} />
        ))}
      </ol>
    </section>
  );
}

function Strip({ spans }: { spans: readonly Span[] }): JSX.Element {
  const widths = widthsOf(spans);
  return (
    <div class="strip" aria-hidden="true">
      {spans.map(({ state, from_ms, to_ms, isOpen }, at) => (
        <span
          key={`${from_ms} ${state}`}
          class={`span-${standingOf(state)}${isOpen ? ' is-open' : ''}`}
          style={{ flexGrow: `${widths[at] ?? 0}` }}
          title={`${stateWords(state)} for ${duration(to_ms - from_ms)}, from ${new Date(from_ms).toLocaleTimeString()}`}
        />
      ))}
    </div>
  );
}

/** With the time since the event before it, where that is long enough to matter. */
function Event({
  its: { at_ms, after_ms, event, state, lasted_ms, who, text },
  before,
}: {
  its: Happening;
  before: Happening | undefined;
}): JSX.Element {
  const at = new Date(at_ms);
  const isMove = state !== '' && state !== before?.state;
  return (
    <li class={`timeline-${state === '' ? 'plain' : standingOf(state)}`}>
      <time dateTime={at.toISOString()} title={at.toLocaleString()}>
        {at.toTimeString().slice(0, 8)}
        <span class="dim"> +{duration(after_ms)}</span>
      </time>
      <div>
        <div class="row">
          <code class="dim">{event}</code>
          {who !== '' && <span class="who">{whoText(who)}</span>}
          {isMove && <State state={state} />}
          {lasted_ms > 0 && <span class="dim small">for {duration(lasted_ms)}</span>}
        </div>
        <p>{text}</p>
      </div>
    </li>
  );
}
