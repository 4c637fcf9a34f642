import type { JSX } from 'preact';
import { linkTo, type PageProps } from '../../address.js';
import { Lattice } from './lattice.js';
import { Tree } from './tree.js';
import './map.css';

const views = [
  { name: '', title: 'Lattice' },
  { name: 'table', title: 'Lattice as tables' },
  { name: 'tree', title: 'Tree by measures' },
] as const;

/** The lattice, and the tree that it is made of. */
export function MapPage({ route: { query } }: PageProps): JSX.Element {
  const view = views.find(({ name }) => name === query.get('view'))?.name ?? '';
  return (
    <section class="page">
      <div class="page-head">
        <h1>Map</h1>
        <nav class="tabs" aria-label="Views">
          {views.map(({ name, title }) => (
            <a
              key={name}
              href={linkTo('map', [], { view: name })}
              aria-current={name === view ? 'page' : undefined}
            >
              {title}
            </a>
          ))}
        </nav>
      </div>
      {view === 'tree' ? <Tree /> : <Lattice isTable={view === 'table'} />}
    </section>
  );
}
