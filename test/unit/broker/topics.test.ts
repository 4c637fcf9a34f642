import { expect, test } from 'vitest';
import { defaultLimits, type BrokerLimits } from '../../../src/broker/limits.js';
import { Topics } from '../../../src/broker/topics.js';
import { streamRunSpan } from '../../../src/wire/address.js';
import { Command, decodeFrame, makeFrame } from '../../../src/wire/frame.js';
import type { TopicsAnswer, TopicsQuery } from '../../../src/wire/messages.js';

interface Opened {
  topics: Topics;
  sent: string[];
  say: (topic: string, body?: string | Buffer) => number;
  ask: (query: Partial<TopicsQuery>) => TopicsAnswer;
  /** Bodies of the entries of an answer. */
  bodies: (query: Partial<TopicsQuery>) => string[];
}

function open(limits: Partial<BrokerLimits> = {}): Opened {
  const sent: string[] = [];
  const topics = new Topics({
    limits: { ...defaultLimits, ...limits },
    publish: (topic, bytes) => sent.push(`${topic} ${decodeFrame(bytes).envelope.seq}`),
  });
  const ask = (query: Partial<TopicsQuery>): TopicsAnswer =>
    topics.sync({ pattern: '>', seen: [], after: '', positions_only: false, ...query });
  return {
    topics,
    sent,
    ask,
    say: (topic, body = '') =>
      topics.publish(topic, makeFrame(Command.PUBLISH, { type: 'note' }, Buffer.from(body))),
    bodies: (query) =>
      ask(query).entries.map(({ frame }) => decodeFrame(Buffer.from(frame)).body.toString()),
  };
}

test('changes of one thing share a stream, other topics are streams of their own', () => {
  const { say, sent, ask } = open();
  for (const topic of ['task.7.begun', 'task.7.done', 'task.8.begun', 'log.a', 'log.a.b', 'log.a'])
    say(topic);
  expect(sent).toEqual([
    'task.7.begun 1',
    'task.7.done 2',
    'task.8.begun 1',
    'log.a 1',
    'log.a.b 1',
    'log.a 2',
  ]);
  expect(ask({}).streams).toEqual([
    { stream: 'log.a', seq: 2 },
    { stream: 'log.a.b', seq: 1 },
    { stream: 'task.7', seq: 2 },
    { stream: 'task.8', seq: 1 },
  ]);
});

test('of a stream of states the last is kept, of another the last few', () => {
  const { say, bodies } = open({ streamEntriesMax: 3 });
  for (let at = 1; at <= 5; at += 1) {
    say('task.7.changed', `t${at}`);
    say('log.a', `a${at}`);
  }
  expect(bodies({})).toEqual(['a3', 'a4', 'a5', 't5']);
});

test('a stream keeps no more bytes than it may, but always its last publication', () => {
  const { say, bodies, topics } = open({ streamBytesMax: 2_000 });
  for (let at = 1; at <= 9; at += 1) say('log.a', `${at}`.padEnd(500));
  expect(bodies({}).map((body) => body.trim())).toEqual(['8', '9']);
  say('log.a', 'x'.repeat(5_000));
  expect(bodies({})).toEqual(['x'.repeat(5_000)]);
  expect(topics.bytes).toBeLessThan(6_000);
});

test('an answer holds what lies after the positions that were seen', () => {
  const { say, bodies } = open();
  for (const each of ['1', '2', '3']) say('log.a', each);
  say('log.b', 'b');
  expect(bodies({ seen: [{ stream: 'log.a', seq: 2 }] })).toEqual(['3', 'b']);
  expect(bodies({ pattern: 'log.a', seen: [{ stream: 'log.a', seq: 3 }] })).toEqual([]);
  // A position of another run of this stream or of the broker.
  expect(bodies({ pattern: 'log.a', seen: [{ stream: 'log.a', seq: 99 }] })).toEqual([
    '1',
    '2',
    '3',
  ]);
});

test('whoever asks for positions gets no entries', () => {
  const { say, ask } = open();
  say('log.a');
  expect(ask({ positions_only: true })).toEqual({
    entries: [],
    streams: [{ stream: 'log.a', seq: 1 }],
    next: '',
  });
});

