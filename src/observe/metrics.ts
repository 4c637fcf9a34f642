import { collectDefaultMetrics, Counter, Gauge, Registry, type Metric } from 'prom-client';
import type { Histogram } from '../base/histogram.js';
import type { StatusAnswer } from '../wire/messages.js';

/** Figures of the broker's own process, which are not in its status. */
export interface BrokerNumbers {
  acceptLatency: Histogram;
  audit: { recorded: number; lost: number };
}

const lifecycleStates = ['opening', 'serving', 'draining', 'closed'];

/** Name, help, and where its value stands in the status. */
type Row = [name: string, help: string, value: (each: StatusAnswer) => number];

const gauges: Row[] = [
  ['sigma_sessions', 'Connected sessions.', (each) => each.sessions],
  ['sigma_agents_online', 'Agents that are connected.', (each) => each.agents_online],
  ['sigma_agents_known', 'Agents in the registry.', (each) => each.agents_known],
  ['sigma_requests_open', 'Live requests without their last reply.', (each) => each.requests_open],
  ['sigma_messages', 'Durable messages that are not settled.', (each) => each.messages],
  [
    'sigma_message_bytes',
    'Bytes of durable messages that are not settled.',
    (each) => each.message_bytes,
  ],
  ['sigma_leases', 'Durable messages under a lease.', (each) => each.leases],
  [
    'sigma_dead_letters',
    'Messages that were given up and wait for an operator.',
    (each) => each.dead_letters,
  ],
  [
    'sigma_oldest_message_seconds',
    'Age of the oldest message that is due and not settled.',
    (each) => each.oldest_ms / 1_000,
  ],
  [
    'sigma_event_loop_lag_seconds',
    'How late timers ran over the last minute, at worst.',
    (each) => each.loop_lag_ms / 1_000,
  ],
  ['sigma_resident_memory_bytes', 'Resident memory of the broker.', (each) => each.rss_bytes],
  [
    'sigma_start_time_seconds',
    'Unix time of the start of the broker.',
    (each) => each.started_ms / 1_000,
  ],
  [
    'sigma_store_up',
    'Whether the store takes what must be stored.',
    (each) => Number(each.store_state === 'serving'),
  ],
];

/** Totals that are counted elsewhere. */
const counters: Row[] = [
  ['sigma_frames_in_total', 'Frames read.', (each) => each.frames_in],
  ['sigma_frames_out_total', 'Frames written.', (each) => each.frames_out],
  [
    'sigma_frames_corrupt_total',
    'Frames that failed a checksum or could not be read.',
    (each) => each.frames_corrupt,
  ],
  ['sigma_requests_total', 'Live requests delivered.', (each) => each.requests],
  ['sigma_accepted_total', 'Durable messages stored and accepted.', (each) => each.accepted],
  ['sigma_delivered_total', 'Deliveries of durable messages.', (each) => each.delivered],
  ['sigma_settled_total', 'Durable messages settled.', (each) => each.settled],
  [
    'sigma_redelivered_total',
    'Deliveries that were not the first of their message.',
    (each) => each.redelivered,
  ],
  [
    'sigma_duplicates_total',
    'Durable messages that were sent again and stored once.',
    (each) => each.duplicates,
  ],
  ['sigma_publications_total', 'Publications handed to subscribers.', (each) => each.publications],
];

/** Metrics in the text format of Prometheus, filled from a status at each scrape. */
export class Metrics {
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;
  readonly #registry = new Registry();
  readonly #read: () => StatusAnswer;
  readonly #status: () => StatusAnswer;
  #latest: StatusAnswer | undefined;

  constructor(parts: {
    status: () => StatusAnswer;
    numbers?: () => BrokerNumbers;
    /** Add metrics of this process: memory, CPU, garbage collection, descriptors. */
    withProcess?: boolean;
  }) {
    this.#read = parts.status;
    // One status per scrape, so that its figures agree.
    this.#status = () => (this.#latest ??= this.#read());
    for (const row of gauges) this.#gauge(...row);
    for (const row of counters) this.#counter(...row);
    this.#labelled();
    if (parts.numbers !== undefined) this.#numbers(parts.numbers);
    if (parts.withProcess === true) collectDefaultMetrics({ register: this.#registry });
  }

  text(): Promise<string> {
    this.#latest = undefined;
    return this.#registry.metrics();
  }

  #labelled(): void {
    const status = this.#status;
    const registers = [this.#registry];
    new Gauge({
      name: 'sigma_info',
      help: 'Always 1; what runs is in the label.',
      labelNames: ['version'],
      registers,
      collect() {
        this.reset();
        this.set({ version: status().version }, 1);
      },
    });
    new Gauge({
      name: 'sigma_state',
      help: '1 for the state that the broker is in.',
      labelNames: ['state'],
      registers,
      collect() {
        const now = status().state;
        for (const state of lifecycleStates) this.set({ state }, Number(state === now));
      },
    });
    new Counter({
      name: 'sigma_refused_total',
      help: 'Refusals by error code.',
      labelNames: ['code'],
      registers,
      collect() {
        this.reset();
        for (const [code, count] of Object.entries(status().refused)) this.inc({ code }, count);
      },
    });
    new Gauge({
      name: 'sigma_accept_latency_recent_seconds',
      help: 'From a durable SEND to its ACCEPT, over the last some thousand.',
      labelNames: ['quantile'],
      registers,
      collect() {
        const { accept_p50_ms, accept_p99_ms } = status();
        this.set({ quantile: '0.5' }, accept_p50_ms / 1_000);
        this.set({ quantile: '0.99' }, accept_p99_ms / 1_000);
      },
    });
  }

  #numbers(numbers: () => BrokerNumbers): void {
    const latency = 'sigma_accept_latency_seconds';
    // Our own buckets serve the hot path; the package only formats them.
    this.#registry.registerMetric({
      name: latency,
      get: () =>
        Promise.resolve({
          name: latency,
          help: 'From a durable SEND to its ACCEPT.',
          type: 'histogram',
          aggregator: 'sum',
          values: histogramValues(latency, numbers().acceptLatency),
        }),
    } as unknown as Metric);
    this.#counter(
      'sigma_audit_entries_total',
      'Entries of the audit log.',
      () => numbers().audit.recorded,
    );
    this.#counter(
      'sigma_audit_lost_total',
      'Entries that the audit log could not take.',
      () => numbers().audit.lost,
    );
  }

  #gauge(...[name, help, value]: Row): void {
    const status = this.#status;
    new Gauge({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.set(value(status()));
      },
    });
  }

  #counter(...[name, help, value]: Row): void {
    const status = this.#status;
    new Counter({
      name,
      help,
      registers: [this.#registry],
      collect() {
        this.reset();
        this.inc(value(status()));
      },
    });
  }
}

function histogramValues(name: string, histogram: Histogram): object[] {
  const buckets = histogram.buckets().map(({ boundMs, atMost }) => ({
    metricName: `${name}_bucket`,
    labels: {
      le: boundMs === Infinity ? '+Inf' : String(Number((boundMs / 1_000).toPrecision(3))),
    },
    value: atMost,
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: histogram.sumMs / 1_000 },
    { metricName: `${name}_count`, labels: {}, value: histogram.count },
  ];
}
