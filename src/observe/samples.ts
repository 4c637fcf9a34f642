import { Counter, Gauge, Registry } from 'prom-client';

/** One metric, with its values by label. */
export interface Sample {
  name: string;
  help: string;
  /** A counter only ever grows, over restarts as well. */
  kind: 'counter' | 'gauge';
  /** Empty: there is one value, under ''. */
  label: string;
  values: Readonly<Record<string, number>>;
}

export const samplesContentType = Registry.PROMETHEUS_CONTENT_TYPE;

/** Metrics counted elsewhere, in the text format of Prometheus. */
export function samplesText(samples: readonly Sample[]): Promise<string> {
  const registry = new Registry();
  for (const { name, help, kind, label, values } of samples) {
    const options = { name, help, labelNames: label === '' ? [] : [label], registers: [registry] };
    const add = kind === 'counter' ? counterOf(options) : gaugeOf(options);
    for (const [each, value] of Object.entries(values))
      add(label === '' ? {} : { [label]: each }, value);
  }
  return registry.metrics();
}

type Add = (labels: Record<string, string>, value: number) => void;
interface Options {
  name: string;
  help: string;
  labelNames: string[];
  registers: Registry[];
}

function counterOf(options: Options): Add {
  const counter = new Counter(options);
  return (labels, value) => counter.inc(labels, value);
}

function gaugeOf(options: Options): Add {
  const gauge = new Gauge(options);
  return (labels, value) => gauge.set(labels, value);
}
