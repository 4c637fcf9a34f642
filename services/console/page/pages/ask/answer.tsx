import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { Answer, NextStep } from '../../../../../src/pgc/shapes.js';
import type { Dated } from '../../calls.js';
import { counted } from '../../parts/amounts.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { commandText, visible } from '../../parts/command-text.js';
import { EditorChoice } from '../../parts/editor.js';
import { symbolLink } from '../../parts/place.js';
import { linkTo } from '../../address.js';
import { EvidenceCard } from './evidence.js';
import { EvidenceLink, Flow, FlowList } from './flow.js';
import { Way } from './way.js';

const tones: Record<Answer['confidence'], Tone> = {
  ...{ high: 'good', medium: 'accent', low: 'warn' },
};

const statuses = { found: 'Found', partly: 'Partly found', not_found: 'Not found' } as const;

/** An answer as its structure: what was found and how surely, the way, the flow beside its evidence, what is not proved. */
export function AnswerView({ answer }: { answer: Answer & Dated }): JSX.Element {
  const [current, setCurrent] = useState(0);
  const { evidence, flow, hops, root } = answer;
  const sure = useMemo(() => flow.filter(({ certainty }) => certainty !== 'possible'), [flow]);
  const possible = useMemo(() => flow.filter(({ certainty }) => certainty === 'possible'), [flow]);
  const show = (id: number): void => {
    setCurrent(id);
    const its = document.getElementById(`evidence-${id}`);
    its?.scrollIntoView({ block: 'nearest' });
    its?.focus({ preventScroll: true });
  };
  const hasSide = sure.length > 0 || hops.length > 0;
  return (
    <div class="answer">
      <Head answer={answer} />
      {answer.prose !== '' && <Prose answer={answer} onEvidence={show} />}
      <div class={hasSide ? 'answer-body with-side' : 'answer-body'}>
        {hasSide && (
          <div class="answer-side">
            {hops.length > 0 && <Way {...{ answer, current }} onEvidence={show} />}
            {sure.length > 0 && <Flow flow={sure} {...{ root, current }} onEvidence={show} />}
          </div>
        )}
        <div class="answer-evidence">
          {evidence.map((each) => (
            <EvidenceCard
              key={each.id}
              evidence={each}
              root={root}
              isCurrent={each.id === current}
              onFocus={() => setCurrent(each.id)}
            />
          ))}
          {possible.length > 0 && (
            <details class="panel">
              <summary>
                Possible: {counted(possible.length, 'call')} of which nothing proves what is called
              </summary>
              <FlowList flow={possible} root={root} onEvidence={show} />
            </details>
          )}
          <NotShown answer={answer} />
        </div>
      </div>
    </div>
  );
}

function Head({ answer }: { answer: Answer & Dated }): JSX.Element {
  const { evidence, clauses, confidence, unsure, partial, metadata, trees = [] } = answer;
  const files = new Set(evidence.map(({ file_path }) => file_path)).size;
  const isWeak = unsure.some(({ kind }) => kind === 'weak');
  const places = `${counted(evidence.length, 'place')} in ${counted(files, 'file')}`;
  const open = clauses.length < 2 ? [] : clauses.filter(({ status }) => status !== 'found');
  return (
    <section class="answer-head">
      <div class="row">
        <h2>
          {isWeak
            ? `Nothing here clearly answers the question; nearest are ${places}`
            : `Found ${places}`}
        </h2>
        <Badge
          tone={tones[confidence]}
          title={`The first ten places hold what a right answer must name: ${Math.round(answer.likelihood * 100)} %`}
        >
          {confidence} confidence
        </Badge>
        {partial && <Badge tone="warn">partial: not every agent answered</Badge>}
        <span class="dim">
          {counted(metadata.agents_asked, 'agent')} asked · {Math.round(metadata.elapsed_ms)} ms
          {trees.map((tree) => ` · ${stateText(tree)}`)}
        </span>
        <span class="tools-end">
          <EditorChoice />
        </span>
      </div>
      {open.length > 0 && (
        <ul class="clauses">
          {open.map(({ text, status }) => (
            <li key={text}>
              <Badge tone={status === 'partly' ? 'warn' : 'bad'}>{statuses[status]}</Badge> {text}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function stateText({
  project,
  commit,
  files_changed,
  is_replaced,
}: NonNullable<Dated['trees']>[number]): string {
  const id = commit === '' ? '' : ` at ${commit.slice(0, 9)}`;
  const since = files_changed > 0 ? `, ${counted(files_changed, 'file')} changed since` : '';
  return `${project}${id}${is_replaced ? ', a newer index came meanwhile' : since}`;
}

/** Words of a language model; [n] leads to the evidence with that id, where there is one. */
function Prose({
  answer: { prose, evidence },
  onEvidence,
}: {
  answer: Answer;
  onEvidence: (id: number) => void;
}): JSX.Element {
  return (
    <div class="prose">
      {prose.split(/\n{2,}/).map((paragraph, at) => (
        <p key={at}>
          {paragraph.split(/(\[\d+\])/).map((part, index) => {
            const its = evidence.find(({ id }) => part === `[${id}]`);
            return its === undefined ? (
              part
            ) : (
              <EvidenceLink key={index} id={its.id} onEvidence={onEvidence} />
            );
          })}
        </p>
      ))}
    </div>
  );
}

/** What the answer does not prove, what to ask next, and what could not be asked. */
export function NotShown({ answer }: { answer: Answer }): JSX.Element {
  const { unsure, next, left_out, overlay_warnings, errors } = answer;
  const open = unsure.filter(({ kind }) => kind !== 'weak');
  const notes = [
    ...left_out.map(({ overlay, why }) => `${overlay} was not consulted: ${why}.`),
    ...overlay_warnings,
    ...errors.map(({ code, text }) => `${code}: ${text}`),
  ];
  return (
    <>
      {open.length + next.length > 0 && <Open open={open} next={next} />}
      {[...new Set(notes)].map((note) => (
        <p key={note} class="note">
          {note}
        </p>
      ))}
    </>
  );
}

function Open({ open, next }: { open: Answer['unsure']; next: NextStep[] }): JSX.Element {
  return (
    <section class="panel not-shown" aria-label="Not shown">
      {open.length > 0 && (
        <>
          <h3>Not shown</h3>
          <ul>
            {open.map(({ text }) => (
              <li key={text}>{text}</li>
            ))}
          </ul>
        </>
      )}
      {next.length > 0 && (
        <>
          <h3>Next</h3>
          <ul>
            {next.map((step) => (
              <Next
                key={`${step.operation} ${Object.values(step.arguments).join(' ')}`}
                step={step}
              />
            ))}
          </ul>
        </>
      )}
    </section>
  );
}

/** A step that the page can take is a link, any other one a command. */
function Next({ step: { operation, arguments: its, why } }: { step: NextStep }): JSX.Element {
  const { symbol, question } = its;
  const words = [...operation.split(' '), ...Object.values(its)];
  const link =
    symbol !== undefined
      ? symbolLink(symbol)
      : question !== undefined
        ? linkTo('ask', [], { q: question, deep: operation.startsWith('lattice') ? '1' : '' })
        : undefined;
  return (
    <li>
      {link === undefined ? (
        <code>{visible(commandText(['sigma', ...words]))}</code>
      ) : (
        <a href={link}>{words.join(' ')}</a>
      )}{' '}
      <span class="dim">{why}</span>
    </li>
  );
}
