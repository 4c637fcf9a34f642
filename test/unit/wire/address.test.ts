import { expect, test } from 'vitest';
import {
  checkTopicPattern,
  isStateStream,
  parseAddress,
  streamMatches,
  streamOf,
  topicMatches,
  topicPrefix,
  touchesStates,
  wholeStreams,
} from '../../../src/wire/address.js';

test('the three forms of an address are read', () => {
  expect(parseAddress('agent:drivers-net')).toEqual({ kind: 'agent', name: 'drivers-net' });
  expect(parseAddress('service:pgc.ask')).toEqual({ kind: 'service', name: 'pgc.ask' });
  expect(parseAddress('topic:presence.mm.joined')).toEqual({
    kind: 'topic',
    name: 'presence.mm.joined',
  });
});

test.each([
  '',
  'mm',
  'agent:',
  'agent:..',
  'agent:a/b',
  'agent:A',
  'agent:a.b',
  'file:/etc/passwd',
  'topic:a..b',
  `agent:${'a'.repeat(200)}`,
  'agent:a\0b',
])('%j is no address', (text) => {
  expect(() => parseAddress(text)).toThrow(
    expect.objectContaining({ code: 'INVALID_NAME' }) as Error,
  );
});

test.each([
  ['presence.mm.joined', 'presence.mm.joined', true],
  ['presence.mm.joined', 'presence.mm.joined.twice', false],
  ['presence.*.joined', 'presence.mm.joined', true],
  ['presence.*.joined', 'presence.mm.left', false],
  ['presence.*', 'presence.mm.left', false],
  ['presence.>', 'presence.mm.left', true],
  ['presence.>', 'presence', false],
  ['>', 'anything', true],
  ['task', 'tasks', false],
])('pattern %s on topic %s: %s', (pattern, topic, matches) => {
  expect(topicMatches(pattern, topic)).toBe(matches);
});

test('a pattern without wildcards filters exactly, another by its literal start', () => {
  expect(topicPrefix('task.a')).toBe('task.a\0');
  expect(topicPrefix('task.*.done')).toBe('task.');
  expect(topicPrefix('>')).toBe('');
});

test.each([
  ['presence.mm.joined', 'presence.mm', true],
  ['task.7.step.done', 'task.7', true],
  ['task.7', 'task.7', true],
  ['task', 'task', false],
  ['tasks.7.done', 'tasks.7.done', false],
  ['log.a', 'log.a', false],
])('%s belongs to the stream %s; of states: %s', (topic, stream, isState) => {
  expect([streamOf(topic), isStateStream(stream)]).toEqual([stream, isState]);
});

test.each([
  ['presence.*.joined', 'presence.mm', true],
  ['presence.nn.joined', 'presence.mm', false],
  ['*.mm.joined', 'presence.mm', true],
  ['log.*', 'log.a', true],
  ['log.*', 'log.a.b', false],
  ['>', 'task.7', true],
  ['task', 'task.7', false],
])('pattern %s may match a topic of the stream %s: %s', (pattern, stream, matches) => {
  expect(streamMatches(pattern, stream)).toBe(matches);
});

test('a pattern for some changes subscribes to all of their stream', () => {
  expect(
    ['presence.mm.joined', 'presence.*.left', 'task.>', 'log.a.b', '>'].map(wholeStreams),
  ).toEqual(['presence.mm.>', 'presence.*.>', 'task.>', 'log.a.b', '>']);
});

test('a pattern tells whether it may match states', () => {
  expect(['task.>', '*.a', '>', 'log.>', 'tasks.>'].map(touchesStates)).toEqual([
    true,
    true,
    true,
    false,
    false,
  ]);
});

test.each(['a', '>', '*', 'a.*.b', 'a.>', '*.*.>'])('%s is a pattern of topics', (pattern) => {
  expect(() => checkTopicPattern(pattern)).not.toThrow();
});
