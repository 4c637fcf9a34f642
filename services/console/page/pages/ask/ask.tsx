import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Answer } from '../../../../../src/pgc/shapes.js';
import { Empty, Loadable } from '../../parts/states.js';
import { linkTo, type PageProps } from '../../address.js';
import { go } from '../../route.js';
import { useCall } from '../../use-call.js';
import { AnswerView, NotShown } from './answer.js';
import { acrossShards } from './way.js';
import './ask.css';

const examples = [
  'Where is the configuration read?',
  'What happens when a connection is lost?',
  'Which errors can a request end with?',
];

/** A question and its answer; both are in the address. */
export function Ask({ route: { query } }: PageProps): JSX.Element {
  const question = query.get('q')?.trim() ?? '';
  const isDeep = query.get('deep') === '1';
  const isAsked = question !== '';
  const direct = useCall('ask', isAsked && !isDeep ? { question } : undefined);
  const deep = useCall(
    'query_lattice',
    isAsked && isDeep ? { question, ...acrossShards } : undefined,
  );
  const loaded = isDeep ? deep : direct;
  return (
    <section class="page">
      <h1 class="unseen">Ask the code base</h1>
      <Question question={question} isDeep={isDeep} isLoading={loaded.isLoading} />
      {!isAsked && <Examples />}
      <Loadable
        loaded={loaded}
        what={
          isDeep
            ? `Asking from shard to shard, at most ${acrossShards.timeout_seconds} s`
            : 'Asking the shards'
        }
      >
        {(answer) =>
          answer.evidence.length === 0 && answer.prose === '' ? (
            <Nothing {...{ answer, question, isDeep }} />
          ) : (
            <AnswerView key={`${question} ${isDeep}`} answer={answer} />
          )
        }
      </Loadable>
    </section>
  );
}

function Question({
  question,
  isDeep,
  isLoading,
}: {
  question: string;
  isDeep: boolean;
  isLoading: boolean;
}): JSX.Element {
  const [text, setText] = useState(question);
  const [isAcross, setAcross] = useState(isDeep);
  useEffect(() => setText(question), [question]);
  useEffect(() => setAcross(isDeep), [isDeep]);
  const ask = (deep: boolean): void => {
    if (text.trim() !== '') go(linkTo('ask', [], { q: text.trim(), deep: deep ? '1' : '' }));
  };
  return (
    <form
      role="search"
      class="question"
      onSubmit={(event) => {
        event.preventDefault();
        ask(isAcross);
      }}
    >
      <input
        type="search"
        data-search
        autoFocus={question === ''}
        aria-label="Question"
        placeholder="Ask in words, with names and paths where you have them"
        value={text}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
      <label title="Follows references from shard to shard, and shows the way it took.">
        <input
          type="checkbox"
          checked={isAcross}
          onChange={({ currentTarget }) => {
            setAcross(currentTarget.checked);
            if (question !== '') ask(currentTarget.checked);
          }}
        />
        across shards
      </label>
      <button type="submit" class="primary" aria-busy={isLoading}>
        Ask
      </button>
    </form>
  );
}

function Examples(): JSX.Element {
  return (
    <Empty title="Ask the indexed code, and see the lines that prove the answer">
      <p>For example:</p>
      <ul class="examples">
        {examples.map((each) => (
          <li key={each}>
            <a href={linkTo('ask', [], { q: each })}>{each}</a>
          </li>
        ))}
      </ul>
    </Empty>
  );
}

function Nothing({
  answer,
  question,
  isDeep,
}: {
  answer: Answer;
  question: string;
  isDeep: boolean;
}): JSX.Element {
  return (
    <>
      <Empty
        title={
          answer.partial
            ? 'Nothing was found, but not every agent answered'
            : 'Nothing in the indexed code answers this'
        }
      >
        <p>
          Name a symbol, a file or a message if you know one
          {!isDeep && (
            <>
              , or <a href={linkTo('ask', [], { q: question, deep: '1' })}>ask across all shards</a>
            </>
          )}
          . A tree that is not indexed yet: <code>sigma up FOLDER</code>.
        </p>
      </Empty>
      <NotShown answer={answer} />
    </>
  );
}
