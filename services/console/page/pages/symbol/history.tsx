import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
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
              {history.length === 0 && (
                <p class="dim">
                  {warnings[0] ??
                    'Git says nothing of it: the file is new, or the tree has no history.'}
                </p>
              )}
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
            </>
          )}
        </Loadable>
      )}
    </details>
  );
}
