import type { JSX } from 'preact';
import type { TaskHistory } from '../../../../../src/operations/tasks/task-rows.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { Scores } from '../critic/scores.js';
import { Findings } from '../critic/findings.js';

type Task = TaskHistory['task'];

const statusTones: Readonly<Record<string, Tone>> = { valid: 'good', stale: 'warn', false: 'bad' };
const verdictTones: Readonly<Record<string, Tone>> = {
  ...{ accepted: 'good', warned: 'warn', refused: 'bad', undecided: 'warn' },
};

/** On what the result rests, and what the manager and a critic found about it. */
export function Evidence({ its: { task } }: { its: TaskHistory }): JSX.Element {
  const citations = task.response?.grounding_evidence?.citations ?? [];
  const statuses = task.reviews.at(-1)?.citations ?? [];
  return (
    <>
      {task.reviews.length > 0 && <Reviews task={task} />}
      {citations.length > 0 && (
        <section class="panel">
          <h2>Evidence</h2>
          <ol class="plain">
            {citations.map((each, at) => {
              const status = statuses[at]?.status ?? 'unverified';
              const { file_path, line_start, line_end, content, symbol, overlay, relevance } = each;
              return (
                <li key={`${file_path} ${line_start} ${at}`} class="cited">
                  <div class="row">
                    <Badge tone={statusTones[status] ?? 'plain'} title={statuses[at]?.reason ?? ''}>
                      {status}
                    </Badge>
                    <span class="mono">
                      {file_path || '?'}:{line_start}
                      {line_end > line_start && `–${line_end}`}
                    </span>
                    <span class="dim">
                      {symbol} {overlay}
                    </span>
                  </div>
                  {relevance !== '' && <p class="dim">{relevance}</p>}
                  {status !== 'valid' && (statuses[at]?.reason ?? '') !== '' && (
                    <p>{statuses[at]?.reason}</p>
                  )}
                  <pre class="text">{content}</pre>
                </li>
              );
            })}
          </ol>
        </section>
      )}
      {task.iterations.length > 0 && <Critiques task={task} />}
    </>
  );
}

function Reviews({ task: { reviews } }: { task: Task }): JSX.Element {
  return (
    <section class="panel">
      <h2>Reviews</h2>
      <ul class="plain">
        {[...reviews]
          .reverse()
          .map(({ attempt, worker, verdict, findings, confidence, citations }, at) => (
            <li key={`${attempt} ${at}`}>
              <div class="row">
                <Badge tone={verdictTones[verdict] ?? 'plain'}>{verdict}</Badge>
                <span>
                  attempt {attempt} by {worker}
                </span>
                {citations.length > 0 && (
                  <span class="dim">
                    {confidence} confidence,{' '}
                    {citations.filter(({ status }) => status === 'valid').length} of{' '}
                    {citations.length} citations hold
                  </span>
                )}
              </div>
              <ul class="plain inner">
                {findings.map(({ code, severity, text }) => (
                  <li key={code + text}>
                    <Badge tone={severity === 'error' ? 'bad' : 'warn'}>{code}</Badge> {text}
                  </li>
                ))}
              </ul>
            </li>
          ))}
      </ul>
    </section>
  );
}

function Critiques({ task: { iterations } }: { task: Task }): JSX.Element {
  const last = iterations.at(-1);
  return (
    <section class="panel">
      <h2>Critiques</h2>
      <Scores iterations={iterations} threshold={last?.threshold ?? 0} />
      <ul class="plain">
        {[...iterations]
          .reverse()
          .map(({ iteration, verdict, score, why, modes, judged, judged_by, findings }) => (
            <li key={iteration}>
              <div class="row">
                <b>Iteration {iteration}</b>
                <Badge tone={verdict === 'PASS' ? 'good' : verdict === 'REJECTED' ? 'bad' : 'warn'}>
                  {verdict}
                </Badge>
                <span>{score === null ? 'no score' : score.toFixed(2)}</span>
                <span class="dim">{modes.join(', ')}</span>
                {judged !== '' && (
                  <span>
                    {judged} by {judged_by}
                  </span>
                )}
              </div>
              <p>{why}</p>
              <Findings findings={findings} />
            </li>
          ))}
      </ul>
    </section>
  );
}
