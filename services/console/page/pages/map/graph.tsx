import type { Core, ElementDefinition, StylesheetJson } from 'cytoscape';
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Loading } from '../../parts/states.js';
import { colour, isDark } from '../../theme.js';
import {
  colourOf,
  coloursMax,
  drawnLinks,
  thicknessOf,
  widthOf,
  type Model,
} from './lattice-model.js';

/** What stands out, all else steps back. */
export interface Shown {
  shards: readonly string[];
  /** Of a way: from one shard to another. */
  steps?: readonly (readonly [from: string, to: string])[];
}

/** The lattice as a drawing that can be moved, with the table beside it for those who do not see it. */
export function Graph({
  model,
  least,
  shown,
  onShard,
}: {
  model: Model;
  least: number;
  shown: Shown | undefined;
  onShard: (agent: string | undefined) => void;
}): JSX.Element {
  const box = useRef<HTMLDivElement>(null);
  const [core, setCore] = useState<Core | undefined>();
  const select = useRef(onShard);
  select.current = onShard;
  useEffect(() => {
    const ended = new AbortController();
    let its: Core | undefined;
    const draw = async (): Promise<void> => {
      const { drawn } = await import('./draw.js');
      if (ended.signal.aborted || box.current === null) return;
      its = drawn(box.current, elementsOf(model, least), ended.signal);
      its.on('tap', 'node', ({ target }) => select.current((target as { id(): string }).id()));
      its.on('tap', ({ target }) => target === its && select.current(undefined));
      setCore(its);
    };
    draw().catch(() => undefined);
    return () => {
      ended.abort();
      its?.destroy();
      setCore(undefined);
    };
  }, [model, least]);
  const dark = isDark();
  useEffect(() => {
    core?.style(styles());
  }, [core, dark]);
  useEffect(() => {
    if (core !== undefined) stress(core, shown);
  }, [core, shown]);
  return (
    <div class="lattice">
      <div ref={box} class="lattice-canvas" role="img" aria-label={describing(model)} />
      {core === undefined && <Loading what="Drawing" />}
      <div class="lattice-tools">
        <button type="button" aria-label="Larger" onClick={() => zoom(core, 1.3)}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => zoom(core, 1 / 1.3)}>
          −
        </button>
        <button type="button" onClick={() => core?.fit(undefined, 30)}>
          Fit
        </button>
      </div>
    </div>
  );
}

function describing({ shards, links }: Model): string {
  return `${shards.length} shards and ${links.length} links between them; the table has all of them`;
}

function zoom(core: Core | undefined, by: number): void {
  core?.zoom({
    level: core.zoom() * by,
    renderedPosition: { x: core.width() / 2, y: core.height() / 2 },
  });
}

function elementsOf(model: Model, least: number): ElementDefinition[] {
  const most = Math.max(1, ...model.shards.map(({ lines }) => lines));
  const heaviest = Math.max(1, ...model.links.map(({ references }) => references));
  return [
    ...model.shards.map(({ agent, lines, group, state }) => ({
      data: { id: agent, size: widthOf(lines, most) },
      classes: `group-${colourOf(model, group)}${/^(?:offline|stale)$/.test(state) ? ' away' : ''}`,
    })),
    ...drawnLinks(model, least).map(({ from, to, references }) => ({
      data: {
        id: `${from}\n${to}`,
        ...{ source: from, target: to },
        width: thicknessOf(references, heaviest),
      },
    })),
  ];
}

function styles(): StylesheetJson {
  const [text, line, accent, back] = ['text', 'line-strong', 'accent', 'bg'].map(colour);
  return [
    {
      selector: 'node',
      style: {
        ...{ width: 'data(size)', height: 'data(size)', label: 'data(id)' },
        ...{ color: text, 'font-size': 11, 'text-valign': 'bottom', 'text-margin-y': 4 },
        ...{ 'min-zoomed-font-size': 7, 'text-outline-color': back, 'text-outline-width': 2 },
        'font-family': 'system-ui, sans-serif',
      },
    },
    ...Array.from({ length: coloursMax }, (_, at) => ({
      selector: `.group-${at}`,
      style: { 'background-color': colour(`group-${at}`) },
    })),
    {
      selector: '.away',
      style: { 'background-opacity': 0.35, 'border-width': 1, 'border-color': text },
    },
    {
      selector: 'edge',
      style: {
        ...{ width: 'data(width)', 'line-color': line, opacity: 0.45 },
        ...{
          'curve-style': 'bezier',
          'target-arrow-shape': 'triangle',
          'target-arrow-color': line,
        },
        'arrow-scale': 0.8,
      },
    },
    { selector: '.back', style: { opacity: 0.12 } },
    { selector: 'node.front', style: { 'border-width': 3, 'border-color': accent } },
    {
      selector: 'edge.front',
      style: { opacity: 1, 'line-color': accent, 'target-arrow-color': accent },
    },
  ] as StylesheetJson;
}

/** A link that a way takes and the drawing leaves out is added as long as the way is shown. */
function stress(core: Core, shown: Shown | undefined): void {
  core.batch(() => {
    core.elements().removeClass('front back');
    core.$('.added').remove();
    if (shown === undefined || shown.shards.length === 0) return;
    const { steps } = shown;
    const ids = new Set(steps?.map(([from, to]) => `${from}\n${to}`));
    for (const [from, to] of steps ?? []) {
      const isDrawn = core.getElementById(`${from}\n${to}`).nonempty();
      const areThere = [from, to].every((each) => core.getElementById(each).nonempty());
      if (!isDrawn && areThere && from !== to)
        core.add({
          data: { id: `${from}\n${to}`, source: from, target: to, width: 2 },
          classes: 'added',
        });
    }
    const nodes = core.nodes().filter((node) => shown.shards.includes(node.id()));
    const edges =
      steps !== undefined
        ? core.edges().filter((edge) => ids.has(edge.id()))
        : nodes.length === 1
          ? nodes.connectedEdges()
          : core.collection();
    const near = steps !== undefined ? nodes : nodes.union(edges.connectedNodes());
    core.elements().not(near).not(edges).addClass('back');
    nodes.addClass('front');
    edges.addClass('front');
  });
}