test.each([
  ['>', ['log.a', 'log.a.b', 'logs', 'task.7', 'task.70']],
  ['log.>', ['log.a', 'log.a.b']],
  ['log.*', ['log.a']],
  ['log.a', ['log.a']],
  ['*', ['logs']],
  ['task.*.done', ['task.7', 'task.70']],
  ['task.7.>', ['task.7']],
  ['task.7.never', ['task.7']],
  ['*.7.done', ['task.7']],
  ['none', []],
])('pattern %s touches the streams %j', (pattern, streams) => {
  const { say, ask } = open();
  for (const topic of ['task.70.done', 'logs', 'log.a.b', 'log.a', 'task.7.done']) say(topic);
  expect(ask({ pattern }).streams.map(({ stream }) => stream)).toEqual(streams);
});

test('pages hold whole streams, stay within their limit and leave nothing out', () => {
  const { say, ask } = open({ topicsAnswerBytesMax: 3_000 });
  const names = Array.from({ length: 40 }, (_, at) => `log.${String(at).padStart(2, '0')}`);
  for (const name of names) {
    say(name, 'x'.repeat(100));
    say(name, 'y'.repeat(100));
  }
  // Alone larger than a page.
  say('log.39', 'z'.repeat(4_000));
  const streams: string[] = [];
  let entries = 0;
  let pages = 0;
  for (let after = '', isFirst = true; isFirst || after !== ''; isFirst = false) {
    const page = ask({ after });
    streams.push(...page.streams.map(({ stream }) => stream));
    entries += page.entries.length;
    pages += 1;
    const bytes = page.entries.reduce((sum, { frame }) => sum + frame.length, 0);
    if (page.streams.length > 1) expect(bytes).toBeLessThan(3_000);
    after = page.next;
  }
  expect([streams, entries]).toEqual([names, 81]);
  expect(pages).toBeGreaterThan(5);
});

test('one stream too many, and the one that was silent longest is forgotten; presence is not', () => {
  const { say, ask } = open({ streamsMax: 2 });
  say('presence.mm.joined');
  say('log.a');
  say('log.b');
  say('log.a');
  say('log.c');
  expect(ask({}).streams.map(({ stream }) => stream)).toEqual(['log.a', 'log.c', 'presence.mm']);
});

test('too many bytes in all, and the streams that were silent longest are forgotten', () => {
  const { say, ask, topics } = open({ streamsBytesMax: 10_000 });
  for (let at = 0; at < 30; at += 1) say(`log.${at}`, 'x'.repeat(1_000));
  expect(topics.bytes).toBeLessThanOrEqual(10_000);
  expect(ask({ pattern: 'log.29' }).streams).toHaveLength(1);
  expect(ask({ pattern: 'log.0' }).streams).toHaveLength(0);
});

test('a stream that was forgotten never uses a number twice', () => {
  const { say, topics } = open();
  expect([say('log.a'), say('log.a')]).toEqual([1, 2]);
  topics.forget('log.a');
  expect([say('log.a'), say('log.b')]).toEqual([streamRunSpan + 1, streamRunSpan + 1]);
  topics.forget('log.a');
  expect([say('log.a'), say('log.b')]).toEqual([2 * streamRunSpan + 1, streamRunSpan + 2]);
});

test('what is seeded is kept and not sent', () => {
  const { topics, sent, ask } = open();
  topics.seed('presence.mm.left', makeFrame(Command.PUBLISH, {}, Buffer.from('offline')));
  expect(sent).toEqual([]);
  expect(ask({ pattern: 'presence.>' }).entries).toMatchObject([
    { topic: 'presence.mm.left', stream: 'presence.mm', seq: 1 },
  ]);
  expect(topics.published).toBe(0);
});

test('a publication that is too large changes nothing', () => {
  const { say, ask, topics } = open({ publicationBytesMax: 500 });
  expect(() => say('log.a', 'x'.repeat(500))).toThrow(
    expect.objectContaining({ code: 'TOO_LARGE' }) as Error,
  );
  expect([ask({}).streams, topics.bytes, topics.streams]).toEqual([[], 0, 0]);
  expect(say('log.a', 'x')).toBe(1);
});

test('a question with a pattern that is none is refused', () => {
  const { ask } = open();
  expect(() => ask({ pattern: '*'.repeat(1_000_000) })).toThrow(
    expect.objectContaining({ code: 'INVALID_NAME' }) as Error,
  );
});
