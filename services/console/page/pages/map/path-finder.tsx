import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { linkTo } from '../../address.js';
import { counted } from '../../parts/amounts.js';
import { Loadable } from '../../parts/states.js';
import { go } from '../../route.js';
import type { Loaded } from '../../use-call.js';
import { linksAlong, type Model } from './lattice-model.js';
import { Examples } from './shard-panel.js';

/** As many shards as a path may have. */
export const hopsMax = 32;

/** How one shard depends on another. */
export function PathFinder({
  model,
  from,
  to,
  loaded,
}: {
  model: Model;
  from: string;
  to: string;
  loaded: Loaded<{ path: string[] }>;
}): JSX.Element {
  const [ends, setEnds] = useState({ from, to });
  useEffect(() => setEnds({ from, to }), [from, to]);
  const set = (its: Partial<typeof ends>): void => {
    const now = { ...ends, ...its };
    setEnds(now);
    if (now.from !== '' && now.to !== '') go(linkTo('map', [], now));
  };
  return (
    <section class="panel path-finder" aria-label="Path between two shards">
      <h2>Path</h2>
      <End
        model={model}
        label="from"
        value={ends.from}
        onChoose={(value) => set({ from: value })}
      />
      <End model={model} label="to" value={ends.to} onChoose={(value) => set({ to: value })} />
      {from !== '' && to !== '' && (
        <Loadable loaded={loaded}>{({ path }) => <Steps model={model} path={path} />}</Loadable>
      )}
    </section>
  );
}

function Steps({ model, path }: { model: Model; path: readonly string[] }): JSX.Element {
  const links = linksAlong(model, path);
  if (path.length === 0)
    return <p class="dim">Within {hopsMax} shards, nothing leads from the one to the other.</p>;
  return (
    <ol class="way">
      {path.map((agent, at) => (
        <li key={agent}>
          <a href={linkTo('map', [], { shard: agent })}>{agent}</a>
          {links[at] !== undefined && (
            <>
              <span class="dim"> needs the next, {counted(links[at].references, 'reference')}</span>
              <Examples symbols={links[at].symbols} />
            </>
          )}
        </li>
      ))}
    </ol>
  );
}

function End({
  model,
  label,
  value,
  onChoose,
}: {
  model: Model;
  label: string;
  value: string;
  onChoose: (value: string) => void;
}): JSX.Element {
  return (
    <label>
      <span class="end-name">{label}</span>
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        <option value="">choose a shard</option>
        {model.shards
          .map(({ agent }) => agent)
          .toSorted()
          .map((agent) => (
            <option key={agent} value={agent}>
              {agent}
            </option>
          ))}
      </select>
    </label>
  );
}
