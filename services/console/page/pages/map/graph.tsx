import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { faultOf, type Fault } from '../../call.js';
import { ErrorBox, Loading } from '../../parts/states.js';
import { isDark } from '../../theme.js';
import type { Dot, Drawing } from './draw.js';
import {
  colourOf,
  drawnLinks,
  lineId,
  stressOf,
  thicknessOf,
  widthOf,
  type Line,
  type Model,
  type Shown,
} from './lattice-model.js';

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
  const [drawing, setDrawing] = useState<Drawing | undefined>();
  const [fault, setFault] = useState<Fault | undefined>();
  const select = useRef(onShard);
  select.current = onShard;
  const parts = useMemo(
    () => ({ dots: dotsOf(model), lines: linesOf(model, least) }),
    [model, least],
  );
  useEffect(() => {
    let isOver = false;
    let its: Drawing | undefined;
    const draw = async (): Promise<void> => {
      const { Drawing: Drawn } = await import('./draw.js');
      if (isOver || box.current === null) return;
      its = new Drawn(box.current, parts, (agent) => select.current(agent));
      setDrawing(its);
    };
    setFault(undefined);
    draw().catch((error: unknown) => isOver || setFault(faultOf(error)));
    return () => {
      isOver = true;
      its?.[Symbol.dispose]();
      setDrawing(undefined);
    };
  }, [parts]);
  const dark = isDark();
  useEffect(() => drawing?.recolour(), [drawing, dark]);
  useEffect(() => {
    drawing?.show(shown && stressOf(parts.lines, shown));
  }, [drawing, parts, shown]);
  return (
    <div class="lattice">
      <div ref={box} class="lattice-canvas" role="img" aria-label={describing(model)} />
      {fault !== undefined && <ErrorBox fault={fault} />}
      {drawing === undefined && fault === undefined && <Loading what="Drawing" />}
      <div class="lattice-tools">
        <button type="button" aria-label="Larger" onClick={() => drawing?.zoom(1.3)}>
          +
        </button>
        <button type="button" aria-label="Smaller" onClick={() => drawing?.zoom(1 / 1.3)}>
          −
        </button>
        <button type="button" onClick={() => drawing?.fit()}>
          Fit
        </button>
      </div>
    </div>
  );
}

function describing({ shards, links }: Model): string {
  return `${shards.length} shards and ${links.length} links between them; the table lists them`;
}

function dotsOf(model: Model): Dot[] {
  const most = Math.max(1, ...model.shards.map(({ lines }) => lines));
  return model.shards.map(({ agent, lines, group, state }) => ({
    ...{ id: agent, radius: widthOf(lines, most) / 2, colour: colourOf(model, group) },
    isAway: state === 'offline' || state === 'stale',
  }));
}

function linesOf(model: Model, least: number): Line[] {
  const heaviest = Math.max(1, ...model.links.map(({ references }) => references));
  return drawnLinks(model, least).map(({ from, to, references }) => ({
    ...{ id: lineId(from, to), from, to, width: thicknessOf(references, heaviest) },
  }));
}
