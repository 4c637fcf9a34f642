import cytoscape, { type Core, type ElementDefinition } from 'cytoscape';
import {
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
  type SimulationNodeDatum,
} from 'd3-force';

interface Body extends SimulationNodeDatum {
  id: string;
  size: number;
}

/** Of each frame: a drawing of five hundred shards must not stop what is typed meanwhile. */
const sliceMs = 8;

/** It settles while it is seen. */
export function drawn(box: HTMLElement, elements: ElementDefinition[], signal: AbortSignal): Core {
  // Cytoscape would add a style element, which the policy of the page refuses; it looks for one of this name first.
  const name = '__________cytoscape_stylesheet';
  if (document.getElementById(name) === null) {
    const mark = document.createElement('meta');
    mark.id = name;
    document.head.append(mark);
  }
  const core = cytoscape({
    ...{ container: box, elements, layout: { name: 'preset' } },
    ...{ minZoom: 0.1, maxZoom: 4, boxSelectionEnabled: false, autoungrabify: false },
    ...{ hideEdgesOnViewport: elements.length > 1_500, textureOnViewport: elements.length > 1_500 },
  });
  const bodies: Body[] = core
    .nodes()
    .map((node) => ({ id: node.id(), size: node.data('size') as number }));
  const links = core.edges().map((edge) => ({
    ...{ source: edge.source().id(), target: edge.target().id() },
    strength: edge.data('width') as number,
  }));
  const simulation = forceSimulation(bodies)
    .force(
      'links',
      forceLink<Body, (typeof links)[number]>(links)
        .id(({ id }) => id)
        .distance(110)
        .strength(({ strength }) => 0.03 * strength),
    )
    .force('apart', forceManyBody().strength(-420).distanceMax(900))
    .force(
      'room',
      forceCollide<Body>(({ size }) => size / 2 + 14),
    )
    .force('x', forceX().strength(0.05))
    .force('y', forceY().strength(0.08))
    .stop();
  const step = (): void => {
    if (signal.aborted) return;
    const endMs = performance.now() + sliceMs;
    do simulation.tick();
    while (performance.now() < endMs && simulation.alpha() > simulation.alphaMin());
    core.batch(() => {
      for (const { id, x = 0, y = 0 } of bodies) core.getElementById(id).position({ x, y });
    });
    core.fit(undefined, 30);
    if (simulation.alpha() > simulation.alphaMin()) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
  return core;
}
