import { expect, test } from 'vitest';
import { ratesOf, topLines, type Look } from '../../../src/render/bus-view.js';
import {
  statusAnswerCodec,
  type AgentView,
  type StatusAnswer,
} from '../../../src/wire/messages.js';
import { recordOf } from '../../support/bus.js';

const nowMs = 1_700_000_000_000;

function look(atMs: number, status: Partial<StatusAnswer>, rest: Partial<Look> = {}): Look {
  const empty = statusAnswerCodec.decode(new Uint8Array());
  const whole = {
    ...empty,
    state: 'serving',
    store_state: 'serving',
    started_ms: nowMs - 60_000,
    ...status,
  };
  return { atMs, nowMs, status: whole, agents: [], mailboxes: [], ...rest };
}

const agent = (id: string, state: AgentView['state'], load = 0): AgentView => ({
  record: { ...recordOf(id), id, role: 'pgc' },
  state,
  load,
  last_seen_ms: nowMs - 3_000,
  of_home: true,
});

test('rates are differences of totals by the time between two looks', () => {
  const before = look(1_000, { frames_in: 100, accepted: 10, delivered: 0 });
  const now = look(3_000, { frames_in: 1_100, accepted: 30, delivered: 3 });
  expect(ratesOf(now, before)).toMatchObject({
    framesIn: 500,
    accepted: 10,
    delivered: 1.5,
    framesOut: 0,
  });
});

test('the first look, and the first after a restart of the broker, has no rates', () => {
  const before = look(1_000, { frames_in: 5_000 });
  const now = look(2_000, { frames_in: 10, started_ms: nowMs - 500 });
  expect(ratesOf(now, undefined)).toBeUndefined();
  expect(ratesOf(now, before)).toBeUndefined();
  expect(topLines(now, before).join('\n')).toContain('frames/s - in - out');
});

test('a look shows the queue, latency, refusals and a store that failed', () => {
  const text = topLines(
    look(0, {
      messages: 12,
      message_bytes: 2_048,
      leases: 3,
      oldest_ms: 90_000,
      dead_letters: 4,
      accept_p50_ms: 1.5,
      accept_p99_ms: 22,
      loop_lag_ms: 7,
      refused: { NO_RESPONDER: 1, BROKER_BUSY: 8 },
      store_state: 'failed',
    }),
    undefined,
  ).join('\n');
  for (const part of [
    'queued 12 (2.0 KiB) · leased 3 · oldest 90 s',
    'dead 4',
    'p50 1.50 ms p99 22 ms',
    'loop lag 7.00 ms',
    'refused BROKER_BUSY 8, NO_RESPONDER 1',
    'STORE failed',
  ])
    expect(text).toContain(part);
});

test('the deepest mailboxes come first and empty ones are left out', () => {
  const box = (mailbox: string, depth: number, dead = 0) => ({
    mailbox,
    depth,
    dead,
    bytes: depth * 10,
    leases: 0,
    oldest_ms: 0,
  });
  const lines = topLines(
    look(
      0,
      {},
      {
        mailboxes: [box('agent:a', 1), box('agent:b', 9), box('agent:c', 0), box('agent:d', 0, 2)],
      },
    ),
    undefined,
  );
  const names = lines.flatMap((line) => /^agent:\w/.exec(line)?.[0] ?? []);
  expect(names).toEqual(['agent:b', 'agent:a', 'agent:d']);
});

test('where there is little room, agents in trouble and busy ones are shown', () => {
  const agents = [
    agent('idle', 'online'),
    agent('gone', 'offline'),
    agent('busy', 'online', 5),
    agent('late', 'stale'),
  ];
  const lines = topLines(look(0, {}, { agents }), undefined, 10);
  expect(lines.length).toBeLessThanOrEqual(10);
  expect(lines.slice(-2).map((line) => line.split(' ')[0])).toEqual(['late', 'busy']);
});
