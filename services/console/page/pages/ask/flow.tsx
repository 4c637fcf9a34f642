import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Certainty, FlowEdge } from '../../../../../src/pgc/shapes.js';
import { certainties, CertaintyBadge } from '../../parts/badge.js';
import { Place } from '../../parts/editor.js';
import { splitPlace, symbolLink } from '../../parts/place.js';
import { Loadable } from '../../parts/states.js';
import { useLoad } from '../../use-call.js';
import { flowGraph } from './flow-graph.js';
import type { Placed } from './flow-layout.js';

const verbs: Record<FlowEdge['kind'], string> = {
  ...{ call: 'calls', slot: 'holds', implements: 'implements' },
};

/** Calls as a drawing, and as a list for those who want to read them one by one. */
export function Flow({
  flow,
  root,
  current,
  onEvidence,
}: {
  flow: readonly FlowEdge[];
  root: string;
  /** Evidence that is looked at. */
  current: number;
  onEvidence: (id: number) => void;
}): JSX.Element {
  const [isList, setList] = useState(false);
  return (
    <section class="panel flow" aria-label="Flow of calls">
      <div class="row">
        <h2>Flow</h2>
        <button type="button" class="quiet" aria-pressed={isList} onClick={() => setList(!isList)}>
          As a list
        </button>
      </div>
      {isList ? (
        <FlowList {...{ flow, root, onEvidence }} />
      ) : (
        <Drawing {...{ flow, current, onEvidence }} />
      )}
    </section>
  );
}

export function FlowList({
  flow,
  root,
  onEvidence,
}: {
  flow: readonly FlowEdge[];
  root: string;
  onEvidence: (id: number) => void;
}): JSX.Element {
  return (
    <ul class="edges">
      {flow.map((edge) => {
        const { from, to, kind, site, definition, certainty, evidence } = edge;
        const { path, line } = splitPlace(site);
        return (
          <li key={`${from} ${to} ${kind} ${site}`}>
            <a href={symbolLink(`${path}#${from}`)}>
              <code>{from}</code>
            </a>{' '}
            {verbs[kind]}{' '}
            <a href={symbolLink(definition === '' ? to : definition)}>
              <code>{to}</code>
            </a>{' '}
            <CertaintyBadge certainty={certainty} />
            {evidence > 0 && <EvidenceLink id={evidence} onEvidence={onEvidence} />}
            <div class="dim">
              at <Place root={root} path={path} line={line} />
            </div>
          </li>
        );
      })}
    </ul>
  );
}

export function EvidenceLink({
  id,
  onEvidence,
}: {
  id: number;
  onEvidence: (id: number) => void;
}): JSX.Element {
  return (
    <button
      type="button"
      class="quiet evidence-link"
      aria-label={`Evidence ${id}`}
      onClick={() => onEvidence(id)}
    >
      [{id}]
    </button>
  );
}

function Drawing({
  flow,
  current,
  onEvidence,
}: {
  flow: readonly FlowEdge[];
  current: number;
  onEvidence: (id: number) => void;
}): JSX.Element {
  const graph = useMemo(() => flowGraph(flow), [flow]);
  const loaded = useLoad(graph, layOut);
  return (
    <Loadable loaded={loaded} what="Drawing">
      {(value) => (
        <>
          <Scrolled value={value}>
            <Svg {...{ value, current, onEvidence }} />
          </Scrolled>
          {graph.left > 0 && <p class="dim">Further calls in the list: {graph.left}.</p>}
          <Legend graph={value} />
        </>
      )}
    </Loadable>
  );
}

/** A wide drawing begins where the flow does: with its first caller in the middle. */
function Scrolled({ value, children }: { value: Placed; children: JSX.Element }): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    const { current: its } = box;
    const [first] = value.nodes;
    if (its !== null && first !== undefined)
      its.scrollLeft = (first.x / value.width) * its.scrollWidth - its.clientWidth / 2;
  }, [value]);
  return (
    <div ref={box} class="drawing" tabIndex={0} role="region" aria-label="Graph of the calls">
      {children}
    </div>
  );
}

async function layOut(graph: ReturnType<typeof flowGraph>): Promise<Placed> {
  const { placed } = await import('./flow-layout.js');
  return placed(graph);
}

/** Smaller than this part of its size, names cannot be read: then it scrolls. */
const shrinkMin = 0.7;

function Svg({
  value: { width, height, nodes, lines },
  current,
  onEvidence,
}: {
  value: Placed;
  current: number;
  onEvidence: (id: number) => void;
}): JSX.Element {
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      role="group"
      // It shrinks to its box as far as it can still be read.
      style={{ width: `${width}px`, maxWidth: '100%', minWidth: `${width * shrinkMin}px` }}
    >
      <defs>
        <marker
          id="arrow"
          viewBox="0 0 8 8"
          refX="7"
          refY="4"
          markerWidth="7"
          markerHeight="7"
          orient="auto"
        >
          <path d="M0 0 8 4 0 8z" />
        </marker>
      </defs>
      {lines.map(({ points, sites, certainty, kind, evidence, from, to }) => (
        <g
          key={`${from} ${to} ${kind} ${certainty}`}
          class={`flow-line ${certainty} ${evidence.includes(current) ? 'current' : ''}`}
          onClick={() => evidence[0] !== undefined && onEvidence(evidence[0])}
        >
          <title>{`${verbs[kind]} at ${sites.join(', ')}`}</title>
          <path class="wide" d={curve(points)} />
          <path d={curve(points)} marker-end="url(#arrow)" />
        </g>
      ))}
      {nodes.map(({ id, label, name, path, x, y, width: wide, height: high, evidence }) => (
        <a
          key={id}
          href={symbolLink(id)}
          class={`flow-node ${evidence.includes(current) ? 'current' : ''}`}
        >
          <title>{`${name}${path === '' ? ', defined elsewhere' : ` in ${path}`}`}</title>
          <rect x={x - wide / 2} y={y - high / 2} width={wide} height={high} rx="6" />
          <text x={x} y={path === '' ? y + 4 : y - 3} text-anchor="middle">
            {label}
          </text>
          {path !== '' && (
            <text x={x} y={y + 12} text-anchor="middle" class="file">
              {path.slice(path.lastIndexOf('/') + 1)}
            </text>
          )}
        </a>
      ))}
    </svg>
  );
}

/** Through the points of a layout, round at each of them. */
function curve(points: readonly { x: number; y: number }[]): string {
  const [first, ...rest] = points;
  if (first === undefined) return '';
  const middle = rest.slice(0, -1).map((point, at) => {
    const next = rest[at + 1] ?? point;
    return `Q${point.x} ${point.y} ${(point.x + next.x) / 2} ${(point.y + next.y) / 2}`;
  });
  const last = rest.at(-1) ?? first;
  return `M${first.x} ${first.y}${middle.join('')}L${last.x} ${last.y}`;
}

/** Of what the drawing has. */
function Legend({ graph }: { graph: Placed }): JSX.Element {
  const had = (Object.keys(certainties) as Certainty[]).filter((each) =>
    graph.lines.some(({ certainty }) => certainty === each),
  );
  return (
    <ul class="legend">
      {had.map((each) => (
        <li key={each}>
          <svg width="28" height="8" aria-hidden="true">
            <g class={`flow-line ${each}`}>
              <path d="M0 4H28" />
            </g>
          </svg>
          {certainties[each].word}
        </li>
      ))}
    </ul>
  );
}
