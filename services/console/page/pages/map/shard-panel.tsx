import type { JSX } from 'preact';
import { linkTo } from '../../address.js';
import { counted } from '../../parts/amounts.js';
import { Presence } from '../../parts/badge.js';
import { symbolLink } from '../../parts/place.js';
import type { Link, Model, Shard } from './lattice-model.js';

const linksShown = 12;
const symbolsShown = 4;

/** One shard, what it needs and what needs it. */
export function ShardPanel({ model, shard }: { model: Model; shard: Shard }): JSX.Element {
  const { agent, files, lines, state, scope } = shard;
  return (
    <section class="panel" aria-label={`Shard ${agent}`}>
      <div class="row">
        <h2>{agent}</h2>
        {state !== '' && <Presence state={state} />}
      </div>
      <p class="dim">
        {counted(files, 'file')} · {counted(lines, 'line')}
      </p>
      <p class="scope">
        {scope.slice(0, 6).map((path) => (
          <a key={path} href={linkTo('map', [], { view: 'tree', at: path === '.' ? '' : path })}>
            <code>{path}</code>
          </a>
        ))}
        {scope.length > 6 && <span class="dim">and {scope.length - 6} more</span>}
      </p>
      <Links title="Needs" links={model.links.filter(({ from }) => from === agent)} end="to" />
      <Links title="Needed by" links={model.links.filter(({ to }) => to === agent)} end="from" />
    </section>
  );
}

function Links({
  title,
  links,
  end,
}: {
  title: string;
  links: readonly Link[];
  end: 'from' | 'to';
}): JSX.Element {
  return (
    <>
      <h3>
        {title} <span class="dim">{links.length}</span>
      </h3>
      <ul class="sites">
        {links.slice(0, linksShown).map((link) => (
          <li key={link[end]}>
            <a href={linkTo('map', [], { shard: link[end] })}>{link[end]}</a>{' '}
            <span class="dim">{counted(link.references, 'reference')}</span>
            <Examples symbols={link.symbols} />
          </li>
        ))}
      </ul>
      {links.length > linksShown && <p class="dim">and {links.length - linksShown} weaker ones</p>}
    </>
  );
}

export function Examples({ symbols }: { symbols: readonly string[] }): JSX.Element {
  return (
    <div class="dim">
      {[...new Set(symbols)].slice(0, symbolsShown).map((symbol, at) => (
        <span key={symbol}>
          {at > 0 && ', '}
          <a href={symbolLink(symbol)}>
            <code>{symbol}</code>
          </a>
        </span>
      ))}
    </div>
  );
}
