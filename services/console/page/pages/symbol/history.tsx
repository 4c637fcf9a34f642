import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Measures } from '../../../../../src/pgc/analyse/measures.js';
import { Loadable } from '../../parts/states.js';
import { linkTo } from '../../address.js';
import { useCall } from '../../use-call.js';

/** How the file came to be: asked for when it is opened. */
export function History({ path }: { path: string }): JSX.Element {
  const [isOpen, setOpen] = useState(false);
  const loaded = useCall('measures', isOpen ? { path } : undefined);
  return (
    <details class="panel history" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        History of <code>{path}</code>
      </summary>
      {isOpen && (
        <Loadable loaded={loaded}>
          {({ history, warnings }) => (
            <>
              {warnings.map((each) => (
                <p key={each} class="note">
                  {each}
                </p>
              ))}
              <Changes history={history} />
            </>
          )}
        </Loadable>
      )}
    </details>
  );
}

/** Who changed a file, and what changes together with it. */
export function Changes({ history }: Pick<Measures, 'history'>): JSX.Element {
  if (history.length === 0)
    return (
      <p class="dim">
        Nothing is known from Git: the file is new, or the tree was indexed without its history.
      </p>
    );
  return (
    <ul class="sites">
      {history.map(({ rule, text, subject }) => (
        <li key={text}>
          {rule === 'co-change' ? (
            <a href={linkTo('map', [], { view: 'tree', at: subject })}>{text}</a>
          ) : (
            text
          )}
        </li>
      ))}
    </ul>
  );
}
