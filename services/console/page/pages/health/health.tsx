import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Check } from '../../../../check.js';
import type { Sample } from '../../../samples.js';
import { look } from '../../call.js';
import { onSample } from '../../live.js';
import { bytesText, countText } from '../../parts/amounts.js';
import { Badge, type Tone } from '../../parts/badge.js';
import { Chart, type Line } from '../../parts/chart.js';
import { Figures } from '../../parts/facts.js';
import { scales, type Scale } from '../../parts/scales.js';
import { Empty, Loadable } from '../../parts/states.js';
import { useLoad } from '../../use-call.js';
import { hourMs, isBehindGap, joined, lastOf, valuesOf } from './series.js';
import '../ops.css';

interface Health {
  samples: Sample[];
  doctor: Check[];
}

const load = (_: string, signal: AbortSignal): Promise<Health> =>
  look<Health>('/api/health', signal);

/** `/health`: the last hour as charts, and what `sigma doctor` says. */
export function HealthPage(): JSX.Element {
  const loaded = useLoad('health', load);
  const [live, setLive] = useState<Sample[]>([]);
  const samples = useMemo(() => joined(loaded.value?.samples ?? [], live), [loaded.value, live]);
  const shown = useRef(samples);
  shown.current = samples;
  useEffect(
    () =>
      onSample((sample) => {
        if (isBehindGap(shown.current, sample)) loaded.reload();
        setLive((before) => joined(before, [sample]));
      }),
    [loaded.reload],
  );
  return (
    <section class="page">
      <div class="page-head">
        <h1>Health</h1>
        <span class="dim">the last hour, a sample each 5 s</span>
      </div>
      <Loadable loaded={loaded} what="Looking at the bus">
        {({ doctor }) => (
          <>
            <Now samples={samples} />
            <Charts samples={samples} />
            <Doctor checks={doctor} onAgain={loaded.reload} />
          </>
        )}
      </Loadable>
    </section>
  );
}

/** Of charts, in seconds. */
const spanMin = 600;
/** Late by more than this, an event loop is felt. */
const lagMsFelt = 200;
const diskBytesFew = 1024 ** 3;

function Now({ samples }: { samples: readonly Sample[] }): JSX.Element {
  const figure = (
    name: string,
    of: Parameters<typeof lastOf>[1],
    text: (value: number) => string,
    isBad: (value: number) => boolean = () => false,
  ) => {
    const value = lastOf(samples, of);
    return {
      name,
      value: value === undefined ? '–' : text(value),
      isBad: value !== undefined && isBad(value),
    };
  };
  const isAway = samples.at(-1)?.messages === null;
  return (
    <>
      {isAway && (
        <p class="notice">
          The broker does not answer: the figures are the last that are known, and the charts have a
          gap since then.
        </p>
      )}
      <Figures
        rows={[
          figure('accepted', 'accepted', scales.rate.format),
          figure('accept p99', 'accept_p99_ms', scales.time.format),
          figure('waiting', 'messages', countText),
          figure('oldest', 'oldest_ms', scales.time.format),
          figure('dead letters', 'dead_letters', countText, (value) => value > 0),
          figure('loop lag', 'loop_lag_ms', scales.time.format, (value) => value > lagMsFelt),
          figure('memory', 'rss_bytes', bytesText),
          figure('disk free', 'disk_free_bytes', bytesText, (value) => value < diskBytesFew),
          figure('files behind', 'files_changed', countText),
        ]}
      />
    </>
  );
}

interface Drawn {
  title: string;
  scale: Scale;
  lines: readonly [name: string, figure: Parameters<typeof valuesOf>[1], colour: string][];
}

const charts: readonly Drawn[] = [
  {
    title: 'Messages a second',
    scale: scales.rate,
    lines: [
      ['accepted', 'accepted', 'accent'],
      ['delivered', 'delivered', 'good'],
      ['requests', 'requests', 'warn'],
    ],
  },
  {
    title: 'Latency',
    scale: scales.time,
    lines: [
      ['accept p50', 'accept_p50_ms', 'good'],
      ['accept p99', 'accept_p99_ms', 'accent'],
      ['an answer of the broker', 'answer_ms', 'warn'],
    ],
  },
  {
    title: 'Age of the oldest message',
    scale: scales.time,
    lines: [['oldest', 'oldest_ms', 'accent']],
  },
  {
    title: 'Stored messages',
    scale: scales.count,
    lines: [
      ['waiting', 'messages', 'accent'],
      ['dead', 'dead_letters', 'bad'],
    ],
  },
  {
    title: 'Event loop late by',
    scale: scales.time,
    lines: [['at worst in a minute', 'loop_lag_ms', 'accent']],
  },
  {
    title: 'Memory of the broker',
    scale: scales.bytes,
    lines: [['resident', 'rss_bytes', 'accent']],
  },
  {
    title: 'Free disk at the home',
    scale: scales.bytes,
    lines: [['free', 'disk_free_bytes', 'accent']],
  },
  {
    title: 'Files changed since they were indexed',
    scale: scales.count,
    lines: [['files', 'files_changed', 'accent']],
  },
];

function Charts({ samples }: { samples: readonly Sample[] }): JSX.Element {
  if (samples.length === 0)
    return (
      <Empty title="No sample yet">
        <p>The console takes one each 5 seconds, from its start on.</p>
      </Empty>
    );
  const xs = samples.map(({ at_ms }) => at_ms / 1_000);
  const to = (samples.at(-1)?.at_ms ?? 0) / 1_000;
  // A console that has just been started has not seen an hour.
  const from = Math.min(Math.max(to - hourMs / 1_000, xs[0] ?? to), to - spanMin);
  return (
    <div class="charts">
      {charts.map(({ title, scale, lines }) => (
        <Chart
          key={title}
          {...{ title, scale, xs, from, to, group: 'health' }}
          lines={lines.map(([name, figure, colour]): Line => ({
            name,
            colour,
            values: valuesOf(samples, figure),
          }))}
        />
      ))}
    </div>
  );
}

const tones: Readonly<Record<Check['state'], Tone>> = {
  ...{ ok: 'good', absent: 'plain', unchecked: 'plain', broken: 'bad' },
};
const order: Readonly<Record<Check['state'], number>> = {
  broken: 0,
  absent: 1,
  unchecked: 2,
  ok: 3,
};

function Doctor({
  checks,
  onAgain,
}: {
  checks: readonly Check[];
  onAgain: () => void;
}): JSX.Element {
  const broken = checks.filter(({ state }) => state === 'broken').length;
  return (
    <section class="panel">
      <div class="row">
        <h2>What the doctor says</h2>
        <span class={broken > 0 ? 'is-bad' : 'dim'}>
          {broken === 0 ? 'Nothing is broken.' : `${countText(broken)} broken.`}
        </span>
        <button type="button" class="quiet" onClick={onAgain}>
          Look again
        </button>
      </div>
      <ul class="plain checks">
        {checks
          .toSorted((one, other) => order[one.state] - order[other.state])
          .map(({ name, state, detail, next }) => (
            <li key={name + detail}>
              <div class="row">
                <Badge tone={tones[state]}>{state}</Badge>
                <b>{name}</b>
                <span class="dim">{detail}</span>
              </div>
              {next !== '' && <p>{next}</p>}
            </li>
          ))}
      </ul>
    </section>
  );
}
