import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { CallSite, Definition } from '../../../../../src/pgc/shapes.js';
import type { Related } from '../../../../../src/render/explored.js';
import { Badge, CertaintyBadge } from '../../parts/badge.js';
import { commandText, visible } from '../../parts/command-text.js';
import { Place } from '../../parts/editor.js';
import { symbolLink, symbolName } from '../../parts/place.js';
import { Loadable } from '../../parts/states.js';
import { useCall } from '../../use-call.js';

type What = 'callers' | 'callees' | 'references' | 'possible';

/** Rows of a relation that are shown before more are asked for. */
const rowsShown = 12;

/** Call sites of one relation: the first of them, and all when they are asked for. */
export function Sites({
  title,
  what,
  related,
  name,
  root,
  none,
}: {
  title: string;
  what: What;
  related: Related<CallSite> | null;
  name: string;
  root: string;
  none: string;
}): JSX.Element | null {
  const [most, setMost] = useState(rowsShown);
  // What the page has of them may be all; else the whole list is asked for once it is wanted.
  const isWanted =
    related !== null && most > related.rows.length && related.rows.length < related.total;
  const input = isWanted && what !== 'possible' ? { symbol: name } : undefined;
  const callers = useCall('callers', what === 'callers' ? input : undefined);
  const callees = useCall('callees', what === 'callees' ? input : undefined);
  const uses = useCall(
    'references',
    what === 'references' || what === 'possible' ? input : undefined,
  );
  if (related === null) return null;
  const whole =
    callers.value?.callers ??
    callees.value?.callees.filter(({ definition }) => definition !== '') ??
    uses.value?.references.filter(({ kind }) => /^(?:value|type|slot)$/.test(kind));
  const rows = whole ?? related.rows;
  const total = Math.max(related.total, rows.length);
  const operation = what === 'possible' ? 'references' : what;
  const command = visible(commandText(['sigma', operation, name]));
  const [asked = uses] = [callers, callees].filter((each) => each.isLoading || each.fault);
  const isAll = most === Infinity;
  return (
    <section
      class={title === '' ? '' : 'panel'}
      aria-label={title === '' ? 'Possible sites' : title}
    >
      {title !== '' && (
        <h3>
          {title} <span class="dim">{total}</span>
        </h3>
      )}
      {total === 0 && <p class="dim">{none}</p>}
      <ul class="sites">
        {rows.slice(0, most).map((site, at) => (
          <Site
            key={`${site.file_path}:${site.line} ${site.symbol} ${at}`}
            {...{ site, what, root }}
          />
        ))}
      </ul>
      <Loadable loaded={{ ...asked, value: undefined }}>{() => null}</Loadable>
      {Math.min(most, rows.length) < total && !isAll && what !== 'possible' && (
        <button type="button" class="quiet" onClick={() => setMost(Infinity)}>
          Show all {total}
        </button>
      )}
      {(what === 'possible' || whole !== undefined) && rows.length < total && (
        <p class="dim">
          The nearest {rows.length} of {total}; <code>{command}</code> lists more.
        </p>
      )}
    </section>
  );
}

const kindNotes: Partial<Record<string, string>> = {
  ...{ construct: 'constructed', slot: 'put into a structure', type: 'as a type' },
  ...{ value: 'passed on' },
};

function Site({ site, what, root }: { site: CallSite; what: What; root: string }): JSX.Element {
  const { symbol, container, file_path: path, line, certainty, kind, via, role = '' } = site;
  const { definition } = site;
  // Of a callee the row is about what is called, of all others about the function that holds the site.
  const own = container === '' ? symbol : `${container}.${symbol}`;
  const link = what === 'callees' && definition !== '' ? definition : `${path}#${own}`;
  const note = what === 'callees' ? undefined : kindNotes[kind];
  return (
    <li>
      {symbol === '' ? (
        <span class="dim">file level</span>
      ) : (
        <a href={symbolLink(link)}>
          <code>{symbol}</code>
        </a>
      )}{' '}
      {certainty !== 'exact' && <CertaintyBadge certainty={certainty} />}
      {via !== '' && <span class="dim"> {via}</span>}
      {note !== undefined && <span class="dim"> {note}</span>}
      {role !== '' && <Badge>{role}</Badge>}
      <div class="dim">
        <Place root={root} path={path} line={line} />
      </div>
    </li>
  );
}

/** What may run, or stand, in its place. */
export function Definitions({
  related,
  name,
  root,
}: {
  related: Related<Definition> | null;
  name: string;
  root: string;
}): JSX.Element | null {
  const [isAll, setAll] = useState(false);
  const loaded = useCall('implementations', isAll ? { symbol: name } : undefined);
  if (related === null || related.total === 0) return null;
  const rows = loaded.value?.implementations ?? related.rows.slice(0, rowsShown);
  return (
    <section class="panel" aria-label="Implementations">
      <h3>
        Implementations <span class="dim">{related.total}</span>
      </h3>
      <ul class="sites">
        {rows.map((each) => (
          <li key={`${each.file_path}:${each.line}`}>
            <a href={symbolLink(`${each.file_path}:${each.line}`)}>
              <code>{symbolName(each).split('#').at(-1)}</code>
            </a>{' '}
            <span class="dim">{each.kind}</span>
            <div class="dim">
              <Place root={root} path={each.file_path} line={each.line} />
            </div>
          </li>
        ))}
      </ul>
      <Loadable loaded={{ ...loaded, value: undefined }}>{() => null}</Loadable>
      {rows.length < related.total && !isAll && (
        <button type="button" class="quiet" onClick={() => setAll(true)}>
          Show all {related.total}
        </button>
      )}
    </section>
  );
}
