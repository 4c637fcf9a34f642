import type { JSX } from 'preact';
import { useId, useState } from 'preact/hooks';
import { call, session } from '../../call.js';
import { Confirm } from '../../parts/dialog.js';
import { changeOf } from './change.js';
import { changeWords, ending } from './words.js';

/** What may be said to a task now, each behind a question. */
export function Decisions({
  id,
  may,
  onSaid,
}: {
  id: string;
  may: readonly string[];
  onSaid: (words: string) => void;
}): JSX.Element | null {
  const [what, setWhat] = useState<string | undefined>();
  const isReadOnly = session.value?.read_only === true;
  const known = may.filter((each) => changeWords[each] !== undefined);
  if (known.length === 0) return null;
  return (
    <div class="row">
      {known.map((each) => (
        <button
          key={each}
          type="button"
          disabled={isReadOnly}
          title={isReadOnly ? 'This console is read only.' : changeWords[each]?.means}
          onClick={() => setWhat(each)}
        >
          {changeWords[each]?.action}…
        </button>
      ))}
      {what !== undefined && (
        <Ask key={what} id={id} what={what} onClose={() => setWhat(undefined)} onSaid={onSaid} />
      )}
    </div>
  );
}

function Ask({
  id,
  what,
  onClose,
  onSaid,
}: {
  id: string;
  what: string;
  onClose: () => void;
  onSaid: (words: string) => void;
}): JSX.Element {
  const [text, setText] = useState('');
  const name = useId();
  const { action, means, needs } = changeWords[what] ?? { action: what, means: '' };
  const run = async (): Promise<void> => {
    const { value } =
      what === 'cancel'
        ? await call('task cancel', { id, why: text })
        : await call('task update', changeOf(id, what, text));
    onSaid(`${action}: the task is now ${value.state}.`);
  };
  return (
    <Confirm
      title={`${action}: ${id}`}
      action={action}
      isDanger={ending.has(what)}
      run={run}
      onClose={onClose}
    >
      <p>{means}</p>
      <label class="stacked" for={name}>
        {needs ?? 'Why (kept with the task)'}
        <textarea
          id={name}
          rows={3}
          required={needs !== undefined}
          value={text}
          onInput={({ currentTarget }) => {
            const { value } = currentTarget;
            // Spaces are enough for `required`.
            const isEmpty = needs !== undefined && value.trim() === '';
            currentTarget.setCustomValidity(isEmpty ? 'Please fill out this field.' : '');
            setText(value);
          }}
        />
      </label>
    </Confirm>
  );
}
