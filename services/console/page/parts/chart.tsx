import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { colour, isDark } from '../theme.js';
import type { Scale } from './scales.js';

/** Values over time, or over iterations; null where there is none. */
export interface Line {
  name: string;
  /** Of style.css. */
  colour: string;
  values: readonly (number | null)[];
  isDashed?: boolean;
}

interface ChartProps {
  title: string;
  /** Unix seconds, or numbers of iterations. */
  xs: readonly number[];
  lines: readonly Line[];
  scale: Scale;
  isTime?: boolean;
  /** Of x, so that charts beside each other show the same span. */
  from?: number;
  to?: number;
  max?: number;
  /** Charts with the same key move their cursors together. */
  group?: string;
  isStepped?: boolean;
}

const height = 140;

/** A chart with its last values; in words for those who do not see it. */
export function Chart(props: ChartProps): JSX.Element {
  const { title, lines, scale } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const dark = isDark();
  // What changes the drawing itself; new values are only put in.
  const shape = JSON.stringify([
    title,
    lines.map(({ name }) => name),
    dark,
    props.from === undefined,
  ]);
  useEffect(() => {
    const { current } = box;
    if (current === null) return undefined;
    const its = new uPlot(optionsOf(props, current.clientWidth), dataOf(props), current);
    plot.current = its;
    const watch = new ResizeObserver(() => its.setSize({ width: current.clientWidth, height }));
    watch.observe(current);
    return () => {
      watch.disconnect();
      its.destroy();
      plot.current = undefined;
    };
  }, [shape]);
  useEffect(() => {
    const { from, to } = props;
    plot.current?.setData(dataOf(props));
    if (from !== undefined && to !== undefined) plot.current?.setScale('x', { min: from, max: to });
  });
  return (
    <figure class="chart">
      <figcaption>
        <span>{title}</span>
        {lines.map(({ name, colour: its, values }) => {
          const last = values.findLast((each) => each !== null);
          return (
            <span key={name} class="chart-key">
              <i aria-hidden="true" style={{ background: `var(--${its})` }} /> {name}{' '}
              <b>{last === undefined ? '–' : scale.format(last)}</b>
            </span>
          );
        })}
      </figcaption>
      <div ref={box} class="chart-plot" role="img" aria-label={said(props)} />
    </figure>
  );
}

/** `accepted: 12 at last, 3 to 40` */
function said({ title, lines, scale: { format } }: ChartProps): string {
  const each = lines.map(({ name, values }) => {
    const known = values.filter((value) => value !== null);
    const last = known.at(-1);
    if (last === undefined) return `${name}: nothing yet`;
    const [low, high] = [
      known.reduce((a, b) => Math.min(a, b)),
      known.reduce((a, b) => Math.max(a, b)),
    ];
    return `${name}: ${format(last)} at last, ${format(low)} to ${format(high)}`;
  });
  return `${title}. ${each.join('; ')}`;
}

function dataOf({ xs, lines }: ChartProps): uPlot.AlignedData {
  return [[...xs], ...lines.map(({ values }) => [...values])];
}

function optionsOf(props: ChartProps, width: number): uPlot.Options {
  const { lines, scale, isTime = true, max, group, isStepped = false } = props;
  const axis = { stroke: colour('dim'), font: '11px system-ui', ticks: { show: false } };
  const grid = { stroke: colour('line'), width: 1 };
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return {
    ...{ width: Math.max(160, width), height, legend: { show: false } },
    cursor: {
      y: false,
      drag: { x: false, y: false },
      ...(group !== undefined && { sync: { key: group } }),
    },
    scales: {
      x: { time: isTime },
      y: {
        range: (_, low, high) => [Math.min(0, low), max ?? Math.max(1, high * 1.1)],
      },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 24,
        ...(isTime
          ? { values: (_: uPlot, at: number[]) => at.map(clock) }
          : { incrs: [1, 2, 5, 10] }),
      },
      {
        ...{ ...axis, grid, size: 62 },
        incrs: [...scale.steps],
        values: (_, at) => at.map((each) => (each === 0 ? '0' : scale.format(each))),
      },
    ],
    series: [
      {},
      ...lines.map(({ name, colour: its, isDashed = false }): uPlot.Series => {
        const stroke = colour(its);
        return {
          ...{ label: name, stroke, width: isDashed ? 1 : 1.5, spanGaps: false },
          ...(isDashed && { dash: [4, 4] }),
          ...(isStepped && stepped !== undefined && { paths: stepped }),
          points: { show: !isTime && !isDashed, size: 6, fill: stroke },
        };
      }),
    ],
    plugins: [readout(props)],
  };
}

/** What the values are where the pointer is. */
function readout({ scale: { format }, isTime = true }: ChartProps): uPlot.Plugin {
  const tip = document.createElement('div');
  tip.className = 'chart-tip';
  tip.hidden = true;
  return {
    hooks: {
      init: (its) => its.over.append(tip),
      setCursor: (its) => {
        const { idx, left = -1 } = its.cursor;
        tip.hidden = idx === null || idx === undefined || left < 0;
        if (tip.hidden || idx === null || idx === undefined) return;
        const x = its.data[0][idx] ?? 0;
        const at = isTime ? new Date(x * 1_000).toLocaleTimeString() : `${x}`;
        const values = its.series.slice(1).map(({ label }, line) => {
          const value = its.data[line + 1]?.[idx];
          return `${typeof label === 'string' ? label : ''} ${value === null || value === undefined ? '–' : format(value)}`;
        });
        tip.textContent = [at, ...values].join(' · ');
        tip.style.left = `${Math.max(0, Math.min(left + 8, its.over.clientWidth - tip.offsetWidth))}px`;
      },
    },
  };
}

function clock(seconds: number): string {
  return new Date(seconds * 1_000).toTimeString().slice(0, 5);
}
